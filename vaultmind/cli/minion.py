"""`vaultmind minion`: which language model works in the background, and what it can."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from vaultmind.cli.options import Answer, Settings, pass_settings
from vaultmind.cli.terminal import EXIT_OTHER, aside, bold, dim, good, place
from vaultmind.types import PURPOSES, Prompt, Turn

RESTART = "The daemon that runs now keeps what it had; `vaultmind daemon stop` ends it."


@click.group(short_help="Show or choose the language model, if you want one.")
def minion() -> None:
    """Show, try or choose the language model that works in the background.

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
    lines = []
    for purpose, chain in found["purposes"].items():
        short = (one if "://" in one else Path(one).name for one in chain)
        lines.append(f"{bold(f'{purpose:10}')} {' → '.join(short)}")
    for model in found["models"]:
        lines += [f"{name:18} {cell_of(one)}" for name, one in model.items() if one]
    lines += [] if found["models"] else [dim("\nNo model is configured, and none is needed.")]
    settings.tell(Answer(found, "\n".join(lines)))
    return EXIT_OTHER if any(one["problem"] for one in found["models"]) else 0


@minion.command()
@click.argument("model")
@click.option("--for", "purpose", type=click.Choice(PURPOSES),
              help="Only for this; otherwise for all that has no model of its own.")  # fmt: skip
@pass_settings
def use(settings: Settings, model: str, purpose: str | None) -> int:
    """Try MODEL and, if it answers, print the lines to put into your own config.toml.

    MODEL is the path of a GGUF file, a server's URL#NAME such as
    http://127.0.0.1:11434/v1#llama3.2, or `extractive` for none.
    """
    from vaultmind.config import user_config_path
    from vaultmind.minion.choice import EXTRACTIVE, named, opened

    name, config = named(model), settings.config
    if name != EXTRACTIVE:
        generator = opened(name, config.minion, config.state_dir, background=False)
        try:
            aside(dim(f"Trying {name} …"))
            hello = Turn("user", "Say hello.")
            generator.generate(Prompt((hello,), max_tokens=4, seconds=config.minion.job_seconds))
        finally:
            generator.close()
    path, key = user_config_path(os.environ), purpose or "model"
    lines = f"[minion]\n{key} = {json.dumps(name, ensure_ascii=False)}"
    works = "" if name == EXTRACTIVE else f"{good('✓')} It works. "
    words = f"{works}To use it, put this into {place(str(path))}:\n\n{lines}\n\n{dim(RESTART)}"
    told = {"key": f"minion.{key}", "value": name, "path": str(path), "lines": lines}
    settings.tell(Answer(told, words))
    return 0
