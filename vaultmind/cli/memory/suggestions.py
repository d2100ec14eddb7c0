"""`vaultmind suggestions`: what waits for the person's word, and their yes or no."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Any

import click

from vaultmind.cli.memory.memory import MARKS
from vaultmind.cli.options import Settings, VaultCommand, VaultGroup, pass_settings
from vaultmind.cli.output.output import (
    EXIT_OTHER,
    OUTCOME_EXIT,
    aside,
    bold,
    dim,
    odd,
    paragraph,
    place,
    print_json,
    say,
)

SHOWN_STATES = {
    "accepted": "ticked, about to be applied",
    "rejected": "rejected, about to be settled",
    "failed": "accepted, and could not be applied: the file says why",
}


@click.group(cls=VaultGroup)
def suggestions() -> None:
    """Settle what agents may not write by themselves; the same as ticking Suggestions.md."""


@suggestions.command("list", cls=VaultCommand)
@pass_settings
def list_(settings: Settings) -> int:
    """Show what waits for you: who wants what, for whom, and why."""
    found = _waiting(settings)
    if settings.json:
        print_json(found)
    else:
        _show(found)
    return 0


@suggestions.command(cls=VaultCommand)
@click.argument("ids", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All that wait; asks first.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_settings
def accept(settings: Settings, ids: tuple[str, ...], *, everything: bool, yes: bool) -> int:
    """Write what the suggestions IDS say into the memory, as your own word."""
    return _answer(settings, _chosen(settings, ids, everything, yes, "Accept"), accept=True)


@suggestions.command(cls=VaultCommand)
@click.argument("ids", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All that wait; asks first.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_settings
def reject(settings: Settings, ids: tuple[str, ...], *, everything: bool, yes: bool) -> int:
    """Turn the suggestions IDS down: nothing is written, and they do not come back."""
    return _answer(settings, _chosen(settings, ids, everything, yes, "Reject"), accept=False)


def _chosen(
    settings: Settings, ids: tuple[str, ...], everything: bool, yes: bool, verb: str
) -> list[str]:
    """Return the ids that are meant; all of them only once they were seen and confirmed."""
    if bool(ids) == everything:
        raise click.UsageError("Name suggestions by their ids, or all of them with --all.")
    if not everything:
        return list(ids)
    found = _waiting(settings)
    waiting = [one["id"] for one in found["suggestions"]]
    if waiting and not yes:
        if settings.json or not sys.stdin.isatty():
            raise click.UsageError("Nobody is there to be asked: --all needs --yes here.")
        _show(found)
        click.confirm(f"\n{verb} all {len(waiting)}?", abort=True)
    return waiting


def _answer(settings: Settings, ids: list[str], *, accept: bool) -> int:
    args = {"ids": ids, "accept": accept}
    answers = settings.backend().call("suggestions_answer", args)["answers"] if ids else []
    if settings.json:
        print_json({"answers": answers})
    for one in answers:
        if not settings.json:
            said = paragraph(one["message"], "  ").lstrip()
            say(f"{MARKS.get(one['outcome'], '')} {dim(one['id'])}  {said}")
    if not answers and not settings.json:
        say("Nothing waits for you.")
    return max((OUTCOME_EXIT.get(one["outcome"], EXIT_OTHER) for one in answers), default=0)


def _waiting(settings: Settings) -> dict[str, Any]:
    return settings.backend().call("suggestions_list", settings.target)


def _show(found: dict[str, Any]) -> None:
    """Show suggestions on a terminal: a few lines each, the id first."""
    if not found["suggestions"]:
        say(f"Nothing waits for you in {place(found['path'])}.")
        return
    for number, one in enumerate(found["suggestions"]):
        say(("\n" if number else "") + f"{odd('?')} {bold(one['id'])}  {_asks(one)}")
        if one["old"]:
            say(paragraph(f"- {one['old']}", "    "))
        sign = "-" if one["op"] == "forget" else "+"
        say(paragraph(f"{sign} {one['text']}", "    "))
        for line in filter(None, (_why(one), _when(one), SHOWN_STATES.get(one["state"], ""))):
            say(dim(paragraph(line, "    ")))
    aside(dim(f"\nTick or edit them in {found['path']}, or: vaultmind suggestions accept ID"))


def _asks(one: dict[str, Any]) -> str:
    does = {"remember": "remember", "replace": "correct", "forget": "forget"}[one["op"]]
    into = f" in {bold(one['agent'])}'s memory" if one["agent"] != one["by"] else ""
    under = f" {dim('under')} {one['section']}" if one["section"] else ""
    return f"{bold(one['by'])} wants to {does}{into}{under}"


def _why(one: dict[str, Any]) -> str:
    return f"why: {one['reason']}" if one["reason"] else ""


def _when(one: dict[str, Any]) -> str:
    """Return when it was suggested, where the reader is, and in which session."""
    try:
        moment = f"{datetime.fromisoformat(one['time']).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        moment = ""
    said = one["evidence"]
    session = f"said in {said['agent']}/{said['session']}" if said else ""
    return ", ".join(part for part in (moment, session) if part)
