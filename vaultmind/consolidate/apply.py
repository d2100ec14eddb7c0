"""From facts to changes of memory: each goes through the gate, one by one, with its evidence.

What a conversation leaves may be written where the agent's level allows it, and waits for the
person where there is a doubt. A fact that a session left once is not written a second time, even
where the person has taken it out of the brain since.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from vaultmind.consolidate.types import SECTION_OF, Candidate, Settled
from vaultmind.errors import VaultMindError, WriteFailed
from vaultmind.memory.audit import EXTRACTED, REPORTED, settled_words
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.match import same_fact
from vaultmind.memory.sensitive import sensitive
from vaultmind.ports import Clock
from vaultmind.session.files import read_text
from vaultmind.types import Caller, Fact, MemoryWrite, Message, MessageRef, Outcome
from vaultmind.vault.files import VaultReader

if TYPE_CHECKING:
    from vaultmind.memory.gate import Gate

SETTLED = "this session left it once already"
REMOVED = "left before, and since removed by hand: not written again"
SECOND_HAND = "only an agent says that the user said it"
"""Why what an agent wrote down adds nothing sensitive by itself."""


class Applying:
    """Brings facts into memory. Any thread."""

    def __init__(
        self,
        gate: Gate,
        reader: VaultReader,
        clock: Clock,
        *,
        between: Callable[[], object] = lambda: None,
    ) -> None:
        """`between` is called before each fact: it may raise to stop there."""
        self._gate = gate
        self._reader = reader
        self._clock = clock
        self._between = between

    def known(self, agent: str) -> list[Fact]:
        """Return the facts of an agent's brain and archive."""
        paths = self._reader.paths
        files = (paths.brain(agent), paths.archive(agent))
        texts = (read_text(self._reader, one)[0] for one in files)
        return [fact for text in texts for fact in parse_brain(text).all()]

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
        before = self._gate.settled_before(agent, session)
        settled = []
        for fact in facts:
            self._between()
            if fact.category != "DELETE" and settled_words(fact.text) in before:
                there = any(same_fact(one.text, fact.text) for one in self.known(agent))
                outcome = Outcome("unchanged", agent, reason=SETTLED if there else REMOVED)
                settled.append(_settled(fact, outcome))
                continue
            write = self._write(agent, session, fact, messages, caller)
            try:
                outcome = self._gate.would(write) if dry_run else self._gate.write(write)
            except WriteFailed:  # the session stays to be done
                raise
            except VaultMindError as error:
                outcome = Outcome("denied", agent, fact=write.text, reason=error.message)
            settled.append(_settled(fact, outcome))
        return tuple(settled)

    def _write(
        self,
        agent: str,
        session: str,
        fact: Candidate,
        messages: Mapping[str, Message],
        caller: Caller,
    ) -> MemoryWrite:
        said = [one for key, one in messages.items() if key in fact.evidence]
        latest = said[-1] if said else None
        write = MemoryWrite(
            "remember",
            agent,
            caller,
            fact.text,
            section=fact.section or SECTION_OF.get(fact.category),
            evidence=MessageRef(agent, session, latest.block, latest.id) if latest else None,
            how=REPORTED if fact.quote else EXTRACTED,
            quote=fact.quote,
            said_on=self._day(latest) if latest else "",
        )
        if fact.category == "UPDATE":
            write = replace(write, op="replace", old=self._named(agent, fact, fact.replaces))
        elif fact.category == "DELETE":
            write = replace(write, op="forget", text=self._named(agent, fact, fact.text))
        hold = fact.doubt or ("" if said else "no message of the conversation says it")
        second_hand = fact.quote or any(one.how == "reported" for one in said)
        if not hold and second_hand and (write.op == "forget" or sensitive(fact.text)):
            hold = SECOND_HAND
        return replace(write, hold=hold)

    def _day(self, message: Message) -> str:
        """Return the day on which something was said; today for a clock that ran ahead."""
        today = self._clock().date().isoformat()
        try:
            return min(today, date.fromisoformat(message.time[:10]).isoformat())
        except ValueError:
            return today

    def _named(self, agent: str, fact: Candidate, words: str) -> str:
        """Return what names a known fact: its block id, as long as it still says the same."""
        same = (one for one in self.known(agent) if fact.block and one.block == fact.block)
        return f"^{fact.block}" if any(same_fact(one.text, words) for one in same) else words


def _settled(fact: Candidate, outcome: Outcome) -> Settled:
    return Settled(
        category=fact.category,
        fact=outcome.fact or fact.text,
        evidence=fact.evidence,
        replaces=outcome.before or fact.replaces,
        outcome=outcome.outcome,
        reason=outcome.reason,
        section=outcome.section or fact.section or SECTION_OF.get(fact.category),
        block=outcome.block,
        archived=outcome.archived,
    )
