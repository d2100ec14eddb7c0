"""Commands that change or show what an agent knows: remember, show."""

from __future__ import annotations

from typing import Any

import click

from vaultmind.cli.options import Settings, VaultCommand, given, pass_settings
from vaultmind.cli.output.output import (
    EXIT_OTHER,
    OUTCOME_EXIT,
    bad,
    good,
    odd,
    paragraph,
    print_json,
    say,
)
from vaultmind.types import SECTIONS

MARKS = {
    "written": good("✓"),
    "unchanged": good("="),
    "suggested": odd("?"),
    "denied": bad("✗"),
    "not_found": odd("∅"),
}


@click.command(cls=VaultCommand)
@click.argument("fact", nargs=-1, required=True)
@click.option(
    "--section", type=click.Choice(SECTIONS), help="Where it belongs; else it is guessed."
)
@click.option("--instead-of", "old", metavar="FACT",
              help="The fact that this one replaces: its words or its id.")  # fmt: skip
@pass_settings
def remember(settings: Settings, fact: tuple[str, ...], **options: object) -> int:
    """Write FACT into the agent's brain.

    Example: vaultmind remember "I prefer short answers" --section preferences
    """
    args = given(options)
    op = "replace" if "old" in args else "remember"
    return update(settings, args | {"op": op, "text": " ".join(fact)})


@click.command(cls=VaultCommand)
@pass_settings
def show(settings: Settings) -> int:
    """Show what the agent knows about you, with counts and files."""
    shown = settings.backend().call("memory_show", settings.target)
    if settings.json:
        print_json(shown)
        return 0
    from vaultmind.cli.output.tables import show_memory

    show_memory(shown)
    return 0


def update(settings: Settings, args: dict[str, Any]) -> int:
    """Change a fact, say what came of it, and return the exit code."""
    outcome = settings.backend().call("memory_update", args | settings.target)
    if settings.json:
        print_json(outcome)
    else:
        mark = MARKS.get(outcome["outcome"], "")
        say(f"{mark} {paragraph(outcome['message'], '  ').lstrip()}")
    return OUTCOME_EXIT.get(outcome["outcome"], EXIT_OTHER)
