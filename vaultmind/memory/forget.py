"""Forgetting reaches every kind of record: each registers here how it finds what said a fact."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from vaultmind.memory.match import says
from vaultmind.ports import MessageFinder
from vaultmind.types import Fact, MessageRef

CANDIDATES = 200
"""Messages that are looked at for one fact."""


class RecordKind(Protocol):
    """A kind of record that may repeat a fact after it has left the brain."""

    @property
    def name(self) -> str:
        """What the kind is called in messages: `messages`, `summaries`, ..."""
        ...

    def said(self, agent: str, fact: Fact) -> Iterable[MessageRef]:
        """Return the messages of this kind that said a fact."""
        ...


class Evidence:
    """The message that a fact names as its source."""

    name = "evidence"

    def said(self, agent: str, fact: Fact) -> Iterable[MessageRef]:
        """Return the fact's own evidence, if it has any."""
        return (fact.evidence,) if fact.evidence else ()


class Messages:
    """Messages of the agent's sessions that say the fact in whatever words' forms and order."""

    name = "messages"

    def __init__(self, finder: MessageFinder) -> None:
        self._finder = finder

    def said(self, agent: str, fact: Fact) -> Iterable[MessageRef]:
        """Return the messages whose words contain what the fact says."""
        found = self._finder.messages_about(agent, fact.text, CANDIDATES)
        return [ref for ref, text in found if says(text, fact.text)]


def messages_that_said(
    kinds: Sequence[RecordKind], agent: str, facts: Iterable[Fact]
) -> tuple[MessageRef, ...]:
    """Return every message of any kind that said one of the facts, each once."""
    found: dict[tuple[str, str, str], MessageRef] = {}
    for fact in facts:
        for kind in kinds:
            for ref in kind.said(agent, fact):
                key = (ref.agent, ref.session, ref.block or ref.id)
                if key not in found or ref.id:  # a link in a brain knows the block alone
                    found[key] = ref
    return tuple(found.values())
