"""Commands made from operations on notes, sources and what was done for a task.

A function is a command, its docstring the help: `episode_end` is `vaultmind episode end`. One
without arguments runs its operation and tells the answer; any other is given what was said.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from vaultmind.cli.made import (
    SOURCE_SECONDS,
    flag,
    made,
    option,
    tell_all,
)
from vaultmind.cli.options import Answer, Settings
from vaultmind.cli.terminal import (
    EXIT_NOT_FOUND,
    EXIT_OTHER,
    EXIT_USAGE,
    say,
)

Args = dict[str, Any]
TRAINING_SECONDS, LINK_SECONDS, READ_SECONDS = 1800.0, 600.0, 600.0
"""How long a person waits at most for a training, a linked folder, and a check in this process."""


# --- finding and reading ------------------------------------------------------------------


def _answer_code(answer: Args) -> int:
    codes = {"found": 0, "nothing_found": EXIT_NOT_FOUND, "no_query": EXIT_USAGE}
    return codes.get(answer["answer"], EXIT_OTHER)  # any other is no answer yet


@made("search.memory_search", "[query…]", many="query", waits=True, code=_answer_code)
def search() -> None:
    """Search notes and memory, by words and by meaning.

    Example: vaultmind search "what did we decide about the oven?" --kind note

    It waits until all text is in the index, some seconds at most for what changes just now, and a
    second at most for the vectors, which follow; with --queries until everything is.
    """


@made("search.memory_fetch", "id")
def fetch() -> None:
    """Print a hit, a note or a section whole.

    ID is a hit's, or a path in the vault: PATH or PATH#Heading.
    """


@made(
    "plans.context_plan",
    "[project_root:source]",
    also=(
        flag("--text", "Print the context alone, as an agent reads it."),
        option("--list", "listing", is_flag=True, help="List the saved plans instead."),
    ),
    instead={"listing": ("plans", {})},
    waits=True,
)
def plan(settings: Settings, args: Args) -> int:
    """Show what to read for a task, within a token budget.

    SOURCE is the vault, or a linked folder by its name; --json has every reason.

    Example: vaultmind plan shop --task "bug: the cart loses its items on logout"

    --task - reads it from stdin.
    """
    text = args.pop("text", False)
    answer = settings.ask("context_plan", args)
    if text and not settings.json:
        say(answer.json["context"]["text"])
    else:
        settings.tell(answer)
    return 0 if answer.json["context"]["files"] else EXIT_NOT_FOUND


def _any_line(answer: Args) -> int:
    empty = ("## ", "Nothing.", "No file changed.", "Lately, ", "Since ", "In the last ")
    lines = (line for line in answer["text"].split("\n") if line)
    return 0 if any(not line.startswith(empty) for line in lines) else EXIT_NOT_FOUND


@made("sources.explore", "[source]", waits=True, code=_any_line)
def explore() -> None:
    """Show what the vault or a linked folder is made of.

    SOURCE is the name of a linked folder, or a path; else it is the vault.

    Example: vaultmind explore shop --query-type bugfix --since yesterday

    The layers: L0 map, L1 index, L2 relations, L3 surface, L4 manifest, L5 tasks and tests, L6
    changes. A kind of task needs some of them; --layer names others.
    """


@made("sources.delta", "[source]", waits=True, code=_any_line)
def delta() -> None:
    """Show what changed in the vault or a linked folder.

    SOURCE is the name of a linked folder, or a path; else it is the vault.

    Example: vaultmind delta shop --since main
    """


@made("sources.refresh", "[source]", given={"wait_seconds": SOURCE_SECONDS})
def refresh() -> None:
    """Compare the vault or a linked folder with the disk now.

    Changes are followed by themselves; this is for a disk whose changes send no events.
    """


@made("sources.link", "path:folder", only=(),
      also=[option("--as", "name", metavar="NAME", help="What to call it.")])  # fmt: skip
def link(settings: Settings, args: Args) -> int:
    """Link a FOLDER of code or documents, to be read and never written.

    Example: vaultmind link ~/code/shop --as shop

    What git ignores and what looks like a secret is left out. Agents may be shown the rest.
    """
    # not resolved: a link in the path is the daemon's to follow and to refuse
    args["path"] = str(Path(args["path"]).expanduser().absolute())
    settings.tell(settings.ask("link", args))
    return 0


@made("sources.unlink", "name")
def unlink(settings: Settings, args: Args) -> int:
    """Unlink a folder, by its NAME or path, and drop its index."""
    if "/" in args["name"] or args["name"].startswith("~"):
        args["name"] = str(Path(args["name"]).expanduser().absolute())
    settings.tell(settings.ask("unlink", args))
    return 0


@made("sources.links", also=[flag("--wait", "Wait until all text is searchable.")])
def links(settings: Settings, args: Args) -> int:
    """List what is linked, and how far each index is.

    Exit code 1 when one of them cannot be used.
    """
    if args.pop("wait", False):
        settings.call("index", {"vectors": False})
        for one in settings.call("links")["sources"]:
            if one["kind"] == "linked" and one["there"]:
                asked = {"source": one["name"], "layers": ["L0"], "wait_seconds": LINK_SECONDS}
                settings.call("explore", asked)
    sources = settings.tell(settings.ask("links"))["sources"]
    failed = any(not one["there"] or one["phase"] == "failed" for one in sources)
    return EXIT_OTHER if failed else 0


# --- what was done for a task -------------------------------------------------------------


@made("past_work.gain")
def gain() -> None:
    """Show what plans saved.

    Tokens offered are held against those of whole files. Counted are the plans of episodes: what
    agents did for a task. Example: vaultmind gain --since 12w
    """


@made("episodes.episode_start", "[project_root:source]",
      only=("task", "query_type", "token_budget", "session_id"))  # fmt: skip
def episode_start() -> None:
    """Begin an episode over SOURCE: the vault, or a linked folder by name or path.

    Example: vaultmind episode start shop --task "bug: the cart loses its items on logout"

    --task - reads it from stdin.
    """


@made(
    "episodes.episode_event",
    only=("episode", "session_id"),
    also=(
        click.Argument(["kind"]),
        click.Argument(["paths"], nargs=-1, metavar="[PATH]..."),
        option("--text", metavar="TEXT", help="A decision and why; a command; a query."),
        option("--symbol", metavar="NAME", help="A definition or a heading in the file."),
        option("--change", metavar="KIND", help="added, modified or removed."),
        option("--commit", metavar="ID", help="Of a commit: its id."),
        option("--ok/--failed", default=None, help="Of a run: whether it went well."),
        option("--time", metavar="TIME", help="When, in ISO 8601.  [default: now]"),
    ),
)
def episode_event(settings: Settings, args: Args) -> int:
    """Tell of what was done: KIND is read, edit, hit, delta, decision, commit or run.

    Each PATH is relative to the source.

    Example: vaultmind episode event decision --text "Keep the cart on the server: it syncs"
    """
    about = {name: args.pop(name) for name in ("episode", "session_id", "agent") if name in args}
    paths = args.pop("paths", ())
    events = [args | {"path": path} for path in paths] or [args]
    settings.tell(settings.ask("episode_event", about | {"events": events}))
    return 0


@made("episodes.episode_end")
def episode_end() -> None:
    """End an episode with what came of it. Silence is no success: it is unknown."""


@made("past_work.episodes")
def episode_list() -> None:
    """List what was done, of all agents or of the one that is named, newest last."""


@made("past_work.episode_show", "[episode:name]")
def episode_show() -> None:
    """Show one episode, or the latest: its task, what was done in order, what came of it."""


@made(
    "episodes.feedback",
    also=(
        option("--query", metavar="TEXT", help="Of a search instead: what was searched."),
        option("--hit", multiple=True, metavar="ID", help="A hit of it, by its id."),
        option("--useful/--wrong", default=None, help="Whether the hits helped."),
    ),
)
def feedback(settings: Settings, args: Args) -> int:
    """Say what came of an episode, or whether a search helped.

    Your word stands over an agent's. Without a name, the newest episode is meant that was begun on
    the command line; `vaultmind episode list` names the others.

    Example: vaultmind feedback --outcome failed --note "It broke the logout on mobile"
    """
    hits = args.pop("hit", ())
    if "useful" in args:
        args["verdict"] = "useful" if args.pop("useful") else "wrong"
    if not hits:
        settings.tell(settings.ask("feedback", args))
        return 0
    answers = [settings.ask("search_feedback", args | {"hit": one}) for one in hits]
    tell_all(settings, {"feedback": [one.json for one in answers]}, answers)
    return 0


@made("past_work.purge_preview", also=[flag("--yes", "Do it; without, it is only shown.")],
      instead={"yes": ("purge", {})},
      code=lambda answer: EXIT_OTHER if answer["done"] and answer["left"] else 0)  # fmt: skip
def purge() -> None:
    """Show what is past its retention; --yes shrinks it.

    Their outcome, changed files, commits, issues and decisions stay, and what you wrote into them.
    The rest is gone for good. The daemon does the same by itself, once a day.
    """


@made("models.model_train", only=("kind", "min_lessons", "force", "since_days"))
def model_train(settings: Settings, args: Args) -> int:
    """Learn in the background, try what was learnt, and use it if it is better.

    Example: vaultmind model train --kind ranker
    """
    if "wait_seconds" in args or settings.in_process:
        args["wait_seconds"] = TRAINING_SECONDS
    trained = settings.tell(settings.ask("model_train", args))
    failed = trained["state"] in ("failed", "cancelled") or not trained["begun"]
    return EXIT_OTHER if failed else 0


@made("models.model_status")
def model_status() -> None:
    """List the models, those in use, how much there is to learn from, and the last training."""


@made("models.model_activate", "model:id")
def model_activate() -> None:
    """Put the model ID into use; `shipped-use` is one, too."""


@made("models.model_rollback", "kind")
def model_rollback() -> None:
    """Go back to what ranked before the last change; KIND is planner or ranker."""


# --- the vault and its index --------------------------------------------------------------


@made("memory.init")
def init() -> None:
    """Make the memory folder in your vault.

    Nothing outside that folder is ever written. Run it again at any time: what exists stays.
    """


@made("status.memory_status")
def status(settings: Settings, args: Args) -> int:
    """Show how complete the index is and who is connected."""
    from vaultmind.cli.processes import daemon_words
    from vaultmind.client import launch

    answer = settings.ask("memory_status")
    if not settings.in_process:
        settings.close()  # so as not to count ourselves among the clients
    answer.json["daemon"] = launch.status(settings.where)
    settings.tell(answer)
    if not settings.json:
        say(f"Daemon: {daemon_words(answer.json['daemon'])}.")
    return 0


@made("status.doctor")
def doctor(settings: Settings, args: Args) -> int:
    """Check everything and say how to mend it.

    With --in-process every note is read first. Exit code 1 when something is broken.
    """
    from vaultmind.cli.connect import check_clients

    if settings.in_process:  # it begins with nothing read, and half a check is none
        settings.call("index", {"vectors": False, "timeout_seconds": READ_SECONDS})
    answer, more = settings.ask("doctor"), check_clients(settings.config)
    words = "\n".join(f"{one['result']}: {one['what']} {one['mend']}".strip() for one in more)
    checks = answer.json["checks"] + more
    results = [check["result"] for check in checks]
    broken, doubtful = results.count("fail"), results.count("warn")
    well = "All is well." if not broken + doubtful else f"{broken} broken, {doubtful} to look at."
    settings.tell(Answer({"checks": checks}, f"{answer.words}\n{words}\n\n{well}"))
    return EXIT_OTHER if broken else 0


@made("indexing.index", only=(), code=lambda state: EXIT_OTHER * (state["phase"] == "failed"))
def index() -> None:
    """Wait until everything is searchable."""


@made("indexing.reindex")
def reindex(settings: Settings, args: Args) -> int:
    """Build the index anew, and wait for it.

    Vectors that are known are used again.
    """
    settings.call("reindex")
    state = settings.tell(settings.ask("index"))
    return EXIT_OTHER if state["phase"] == "failed" else 0
