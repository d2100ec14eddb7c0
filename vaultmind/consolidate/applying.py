"""From facts to changes of memory: each goes through the gate, one by one, with its evidence.

What a conversation leaves may be written where the agent's level allows it, and waits for the
person where there is a doubt. A fact that a session left once is not written a second time, even
where the person has taken it out of the brain since.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from vaultmind.consolidate.means import FactGate
from vaultmind.consolidate.types import SECTION_OF, Candidate, Settled
from vaultmind.errors import VaultMindError, WriteFailed
from vaultmind.memory.audit import EXTRACTED, REPORTED, settled_words
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.match import same_fact
from vaultmind.memory.sensitive import sensitive
from vaultmind.ports import Clock
from vaultmind.session.files import read_text
from vaultmind.types import Caller, MemoryWrite, Message, MessageRef, Outcome
from vaultmind.vault.files import VaultReader

SETTLED = "this session left it once already"
REMOVED = "left before, and since removed by hand: not written again"
SECOND_HAND = "only an agent says that the user said it"
"""Why what an agent wrote down adds nothing sensitive by itself."""


def _nothing() -> None:
    """Do nothing between two facts."""


class Applying:
    """Brings facts into memory. Any thread."""

    def __init__(
        self,
        gate: FactGate,
        reader: VaultReader,
        clock: Clock,
        *,
        between: Callable[[], None] = _nothing,
    ) -> None:
        """`between` is called before each fact: it may raise to stop there."""
        self._gate = gate
        self._reader = reader
        self._clock = clock
        self._between = between

    def apply(
        self,
        agent: str,
        session: str,
        facts: Sequence[Candidate],
        messages: Mapping[str, Message],
        caller: Caller,
        *,
        dry_run: bool = False,
    ) -> tuple[Settled, ...]:
        """Return what became of each fact, in their order; in a dry run, what would.

        `messages`: those of the session that may be recalled, by their keys, in their order. A
        fact none of whose evidence is among them is put before the person.
        """
        known = self._gate.settled_before(agent, session)
        settled = []
        for fact in facts:
            self._between()
            if fact.category != "DELETE" and settled_words(fact.text) in known:
                why = SETTLED if self._is_there(agent, fact) else REMOVED
                settled.append(_settled(fact, replace(_NOTHING, reason=why), _NO_WRITE))
                continue
            write = self._write(agent, session, fact, messages, caller)
            settled.append(_settled(fact, self._done(write, dry_run=dry_run), write))
        return tuple(settled)

    def _is_there(self, agent: str, fact: Candidate) -> bool:
        """Tell whether an agent's brain or archive says a fact."""
        paths = self._reader.paths
        for path in (paths.brain(agent), paths.archive(agent)):
            text, _ = read_text(self._reader, path)
            if any(same_fact(known.text, fact.text) for known in parse_brain(text).all()):
                return True
        return False

    def _done(self, write: MemoryWrite, *, dry_run: bool) -> Outcome:
        """Return what a write comes to; what it cannot come to is told, and ends no other."""
        try:
            return self._gate.would(write) if dry_run else self._gate.write(write)
        except WriteFailed:  # the session stays to be done
            raise
        except VaultMindError as error:
            return Outcome("denied", write.agent, fact=write.text, reason=error.message)

    def _write(
        self,
        agent: str,
        session: str,
        fact: Candidate,
        messages: Mapping[str, Message],
        caller: Caller,
    ) -> MemoryWrite:
        said = [(key, one) for key, one in messages.items() if key in fact.evidence]
        latest = said[-1][1] if said else None
        ref = MessageRef(agent, session, latest.block, latest.id) if latest else None
        write = MemoryWrite(
            "remember",
            agent,
            caller,
            fact.text,
            section=fact.section or SECTION_OF.get(fact.category),
            evidence=ref,
            how=REPORTED if fact.quote else EXTRACTED,
            quote=fact.quote,
            said_on=self._day(latest) if latest else "",
        )
        if fact.category == "UPDATE":
            write = replace(write, op="replace", old=self._named(agent, fact, fact.replaces))
        elif fact.category == "DELETE":
            write = replace(write, op="forget", text=self._named(agent, fact, fact.text))
        return replace(write, hold=self._doubt(fact, [one for _, one in said], write))

    def _day(self, message: Message) -> str:
        """Return the day on which something was said; today for a clock that ran ahead."""
        today = self._clock().date().isoformat()
        try:
            return min(today, date.fromisoformat(message.time[:10]).isoformat())
        except ValueError:
            return today

    def _named(self, agent: str, fact: Candidate, words: str) -> str:
        """Return what names a known fact: its block id, as long as it still says the same."""
        if not fact.block:
            return words
        text, _ = read_text(self._reader, self._reader.paths.brain(agent))
        for known in parse_brain(text).all():
            if known.block == fact.block and same_fact(known.text, words):
                return f"^{fact.block}"
        return words

    def _doubt(self, fact: Candidate, said: Sequence[Message], write: MemoryWrite) -> str:
        """Return why a fact should wait for the person, in words; empty where nothing speaks
        against it.
        """
        if fact.doubt:
            return fact.doubt
        if not said:
            return "no message of the conversation says it"
        if not fact.quote and all(one.how != "reported" for one in said):
            return ""
        return SECOND_HAND if write.op == "forget" or sensitive(fact.text) else ""


_NOTHING = Outcome("unchanged", "")
_NO_WRITE = MemoryWrite("remember", "", Caller("agent"), "")


def _settled(fact: Candidate, outcome: Outcome, write: MemoryWrite) -> Settled:
    return Settled(
        category=fact.category,
        fact=outcome.fact or fact.text,
        evidence=fact.evidence,
        replaces=outcome.before or fact.replaces,
        outcome=outcome.outcome,
        reason=outcome.reason,
        section=outcome.section or write.section or fact.section,
        block=outcome.block,
        archived=outcome.archived,
    )
