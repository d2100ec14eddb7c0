"""Conversations: written down as they come, listed, and what an agent tells of them at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal

from vaultmind.errors import BadArgument, NotAllowed, VaultMindError
from vaultmind.plural import counted
from vaultmind.serve.call import Call, known_agent
from vaultmind.serve.op import LOCAL, MAX_ID, MAX_TEXT, MAX_WORDS, Arg, operation
from vaultmind.serve.show import AS_DATA, Reader, Recalled, Verbatim, dumps, plain, show, words
from vaultmind.types import Caller, Message, Section

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.consolidate.reported import Fate
    from vaultmind.session.files import Head

CLOCKS_DIFFER = timedelta(minutes=1)
SAID: dict[str, str] = {
    "written": "written",
    "suggested": "waits for the person",
    "denied": "not written",
    "unchanged": "known already",
    "not_found": "not found",
    "dropped": "not kept",
}
_DO: dict[str, str] = {
    "no evidence": "log the message first, then quote it word for word",
    "not the user's words": "quote what the person said",
    "number not in evidence": "give it as it was said",
    "name not in evidence": "give it as it was said",
    "date not in evidence": "give it as it was said",
}
"""What whoever stated a dropped fact may do, by the reason."""


@dataclass(frozen=True, slots=True)
class LoggedMessage:
    """One message, as whoever logs it tells it."""

    text: Annotated[str, Arg("Word for word.", min=1, max=MAX_WORDS)]
    role: Annotated[Literal["user", "assistant", "tool", "system"], Arg()] = "user"
    id: Annotated[str, Arg("It is written once.", max=MAX_ID)] = ""
    time: Annotated[str, Arg("ISO 8601; default: now.", day=True)] = ""
    speaker: Annotated[str, Arg(max=MAX_TEXT)] = ""
    tool: Annotated[str, Arg("For a result: its name.", max=MAX_ID)] = ""


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A fact about the person, as an agent states it."""

    text: Annotated[str, Arg("One sentence.", min=1, max=MAX_TEXT)]
    quote: Annotated[str, Arg("Their logged words.", min=1, max=MAX_TEXT)]
    section: Annotated[Section | None, Arg()] = None


@dataclass(frozen=True, slots=True)
class FactReport:
    """What became of a stated fact."""

    text: str
    outcome: str
    """As of a write; or `dropped`."""
    reason: Recalled
    """It may quote the brain."""


@dataclass(frozen=True, slots=True)
class RecapReport:
    """What became of a recap."""

    kept: int
    """Sentences that the next conversation will know."""
    left_out: tuple[tuple[str, str], ...]
    """The others, each with the reason."""


@dataclass(frozen=True, slots=True)
class LoggedSession:
    """What a call wrote down, and what became of what was told at the end."""

    agent: str
    session: str
    """Empty where there is none."""
    segment: int
    new: int
    known: int
    """Messages that stood there already."""
    ended: bool
    said: str
    """What came of it, in words."""
    facts: tuple[FactReport, ...] = ()
    recap: RecapReport | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """A session, in numbers."""

    id: str
    path: str = field(metadata=AS_DATA)
    started: str
    ended: str
    messages: int
    state: str
    segments: int = field(metadata=AS_DATA)
    title: str
    """What the person asked first."""
    topics: tuple[str, ...]
    source: str
    """The name it had where it was imported from."""
    conversation: str = field(metadata=AS_DATA)
    """The host's own name of it, or that of the client's pipe."""
    fault: str = ""
    """Why it cannot be read."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """An agent's sessions, oldest first."""

    agent: str = field(metadata=AS_DATA)
    sessions: tuple[SessionRow, ...]
    more: int = field(metadata=AS_DATA)
    """Older ones that are not listed."""
    notes: tuple[str, ...] = ()


@operation("Write the conversation down", writes=True)
def session_log(
    app: App,
    call: Call,
    messages: Annotated[tuple[LoggedMessage, ...], Arg("In order.", max=500)] = (),
    new_segment: Annotated[bool, Arg("A new subject begins.")] = False,
    end: Annotated[bool, Arg("The conversation is over.")] = False,
    recap: Annotated[str, Arg("With end: what was decided, what is open.", max=4000)] = "",
    facts: Annotated[
        tuple[StatedFact, ...], Arg("With end: what they said of themselves that lasts.", max=20)
    ] = (),
    session: Annotated[str, Arg("Default: this one.", max=MAX_ID)] = "",
    agent: Annotated[str, Arg("Yours.")] = "",
) -> LoggedSession:
    """Write down the person's messages that matter, word for word, as they come; at the end, with
    `end`, a recap and facts. What the logged words do not bear out is left out.

    In this order: a segment begins, messages are written, the session ends. Raises NotAllowed for
    an agent that keeps no records or means another's, BadArgument for a call that asks for nothing
    or a session that is over, NotFound for a session or an agent that is not there.
    """
    from vaultmind.vault.session_meta import is_hosts

    if not (messages or new_segment or end):
        raise BadArgument("messages", messages, "messages, new_segment or end", missing=True)
    for name, value in (("recap", recap), ("facts", facts)):
        if value and not end:
            raise BadArgument(name, value, "only with `end`: it is told at the end")
    caller, whose = call.caller, app.target(call.caller, agent)
    if caller.kind == "agent" and whose != caller.agent:
        raise NotAllowed(f"{caller.agent} may log its own conversations, not those of {whose}.")
    known_agent(app, caller, agent)
    now, named = app.clock(), session.strip()
    adds = bool(messages or new_segment)
    conversation = _conversation(app, caller, whose, named, now, adds=adds)
    kept = [_message(one, number, caller, now) for number, one in enumerate(messages)]
    log = app.sessions
    logged = log.log_many(
        whose, kept, caller=caller, now=now, conversation=conversation, new_segment=new_segment
    )
    app.search_feedback.cited_in(whose, kept)
    here, ended = logged.session, ""
    meant = here or named or log.open_session(whose, conversation, now=now)
    # The facts first: an ended session is read by consolidation, which then knows them.
    told, _ = _report(app, caller, whose, meant, "", facts)
    hosts = not named and is_hosts(conversation)
    if end and not hosts:
        ended = log.end(whose, session=named, conversation=conversation, caller=caller, now=now)
    elif end:
        here = here or log.open_session(whose, conversation, now=now)
    new, known = logged.new, len(logged.refs) - logged.new
    done = LoggedSession(whose, ended or here, logged.segment, new, known, bool(ended), "", told)
    _, summed = _report(app, caller, whose, done.session or named, recap, ())
    said = " ".join(
        _said(done, wrote=bool(messages), began=new_segment, ends=end, is_hosts_end=hosts)
    )
    return replace(done, recap=summed, said=said)


def _conversation(
    app: App, caller: Caller, agent: str, named: str, now: datetime, *, adds: bool
) -> str:
    """Return the conversation of a session that is named, else the one that the caller is in.

    Only the open session of a conversation can be added to: raises BadArgument for one that is
    over. A person who names none means the running one: of several clients' none.
    """
    from vaultmind.session.files import read_session
    from vaultmind.vault.session_meta import PIPE

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
    if adds and app.sessions.open_session(agent, conversation, now=now) != named:
        raise BadArgument("session", named, "a session that is open; without one, a new one begins")
    return conversation


def _message(one: LoggedMessage, number: int, caller: Caller, now: datetime) -> Message:
    """Return a message as it is kept. Of a tool's result that is its beginning."""
    from vaultmind.session.files import TOOL_CHARS, beginning

    is_tool = one.role == "tool"
    return Message(
        role=one.role,
        text=beginning(one.text, TOOL_CHARS) if is_tool else one.text,
        time=_time(one.time, number, now),
        id=one.id.strip(),
        speaker=(one.tool.strip() or one.speaker if is_tool else one.speaker).strip(),
        how="cli" if caller.kind == "person" else "reported",
    )


def _time(given: str, number: int, now: datetime) -> str:
    """Return a time that was told; nothing for one in the future, which cannot be."""
    from vaultmind.session.files import parse_time

    if not given:
        return ""
    try:
        return given if parse_time(given) <= now + CLOCKS_DIFFER else ""
    except (ValueError, OverflowError) as error:
        allowed = "ISO 8601, e.g. 2026-02-20T10:00:03+01:00"
        raise BadArgument(f"messages[{number}].time", given, allowed) from error


def _said(
    done: LoggedSession, *, wrote: bool, began: bool, ends: bool, is_hosts_end: bool
) -> Iterator[str]:
    """Yield what came of a call in words. A host's own conversation is ended by the host."""
    none = f"{done.agent} has no conversation open"
    if wrote:
        known = f", {done.known} stood there already" if done.known else ""
        where = f"{done.session} of {done.agent}, segment {done.segment}"
        yield f"{counted(done.new, 'message')} written down in {where}{known}."
    elif began:
        begun = f"Segment {done.segment} of {done.session} of {done.agent} has begun."
        yield begun if done.session else f"{none}: the next message begins one."
    if ends and is_hosts_end:
        yield "The conversation is written down by its host, which ends it."
    elif ends:
        yield f"{done.session} of {done.agent} has ended." if done.ended else f"{none}."


def _report(
    app: App, caller: Caller, agent: str, session: str, recap: str, facts: Sequence[StatedFact]
) -> tuple[tuple[FactReport, ...], RecapReport | None]:
    """Bring what is told into memory as far as the logged conversation bears it out.

    `session` is the one that was meant; where it is empty, the one that was said in just now.
    """
    if not recap.strip() and not facts:
        return (), None
    from vaultmind.consolidate.reported import Told

    told = [Told(one.text, one.quote, one.section) for one in facts]
    session = session or _latest(app, agent, caller.conversation)
    taken = app.reported.take(agent, session, told, recap, caller)
    left_out = tuple((one.sentence, one.reason) for one in taken.left_out)
    summed = RecapReport(taken.recap, left_out) if recap.strip() else None
    return tuple(map(reported, taken.facts)), summed


def reported(fate: Fate) -> FactReport:
    """Return what became of a fact, with what to do about it."""
    from vaultmind.consolidate.types import MEANS

    reason = ""
    if fate.outcome not in ("written", "unchanged"):
        reason, do = MEANS.get(fate.reason, fate.reason), _DO.get(fate.reason, "")
        reason = f"{reason}: {do}" if do else reason
    return FactReport(fate.text, fate.outcome, Recalled(reason, "memory"))


def _latest(app: App, agent: str, conversation: str) -> str:
    """Return the agent's session in which something was said last, unless that is long over.

    Where it is known in which conversation the agent is, the last one of that.
    """
    from vaultmind.session.active import last_time
    from vaultmind.session.files import time_or_none

    session: str = app.sessions.latest(agent)
    if conversation:
        own = [one.id for one in app.sessions.heads(agent) if one.is_of(conversation)]
        session = own[-1] if own else ""
    if not session:
        return ""
    try:
        transcript = app.sessions.read(agent, session)
    except VaultMindError:
        return ""
    now, meta = app.clock(), transcript.meta
    last = (time_or_none(meta.ended) if meta.ended else None) or last_time(transcript, now)
    fresh = now - last < timedelta(minutes=app.config.session.idle_minutes)
    return session if fresh and not meta.source else ""


@operation("The conversations there are", surfaces=LOCAL, persons=True)
def sessions(
    app: App,
    call: Call,
    limit: Annotated[int, Arg("At most, the newest; 0: all.", min=0)] = 20,
    agent: Annotated[str, Arg("Default: yours.")] = "",
) -> Sessions:
    """List an agent's sessions: when, how long, about what."""
    whose = known_agent(app, call.caller, agent)
    heads = app.sessions.heads(whose)
    shown = heads[-limit:] if limit else heads
    rows = tuple(_row(app, whose, head) for head in shown)
    older = len(heads) - len(rows)
    notes = [] if rows else [f"{whose} has no sessions yet."]
    notes += [f"{older:,} older ones: vaultmind session list --all"] if older else []
    return Sessions(whose, rows, older, tuple(notes))


def _row(app: App, agent: str, head: Head) -> SessionRow:
    from vaultmind.session.active import recent_of
    from vaultmind.vault.transcript import Transcript

    fault, told = "", recent_of(app.reader, agent, head.id, app.tombstones.hides)
    try:
        transcript = app.sessions.read(agent, head.id)
    except VaultMindError as error:
        transcript, fault = Transcript(head.meta, ()), str(error)
    meta = transcript.meta
    return SessionRow(
        id=head.id,
        path=app.paths.session(agent, head.id),
        state=meta.state,
        started=meta.started,
        ended=meta.ended,
        messages=sum(not one.message.asked for one in transcript.messages),
        segments=max(meta.segments, transcript.segment),
        title=told.title if told else "",
        topics=meta.topics or transcript.topics,
        source=meta.source,
        conversation=meta.conversation,
        fault=fault,
    )


# --- how it is told -----------------------------------------------------------------------


@dumps(LoggedSession)
def _logged_json(done: LoggedSession, to: Reader) -> dict[str, Any]:
    told = plain(done)
    del told["said"]
    return told | {"message": Verbatim(show(done, to))}


@words(LoggedSession)
def _logged_words(done: LoggedSession, to: Reader) -> Iterator[str]:
    yield done.said
    if done.recap is not None:
        told = f"Recap: {counted(done.recap.kept, 'sentence')} kept."
        each = "; ".join(f"“{sentence}” ({reason})" for sentence, reason in done.recap.left_out)
        yield f"{told} Left out: {each}." if each else told
    each = "; ".join(
        f"“{one.text}” {SAID[one.outcome]}" + (f" ({one.reason})" if one.reason else "")
        for one in done.facts
    )
    yield Recalled(f"Facts: {each}." if each else "", "memory")
