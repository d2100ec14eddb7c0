"""In words: why files were chosen, why others were not, and what a plan lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vaultmind.errors import install_hint
from vaultmind.planner.candidates import LINKED, Asked, is_said, missing_of
from vaultmind.planner.pieces import beginnings, may_hold
from vaultmind.planner.types import CacheStatus, Dropped, FileRecord, Layer, Piece, Understood
from vaultmind.planner.words import stems_of
from vaultmind.plural import counted
from vaultmind.types import Reason
from vaultmind.vault.oneline import one_line

if TYPE_CHECKING:
    from vaultmind.planner.candidates import Candidate

MOST_DROPPED = 12
REASONS = 3
"""Of a file, that are told."""

NO_ROOM = "no room left in the token budget"
TOO_LITTLE = "low utility per token"
TOO_FAR = "ranked too low"
CHANGED = "changed while it was being planned"
GONE = "cannot be read any more"
EMPTY = "it is empty"


def told_intent(understood: Understood) -> str:
    """Return what the task was taken for."""
    why = f": {'; '.join(understood.reasons[:REASONS])}" if understood.reasons else ""
    sure = f"{understood.confidence:.0%} sure"
    return f"Taken for {understood.predicted} ({sure}, {understood.risk} risk){why}."


def told_files(
    files: Sequence[str], pieces: Sequence[Piece], reasons: Mapping[str, Sequence[Reason]]
) -> list[str]:
    """Return for each file why it was chosen, and which layers tell of it."""
    layers: dict[str, dict[Layer, None]] = {}
    for piece in pieces:
        layers.setdefault(piece.path, {})[piece.layer] = None
    return [_told_file(path, reasons.get(path, ()), [*layers.get(path, ())]) for path in files]


def _told_file(path: str, reasons: Sequence[Reason], layers: Sequence[Layer]) -> str:
    why = ", ".join(str(one) for one in reasons[:REASONS]) or "the best that is left"
    name = path if path.isprintable() else one_line(path)
    return f"{name} ({'+'.join(layers)}): {why}" if layers else f"{name}: {why}"


def told_dropped(files: Sequence[tuple[str, str]]) -> tuple[Dropped, ...]:
    """Return the best of the files that were left out, with the reason."""
    return tuple(Dropped(path, reason) for path, reason in files[:MOST_DROPPED])


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


LITTLE = 0.3
"""What the best file holds of the task's words, or is near it in meaning, for a plan to be one."""
SAME = 0.75
"""How near in meaning a file is for that alone to do."""
SURE = ("path", "definitions", "named", "defined", "place", "affinity")
"""Signals that need no other words of the task beside them."""
MOST_MISSING = 2
NOTHING = "No word of the task stands in this source: nothing is shown."
FEW = "Hardly a word of the task stands in this source: what is shown may not be about it."
READING = (
    "How the files hang together is still being read: names, links and history may be missing."
)


def notes_of(
    asked: Asked, status: CacheStatus, found: Sequence[Candidate], *, is_known: bool
) -> tuple[str, ...]:
    """Return what a plan lacks. `is_known` tells that names and the past are up to date."""
    state = asked.source.index.state()
    if state.phase in ("starting", "indexing"):
        return (f"Still indexing: {state.indexed} of {state.files} files are known.",)
    lacks = _structure(asked, status, is_known=is_known)
    return (*state.notes, *lacks, *(_task(asked, found) if is_known else ()))


def _structure(asked: Asked, status: CacheStatus, *, is_known: bool) -> Iterator[str]:
    structure = asked.source.structure
    if structure is None:
        yield "Nothing is known of how the files hang together."
        return
    progress = structure.progress
    if progress.done < progress.total:
        yield f"{progress.done} of {progress.total} files are read for how they hang together."
    elif not is_known or (status == "partial" and not structure.settled):
        yield READING
    if count := asked.known.names.unread:
        yield (
            f"{counted(count, 'file')} of code as text only, without definitions and imports: "
            f"{install_hint('code')}, then `vaultmind daemon stop`."
        )


def _task(asked: Asked, found: Sequence[Candidate]) -> Iterator[str]:
    """Yield what of the task is not there."""
    for path in missing_of(asked)[:MOST_MISSING]:
        yield f"No {path} is known in this source."
    if not found:
        yield NOTHING
    elif is_little(found):
        yield FEW


def is_little(found: Sequence[Candidate]) -> bool:
    """Tell whether hardly anything of a task stands in its candidates, or meaning alone found them.

    Any two texts are somewhat near each other in meaning: that is no sign by itself.
    """
    by_words = any(is_said(one.signals) for one in found)
    near = max((one.signals.get("meaning", 0.0) for one in found), default=0.0)
    best = max((told_by(one.signals) for one in found), default=0.0)
    return best < LITTLE or not (by_words or near >= SAME)


def told_by(signals: Mapping[str, float]) -> float:
    """Return how much of a task a file answers, 0 to 1, by itself and not against the others."""
    held = max(signals.get("coverage", 0.0), signals.get("meaning", 0.0))
    return max(held, *(signals.get(name, 0.0) for name in SURE))
