"""What was said before and after a message that was found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from vaultmind import tokens
from vaultmind.index.search.passage import ending
from vaultmind.index.storage.where import message_number
from vaultmind.types import Chunk, SearchRequest

LEAST_TOKENS = 12
"""Less than this of a message says nothing."""
MOST_NAME = 40
_SPOKEN = ("user", "assistant")

Around = Callable[[Chunk], Sequence[Chunk]]
"""Returns the chunks around one in its file, in order, itself among them."""


@dataclass(frozen=True, slots=True)
class Talk:
    """What was said around a message, as far as it may be shown."""

    request: SearchRequest
    around: Around
    shows: Callable[[Chunk], bool]
    clean: Callable[[str], str]
    known: Collection[tuple[str, str]] = ()
    """(path, anchor) of what is shown anyway."""

    def around_message(self, run: Sequence[Chunk], most_tokens: int) -> tuple[str, str]:
        """Return the end of what was said before a message, and the beginning of what came next.

        Each with who said it, within so many tokens together, half of them each at most. `run` are
        the chunks of the message.
        """
        if most_tokens // 2 < LEAST_TOKENS:
            return "", ""
        first, last = run[0], run[-1]
        near = self.around(first)
        side = self._spoken(near[: _place(near, first)], first)
        before = self._said(side, side[-1:], most_tokens // 2, ending)
        near = near if last is first else self.around(last)
        side = self._spoken(near[_place(near, last) + 1 :], last)
        return before, self._said(side, side[:1], most_tokens // 2, tokens.clip)

    def _spoken(self, side: Sequence[Chunk], own: Chunk) -> list[Chunk]:
        """Return what persons and agents said of what stands beside a message; tools left out."""
        return [one for one in side if one.anchor != own.anchor and one.role in _SPOKEN]

    def _said(
        self,
        side: Sequence[Chunk],
        nearest: Sequence[Chunk],
        most_tokens: int,
        cut: Callable[[str, int], str],
    ) -> str:
        """Return the nearest message of a side on one line; empty where it may not be shown."""
        pieces = [one for one in side if nearest and one.anchor == nearest[0].anchor]
        if not pieces or not all(map(self._may_be_seen, pieces)):
            return ""
        who = " ".join(pieces[0].speaker.split())[:MOST_NAME] or pieces[0].role
        text = " ".join("\n".join(piece.text for piece in pieces).split())
        said = self.clean(f"{who}: {text}")
        lead = said[: len(who) + 2] if said.startswith(f"{who}: ") else ""
        room = most_tokens - tokens.count(lead) - 1  # the sum of two is rounded twice
        return lead + cut(said[len(lead) :], room)

    def _may_be_seen(self, chunk: Chunk) -> bool:
        """Tell whether it may be shown, is of the time asked for, and is not seen anyway."""
        asked, day = self.request, chunk.time[:10]
        if (asked.after and day < asked.after[:10]) or (asked.before and day > asked.before[:10]):
            return False
        if chunk.path == asked.running:
            number = message_number(chunk.anchor.removeprefix("#^"))
            if not 0 < number < message_number(asked.since):
                return False
        return (chunk.path, chunk.anchor) not in self.known and self.shows(chunk)


def _place(near: Sequence[Chunk], chunk: Chunk) -> int:
    """Return where a chunk stands among those around it; behind them where it is gone."""
    return next((at for at, one in enumerate(near) if one.id == chunk.id), len(near))
