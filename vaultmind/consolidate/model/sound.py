"""Which sentences of a model are said by what it was shown; the others are left out and told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vaultmind.consolidate.facts.astray import astray
from vaultmind.memory.match import mentions, same_fact
from vaultmind.plural import counted
from vaultmind.session.sentences import sentences
from vaultmind.vault.oneline import one_line

ENOUGH = 0.5
"""Share of what a model says that must be sound for its answer to be worth anything."""
FEWEST, LONG = 2, 6
"""Sentences that a conversation of so many lines is summed up in, at least."""
MOST_CHARACTERS = 400
"""Of a sentence; a longer one is no summing-up."""


@dataclass(frozen=True, slots=True)
class Sound:
    """What is left of some sentences."""

    kept: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    """What each of the others says that nobody said, in words."""

    def enough(self, lines: int = 1) -> bool:
        """Tell whether enough is left to sum up so many lines."""
        offered = len(self.kept) + len(self.dropped)
        fewest = FEWEST if lines >= LONG else 1
        return len(self.kept) >= max(fewest, ENOUGH * offered)


def sound(texts: Iterable[str], sources: Sequence[str], unwanted: Sequence[str] = ()) -> Sound:
    """Return the sentences of some texts that their sources say, each once, in order.

    One that says any of what is `unwanted` (forgotten, taken back) is left out.
    """
    kept: list[str] = []
    dropped: list[str] = []
    for text in texts:
        for one in sentences(one_line(text)):
            if any(same_fact(one, other) for other in kept):
                continue
            fault = _fault(one, sources, unwanted)
            if fault:
                dropped.append(fault)
            elif any(map(str.isalnum, one)):
                kept.append(one if one[-1] in '.!?…。！？"»”)' else f"{one}.")
    return Sound(tuple(kept), tuple(dropped))


def _fault(sentence: str, sources: Sequence[str], unwanted: Sequence[str]) -> str:
    if len(sentence) > MOST_CHARACTERS:
        return "a sentence without an end"
    if any(mentions(sentence, one) for one in unwanted):
        return "what is not to be kept"
    return astray(sentence, sources)


def left_out(dropped: Sequence[str]) -> tuple[str, ...]:
    """Return a note on the sentences that were left out, if any."""
    if not dropped:
        return ()
    number = f"{counted(len(dropped), 'sentence')} of the model"
    shown = "; ".join(dict.fromkeys(dropped[:3]))
    return (f"{number} left out: nobody said {shown}.",)
