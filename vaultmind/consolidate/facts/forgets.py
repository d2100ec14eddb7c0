"""What the user asked to have forgotten, in set phrases and in everyday words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vaultmind.consolidate.facts.cues import begins, says
from vaultmind.consolidate.facts.own import pieces
from vaultmind.consolidate.facts.statement import statement
from vaultmind.consolidate.facts.talk import Said
from vaultmind.consolidate.facts.types import Candidate
from vaultmind.memory.words import SOFT, content, fold

ASKED = 5.0
"""What a request to forget weighs."""


def forgets(said: Sequence[Said]) -> Iterator[Candidate]:
    """Yield what the user asked to forget; not `asked` where only the memory can tell that it was.

    `Wipe the bit about Tom` asks it of a memory that knows Tom, and is about something else in
    one that does not.
    """
    done: set[str] = set()
    for one in said:
        words = one.intent.payload if one.intent.intent == "forget_topic" else ""
        text = statement(one.text)
        if not words and one.intent.intent == "none" and (asked := begins(fold(text), "forget")):
            words = text[asked.end() :].strip()
        words = words[slice(*next(pieces(words), (0, 0)))]
        if _tells(words):
            yield Candidate("DELETE", words, (one.key,), ASKED, asked=True)
        elif is_loose(one) and one.whole not in done:
            done.add(one.whole)
            yield Candidate("DELETE", statement(one.whole), (one.key,), ASKED)


def is_loose(one: Said) -> bool:
    """Tell whether a piece of talk orders something away that may be a fact of the memory."""
    if one.fault in (
        "quoted",
        "question",
        "hypothetical",
        "orders the memory",
        "private",
        "secret",
    ):
        return False
    return bool(says(fold(one.whole), "away")) and _tells(one.whole)


def _tells(words: str) -> bool:
    return any(word.folded not in SOFT for word in content(words))
