"""The built-in writer of summaries: whole sentences of what was said, chosen and attributed.

Nothing is reworded, so that nothing can be made up, in whatever language it was said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vaultmind.consolidate.facts.talk import Understand
from vaultmind.consolidate.levels.choosing import Choice
from vaultmind.consolidate.levels.spoken import (
    Spoken,
    lined_up,
    of_messages,
    of_sessions,
    of_summaries,
)
from vaultmind.consolidate.levels.writer import Paragraph, Source, Told
from vaultmind.consolidate.types import Level
from vaultmind.ports import Embedder
from vaultmind.tokens import count
from vaultmind.types import Message

SENTENCES = 5
"""Most of the summary of one talk, ..."""
SESSION_TOKENS = 130
"""... and most that they may be long together."""
PARAGRAPHS: dict[Level, int] = {"L1": 5, "L2": 3}
MOST_IN_A_PARAGRAPH = 8
GAP_TOKENS = 1
"""What an empty line between two paragraphs costs."""


class ExtractiveWriter:
    """Implements `SummaryWriter`. `understand` knows the person's own phrases, where given."""

    def __init__(
        self,
        understand: Understand | None = None,
        embedder: Callable[[], Embedder | None] = lambda: None,
    ) -> None:
        self._understand = understand
        self._embedder = embedder

    def session(self, messages: Sequence[Message], language: str) -> Told:
        """Return three to five sentences of a talk; fewer where less was said."""
        spoken = of_messages(messages, language, self._understand, self._embedder())
        chosen = Choice(spoken).best(_sound(spoken), SENTENCES, SESSION_TOKENS)
        return Told((_paragraph(chosen),) if chosen else ())

    def level(
        self, level: Level, sources: Sequence[Source], language: str, max_tokens: int
    ) -> Told:
        """Return a paragraph for each source, or for each few in a row, within `max_tokens`."""
        spoken = (
            of_sessions(sources, language, self._understand, self._embedder())
            if level == "L1"
            else of_summaries(sources, language)
        )
        choice = Choice(spoken)
        paragraphs: list[Paragraph] = []
        said: list[Spoken] = []
        groups = _groups(sources, PARAGRAPHS[level])
        left = max(1, max_tokens - GAP_TOKENS * (len(groups) - 1))
        for number, group in enumerate(groups):
            ids = {source.id for source in group}
            among = [one for one in spoken if one.source.partition("#")[0] in ids]
            share = left // (len(groups) - number)
            chosen = choice.best(_sound(among), MOST_IN_A_PARAGRAPH, share, said)
            while chosen and count(lined_up(chosen)) > share:
                chosen = choice.best(chosen, len(chosen) - 1, share, said)
            if chosen:
                paragraphs.append(_paragraph(chosen))
                said += chosen
                left -= count(paragraphs[-1].text)
        return Told(tuple(paragraphs))


def _sound(spoken: Sequence[Spoken]) -> list[Spoken]:
    """Return statements; where there is none, what was asked."""
    return [one for one in spoken if not one.asks] or list(spoken)


def _paragraph(chosen: Sequence[Spoken]) -> Paragraph:
    return Paragraph(lined_up(chosen), tuple(dict.fromkeys(one.source for one in chosen)))


def _groups(sources: Sequence[Source], most: int) -> list[Sequence[Source]]:
    """Return the sources in order, in at most so many groups of about one size."""
    number = min(most, len(sources))
    if not number:
        return []
    ends = [round(len(sources) * (at + 1) / number) for at in range(number)]
    return [sources[start:end] for start, end in zip([0, *ends], ends, strict=False)]
