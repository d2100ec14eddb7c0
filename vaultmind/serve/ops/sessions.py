"""Conversations: written down as they come, listed, imported, and what they leave behind: what an
agent says of them, and what is read out of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from vaultmind.errors import BadArgument, NotFound, VaultMindError
from vaultmind.plural import counted
from vaultmind.serve import op
from vaultmind.serve.call import Call, known_agent, own_agent, told_time
from vaultmind.serve.op import Arg, operation
from vaultmind.serve.show import Reader, Recalled, Row, Verbatim, in_words, plain, tells
from vaultmind.types import Caller, MemoryWrite, Message, Section

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.consolidate.types import Dropped, Settled
    from vaultmind.session.files import Head

DO = {
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

tells("consolidate.types.Settled", "category fact evidence replaces outcome reason",
      "category fact replaces outcome reason")  # fmt: skip
tells("consolidate.types.SessionDone", "session agent by pending summary facts dropped notes")
tells("consolidate.types.SummaryDone", words="id agent path text notes")

Yours = Annotated[str, Arg("Yours.")]
Recap = Annotated[str, Arg("With end: what was decided, what is open.", max=4000)]
Again = Annotated[str, Arg("Do this session again, by its id.", max=op.MAX_ID)]


@dataclass(frozen=True, slots=True)
class LoggedMessage:
    """One message, as whoever logs it tells it."""

    text: Annotated[str, Arg("Word for word.", min=1, max=op.MAX_WORDS)]
    role: Annotated[Literal["user", "assistant", "tool", "system"], Arg()] = "user"
    id: Annotated[str, Arg("The same id is written once.", max=op.MAX_ID)] = ""
    time: Annotated[str, Arg("ISO 8601; default: now.", max=op.MAX_ID)] = ""
    speaker: Annotated[str, Arg(max=op.MAX_TEXT)] = ""
    tool: Annotated[str, Arg("Name, for a tool's result.", max=op.MAX_ID)] = ""


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


Messages = Annotated[tuple[LoggedMessage, ...], Arg("In order.", max=500)]
SELF = "With end: what they said of themselves that lasts."
Claims = Annotated[tuple[StatedFact, ...], Arg(SELF, max=20)]


@operation("Write the conversation down", writes=True)
def session_log(
    app: App,
    call: Call,
    messages: Messages = (),
    new_segment: Annotated[bool, Arg("A new subject begins.")] = False,
    end: Annotated[bool, Arg("The conversation is over.")] = False,
    recap: Recap = "",
    facts: Claims = (),
    session: Annotated[str, Arg("Default: the current one.", max=op.MAX_ID)] = "",
    agent: Yours = "",
) -> Row:
    """Write down the person's messages that matter, word for word, as they come; at the end, with
    `end`, a recap and facts. What the logged words do not support is left out.

    In this order: a segment begins, messages are written, the session ends. Raises NotAllowed for
    an agent that keeps no records or means another's, BadArgument for a call that asks for nothing
    or a session that is over, NotFound for a session or an agent that is not there.
    """
    from vaultmind.consolidate.settle import Told
    from vaultmind.vault.transcript import is_hosts

    if not (messages or new_segment or end):
        raise BadArgument("messages", messages, "messages, new_segment or end", missing=True)
    if (recap or facts) and not end:
        raise BadArgument("end", end, "true with recap and facts: they are told at the end")
    caller, log, now, named = call.caller, app.sessions, app.clock(), session.strip()
    whose = own_agent(app, caller, agent, "log its own conversations")
    talk = _conversation(app, caller, whose, named)
    if named and (messages or new_segment) and log.open_session(whose, talk) != named:
        allowed = "a session that is open; without one, a new one begins"
        raise BadArgument("session", named, allowed)
    kept = [_message(one, number, caller, now) for number, one in enumerate(messages)]
    at: dict[str, Any] = {"caller": caller, "conversation": talk}
    logged = log.log(whose, *kept, new_segment=new_segment, **at)
    meant = logged.session or named or log.open_session(whose, talk)
    # The facts first: an ended session is read by consolidation, which then knows them.
    claims = [Told(one.text, one.quote, one.section) for one in facts]
    told = tuple(map(_fate, app.reported.facts(whose, meant, claims, caller) if facts else ()))
    hosts = not named and is_hosts(talk)
    ended = log.end(whose, session=named, **at) if end and not hosts else ""
    here = ended or logged.session or (meant if hosts else "")
    new = len(logged.new)
    counts = {"new": new, "known": len(logged.refs) - new, "ended": bool(ended)}
    done = Row(agent=whose, session=here, segment=logged.segment, **counts, recap=None, facts=told)
    lines = [*_said(done, bool(messages), end, hosts)]
    if recap.strip():
        number, left = app.reported.recap(whose, here or meant, recap, caller)
        each = "; ".join(f"“{sentence}” ({reason})" for sentence, reason in left)
        lines.append(f"Recap: kept {counted(number, 'sentence')}.")
        lines += [f"Left out: {each}."] if each else []
        done["recap"] = Row(kept=number, left_out=left)
    done["message"] = " ".join(lines)
    each = "; ".join(map(_fact_words, told))
    return done.saying(*lines, Recalled(f"Facts: {each}." if each else "", "memory"))


def _conversation(app: App, caller: Caller, agent: str, named: str) -> str:
    """Return the conversation of a session that is named, else the one that the caller is in."""
    talk: str = app.sessions.read(agent, named).meta.conversation if named else caller.conversation
    return talk


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


def _said(done: Row, wrote: bool, ends: bool, hosts: bool) -> Iterator[str]:
    """Yield what came of a call in words. A host's own conversation is ended by the host."""
    where = f"{done['session']} of {done['agent']}"
    none = f"{done['agent']} has no open conversation."
    if wrote:
        known = f"; {done['known']} already there" if done["known"] else ""
        written = f"Logged {counted(done['new'], 'message')}"
        yield f"{written} in {where}, segment {done['segment']}{known}."
    elif not ends:
        yield f"Began segment {done['segment']} of {where}." if done["session"] else none
    if ends and hosts:
        yield "The host records this conversation and ends it."
    elif ends:
        yield f"Ended {where}." if done["ended"] else none


def _fate(fate: Settled) -> Row:
    """Return what became of a stated fact, with what to do about it; the reason quotes the brain.

    The outcome is that of a write, or `dropped`.
    """
    from vaultmind.consolidate.types import MEANS

    reason = ""
    if fate.outcome not in ("written", "unchanged"):
        do = DO.get(fate.reason, "give it as it was said" if "not in evi" in fate.reason else "")
        reason = ": ".join(filter(None, (MEANS.get(fate.reason, fate.reason), do)))
    return Row(text=fate.fact, outcome=fate.outcome, reason=Recalled(reason, "memory"))


def _fact_words(one: Row) -> str:
    because = f" ({one['reason']})" if one["reason"] else ""
    return f"“{one['text']}” {one['outcome'].replace('_', ' ')}{because}"


@operation("The conversations there are", surfaces=op.LOCAL, persons=True)
def sessions(
    app: App,
    call: Call,
    limit: Annotated[int, Arg("At most this many; 0: all.", min=0)] = 20,
    agent: op.Whose = "",
) -> Row:
    """List an agent's sessions: when, how long, about what."""
    whose = known_agent(app, call.caller, agent)
    heads = app.sessions.heads(whose)
    rows = tuple(_row(app, whose, head) for head in (heads[-limit:] if limit else heads))
    older = len(heads) - len(rows)
    notes = [] if rows else [f"{whose} has no sessions yet."]
    notes += [f"{older:,} older: vaultmind session list --all"] if older else []
    return Row("sessions notes", agent=whose, sessions=rows, more=older, notes=notes)


def _row(app: App, agent: str, head: Head) -> Row:
    from vaultmind.session.active import recent_of

    meta, fault, messages = head.meta, "", 0
    told = recent_of(app.sessions, agent, head.id, app.tombstones.hides)
    try:
        said = app.sessions.read(agent, head.id).messages
        messages = sum(not one.message.asked for one in said)
    except VaultMindError as error:
        fault = str(error)
    return Row(
        "id started ended messages state title source fault",
        **{"id": head.id, "path": app.paths.session(agent, head.id), "messages": messages},
        **{name: getattr(meta, name) for name in ("started", "ended", "state", "source")},
        **{"title": told.title if told else "", "fault": fault},
    )


@operation("Import conversations", writes=True, surfaces=op.LOCAL, persons=True)
def import_file(
    app: App,
    call: Call,
    path: Annotated[str, Arg("The export file.", min=1, max=op.MAX_PATH)],
    one_session: Annotated[bool, Arg("Make one session of the whole file.")] = False,
    agent: op.Whose = "",
) -> Row:
    """Take the conversations of an export file into an agent's sessions; suggest what Claude or
    ChatGPT keeps of you.
    """
    from vaultmind.session.imports import import_file

    if not Path(path).is_file():
        raise NotFound(f"There is no file {path!r}.")
    target = app.target(call.caller, agent)

    def suggest(text: str) -> bool:
        by = Caller("agent", target, "import")
        write = MemoryWrite("remember", target, by, text, hold="an export says it")
        return bool(app.gate.write(write).outcome == "suggested")

    imported = import_file(
        app.sessions, Path(path), target, call.report, one=one_session, suggest=suggest
    )
    done = Row("messages sessions skipped left_out redacted faults", **plain(imported))
    waits = f"Waiting for you: {imported.suggested} (vaultmind suggestions list)"
    then = "Searchable in a moment. For facts and summaries: vaultmind consolidate"
    said = (waits if imported.suggested else "", then if imported.messages else "")
    return done.saying(*in_words(done), *said)


@operation("Settle an ended conversation", writes=True)
def memory_settle(
    app: App,
    call: Call,
    session: Annotated[str, Arg("The one you read.")] = "",
    facts: Annotated[tuple[LastingFact, ...], Arg("With session: what lasts.", max=20)] = (),
    agent: Yours = "",
) -> Row:
    """Read an ended conversation and say what of it lasts. Without arguments you get one; with
    `session` you hand in its facts and get the next.

    Raises NotAllowed for another's memory, BadArgument for facts without a session or a message
    that is not there, NotFound for a session that does not wait.
    """
    from vaultmind.serve.ops.memory import knowledge

    whose = own_agent(app, call.caller, agent, "settle its own conversations")
    if facts and not session:
        raise BadArgument("session", session, "the id of the conversation that you read")
    told: tuple[Row, ...] = ()
    waiting = app.consolidation.unsettled(whose)
    if session:
        if session not in waiting:
            raise NotFound(f"{session} of {whose} is not waiting to be settled.")
        told = _settled(app, call, whose, session, facts)
        waiting.remove(session)
    told_words = Recalled("\n".join(map(_fact_words, told)), "memory")
    if not waiting:
        done = Row(agent=whose, facts=told, session="", waiting=0, known="", conversation="")
        return done.saying(told_words, "No conversation is waiting to be settled.")
    next_, sections = waiting[-1], knowledge(app, call.caller, whose)["sections"]
    facts_known = (one for section in sections for one in section["facts"])
    known = "\n".join(f"^{one.block} {one.text}" if one.block else one.text for one in facts_known)
    said = app.reported.readable(whose, next_)
    text = "\n".join(f"[{name}] {message.role}: {message.text}" for name, message in said)
    if len(text) > MOST_CHARACTERS:
        half = MOST_CHARACTERS // 2
        text = f"{text[:half]}\n[…]\n{text[-half:]}"
    brain, talk = Recalled(known, "memory"), Recalled(text, next_)
    done = Row(agent=whose, facts=told, session=next_, waiting=len(waiting), known=brain,
               conversation=talk)  # fmt: skip
    verb = "waits" if len(waiting) == 1 else "wait"
    waits = Verbatim(f"{counted(len(waiting), 'conversation')} of {whose} {verb}. {RULES}")
    heads = "\nKnown already:", f"\nConversation {next_}:"
    return done.saying(told_words, waits, heads[0], brain or "nothing", heads[1], talk)


def _settled(
    app: App, call: Call, agent: str, session: str, facts: Sequence[LastingFact]
) -> tuple[Row, ...]:
    """Bring an agent's facts into memory, and mark the conversation as settled."""
    from vaultmind.consolidate.settle import Told

    said, claims = dict(app.reported.readable(agent, session)), list[Told]()
    for number, one in enumerate(facts):
        if (name := one.message.strip("[]^ ")) not in said:
            allowed = f"the id of a message of {session}"
            raise BadArgument(f"facts[{number}].message", one.message, allowed)
        old = f"^{one.update.strip('^ ')}" if one.update else ""
        claims.append(Told(one.text, said[name].text, one.section, old))
    fates = app.reported.facts(agent, session, claims, call.caller)
    app.consolidation.mark(agent, session, call.caller)
    return tuple(map(_fate, fates))


# --- what is read out of them -------------------------------------------------------------


@tells("consolidate.types.Dropped", words="fact reason")
def _dropped_json(one: Dropped, to: Reader) -> dict[str, Any]:
    from vaultmind.memory.gate import UNTOLD

    text = "" if one.reason in UNTOLD else one.text
    return {"fact": text, "reason": one.reason, "evidence": one.evidence}


@operation(
    "Take facts and summaries from what was said", writes=True, surfaces=op.LOCAL, persons=True
)
def consolidate(
    app: App,
    call: Call,
    agent: op.Anybodys = "",
    again: Again = "",
    dry_run: Annotated[bool, Arg("Only show what would be written.")] = False,
) -> Row:
    """Take facts and summaries from the conversations that wait, or from one anew.

    Raises NotFound for an agent or a session that is not there, BadArgument for an id that is
    none.
    """
    from vaultmind.consolidate.types import Request

    whose = known_agent(app, call.caller, agent) if agent or again else ""
    request = Request(whose, again=again.strip(), dry_run=dry_run)
    with app.minion.unbound():  # who asks may have models work longer than they may by themselves
        done = app.consolidation.run(request, call.caller, call.report)
    outcomes = [fact.outcome for one in done.sessions for fact in one.facts]
    said = f"Read {counted(len(done.sessions), 'session')}: "
    said += f"{counted(outcomes.count('written'), 'fact')} and "
    said += f"{counted(len(done.summaries), 'summary', 'summaries')} written."
    if waiting := outcomes.count("suggested"):
        said += f" Waiting for you: {waiting:,} (vaultmind suggestions list)"
    if not (done.sessions or done.summaries):
        said = "Nothing to consolidate."
    said = f"Dry run, nothing written. {said}" if dry_run else said
    return Row(message=said, sessions=done.sessions, summaries=done.summaries, notes=done.notes)


def background(app: App, caller: Caller) -> Row:
    """Return how consolidation stands, for the status; an agent is told of its own sessions."""
    waits, asked_for = app.consolidation.standing()
    if caller.kind == "agent":
        waiting = sum(agent == caller.agent for agent, _ in waits)
        return Row(waiting=waiting, words=f"{waiting:,} of your sessions waiting")
    said = f"{counted(len(waits), 'session')} waiting"
    said += f" · {asked_for:,} for `vaultmind consolidate`" if asked_for else ""
    queue = [f"{session} ({agent})" for agent, session in waits]
    return Row(waiting=len(queue), words=said, queue=queue)
