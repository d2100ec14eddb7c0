"""What an agent tells at the end of a conversation besides messages: a recap, and facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from vaultmind.errors import BadArgument, VaultMindError
from vaultmind.plural import counted
from vaultmind.serve.calls.fencing import fenced
from vaultmind.serve.calls.requests import MAX_TEXT
from vaultmind.serve.calls.schema import arg
from vaultmind.session.records.opened import last_time
from vaultmind.session.records.store import time_or_none
from vaultmind.types import Section

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.consolidate.reported import Fate, Taken
    from vaultmind.types import Caller

MAX_FACTS = 20
MAX_RECAP = 4000
"""Characters of a recap."""
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
_SILENT = ("written", "unchanged")
"""Outcomes that say all there is to say."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A fact about the person, as an agent states it."""

    text: str = arg("One sentence.", min=1, max=MAX_TEXT)
    quote: str = arg("Their words, from a logged message.", min=1, max=MAX_TEXT)
    section: Section | None = arg("", default=None)  # noqa: RUF009


@dataclass(frozen=True, slots=True)
class FactTaken:
    """What became of a stated fact."""

    text: str
    outcome: str
    """As of a write; or `dropped`."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RecapTaken:
    """What became of a recap."""

    kept: int
    """Sentences that the next conversation will know."""
    left_out: tuple[tuple[str, str], ...]
    """The others, each with the reason."""


@dataclass(frozen=True, slots=True)
class Report:
    """What became of all that an agent told."""

    facts: tuple[FactTaken, ...] = ()
    recap: RecapTaken | None = None


NOTHING = Report()


def words(report: Report, mark: str) -> str:
    """Return what became of it, in words; empty where nothing was told.

    A reason may quote the brain: an agent reads the facts between fences.
    """
    facts = _facts_words(report.facts)
    facts = fenced(facts, "memory", mark) if facts else ""
    return ("\n" if mark else " ").join(filter(None, [_recap_words(report.recap), facts]))


def fact_json(fact: FactTaken, mark: str) -> dict[str, str]:
    """Return what became of a fact; its reason fenced for an agent."""
    reason = fenced(fact.reason, "memory", mark) if fact.reason else ""
    return {"text": fact.text, "outcome": fact.outcome, "reason": reason}


def check(recap: str, facts: Sequence[Stated], *, end: bool) -> None:
    """Raise BadArgument for a recap or facts before the end."""
    for name, value in (("recap", recap), ("facts", facts)):
        if value and not end:
            raise BadArgument(name, value, "only with `end`: it is told at the end")


def take(
    app: App, caller: Caller, agent: str, session: str, recap: str, facts: Sequence[Stated]
) -> Report:
    """Bring what is told into memory as far as the logged conversation bears it out.

    `session` is the one that was meant; where it is empty, the one that was said in just now.
    """
    if not recap.strip() and not facts:
        return Report()
    from vaultmind.consolidate.reported import Told  # seldom needed

    told = [Told(one.text, one.quote, one.section) for one in facts]
    session = session or _latest(app, agent, caller.conversation)
    taken: Taken = app.reported.take(agent, session, told, recap, caller)
    return Report(
        tuple(map(_fact, taken.facts)),
        RecapTaken(taken.recap, tuple((one.sentence, one.reason) for one in taken.left_out))
        if recap.strip()
        else None,
    )


def _fact(fate: Fate) -> FactTaken:
    if fate.outcome in _SILENT:
        return FactTaken(fate.text, fate.outcome)
    from vaultmind.consolidate.facts.types import MEANS  # seldom needed

    means, do = MEANS.get(fate.reason, fate.reason), _DO.get(fate.reason, "")
    return FactTaken(fate.text, fate.outcome, f"{means}: {do}" if do else means)


def _latest(app: App, agent: str, conversation: str) -> str:
    """Return the agent's session in which something was said last, unless that is long over.

    Where it is known in which conversation the agent is, the last one of that.
    """
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


def _recap_words(recap: RecapTaken | None) -> str:
    if recap is None:
        return ""
    said = f"Recap: {counted(recap.kept, 'sentence')} kept."
    if recap.left_out:
        each = "; ".join(f"“{sentence}” ({reason})" for sentence, reason in recap.left_out)
        said += f" Left out: {each}."
    return said


def _facts_words(facts: Sequence[FactTaken]) -> str:
    if not facts:
        return ""
    each = (
        f"“{one.text}” {SAID[one.outcome]}" + (f" ({one.reason})" if one.reason else "")
        for one in facts
    )
    return f"Facts: {'; '.join(each)}."
