"""Commands on facts, agents, and what was done for a task, made from the operations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import click

from vaultmind.cli.jsonlines import read_items
from vaultmind.cli.made import (
    READABLE,
    Told,
    ask,
    command,
    flag,
    group,
    option,
    show,
    tell,
)
from vaultmind.cli.options import Settings, VaultCommand, given, pass_settings
from vaultmind.cli.output.output import (
    EXIT_NOT_FOUND,
    EXIT_OTHER,
    OUTCOME_EXIT,
    aside,
    print_json,
    say,
)
from vaultmind.errors import BadArgument

UTTERANCES = 200
"""Sentences of a file that go in one call."""

ERASED_EXIT = {"erased": 0, "partial": EXIT_OTHER, "not_found": EXIT_NOT_FOUND}


STOPPED = (
    "What is done stays done. The daemon goes on with the rest: `vaultmind consolidate --status` "
    "shows how far it is, `vaultmind daemon stop` stops it."
)


STOPPED_HERE = "What is done stays done; `vaultmind consolidate` goes on with the rest."


def episode() -> click.Command:
    """Return `episode` and its commands."""
    end = "End an episode with what came of it. Silence is no success: without --outcome it is "
    return group(
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
        list=command("past_work.episodes", help="List what was done, of all agents or of the one "
                     "that is named, newest last."),
        show=command("past_work.episode_show", words="[episode:name]", help="Show one episode, or "
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
@click.option("--episode", metavar="NAME", help="Which, e.g. main/2026-02-20_001.")
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
        "past_work.purge_preview",
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

        return command("suggestions.suggestions_answer", run, only=(), also=(ids, *also), help=help)

    return group(
        "suggestions",
        "Settle what agents may not write by themselves; the same as ticking Suggestions.md.",
        list=command("suggestions.suggestions_list",
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
    return group(
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
        "past_work.gain",
        help="""Show what plans saved: tokens offered against those of whole files.

        Counted are the plans of episodes: what agents did for a task. Example:
        vaultmind gain --since 12w
        """,
    )


COMMANDS: dict[str, Callable[[], click.Command]] = {
    one.__name__.rstrip("_"): one
    for one in (
        gain, episode, feedback, purge, show_, remember, say_, suggestions, forget, consolidate,
        log, undo, agents,
    )
}  # fmt: skip
