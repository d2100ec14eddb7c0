"""`vaultmind agents`: who remembers in this vault, what each may do, and letting one do more."""

from __future__ import annotations

import sys
from typing import Any

import click

from vaultmind.cli.options import Settings, VaultGroup, pass_settings
from vaultmind.cli.output.output import (
    EXIT_OTHER,
    bold,
    cells,
    dim,
    good,
    odd,
    place,
    print_json,
    say,
)

COLUMNS = ("agent", "autonomy", "facts", "sessions", "suggestions", "may write", "hidden from")


@click.group(cls=VaultGroup)
def agents() -> None:
    """List the agents of the vault, make one, or let one do what its identity.md asks for."""


@agents.command("list")
@pass_settings
def list_(settings: Settings) -> int:
    """Show every agent: its level, what it has, who may write to it and who may not read it."""
    found = settings.backend().call("agents", {})
    if settings.json:
        print_json(found)
        return 0
    if not found["agents"]:
        say("There is no agent yet. To make one: vaultmind agents new NAME")
    else:
        _table([COLUMNS, *(_row(one) for one in found["agents"])])
    for one in found["agents"]:
        _attention(one)
    for note in found["notes"]:
        say(f"{odd('!')} {note}")
    return 0


@agents.command()
@click.argument("name", metavar="NAME")
@pass_settings
def show(settings: Settings, name: str) -> int:
    """Show what agent NAME may do and what it has, and where that is written."""
    one = settings.backend().call("agent_show", {"name": name})
    if settings.json:
        print_json(one)
        return 0
    kept = "" if one["has_identity"] else dim(" (not there yet)")
    rows = {
        "agent": bold(one["name"]),
        "autonomy": _level(one),
        "language": one["language"],
        "facts": f"{one['facts']:,}",
        "sessions": f"{one['sessions']:,}",
        "suggestions": f"{one['suggestions']:,} waiting for you",
        "may write": _writers(one) or "only itself",
        "hidden from": _hidden(one) or "nobody",
        "identity": place(one["identity"]) + kept,
    }
    for title, words in rows.items():
        say(f"{dim(f'{title:12}')} {words}")
    _attention(one)
    return 0


@agents.command()
@click.argument("name", metavar="NAME")
@click.option("--language", type=click.Choice(["en", "pl", "ru"]), default="en", show_default=True,
              help="Language of the agent's headings and identity.")  # fmt: skip
@pass_settings
def new(settings: Settings, name: str, language: str) -> int:
    """Make agent NAME: its folder and an identity.md to begin with.

    A client that names no agent is this one if it calls itself so.
    """
    made = settings.backend().call("agent_new", {"name": name, "language": language})
    if settings.json:
        print_json(made)
        return 0
    from vaultmind.cli.output.tables import show_made

    show_made(made)
    say("Write there who it is. `autonomy: 1` makes it ask before it remembers.")
    say(f"\nNext: {bold(f'vaultmind connect CLIENT --agent {name.strip().lower()} --write')}")
    return 0


@agents.command()
@click.argument("name", metavar="NAME")
@click.option("--yes", is_flag=True, help="Do not ask: you know what it raises.")
@pass_settings
def allow(settings: Settings, name: str, *, yes: bool) -> int:
    """Let agent NAME do what its identity.md asks for beyond what is in force.

    What that is is shown first, and you are asked. Lowering needs no leave: it counts at once.
    """
    backend = settings.backend()
    asked = backend.call("agent_allow", {"name": name})
    one = asked["agent"]
    if one["waiting"] and not yes:
        _explain(one)
        if not _confirmed(settings):
            say("Nothing was allowed.")
            return EXIT_OTHER
    if one["waiting"]:
        asked = backend.call("agent_allow", {"name": name, "seen": one["mark"]})
    if settings.json:
        print_json(asked)
    elif asked["allowed"]:
        say(f"{good('✓')} Allowed to {one['name']}: {', '.join(asked['allowed'])}.")
    else:
        say(f"{good('=')} {one['name']} asks for nothing beyond what is in force.")
    return 0


def _explain(one: dict[str, Any]) -> None:
    """Say what would be raised, where a person reads it whatever the output is for."""
    click.echo(f"{bold(one['name'])} asks for more, in {place(one['identity'])}:", err=True)
    for what in one["waiting"]:
        click.echo(f"  {odd('+')} {what}", err=True)


def _confirmed(settings: Settings) -> bool:
    """Return the person's yes or no; raise UsageError where nobody can be asked."""
    if settings.json or not sys.stdin.isatty():
        raise click.UsageError("Nobody can be asked here. Add --yes to allow it.")
    return click.confirm("Allow it on this device?", default=False, err=True)


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    level = str(one["level"])
    if one["asked"] > one["level"]:
        level += f" (asks for {one['asked']})"
    counts = (f"{one[name]:,}" for name in ("facts", "sessions", "suggestions"))
    return one["name"], level, *counts, _writers(one) or "-", _hidden(one) or "-"


def _table(rows: list[tuple[str, ...]]) -> None:
    widths = [max(cells(row[at]) for row in rows) for at in range(len(COLUMNS))]
    for number, row in enumerate(rows):
        pairs = zip(row, widths, strict=True)
        line = "  ".join(text + " " * (width - cells(text)) for text, width in pairs).rstrip()
        say(line if number else dim(line))


def _level(one: dict[str, Any]) -> str:
    words = f"{one['level']} {one['level_words']}"
    return words if one["asked"] <= one["level"] else f"{words} (asks for {one['asked']})"


def _writers(one: dict[str, Any]) -> str:
    return "; ".join(f"{who}: {', '.join(what)}" for who, what in one["writers"].items())


def _hidden(one: dict[str, Any]) -> str:
    return ", ".join("everybody" if who == "*" else who for who in one["hidden_from"])


def _attention(one: dict[str, Any]) -> None:
    """Say what of an identity is not in force, and what to do about it."""
    for fault in one["faults"]:
        say(f"{odd('!')} {place(one['identity'])}: {fault}")
    if one["waiting"] and not one["faults"]:
        say(f"{odd('!')} {one['name']} asks for more: {', '.join(one['waiting'])}")
        say(f"  {dim('→')} vaultmind agents allow {one['name']}")
