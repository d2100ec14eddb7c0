"""`plan`: what to read for a task, why, and what was left out."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, get_args

import click

from vaultmind.cli.options import Settings, VaultCommand, given, pass_settings
from vaultmind.cli.output.bars import progress
from vaultmind.cli.output.gauge import FREE, FULL, bar
from vaultmind.cli.output.output import (
    EXIT_NOT_FOUND,
    aside,
    bad,
    bold,
    cells,
    columns,
    dim,
    odd,
    paragraph,
    place,
    print_json,
    say,
)
from vaultmind.cli.planning.links import source_at
from vaultmind.cli.ready import wait_for_index
from vaultmind.planner.types import TASK_KINDS, Detail, Mode
from vaultmind.plural import counted
from vaultmind.vault.oneline import one_line

LAYER_COLOURS = {
    "L0": "white",
    "L1": "cyan",
    "L2": "magenta",
    "L3": "blue",
    "L4": "white",
    "L5": "yellow",
    "L6": "red",
}
RISKS = {"low": dim, "medium": odd, "high": bad}
TOKENS_WIDTH, BAR_WIDTH, LEAST_STRIP = 7, 12, 24
INDENT = " " * (2 + TOKENS_WIDTH + 2 + BAR_WIDTH + 1)
NARROW = " " * 4
NARROWEST = 30
"""Columns that words need beside the numbers; with less they stand below."""
OUTLINE = "outline"
"""The part of a file that stands for all of it: no lines of it are shown as they stand."""
WAIT_SECONDS = 120.0
"""How long a person waits for a source that is read for the first time."""
SHOWN_DROPPED = 8
"""Omissions that are shown without --trace."""


@click.command(cls=VaultCommand)
@click.argument("source", required=False, default="")
@click.option("--task", metavar="TEXT", help="What is to be done; - reads it from stdin.")
@click.option("--token-budget", type=int, metavar="N", help="Tokens at most.  [default: 3000]")
@click.option("--latency-budget", "latency_budget_ms", type=int, metavar="MS",
              help="Milliseconds that a model may take it to.  [default: 500]")  # fmt: skip
@click.option("--ml-mode", type=click.Choice(get_args(Mode)),
              help="Whether a local model may rerank.  [default: off]")  # fmt: skip
@click.option("--detail", type=click.Choice(get_args(Detail)),
              help="How much of a file is shown.  [default: compact]")  # fmt: skip
@click.option("--query-type", type=click.Choice(TASK_KINDS),
              help="What kind of task it is.  [default: told by its words]")  # fmt: skip
@click.option("--strict/--no-strict", default=None,
              help="Whether what changed a moment ago is left out.  [default: strict]")  # fmt: skip
@click.option("--session-id", metavar="ID", help="The client's session, kept with a saved plan.")
@click.option("--save", is_flag=True, default=None, help="Keep the trace as a note.")
@click.option("--text", is_flag=True, help="Print the context alone, as an agent reads it.")
@click.option("--trace", is_flag=True, help="Show every reason and all that was left out.")
@click.option("--list", "listing", is_flag=True, help="List the saved plans instead.")
@click.option("--no-wait", is_flag=True, help="Answer at once, however far the index is.")
@pass_settings
def plan(
    settings: Settings,
    source: str,
    task: str | None,
    *,
    text: bool,
    trace: bool,
    no_wait: bool,
    **options: object,
) -> int:
    """Plan what to read for a task, in SOURCE: the vault, or a linked folder by name or path.

    Example: vaultmind plan shop --task "bug: the cart loses its items on logout"
    """
    if options.pop("listing"):
        return _list(settings)
    if task is None:
        raise click.UsageError("Say what is to be done: --task TEXT, or --task - to read it.")
    args = given(options) | {"task": sys.stdin.read() if task == "-" else task}
    if source:
        args["project_root"] = source_at(source)
    if not no_wait:
        _wait(settings, args.get("project_root", ""))
    with progress(quiet=settings.json) as report:
        answer = settings.backend().call("context_plan", args, report)
    if settings.json:
        print_json(answer)
    elif text:
        say(answer["context"]["text"])
        _notes(answer, to=aside)
    else:
        show_plan(answer, trace=trace)
    return 0 if answer["context"]["files"] else EXIT_NOT_FOUND


def _wait(settings: Settings, source: str) -> None:
    """Wait until a source is indexed and its structure is read, where that is not so yet."""
    wait_for_index(settings, patient=False)
    args = {"source": source, "layers": ["L0"], "wait_seconds": WAIT_SECONDS}
    with progress(quiet=settings.json) as report:
        settings.backend().call("explore", args, report)


def show_plan(answer: dict[str, Any], *, trace: bool = False) -> None:
    """Show a plan: how the budget is spent, each file with why it is there, what was left out."""
    say(_head(answer))
    say(_strip(answer))
    files = list(_by_file(answer))
    most = max((one["tokens"] for one in files), default=1)
    for one in files:
        say(_row(one, most))
        for line in _below(one):
            say(line)
    if not files:
        say(f"\n{odd('!')} Nothing was found that belongs to this task.")
    _earlier(answer)
    if trace:
        say(f"\n{bold('Why')}")
        for line in answer["decision_trace"]:
            say(_item(one_line(line)))
    _left_out(answer, most=len(answer["dropped_candidates"]) if trace else SHOWN_DROPPED)
    _notes(answer, to=say)
    say(dim(f"\n{_foot(answer, trace=trace)}"))


def _head(answer: dict[str, Any]) -> str:
    intent, report = answer["intent"], answer["budget_report"]
    risk = RISKS[intent["risk"]](f"{intent['risk']} risk")
    used = bold(f"{report['estimated_used']:,}")
    size = f"{used} of {report['token_budget']:,} tokens"
    files = counted(len(answer["context"]["files"]), "file")
    sure = dim(f"{intent['confidence']:.0%} sure")
    kind = " · ".join([bold(intent["predicted"]), sure, risk, place(answer["source"])])
    line = f"{kind} · {size} in {files}"
    fits = not columns() or cells(click.unstyle(line)) <= columns()
    return line if fits else f"{kind}\n{size} in {files}"


def _strip(answer: dict[str, Any]) -> str:
    """Return the whole budget as one line: each file in its layer's colour, then what is free."""
    budget = max(1, answer["budget_report"]["token_budget"])
    width = max(LEAST_STRIP, columns() or 60)
    drawn, spent, end = "", 0, 0
    for one in _by_file(answer):
        spent += one["tokens"]
        begin, end = end, min(width, round(width * spent / budget))
        drawn += click.style(FULL * (end - begin), fg=LAYER_COLOURS.get(one["layers"][0]))
    return f"{drawn}{dim(FREE * (width - end))}\n"


def _by_file(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each file with what its parts have in common, best first."""
    for path in answer["context"]["files"]:
        pieces = [one for one in answer["context"]["pieces"] if one["file"] == path]
        yield {
            "path": path,
            "tokens": sum(one["tokens"] for one in pieces),
            "layers": list(dict.fromkeys(one["layer"] for one in pieces)) or [""],
            "parts": [words for one in pieces if (words := _part(one))],
            "why": list(dict.fromkeys(one["why"] for one in pieces if one["why"])),
            "stale": any(one["freshness"] != "FRESH" for one in pieces),
        }


def _part(piece: dict[str, Any]) -> str:
    """Return which part of a file it is; empty for the whole."""
    first, last = piece["first_line"], piece["last_line"]
    lines = f"{first}–{last}" if last > first else f"{first}" if first else ""
    name: str = piece["part"].removeprefix("#")
    if name == OUTLINE:
        return name
    return f"{name} ({lines})" if name and lines else name or (f"lines {lines}" if lines else "")


def _row(one: dict[str, Any], most: int) -> str:
    colour = LAYER_COLOURS.get(one["layers"][0])
    drawn = click.style(bar(one["tokens"] / most if most else 0.0, BAR_WIDTH), fg=colour)
    layers = dim(f" {'+'.join(filter(None, one['layers']))}")
    state = f" {odd('changed meanwhile')}" if one["stale"] else ""
    path = place(one_line(one["path"]))
    return f"  {one['tokens']:>{TOKENS_WIDTH},}  {drawn} {path}{layers}{state}"


def _below(one: dict[str, Any]) -> Iterator[str]:
    """Yield which parts of a file are there, and why."""
    indent = INDENT if not columns() or columns() - len(INDENT) >= NARROWEST else NARROW
    words = [", ".join(one["parts"]), *one["why"][:1]]
    if shown := " · ".join(filter(None, words)):
        yield dim(paragraph(shown, indent))


def _earlier(answer: dict[str, Any]) -> None:
    """Show what was done for tasks like this."""
    if not answer["earlier"]:
        return
    say(f"\n{bold('Earlier work on tasks like this')}")
    for one in answer["earlier"]:
        say(_item(one_line(one["text"].removeprefix("- "))))
        say(dim(paragraph(one["episode"], " " * 4)))


def _left_out(answer: dict[str, Any], most: int) -> None:
    """Show what is not there and why; what shares a reason stands below it."""
    dropped = answer["dropped_candidates"]
    if not dropped:
        return
    by_reason: dict[str, list[str]] = {}
    for one in dropped[:most]:
        by_reason.setdefault(one["reason"], []).append(one["file"])
    say(f"\n{bold('Left out')}")
    for reason, files in by_reason.items():
        if len(files) == 1:
            say(_item(f"{one_line(files[0])}: {reason}"))
            continue
        say(_item(f"{reason}:"))
        for path in files:
            say(dim(paragraph(one_line(path), " " * 6)))
    if (more := len(dropped) - most) > 0:
        say(dim(f"  … and {more:,} more"))


def _notes(answer: dict[str, Any], to: Any) -> None:  # noqa: ANN401
    for note in answer["notes"]:
        to(f"{odd('!')} {paragraph(note, '  ').lstrip()}")


def _foot(answer: dict[str, Any], *, trace: bool) -> str:
    """Return how it was made, and how to see more."""
    parts = [f"{answer['took_ms']:,.0f} ms", f"cache {answer['cache_status']}"]
    parts.append(f"efficiency {answer['budget_report']['efficiency_score']:.2f}")
    parts += [f"reranked by {answer['model']}"] if answer["rerank"] == "used" else []
    parts += [f"saved as {answer['saved']}"] if answer["saved"] else []
    parts += [] if trace else ["all reasons: --trace"]
    return paragraph(" · ".join([*parts, "the text: --text"]))


def _item(text: str) -> str:
    """Return a line of a list; what does not fit it goes on below."""
    return f"  – {paragraph(text, NARROW).lstrip()}"


def _list(settings: Settings) -> int:
    """Show the saved plans, newest first, and their size."""
    answer = settings.backend().call("plans", {})
    if settings.json:
        print_json(answer)
        return 0
    width = max([cells(one["source"]) for one in answer["plans"]], default=0)
    for one in answer["plans"]:
        when = dim(one["made"][:16].replace("T", " "))
        kind = f"{one['intent']:8}"
        say(
            f"{when}  {one['source'] + ' ' * (width - cells(one['source']))}  {kind}  {one['task']}"
        )
        say(f"{' ' * 18}{place(one['path'])} {dim(_size(one['bytes']))}")
    say(_sum(answer["plans"], answer))
    return 0


def _sum(plans: Sequence[dict[str, Any]], answer: dict[str, Any]) -> str:
    if not plans:
        return 'No plan was saved yet: vaultmind plan --task "…" --save'
    return (
        f"\n{counted(len(plans), 'saved plan')}, {_size(answer['bytes'])} in all; one has "
        f"{answer['max_tokens']:,} tokens at most. They are yours to delete."
    )


def _size(size: int) -> str:
    return f"{size / 1000:,.1f} KB"
