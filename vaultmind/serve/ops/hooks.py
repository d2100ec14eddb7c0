"""What the daemon does when a host's hook tells of a conversation: takes it down, and reminds.

Claude Code gives SessionStart (startup, resume, clear, compact), UserPromptSubmit, PreCompact,
Stop and SessionEnd. Each takes down what was said since the last one; the first two are answered
with what the host should know and does not have before it. Before a sub-agent starts it is told
what that should read first. After a tool (PostToolUse, PostToolUseFailure) what it was used on
goes into the conversation's episode: the host waits, so the answer comes at once. What a hook
could not tell lies in the state folder until the next hook, or the next daemon, takes it up.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from vaultmind.errors import BadArgument, VaultMindError
from vaultmind.serve.call import Call, mark_for
from vaultmind.serve.op import (
    LOCAL,
    MAX_ID,
    MAX_PATH,
    MAX_TASK,
    MAX_WORDS,
    OPERATIONS,
    Arg,
    operation,
)
from vaultmind.serve.show import DATA, Reader, Verbatim, show, words
from vaultmind.types import Caller
from vaultmind.vault.paths import agent_name

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.session.capture import Given, HostTalk, Taken
    from vaultmind.session.parts import Part

log = logging.getLogger(__name__)

BEGUN = "This is what context_start says: there is no need to call it."
NOTED = (
    "The conversation is written down by itself, from its transcript: do not log its messages "
    "with session_log."
)
RECORDED = (
    "What you read, change and commit for a task is recorded by itself. When a task is done, say "
    "honestly what came of it: `episode` with action `end`, outcome and session_id {session}."
)
CLIENT = "claude-code"
ANSWERED = ("SessionStart", "UserPromptSubmit")
"""Events whose hooks wait for what they are told; the others only tell."""
LATEST = 32_503_680_000
"""The year 3000, in seconds since 1970: what is later is no time."""
COMMAND = re.compile(r"/[\w:-]+")
"""A prompt that asks the host for something, and nobody for an answer."""
PLAN_TOKENS, PLAN_MS = 2000, 100
"""Of a plan before a sub-agent's prompt: it reads on by itself."""
WRITING_SECONDS = 0.03
"""Seconds that an answer waits for what it tells of to be written down."""
CATCH_UP_SECONDS = 10.0
"""Seconds that a daemon that has just started may need to open a linked folder."""
OPENING = "Read this first: what VaultMind found worth reading for the task below."
TASK = "The task:"
_SPOOL = threading.Lock()
"""Held by whoever takes up what hooks left: a start that is owed is owed once."""

HostSession = Annotated[str, Arg("What the host calls the conversation.", min=1, max=MAX_ID)]
Moment = Annotated[float, Arg("When, in seconds since 1970; 0: now.", min=0, max=LATEST)]
Files = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What was done about an event, and what the host should know."""

    event: str
    agent: str
    session: str
    """The conversation's session; empty while nothing of it is written down."""
    new: int
    """Messages that were written down now."""
    more: bool
    """Whether the transcript holds more, which follows in the background."""
    context: str = ""
    given: str = ""
    """What to confirm the context by, with `delivered`; unconfirmed it is given again."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """What became of a tool's use."""

    waits: bool
    """Whether it is not written down yet: the hook leaves it as an errand, for a daemon that is
    killed. It is known by its id, and written down once."""


@dataclass(frozen=True, slots=True)
class TaskOpening:
    """What is put before a sub-agent's prompt."""

    source: str
    """Over which it was planned; empty where the folder lies in none."""
    files: tuple[str, ...] = ()
    text: str = ""
    """Empty where there is nothing to say."""


@operation("What a host's hook tells", writes=True, surfaces=LOCAL)
def hook(
    app: App,
    call: Call,
    event: Annotated[
        Literal["SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"],
        Arg("What happened."),
    ],
    session_id: HostSession,
    transcript_path: Annotated[str, Arg("Where the host writes it down.", min=1, max=MAX_PATH)],
    source: Annotated[
        str, Arg("Of SessionStart: startup, resume, clear, compact.", max=MAX_ID)
    ] = "",
    reason: Annotated[str, Arg("Of SessionEnd.", max=MAX_ID)] = "",
    prompt: Annotated[str, Arg("Of UserPromptSubmit: what the person typed.", max=MAX_WORDS)] = "",
    cwd: Annotated[str, Arg("The folder that the conversation is held in.", max=MAX_PATH)] = "",
    at: Moment = 0.0,
    delivered: Annotated[
        str, Arg("Nothing happened, but the host has this answer.", max=MAX_ID)
    ] = "",
    agent: Annotated[str, Arg("Whose memory; default: the caller's.")] = "",
) -> HookAnswer:
    """Take down what a host's conversation has grown by, from the transcript it writes; answer
    with what the host should know.

    Raises BadArgument for a transcript that is no regular file of this user, or for an agent that
    names another.
    """
    from vaultmind.session.capture import project_of

    target = app.target(call.caller, agent)
    if call.caller.kind == "agent" and target != call.caller.agent:
        raise BadArgument("agent", target, "your own")
    caller = Caller("agent", target, CLIENT)
    talk = app.capture.talk(target, session_id, transcript_path)
    if delivered:
        talk.delivered(delivered)
        return HookAnswer(event, target, talk.session, new=0, more=False)
    if not talk.caller.project:
        talk.caller = replace(talk.caller, project=project_of(cwd))
    catch_up_hooks(app)
    if app.config.episodes.hook:
        if event == "UserPromptSubmit":
            app.watching.prompted(caller, session_id, prompt, cwd, _moment(app, at))
        elif event == "Stop":
            app.watching.paused(caller, session_id)
        elif event == "SessionEnd":
            app.watching.ended(caller, session_id)
    taken = _taken(app, talk, event)
    answer = HookAnswer(event, target, talk.session, taken.new, taken.more)
    if event not in ANSWERED:
        return answer
    begins = (source or "startup") if event == "SessionStart" else ""
    context, given = _context(app, replace(call, caller=caller), talk, begins, prompt)
    return replace(answer, session=talk.session, context=Verbatim(context), given=talk.offer(given))


@words(HookAnswer)
def _hook_words(answer: HookAnswer, to: Reader) -> Iterator[str]:
    yield answer.context


def _moment(app: App, at: float) -> datetime:
    """Return a time of a hook's clock; now where there is none, or it would be in the future."""
    now = app.clock()
    return min(now, datetime.fromtimestamp(at, now.tzinfo)) if at else now


def _taken(app: App, talk: HostTalk, event: str) -> Taken:
    """Take down what a conversation has grown by, and do what the event asks for besides."""
    from vaultmind.session.capture import WAITING_BYTES
    from vaultmind.session.summary import Window as Shown

    if event in ANSWERED:
        return app.capture.take(talk, WAITING_BYTES, wait=False)
    if event == "SessionEnd":
        return app.capture.end(talk)
    taken = app.capture.take(talk)
    if event == "PreCompact" and talk.session:
        view = app.talks.view(talk.agent, talk.session)
        if view is not None:  # the host is about to let go of all of it
            app.talks.fold(view, Shown(0, every=1))
    return taken


def _context(app: App, call: Call, talk: HostTalk, begins: str, prompt: str) -> tuple[str, Given]:
    """Return what the host is told at an event that asks, and what it has then."""
    from vaultmind.session.capture import Given

    if begins:
        app.capture.begins(talk, begins)
    start = talk.owed
    text = _start(app, call, talk, start) if start else ""
    recalled, given = ("", Given()) if begins else _recalled(app, call, talk, prompt)
    return "\n\n".join(filter(None, (text, recalled))), replace(given, start=start)


def _start(app: App, call: Call, talk: HostTalk, source: str) -> str:
    """Return the context at the start of a conversation, or after the host let go of it."""
    from vaultmind.serve.ops.context import start_of
    from vaultmind.serve.ops.suggestions import waiting_words

    summary: list[str] = []
    if source == "compact" and talk.session:
        summary = [text for text, _ in _parts(app, call, talk, ("summary",))]
    start = start_of(app, call, session=talk.session)
    said = [show(start, _reader(call))]
    if summary and not start.context.parts:
        said = [waiting_words(start.waiting), DATA]
    ending = [BEGUN]
    if app.gate.keeps_records(talk.agent):
        ending.append(NOTED)
        if app.config.episodes.hook and app.config.episodes.keep:
            session = talk.conversation.removeprefix(f"{CLIENT}:")
            ending.append(RECORDED.format(session=session))
    return "\n\n".join(filter(None, (*said, *summary, " ".join(ending))))


def _recalled(app: App, call: Call, talk: HostTalk, prompt: str) -> tuple[str, Given]:
    """Return what a prompt brings to mind that the host does not have before it, and what it is.

    Of the conversation itself that is only what a compaction took away. What the host is known
    to have been given is not given again until it lets go of it.
    """
    from vaultmind.session.capture import Given

    if not prompt.strip() or COMMAND.fullmatch(prompt.strip()):
        return "", Given()
    wanted = ("memory", "associations", *(["earlier"] if talk.compacted else []))
    parts = _parts(
        app,
        call,
        talk,
        wanted,
        pending=(prompt,),
        known=frozenset(talk.held),
        shown=tuple(talk.shown),
        fresh=not talk.session,
    )
    if not parts:
        return "", Given()
    messages = frozenset(id_ for _, part in parts for id_ in part.messages)
    told = "\n\n".join([DATA, *(text for text, _ in parts)])
    return told, Given("", messages, tuple(part.text for _, part in parts))


def _parts(
    app: App,
    call: Call,
    talk: HostTalk,
    wanted: tuple[str, ...],
    **asked: Any,  # noqa: ANN401
) -> list[tuple[str, Part]]:
    """Return some parts of a context, each with its text as the host is given it."""
    from vaultmind.serve.ops.context import FRAME_TOKENS, Built, part_text
    from vaultmind.session.parts import PART_NAMES, BuildRequest

    request = BuildRequest(
        talk.agent,
        talk.session,
        frame_tokens=FRAME_TOKENS,
        without=frozenset(one for one in PART_NAMES if one not in wanted),
        **asked,
    )
    built, to = (
        Built(app.builder.build(request, call.caller), own=True),
        _reader(call),
    )
    return [(to.text(part_text(built, part)), part) for part in built.context.parts]


def _reader(call: Call) -> Reader:
    return Reader(mark_for(call.caller))


@operation("What a sub-agent should read first", surfaces=LOCAL)
def before_task(
    app: App,
    call: Call,
    prompt: Annotated[str, Arg("What the sub-agent is asked.", min=1, max=MAX_TASK, loose=True)],
    cwd: Annotated[str, Arg("The folder that the work happens in.", min=1, max=MAX_PATH)],
    session_id: Annotated[str, Arg("What the host calls the conversation.", max=MAX_ID)] = "",
) -> TaskOpening:
    """Plan what a host's sub-agent should read first, over the source that it works in.

    Nothing where that is switched off, in a folder that is no source, where nothing belongs to the
    task, and where it was planned before: a prompt may be handed on.
    """
    from vaultmind.planner.task import names_nothing
    from vaultmind.serve.ops.plans import context_plan

    folder = Path(cwd)
    is_asked = app.config.plan.hook and folder.is_absolute()
    source = app.sources.holding(folder) if is_asked else None
    if source is None or OPENING in prompt or names_nothing(prompt):
        return TaskOpening(source.name if source else "")
    planned = context_plan(
        app,
        call,
        prompt,
        source.name,
        token_budget=PLAN_TOKENS,
        latency_budget_ms=PLAN_MS,
        session_id=session_id,
    )
    if not (files := planned.plan.context.files):
        return TaskOpening(source.name)
    text = show(planned, _reader(call))
    return TaskOpening(source.name, files, Verbatim(f"{OPENING}\n\n{text}\n\n{TASK}\n\n"))


@words(TaskOpening)
def _opening_words(opening: TaskOpening, to: Reader) -> Iterator[str]:
    yield opening.text


@operation("What a tool was used on", writes=True, surfaces=LOCAL)
def after_tool(
    app: App,
    call: Call,
    session_id: HostSession,
    transcript_path: Annotated[str, Arg("Where the host writes it down.", max=MAX_PATH)] = "",
    id: Annotated[str, Arg("What the host calls the use.", max=MAX_ID)] = "",
    at: Moment = 0.0,
    took: Annotated[float, Arg("How many seconds it took; 0: nobody knows.", min=0)] = 0.0,
    tool: Annotated[str, Arg("The tool's name.", max=MAX_ID)] = "",
    cwd: Annotated[str, Arg("The folder that the work happens in.", max=8192)] = "",
    reads: Annotated[Files, Arg("Files that were read.", max=20)] = (),
    edits: Annotated[Files, Arg("Files that were changed.", max=20)] = (),
    made: Annotated[bool, Arg("Whether what was changed is new.")] = False,
    found: Annotated[Files, Arg("Files that a search found.", max=20)] = (),
    query: Annotated[str, Arg("What was searched for.", max=MAX_ID, loose=True)] = "",
    runs: Annotated[Files, Arg("Checks: `yes pytest`, `no npm test`.", max=20)] = (),
    commits: Annotated[bool, Arg("Whether it may have committed something.")] = False,
    chars: Annotated[int, Arg("How long what was read is.", min=0)] = 0,
) -> ToolUse:
    """Take notice of what a host's tool was used on: it goes into the conversation's episode.

    Returns at once, written down or not.
    """
    if not app.config.episodes.hook:
        return ToolUse(waits=False)
    caller = Caller("agent", app.target(call.caller, ""), CLIENT)
    catch_up_hooks(app)
    noted = _noted(
        app, caller, session_id, transcript_path, at, id=id, took=took, cwd=cwd, reads=reads,
        edits=edits, made=made, found=found, query=query, runs=runs, commits=commits, chars=chars,
    )  # fmt: skip
    with suppress(TimeoutError):
        noted.result(WRITING_SECONDS)
    return ToolUse(waits=not noted.done())


@words(ToolUse)
def _no_words(use: ToolUse, to: Reader) -> Iterator[str]:
    """Yield nothing: nobody is told."""
    yield ""


def _noted(
    app: App,
    caller: Caller,
    session_id: str,
    transcript_path: str = "",
    at: float = 0.0,
    tool: str = "",
    **use: Any,  # noqa: ANN401
) -> Future[None]:
    from vaultmind.episodes.watch import Use
    from vaultmind.memory.audit import moment, newest_first
    from vaultmind.session.transcripts import last_prompt

    def asked() -> str:
        """Return the last prompt; nothing where it was said before anything was forgotten.

        No session may have taken it down, so nobody can tell whether it said that.
        """
        message = last_prompt(transcript_path) if transcript_path else None
        lines = newest_first(app.paths, app.paths.agent_names(), ("forget", "erase"))
        gone = next((line.moment for line in lines), -1.0)
        return message.text if message and moment(message.time) > gone else ""

    seen = Use(time=_moment(app, at).isoformat(timespec="seconds"), **use)
    return app.watching.used(caller, session_id, seen, asked)


# --- what hooks left ----------------------------------------------------------------------


def catch_up_hooks(app: App) -> None:
    """Make up for what hooks left, in the background; a bad event is dropped.

    It is done with only once its transcript is read: a daemon may be killed at any time.
    """
    from vaultmind.session import spool

    with _SPOOL:
        for path, events in spool.take(os.fspath(app.config.state_dir)):
            talks: list[HostTalk] = []
            for event in events:
                try:
                    talks += _taken_up(app, event)
                except VaultMindError as error:
                    log.warning("what a hook left was dropped: %s", error)
            app.capture.later(partial(_finish, app, path, talks))


def _finish(app: App, path: str, talks: list[HostTalk]) -> None:
    from vaultmind.session import spool

    try:
        for talk in talks:
            app.capture.finish(talk)
    except (VaultMindError, OSError) as error:
        log.warning("what a hook left waits on: %s", error)
        spool.give_back(path)
    else:
        app.watching.then(partial(spool.drop, path))


def _taken_up(app: App, event: dict[str, Any]) -> list[HostTalk]:
    """Take up a tool's use, or a conversation that began, grew or ended: it is to be read."""
    told = {name: str(event.get(name) or "") for name in ("agent", "session_id", "source")}
    if "source" not in event:
        use = OPERATIONS["after_tool"].check(
            {name: event[name] for name in event if name != "agent"}
        )
        if app.config.episodes.hook:
            _noted(app, Caller("agent", agent_name(told["agent"]), CLIENT), **use)
        return []
    path = str(event.get("transcript_path") or "")
    talk = app.capture.talk(told["agent"], told["session_id"], path)
    if event.get("end"):
        talk.ends = True
        if app.config.episodes.hook:
            app.watching.ended(talk.caller, told["session_id"])
    elif told["source"]:
        app.capture.begins(talk, told["source"])
    return [talk]


def catch_up_uses(app: App) -> None:
    """Have written down what hooks told of tools so far, as somebody asks for an episode."""
    catch_up_hooks(app)
    app.watching.wait(CATCH_UP_SECONDS)


def catch_up(app: App) -> None:
    """Write down what hooks left, what they told, and what hosts have written since.

    What is to be forgotten is looked for where it stands: what comes later would bring it back.
    """
    catch_up_uses(app)
    app.capture.catch_up()
