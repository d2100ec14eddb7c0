"""Commands on notes, sources and conversations, made from the operations."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from vaultmind.cli.made import (
    READABLE,
    SOURCE_SECONDS,
    ask,
    command,
    each,
    flag,
    group,
    no_wait,
    option,
    questions,
    show,
    tell,
)
from vaultmind.cli.options import Settings
from vaultmind.cli.output.bars import progress
from vaultmind.cli.output.output import (
    EXIT_NOT_FOUND,
    EXIT_OTHER,
    EXIT_USAGE,
    aside,
    dim,
    odd,
    paragraph,
    print_json,
    say,
)
from vaultmind.cli.ready import wait_for_index

SEARCHES, CONTEXTS, UTTERANCES = 50, 25, 200
"""Questions or sentences of a file that go in one call, so that answers appear as they come."""
CONTEXT_TOKENS = 250_000
"""And the tokens of their contexts, if each were full: an answer is one line on the socket."""
TRAINING_SECONDS = 1800.0
"""How long a person waits for a training at most; it goes on without them."""
LINK_SECONDS = 3600.0
ANSWER_EXIT = {"found": 0, "nothing_found": EXIT_NOT_FOUND, "no_query": EXIT_USAGE}
"""Exit codes of answers; any other, `indexing`, is no answer yet."""
IN_SOURCE = ("query", "limit", "folder", "per_note", "max_tokens", "offset", "explain")
_DAYS = re.compile(r"(\d{1,5})d?")


# --- finding ------------------------------------------------------------------------------


def search() -> click.Command:
    """Return `search`."""
    return command(
        "search.memory_search",
        _search,
        words="[query…]",
        also=(
            option("--source", metavar="NAME", help="In a linked folder, not in the vault."),
            no_wait(),
            option("--queries", metavar="FILE", type=READABLE,
                   help='Many at once: JSON Lines {"id","query"} in, {"id","hits"} out.'),
        ),
        help="""Search notes and memory by words and by meaning, in any language.

        Example: vaultmind search "what did we decide about the oven?" --kind note

        It waits until all text is in the index, some seconds at most for what changes just now, and
        a second at most for the vectors, which follow; with --queries until everything is.
        """,
    )  # fmt: skip


def _search(settings: Settings, args: dict[str, Any]) -> int:
    source, waits = args.pop("source", ""), not args.pop("no_wait", False)
    queries = args.pop("queries", None)
    if ("query" in args) == bool(queries):
        raise click.UsageError("Give a QUERY, or a file with --queries.")
    if source:
        args.pop("agent", None)
        unknown = [f"--{name.removesuffix('s')}" for name in args if name not in IN_SOURCE]
        if unknown or queries:
            what = ", ".join(unknown or ["--queries"])
            raise click.UsageError(f"--source goes without {what}.")
        wait = {"wait_seconds": 600.0} if waits else {}
        told = ask(settings, "source_search", args | wait | {"source": source})
    else:
        asked = questions(queries) if queries else None
        if waits:
            wait_for_index(settings, patient=bool(queries))
        if asked is not None:
            return each(settings, "search_many", asked, args, SEARCHES)
        told = ask(settings, "memory_search", args)
    tell(settings, told)
    return ANSWER_EXIT.get(told.json["answer"], EXIT_OTHER)


def fetch() -> click.Command:
    """Return `fetch`."""
    source = option("--source", metavar="NAME", help="Of a linked folder, not of the vault.")
    help_ = "Print the whole text of a hit's ID, a vault-relative PATH or PATH#Heading."
    return command("search.memory_fetch", _fetch, words="id", also=[source], help=help_)


def _fetch(settings: Settings, args: dict[str, Any]) -> int:
    op = "source_fetch" if "source" in args else "memory_fetch"
    found = settings.backend().call(op, args)
    if settings.json:
        print_json(found)
        return 0
    if not found["text"]:
        aside(dim(f"{found['path']}{found['anchor']} is there and empty."))
        return 0
    say(found["text"])
    if found["next_offset"] is not None:
        aside(dim(f"There is more: --offset {found['next_offset']}"))
    return 0


# --- sources and plans --------------------------------------------------------------------


def explore() -> click.Command:
    """Return `explore`."""
    return command(
        "sources.explore",
        lambda settings, args: _layers(settings, "explore", args),
        words="[source]",
        help="""Show what there is to read in SOURCE: the vault, or a linked folder by name or path.

        Example: vaultmind explore shop --query-type bugfix --since yesterday

        The layers: L0 map, L1 index, L2 relations, L3 surface, L4 manifest, L5 tasks and tests, L6
        changes. A kind of task needs some of them; --layer names others.
        """,
    )


def delta() -> click.Command:
    """Return `delta`."""
    return command(
        "sources.delta",
        lambda settings, args: _layers(settings, "delta", args),
        words="[source]",
        help="""Show what changed in SOURCE: the vault, or a linked folder by name or path.

        Example: vaultmind delta shop --since main
        """,
    )


def _layers(settings: Settings, op: str, args: dict[str, Any]) -> int:
    if "wait_seconds" in args:
        wait_for_index(settings, patient=False)
    told = ask(settings, op, args)
    tell(settings, told)
    empty = ("## ", "Nothing.", "No file changed.", "Lately, ", "Since ", "In the last ")
    return (
        0
        if any(not one.startswith(empty) for one in told.json["text"].split("\n") if one)
        else EXIT_NOT_FOUND
    )


def refresh() -> click.Command:
    """Return `refresh`."""
    return command(
        "sources.refresh",
        words="[source]",
        wait_seconds=SOURCE_SECONDS,
        help="""Compare SOURCE with the disk now, and read what changed.

        Changes are followed by themselves; this is for a disk whose changes send no events.
        """,
    )


def link() -> click.Command:
    """Return `link`."""
    return command(
        "sources.link",
        _link,
        words="path:folder",
        only=(),
        also=[option("--as", "name", metavar="NAME",
                     help="What to call it.  [default: after the folder]")],
        help="""Link FOLDER to the vault: its code and documents are indexed, and never written.

        Example: vaultmind link ~/code/shop --as shop

        What git ignores and what looks like a secret is left out. Agents may be shown the rest.
        """,
    )  # fmt: skip


def _link(settings: Settings, args: dict[str, Any]) -> int:
    # not resolved: a link in the path is the daemon's to follow and to refuse
    path = Path(args["path"]).expanduser().absolute()
    tell(settings, ask(settings, "link", args | {"path": str(path)}))
    return 0


def unlink() -> click.Command:
    """Return `unlink`."""
    help_ = "Unlink the folder NAME (or its path) and drop its index; the folder is not touched."
    return command("sources.unlink", _unlink, words="name", help=help_)


def _unlink(settings: Settings, args: dict[str, Any]) -> int:
    name = args["name"]
    if "/" in name or name.startswith("~"):
        args["name"] = str(Path(name).expanduser().absolute())
    tell(settings, ask(settings, "unlink", args))
    return 0


def links() -> click.Command:
    """Return `links`."""
    return command(
        "sources.links",
        _links,
        also=[flag("--wait", "Wait until all text is searchable.")],
        help="""List the vault and the folders linked to it, and how far the index of each is.

        Exit code 1 when one of them cannot be used.
        """,
    )


def _links(settings: Settings, args: dict[str, Any]) -> int:
    if args.pop("wait", False):
        with progress(quiet=settings.json) as report:
            backend = settings.backend()
            backend.call("index", {"vectors": False}, report)
            for one in backend.call("links", {})["sources"]:
                asked = {"source": one["name"], "query": "", "wait_seconds": LINK_SECONDS}
                if one["kind"] == "linked" and one["there"]:
                    backend.call("source_search", asked, report)
    told = ask(settings, "links", {})
    tell(settings, told)
    failed = (not one["there"] or one["phase"] == "failed" for one in told.json["sources"])
    return EXIT_OTHER if any(failed) else 0


def plan() -> click.Command:
    """Return `plan`."""
    return command(
        "plans.context_plan",
        _plan,
        words="[project_root:source]",
        only=("token_budget", "latency_budget_ms", "ml_mode", "detail", "query_type", "strict",
              "session_id", "save"),
        also=(
            option("--task", metavar="TEXT", help="What is to be done; - reads it from stdin."),
            flag("--text", "Print the context alone, as an agent reads it."),
            flag("--trace", "Show every reason and all that was left out."),
            option("--list", "listing", is_flag=True, help="List the saved plans instead."),
            no_wait(),
        ),
        help="""Plan what to read for a task in SOURCE: the vault, or a linked folder by its name.

        Example: vaultmind plan shop --task "bug: the cart loses its items on logout"
        """,
    )  # fmt: skip


def _plan(settings: Settings, args: dict[str, Any]) -> int:
    if args.pop("listing", False):
        tell(settings, ask(settings, "plans", {}))
        return 0
    text, trace = args.pop("text", False), args.pop("trace", False)
    if "task" not in args:
        raise click.UsageError("Say what is to be done: --task TEXT, or --task - to read it.")
    args["task"] = sys.stdin.read() if args["task"] == "-" else args["task"]
    if not args.pop("no_wait", False):
        wait_for_index(settings, patient=False)
        source = {"source": args.get("project_root", ""), "layers": ["L0"]}
        with progress(quiet=settings.json) as report:
            settings.backend().call("explore", source | {"wait_seconds": SOURCE_SECONDS}, report)
    told = ask(settings, "context_plan", args)
    if text and not settings.json:
        say(told.json["context"]["text"])
        for note in told.json["notes"]:
            aside(f"{odd('!')} {paragraph(note)}")
    else:
        tell(settings, told)
        if trace and not settings.json:
            show("\n".join(_traced(told.json)))
    return 0 if told.json["context"]["files"] else EXIT_NOT_FOUND


def _traced(answer: dict[str, Any]) -> Iterator[str]:
    """Yield every reason of a plan, and all that was left out."""
    yield "\n## Why"
    yield from (f"  – {' '.join(line.split())}" for line in answer["decision_trace"])
    yield "\n## Left out"
    yield from (f"  – {one['file']}: {one['reason']}" for one in answer["dropped_candidates"])


def model() -> click.Command:
    """Return `model` and its commands."""
    days = option("--since", "since_days", callback=_days, metavar="30d",
                  help="Learn only from so far back.  [default: all]")  # fmt: skip
    return group(
        "model",
        """Train what ranks plans and searches, look at it, or go back.

        It learns from episodes and from what searches were worth, on this machine; a new model
        comes into use only if it is better on what it has not seen.
        """,
        train=command("models.model_train", _train, only=("kind", "min_lessons", "force"),
                      also=[days],
                      help="Learn in the background, try what was learnt, and use it if it is "
                      "better.\n\nExample: vaultmind model train --kind ranker"),
        status=command("models.model_status"),
        activate=command("models.model_activate", words="model:id",
                         help="Put the model ID into use; `shipped-use` is one, too.\n\n"
                         "Example: vaultmind model activate shipped-code"),
        rollback=command("models.model_rollback", words="kind",
                         help="Go back to what ranked before the last change."),
    )  # fmt: skip


def _days(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Return a number of days, of `30d` or `30`."""
    if value is None:
        return None
    found = _DAYS.fullmatch(value.strip())
    if found is None:
        raise click.BadParameter(f"{value!r} is no number of days such as 30d.")
    return int(found[1])


def _train(settings: Settings, args: dict[str, Any]) -> int:
    if "wait_seconds" in args or settings.in_process:
        args["wait_seconds"] = TRAINING_SECONDS
    told = ask(settings, "model_train", args)
    tell(settings, told)
    failed = told.json["state"] in ("failed", "cancelled") or not told.json["begun"]
    return EXIT_OTHER if failed else 0


# --- what was done for a task -------------------------------------------------------------


# --- memory -------------------------------------------------------------------------------


# --- conversations ------------------------------------------------------------------------


def context() -> click.Command:
    """Return `context`."""
    return command(
        "context.context_build",
        _context,
        words="[messages:message…]",
        only=("session", "budget", "task"),
        also=(
            flag("--explain", "Show what each part costs, why, and what is left out."),
            no_wait(),
            option("--queries", metavar="FILE", type=READABLE,
                   help='Many at once: JSON Lines {"id","query"} in, {"id","tokens","parts",'
                   '"dropped"} out.'),
        ),
        help="""Print what the agent is given before it answers MESSAGE; without one, before any.

        Example: vaultmind context "what did we decide about the oven?" --budget 1800 --explain
        """,
    )  # fmt: skip


def _context(settings: Settings, args: dict[str, Any]) -> int:
    message, queries = args.pop("messages", ""), args.pop("queries", None)
    explain, waits = args.pop("explain", False), not args.pop("no_wait", False)
    if message and queries:
        raise click.UsageError("Give a MESSAGE, or a file with --queries.")
    if explain and queries:
        raise click.UsageError("--explain shows one context; the lines of --queries hold it all.")
    asked = questions(queries) if queries else None
    if waits:
        wait_for_index(settings, patient=bool(queries))
    if asked is not None:
        most = CONTEXT_TOKENS // max(1, args.get("budget", CONTEXT_TOKENS // CONTEXTS))
        return each(settings, "context_many", asked, args, max(1, min(CONTEXTS, most)))
    told = ask(settings, "context_build", args | ({"messages": [message]} if message else {}))
    if explain and not settings.json:
        show("\n".join(explained(told.json)))
    else:
        tell(settings, told)
        for note in () if settings.json else told.json["notes"]:
            aside(f"{odd('!')} {note}")
        if not settings.json:
            aside(dim(f"{_size(told.json)} · why: --explain"))
    return 0


def _size(built: dict[str, Any]) -> str:
    left = f" · {len(built['dropped'])} left out" if built["dropped"] else ""
    return f"{built['tokens']:,} of {built['budget']:,} tokens{left}"


def explained(built: dict[str, Any]) -> Iterator[str]:
    """Yield what each part of a context costs and why it is there, then what was left out."""
    where = f" · session {built['session']}" if built["session"] else ""
    yield f"{built['agent']}{where} · {_size(built)}\n"
    for part in built["parts"]:
        share = 100 * part["tokens"] / built["budget"]
        why = part["why"] or " · ".join(part["sources"])
        yield f"  {part['name']:17}{part['tokens']:>7,}{share:>6.0f} %  {why}"
    yield "\n## Left out" if built["dropped"] else ""
    yield from (f"  – {one['what']}: {one['reason']}" for one in built["dropped"])
    yield from (f"! {note}" for note in built["notes"])


def session() -> click.Command:
    """Return `session` and its commands."""
    from vaultmind.cli.messages import log as log_messages

    end = "End the running session, or the one with ID; the next conversation knows what it left."
    everything = option("--all", "everything", is_flag=True, help="All of them.")
    return group(
        "session",
        "Write a conversation down, begin a new segment, end it, or list what there is.",
        log=log_messages,
        new=command("sessions.session_log", only=(), new_segment=True,
                    help="Begin a new segment in the running session, as `/new` does: what was "
                    "said before it is summarised, searched, and no longer in the window."),
        end=command("sessions.session_log", words="[session:id]", only=(), end=True, help=end),
        list=command("sessions.sessions", _sessions, also=[everything],
                     help="List the agent's sessions, newest last: when, how long, about what."),
    )  # fmt: skip


def _sessions(settings: Settings, args: dict[str, Any]) -> int:
    args |= {"limit": 0} if args.pop("everything", False) else {}
    tell(settings, ask(settings, "sessions", args))
    return 0


COMMANDS: dict[str, Callable[[], click.Command]] = {
    one.__name__: one
    for one in (
        search, fetch, plan, link, unlink, links, explore, delta, refresh, model, context, session
    )
}  # fmt: skip
