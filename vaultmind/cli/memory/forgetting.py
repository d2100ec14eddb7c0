"""`vaultmind forget`: a fact, all that a topic means, or every trace of some words."""

from __future__ import annotations

import sys
from typing import Any

import click

from vaultmind.cli.memory.memory import update
from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.output.bars import progress
from vaultmind.cli.output.output import (
    EXIT_NOT_FOUND,
    EXIT_OTHER,
    bad,
    bold,
    dim,
    good,
    odd,
    paragraph,
    place,
    print_json,
    say,
)

SHOWN = 40
"""Finds of one kind that a preview lists; the rest is a number."""
ERASED_EXIT = {"erased": 0, "partial": EXIT_OTHER, "not_found": EXIT_NOT_FOUND}
ERASED_MARKS = {"erased": good("✓"), "partial": bad("✗"), "not_found": odd("∅")}


@click.command(cls=VaultCommand)
@click.argument("fact", nargs=-1, required=True)
@click.option("--topic", is_flag=True, help="FACT is a topic: show the facts it means, then ask.")
@click.option(
    "--everywhere", is_flag=True, help="Erase every trace, for good: show it first, then ask."
)
@click.option("--dry-run", is_flag=True, help="With these two: only show.")
@click.option("--yes", is_flag=True, help="With these two: do not ask.")
@pass_settings
def forget(settings: Settings, fact: tuple[str, ...], **how: bool) -> int:
    """Take FACT (its words, or its id such as ^k3f9) out of the agent's memory.

    The messages that said it are hidden from every recall. With --everywhere it is erased: from
    brain, archive, sessions, summaries, audit, log and index of all agents, or of the one that
    is named. That cannot be undone.
    """
    words = " ".join(fact)
    if how["topic"] and how["everywhere"]:
        raise click.UsageError("Either --topic or --everywhere.")
    if how["everywhere"]:
        return _erase(settings, words, dry_run=how["dry_run"], yes=how["yes"])
    if how["topic"]:
        return _topic(settings, words, dry_run=how["dry_run"], yes=how["yes"])
    if how["dry_run"] or how["yes"]:
        raise click.UsageError("--dry-run and --yes go with --topic or --everywhere.")
    return update(settings, {"op": "forget", "text": words})


def _erase(settings: Settings, words: str, *, dry_run: bool, yes: bool) -> int:
    backend, args = settings.backend(), {"text": words, **settings.target}
    preview = backend.call("erase_preview", args)
    if dry_run and settings.json:
        print_json(preview)
    elif not settings.json:
        _show_preview(preview)
    if preview["empty"]:
        if settings.json and not dry_run:
            print_json(_nothing(preview))
        return EXIT_NOT_FOUND
    if dry_run:
        return 0
    if not yes:
        _ask_or_refuse(settings, "--yes")
        if not click.confirm("Erase this? It cannot be undone.", default=False, err=True):
            say("Nothing was erased.")
            return EXIT_OTHER
    with progress(quiet=settings.json) as report:
        erased = backend.call("erase", args | {"seal": preview["seal"]}, report)
    if settings.json:
        print_json(erased)
    else:
        _show_erased(erased)
    return ERASED_EXIT[erased["outcome"]]


def _topic(settings: Settings, words: str, *, dry_run: bool, yes: bool) -> int:
    """Show the facts that a topic means, and forget those that are confirmed."""
    found = settings.backend().call("topic", {"topic": words, **settings.target})
    facts = found["facts"]
    sure = [number for number, fact in enumerate(facts, 1) if fact["sure"]]
    if dry_run or (settings.json and not facts):
        print_json(found) if settings.json else _show_topic(found)
        return 0 if facts else EXIT_NOT_FOUND
    if not settings.json:
        _show_topic(found)
    if not facts:
        return EXIT_NOT_FOUND
    chosen = sure if yes else _chosen(settings, sure, len(facts))
    if not chosen and not settings.json:
        say("Nothing was forgotten." + (" None is surely about it: name it." if yes else ""))
    if not chosen and not yes:
        return EXIT_OTHER
    target = {"agent": found["agent"]}
    outcomes = [
        settings.backend().call("memory_update", {"op": "forget", "text": _name(fact)} | target)
        for number, fact in enumerate(facts, 1)
        if number in chosen
    ]
    if settings.json:
        print_json({"agent": found["agent"], "outcomes": outcomes})
    for one in () if settings.json else outcomes:
        mark = good("✓") if one["outcome"] == "written" else odd("∅")
        say(f"{mark} {paragraph(one['message'], '  ').lstrip()}")
    if not outcomes:
        return EXIT_NOT_FOUND
    return 0 if all(one["outcome"] == "written" for one in outcomes) else EXIT_OTHER


def _chosen(settings: Settings, sure: list[int], count: int) -> list[int]:
    """Return the numbers that the person names; the sure ones for a plain yes."""
    _ask_or_refuse(settings, "--yes")
    these = f"[y] {', '.join(map(str, sure))}, " if sure else ""
    said = str(click.prompt(f"Forget {these}[n] none, or name numbers", default="n", err=True))
    answer = said.strip().lower()
    if answer in ("y", "yes"):
        return sure
    numbers = [int(one) for one in answer.replace(",", " ").split() if one.isdecimal()]
    return [number for number in numbers if 1 <= number <= count]


def _ask_or_refuse(settings: Settings, flag: str) -> None:
    """Raise UsageError where nobody can be asked."""
    if settings.json or not sys.stdin.isatty():
        raise click.UsageError(
            f"Nobody can be asked here, so nothing was done. Add {flag}, or --dry-run to only look."
        )


def _show_preview(preview: dict[str, Any]) -> None:
    say(paragraph(preview["message"]))
    for meant in preview["meant"]:
        say(f"  {dim('meant as well:')} {meant}")
    for kind in preview["counts"]:
        found = [one for one in preview["found"] if one["kind"] == kind]
        say(f"\n{bold(kind)} {dim(str(len(found)))}")
        path = ""
        for one in found[:SHOWN]:
            if one["path"] != path:
                path = one["path"]
                say(f"  {place(path)}")
            say(f"    {dim(one['place'])}  {one['excerpt']}")
        if len(found) > SHOWN:
            say(f"    … and {len(found) - SHOWN} more")
    if preview["state_files"]:
        say(f"\n{bold('index and log')}  {', '.join(preview['state_files'])}")
    _show_places("\nYours, not touched", preview["yours"])
    say("")


def _show_erased(erased: dict[str, Any]) -> None:
    mark = ERASED_MARKS[erased["outcome"]]
    say(f"{mark} {paragraph(erased['message'], '  ').lstrip()}")
    for one in erased["near"]:
        where = place(one["path"] + one["anchor"])
        say(f"  {dim(format(one['cosine'], '.2f'))} {where}  {one['excerpt']}")


def _show_places(title: str, places: list[dict[str, Any]]) -> None:
    if places:
        say(bold(title))
    for one in places[:SHOWN]:
        say(f"  {place(one['path'])}  {one['excerpt']}")
    if len(places) > SHOWN:
        say(f"  … and {len(places) - SHOWN} more")


def _show_topic(found: dict[str, Any]) -> None:
    facts, topic = found["facts"], found["topic"]
    if not facts:
        say(f"{odd('∅')} {found['agent']} knows nothing about “{topic}”.")
        return
    say(f"What {bold(found['agent'])} knows about “{topic}”:")
    told = False
    for number, fact in enumerate(facts, 1):
        if not fact["sure"] and not told:
            told = True
            say(dim("Perhaps also (taken only if you name them):"))
        block = dim(f"^{fact['block']}") if fact["block"] else ""
        say(f"  {number}. {fact['text']} {block}".rstrip())


def _name(fact: dict[str, Any]) -> str:
    return f"^{fact['block']}" if fact["block"] else str(fact["text"])


def _nothing(preview: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of an erasure that found nothing to do."""
    return {
        "outcome": "not_found",
        "counts": {},
        "paths": [],
        "left": [],
        "yours": preview["yours"],
        "near": [],
        "searched": ["text", "bytes"],
        "faults": [],
        "message": preview["message"],
    }
