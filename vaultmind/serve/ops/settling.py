"""Settling: an agent reads an ended conversation and says what of it lasts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from vaultmind.errors import BadArgument, NotAllowed, NotFound
from vaultmind.plural import counted
from vaultmind.serve.call import Call, known_agent
from vaultmind.serve.op import MAX_ID, MAX_TEXT, Arg, operation
from vaultmind.serve.ops.sessions import FactReport, reported
from vaultmind.serve.show import Reader, Recalled, words
from vaultmind.types import Section

if TYPE_CHECKING:
    from vaultmind.app import App

MOST_CHARACTERS = 24_000
"""Of a conversation that is handed over: of a longer one, its beginning and its end."""
RULES = (
    "What of this will still matter in another conversation? Who they are, how they want things "
    "done, what was decided, what they work on. Not moods, not today's errand, not what others "
    "said, no passwords, nothing they took back or asked not to keep. Few facts, each one sentence "
    "that can be read alone, with the message that says it. Call memory_settle again with session, "
    "and facts; none is fine."
)


@dataclass(frozen=True, slots=True)
class LastingFact:
    """What of a conversation lasts."""

    text: Annotated[str, Arg("One sentence that stands alone.", min=1, max=MAX_TEXT)]
    message: Annotated[str, Arg("Id of the person's message that says it.", min=1, max=MAX_ID)]
    update: Annotated[str, Arg("Id of the known fact it changes.", max=MAX_ID)] = ""
    section: Annotated[Section | None, Arg()] = None


@dataclass(frozen=True, slots=True)
class Settlement:
    """What became of the facts of one conversation, and the next one that waits."""

    agent: str
    facts: tuple[FactReport, ...]
    session: str
    """The next one; empty where none waits."""
    waiting: int
    """How many wait, with that one."""
    known: Recalled
    """The facts of the brain, each with its id."""
    conversation: Recalled
    """Its messages, each with its id and who speaks."""


@operation("Settle an ended conversation", writes=True)
def memory_settle(
    app: App,
    call: Call,
    session: Annotated[str, Arg("The one you read.")] = "",
    facts: Annotated[tuple[LastingFact, ...], Arg("With session: what lasts.", max=20)] = (),
    agent: Annotated[str, Arg("Yours.")] = "",
) -> Settlement:
    """Read an ended conversation and say what of it lasts. Without arguments you get one; with
    `session` you hand in its facts and get the next.

    Raises NotAllowed for another's memory, BadArgument for facts without a session or a message
    that is not there, NotFound for a session that does not wait.
    """
    whose = known_agent(app, call.caller, agent)
    if call.caller.kind == "agent" and whose != call.caller.agent:
        raise NotAllowed(f"{call.caller.agent} may settle its own conversations alone.")
    if facts and not session:
        raise BadArgument("session", session, "the id of the conversation that you read")
    told: tuple[FactReport, ...] = ()
    waiting = app.consolidation.unsettled(whose, better=True)
    if session:
        if session not in waiting:
            raise NotFound(f"{session} of {whose} does not wait to be settled.")
        told = _taken(app, call, whose, session, facts)
        waiting.remove(session)
    if not waiting:
        return Settlement(whose, told, "", 0, Recalled("", "memory"), Recalled("", "memory"))
    next_ = waiting[-1]
    known = "\n".join(
        f"{f'^{fact.block} ' if fact.block else ''}{fact.text}"
        for part in app.show(whose, call.caller).sections
        for fact in part.facts
    )
    shown = [
        f"[{name}] {message.role}: {message.text}"
        for name, message in app.reported.readable(whose, next_)
    ]
    text = _shortened("\n".join(shown))
    return Settlement(
        whose, told, next_, len(waiting), Recalled(known, "memory"), Recalled(text, next_)
    )


def _taken(
    app: App, call: Call, agent: str, session: str, facts: tuple[LastingFact, ...]
) -> tuple[FactReport, ...]:
    """Bring an agent's facts into memory, and mark the conversation as settled."""
    from vaultmind.consolidate.reported import Told

    said = dict(app.reported.readable(agent, session))
    claims = []
    for number, one in enumerate(facts):
        name = one.message.strip("[]^ ")
        if name not in said:
            allowed = f"the id of a message of {session}"
            raise BadArgument(f"facts[{number}].message", one.message, allowed)
        old = f"^{one.update.strip('^ ')}" if one.update else ""
        claims.append(Told(one.text, said[name].text, one.section, old))
    taken = app.reported.take(agent, session, claims, "", call.caller)
    app.consolidation.settled_by_agent(agent, session, call.caller)
    return tuple(map(reported, taken.facts))


def _shortened(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    half = MOST_CHARACTERS // 2
    return f"{text[:half]}\n[…]\n{text[-half:]}"


@words(Settlement)
def settlement_words(done: Settlement, to: Reader) -> Iterator[str]:
    """Yield what became of the facts, and the next conversation with the rules for it."""
    for one in done.facts:
        why = f" ({to.text(one.reason)})" if one.reason else ""
        yield f"- {one.text}: {one.outcome}{why}"
    if not done.session:
        yield "No conversation waits to be settled."
        return
    waits = counted(done.waiting, "conversation")
    yield f"{waits} of {done.agent} {'waits' if done.waiting == 1 else 'wait'}. {RULES}"
    yield f"\nKnown already:\n{to.text(done.known) if done.known else 'nothing'}"
    yield f"\nConversation {done.session}:\n{to.text(done.conversation)}"
