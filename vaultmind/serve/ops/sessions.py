"""Conversations: written down as they come, listed, imported, and what an agent says they leave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from vaultmind.errors import BadArgument, NotFound, VaultMindError
from vaultmind.plural import counted
from vaultmind.serve import op
from vaultmind.serve.call import Call, known_agent, own_agent, told_time
from vaultmind.serve.op import Arg, operation
from vaultmind.serve.show import AS_DATA, Reader, Recalled, Verbatim, plain, show, tells, words
from vaultmind.types import Caller, Message, Section

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.consolidate.reported import Fate
    from vaultmind.session.files import Head
    from vaultmind.session.imports import Imported

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
}
"""What whoever stated a dropped fact may do, by the reason."""
MOST_CHARACTERS = 24_000
"""Of a conversation that is handed over: of a longer one, its beginning and its end."""
RULES = (
    "What of this will still matter in another conversation? Who they are, how they want things "
    "done, what was decided, what they work on. Not moods, not today's errand, not what others "
    "said, no passwords, nothing they took back or asked not to keep. Few facts, each one sentence "
    "that can be read alone, with the message that says it. Call memory_settle again with session, "
    "and facts; none is fine."
)

tells("session.imports.Imported",
      "sessions messages skipped faults left_out redacted session_ids",
      "messages sessions skipped left_out redacted faults")  # fmt: skip

Yours = Annotated[str, Arg("Yours.")]
Recap = Annotated[str, Arg("With end: what was decided, what is open.", max=4000)]


@dataclass(frozen=True, slots=True)
class LoggedMessage:
    """One message, as whoever logs it tells it."""

    text: Annotated[str, Arg("Word for word.", min=1, max=op.MAX_WORDS)]
    role: Annotated[Literal["user", "assistant", "tool", "system"], Arg()] = "user"
    id: Annotated[str, Arg("It is written once.", max=op.MAX_ID)] = ""
    time: Annotated[str, Arg("ISO 8601; default: now.", day=True)] = ""
    speaker: Annotated[str, Arg(max=op.MAX_TEXT)] = ""
    tool: Annotated[str, Arg("For a result: its name.", max=op.MAX_ID)] = ""


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A fact about the person, as an agent states it."""

    text: Annotated[str, Arg("One sentence.", min=1, max=op.MAX_TEXT)]
    quote: Annotated[str, Arg("Their logged words.", min=1, max=op.MAX_TEXT)]
    section: Annotated[Section | None, Arg()] = None


@dataclass(frozen=True, slots=True)
class LastingFact:
    """What of a conversation lasts."""

    text: Annotated[str, Arg("One sentence that stands alone.", min=1, max=op.MAX_TEXT)]
    message: Annotated[str, Arg("Id of the person's message that says it.", min=1, max=op.MAX_ID)]
    update: Annotated[str, Arg("Id of the known fact it changes.", max=op.MAX_ID)] = ""
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


@dataclass(frozen=True, slots=True)
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
    fault: str
    """Why it cannot be read."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """An agent's sessions, oldest first."""

    agent: str = field(metadata=AS_DATA)
    sessions: tuple[SessionRow, ...]
    more: int = field(metadata=AS_DATA)
    """Older ones that are not listed."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settlement:
    """What became of the facts of one conversation, and the next one that waits."""

    agent: str
    facts: tuple[FactReport, ...]
    session: str = ""
    """The next one; empty where none waits."""
    waiting: int = 0
    """How many wait, with that one."""
    known: str = ""
    """The facts of the brain, each with its id."""
    conversation: str = ""
    """Its messages, each with its id and who speaks."""


@operation("Write the conversation down", writes=True)
def session_log(
    app: App,
    call: Call,
    messages: Annotated[tuple[LoggedMessage, ...], Arg("In order.", max=500)] = (),
    new_segment: Annotated[bool, Arg("A new subject begins.")] = False,
    end: Annotated[bool, Arg("The conversation is over.")] = False,
    recap: Recap = "",
    facts: Annotated[
        tuple[StatedFact, ...], Arg("With end: what they said of themselves that lasts.", max=20)
    ] = (),
    session: Annotated[str, Arg("Default: this one.", max=op.MAX_ID)] = "",
    agent: Yours = "",
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
    caller, log, now, named = call.caller, app.sessions, app.clock(), session.strip()
    whose = own_agent(app, caller, agent, "log its own conversations")
    adds = bool(messages or new_segment)
    talk = _conversation(app, caller, whose, named, adds=adds)
    kept = [_message(one, number, caller, now) for number, one in enumerate(messages)]
    at: dict[str, Any] = {"caller": caller, "conversation": talk}
    logged = log.log_many(whose, kept, now=now, new_segment=new_segment, **at)
    app.search_feedback.cited_in(whose, kept)
    meant, ended = logged.session or named or log.open_session(whose, talk), ""
    last = meant or _just_ended(app, whose, talk, now)
    # The facts first: an ended session is read by consolidation, which then knows them.
    told = _report(app, caller, whose, last, facts=facts)[0] if facts else ()
    hosts = not named and is_hosts(talk)
    if end and not hosts:
        ended = log.end(whose, session=named, **at)
    here, new = ended or logged.session or (meant if hosts else ""), logged.new
    summed = _report(app, caller, whose, here or last, recap)[1] if recap.strip() else None
    known, over = len(logged.refs) - new, bool(ended)
    done = LoggedSession(whose, here, logged.segment, new, known, over, "", told, summed)
    return replace(done, said=" ".join(_said(done, bool(messages), new_segment, end, hosts)))


def _conversation(app: App, caller: Caller, agent: str, named: str, *, adds: bool) -> str:
    """Return the conversation of a session that is named, else the one that the caller is in.

    Only the open session of a conversation can be added to: raises BadArgument for one that is
    over. A person who names none means the running one: of several clients' none.
    """
    from vaultmind.session.files import read_session
    from vaultmind.vault.session_meta import PIPE

    if not named and caller.kind == "agent":
        return caller.conversation
    if not named:
        heads = [] if app.sessions.open_session(agent) else app.sessions.heads(agent)
        pipes = {one.meta.conversation for one in heads if one.is_open}
        pipes = {one for one in pipes if one.startswith(PIPE)}
        running = [one for one in pipes if app.sessions.open_session(agent, one)]
        return running[0] if len(running) == 1 else ""
    conversation = read_session(app.reader, app.paths, agent, named)[1].meta.conversation
    if adds and app.sessions.open_session(agent, conversation) != named:
        raise BadArgument("session", named, "a session that is open; without one, a new one begins")
    return conversation


def _just_ended(app: App, agent: str, conversation: str, now: datetime) -> str:
    """Return the session of a conversation that ended a moment ago: more may be told of it."""
    from vaultmind.session.files import time_or_none

    heads = app.sessions.heads(agent)
    own = [one for one in heads if not conversation or one.is_of(conversation)]
    ended = time_or_none(own[-1].meta.ended) if own and not own[-1].meta.source else None
    idle = timedelta(minutes=app.config.session.idle_minutes)
    return own[-1].id if ended and now - ended < idle else ""


def _message(one: LoggedMessage, number: int, caller: Caller, now: datetime) -> Message:
    """Return a message as it is kept. Of a tool's result that is its beginning."""
    from vaultmind.session.files import TOOL_CHARS, beginning

    is_tool = one.role == "tool"
    return Message(
        role=one.role,
        text=beginning(one.text, TOOL_CHARS) if is_tool else one.text,
        time=told_time(one.time, f"messages[{number}]", now),
        id=one.id.strip(),
        speaker=(one.tool.strip() or one.speaker if is_tool else one.speaker).strip(),
        how="cli" if caller.kind == "person" else "reported",
    )


def _said(done: LoggedSession, wrote: bool, began: bool, ends: bool, hosts: bool) -> Iterator[str]:
    """Yield what came of a call in words. A host's own conversation is ended by the host."""
    none = f"{done.agent} has no conversation open"
    if wrote:
        known = f", {done.known} stood there already" if done.known else ""
        where = f"{done.session} of {done.agent}, segment {done.segment}"
        yield f"{counted(done.new, 'message')} written down in {where}{known}."
    elif began:
        begun = f"Segment {done.segment} of {done.session} of {done.agent} has begun."
        yield begun if done.session else f"{none}: the next message begins one."
    if ends and hosts:
        yield "The conversation is written down by its host, which ends it."
    elif ends:
        yield f"{done.session} of {done.agent} has ended." if done.ended else f"{none}."


def _report(
    app: App, caller: Caller, agent: str, session: str, recap: str = "", facts: Sequence[Any] = ()
) -> tuple[tuple[FactReport, ...], RecapReport]:
    """Bring what is told into memory as far as the logged conversation bears it out."""
    from vaultmind.consolidate.reported import Told

    told = [Told(one.text, one.quote, one.section) for one in facts]
    taken = app.reported.take(agent, session, told, recap, caller)
    left_out = tuple((one.sentence, one.reason) for one in taken.left_out)
    return tuple(map(_fate, taken.facts)), RecapReport(taken.recap, left_out)


def _fate(fate: Fate) -> FactReport:
    """Return what became of a fact, with what to do about it."""
    from vaultmind.consolidate.types import MEANS

    reason = ""
    if fate.outcome not in ("written", "unchanged"):
        do = _DO.get(fate.reason, "give it as it was said" if "not in evi" in fate.reason else "")
        reason = ": ".join(filter(None, (MEANS.get(fate.reason, fate.reason), do)))
    return FactReport(fate.text, fate.outcome, Recalled(reason, "memory"))


@tells(LoggedSession)
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
    each = "; ".join(map(_fact_words, done.facts))
    yield Recalled(f"Facts: {each}." if each else "", "memory")


def _fact_words(one: FactReport) -> str:
    return f"“{one.text}” {SAID[one.outcome]}" + (f" ({one.reason})" if one.reason else "")


@operation("The conversations there are", surfaces=op.LOCAL, persons=True)
def sessions(
    app: App,
    call: Call,
    limit: Annotated[int, Arg("At most, the newest; 0: all.", min=0)] = 20,
    agent: op.Whose = "",
) -> Sessions:
    """List an agent's sessions: when, how long, about what."""
    whose = known_agent(app, call.caller, agent)
    heads = app.sessions.heads(whose)
    rows = tuple(_row(app, whose, head) for head in (heads[-limit:] if limit else heads))
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
        head.id,
        app.paths.session(agent, head.id),
        meta.started,
        meta.ended,
        sum(not one.message.asked for one in transcript.messages),
        meta.state,
        max(meta.segments, transcript.segment),
        told.title if told else "",
        meta.topics or transcript.topics,
        meta.source,
        meta.conversation,
        fault,
    )


@operation("Import conversations", writes=True, surfaces=op.LOCAL, persons=True)
def import_file(
    app: App,
    call: Call,
    path: Annotated[str, Arg("Absolute path of the export file.", min=1, max=op.MAX_PATH)],
    one_session: Annotated[bool, Arg("Make one session of all that the file holds.")] = False,
    agent: op.Whose = "",
) -> Imported:
    """Take the conversations of an export file into an agent's sessions."""
    from vaultmind.session import imports

    if not Path(path).is_absolute():
        raise BadArgument("path", path, "an absolute path: the daemon has its own folder")
    if not Path(path).is_file():
        raise NotFound(f"There is no file {path!r}.")
    target = app.target(call.caller, agent)
    imported = imports.import_file(app.sessions, Path(path), target, call.report, one=one_session)
    if imported.messages:  # the talk that is likely asked about is summarised meanwhile
        app.talks.heard(target, app.sessions.latest(target))
    return imported


@operation("Settle an ended conversation", writes=True)
def memory_settle(
    app: App,
    call: Call,
    session: Annotated[str, Arg("The one you read.")] = "",
    facts: Annotated[tuple[LastingFact, ...], Arg("With session: what lasts.", max=20)] = (),
    agent: Yours = "",
) -> Settlement:
    """Read an ended conversation and say what of it lasts. Without arguments you get one; with
    `session` you hand in its facts and get the next.

    Raises NotAllowed for another's memory, BadArgument for facts without a session or a message
    that is not there, NotFound for a session that does not wait.
    """
    whose = own_agent(app, call.caller, agent, "settle its own conversations")
    if facts and not session:
        raise BadArgument("session", session, "the id of the conversation that you read")
    told: tuple[FactReport, ...] = ()
    waiting = app.consolidation.unsettled(whose, better=True)
    if session:
        if session not in waiting:
            raise NotFound(f"{session} of {whose} does not wait to be settled.")
        told = _settled(app, call, whose, session, facts)
        waiting.remove(session)
    if not waiting:
        return Settlement(whose, told)
    next_, shown = waiting[-1], app.show(whose, call.caller).sections
    facts_ = (fact for part in shown for fact in part.facts)
    known = "\n".join(f"{f'^{one.block} ' if one.block else ''}{one.text}" for one in facts_)
    said = app.reported.readable(whose, next_)
    text = "\n".join(f"[{name}] {message.role}: {message.text}" for name, message in said)
    if len(text) > MOST_CHARACTERS:
        half = MOST_CHARACTERS // 2
        text = f"{text[:half]}\n[…]\n{text[-half:]}"
    brain = Recalled(known, "memory")
    return Settlement(whose, told, next_, len(waiting), brain, Recalled(text, next_))


def _settled(
    app: App, call: Call, agent: str, session: str, facts: Sequence[LastingFact]
) -> tuple[FactReport, ...]:
    """Bring an agent's facts into memory, and mark the conversation as settled."""
    from vaultmind.consolidate.reported import Told

    said, claims = dict(app.reported.readable(agent, session)), []
    for number, one in enumerate(facts):
        if (name := one.message.strip("[]^ ")) not in said:
            allowed = f"the id of a message of {session}"
            raise BadArgument(f"facts[{number}].message", one.message, allowed)
        old = f"^{one.update.strip('^ ')}" if one.update else ""
        claims.append(Told(one.text, said[name].text, one.section, old))
    taken = app.reported.take(agent, session, claims, "", call.caller)
    app.consolidation.settled_by_agent(agent, session, call.caller)
    return tuple(map(_fate, taken.facts))


@words(Settlement)
def _settlement_words(done: Settlement, to: Reader) -> Iterator[str]:
    """Yield what became of the facts, and the next conversation with the rules for it."""
    yield Recalled("\n".join(map(_fact_words, done.facts)), "memory")
    if not done.session:
        yield "No conversation waits to be settled."
        return
    waits = counted(done.waiting, "conversation")
    waits = f"{waits} of {done.agent} {'waits' if done.waiting == 1 else 'wait'}."
    yield Verbatim(f"{waits} {RULES}")
    yield "\nKnown already:"
    yield done.known or "nothing"
    yield f"\nConversation {done.session}:"
    yield done.conversation
