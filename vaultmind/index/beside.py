"""What was said before and after a message that was found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from vaultmind import tokens
from vaultmind.index.passage import ending
from vaultmind.index.where import message_number
from vaultmind.types import Chunk, SearchRequest

LEAST_TOKENS = 12
"""Less than this of a message says nothing."""
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

    def before(self, chunk: Chunk, most_tokens: int) -> str:
        """Return who spoke before a message, and the end of what they said."""
        side = self._near(chunk)[0]
        return self._said(side, side[-1:], most_tokens, ending)

    def after(self, chunk: Chunk, most_tokens: int) -> str:
        """Return who spoke after a message, and the beginning of what they said."""
        side = self._near(chunk)[1]
        return self._said(side, side[:1], most_tokens, tokens.clip)

    def _near(self, chunk: Chunk) -> tuple[list[Chunk], list[Chunk]]:
        """Return what stands before and after a message, tools left out."""
        near = list(self.around(chunk))
        at = next((at for at, one in enumerate(near) if one.id == chunk.id), len(near))
        both = near[:at], near[at + 1 :]
        before, after = (
            [one for one in side if one.anchor != chunk.anchor and one.role in _SPOKEN]
            for side in both
        )
        return before, after

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
        text = " ".join(self.clean("\n".join(piece.text for piece in pieces)).split())
        who = " ".join(self.clean(pieces[0].speaker).split()) or pieces[0].role
        room = most_tokens - tokens.count(f"{who}: ") - 1  # the sum of two is rounded twice
        return f"{who}: {cut(text, room)}" if room >= LEAST_TOKENS else ""

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
