"""Commands that change or show what an agent knows: remember, forget, show."""

from __future__ import annotations

from typing import Any

import click

from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.output import EXIT_OTHER, OUTCOME_EXIT, escaped, out, print_json
from vaultmind.types import SECTIONS

HEADLINES = {
    "written": "[green]✓[/]",
    "unchanged": "[green]=[/]",
    "suggested": "[yellow]?[/]",
    "denied": "[red]✗[/]",
    "not_found": "[yellow]∅[/]",
}


@click.command(cls=VaultCommand)
@click.argument("fact", nargs=-1, required=True)
@click.option(
    "--section", type=click.Choice(SECTIONS), help="Where it belongs; else it is guessed."
)
@click.option("--instead-of", "old", metavar="FACT", help="The fact that this one replaces.")
@pass_settings
def remember(
    settings: Settings, fact: tuple[str, ...], section: str | None, old: str | None
) -> int:
    """Write FACT into the agent's brain.

    Example: vaultmind remember "I prefer short answers" --section preferences
    """
    args: dict[str, Any] = {"op": "replace" if old else "remember", "text": " ".join(fact)}
    if section:
        args["section"] = section
    if old:
        args["old"] = old
    return _update(settings, args)


@click.command(cls=VaultCommand)
@click.argument("fact", nargs=-1, required=True)
@pass_settings
def forget(settings: Settings, fact: tuple[str, ...]) -> int:
    """Take FACT (its words, or its block id such as ^k3f9) out of the agent's memory.

    The messages that said it are hidden from every recall.
    """
    return _update(settings, {"op": "forget", "text": " ".join(fact)})


@click.command(cls=VaultCommand)
@pass_settings
def show(settings: Settings) -> int:
    """Show what the agent knows about you, with counts and files."""
    shown = settings.backend().call("memory_show", _with_target(settings, {}))
    if settings.json:
        print_json(shown)
        return 0
    from vaultmind.cli.tables import show_memory

    show_memory(shown)
    return 0


def _update(settings: Settings, args: dict[str, Any]) -> int:
    outcome = settings.backend().call("memory_update", _with_target(settings, args))
    if settings.json:
        print_json(outcome)
    else:
        out.print(f"{HEADLINES.get(outcome['outcome'], '')} {escaped(outcome['message'])}")
        for near in outcome.get("nearest", ()):
            out.print(f"    · {escaped(near)}")
    return OUTCOME_EXIT.get(outcome["outcome"], EXIT_OTHER)


def _with_target(settings: Settings, args: dict[str, Any]) -> dict[str, Any]:
    return args | ({"agent": settings.target} if settings.target else {})
