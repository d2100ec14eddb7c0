"""What each operation does with the app: a few lines, since the work is done below."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind import __version__
from vaultmind.episodes.gains import Figures
from vaultmind.errors import BadArgument, NotFound
from vaultmind.index.search.asked import folder_of
from vaultmind.index.when.days import first_day, last_day
from vaultmind.planner.figures import PlanFigures
from vaultmind.plural import counted
from vaultmind.ports import Report, silent
from vaultmind.serve import approval, asleep, damaged, gaining, rights, worked
from vaultmind.serve.requests import (
    AgentArgs,
    FetchArgs,
    Filters,
    ImportArgs,
    IndexArgs,
    InitArgs,
    NoArgs,
    SayArgs,
    SearchArgs,
    SearchManyArgs,
    UpdateArgs,
)
from vaultmind.serve.standing import Standing, standings
from vaultmind.types import (
    Caller,
    Hit,
    IndexState,
    Outcome,
    Progress,
    SearchRequest,
    SearchResponse,
)
from vaultmind.vault.paths import agent_name

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.index.search.fetch import Fetched
    from vaultmind.session.context.start import StartContext
    from vaultmind.session.imports import Imported
    from vaultmind.session.show import Shown
    from vaultmind.session.voice import Heard

WAIT_SECONDS = 2.0
"""How long to wait at a time before looking whether the index has failed."""

ANY_TOKENS = 10**9
"""A budget that leaves no hit out, where hits are only counted."""
DEFAULT_AGENT = "main"
NO_PLANS = PlanFigures()
FRAME_TOKENS = 160
"""What fences, sources and headings cost around the parts of a start context."""


@dataclass(frozen=True, slots=True)
class Call:
    """Who calls, and whom to tell how far it is."""

    caller: Caller
    report: Report = silent


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of one query of many."""

    id: str
    hits: tuple[Hit, ...]
    answer: str
    omitted: int = 0
    next_offset: int | None = None


@dataclass(frozen=True, slots=True)
class FoundMany:
    """The hits of many queries, in their order, and the index they were found in."""

    results: tuple[Found, ...]
    state: IndexState


@dataclass(frozen=True, slots=True)
class Made:
    """What init found and made, vault-relative."""

    vault: str
    state_dir: str
    created: tuple[str, ...]
    existing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Start:
    """A start context, and whether it is the caller's own: only then its identity is to be."""

    context: StartContext
    own: bool
    waiting: approval.Waiting = approval.NONE
    """Suggestions that the caller should mention to the person."""


@dataclass(frozen=True, slots=True)
class Status:
    """How VaultMind is, for whoever asks."""

    version: str
    pid: int
    vault: str
    memory_folder: str
    state_folder: str
    agent: str
    """Whose memory this caller writes to."""
    agents: tuple[str, ...]
    index: IndexState
    warnings: tuple[str, ...] = field(default=())
    """Configuration and phrases that were found and not taken; rights that are asked for and not
    in force."""
    waiting: approval.Waiting = approval.NONE
    """Suggestions that wait for the person."""
    consolidation: asleep.Brief = asleep.NO_BRIEF
    """What waits to be consolidated, and what was done last."""
    planning: PlanFigures = NO_PLANS
    """How planning went since the daemon started."""
    sources: tuple[Standing, ...] = ()
    """The vault and the folders linked to it."""
    gain: Figures | None = None
    """Of the last month; for the person."""
    episodes: worked.Brief = worked.NO_BRIEF


def search(app: App, call: Call, args: SearchArgs) -> SearchResponse:
    """Search notes and memory. Raises BadArgument for an offset behind the end."""
    request = _request(app, call.caller, args, args.query)
    found = app.index.search(request, call.caller)
    if args.offset and not found.hits and found.answer == "nothing_found":
        raise _no_more(app, call.caller, request)
    return replace(found, explained=args.explain)


def _no_more(app: App, caller: Caller, request: SearchRequest) -> BadArgument:
    """Return what to say of an offset behind the last hit: how many hits there are."""
    all_ = replace(request, offset=0, limit=request.offset, max_tokens=ANY_TOKENS)
    number = len(app.index.search(all_, caller).hits)
    there = f"this search has {counted(number, 'hit')} in all" if number else "it finds nothing"
    return BadArgument(
        "offset",
        request.offset,
        "next_offset of the last answer",
        said=f"There are no more hits from 'offset' {request.offset} on: {there}. "
        "To begin again, leave the offset out.",
    )


def search_many(app: App, call: Call, args: SearchManyArgs) -> FoundMany:
    """Search for many queries, telling how far it is."""
    results = []
    for number, query in enumerate(args.queries, 1):
        request = _request(app, call.caller, args, query.query)
        found = app.index.search(request, call.caller)
        next_offset = found.next_offset
        results.append(Found(query.id, found.hits, found.answer, found.omitted, next_offset))
        call.report(Progress(number, len(args.queries), "queries"))
    return FoundMany(tuple(results), seen_state(app, call.caller))


def fetch(app: App, call: Call, args: FetchArgs) -> Fetched:
    """Return the whole text of a hit or a note.

    Raises BadArgument for an offset behind the end. A person is told of a file that is withheld;
    to an agent it is not there.
    """
    try:
        found = app.index.fetch(
            args.id, call.caller, max_tokens=args.max_tokens, offset=args.offset
        )
    except NotFound as error:
        if call.caller.kind == "person":
            _tell_withheld(app, call.caller, args.id, error)
        raise
    if args.offset and not found.text:
        raise BadArgument(
            "offset",
            args.offset,
            "next_offset of the last answer",
            said=f"The text ends before 'offset' {args.offset}. To begin again, leave the offset "
            "out.",
        )
    return found


def update(app: App, call: Call, args: UpdateArgs) -> Outcome | Heard:
    """Do what the person's words ask, or remember, replace or forget a fact that is named."""
    _check_update(args)
    target = known_agent(app, call.caller, args.agent)
    if args.op is None:
        return app.voice.hear(call.caller, target, args.utterance, args.message_id.strip())
    outcome = _explicit(app, call, args, target)
    app.voice.note(call.caller, args.op, outcome)
    return outcome


def _explicit(app: App, call: Call, args: UpdateArgs, target: str) -> Outcome:
    if args.op == "forget":
        return app.requests.forget(call.caller, target, args.text, words=args.words)
    if args.op == "replace":
        return app.requests.replace(
            call.caller, target, args.text, args.old, section=args.section, words=args.words
        )
    return app.requests.remember(
        call.caller, target, args.text, section=args.section, words=args.words
    )


def _check_update(args: UpdateArgs) -> None:
    """Raise BadArgument unless the person's words or an operation are given, one of them."""
    allowed = "either utterance (the person's words), or op (remember, forget, replace) with text"
    spoken = bool(args.utterance.strip())
    if spoken == (args.op is not None):
        name, value = ("utterance", args.utterance) if spoken else ("op", args.op)
        raise BadArgument(name, value, allowed, missing=not spoken)
    if args.op is None:
        given = {"text": args.text, "old": args.old, "section": args.section, "words": args.words}
        for name, value in given.items():
            if value:
                raise BadArgument(name, value, f"only with op; {allowed}")
        return
    if args.message_id:
        raise BadArgument("message_id", args.message_id, "only with utterance")
    if not args.text.strip():
        raise BadArgument("text", args.text, "the fact, in words", missing=not args.text)
    if args.op == "replace" and not args.old.strip():
        raise BadArgument("old", args.old, "the words or id of the fact to replace")
    if args.op != "replace" and args.old:
        raise BadArgument("old", args.old, "only with op 'replace'")


def say(app: App, call: Call, args: SayArgs) -> tuple[Heard, ...]:
    """Do what sentences ask of the memory, or only tell what was understood."""
    target = known_agent(app, call.caller, args.agent)
    if args.dry_run:
        return tuple(app.voice.heed(one, target) for one in args.utterances)
    return tuple(app.voice.hear(call.caller, target, one) for one in args.utterances)


def show(app: App, call: Call, args: AgentArgs) -> Shown:
    """Return what an agent knows, with counts."""
    target = known_agent(app, call.caller, args.agent)
    shown = app.show(target, call.caller)
    facts = [fact for section in shown.sections for fact in section.facts]
    app.voice.note_shown(call.caller, target, facts)
    return shown


def start_context(app: App, call: Call, args: AgentArgs) -> Start:
    """Return what an agent should know when a conversation begins."""
    waiting = approval.waiting(app, call.caller)
    reserved = FRAME_TOKENS if call.caller.kind == "agent" else 0
    reserved += approval.WAITING_TOKENS if reserved and waiting.count else 0
    target = known_agent(app, call.caller, args.agent)
    context = app.start_context(target, call.caller, reserved)
    return Start(context, target == call.caller.agent, waiting)


def status(app: App, call: Call, args: NoArgs) -> Status:
    """Return how complete the index is and what is missing."""
    return Status(
        version=__version__,
        pid=os.getpid(),
        vault=str(app.config.vault),
        memory_folder=app.config.memory_dir,
        state_folder=str(app.config.state_dir),
        agent=call.caller.agent or app.config.agent,
        agents=app.index.outlet.readable_agents(call.caller),
        index=seen_state(app, call.caller),
        warnings=(
            *app.config.warnings,
            *app.ears.faults(),
            *rights.notes(app, call.caller),
            *damaged.notes(app, call.caller),
        ),
        waiting=approval.waiting(app, call.caller),
        consolidation=asleep.brief(app, call.caller),
        planning=app.planner.figures,
        sources=standings(app),
        gain=gaining.recent(app, call.caller) if call.caller.kind == "person" else None,
        episodes=worked.brief(app, call.caller),
    )


def index(app: App, call: Call, args: IndexArgs) -> IndexState:
    """Wait until the index is complete, has failed, or the time is up; the state tells which."""
    deadline = time.monotonic() + args.timeout_seconds
    while (left := deadline - time.monotonic()) > 0:
        began, slice_seconds = time.monotonic(), min(left, WAIT_SECONDS)
        if app.index.wait_ready(slice_seconds, vectors=args.vectors, report=call.report):
            break
        cut_short = time.monotonic() - began < slice_seconds / 2  # the app is closing
        if cut_short or app.index.state().phase == "failed":
            break
    return seen_state(app, call.caller)


def reindex(app: App, call: Call, args: NoArgs) -> IndexState:
    """Build the index anew from the vault."""
    app.index.reindex(call.report)
    return seen_state(app, call.caller)


def import_file(app: App, call: Call, args: ImportArgs) -> Imported:
    """Take an export file's conversations into an agent's sessions."""
    path = Path(args.path)
    if not path.is_absolute():
        raise BadArgument("path", args.path, "an absolute path: the daemon has its own folder")
    if not path.is_file():
        raise NotFound(f"There is no file {args.path!r}.")
    target = app.target(call.caller, args.agent)
    if call.caller.kind == "agent" and target != call.caller.agent:
        raise BadArgument("agent", target, "your own: only the person imports for another agent")
    imported = app.importer.import_file(path, target, call.report, one_session=args.one_session)
    if imported.messages:  # the talk that is likely asked about is summarised meanwhile
        app.talks.heard(target, app.sessions.latest(target))
    return imported


def init(app: App, call: Call, args: InitArgs) -> Made:
    """Make the memory folder and an agent's identity; what exists stays as it is."""
    return make(app, call, app.target(call.caller, args.agent), args.language)


def make(app: App, call: Call, agent: str, language: str) -> Made:
    """Make what is missing of the memory folder and of an agent in it."""
    wanted = (app.paths.readme, app.paths.suggestions, app.paths.identity(agent))
    existing = tuple(path for path in wanted if app.reader.exists(path))
    created = app.init(agent, language, call.caller)
    return Made(str(app.config.vault), str(app.config.state_dir), created, existing)


def known_agent(app: App, caller: Caller, agent: str) -> str:
    """Return whose memory is meant; raise NotFound for an agent that has no folder.

    Whoever calls may be new: an agent's memory begins with its first word, a person's default
    agent with the first fact. Any other new name is a slip of the pen. An agent that keeps its
    memory from the caller is, to the caller, not there.
    """
    target, names = app.target(caller, agent), app.index.outlet.readable_agents(caller)
    own = caller.agent if caller.kind == "agent" else DEFAULT_AGENT
    if not agent or target == own or target in names:
        return target
    known = f"there are {', '.join(names)}" if names else "there is none yet"
    hint = f"To make one: vaultmind agents new {target}" if caller.kind == "person" else ""
    raise NotFound(f"There is no agent {target!r}; {known}.", hint=hint)


def seen_state(app: App, caller: Caller) -> IndexState:
    """Return how far the index is, without the faults of files that a caller may not see."""
    state = app.index.state()
    if caller.kind == "person":
        return state
    shown = app.index.outlet.names
    return replace(state, faults=tuple(one for one in state.faults if shown(one.path, caller)))


def _tell_withheld(app: App, caller: Caller, asked: str, error: NotFound) -> None:
    """Say in the error's place that a file is there and never shown, where that is so."""
    path = asked.strip()
    path = path if app.reader.exists(path) else path.partition("#")[0]
    if not path or not app.reader.exists(path) or app.index.outlet.shows(path, caller):
        return
    raise NotFound(
        f"{path!r} is in the vault and withheld: it is never indexed nor shown.",
        hint="Withheld by default are all but notes and canvases, dot folders and secrets "
        "(.env, *.pem, *.key, id_rsa*, secrets/); besides Obsidian's excluded files and "
        "index.exclude.",
    ) from error


def _request(app: App, caller: Caller, args: Filters, query: str) -> SearchRequest:
    defaults, now = app.config.search, app.clock()
    return SearchRequest(
        query=query,
        limit=args.limit or defaults.limit,
        kinds=args.kinds,
        agent=args.agent if args.agent in ("", "*") else agent_name(args.agent),
        folder=folder_of(args.folder, caller, app.index.outlet),
        tag=args.tag,
        after=first_day("after", args.after, now) if args.after.strip() else "",
        before=last_day("before", args.before, now) if args.before.strip() else "",
        per_note=args.per_note or defaults.per_note,
        max_tokens=args.max_tokens or defaults.max_tokens,
        offset=args.offset,
    )
