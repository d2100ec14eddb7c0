"""Weighted reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): a baseline. Pure.

Measured on LoCoMo and on the example vault (docs/benchmarks.md): where the words of a question
are found, a small embedder's ranking only blurs that of BM25, so it fills in below. But words
find nothing in another language, so there the vectors compete: a chunk in another language
than the question's takes whichever place is better, and a better one the weaker the text is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

RRF_K = 60
"""Damps the head of a list: rank 1 counts 1/61, rank 10 counts 1/70."""
FILL = 0.01
"""Weight of vectors in the question's own language, below all that text found."""
FOREIGN = 0.98
"""Weight of vectors in other languages: the nearest stands after two hits of text or so ..."""
FOREIGN_GAIN = 0.05
STRONG_TEXT = 0.8
"""... and higher by this much for each whole that text falls short of a strong hit."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What the rank in each list is worth."""

    text: float = 1.0
    vector: float = 1.0
    foreign: float = 1.0
    """Of a vector whose chunk is in another language than the question."""


@dataclass(frozen=True, slots=True)
class Fused:
    """An item with its score, and what each list gave to it."""

    key: int
    score: float
    parts: dict[str, float]


def weights_for(share: float) -> Weights:
    """Return the weights for a query whose best hit by text has this share of `best_score`."""
    if share <= 0:
        return Weights()
    return Weights(vector=FILL, foreign=FOREIGN + FOREIGN_GAIN * max(0.0, STRONG_TEXT - share))


def fuse(
    text: Sequence[int], vector: Sequence[int], foreign: Collection[int], weights: Weights
) -> list[Fused]:
    """Return the items of both lists (each best first, none twice in one), the best first.

    An item gets `weight / (RRF_K + rank)` from each list, of `foreign` ones the better of the
    two. Ties go to the smaller key.
    """
    parts = {key: {"text": weights.text / (RRF_K + rank)} for rank, key in enumerate(text, 1)}
    for rank, key in enumerate(vector, 1):
        held = parts.setdefault(key, {})
        if key not in foreign:
            held["vector"] = weights.vector / (RRF_K + rank)
        elif (share := weights.foreign / (RRF_K + rank)) > held.get("text", 0.0):
            parts[key] = {"vector": share}
    fused = [Fused(key, sum(shares.values()), shares) for key, shares in parts.items()]
    return sorted(fused, key=lambda item: (-item.score, item.key))
