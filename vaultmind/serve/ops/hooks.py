"""What the daemon does when a host's hook tells of a conversation: takes it down, and reminds.

Claude Code gives SessionStart (startup, resume, clear, compact), UserPromptSubmit, PreCompact,
Stop and SessionEnd. Each takes down what was said since the last one; the first two are answered
with what the host should know and does not have before it. Before a sub-agent starts it is told
what that should read first. What tools were used on, and what a hook could not tell, lies in the
state folder until the daemon looks there, every second, or the next hook or a question about an
episode does.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from vaultmind.errors import VaultMindError
from vaultmind.serve import op
from vaultmind.serve.call import Call, mark_for
from vaultmind.serve.op import Arg, operation
from vaultmind.serve.show import DATA, Reader, Recalled, Row, Verbatim, show
from vaultmind.types import Caller
from vaultmind.vault.paths import agent_name

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.session.capture import HostTalk
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
HEARD = "The person asked the memory for this, and it is done: tell them, and do not do it again."
ASKED = (
    "The person seems to ask something of the memory: pass their words to memory_update as "
    "`utterance`, and tell them what came of it."
)
ANSWERED = ("SessionStart", "UserPromptSubmit")
"""Events whose hooks wait for what they are told; the others only tell."""
LATEST = 32_503_680_000
"""The year 3000, in seconds since 1970: what is later is no time."""
COMMAND = re.compile(r"/[\w:-]+")
"""A prompt that asks the host for something, and nobody for an answer."""
PLAN_TOKENS, PLAN_MS = 2000, 100
"""Of a plan before a sub-agent's prompt: it reads on by itself."""
CATCH_UP_SECONDS = 10.0
"""Seconds that a daemon that has just started may need to open a linked folder."""
OPENING = "Read this first: what VaultMind found worth reading for the task below."
_SPOOL = threading.Lock()
"""Held by whoever takes up what hooks left: a start that is owed is owed once."""

Event = Literal["SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"]
HostSession = Annotated[str, Arg("What the host calls the conversation.", min=1, max=op.MAX_ID)]
Transcript = Annotated[str, Arg("Where the host writes it down.", max=op.MAX_PATH)]
Moment = Annotated[float, Arg("When, in seconds since 1970; 0: now.", min=0, max=LATEST)]
Folder = Annotated[str, Arg("The folder that the work happens in.", max=2 * op.MAX_PATH)]


@operation("What a host's hook tells", writes=True, surfaces=op.LOCAL)
def hook(
    app: App,
    call: Call,
    event: Annotated[Event, Arg()],
    session_id: HostSession,
    transcript_path: Transcript,
    source: Annotated[str, Arg("startup, resume, clear, compact.", max=op.MAX_ID)] = "",
    prompt: Annotated[str, Arg("What the person typed.", max=op.MAX_WORDS)] = "",
    cwd: Folder = "",
    at: Moment = 0.0,
) -> Row:
    """Take down what a host's conversation has grown by, from the transcript it writes; answer
    with what the host should know.

    Raises BadArgument for a transcript that is no regular file of this user.
    """
    from vaultmind.session.capture import WAITING_BYTES

    talk = app.capture.talk(app.target(call.caller, ""), session_id, transcript_path, cwd)
    catch_up_hooks(app)
    if event == "UserPromptSubmit" and app.config.episodes.hook:
        app.watching.prompted(talk.caller, session_id, prompt, cwd, _moment(app, at))
    _heard(app, talk, session_id, event, source)
    most = {"max_bytes": WAITING_BYTES} if event in ANSWERED else {}
    answer = Row(new=app.capture.take(talk, **most), session=talk.session, context="")
    view = app.talks.view(talk.agent, talk.session) if event == "PreCompact" else None
    if talk.session and view:  # the host is about to let go of all of it
        app.talks.fold(view, 0)
    if event in ANSWERED:
        call = replace(call, caller=talk.caller)
        prompt = prompt if event == "UserPromptSubmit" else ""
        text = _start(app, call, talk, session_id) if talk.owed else ""
        parts = text, _asked(app, call, talk, prompt), _recalled(app, call, talk, prompt)
        answer["context"] = Verbatim("\n\n".join(filter(None, parts)))
        talk.owed = ""
    return answer


def _heard(app: App, talk: HostTalk, session: str, event: str, source: str) -> None:
    """Take notice of a conversation that begins or ends, and of a turn that is over."""
    if event == "SessionStart":
        app.capture.begins(talk, source or "startup")
    talk.ends = talk.ends or event == "SessionEnd"
    if event in ("Stop", "SessionEnd") and app.config.episodes.hook:
        over = app.watching.paused if event == "Stop" else app.watching.ended
        over(talk.caller, session)


def _moment(app: App, at: float) -> datetime:
    """Return a time of a hook's clock; now where there is none, or it would be in the future."""
    now: datetime = app.clock()
    return min(now, datetime.fromtimestamp(at, now.tzinfo)) if at else now


def _start(app: App, call: Call, talk: HostTalk, session_id: str) -> str:
    """Return the context at the start of a conversation, or after the host let go of it."""
    from vaultmind.serve.ops.changes import waiting_for
    from vaultmind.serve.ops.context import start_of

    compacted = talk.owed == "compact" and talk.session
    summary = [text for text, _ in _parts(app, call, talk, ("summary",))] if compacted else []
    start = start_of(app, call, session=talk.session)
    said = [show(start, Reader(mark_for(call.caller)))]
    if summary and not start["parts"]:
        said = [waiting_for(app, call.caller)[1], DATA]
    ending = [BEGUN]
    if app.gate.keeps_records(talk.agent):
        hook = app.config.episodes.hook and app.config.episodes.keep
        ending += [NOTED, *([RECORDED.format(session=session_id)] if hook else [])]
    return "\n\n".join(filter(None, (*said, *summary, " ".join(ending))))


def _asked(app: App, call: Call, talk: HostTalk, prompt: str) -> str:
    """Do what a prompt surely asks to have remembered, or not kept; return what the host should
    say of it.

    Whatever else it asks of the memory is left to the host, which understands it better.
    """
    from vaultmind.session.unkept import is_off

    asked = app.voice.words.understand(prompt).intent if prompt.strip() else "none"
    if asked != "remember" and not is_off(prompt):
        return "" if asked in ("none", "recall", "show_memory") else ASKED
    told = app.voice.hear(replace(call.caller, conversation=talk.conversation), talk.agent, prompt)
    message = Recalled(told.message, told.outcome.path or "memory")
    return f"{HEARD}\n{Reader(mark_for(call.caller)).text(message)}"


def _recalled(app: App, call: Call, talk: HostTalk, prompt: str) -> str:
    """Return what a prompt brings to mind that the host does not have before it.

    Of the conversation itself that is only what a compaction took away. What the host was given
    is not given again until it lets go of it.
    """
    asks = bool(prompt.strip()) and not COMMAND.fullmatch(prompt.strip())
    wanted = ("memory", "associations", *(["earlier"] if talk.compacted else []))
    known = {"known": frozenset(talk.held), "shown": tuple(talk.shown), "fresh": not talk.session}
    parts = _parts(app, call, talk, wanted, pending=(prompt,), **known) if asks else []
    for _, part in parts:
        talk.given(part)
    return "\n\n".join([DATA, *(text for text, _ in parts)]) if parts else ""


def _parts(app: App, call: Call, talk: HostTalk, wanted: tuple[str, ...], **asked: Any) -> list[tuple[str, Part]]:  # noqa: ANN401, E501  # fmt: skip
    """Return some parts of a context, each with its text as the host is given it."""
    from vaultmind.serve.ops.context import FRAME_TOKENS, part_text
    from vaultmind.session.parts import PART_NAMES, BuildRequest

    without = frozenset(PART_NAMES) - {*wanted}
    request = BuildRequest(
        talk.agent, talk.session, frame_tokens=FRAME_TOKENS, without=without, **asked
    )
    built, to = app.builder.build(request, call.caller), Reader(mark_for(call.caller))
    return [(to.text(part_text(part, own=True)), part) for part in built.parts]


@operation("What a sub-agent should read first", surfaces=op.LOCAL)
def before_task(
    app: App,
    call: Call,
    prompt: Annotated[str, Arg("What the sub-agent is asked.", min=1, max=op.MAX_TASK, loose=True)],
    cwd: Folder,
    session_id: Annotated[str, Arg("What the host calls the conversation.", max=op.MAX_ID)] = "",
) -> Row:
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
        return Row(text="")
    app.watching.delegates(call.caller, session_id, cwd)
    bounds: dict[str, Any] = {"token_budget": PLAN_TOKENS, "latency_budget_ms": PLAN_MS}
    planned = context_plan(app, call, prompt, source.name, session_id=session_id, **bounds)
    if not planned["context"]["files"]:
        return Row(text="")
    shown = show(planned, Reader(mark_for(call.caller)))
    return Row(text=Verbatim(f"{OPENING}\n\n{shown}\n\nThe task:\n\n"))


# --- what hooks left ----------------------------------------------------------------------


def catch_up_hooks(app: App) -> None:
    """Make up for what hooks left, in the background; a bad event is dropped.

    It is done with only once its transcript is read: a daemon may be killed at any time.
    """
    from vaultmind.session import spool

    with _SPOOL:
        for path, events in spool.take(os.fspath(app.config.state_dir)):
            for event in events:
                try:
                    _take_up(app, event)
                except (VaultMindError, ValueError, OverflowError) as error:
                    log.warning("what a hook left was dropped: %s", type(error).__name__)
            app.capture.then(partial(app.watching.then, partial(os.unlink, path)))


def _take_up(app: App, event: dict[str, Any]) -> None:
    """Take up a tool's use, or a conversation that began, grew or ended: it is to be read."""
    from vaultmind.episodes.watch import Use
    from vaultmind.session.capture import HOST
    from vaultmind.tables import adapter

    names = ("agent", "session_id", "transcript_path", "source", "cwd")
    agent, session, transcript, source, cwd = (str(event.get(name) or "") for name in names)
    if "source" in event:
        talk = app.capture.talk(agent_name(agent), session, transcript, cwd)
        begins = "SessionStart" if source else ""
        _heard(app, talk, session, "SessionEnd" if event.get("end") else begins, source)
        app.capture.then(partial(app.capture.finish, talk))
    elif app.config.episodes.hook:
        time = _moment(app, float(event.get("at") or 0))
        use = adapter(Use).validate_python(event | {"time": time})
        caller = Caller("agent", agent_name(agent), HOST)
        app.watching.used(caller, session, use, partial(_last_prompt, app, transcript))


def _last_prompt(app: App, transcript: str) -> str:
    """Return the last prompt; nothing where it was said before anything was forgotten.

    No session may have taken it down, so nobody can tell whether it said that.
    """
    from vaultmind.episodes.watch import last_prompt
    from vaultmind.memory.audit import newest_first
    from vaultmind.times import seconds_of

    message = last_prompt(transcript) if transcript else None
    lines = newest_first(app.paths, app.paths.agent_names(), ("forget", "erase"))
    gone = next((seconds_of(line.time) for line in lines), -1.0)
    return message.text if message and seconds_of(message.time) > gone else ""


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
