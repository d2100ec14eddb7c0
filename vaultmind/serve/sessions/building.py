"""`context_build`: what an agent is given before it answers, within a budget."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from vaultmind import tokens
from vaultmind.errors import BadArgument
from vaultmind.plural import counted
from vaultmind.serve.calls.call import known_agent, own_session
from vaultmind.serve.calls.fencing import PLAIN_ID, fenced, named
from vaultmind.serve.calls.requests import MAX_QUERIES, MAX_TEXT, MAX_WORDS, Query
from vaultmind.serve.calls.schema import arg
from vaultmind.serve.memory.render import OWN_IDENTITY
from vaultmind.session.context.budget import BETWEEN, joined
from vaultmind.session.context.parts import BuildRequest, BuiltContext, Part, PartName
from vaultmind.session.recall.triggers import LANGUAGES, phrases
from vaultmind.types import Progress
from vaultmind.vault.paths import SESSION_ID

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.serve.calls.call import Call

MIN_BUDGET, MAX_BUDGET = 50, 200_000
"""Tokens of a context that is asked for: as `context.max_tokens`, and below that for tests."""
MAX_MESSAGES = 100
"""Messages that wait for one answer."""
LABELS: dict[PartName, str] = {
    "identity": "identity",
    "brain": "brain",
    "active context": "last conversation",
    "summary": "summary",
    "earlier": "this conversation",
    "memory": "memory",
    "associations": "associations",
    "history": "earlier runs",
    "window": "this conversation",
}
"""What a fence names as its source: short, since each part has one. Tools come from the caller."""
FRAME_TOKENS = 33
"""What a fence and the space after it cost at most, whatever its random mark."""
MAX_NOTE = 500
"""Characters of a note, where an agent reads it outside a fence."""
NAMED = 5
"""Omissions that are told to a model in words; all are in the JSON."""
NOTHING = "Nothing is remembered yet, and no conversation is kept."


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What one context shares with many."""

    session: str = arg("Which conversation; default: this one.", default="", max=MAX_TEXT)
    budget: int | None = arg(
        "Tokens of the answer at most.", default=None, min=MIN_BUDGET, max=MAX_BUDGET
    )
    task: str = arg(
        "For a scheduled sub-agent: its task.",
        default="",
        max=MAX_TEXT,
    )
    tools: str = arg("Text on your tools and skills, to be counted in.", default="", max=MAX_WORDS)
    agent: str = arg("Whose; default: yours.", default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildArgs(Wanted):
    """Arguments of context_build."""

    messages: tuple[str, ...] = arg(
        "The person's, that you are about to answer, word for word.",
        default=(),
        max=MAX_MESSAGES,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildManyArgs(Wanted):
    """Arguments of context_many: questions that each get a context of their own."""

    queries: tuple[Query, ...] = arg("What is asked.", max=MAX_QUERIES)


@dataclass(frozen=True, slots=True)
class Built:
    """A context, and whether it is the caller's own: only then its identity is to be."""

    context: BuiltContext
    own: bool
    pending: tuple[str, ...] = ()
    """The caller's own words, which are not recalled: they stand in no fence."""
    id: str = ""
    """Of the question, where there are many."""


def build(app: App, call: Call, args: BuildArgs) -> Built:
    """Build the context before an answer.

    Raises NotFound for an agent or a session that is not there, BadArgument for a bad task.
    """
    return _built(app, call, args, args.messages)


def build_many(app: App, call: Call, args: BuildManyArgs) -> tuple[Built, ...]:
    """Build a context for each of many questions, telling how far it is."""
    found = []
    for number, query in enumerate(args.queries, 1):
        found.append(_built(app, call, args, (query.query,), query.id))
        call.report(Progress(number, len(args.queries), "contexts"))
    return tuple(found)


def words(response: Built, mark: str = "") -> str:
    """Return the parts one after the other, what was recalled fenced; never over the budget.

    For a model, notes on what is missing follow where there is room for them.
    """
    context = response.context
    shown = joined(part_text(response, part, mark) for part in context.parts)
    shown = shown or NOTHING
    if not mark:
        return shown
    for line in _asides(context):
        longer = f"{shown}{BETWEEN}{fenced(line, 'notes', mark)}"
        shown = longer if tokens.count(longer) <= context.budget else shown
    return shown


def part_text(response: Built, part: Part, mark: str) -> str:
    """Return a part's text: fenced for an agent, but for its own identity and its own words."""
    if not mark or part.name == "tools":
        return part.text
    if part.name == "identity" and response.own:
        return f"{OWN_IDENTITY}\n{part.text}"
    at = _pending_at(part, response.pending)
    recalled, said = part.text[:at].rstrip("\n"), part.text[at:]
    shown = fenced(recalled, LABELS[part.name], mark) if recalled else ""
    return "\n".join(text for text in (shown, said) if text)


def as_json(response: Built, mark: str = "") -> dict[str, Any]:
    """Return the parts, what each cost, what was left out and why."""
    context = response.context
    body: dict[str, Any] = {"id": response.id} if response.id else {}
    return body | {
        "agent": context.agent,
        "session": context.session,
        "segment": context.segment,
        "budget": context.budget,
        "tokens": context.tokens,
        "parts": [_part(response, part, mark) for part in context.parts],
        "dropped": [
            {"what": _what(one.what, mark), "reason": named(one.reason, mark)}
            for one in context.dropped
        ],
        "notes": [named(note, mark, MAX_NOTE) for note in context.notes],
    }


def many_words(responses: tuple[Built, ...], mark: str = "") -> str:
    """Return what each of many contexts came to, a line each."""
    return "\n".join(
        f"{one.id}: {one.context.tokens:,} of {one.context.budget:,} tokens in "
        f"{counted(len(one.context.parts), 'part')}"
        for one in responses
    )


def many_json(responses: tuple[Built, ...], mark: str = "") -> dict[str, Any]:
    """Return each context under its question's id, in the order that was asked."""
    return {"results": [{"id": one.id} | as_json(one, mark) for one in responses]}


def _built(app: App, call: Call, args: Wanted, messages: tuple[str, ...], id: str = "") -> Built:
    target = known_agent(app, call.caller, args.agent)
    pending = tuple(one for one in messages if one.strip())
    session, fresh = _session(args), False
    if call.caller.kind == "agent" and not session and not args.task.strip():
        app.sessions.end_idle(target)  # what fell silent is no longer this conversation
        session = own_session(app, call.caller, target)
        fresh = not session and _is_others(app, call, target)
    request = BuildRequest(
        agent=target,
        session=session,
        pending=pending,
        budget=args.budget,
        task=args.task.strip(),
        tools=args.tools,
        frame_tokens=FRAME_TOKENS if call.caller.kind == "agent" else 0,
        fresh=fresh,
    )
    context = app.builder.build(request, call.caller, call.report)
    return Built(context, target == call.caller.agent, pending, id)


def _is_others(app: App, call: Call, agent: str) -> bool:
    """Tell whether the latest conversation is another than the one that the caller is in."""
    latest, own = app.sessions.latest(agent), call.caller.conversation
    if not own or agent != call.caller.agent or not latest:
        return False
    head = next((one for one in app.sessions.heads(agent) if one.id == latest), None)
    return head is not None and head.meta.conversation not in ("", own)


def _session(args: Wanted) -> str:
    """Return the session that is asked for, empty for the latest; raise BadArgument in words."""
    session = args.session.strip()
    if session and args.task.strip():
        raise BadArgument("session", session, "none with task: a sub-agent has no conversation")
    if session and not SESSION_ID.fullmatch(session):
        raise BadArgument("session", session, "an id such as 2026-02-20_001")
    return session


def _pending_at(part: Part, pending: tuple[str, ...]) -> int:
    """Return where in a window the messages that wait begin; its end, where they cannot be told.

    Only what is to the letter the caller's own, at the very end, is taken for it.
    """
    texts = [text.strip() for text in pending] if part.name == "window" else []
    for first in range(len(texts)):
        for user in _users():
            said = "\n".join(f"{user}: {text}" for text in texts[first:])
            if part.text == said or part.text.endswith(f"\n{said}"):
                return len(part.text) - len(said)
    return len(part.text)


@cache
def _users() -> frozenset[str]:
    """Return what the user is called in a window, in any language."""
    return frozenset(phrases(language).user for language in LANGUAGES)


def _part(response: Built, part: Part, mark: str) -> dict[str, Any]:
    """Return a part as JSON; an agent is shown ids that cannot hold orders."""
    ids = [one for one in part.messages if not mark or PLAIN_ID.fullmatch(one)]
    return {
        "name": part.name,
        "tokens": part.tokens,
        "messages": ids,
        "text": part_text(response, part, mark),
        "sources": [named(source, mark) for source in part.sources],
        "why": named(part.why, mark),
    }


def _what(what: str, mark: str) -> str:
    """Return what is left out; a message whose id comes from a file is not called by it."""
    kind, _, name = what.partition(" ")
    if mark and kind == "message" and not PLAIN_ID.fullmatch(name):
        return "a message"
    return named(what, mark)


def _asides(context: BuiltContext) -> Iterator[str]:
    """Yield in words what a model should know of what is missing."""
    if context.notes:
        yield "\n".join(context.notes)
    named = [f"{one.what} ({one.reason})" for one in context.dropped[:NAMED]]
    more = len(context.dropped) - len(named)
    if named:
        yield f"Left out: {'; '.join(named)}" + (f"; {more} more" if more else "")
