"""Commands on notes, memory, conversations and sources, made from the operations."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import click

from vaultmind.cli.jsonlines import read_items
from vaultmind.cli.made import (
    SOURCE_SECONDS,
    Told,
    ask,
    command,
    flag,
    no_wait,
    show,
    tell,
)
from vaultmind.cli.options import Settings, VaultCommand, VaultGroup, given, pass_settings
from vaultmind.cli.output.bars import progress
from vaultmind.cli.output.output import (
    EXIT_NOT_FOUND,
    EXIT_OTHER,
    EXIT_USAGE,
    OUTCOME_EXIT,
    aside,
    dim,
    odd,
    paragraph,
    print_json,
    say,
)
from vaultmind.cli.ready import wait_for_index
from vaultmind.errors import BadArgument

SEARCHES, CONTEXTS, UTTERANCES = 50, 25, 200
"""Questions or sentences of a file that go in one call, so that answers appear as they come."""
CONTEXT_TOKENS = 250_000
"""And the tokens of their contexts, if each were full: an answer is one line on the socket."""
TRAINING_SECONDS = 1800.0
"""How long a person waits for a training at most; it goes on without them."""
LINK_SECONDS = 3600.0
ANSWER_EXIT = {"found": 0, "nothing_found": EXIT_NOT_FOUND, "no_query": EXIT_USAGE}
"""Exit codes of answers; any other, `indexing`, is no answer yet."""
ERASED_EXIT = {"erased": 0, "partial": EXIT_OTHER, "not_found": EXIT_NOT_FOUND}
IN_SOURCE = ("query", "limit", "folder", "per_note", "max_tokens", "offset", "explain")
STOPPED = (
    "What is done stays done. The daemon goes on with the rest: `vaultmind consolidate --status` "
    "shows how far it is, `vaultmind daemon stop` stops it."
)
STOPPED_HERE = "What is done stays done; `vaultmind consolidate` goes on with the rest."
_DAYS = re.compile(r"(\d{1,5})d?")
READABLE = click.Path(path_type=Path, exists=True, dir_okay=False, readable=True)


def option(*names: str, **how: Any) -> click.Option:  # noqa: ANN401
    """Return an option that no operation has."""
    return click.Option(names, **how)


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
        asked = _questions(queries) if queries else None
        if waits:
            wait_for_index(settings, patient=bool(queries))
        if asked is not None:
            return _each(settings, "search_many", asked, args, SEARCHES)
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


def _questions(file: Path) -> list[tuple[Any, str]]:
    return read_items(file, "query", '{"id": "q1", "query": "bread oven"}')


def _each(
    settings: Settings,
    op: str,
    asked: Sequence[tuple[Any, str]],
    args: dict[str, Any],
    size: int,
) -> int:
    """Print the answer to each question under its id, which comes back as it was given."""
    lines = iter(asked)
    while batch := list(islice(lines, size)):
        queries = [{"id": str(id_), "query": query} for id_, query in batch]
        with progress(quiet=settings.json) as report:
            answer = settings.backend().call(op, args | {"queries": queries}, report)
        for (id_, _), result in zip(batch, answer["results"], strict=True):
            print_json(result | {"id": id_}, indent=None)
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
    views = [part for view in told.json["views"] for part in view.values()]
    return 0 if any(isinstance(part, list) and part for part in views) else EXIT_NOT_FOUND


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
        "context.context_plan",
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
    return _group(
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


def episode() -> click.Command:
    """Return `episode` and its commands."""
    end = "End an episode with what came of it. Silence is no success: without --outcome it is "
    return _group(
        "episode",
        "Keep what is done for a task: its start, what was done, its end; or look at it.",
        start=command("episodes.episode_start", _start_episode, words="[project_root:source]",
                      only=("query_type", "token_budget", "session_id"),
                      also=[option("--task", metavar="TEXT", required=True,
                                   help="What is to be done; - reads it from stdin.")],
                      help="Begin an episode over SOURCE: the vault, or a linked folder by name or "
                      "path.\n\nExample: vaultmind episode start shop --task \"bug: the cart loses "
                      "its items on logout\""),
        event=_episode_event,
        end=command("episodes.episode_end", help=f"{end}unknown."),
        list=command("episodes.episodes", help="List what was done, of all agents or of the one "
                     "that is named, newest last."),
        show=command("episodes.episode_show", words="[episode:name]", help="Show one episode, or "
                     "the latest: its task, what was done in order, what came of it."),
    )  # fmt: skip


def _start_episode(settings: Settings, args: dict[str, Any]) -> int:
    args["task"] = sys.stdin.read() if args["task"] == "-" else args["task"]
    tell(settings, ask(settings, "episode_start", args))
    return 0


@click.command("event", cls=VaultCommand)
@click.argument("kind", type=click.Choice(
    ("read", "edit", "hit", "delta", "decision", "commit", "run")))  # fmt: skip
@click.argument("path", nargs=-1)
@click.option("--text", metavar="TEXT", help="A decision and why; a command; a query.")
@click.option("--symbol", metavar="NAME", help="A definition or a heading in the file.")
@click.option("--change", type=click.Choice(("added", "modified", "removed")),
              help="What became of the file.")  # fmt: skip
@click.option("--commit", metavar="ID", help="Of a commit: its id.")
@click.option("--ok/--failed", default=None, help="Of a run: whether it went well.")
@click.option("--time", metavar="TIME", help="When, in ISO 8601.  [default: now]")
@click.option("--episode", metavar="NAME", help="Which, e.g. main/2026-11-22_001.")
@click.option("--session", "session_id", metavar="ID", help="The host's conversation.")
@pass_settings
def _episode_event(
    settings: Settings,
    path: tuple[str, ...],
    episode: str | None,
    session_id: str | None,
    **said: object,
) -> int:
    """Tell of what was done: of each PATH (relative to the source) that it was read, edited, …

    Example: vaultmind episode event decision --text "Keep the cart on the server: it syncs"
    """
    one = given(said)
    events = [one | {"path": each} for each in path] or [one]
    args = given({"episode": episode, "session_id": session_id}) | {"events": events}
    tell(settings, ask(settings, "episode_event", args | settings.target))
    return 0


def feedback() -> click.Command:
    """Return `feedback`."""
    outcome = option("--outcome", type=click.Choice(("success", "partial", "failed", "unknown")),
                     help="What came of it.")  # fmt: skip
    return command(
        "episodes.feedback",
        _feedback,
        only=("session_id", "episode", "note"),
        also=(
            outcome,
            option("--query", metavar="TEXT", help="Of a search instead: what was searched."),
            option("--hit", multiple=True, metavar="ID", help="A hit of it, by its id."),
            option("--useful/--wrong", "verdict", default=None, help="Whether the hits helped.",
                   callback=_verdict),
        ),
        help="""Say what came of an episode, ended or not, or whether hits of a search were of use.

        Your word stands over an agent's. Without a name, the newest episode is meant that was begun
        on the command line; `vaultmind episode list` names the others.

        Example: vaultmind feedback --outcome failed --note "It broke the logout on mobile"
        """,
    )  # fmt: skip


def _verdict(context: click.Context, parameter: click.Parameter, useful: bool | None) -> str | None:
    return None if useful is None else "useful" if useful else "wrong"


def _feedback(settings: Settings, args: dict[str, Any]) -> int:
    said = {name: args.pop(name) for name in ("query", "hit", "verdict") if name in args}
    about = [name for name in args if name != "agent"]
    if not said:
        if "outcome" not in args:
            raise click.UsageError("Say what came of it: --outcome; or of a search: --hit.")
        tell(settings, ask(settings, "feedback", args))
        return 0
    if about:
        named = ", ".join(f"--{one.removesuffix('_id')}" for one in about)
        raise click.UsageError(
            f"Of a search or of an episode, not of both: --hit goes without {named}."
        )
    if not {"hit", "verdict"} <= set(said):
        raise click.UsageError("Of a search: --query TEXT --hit ID, and --useful or --wrong.")
    answers = [ask(settings, "search_feedback", args | said | {"hit": one}) for one in said["hit"]]
    tell(settings, _together("feedback", answers))
    return 0


def purge() -> click.Command:
    """Return `purge`."""
    return command(
        "episodes.purge_preview",
        _purge,
        also=[flag("--yes", "Do it; without, it is only shown.")],
        help="""Show what is past its retention, and what would go of it; --yes does it.

        Their outcome, changed files, commits, issues and decisions stay, and what you wrote into
        them. The rest is gone for good. The daemon does the same by itself, once a day.
        """,
    )


def _purge(settings: Settings, args: dict[str, Any]) -> int:
    told = ask(settings, "purge" if args.pop("yes", False) else "purge_preview", args)
    tell(settings, told)
    return EXIT_OTHER if told.json["done"] and told.json["left"] else 0


# --- memory -------------------------------------------------------------------------------


def remember() -> click.Command:
    """Return `remember`."""
    return command(
        "memory.memory_update",
        _remember,
        words="text:fact…",
        only=("section", "old"),
        help="""Write FACT into the agent's brain.

        Example: vaultmind remember "I prefer short answers" --section preferences
        """,
    )


def _remember(settings: Settings, args: dict[str, Any]) -> int:
    return _update(settings, args | {"op": "replace" if "old" in args else "remember"})


def _update(settings: Settings, args: dict[str, Any]) -> int:
    told = ask(settings, "memory_update", args)
    tell(settings, told)
    return OUTCOME_EXIT.get(told.json["outcome"], EXIT_OTHER)


def say_() -> click.Command:
    """Return `say`."""
    return command(
        "memory.say",
        _say,
        words="[utterances:utterance…]",
        also=[option("--utterances", "file", type=READABLE, metavar="FILE",
                     help='Many at once: JSON Lines of {"id","text"}; a line each comes out. '
                     "Nothing is done.")],
        help="""Do what UTTERANCE asks of the memory; anything else does nothing.

        Example: vaultmind say "zapamiętaj, że wolę krótkie odpowiedzi"
        """,
    )  # fmt: skip


def _say(settings: Settings, args: dict[str, Any]) -> int:
    file, said = args.pop("file", None), args.pop("utterances", None)
    if (said is None) == (file is None):
        raise click.UsageError("Give an UTTERANCE, or a file with --utterances.")
    names = ("intent", "lang", "payload", "confidence")
    if file:
        lines = iter(read_items(file, "text", '{"id": "u1", "text": "remember that …"}'))
        while batch := list(islice(lines, UTTERANCES)):
            asked = {"utterances": [text for _, text in batch], "dry_run": True}
            heard = settings.backend().call("say", args | asked)["heard"]
            for (id_, _), one in zip(batch, heard, strict=True):
                print_json({"id": id_} | {name: one[name] for name in names}, indent=None)
        return 0
    told = ask(settings, "say", args | {"utterances": [said]})
    (one,) = told.json["heard"]
    dry = bool(args.get("dry_run"))
    if settings.json:
        print_json({name: one[name] for name in names} if dry else one)
    else:
        show(f"{one['intent']} ({one['lang'] or '-'}): {one['payload']}" if dry else told.words)
    return 0 if dry else OUTCOME_EXIT.get(one["outcome"], EXIT_OTHER)


def forget() -> click.Command:
    """Return `forget`."""
    return command(
        "memory.memory_update",
        _forget,
        words="text:fact…",
        only=(),
        also=(
            flag("--topic", "FACT is a topic: show the facts it means, then ask."),
            flag("--everywhere", "Erase every trace, for good: show it first, then ask."),
            flag("--dry-run", "With these two: only show."),
            flag("--yes", "With these two: do not ask."),
        ),
        help="""Take FACT (its words, or its id such as ^k3f9) out of the agent's memory.

        The messages that said it are hidden from every recall. With --everywhere it is erased: from
        brain, archive, sessions, summaries, audit, log and index of all agents, or of the one that
        is named. That cannot be undone.
        """,
    )


def _forget(settings: Settings, args: dict[str, Any]) -> int:
    topic, everywhere, dry_run, yes = (
        args.pop(name, False) for name in ("topic", "everywhere", "dry_run", "yes")
    )
    if topic and everywhere:
        raise click.UsageError("Either --topic or --everywhere.")
    if everywhere:
        return _erase(settings, args, dry_run=dry_run, yes=yes)
    if topic:
        return _forget_topic(settings, args, dry_run=dry_run, yes=yes)
    if dry_run or yes:
        raise click.UsageError("--dry-run and --yes go with --topic or --everywhere.")
    return _update(settings, args | {"op": "forget"})


def _erase(settings: Settings, args: dict[str, Any], *, dry_run: bool, yes: bool) -> int:
    preview = ask(settings, "erase_preview", args)
    if dry_run or not settings.json:
        tell(settings, preview)
    if preview.json["empty"] and settings.json and not dry_run:
        kept = {name: preview.json[name] for name in ("yours", "message")}
        print_json({"outcome": "not_found", "counts": {}, "paths": [], "left": [], "near": [],
                    "searched": ["text", "bytes"], "faults": []} | kept)  # fmt: skip
    if preview.json["empty"] or dry_run:
        return EXIT_NOT_FOUND if preview.json["empty"] else 0
    if not yes:
        ask_or_refuse(settings)
        if not click.confirm("Erase this? It cannot be undone.", default=False, err=True):
            say("Nothing was erased.")
            return EXIT_OTHER
    told = ask(settings, "erase", args | {"seal": preview.json["seal"]})
    tell(settings, told)
    return ERASED_EXIT[told.json["outcome"]]


def _forget_topic(settings: Settings, args: dict[str, Any], *, dry_run: bool, yes: bool) -> int:
    """Show the facts that a topic means, and forget those that are confirmed."""
    found = ask(settings, "topic", {"topic": args.pop("text")} | args)
    facts = found.json["facts"]
    if dry_run or not facts or not settings.json:
        tell(settings, found)
    if dry_run or not facts:
        return 0 if facts else EXIT_NOT_FOUND
    sure = [number for number, fact in enumerate(facts, 1) if fact["sure"]]
    chosen = sure if yes else _chosen_facts(settings, sure, len(facts))
    if not chosen and not settings.json:
        say("Nothing was forgotten." + (" None is surely about it: name it." if yes else ""))
    names = [f"^{one['block']}" if one["block"] else one["text"] for one in facts]
    target = {"op": "forget", "agent": found.json["agent"]}
    told = [
        ask(settings, "memory_update", target | {"text": names[at - 1]})
        for at in chosen
    ]  # fmt: skip
    outcomes = [one.json for one in told]
    if settings.json:
        print_json({"agent": found.json["agent"], "outcomes": outcomes})
    for one in () if settings.json else told:
        tell(settings, one)
    if not outcomes:
        return EXIT_NOT_FOUND if yes else EXIT_OTHER
    return 0 if all(one["outcome"] == "written" for one in outcomes) else EXIT_OTHER


def _chosen_facts(settings: Settings, sure: list[int], count: int) -> list[int]:
    """Return the numbers that the person names; the sure ones for a plain yes."""
    ask_or_refuse(settings)
    these = f"[y] {', '.join(map(str, sure))}, " if sure else ""
    said = str(click.prompt(f"Forget {these}[n] none, or name numbers", default="n", err=True))
    answer = said.strip().lower()
    if answer in ("y", "yes"):
        return sure
    numbers = [int(one) for one in answer.replace(",", " ").split() if one.isdecimal()]
    return [number for number in numbers if 1 <= number <= count]


def ask_or_refuse(settings: Settings, add: str = "--yes, or --dry-run to only look") -> None:
    """Raise UsageError where nobody can be asked."""
    if settings.json or not sys.stdin.isatty():
        raise click.UsageError(f"Nobody can be asked here, so nothing was done. Add {add}.")


def suggestions() -> click.Command:
    """Return `suggestions` and its commands."""
    also = (
        option("--all", "everything", is_flag=True, help="All that wait; asks first."),
        flag("--yes", "Do not ask."),
    )
    ids = click.Argument(["ids"], nargs=-1, metavar="[IDS]...")

    def settled(*, accept: bool, help: str) -> click.Command:
        def run(settings: Settings, args: dict[str, Any]) -> int:
            return _settle(settings, args, accept=accept)

        return command("changes.suggestions_answer", run, only=(), also=(ids, *also), help=help)

    return _group(
        "suggestions",
        "Settle what agents may not write by themselves; the same as ticking Suggestions.md.",
        list=command("changes.suggestions_list",
                     help="Show what waits for you: who wants what, for whom, and why."),
        accept=settled(accept=True, help="Write what the suggestions IDS say into the memory, as "
                       "your own word."),
        reject=settled(accept=False, help="Turn the suggestions IDS down: nothing is written, and "
                       "they do not come back."),
    )  # fmt: skip


def _settle(settings: Settings, args: dict[str, Any], *, accept: bool) -> int:
    ids, everything = list(args.get("ids", ())), args.get("everything", False)
    if bool(ids) == everything:
        raise click.UsageError("Name suggestions by their ids, or all of them with --all.")
    if everything:
        found = ask(settings, "suggestions_list", settings.target)
        ids = [one["id"] for one in found.json["suggestions"]]
        if ids and not args.get("yes"):
            ask_or_refuse(settings, "--yes")
            tell(settings, found)
            verb = "Accept" if accept else "Reject"
            click.confirm(f"\n{verb} all {len(ids)}?", abort=True)
    told = Told({"answers": []}, "Nothing waits for you.")
    if ids:
        told = ask(settings, "suggestions_answer", {"ids": ids, "accept": accept})
    tell(settings, told)
    codes = (OUTCOME_EXIT.get(one["outcome"], EXIT_OTHER) for one in told.json["answers"])
    return max(codes, default=0)


def log() -> click.Command:
    """Return `log`."""
    return command(
        "changes.log",
        _log,
        also=(
            option("--all", "everything", is_flag=True, help="All of them."),
            flag("--dropped", "Show instead what conversations said that was not kept."),
        ),
        help="""Show every change of memory, newest last: who asked, whose memory, what.

        Each begins with the id by which `vaultmind undo ID` takes it back. Example:
        vaultmind log --since yesterday --op forget
        """,
    )


def _log(settings: Settings, args: dict[str, Any]) -> int:
    args |= {"limit": 0} if args.pop("everything", False) else {}
    dropped = args.pop("dropped", False)
    if dropped and "ops" in args:
        raise click.UsageError("--op and --dropped do not go together: nothing was changed there.")
    tell(settings, ask(settings, "dropped" if dropped else "log", args))
    return 0


def undo() -> click.Command:
    """Return `undo`."""
    return command(
        "changes.undo",
        _undo,
        words="[id]",
        help="""Take back the change with ID (see `vaultmind log`), the last, or a session's.

        It happens only where the fact still says what the change wrote; a conflict is explained,
        nothing is changed, and the exit code is 1. An erasure cannot be undone.
        """,
    )


def _undo(settings: Settings, args: dict[str, Any]) -> int:
    if not args.get("id", "last").strip():
        allowed = "an id of `vaultmind log`; without one, the last change"
        raise BadArgument("ID", args["id"], allowed)
    told = ask(settings, "undo", args)
    tell(settings, told)
    code = OUTCOME_EXIT.get(told.json["outcome"], EXIT_OTHER)
    return EXIT_OTHER if told.json["outcome"] == "unchanged" else code


def consolidate() -> click.Command:
    """Return `consolidate`."""
    return command(
        "consolidation.consolidate",
        _consolidate,
        also=(
            flag("--status", "Only show what waits and what was done."),
            flag("--pause", "Stop the work in the background."),
            flag("--resume", "Let it go on."),
        ),
        help="""Take facts and summaries from the conversations that have ended and wait.

        It happens by itself a while after a conversation ends; imported ones wait for this command.
        Example: vaultmind consolidate --dry-run
        """,
    )


def _consolidate(settings: Settings, args: dict[str, Any]) -> int:
    flags = [name for name in ("status", "pause", "resume") if args.pop(name, False)]
    wanted = [name for name in args if name != "agent"]
    if len(flags) > 1 or (flags and wanted) or {"session", "again"} <= set(wanted):
        raise click.UsageError(
            "Give one of --session, --again, --status, --pause and --resume; --dry-run goes with "
            "the first two or alone."
        )
    if flags:
        action = "look" if flags == ["status"] else flags[0]
        tell(settings, ask(settings, "consolidation", {"action": action}))
        return 0
    try:
        told = ask(settings, "consolidate", args)
    except KeyboardInterrupt:
        aside(STOPPED_HERE if settings.in_process else STOPPED)
        raise
    if args.get("dry_run") and not settings.json:
        say("Nothing was written; it would be:")
    tell(settings, told)
    stay = [one["pending"] and not one["facts"] for one in told.json["sessions"]]
    return EXIT_OTHER if stay and all(stay) and not told.json["summaries"] else 0


def agents() -> click.Command:
    """Return `agents` and its commands."""
    yes = flag("--yes", "Do not ask: you know what it raises.")
    return _group(
        "agents",
        "List the agents of the vault, make one, or let one do what its identity.md asks for.",
        list=command("agents.agents", help="Show every agent: its level, what it has, who may "
                     "write to it and who may not read it."),
        show=command("agents.agent_show", words="name", help="Show what agent NAME may do and what "
                     "it has, and where that is written."),
        new=command("agents.agent_new", _new_agent, words="name",
                    help="Make agent NAME: its folder and an identity.md to begin with.\n\n"
                    "A client that names no agent is this one if it calls itself so."),
        allow=command("agents.agent_allow", _allow, words="name", only=(), also=[yes],
                      help="Let agent NAME do what its identity.md asks for beyond what is in "
                      "force.\n\nWhat that is is shown first, and you are asked. Lowering needs no "
                      "leave: it counts at once."),
    )  # fmt: skip


def _new_agent(settings: Settings, args: dict[str, Any]) -> int:
    tell(settings, ask(settings, "agent_new", args))
    if not settings.json:
        say("Write there who it is. `autonomy: 1` makes it ask before it remembers.")
        say(f"\nNext: vaultmind connect CLIENT --agent {args['name'].strip().lower()} --write")
    return 0


def _allow(settings: Settings, args: dict[str, Any]) -> int:
    yes = args.pop("yes", False)
    told = ask(settings, "agent_allow", args)
    one = told.json["agent"]
    if one["waiting"] and not yes:
        aside(f"{one['name']} asks for more, in {one['identity']}:")
        for what in one["waiting"]:
            aside(f"  + {what}")
        ask_or_refuse(settings, "--yes to allow it")
        if not click.confirm("Allow it on this device?", default=False, err=True):
            say("Nothing was allowed.")
            return EXIT_OTHER
    if one["waiting"]:
        told = ask(settings, "agent_allow", args | {"seen": one["mark"]})
    tell(settings, told)
    return 0


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
    asked = _questions(queries) if queries else None
    if waits:
        wait_for_index(settings, patient=bool(queries))
    if asked is not None:
        most = CONTEXT_TOKENS // max(1, args.get("budget", CONTEXT_TOKENS // CONTEXTS))
        return _each(settings, "context_many", asked, args, max(1, min(CONTEXTS, most)))
    told = ask(settings, "context_build", args | ({"messages": [message]} if message else {}))
    if explain and not settings.json:
        show("\n".join(explained(told.json)))
    else:
        tell(settings, told)
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
    from vaultmind.cli.sessions.sessions import log as log_messages

    end = "End the running session, or the one with ID; the next conversation knows what it left."
    everything = option("--all", "everything", is_flag=True, help="All of them.")
    return _group(
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


def _group(name: str, help: str, **commands: click.Command) -> click.Group:
    """Return a group of commands."""
    for own, one in commands.items():
        one.name = own
    return VaultGroup(name, commands=commands, help=help)


def _together(name: str, told: Sequence[Told]) -> Told:
    """Return several answers as one."""
    return Told({name: [one.json for one in told]}, "\n".join(one.words for one in told))


def show_() -> click.Command:
    """Return `show`."""
    return command("memory.memory_show", help="Show what the agent knows about you, with counts "
                   "and files.")  # fmt: skip


def gain() -> click.Command:
    """Return `gain`."""
    return command(
        "episodes.gain",
        help="""Show what plans saved: tokens offered against those of whole files.

        Counted are the plans of episodes: what agents did for a task. Example:
        vaultmind gain --since 12w
        """,
    )


COMMANDS: dict[str, Callable[[], click.Command]] = {
    one.__name__.rstrip("_"): one
    for one in (
        search, fetch, plan, link, unlink, links, explore, delta, refresh, gain, episode, feedback,
        purge, model, show_, remember, say_, suggestions, forget, consolidate, log, undo, context,
        session, agents,
    )
}  # fmt: skip
