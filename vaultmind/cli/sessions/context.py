"""`context`: what an agent is given before it answers, and why just that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import click

from vaultmind.cli.jsonlines import read_items
from vaultmind.cli.options import Settings, VaultCommand, given, pass_settings
from vaultmind.cli.output.bars import progress
from vaultmind.cli.output.gauge import FREE, FULL, bar
from vaultmind.cli.output.output import (
    aside,
    bold,
    cells,
    columns,
    dim,
    odd,
    paragraph,
    print_json,
    say,
)
from vaultmind.cli.ready import wait_for_index
from vaultmind.plural import counted
from vaultmind.ports import Report
from vaultmind.types import Progress

BATCH = 25
"""Queries of a file that go in one call, so that answers appear as they come."""
BATCH_TOKENS = 250_000
"""And the tokens of their contexts, if each were full: an answer is one line on the socket."""
COLOURS = {
    "identity": "blue",
    "brain": "blue",
    "active context": "blue",
    "summary": "yellow",
    "earlier": "magenta",
    "memory": "cyan",
    "associations": "cyan",
    "history": "yellow",
    "window": "green",
    "tools": "white",
}
NAMES = {
    "active context": "last conversation",
    "summary": "summary so far",
    "earlier": "from earlier",
    "memory": "from memory",
    "history": "earlier runs",
    "window": "last messages",
}
"""What a part is called for a person, where its name says too little."""
NAME_WIDTH, TOKENS_WIDTH, SHARE_WIDTH, BAR_WIDTH = 17, 7, 5, 16
NUMBERS_WIDTH = 2 + NAME_WIDTH + TOKENS_WIDTH + SHARE_WIDTH + 3
WHY_INDENT = NUMBERS_WIDTH + BAR_WIDTH + 1
NARROWEST = 20
"""Columns that the reasons need beside the numbers; with less they stand below."""
IN_AGENT = re.compile(r"^.*?agents/[^/]+/(?=.)")
"""What stands before an agent's own files: left out, so that a path fits beside the numbers."""
SCORED = ("memory", "associations")
"""Parts of pieces from several places: each is named with its score."""
NEWLINE = "\n"


@click.command(cls=VaultCommand)
@click.argument("message", nargs=-1)
@click.option("--session", metavar="ID", help="Which conversation. [default: the agent's latest]")
@click.option("--budget", type=int, metavar="N", help="Tokens of the whole at most.")
@click.option("--task", metavar="TASK", help="As a scheduled sub-agent of this task gets it.")
@click.option(
    "--explain", is_flag=True, help="Show what each part costs, why, and what is left out."
)
@click.option("--no-wait", is_flag=True, help="Answer at once, however far the index is.")
@click.option(
    "--queries",
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False, readable=True),
    help='Many at once: JSON Lines {"id","query"} in, {"id","tokens","parts","dropped"} out.',
)
@pass_settings
def context(
    settings: Settings,
    message: tuple[str, ...],
    queries: Path | None,
    *,
    explain: bool,
    no_wait: bool,
    **options: object,
) -> int:
    """Print what the agent is given before it answers MESSAGE; without one, before any.

    Example: vaultmind context "what did we decide about the oven?" --budget 1800 --explain
    """
    if message and queries:
        raise click.UsageError("Give a MESSAGE, or a file with --queries.")
    if explain and queries:
        raise click.UsageError("--explain shows one context; the lines of --queries hold it all.")
    args = given(options) | settings.target
    asked = iter(_read_queries(queries)) if queries else None
    if not no_wait:
        wait_for_index(settings, patient=bool(queries))
    if asked is not None:
        return _many(settings, list(asked), args)
    with progress(quiet=settings.json) as report:
        pending = [" ".join(message)] if message else []
        built = settings.backend().call("context_build", args | {"messages": pending}, report)
    if settings.json:
        print_json(built)
    elif explain:
        show_explained(built)
    else:
        show_text(built)
    return 0


def show_text(built: dict[str, Any]) -> None:
    """Show a context as the agent reads it; on a terminal with the parts' names between."""
    parts = built["parts"]
    if columns():
        for part in parts:
            say(_title(part))
            say(paragraph(part["text"]) + "\n")
    elif parts:
        say("\n\n".join(part["text"] for part in parts))
    if not parts:
        say(_nothing(built))
    for note in built["notes"]:
        aside(f"{odd('!')} {paragraph(note, '  ').lstrip()}")
    aside(dim(_below(built)))


def show_explained(built: dict[str, Any]) -> None:
    """Show what each part costs and why it is there, then what was left out and why."""
    tokens, budget = built["tokens"], built["budget"]
    size = f" · {bold(f'{tokens:,}')} of {budget:,} tokens"
    say(f"{bold(built['agent'])}{dim(_where(built))}{size}")
    say(f"{_strip(built, columns())}\n" if columns() else "")
    if not built["parts"]:
        say(_nothing(built) + "\n")
    most = max((part["tokens"] for part in built["parts"]), default=1)
    for part in built["parts"]:
        row, why = _row(_name(part), part["tokens"], budget, most, part["name"]), _why(part)
        say(f"{row.rstrip() if why.startswith(NEWLINE) else row}{why}")
    if (free := budget - tokens) > 0 and built["parts"]:
        say(dim(_row("free", free, budget, 0, "")).rstrip())
    if built["dropped"]:
        say(f"\n{bold('Left out')}")
        say("\n".join(_left_out(built["dropped"])))
    for note in built["notes"]:
        say(f"{odd('!')} {paragraph(note, '  ').lstrip()}")


def _strip(built: dict[str, Any], width: int) -> str:
    """Return the whole budget as one line: each part in its colour, then what is free."""
    drawn, spent, end = "", 0, 0
    for part in built["parts"]:
        spent += part["tokens"]
        begin, end = end, min(width, round(width * spent / built["budget"]))
        drawn += click.style(FULL * (end - begin), fg=COLOURS.get(part["name"]))
    return drawn + dim(FREE * (width - end))


def _row(name: str, tokens: int, budget: int, most: int, kind: str) -> str:
    """Return a part's name, tokens, share of the budget and bar: the longest is the largest's."""
    share = f"{100 * tokens / budget:.0f} %"
    width = min(BAR_WIDTH, max(0, columns() - NUMBERS_WIDTH)) if columns() else BAR_WIDTH
    drawn = click.style(bar(tokens / most if most else 0.0, width), fg=COLOURS.get(kind))
    return f"  {name:{NAME_WIDTH}}{tokens:>{TOKENS_WIDTH},}{share:>{SHARE_WIDTH + 1}}  {drawn} "


def _why(part: dict[str, Any]) -> str:
    """Return where a part comes from and why it is there, beside its numbers or below them."""
    places = [_short(path) for path in part["sources"]]
    scores = part["why"].split(", ")
    if part["name"] in SCORED and len(scores) == len(places):
        pairs = zip(scores, places, strict=True)
        return "".join(f"\n{dim(f'      {score}  {path}')}" for score, path in pairs)
    reason = part["why"] or " · ".join(places)
    if not part["why"] and part["messages"]:
        reason = counted(len(part["messages"]), "message")
    beside = not columns() or columns() - WHY_INDENT >= NARROWEST
    indent = WHY_INDENT if beside else 6
    lines = dim(paragraph(reason, " " * indent).lstrip())
    return lines if beside else f"\n{' ' * indent}{lines}"


def _left_out(dropped: Sequence[dict[str, str]]) -> Iterator[str]:
    """Yield what is not there and why; what shares a reason stands below it."""
    by_reason: dict[str, list[str]] = {}
    for one in dropped:
        by_reason.setdefault(one["reason"], []).append(_short(one["what"]))
    for reason, whats in by_reason.items():
        several = len(whats) > 1
        yield _hanging(f"{reason}:" if several else f"{whats[0]}: {reason}")
        if several:
            yield from (dim(paragraph(what, " " * 6)) for what in whats)


def _hanging(text: str) -> str:
    """Return a line of a list; what does not fit it goes on below."""
    return f"  – {paragraph(text, ' ' * 4).lstrip()}"


def _short(path: str) -> str:
    """Return a path without what stands before an agent's own files."""
    return IN_AGENT.sub("", path)


def _title(part: dict[str, Any]) -> str:
    """Return a part's name and size on a line as wide as the terminal."""
    words = f"── {_name(part)} · {part['tokens']:,} "
    line = words + "─" * max(0, columns() - cells(words))
    return click.style(line, fg=COLOURS.get(part["name"]), dim=True)


def _name(part: dict[str, Any]) -> str:
    name: str = part["name"]
    return NAMES.get(name, name)


def _where(built: dict[str, Any]) -> str:
    """Return which conversation a context is of, if of any."""
    if not built["session"]:
        return ""
    segment = f", segment {built['segment']}" if built["segment"] > 1 else ""
    return f" · session {built['session']}{segment}"


def _below(built: dict[str, Any]) -> str:
    """Return what a context cost, and how to learn more."""
    dropped = len(built["dropped"])
    left = f" · {counted(dropped, 'thing')} left out" if dropped else ""
    return f"{built['tokens']:,} of {built['budget']:,} tokens{left} · why: --explain"


def _nothing(built: dict[str, Any]) -> str:
    """Return what to do where there is nothing to show yet."""
    return (
        f"Nothing is remembered yet, and no conversation of {built['agent']} is kept. "
        f"To begin: vaultmind init, vaultmind connect, vaultmind import."
    )


def _many(settings: Settings, asked: Sequence[dict[str, Any]], args: dict[str, Any]) -> int:
    """Print the context of each query under its id, which comes back as it was given."""
    lines, done = iter(asked), 0
    size = max(1, min(BATCH, BATCH_TOKENS // max(1, args.get("budget", BATCH_TOKENS // BATCH))))
    with progress(quiet=False) as report:
        while batch := list(islice(lines, size)):
            queries = [{"id": str(one["id"]), "query": one["query"]} for one in batch]
            counted_on = _shifted(report, done, len(asked))
            answer = settings.backend().call(
                "context_many", args | {"queries": queries}, counted_on
            )
            for one, result in zip(batch, answer["results"], strict=True):
                print_json(result | {"id": one["id"]}, indent=None)
            done += len(batch)
    return 0


def _shifted(report: Report, done: int, total: int) -> Report:
    """Return a report of one batch that counts on from those before it."""

    def shifted(step: Progress) -> None:
        report(Progress(done + step.done, total, step.what))

    return shifted


def _read_queries(path: Path) -> Iterator[dict[str, Any]]:
    items = read_items(path, "query", '{"id": "q1", "query": "bread oven"}')
    return ({"id": id_, "query": query} for id_, query in items)
