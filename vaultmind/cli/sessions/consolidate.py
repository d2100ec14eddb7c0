"""`vaultmind consolidate`: take facts and summaries from what was said, and look at what waits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from vaultmind.cli.options import Settings, VaultCommand, given, pass_settings
from vaultmind.cli.output.bars import progress
from vaultmind.cli.output.output import (
    EXIT_OTHER,
    aside,
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
from vaultmind.plural import counted

MARKS = {
    "written": good("✓"),
    "suggested": odd("?"),
    "denied": bad("✗"),
    "unchanged": dim("="),
    "not_found": dim("="),
}
TOLD = {
    "suggested": "waits for you",
    "denied": "not written",
    "unchanged": "known already",
    "not_found": "no such fact",
}
MADE = {
    "completed": "was there; its sources are marked now",
    "would be written": "would be written",
    "unchanged": "was there",
}
FACT_INDENT = " " * 16
"""Where the words of a fact begin."""
STOPPED = (
    "What is done stays done. The daemon goes on with the rest: `vaultmind consolidate --status` "
    "shows how far it is, `vaultmind daemon stop` stops it."
)
STOPPED_HERE = "What is done stays done; `vaultmind consolidate` goes on with the rest."


@click.command(cls=VaultCommand)
@click.option("--session", metavar="ID", help="Only this session, e.g. 2026-02-20_001.")
@click.option("--again", metavar="ID",
              help="Do a session or a summary anew: 2026-02-20_001, L1_001.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Write nothing, show what would be.")
@click.option("--status", is_flag=True, help="Only show what waits and what was done.")
@click.option("--pause", is_flag=True, help="Stop the work in the background.")
@click.option("--resume", is_flag=True, help="Let it go on.")
@pass_settings
def consolidate(settings: Settings, **options: Any) -> int:  # noqa: ANN401
    """Take facts and summaries from the conversations that have ended and wait.

    It happens by itself a while after a conversation ends; imported ones wait for this command.
    Example: vaultmind consolidate --dry-run
    """
    flags = [name for name in ("status", "pause", "resume") if options.pop(name)]
    wanted = {name: value for name, value in given(options).items() if value}
    if len(flags) > 1 or (flags and wanted) or {"session", "again"} <= set(wanted):
        raise click.UsageError(
            "Give one of --session, --again, --status, --pause and --resume; --dry-run goes with "
            "the first two or alone."
        )
    if flags:
        return _stands(settings, "look" if flags == ["status"] else flags[0])
    try:
        with progress(quiet=settings.json) as report:
            done = settings.backend().call("consolidate", wanted | settings.target, report)
    except KeyboardInterrupt:
        aside(STOPPED_HERE if settings.in_process else STOPPED)
        raise
    if settings.json:
        print_json(done)
    else:
        show(done, dry_run=bool(wanted.get("dry_run")))
    return EXIT_OTHER if _is_in_vain(done) else 0


def _is_in_vain(done: dict[str, Any]) -> bool:
    """Tell whether nothing at all could be done: every session stays as it was."""
    stay = [one["pending"] and not one["facts"] for one in done["sessions"]]
    return bool(stay) and all(stay) and not done["summaries"]


def show(done: dict[str, Any], *, dry_run: bool) -> None:
    """Show what each session left, the summaries, what was left out, and what it comes to."""
    for one in done["sessions"]:
        _show_session(one, dry_run=dry_run)
    for one in done["summaries"]:
        _show_summary(one)
    if not done["sessions"] and not done["summaries"]:
        say(f"{good('✓')} Nothing waits.")
    for note in done["notes"]:
        say(paragraph(f"{dim('·')} {note}"))
    if done["sessions"] or done["summaries"]:
        say(bold(_total(done, dry_run=dry_run)))
    facts = [fact for one in done["sessions"] for fact in one["facts"]]
    if not dry_run and any(fact["outcome"] == "suggested" for fact in facts):
        say(dim("What waits for you: vaultmind suggestions list"))


def _show_session(one: dict[str, Any], *, dry_run: bool) -> None:
    by = "" if one["by"] == "extractive" else f" · {one['by']}"
    say(f"{bold(one['session'])}  {dim(one['agent'] + by)}")
    if one["summary"]:
        say(dim(paragraph(one["summary"], "  ")))
    for fact in one["facts"]:
        _show_fact(fact)
    if one["dropped"]:
        say(f"  {dim(f'– {_dropped(one)}')}")
    for note in one["notes"]:
        say(f"  {odd('!')} {paragraph(note, '    ').lstrip()}")
    if one["pending"] and not dry_run:
        say(f"  {odd('!')} It stays marked and is tried again.")
    if not (one["summary"] or one["facts"] or one["dropped"] or one["notes"]):
        say(dim("  nothing to keep"))
    say()


def _show_fact(fact: dict[str, Any]) -> None:
    words = paragraph(fact["fact"], FACT_INDENT).lstrip()
    say(f"  {MARKS[fact['outcome']]} {dim(fact['category'].lower().ljust(10))}  {words}")
    for tail in _tails(fact):
        say(dim(paragraph(tail, FACT_INDENT)))


def _tails(fact: dict[str, Any]) -> Iterator[str]:
    """Yield what there is to say of a fact besides its words."""
    if fact["replaces"]:
        yield f"in the place of: {fact['replaces']}"
    if told := TOLD.get(fact["outcome"]):
        yield told + (f": {fact['reason']}" if fact["reason"] else "")


def _dropped(one: dict[str, Any]) -> str:
    """Return how many facts were dropped, by reason, the most frequent first."""
    numbers: dict[str, int] = {}
    for fact in one["dropped"]:
        numbers[fact["reason"]] = numbers.get(fact["reason"], 0) + 1
    ranked = sorted(numbers.items(), key=lambda item: -item[1])
    each = ", ".join(f"{number:,} {reason}" for reason, number in ranked)
    return f"{len(one['dropped']):,} dropped: {each}"


def _show_summary(one: dict[str, Any]) -> None:
    mark = dim("=") if one["outcome"] == "unchanged" else good("✓")
    sources = counted(len(one["sources"]), "session" if one["level"] == "L1" else "summary",
                      "" if one["level"] == "L1" else "summaries")  # fmt: skip
    made = f" · {MADE[one['outcome']]}" if one["outcome"] in MADE else ""
    about = f"{one['agent']} · of {sources} · {one['tokens']:,} tokens{made}"
    say(f"{mark} {bold(one['id'])}  {dim(about)}")
    say(f"  {place(one['path'])}")
    say(f"{dim(paragraph(one['text'], '  '))}\n")


def _total(done: dict[str, Any], *, dry_run: bool) -> str:
    facts = [fact for one in done["sessions"] for fact in one["facts"]]
    outcomes = [fact["outcome"] for fact in facts]
    parts = [counted(len(done["sessions"]), "session")] if done["sessions"] else []
    if done["sessions"]:
        parts.append(f"{counted(outcomes.count('written'), 'change')} of facts")
    if waiting := outcomes.count("suggested"):
        parts.append(f"{waiting:,} for you to decide")
    if dropped := sum(len(one["dropped"]) for one in done["sessions"]):
        parts.append(f"{dropped:,} dropped")
    if done["summaries"]:
        parts.append(counted(len(done["summaries"]), "summary", "summaries"))
    lead = "Nothing was written; it would be: " if dry_run else ""
    return f"{lead}{', '.join(parts)}."


def _stands(settings: Settings, action: str) -> int:
    """Pause or resume the work in the background, or only look; show how it stands."""
    found = settings.backend().call("consolidation", {"action": action})
    if settings.json:
        print_json(found)
        return 0
    if action == "pause":
        say(f"{good('✓')} Paused: sessions that end wait until `vaultmind consolidate --resume`.")
    elif action == "resume":
        say(f"{good('✓')} It goes on.")
    say(found["words"])
    for one in found["queue"]:
        say(f"  {one['session']}  {dim(one['agent'])}")
    return 0
