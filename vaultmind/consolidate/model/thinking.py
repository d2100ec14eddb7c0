"""What a conversation leaves behind: by a model where there is one, by rules in any case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vaultmind.consolidate.facts.talk import Understand
from vaultmind.consolidate.facts.types import Extraction
from vaultmind.consolidate.model.understood import FactFinder, Understood
from vaultmind.minion.choice import Minion
from vaultmind.types import Fact, Message

if TYPE_CHECKING:
    from vaultmind.consolidate.levels.writer import SummaryWriter


class Thinker:
    """Understands conversations. Any thread; one conversation at a time a call."""

    def __init__(
        self,
        minion: Minion,
        facts: FactFinder,
        writer: SummaryWriter,
        *,
        understand: Understand | None = None,
    ) -> None:
        """Take the rules as `facts`; `writer` sums up; `understand` hears a person's phrases."""
        self._minion = minion
        self._facts = facts
        self._writer = writer
        self._understand = understand

    def extract(
        self,
        messages: Sequence[Message],
        brain: Sequence[Fact],
        *,
        language: str,
        max_facts: int,
    ) -> Understood:
        """Return the facts and the summary of a conversation's messages that may be recalled.

        `language` is that of the memory: what a summary says of its own is said in it.
        """
        found = self._facts(messages, brain, max_facts=max_facts)
        told = self._writer.session(messages, language)
        summary = " ".join(one.text for one in told.paragraphs)
        return Understood(Extraction(found.facts, found.dropped), summary, notes=told.notes)
