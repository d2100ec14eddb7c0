"""What a hit's score means, from 0 to 1, and which hits are too weak to be an answer.

The order of hits comes from the ranker, which says nothing about whether any of them is
good. The score does: the share of the query's telling words that the hit holds, the rare ones
counting most (`coverage`), and its closeness in meaning on the embedder's scale; each fills a
part of what the other leaves open. 0.8 answers nearly all of the query, 0.5 a good half, 0.25
hardly more than chance.

The numbers come from `benchmarks/relevance.py`, with the example vault's questions and with
questions that it cannot answer; docs/benchmarks.md has the trade-off.
"""

from __future__ import annotations

from vaultmind.index.embedders.scale import STRONG
from vaultmind.index.words.terms import words
from vaultmind.types import Chunk

CHANCE, CHANCE_BY_WORDS = 0.25, 0.2
"""Where no hit scores more, nothing was found; the second where there is no embedder."""
LEAST = 0.1
"""What a hit of a weak answer scores at least ..."""
SHARE_OF_BEST = 0.3
"""... and beside strong ones at least this much of the best."""
BARE_WORDS = 2
"""Words of an episode's remark (`kept`, `it works`) that say nothing by themselves: a vector of so
little is near many a question."""


def is_bare(chunk: Chunk) -> bool:
    """Tell whether a text is too short to be found by meaning alone."""
    return chunk.kind == "episode" and len(words(chunk.text)) <= BARE_WORDS


def relevance(coverage: float, meaning: float) -> float:
    """Return the score of a hit: what its words leave open, its meaning may fill."""
    return 1.0 - (1.0 - coverage) * (1.0 - meaning)


def floor_of(best: float, *, by_words_alone: bool = False) -> float:
    """Return what a hit must score to be shown, beside the best one that was found."""
    if best < (CHANCE_BY_WORDS if by_words_alone else CHANCE):
        return float("inf")
    return LEAST if best < STRONG else max(LEAST, SHARE_OF_BEST * best)
