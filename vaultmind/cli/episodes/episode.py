"""`vaultmind episode`, `vaultmind feedback`: what was done for a task, and what came of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from typing import Any, get_args

import click

from vaultmind.cli.options import Settings, VaultCommand, VaultGroup, given, pass_settings
from vaultmind.cli.output.output import (
    bad,
    bold,
    cells,
    columns,
    dim,
    good,
    odd,
    paragraph,
    place,
    print_json,
    say,
)
from vaultmind.cli.planning.links import source_at
from vaultmind.episodes.types import RESULTS, Change
from vaultmind.planner.types import TASK_KINDS
from vaultmind.plural import counted
from vaultmind.vault.oneline import one_line

TOLD = ("read", "edit", "hit", "delta", "decision", "commit", "run")
OUTCOMES: dict[str, Callable[[str], str]] = {
    "success": good,
    "partial": odd,
    "failed": bad,
    "unknown": dim,
}
SHRUNK = (
    "Shrunk, past its retention: what was read, found and run, and what plans offered, is gone."
)
OPTIONS = {"session_id": "session"}
"""Options that are not called as their arguments are."""

_which = click.option("--episode", metavar="NAME",
                      help="Which, e.g. main/2026-11-22_001.  [default: yours]")  # fmt: skip
_session = click.option("--session", "session_id", metavar="ID", help="The host's conversation.")
_note = click.option("--note", metavar="TEXT", help="Why it came out so.")


@click.group(cls=VaultGroup)
def episode() -> None:
    """Keep what is done for a task: its start, what was done, its end; or look at what was kept."""


@episode.command(cls=VaultCommand)
@click.argument("source", required=False, default="")
@click.option("--task", required=True, metavar="TEXT",
              help="What is to be done; - reads it from stdin.")  # fmt: skip
@click.option("--query-type", type=click.Choice(TASK_KINDS),
              help="What kind of task it is.  [default: told by its words]")  # fmt: skip
@click.option("--token-budget", type=int, metavar="N", help="Tokens that it may take.")
@_session
@pass_settings
def start(settings: Settings, source: str, task: str, **options: object) -> int:
    """Begin an episode over SOURCE: the vault, or a linked folder by name or path.

    Example: vaultmind episode start shop --task "bug: the cart loses its items on logout"
    """
    args = given(options) | {"task": sys.stdin.read() if task == "-" else task}
    if source:
        args["project_root"] = source_at(source)
    return _told(settings, "episode_start", args)


@episode.command(cls=VaultCommand)
@click.argument("kind", type=click.Choice(TOLD))
@click.argument("path", nargs=-1)
@click.option("--text", metavar="TEXT", help="A decision and why; a command; a query.")
@click.option("--symbol", metavar="NAME", help="A definition or a heading in the file.")
@click.option("--change", type=click.Choice(get_args(Change)), help="What became of the file.")
@click.option("--commit", metavar="ID", help="Of a commit: its id.")
@click.option("--ok/--failed", default=None, help="Of a run: whether it went well.")
@click.option("--time", metavar="TIME", help="When, in ISO 8601.  [default: now]")
@_which
@_session
@pass_settings
def event(
    settings: Settings,
    kind: str,
    path: tuple[str, ...],
    *,
    episode: str | None,
    session_id: str | None,
    **options: object,
) -> int:
    """Tell of what was done: of each PATH (relative to the source) that it was read, edited, …

    Example: vaultmind episode event decision --text "Keep the cart on the server: it syncs"
    """
    one = given(options) | {"kind": kind}
    events = [one | {"path": each} for each in path] or [one]
    args = given({"episode": episode, "session_id": session_id}) | {"events": events}
    return _told(settings, "episode_event", args)


@episode.command(cls=VaultCommand)
@click.option("--outcome", type=click.Choice(RESULTS),
              help="What came of it.  [default: unknown]")  # fmt: skip
@_note
@_which
@_session
@pass_settings
def end(settings: Settings, **options: object) -> int:
    """End an episode with what came of it. Silence is no success: without --outcome it is unknown.

    Example: vaultmind episode end --outcome success --note "The token is refreshed on 401 now"
    """
    return _told(settings, "episode_end", given(options))


@episode.command("list", cls=VaultCommand)
@click.option("--limit", type=click.IntRange(1, 1000), metavar="N",
              help="How many at most, the newest.  [default: 20]")  # fmt: skip
@click.option("--source", metavar="NAME", help="Only over the vault, or a linked folder.")
@pass_settings
def list_(settings: Settings, limit: int | None, source: str | None) -> int:
    """List what was done, of all agents or of the one that is named, newest last."""
    args = given({"limit": limit, "project_root": source_at(source) if source else None})
    found = settings.backend().call("episodes", args | settings.target)
    if settings.json:
        print_json(found)
    else:
        _list(found)
    return 0


@episode.command(cls=VaultCommand)
@click.argument("name", metavar="[NAME]", required=False, default="")
@pass_settings
def show(settings: Settings, name: str) -> int:
    """Show one episode, or the latest: its task, what was done in order, what came of it."""
    found = settings.backend().call("episode_show", {"episode": name} | settings.target)
    if settings.json:
        print_json(found)
    else:
        _show(found)
    return 0


@click.command(cls=VaultCommand)
@click.option("--session", "session_id", metavar="ID", help="The host's conversation.")
@click.option("--episode", metavar="NAME", help="Which one.  [default: your latest]")
@click.option("--outcome", type=click.Choice(RESULTS), help="What came of it.")
@_note
@click.option("--query", metavar="TEXT", help="Of a search instead: what was searched.")
@click.option("--hit", multiple=True, metavar="ID", help="A hit of it, by its id; repeatable.")
@click.option("--useful/--wrong", "useful", default=None, help="Whether the hits helped.")
@pass_settings
def feedback(
    settings: Settings, query: str | None, hit: tuple[str, ...], useful: bool | None, **of: object
) -> int:
    """Say what came of an episode, ended or not, or whether hits of a search were of use.

    Your word stands over an agent's. Without a name, the newest episode is meant that was begun
    on the command line; `vaultmind episode list` names the others.

    Example: vaultmind feedback --outcome failed --note "It broke the logout on mobile"
    """
    args = given(of)
    if query is None and not hit and useful is None:
        if "outcome" not in args:
            raise click.UsageError("Say what came of it: --outcome; or of a search: --hit.")
        return _told(settings, "feedback", args)
    if args:
        named = ", ".join(f"--{OPTIONS.get(one, one)}" for one in args)
        raise click.UsageError(
            f"Of a search or of an episode, not of both: --hit goes without {named}."
        )
    if not hit or useful is None:
        raise click.UsageError("Of a search: --query TEXT --hit ID, and --useful or --wrong.")
    said = given({"query": query, "verdict": "useful" if useful else "wrong"}) | settings.target
    answers = [settings.backend().call("search_feedback", said | {"hit": one}) for one in hit]
    if settings.json:
        print_json({"feedback": answers})
    else:
        for answer in answers:
            say(f"{good('✓')} {answer['message']}")
    return 0


def _told(settings: Settings, op: str, args: dict[str, Any]) -> int:
    answer = settings.backend().call(op, args | settings.target)
    if settings.json:
        print_json(answer)
        return 0
    say(f"{good('✓')} {paragraph(answer['message'], '  ').lstrip()}")
    say(f"  {place(answer['path'])}")
    return 0


def _list(found: dict[str, Any]) -> None:
    """Show episodes, a line each; their tasks as far as there is room."""
    rows = found["episodes"]
    if not rows:
        say('No episode is kept yet. To begin one: vaultmind episode start --task "…"')
        return
    widest = max(cells(one["episode"]) for one in rows)
    for one in rows:
        lead = f"{bold(one['episode'])}{' ' * (widest - cells(one['episode']))}"
        lead += f"  {_local(one['started'])}  {_outcome(one)}  {one['source']}"
        about = odd(one["fault"]) if one["fault"] else one_line(one["task"])
        room = columns() - cells(click.unstyle(lead)) - 2
        if columns() and cells(about) > room:
            about = f"{about[: max(0, room - 1)]}…"
        say(f"{lead}  {about}")
        counts = {"read": one["reads"], "edited": one["edits"], "decided": one["decisions"],
                  "commits": one["commits"]}  # fmt: skip
        if told := " · ".join(f"{name} {number:,}" for name, number in counts.items() if number):
            say(dim(f"{' ' * widest}  {told}"))
    if (more := found["total"] - len(rows)) > 0:
        say(dim(f"of {counted(found['total'], 'episode')}: --limit {found['total']}" * bool(more)))


def _show(one: dict[str, Any]) -> None:
    say(f"{bold(one['episode'])} · {one['source']} · {one['intent']} · {_outcome(one)}")
    say(paragraph(one_line(one["task"])))
    say("")
    for event in one["events"]:
        said = (event["path"], event["symbol"], event["change"], event["commit"][:12])
        words = [place(event["path"]) if event["path"] else "", *said[1:], event["text"]]
        ok = "" if event["ok"] is None else good("ok") if event["ok"] else bad("failed")
        line = " ".join(filter(None, [*words, ok, dim(f"({event['how']})")]))
        clock = _local(event["time"])[11:]
        say(f"  {dim(clock or '     ')}  {event['kind']:8}  {line}")
    if one["state"] == "shrunk":
        say(dim(paragraph(SHRUNK)))
    if one["hidden"]:
        say(dim(f"  … and {counted(one['hidden'], 'part')} that said what was forgotten"))
    if one["note"]:
        say(f"\n{paragraph(one['note'])}")
    say(dim(f"\n{one['path']}"))


def _outcome(one: dict[str, Any]) -> str:
    if one["state"] == "running":
        return bold("running")
    return OUTCOMES.get(one["outcome"], dim)(one["outcome"] or "?")


def _local(time: str) -> str:
    """Return a time as `2026-02-20 10:00`; what is none as it is written."""
    try:
        return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return time[:16].replace("T", " ")
