"""Telling: a file's reasons, each said once, with the words of the task that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from vaultmind.planner.candidates.candidates import LINKED
from vaultmind.planner.candidates.places import beginnings, may_hold
from vaultmind.planner.types import FileRecord
from vaultmind.planner.words import stems_of
from vaultmind.types import Reason

MOST_NAMES = 120
"""Definitions and headings of a file whose words are told."""
MOST_WORDS = 3
BIG_TOKENS = 2_000
"""How large a file is of which it is told that much stands in it."""
_ALIKE = (
    ("words", "words_sum", "coverage", "rank"),
    ("path", "whole_name", "scope"),
    ("definitions", "defined"),
    ("similar", "told"),
    ("f_affinity_score", "causal"),
    ("test", "tested", "f_test_proximity"),
)
"""Families that say nearly the same: one of them is told, with the share of all."""
_KINDS = {name: each[0] for each in _ALIKE for name in each}
_ANYHOW = ("f_structural_relevance", "f_recency_score", "f_token_cost", "frequent")
_LAST = {"beside": 1} | dict.fromkeys(_ANYHOW, 2)
"""What lifts a file whatever stands in it, or whatever the task is: told last."""
HOLDS = "words of the task"
EARLIER = dict.fromkeys(("f_affinity_score", "causal"), ("changed in ", "read in "))
"""What earlier work says of a file begins so."""


@dataclass(frozen=True, slots=True)
class TaskWords:
    """The words of a task, to be named in reasons."""

    written: Mapping[str, str]
    """Of each stem, how the task writes it."""
    told: Mapping[str, float]
    """How much each stem tells."""

    def among(self, texts: Iterable[str]) -> str:
        """Return those that stand in some texts, the most telling first; empty where none does."""
        if not self.written:
            return ""
        begins = beginnings(self.written)
        held = {stem for text in texts if may_hold(begins, text) for stem in stems_of(text)}
        ranked = sorted(
            (stem for stem in self.written if stem in held),
            key=lambda stem: (-self.told.get(stem, 0.0), stem),
        )
        return " ".join([*dict.fromkeys(self.written[stem] for stem in ranked)][:MOST_WORDS])


def told_reasons(
    reasons: Sequence[Reason],
    because: Sequence[str],
    words: TaskWords,
    texts: Mapping[str, Iterable[str]],
) -> tuple[Reason, ...]:
    """Return reasons that are each about something else, with names where there are any.

    `because` says which strong candidate leads to the file; `texts` what of it each kind of
    reason is about.
    """
    joined: dict[str, Reason] = {}
    for one in reasons:
        kind = _KINDS.get(one.family, one.family)
        first = joined.get(kind)
        joined[kind] = one if first is None else replace(first, share=first.share + one.share)
    kinds = sorted(joined, key=lambda kind: _LAST.get(kind, 0))
    return tuple(
        _named(joined[kind], because, words, texts.get(kind, ()) if at < MOST_WORDS else ())
        for at, kind in enumerate(kinds)
    )


def texts_of(
    path: str, record: FileRecord | None, shown: Sequence[str]
) -> dict[str, Sequence[str]]:
    """Return what of a file each kind of reason is about."""
    texts: dict[str, Sequence[str]] = {"words": shown, "path": (path,)}
    if record is not None:
        some = record.definitions[:MOST_NAMES]
        names = [f"{one.name} {one.summary}" for one in some]
        names += [one.text for one in record.headings[:MOST_NAMES]]
        texts["definitions"] = names
    return texts


def is_told(reason: Reason, record: FileRecord | None) -> bool:
    """Tell whether a reason is worth a word: that much stands in a small file is none."""
    tokens = record.tokens if record else 0
    return reason.family != "f_token_cost" or tokens >= BIG_TOKENS


def _named(
    reason: Reason, because: Sequence[str], words: TaskWords, texts: Iterable[str]
) -> Reason:
    verbs = EARLIER.get(reason.family) or (f"{LINKED.get(reason.family, reason.family)} ",)
    if told := next((told for told in because if told.startswith(verbs)), ""):
        return replace(reason, words=told)
    held = words.among(texts)
    said = HOLDS if _KINDS.get(reason.family) == "words" else reason.words
    return replace(reason, words=f"{said}: {held}") if held else reason
