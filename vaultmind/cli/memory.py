"""Commands made from operations on facts, conversations and agents.

A function is a command, its docstring the help: `episode_end` is `vaultmind episode end`. One
without arguments runs its operation and tells the answer; any other is given what was said.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from vaultmind.cli.made import (
    READABLE,
    confirmed,
    flag,
    made,
    option,
    outcome_code,
    read_lines,
    refuse_unless_asked,
    tell_all,
)
from vaultmind.cli.options import Answer, Settings
from vaultmind.cli.terminal import (
    EXIT_NOT_FOUND,
    EXIT_OTHER,
    aside,
    bold,
    dim,
    odd,
    say,
    show,
)

Args = dict[str, Any]
MESSAGES = 500
"""Messages of a file that go in one call."""
ALL = option("--all", "everything", is_flag=True, default=None, help="All of them.")


# --- memory -------------------------------------------------------------------------------


@made("memory.memory_show")
def show_() -> None:
    """Show what the agent knows about you."""


@made("memory.memory_update", "text:fact…", only=("section", "old"))
def remember(settings: Settings, args: Args) -> int:
    """Write FACT into the agent's brain.

    Example: vaultmind remember "I prefer short answers" --section preferences
    """
    args["op"] = "replace" if "old" in args else "remember"
    return outcome_code(settings.tell(settings.ask("memory_update", args)))


@made("memory.say", "[utterances:utterance…]", only=("dry_run",), many="utterances")
def say_(settings: Settings, args: Args) -> int:
    """Ask the memory in plain words, in your language.

    What UTTERANCE asks for is done; anything else does nothing. With --queries it is only told
    what each of many was understood as.

    Example: vaultmind say "zapamiętaj, że wolę krótkie odpowiedzi"
    """
    if "utterances" not in args:
        raise click.UsageError("Give an UTTERANCE, or a file with --queries.")
    answer = settings.ask("say", args | {"utterances": [args["utterances"]]})
    (one,) = answer.json["heard"]
    words = answer.words
    if args.get("dry_run"):
        one = {name: one[name] for name in ("intent", "lang", "payload", "confidence")}
        words = f"{one['intent']} ({one['lang'] or '-'}): {one['payload']}"
    settings.tell(Answer(one if settings.json else {}, words))
    return outcome_code(one)


@made(
    "memory.memory_update",
    "text:fact…",
    only=(),
    also=(
        flag("--topic", "FACT is a topic: show the facts it means, then ask."),
        flag("--everywhere", "Erase every trace, for good: show it first, then ask."),
        flag("--dry-run", "With these two: only show."),
        flag("--yes", "With these two: do not ask."),
    ),
)
def forget(settings: Settings, args: Args) -> int:
    """Take a fact out and hide what said it, or erase every trace.

    FACT is its words, or its id such as ^k3f9.

    The messages that said it are hidden from every recall. With --everywhere it is erased: from
    brain, archive, sessions, summaries, audit, log and index of all agents, or of the one that is
    named. That cannot be undone.
    """
    topic, everywhere = args.pop("topic", False), args.pop("everywhere", False)
    dry_run, yes = args.pop("dry_run", False), args.pop("yes", False)
    if topic and everywhere:
        raise click.UsageError("Either --topic or --everywhere.")
    if everywhere:
        return _erase(settings, args, dry_run=dry_run, yes=yes)
    if topic:
        return _forget_topic(settings, args, dry_run=dry_run, yes=yes)
    if dry_run or yes:
        raise click.UsageError("--dry-run and --yes go with --topic or --everywhere.")
    return outcome_code(settings.tell(settings.ask("memory_update", args | {"op": "forget"})))


def _erase(settings: Settings, args: Args, *, dry_run: bool, yes: bool) -> int:
    preview = settings.ask("erase_preview", args)
    found = preview.json
    empty = not (found["found"] or found["state_files"])
    if dry_run or not settings.json:
        settings.tell(preview)
    if dry_run or (empty and not settings.json):
        return EXIT_NOT_FOUND if empty else 0
    if not (empty or yes or confirmed(settings, "Erase this? It cannot be undone.")):
        say("Nothing was erased.")
        return EXIT_OTHER
    erased = settings.ask("erase", args | {"seal": found["seal"]})
    return outcome_code(settings.tell(erased))


def _forget_topic(settings: Settings, args: Args, *, dry_run: bool, yes: bool) -> int:
    """Show the facts that a topic means, and forget those that are confirmed."""
    found = settings.ask("topic", {"topic": args.pop("text")} | args)
    facts = found.json["facts"]
    if dry_run or not facts or not settings.json:
        settings.tell(found)
    if dry_run or not facts:
        return 0 if facts else EXIT_NOT_FOUND
    chosen = [fact["number"] for fact in facts if fact["sure"]]
    if not yes:
        refuse_unless_asked(settings)
        these = f"[y] {', '.join(map(str, chosen))}, " if chosen else ""
        question = f"Forget {these}[n] none, or name numbers"
        said = click.prompt(question, default="n", err=True).strip().lower()
        numbers = [int(one) for one in said.replace(",", " ").split() if one.isdecimal()]
        chosen = chosen if said in ("y", "yes") else numbers
    target = {"op": "forget", "agent": found.json["agent"]}
    meant = [fact for fact in facts if fact["number"] in chosen]
    texts = [f"^{one['block']}" if one["block"] else one["text"] for one in meant]
    answers = [settings.ask("memory_update", target | {"text": text}) for text in texts]
    outcomes = [one.json for one in answers]
    tell_all(settings, {"agent": found.json["agent"], "outcomes": outcomes}, answers)
    if not outcomes:
        aside("Nothing was forgotten." + (" None is surely about it: name it." if yes else ""))
        return EXIT_NOT_FOUND if yes else EXIT_OTHER
    return 0 if all(one["outcome"] == "written" for one in outcomes) else EXIT_OTHER


@made("suggestions.suggestions_list")
def suggestions_list() -> None:
    """Show what waits for you: who wants what, for whom, and why."""


SETTLED = (
    click.Argument(["ids"], nargs=-1, metavar="[IDS]..."),
    option("--all", "everything", is_flag=True, help="All that wait; asks first."),
    flag("--yes", "Do not ask."),
)


@made("suggestions.suggestions_answer", only=(), also=SETTLED)
def suggestions_accept(settings: Settings, args: Args) -> int:
    """Write what the suggestions IDS say into the memory, as your own word."""
    return _settle(settings, args, "accept")


@made("suggestions.suggestions_answer", only=(), also=SETTLED)
def suggestions_reject(settings: Settings, args: Args) -> int:
    """Turn the suggestions IDS down: nothing is written, and they do not come back."""
    return _settle(settings, args, "reject")


def _settle(settings: Settings, args: Args, verb: str) -> int:
    ids, everything = list(args.get("ids", ())), args.get("everything", False)
    if bool(ids) == everything:
        raise click.UsageError("Name suggestions by their ids, or all of them with --all.")
    if everything:
        found = settings.ask("suggestions_list", settings.target)
        ids = [one["id"] for one in found.json["suggestions"]]
        if ids and not args.get("yes"):
            refuse_unless_asked(settings)
            settings.tell(found)
            click.confirm(f"\n{verb.title()} all {len(ids)}?", abort=True)
    answer = Answer({"answers": []}, "Nothing waits for you.")
    if ids:
        answer = settings.ask("suggestions_answer", {"ids": ids, "accept": verb == "accept"})
    return max(map(outcome_code, settings.tell(answer)["answers"]), default=0)


@made("memory.import_file", only=("one_session",),
      also=[click.Argument(["path"], type=READABLE, metavar="FILE")])  # fmt: skip
def import_(settings: Settings, args: Args) -> int:
    """Take in conversations from a file.

    FILE is JSON Lines of {session, time, role, speaker?, content, id?}, or the export of Claude or
    ChatGPT (conversations.json or the zip). The same file twice changes nothing.
    """
    answer = settings.ask("import_file", args | {"path": str(args["path"].absolute())})
    if settings.tell(answer)["messages"] and not settings.json:
        say(dim("Searchable in a moment. Facts and summaries are taken from it when you say so:"))
        say(dim("vaultmind consolidate --dry-run shows what, without it they are written."))
    return 0


def _consolidated_code(done: Args) -> int:
    stay = [one["pending"] and not one["facts"] for one in done.get("sessions", ())]
    return EXIT_OTHER if stay and all(stay) and not done["summaries"] else 0


@made(
    "consolidation.consolidate",
    also=(
        flag("--status", "Only show what waits and what was done."),
        flag("--pause", "Stop the work in the background."),
        flag("--resume", "Let it go on."),
    ),
    instead={
        "status": ("consolidation", {"action": "look"}),
        "pause": ("consolidation", {"action": "pause"}),
        "resume": ("consolidation", {"action": "resume"}),
    },
    code=_consolidated_code,
)
def consolidate() -> None:
    """Take facts and summaries from what was said.

    It happens by itself a while after a conversation ends; imported ones wait for this command.
    Example: vaultmind consolidate --dry-run
    """


@made("changes.log", also=(ALL, flag("--dropped", "Show what was said and not kept.")),
      says={"everything": {"limit": 0}}, instead={"dropped": ("dropped", {})})  # fmt: skip
def log() -> None:
    """Show what was changed, by whom and whose, newest last.

    Each begins with the id by which `vaultmind undo ID` takes it back. Example: vaultmind log
    --since yesterday --op forget
    """


@made("changes.undo", "[id]")
def undo(settings: Settings, args: Args) -> int:
    """Take back the last change, or any by its id.

    It happens only where the fact still says what the change wrote; a conflict is explained,
    nothing is changed, and the exit code is 1. An erasure cannot be undone.
    """
    if not args.get("id", "last").strip():
        raise click.UsageError("Give an id of `vaultmind log`; without one, the last change.")
    undone = settings.tell(settings.ask("undo", args))
    return EXIT_OTHER if undone["outcome"] == "unchanged" else outcome_code(undone)


# --- conversations and agents -------------------------------------------------------------


@made("context.context_build", "[messages:message…]", only=("session", "budget", "task"),
      also=[flag("--explain", "Show what each part costs, why, and what is left out.")],
      many="messages", waits=True)  # fmt: skip
def context(settings: Settings, args: Args) -> int:
    """Show what the agent is given before it answers, and why.

    That is before it answers MESSAGE; without one, before any.

    Example: vaultmind context "what did we decide about the oven?" --budget 1800 --explain
    """
    explain = args.pop("explain", False)
    args |= {"messages": [args["messages"]]} if "messages" in args else {}
    answer = settings.ask("context_build", args)
    if explain and not settings.json:
        show("\n".join(explained(answer.json)))
        return 0
    built = settings.tell(answer)
    if not settings.json:
        for note in built["notes"]:
            aside(f"{odd('!')} {note}")
        aside(dim(f"{built['tokens']:,} of {built['budget']:,} tokens · why: --explain"))
    return 0


def explained(built: Args) -> Iterator[str]:
    """Yield what each part of a context costs and why it is there, then what was left out."""
    from vaultmind.serve.show import table

    yield f"{built['tokens']:,} of {built['budget']:,} tokens, {built['agent']} {built['session']}"
    parts = [(one["name"], one["tokens"], one["why"] or one["sources"]) for one in built["parts"]]
    yield from table(("part", "tokens", "why"), parts)
    dropped = [(one["what"], one["reason"]) for one in built["dropped"]]
    yield from table(("left out", "because"), dropped)
    yield from (f"! {note}" for note in built["notes"])


@made(
    "sessions.session_log",
    "[text…]",
    only=(),
    also=(
        option("--role", help="Who speaks. [default: user]"),
        option("--id", metavar="ID", help="The same id again is not written twice."),
        option("--speaker", metavar="NAME", help="The speaker's name."),
        option("--file", metavar="FILE", type=click.Path(dir_okay=False, allow_dash=True),
               help="Messages as JSON Lines ({role, content, id?, …}); - is stdin."),
    ),
)  # fmt: skip
def session_log(settings: Settings, args: Args) -> int:
    """Append TEXT, or the messages of FILE, to the running session; a new one begins if need be.

    Example: vaultmind session log --role assistant "We decided to bake on Fridays."
    """
    target = {"agent": args.pop("agent")} if "agent" in args else {}
    file = args.pop("file", "")
    if ("text" in args) == bool(file) or (file and args):
        raise click.UsageError("Give TEXT with its options, or --file FILE.")
    lines = [one for _, one in read_lines(Path(file), "{}")] if file else [args]
    # both kinds of file may call the words `content` or `text`
    messages = [{"text" if key == "content" else key: value for key, value in one.items()}
                for one in lines]  # fmt: skip
    logged, new, known = Answer({}), 0, 0
    for at in range(0, max(1, len(messages)), MESSAGES):
        batch = {"messages": messages[at : at + MESSAGES]}
        logged = settings.ask("session_log", batch | target)
        new, known = new + logged.json["new"], known + logged.json["known"]
    settings.tell(Answer(logged.json | {"new": new, "known": known}, logged.json["message"]))
    return 0


@made("sessions.session_log", only=(), given={"new_segment": True})
def session_new() -> None:
    """Begin a new segment in the running session, as `/new` does.

    What was said before it is summarised, searched, and no longer in the window.
    """


@made("sessions.session_log", "[session:id]", only=(), given={"end": True})
def session_end() -> None:
    """End the running session, or the one with ID; the next conversation knows what it left."""


@made("sessions.sessions", also=[ALL], says={"everything": {"limit": 0}})
def session_list() -> None:
    """List the agent's sessions, newest last: when, how long, about what."""


@made("agents.agents")
def agents_list() -> None:
    """Show every agent: its level, what it has, who may write to it and who may not read it."""


@made("agents.agent_show", "name")
def agents_show() -> None:
    """Show what agent NAME may do and what it has, and where that is written."""


@made("agents.agent_new", "name")
def agents_new(settings: Settings, args: Args) -> int:
    """Make agent NAME: its folder and an identity.md to begin with.

    A client that names no agent is this one if it calls itself so.
    """
    settings.tell(settings.ask("agent_new", args))
    if not settings.json:
        name = args["name"].strip().lower()
        say("Write there who it is. `autonomy: 1` makes it ask before it remembers.")
        say(f"\nNext: {bold(f'vaultmind connect CLIENT --agent {name} --write')}")
    return 0


@made("agents.agent_allow", "name", only=(),
      also=[flag("--yes", "Do not ask: you know what it raises.")])  # fmt: skip
def agents_allow(settings: Settings, args: Args) -> int:
    """Let agent NAME do what its identity.md asks for beyond what is in force.

    What that is is shown first, and you are asked. Lowering needs no leave: it counts at once.
    """
    yes = args.pop("yes", False)
    answer = settings.ask("agent_allow", args)
    one = answer.json["agent"]
    if one["waiting"] and not yes:
        aside("\n  + ".join((answer.json["message"], *one["waiting"])))
        if not confirmed(settings, "Allow it on this device?"):
            return EXIT_OTHER
    if one["waiting"]:
        answer = settings.ask("agent_allow", args | {"seen": one["mark"]})
    settings.tell(answer)
    return 0
