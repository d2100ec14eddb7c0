"""`vaultmind minion status`: which language model works in the background, and what it can."""

from __future__ import annotations

import click

from vaultmind.cli.options import Answer, Settings, pass_settings
from vaultmind.cli.terminal import EXIT_OTHER, bold, dim


@click.group(short_help="Show the language model, if you want one.")
def minion() -> None:
    """Show the language model that works in the background.

    None is needed: without one the built-in extractive engine does it all.
    """


@minion.command()
@pass_settings
def status(settings: Settings) -> int:
    """Show which model does what, whether it can, and what its last job cost.

    Exit code 1 when a model that is configured cannot be used.
    """
    from vaultmind.minion.choice import standing
    from vaultmind.serve.show import cell_of

    found = standing(settings.config.minion, settings.config.state_dir)
    chains = found["purposes"].items()
    lines = [f"{bold(f'{purpose:10}')} {' → '.join(chain)}" for purpose, chain in chains]
    for model in found["models"]:
        lines += [f"{name:18} {cell_of(one)}" for name, one in model.items() if one]
    lines += [] if found["models"] else [dim("\nNo model is configured, and none is needed.")]
    settings.tell(Answer(found, "\n".join(lines)))
    return EXIT_OTHER if any(one["problem"] for one in found["models"]) else 0
