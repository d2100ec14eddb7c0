"""`session_log` and `sessions`: what is said, written down as it comes, and what there is of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from vaultmind.errors import BadArgument, NotAllowed, VaultMindError
from vaultmind.plural import counted
from vaultmind.serve.calls.call import known_agent
from vaultmind.serve.calls.requests import MAX_ID, MAX_TEXT, MAX_WORDS
from vaultmind.serve.calls.schema import arg, to_json
from vaultmind.serve.sessions import reporting
from vaultmind.session.imports.record import TOOL_CHARS
from vaultmind.session.records.keepable import beginning
from vaultmind.session.records.store import parse_time, read_session
from vaultmind.types import Caller, How, Message
from vaultmind.vault.session_meta import PIPE, is_hosts
from vaultmind.vault.transcript import Transcript

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.serve.calls.call import Call
    from vaultmind.session.lifecycle.lifecycle import SessionLog
    from vaultmind.session.records.shelf import Head

MAX_MESSAGES = 500
"""Messages of one call."""
CLOCKS_DIFFER = timedelta(minutes=1)
SHOWN_SESSIONS = 20


@dataclass(frozen=True, slots=True)
class Said:
    """One message, as whoever logs it tells it."""

    text: str = arg("Word for word.", min=1, max=MAX_WORDS)
    role: Literal["user", "assistant", "tool", "system"] = arg("", default="user")
    id: str = arg("Yours: it is written once.", default="", max=MAX_ID)
    time: str = arg("ISO 8601; default: now.", default="", format="date")
    speaker: str = arg("", default="", max=MAX_TEXT)
    tool: str = arg("The tool's name, for a result.", default="", max=MAX_ID)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogArgs:
    """Arguments of session_log."""

    messages: tuple[Said, ...] = arg("In order.", default=(), max=MAX_MESSAGES)
    new_segment: bool = arg("A new subject begins, before these.", default=False)
    end: bool = arg("The conversation is over, after these.", default=False)
    recap: str = arg(
        "With end: what was decided and is open, in a few sentences.",
        default="",
        max=reporting.MAX_RECAP,
    )
    facts: tuple[reporting.Stated, ...] = arg(
        "With end: what they said of themselves that lasts.",
        default=(),
        max=reporting.MAX_FACTS,
    )
    session: str = arg("Its id; default: this one.", default="", max=MAX_ID)
    agent: str = arg("Yours.", default="")


@dataclass(frozen=True, slots=True)
class LoggedSession:
    """What a call wrote down."""

    agent: str
    session: str
    """Empty where there is none."""
    segment: int
    new: int
    known: int
    """Messages that stood there already."""
    ended: bool
    message: str
    """What came of it, in words."""
    report: reporting.Report = reporting.NOTHING
    """What became of the facts and the recap that were told."""


@dataclass(frozen=True, slots=True)
class SessionsArgs:
    """Arguments of sessions."""

    limit: int = arg("At most, the newest; 0: all.", default=SHOWN_SESSIONS, min=0)
    agent: str = arg("Whose; default: yours.", default="")


@dataclass(frozen=True, slots=True)
class Listed:
    """A session, in numbers."""

    id: str
    path: str
    state: str
    started: str
    ended: str
    messages: int
    segments: int
    topics: tuple[str, ...]
    source: str
    """The name it had where it was imported from."""
    conversation: str
    """The host's own name of it, or that of the client's pipe."""
    fault: str = ""
    """Why it cannot be read."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """An agent's sessions, oldest first."""

    agent: str
    sessions: tuple[Listed, ...]
    more: int
    """Older ones that are not listed."""


def run(app: App, call: Call, args: LogArgs) -> LoggedSession:
    """Write messages down, begin a segment, end a session, take what it leaves: in this order.

    Raises NotAllowed for an agent that keeps no records or means another's, BadArgument for a
    call that asks for nothing or a session that is over, NotFound for a session or an agent that
    is not there.
    """
    if not (args.messages or args.new_segment or args.end):
        allowed = "messages, new_segment or end"
        raise BadArgument("messages", args.messages, allowed, missing=True)
    reporting.check(args.recap, args.facts, end=args.end)
    caller, agent = call.caller, app.target(call.caller, args.agent)
    if caller.kind == "agent" and agent != caller.agent:
        raise NotAllowed(f"{caller.agent} may log its own conversations, not those of {agent}.")
    known_agent(app, caller, args.agent)
    now = app.clock()
    conversation = _conversation(app, caller, agent, args, now)
    messages = [
        _message(one, number, _how(caller), now) for number, one in enumerate(args.messages)
    ]
    log: SessionLog = app.sessions
    logged = log.log_many(
        agent,
        messages,
        caller=caller,
        now=now,
        conversation=conversation,
        new_segment=args.new_segment,
    )
    app.search_feedback.cited_in(agent, messages)
    named, session, ended = args.session.strip(), logged.session, ""
    meant = session or named or log.open_session(agent, conversation, now=now)
    # The facts first: an ended session is read by consolidation, which then knows them.
    told = reporting.take(app, caller, agent, meant, "", args.facts)
    is_hosts_end = not named and is_hosts(conversation)
    if args.end and not is_hosts_end:
        ended = log.end(agent, session=named, conversation=conversation, caller=caller, now=now)
    elif args.end:
        session = session or log.open_session(agent, conversation, now=now)
    known = len(logged.refs) - logged.new
    response = LoggedSession(
        agent, ended or session, logged.segment, logged.new, known, bool(ended), ""
    )
    report = reporting.take(app, caller, agent, response.session or named, args.recap, ())
    report = replace(report, facts=told.facts)
    return _with_words(replace(response, report=report), args, is_hosts_end=is_hosts_end)


def words(response: LoggedSession, mark: str = "") -> str:
    """Return what came of it."""
    told = reporting.words(response.report, mark)
    return f"{response.message} {told}" if told else response.message


def as_json(response: LoggedSession, mark: str = "") -> dict[str, Any]:
    """Return what a call wrote down, and what became of what was told."""
    body = dict(to_json(response))
    del body["report"]
    return body | {
        "message": words(response, mark),
        "facts": [reporting.fact_json(one, mark) for one in response.report.facts],
        "recap": to_json(response.report.recap),
    }


def listed(app: App, call: Call, args: SessionsArgs) -> Sessions:
    """Return an agent's sessions, the newest of them."""
    agent = known_agent(app, call.caller, args.agent)
    heads = app.sessions.heads(agent)
    shown = heads[-args.limit :] if args.limit else heads
    rows = tuple(_listed(app, agent, head) for head in shown)
    return Sessions(agent, rows, len(heads) - len(rows))


def listed_words(response: Sessions, mark: str = "") -> str:
    """Return the sessions, a line each."""
    if not response.sessions:
        return f"{response.agent} has no sessions yet."
    older = [f"… and {response.more} older ones."] if response.more else []
    lines = [
        f"{one.id} {one.state}, {counted(one.messages, 'message')} {', '.join(one.topics)}".strip()
        for one in response.sessions
    ]
    return "\n".join([*older, *lines])


def _conversation(app: App, caller: Caller, agent: str, args: LogArgs, now: datetime) -> str:
    """Return the conversation of a session that is named, else the one that the caller is in.

    Only the open session of a conversation can be added to: raises BadArgument for one that is
    over. A person who names none means the running one: of several clients' none.
    """
    named = args.session.strip()
    if not named and caller.kind == "agent":
        return caller.conversation
    if not named:
        heads = [] if app.sessions.open_session(agent, now=now) else app.sessions.heads(agent)
        pipes = {one.meta.conversation for one in heads if one.is_open}
        pipes = {one for one in pipes if one.startswith(PIPE)}
        running = [one for one in pipes if app.sessions.open_session(agent, one, now=now)]
        return running[0] if len(running) == 1 else ""
    _, transcript = read_session(app.reader, app.paths, agent, named)
    conversation = transcript.meta.conversation
    adds = args.messages or args.new_segment
    if adds and app.sessions.open_session(agent, conversation, now=now) != named:
        raise BadArgument("session", named, "a session that is open; without one, a new one begins")
    return conversation


def _message(one: Said, number: int, how: How, now: datetime) -> Message:
    """Return a message as it is kept. Of a tool's result that is its beginning."""
    is_tool = one.role == "tool"
    return Message(
        role=one.role,
        text=beginning(one.text, TOOL_CHARS) if is_tool else one.text,
        time=_time(one.time, number, now),
        id=one.id.strip(),
        speaker=(one.tool.strip() or one.speaker if is_tool else one.speaker).strip(),
        how=how,
    )


def _time(given: str, number: int, now: datetime) -> str:
    """Return a time that was told; nothing for one in the future, which cannot be."""
    if not given:
        return ""
    try:
        return given if parse_time(given) <= now + CLOCKS_DIFFER else ""
    except (ValueError, OverflowError) as error:
        allowed = "ISO 8601, e.g. 2026-02-20T10:00:03+01:00"
        raise BadArgument(f"messages[{number}].time", given, allowed) from error


def _how(caller: Caller) -> How:
    return "cli" if caller.kind == "person" else "reported"


def _with_words(response: LoggedSession, args: LogArgs, *, is_hosts_end: bool) -> LoggedSession:
    """Return it with what came of it in words. A host's own conversation is ended by the host."""
    said = []
    if args.messages:
        known = f", {response.known} stood there already" if response.known else ""
        where = f"{response.session} of {response.agent}, segment {response.segment}"
        said.append(f"{counted(response.new, 'message')} written down in {where}{known}.")
    elif args.new_segment and response.session:
        said.append(
            f"Segment {response.segment} of {response.session} of {response.agent} has begun."
        )
    elif args.new_segment:
        said.append(f"{response.agent} has no conversation open: the next message begins one.")
    if args.end and is_hosts_end:
        said.append("The conversation is written down by its host, which ends it.")
    elif args.end:
        over = f"{response.session} of {response.agent} has ended."
        said.append(over if response.ended else f"{response.agent} has no conversation open.")
    return replace(response, message=" ".join(said))


def _listed(app: App, agent: str, head: Head) -> Listed:
    path = app.paths.session(agent, head.id)
    fault = ""
    try:
        transcript = app.sessions.read(agent, head.id)
    except VaultMindError as error:
        transcript, fault = Transcript(head.meta, ()), str(error)
    meta = transcript.meta
    return Listed(
        id=head.id,
        path=path,
        state=meta.state,
        started=meta.started,
        ended=meta.ended,
        messages=sum(not one.message.asked for one in transcript.messages),
        segments=max(meta.segments, transcript.segment),
        topics=meta.topics or transcript.topics,
        source=meta.source,
        conversation=meta.conversation,
        fault=fault,
    )
