"""A conversation as a model is shown it: what was said, one numbered line a message.

No tool output, no pastes, no code, no private or secret words, nothing that was asked not to be
kept and no orders to a memory: what is not shown cannot be repeated.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from vaultmind.consolidate.talk import GAP, Talk, key_of, own_sentences, own_words, says
from vaultmind.consolidate.types import Reason
from vaultmind.index.words.language import detect
from vaultmind.memory.words import fold
from vaultmind.minion.window import Count, Window, windows
from vaultmind.redact import blank_private, mask
from vaultmind.session.sentences import sentences
from vaultmind.types import Message, Role
from vaultmind.vault.oneline import one_line

LEFT_OUT = "[…]"
"""Stands where something was taken out."""
OVERLAP = 2
"""Lines that end a window and stand at the beginning of the next one too."""
_HIDDEN: frozenset[Reason] = frozenset({"private", "secret", "orders the memory"})
_WITHHELD: Reason = "asked not to keep"
_NUMBERED = re.compile(r"\[(\d+)\](?=\s)")
"""What looks like the beginning of a line of ours."""


@dataclass(frozen=True, slots=True)
class Line:
    """A message as a model is shown it."""

    number: int
    """From 1: what the model calls it."""
    key: str
    role: Role | Literal[""]
    """Empty where nobody speaks: a note."""
    text: str

    @property
    def shown(self) -> str:
        """Return the line."""
        speaker = f"{self.role}: " if self.role else ""
        return f"[{self.number}] {speaker}{self.text}"


def transcript(messages: Sequence[Message], talk: Talk) -> tuple[Line, ...]:
    """Return the lines of a conversation that a model may see; `talk` is what was read of it."""
    hidden: defaultdict[str, set[str]] = defaultdict(set)
    withheld = {one.key for one in talk.said if one.fault == _WITHHELD}
    for one in talk.said:
        if one.fault in _HIDDEN:
            hidden[one.key].add(one.whole)
    found: list[Line] = []
    for message in messages:
        key = key_of(message)
        if message.role not in ("user", "assistant") or message.asked or message.erased:
            continue
        text = "" if key in withheld else _shown(message, hidden[key])
        if any(map(str.isalnum, text)):
            found.append(Line(len(found) + 1, key, message.role, text))
    return tuple(found)


def without_orders(text: str) -> str:
    """Return on one line what of a tool's output may be shown: up to the first order to a memory.

    What follows an order mostly goes on with it. Secrets are masked, private words are left out.
    """
    kept: list[str] = []
    for one in sentences(mask(blank_private(text)).text):
        if gives_orders(one):
            break
        kept.append(one)
    return one_line(" ".join(kept))


def gives_orders(text: str) -> bool:
    """Tell whether a sentence orders a memory about, or repeats what does."""
    return bool(says(fold(one_line(text)), "order"))


def shares(
    lines: Sequence[Line], room: int, count: Count
) -> tuple[tuple[Window, tuple[Line, ...]], ...]:
    """Return the lines shared out among windows, each with the lines that stand in it."""
    found = windows([line.shown for line in lines], room, count, overlap=OVERLAP)
    return tuple(
        (window, tuple(lines[at] for at in dict.fromkeys(piece.source for piece in window.pieces)))
        for window in found
    )


def text_of(window: Window) -> str:
    """Return what stands in a window."""
    return "\n".join(piece.text for piece in window.pieces)


def language_of(texts: Iterable[str], fallback: str) -> str:
    """Return the language that is spoken, which is the one to answer in."""
    return detect(" ".join(texts), fallback) or fallback


def _shown(message: Message, hidden: set[str]) -> str:
    """Return a message's own words on one line, without the sentences that are hidden."""
    own, gone = own_words(message.text)
    kept = [LEFT_OUT if one in hidden else one for one in own_sentences(own)]
    if any(text.strip() for text, _ in gone) and not own.strip():
        return ""
    text = one_line(" ".join(kept).replace(GAP, LEFT_OUT))
    return _NUMBERED.sub(r"(\1)", text)
