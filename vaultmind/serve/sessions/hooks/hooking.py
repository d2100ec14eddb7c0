"""What the daemon does when a host's hook tells of a conversation: takes it down, and reminds.

Claude Code gives SessionStart (startup, resume, clear, compact), UserPromptSubmit, PreCompact,
Stop and SessionEnd. Each takes down what was said since the last one; the first two are answered
with what the host should know and does not have before it.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from vaultmind.errors import BadArgument, VaultMindError
from vaultmind.serve.calls import fencing
from vaultmind.serve.calls.call import Call
from vaultmind.serve.calls.requests import LATEST, MAX_ID, MAX_WORDS, AgentArgs
from vaultmind.serve.calls.schema import arg
from vaultmind.serve.memory import remembering, render
from vaultmind.serve.memory.approval import waiting_words
from vaultmind.serve.sessions.building import FRAME_TOKENS, Built, part_text
from vaultmind.serve.sessions.hooks import after_tool
from vaultmind.session.capture import errands
from vaultmind.session.capture.capture import (
    WAITING_BYTES,
    Given,
    Taken,
    Talk,
    project_of,
    transcript_of,
)
from vaultmind.session.context.parts import PART_NAMES, BuildRequest, Part, PartName
from vaultmind.session.lifecycle.windows import Window
from vaultmind.session.summary import Window as Shown
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App

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
_ERRANDS = threading.Lock()
"""Whoever runs errands runs them alone: a start that is owed is owed once."""
COMMAND = re.compile(r"/[\w:-]+")
"""A prompt that asks the host for something, and nobody for an answer."""


@dataclass(frozen=True, slots=True)
class HookArgs:
    """Arguments of hook: what Claude Code says of an event, as far as it is needed."""

    event: Literal["SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"] = arg(
        "What happened."
    )
    session_id: str = arg("What the host calls the conversation.", min=1, max=MAX_ID)
    transcript_path: str = arg("Where the host writes it down.", min=1, max=4096)
    source: str = arg("Of SessionStart: startup, resume, clear, compact.", default="", max=MAX_ID)
    reason: str = arg("Of SessionEnd.", default="", max=MAX_ID)
    prompt: str = arg("Of UserPromptSubmit: what the person typed.", default="", max=MAX_WORDS)
    cwd: str = arg("The folder that the conversation is held in.", default="", max=4096)
    parents: tuple[int, ...] = arg("Processes that started the hook.", default=(), max=8)
    at: float = arg("When, in seconds since 1970; 0: now.", default=0.0, min=0, max=LATEST)
    delivered: str = arg("Nothing happened, but the host has this answer.", default="", max=MAX_ID)
    agent: str = arg("Whose memory; default: the caller's.", default="")


@dataclass(frozen=True, slots=True)
class Hooked:
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


def hook(app: App, call: Call, args: HookArgs) -> Hooked:
    """Take down what a host's conversation has grown by, and return what the host should know.

    Raises BadArgument for a transcript that is no regular file of this user, or for an agent
    that names another.
    """
    target = app.target(call.caller, args.agent)
    if call.caller.kind == "agent" and target != call.caller.agent:
        raise BadArgument("agent", target, "your own")
    caller = Caller("agent", target, CLIENT)
    talk = app.capture.talk(transcript_of(target, args.session_id, args.transcript_path), caller)
    if args.delivered:
        talk.delivered(args.delivered)
        return Hooked(args.event, target, talk.session, new=0, more=False)
    app.windows.told(_window(talk, args))
    run_errands(app)
    _watch(app, caller, args)
    taken = _taken(app, talk, args)
    told = Hooked(args.event, target, talk.session, taken.new, taken.more)
    if args.event not in ANSWERED:
        run_errands(app)  # a hook that did not wait for this has left one
        return told
    context, given = _context(app, replace(call, caller=caller), talk, args)
    return replace(told, session=talk.session, context=context, given=talk.offer(given))


def _window(talk: Talk, args: HookArgs) -> Window:
    """Return what a hook tells of the window that its conversation is held in."""
    return Window(
        talk.transcript.agent,
        talk.transcript.conversation,
        folder=args.cwd,
        project=project_of(args.cwd),
        parents=args.parents,
        over=args.event == "SessionEnd",
    )


def _watch(app: App, caller: Caller, args: HookArgs) -> None:
    """Let the episodes know of a prompt, of the end of a turn and of a conversation."""
    if not app.config.episodes.hook:
        return
    after_tool.take_left(app, caller.agent or "", args.session_id)
    if args.event == "UserPromptSubmit":
        now = app.clock()
        when = min(now, datetime.fromtimestamp(args.at, now.tzinfo)) if args.at else now
        app.watching.prompted(caller, args.session_id, args.prompt, args.cwd, when)
    elif args.event == "Stop":
        app.watching.paused(caller, args.session_id)
    elif args.event == "SessionEnd":
        app.watching.ended(caller, args.session_id)


def _taken(app: App, talk: Talk, args: HookArgs) -> Taken:
    """Take down what a conversation has grown by, and do what the event asks for besides."""
    if args.event in ANSWERED:
        return app.capture.take(talk, WAITING_BYTES, wait=False)
    if args.event == "SessionEnd" and args.reason != "clear":
        return app.capture.end(talk)
    taken = app.capture.take(talk)
    if args.event == "SessionEnd":
        app.capture.cleared(talk)
    elif args.event == "PreCompact":
        _fold(app, talk)
    return taken


def words(response: Hooked, mark: str = "") -> str:
    """Return what the host should know."""
    return response.context


def _context(app: App, call: Call, talk: Talk, args: HookArgs) -> tuple[str, Given]:
    """Return what the host is told at an event that asks, and what it has then."""
    if args.event == "SessionStart":
        talk.owed = args.source or "startup"
        app.capture.begins(talk, talk.owed)
    start = talk.owed
    text = _start(app, call, talk, start) if start else ""
    if args.event == "SessionStart":
        return text, Given(start)
    recalled, given = _recalled(app, call, talk, args.prompt)
    return "\n\n".join(filter(None, (text, recalled))), replace(given, start=start)


def _start(app: App, call: Call, talk: Talk, source: str) -> str:
    """Return the context at the start of a conversation, or after the host let go of it."""
    from vaultmind.serve.calls.call import mark_for

    mark = mark_for(call.caller)
    summary: list[str] = []
    if source == "compact" and talk.session:
        request = _request(talk, frozenset({"summary"}))
        summary = [part_text(built, part, mark) for built, part in _parts(app, call, request)]
    start = remembering.start_context(app, call, AgentArgs(), talk.session)
    said = [render.context(start, mark)]
    if summary and not start.context.parts:
        said = [waiting_words(start.waiting), fencing.DATA]
    ending = [BEGUN]
    if app.gate.keeps_records(talk.transcript.agent):
        ending.append(NOTED)
        if app.config.episodes.hook and app.config.episodes.keep:
            session = talk.transcript.conversation.removeprefix(f"{CLIENT}:")
            ending.append(RECORDED.format(session=session))
    return "\n\n".join(filter(None, (*said, *summary, " ".join(ending))))


def _recalled(app: App, call: Call, talk: Talk, prompt: str) -> tuple[str, Given]:
    """Return what a prompt brings to mind that the host does not have before it, and what it is.

    Of the conversation itself that is only what a compaction took away. What the host is known
    to have been given is not given again until it lets go of it.
    """
    if not prompt.strip() or COMMAND.fullmatch(prompt.strip()):
        return "", Given()
    wanted: set[PartName] = {"memory", "associations"}
    if talk.compacted:
        wanted.add("earlier")
    request = replace(
        _request(talk, frozenset(wanted)),
        pending=(prompt,),
        known=frozenset(talk.held),
        shown=tuple(talk.shown),
        fresh=not talk.session,
    )
    from vaultmind.serve.calls.call import mark_for

    mark = mark_for(call.caller)
    parts = _parts(app, call, request)
    if not parts:
        return "", Given()
    texts = [fencing.DATA, *(part_text(built, part, mark) for built, part in parts)]
    messages = frozenset(id_ for _, part in parts for id_ in part.messages)
    return "\n\n".join(texts), Given("", messages, tuple(part.text for _, part in parts))


def _request(talk: Talk, wanted: frozenset[PartName]) -> BuildRequest:
    """Return what is asked of the builder: some parts, each as large as it is configured to be."""
    return BuildRequest(
        talk.transcript.agent,
        talk.session,
        frame_tokens=FRAME_TOKENS,
        without=frozenset(PART_NAMES) - wanted,
    )


def _parts(app: App, call: Call, request: BuildRequest) -> list[tuple[Built, Part]]:
    context = app.builder.build(request, call.caller)
    return [(Built(context, own=True), part) for part in context.parts]


def _fold(app: App, talk: Talk) -> None:
    """Fold all of a conversation into its summary: the host is about to let go of it."""
    view = app.talks.view(talk.transcript.agent, talk.session) if talk.session else None
    if view is not None:
        app.talks.fold(view, Shown(0, every=1))


def run_errands(app: App, *, starts: bool = True) -> None:
    """Do what hooks left to be done; a bad errand is dropped, one that fails waits on.

    It is done with only once its transcript is read: a daemon may be killed at any time. Without
    `starts` a conversation that goes on and is owed its start is only taken down: its errand is
    left to its next hook.
    """
    with _ERRANDS:
        after_tool.take_left(app)
        for path, errand in errands.waiting(os.fspath(app.config.state_dir)):
            waits = bool(errand.get("source")) and not starts and not errand.get("end")
            try:
                _run_errand(app, path, errand, waits=waits)
            except Exception:  # one odd errand must not keep the others, and every hook, waiting
                log.exception("an errand waits on: %s", path)


def _run_errand(app: App, path: str, errand: dict[str, Any], *, waits: bool) -> None:
    text = {name: str(errand.get(name) or "") for name in ("agent", "session_id", "source")}
    try:
        named = str(errand.get("transcript_path") or "")
        transcript = transcript_of(text["agent"], text["session_id"], named)
        talk = app.capture.talk(transcript, Caller("agent", transcript.agent, CLIENT))
        talk.ends = talk.ends or bool(errand.get("end"))
        if errand.get("end") and app.config.episodes.hook:
            app.watching.ended(talk.caller, text["session_id"])
        taken = app.capture.take(talk, WAITING_BYTES, wait=False)
        if waits:
            return
        if text["source"]:
            app.capture.begins(talk, text["source"])
            talk.owed = text["source"]
        if taken.more:
            errands.begun(path, errand)
            return
    except BadArgument as error:
        log.warning("an errand was dropped: %s", error)
    except (VaultMindError, OSError) as error:
        log.warning("an errand waits on: %s", error)
        return
    Path(path).unlink(missing_ok=True)  # another hook's call may have been as fast
