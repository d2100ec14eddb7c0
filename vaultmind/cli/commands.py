"""The commands that are made from operations.

A function is a command, its docstring the help: `episode_end` is `vaultmind episode end`. One
without arguments runs its operation and tells the answer; any other is given what was said. A plain
one has the help of its operation.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from vaultmind.cli.made import SOURCE_SECONDS, flag, made, option, outcome_code, plain, read_lines
from vaultmind.cli.options import EXIT_NOT_FOUND, EXIT_OTHER, EXIT_USAGE, Answer, Settings, aside

Args = dict[str, Any]
TRAINING_SECONDS, READ_SECONDS = 1800.0, 600.0
"""How long a person waits at most for a training, and for a check in this process."""
ALL = option("--all", "limit", flag_value=0, type=int, help="All of them.")


def _answer_code(answer: Args) -> int:
    codes = {"found": 0, "nothing_found": EXIT_NOT_FOUND, "no_query": EXIT_USAGE}
    return codes.get(answer["answer"], EXIT_OTHER)  # any other is no answer yet


@made("search.memory_search", "[query…]", queries=True, waits=True, code=_answer_code)
def search() -> None:
    """Search notes and memory, by words and by meaning.

    Example: vaultmind search "what did we decide about the oven?" --kind note

    It waits until all text is indexed, but only seconds for recent changes and a second for
    vectors; with --queries it waits for everything.
    """


@made("search.memory_fetch", "id")
def fetch() -> None:
    """Print a hit, a note or a section in full.

    ID is a hit's id, or a path in the vault: PATH or PATH#Heading.
    """


plain("related", "search.related", "note", waits=True)


@made("plans.context_plan", "[project_root:source]", waits=True,
      also=[flag("--text", "Print the context alone, as an agent reads it.")])  # fmt: skip
def plan(settings: Settings, args: Args) -> int:
    """Show what to read for a task, within a token budget.

    SOURCE is the vault (default) or a linked folder, by name or path. --json has every reason.

    Example: vaultmind plan shop --task "bug: the cart loses its items on logout"

    With --task - the task is read from stdin.
    """
    text = args.pop("text", False)
    plan, words = settings.ask("context_plan", args)
    settings.tell(Answer(plan, plan["context"]["text"] if text else words))
    return 0 if plan["context"]["files"] else EXIT_NOT_FOUND


@made("plans.explore", "[source]", waits=True)
def explore() -> None:
    """Show what the vault or a linked folder is made of.

    SOURCE is the vault (default) or a linked folder, by name or path.

    Example: vaultmind explore shop --query-type bugfix --since yesterday

    Layers: L0 map, L1 index, L2 relations, L3 surface, L4 manifest, L5 tasks and tests, L6 changes.
    The kind of task decides which are shown; --layer names them instead.
    """


@made("plans.explore", "[source]", only=("since", "detail"), waits=True,
      given={"layers": ["L6"]})  # fmt: skip
def delta() -> None:
    """Show what changed in the vault or a linked folder.

    SOURCE is the vault (default) or a linked folder, by name or path.

    Example: vaultmind delta shop --since main
    """


@made("plans.refresh", "[source]", given={"wait_seconds": SOURCE_SECONDS})
def refresh() -> None:
    """Compare the vault or a linked folder with the disk now.

    Changes are noticed by themselves; this is for disks that send no change events.
    """


@made("plans.link", "path:folder")
def link() -> None:
    """Link a FOLDER of code or documents, read only.

    Example: vaultmind link ~/code/shop --as shop

    Files that git ignores or that look secret are left out. Agents may be shown the rest.
    """


plain("unlink", "plans.unlink", "source:name")
plain("links", "plans.links")


@made("episodes.gain")
def gain() -> None:
    """Show what plans saved.

    Compares the tokens that plans offered with those of the whole files. Only plans of episodes
    count. Example: vaultmind gain --since 12w
    """


@made("episodes.episode", "[project_root:source]", only=("task", "session_id"),
      given={"action": "start"})  # fmt: skip
def episode_start() -> None:
    """Start an episode on SOURCE: the vault (default) or a linked folder, by name or path.

    Example: vaultmind episode start shop --task "bug: the cart loses its items on logout"

    With --task - the task is read from stdin.
    """


@made("episodes.episode", "events:event…", only=("episode", "session_id"),
      given={"action": "event"})  # fmt: skip
def episode_event() -> None:
    """Record what was done.

    EVENT is `read PATH`, `edit PATH#NAME`, `hit PATH` (found by a search), `delta PATH` (changed),
    `decision WHAT, WHY`, `run COMMAND ok` (or `failed`), or `commit ID SUBJECT`. Paths are relative
    to the source.

    Example: vaultmind episode event decision Keep the cart on the server: it syncs
    """


@made("episodes.episode", only=("episode", "session_id", "outcome", "note"),
      given={"action": "end"})  # fmt: skip
def episode_end() -> None:
    """End an episode with its outcome; without one it is unknown."""


plain("episode list", "episodes.episodes")
plain("episode show", "episodes.episode_show", "[episode:name]")


@made("episodes.episode", only=("outcome", "episode", "session_id", "note", "hits"),
      given={"action": "feedback"}, code=lambda told: 0)  # fmt: skip
def feedback() -> None:
    """State the outcome of an episode, or whether a search helped.

    Your word overrides an agent's. Without a name, the running episode is meant, else the newest;
    `vaultmind episode list` shows the others.

    Example: vaultmind feedback --outcome failed --note "It broke the logout on mobile"

    For a search of the last half hour: vaultmind feedback --hit "useful 3f9a01bc"
    """


@made("models.model_train", only=("kind", "min_lessons", "force", "since_days"),
      given={"wait_seconds": TRAINING_SECONDS},
      code=lambda job: int(job["state"] != "done"))  # fmt: skip
def model_train() -> None:
    """Train the ranking of plans and searches, and use the result if it is better.

    Training goes on if you stop waiting.

    Example: vaultmind model train --kind ranker
    """


plain("model status", "models.model_status")
plain("model activate", "models.model_activate", "model:id")
plain("model rollback", "models.model_rollback", "kind")


@made("models.minion_status",
      code=lambda told: int(any(one["problem"] for one in told["models"])))  # fmt: skip
def minion_status() -> None:
    """Show which language model does what, and whether it works.

    Exit code 1 if a configured model cannot be used.
    """


@made("memory.init")
def init() -> None:
    """Create the memory folder in your vault.

    Nothing outside it is written, except the style that --snippet adds. What exists stays.
    """


@made("status.memory_status")
def status(settings: Settings, args: Args) -> int:
    """Show how complete the index is and who is connected."""
    from vaultmind.cli.processes import daemon_words
    from vaultmind.client import launch

    told, words = settings.ask("memory_status")
    settings.close()  # so as not to count ourselves among the clients
    daemon = launch.status(settings.where)
    settings.tell(Answer(told | {"daemon": daemon}, f"{words}\nDaemon: {daemon_words(daemon)}."))
    return 0


@made("status.doctor")
def doctor(settings: Settings, args: Args) -> int:
    """Check everything and say how to fix it.

    With --in-process every note is read first. Exit code 1 if something is broken.
    """
    from vaultmind.cli.connect import check_clients
    from vaultmind.serve.ops.status import check_line

    if settings.in_process:  # it begins with nothing read, and half a check is none
        settings.call("index", {"vectors": False, "timeout_seconds": READ_SECONDS})
    told, words = settings.ask("doctor")
    checks = told["checks"] + (more := check_clients(settings.config))
    broken, doubtful = (sum(one["result"] == it for one in checks) for it in ("fail", "warn"))
    well = "All is well." if not broken + doubtful else f"{broken} broken, {doubtful} to check."
    lines = [words, *(check_line(**one) for one in more), "", well]
    settings.tell(Answer({"checks": checks}, "\n".join(lines)))
    return EXIT_OTHER if broken else 0


def _failed(state: Args) -> int:
    return int(state["phase"] == "failed")


plain("index", "search.index", only=(), code=_failed)


@made("search.index", only=(), given={"anew": True}, code=_failed)
def reindex() -> None:
    """Rebuild the index from the vault and wait; cached vectors are reused."""


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


@made("memory.say", "[utterance…]", only=("dry_run",), queries=True)
def say_(settings: Settings, args: Args) -> int:
    """Ask the memory in plain words, in your language.

    Does what UTTERANCE asks for; anything else does nothing. With --queries it only shows how each
    line is understood.

    Example: vaultmind say "zapamiętaj, że wolę krótkie odpowiedzi"
    """
    answer = settings.ask("say", args)
    settings.tell(Answer(answer.json if settings.json else {}, answer.words))
    return outcome_code(answer.json)


@made("memory.memory_update", "text:fact…", only=(),
      also=[flag("--everywhere", "Erase every trace for good; shows it and asks first."),
            flag("--dry-run", "With --everywhere: only show."),
            flag("--yes", "With --everywhere: do not ask.")])  # fmt: skip
def forget(settings: Settings, args: Args) -> int:
    """Forget a fact and hide what said it, or erase every trace.

    FACT is its words, or its id such as ^k3f9.

    Messages that mentioned it are hidden from every recall. With --everywhere it is erased from
    brain, archive, sessions, summaries, audit, log and index of all agents; there is no undo.
    """
    dry_run, yes = args.pop("dry_run", False), args.pop("yes", False)
    if not args.pop("everywhere", False):
        if dry_run or yes:
            raise click.UsageError("--dry-run and --yes go with --everywhere.")
        return outcome_code(settings.tell(settings.ask("memory_update", args | {"op": "forget"})))
    if args.pop("agent", ""):
        raise click.UsageError("--everywhere covers every agent: leave --agent out.")
    preview = settings.ask("erase", args)
    empty = preview.json["outcome"] == "not_found"
    if dry_run or not settings.json:
        settings.tell(preview)
    if dry_run or (empty and not settings.json):
        return EXIT_NOT_FOUND if empty else 0
    if not (empty or yes or settings.confirms("Erase this? It cannot be undone.")):
        aside("Nothing was erased.")
        return EXIT_OTHER
    erased = settings.ask("erase", args | {"seal": preview.json["seal"]})
    return outcome_code(settings.tell(erased))


plain("suggestions list", "changes.suggestions_list")
SETTLED = (
    click.Argument(["ids"], nargs=-1, metavar="[IDS]..."),
    option("--all", "everything", is_flag=True, help="All that are waiting; asks first."),
    flag("--yes", "Do not ask."),
)


@made("changes.suggestions_answer", only=(), also=SETTLED, given={"accept": True})
def suggestions_accept(settings: Settings, args: Args) -> int:
    """Accept the suggestions IDS: they are written as your own word."""
    ids, accept = list(args.get("ids", ())), args["accept"]
    if bool(ids) == bool(args.get("everything")):
        raise click.UsageError("Give the suggestions' ids, or --all.")
    if not ids:
        found = settings.ask("suggestions_list", settings.target)
        ids = [one["id"] for one in found.json["suggestions"]]
        if ids and not args.get("yes"):
            settings.tell(found)
            if not settings.confirms(f"\n{'Accept' if accept else 'Reject'} all {len(ids)}?"):
                return EXIT_OTHER
    answer = Answer({"answers": []}, "Nothing waits for you.")
    if ids:
        answer = settings.ask("suggestions_answer", {"ids": ids, "accept": accept})
    return max(map(outcome_code, settings.tell(answer)["answers"]), default=0)


@made("changes.suggestions_answer", only=(), also=SETTLED, given={"accept": False})
def suggestions_reject(settings: Settings, args: Args) -> int:
    """Reject the suggestions IDS: nothing is written, and they do not come back."""
    return suggestions_accept(settings, args)


@made("sessions.import_file", "path:file", only=("one_session",))
def import_() -> None:
    """Import conversations from a file.

    FILE is JSON Lines of {session, time, role, speaker?, content, id?}, or the export of Claude or
    ChatGPT (conversations.json or the zip). Importing a file twice changes nothing.
    """


@made("sessions.consolidate")
def consolidate(settings: Settings, args: Args) -> int:
    """Take facts and summaries from ended conversations.

    This happens by itself some time after a conversation ends; imported ones wait for this command.
    Example: vaultmind consolidate --dry-run, or --dry-run --again SESSION for one already done.
    """
    done = settings.tell(settings.ask("consolidate", args))
    stay = [one["pending"] and not one["facts"] for one in done["sessions"]]
    return EXIT_OTHER if stay and all(stay) and not done["summaries"] else 0


@made("changes.log", also=[ALL])
def log() -> None:
    """Show every change of memory, newest last.

    `vaultmind undo ID` takes a change back. Example: vaultmind log --since yesterday --op forget
    """


@made("changes.undo", "[id]",
      code=lambda told: int(told["outcome"] == "unchanged") or outcome_code(told))  # fmt: skip
def undo() -> None:
    """Take back the last change, or any by its id.

    If the fact has changed since, nothing is undone, the answer explains why, and the exit code is
    1. An erasure cannot be undone.
    """


@made("context.context_build", "[messages:message…]", only=("session", "budget", "task"),
      also=[flag("--explain", "Show each part's size and reason, and what is left out.")],
      queries=True, waits=True)  # fmt: skip
def context(settings: Settings, args: Args) -> int:
    """Show what the agent is given before it answers MESSAGE.

    Without MESSAGE it is what a conversation starts with.

    Example: vaultmind context "what did we decide about the oven?" --budget 1800 --explain
    """
    from vaultmind.serve.ops.context import explained

    explain = args.pop("explain", False)
    built, words = settings.ask("context_build", args)
    settings.tell(Answer(built, "\n".join(explained(built)) if explain else words))
    if not (explain or settings.json):
        cost = f"{built['tokens']:,} of {built['budget']:,} tokens"
        notes = [f"! {note}" for note in built["notes"]]
        aside("\n".join([*notes, f"{cost} · why: --explain"]))
    return 0


@made("sessions.session_log", "[messages:text…]", only=(),
      also=[option("--role", help="Who speaks. [default: user]"),
            option("--id", metavar="ID", help="The same id is written only once."),
            option("--file", metavar="FILE", type=click.Path(dir_okay=False, allow_dash=True),
                   help="Messages as JSON Lines ({role, content, id?, …}); - is stdin.")],
)  # fmt: skip
def session_log(settings: Settings, args: Args) -> int:
    """Append TEXT, or the messages of FILE, to the running session, or start one.

    Example: vaultmind session log --role assistant "We decided to bake on Fridays."
    """
    target = {"agent": args.pop("agent")} if "agent" in args else {}
    file, (text,) = args.pop("file", ""), args.pop("messages", ("",))
    if bool(text) == bool(file) or (file and args):
        raise click.UsageError("Give TEXT with its options, or --file FILE.")
    lines = read_lines(Path(file), "{}") if file else [args | {"text": text}]
    # both kinds of file may call the words `content` or `text`
    messages = [{"text" if key == "content" else key: value for key, value in one.items()}
                for one in lines]  # fmt: skip
    settings.tell(settings.ask("session_log", {"messages": messages} | target))
    return 0


@made("sessions.session_log", only=(), given={"new_segment": True})
def session_new() -> None:
    """Begin a new segment in the running session: a clean slate.

    What was said before is summarised and searchable, but no longer in the window.
    """


@made("sessions.session_log", "[session:id]", only=(), given={"end": True})
def session_end() -> None:
    """End the running session, or the one with ID."""


plain("session list", "sessions.sessions", also=[ALL])
plain("agents list", "changes.agents", only=())
plain("agents show", "changes.agents", "name")


@made("memory.init", only=("language",), also=[click.Argument(["name"])])
def agents_new(settings: Settings, args: Args) -> int:
    """Create an agent's folder with an identity.md, where you write who it is.

    `autonomy: 1` there makes it ask before it remembers.
    """
    settings.tell(settings.ask("init", args | {"agent": args.pop("name")}))
    return 0


@made("changes.agent_allow", "name", only=(),
      also=[flag("--yes", "Do not ask.")])  # fmt: skip
def agents_allow(settings: Settings, args: Args) -> int:
    """Allow agent NAME what its identity.md asks for.

    Shows what that is and asks first. Lowering rights needs no permission: it counts at once.
    """
    yes = args.pop("yes", False)
    answer = settings.ask("agent_allow", args)
    one = answer.json["agent"]
    if one["waiting"]:
        if not yes:
            aside(answer.json["message"])
        if not (yes or settings.confirms("Allow it on this device?")):
            return EXIT_OTHER
        answer = settings.ask("agent_allow", args | {"seen": one["mark"]})
    settings.tell(answer)
    return 0
