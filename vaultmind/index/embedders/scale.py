"""What a cosine means: it is 0.7 for what is near with one embedder, for chance with another."""

from __future__ import annotations

from dataclasses import dataclass

STRONG = 0.45
"""Where no hit scores more, the answer says that it is a weak one."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Cosines of an embedder: what has nothing to do with a query, and what says the same."""

    nothing: float
    same: float
    half: float = STRONG
    """The score that a hit must have to be worth a place beside the question, with this embedder:
    it reads as 0.5 (see `reading`)."""

    def reading(self, score: float) -> float:
        """Return a hit's score on the scale of `recall.relevance`, which is every embedder's."""
        if score < self.half:
            return 0.5 * score / self.half
        return 0.5 + 0.5 * (score - self.half) / (1.0 - self.half)

    def meaning(self, cosine: float) -> float:
        """Return closeness in meaning, from 0 to 1."""
        return min(1.0, max(0.0, self.place(cosine)))

    def place(self, cosine: float) -> float:
        """Return the same without its bounds: what is nearer than a question and its answer."""
        return (cosine - self.nothing) / (self.same - self.nothing)

    def cosine(self, place: float) -> float:
        """Return the cosine that stands at a place."""
        return self.nothing + place * (self.same - self.nothing)


_SCALES = {"use": Scale(0.15, 0.5), "e5": Scale(0.8, 0.9, half=0.5), "": Scale(0.15, 0.5, half=0.4)}
"""By the beginning of an embedder's id; without one, half of what a score is made of lacks."""


_MEASURED: dict[str, Scale] = {}
"""By id, which holds a hash of the model: those of embedders that were measured on this machine."""


def scale_of(embedder: str) -> Scale:
    """Return the scale of an embedder by its id, e.g. `use-0.2`; of an unknown one a usual one.

    Of none, where the id is empty, that of words alone. That of a model in a file is measured
    when it is loaded for the first time (`calibration`).
    """
    measured = _MEASURED.get(embedder)
    return measured or _SCALES.get(embedder.partition("-")[0], _SCALES["use"])


def use_scale(embedder: str, scale: Scale) -> None:
    """Take a scale for an embedder by its id."""
    _MEASURED[embedder] = scale
