"""In words: why files were chosen, why others were not, and what a plan lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from vaultmind.errors import install_hint
from vaultmind.planner.candidates import LINKED, Asked, Candidate, missing_of
from vaultmind.planner.names import may_hold, stems_of, told_by, written_in
from vaultmind.planner.types import CacheStatus, FileRecord, Layer, Piece, Understood
from vaultmind.plural import counted
from vaultmind.types import Reason
from vaultmind.vault.oneline import one_line

MOST_DROPPED = 12
REASONS, MOST_WORDS = 3, 3
"""Of a file, that are told; of the task, in one of them."""
NO_ROOM = "no room left in the token budget"
TOO_LITTLE = "low utility per token"
TOO_FAR = "ranked too low"
CHANGED = "changed while it was being planned"
GONE = "cannot be read any more"
EMPTY = "it is empty"
BIG_TOKENS = 2_000
"""How large a file is of which it is told that much stands in it."""
_ALIKE = (
    ("words", "words_sum", "coverage", "rank"),
    ("path", "whole_name", "scope"),
    ("definitions", "defined"),
    ("f_affinity_score", "causal"),
    ("test", "tested", "f_test_proximity"),
)
"""Families that say nearly the same: one of them is told, with the share of all."""
_KINDS = {name: each[0] for each in _ALIKE for name in each}
_ANYHOW = ("f_structural_relevance", "f_recency_score", "f_token_cost")
_LAST = {"beside": 1} | dict.fromkeys(_ANYHOW, 2)
"""What lifts a file whatever stands in it, or whatever the task is: told last."""
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


def intent_words(understood: Understood) -> str:
    """Return what the task was taken for."""
    why = f": {'; '.join(understood.reasons[:REASONS])}" if understood.reasons else ""
    sure = f"{understood.confidence:.0%} sure"
    return f"Taken for {understood.predicted} ({sure}, {understood.risk} risk){why}."


def file_words(path: str, reasons: Sequence[Reason], layers: Sequence[Layer]) -> str:
    """Return why a file was chosen, and which layers tell of it."""
    why = ", ".join(str(one) for one in reasons[:REASONS]) or "the best that is left"
    name = path if path.isprintable() else one_line(path)
    return f"{name} ({'+'.join(layers)}): {why}"


def named_reasons(
    reasons: Sequence[Reason],
    because: Iterable[str],
    task: str,
    told: Mapping[str, float],
    record: FileRecord | None,
    pieces: Sequence[Piece],
) -> tuple[Reason, ...]:
    """Return reasons that are each about something else, with what they are about.

    `because` says which strong candidate leads to the file; `told` how much each word of the
    task tells; `pieces` are what may be shown of it.
    """
    is_big = record is not None and record.tokens >= BIG_TOKENS
    joined: dict[str, Reason] = {}
    for one in reasons:
        kind = _KINDS.get(one.family, one.family)
        first = joined.get(kind)
        if kind != "f_token_cost" or is_big:
            joined[kind] = one if first is None else replace(one, share=first.share + one.share)
            joined[kind] = replace(joined[kind], words=(first or one).words, family=kind)
    ordered = sorted(joined.values(), key=lambda one: _LAST.get(one.family, 0))
    texts: dict[str, Sequence[str]] = {
        "words": [piece.text for piece in pieces],
        "path": [piece.path for piece in pieces[:1]],
        "definitions": told_by(record) if record else (),
    }
    return tuple(
        _named(one, because, task, told, texts.get(one.family, ()) if at < REASONS else ())
        for at, one in enumerate(ordered)
    )


def _named(
    reason: Reason,
    because: Iterable[str],
    task: str,
    told: Mapping[str, float],
    texts: Iterable[str],
) -> Reason:
    verbs: tuple[str, ...] = (f"{LINKED.get(reason.family, reason.family)} ",)
    if reason.family == "f_affinity_score":
        verbs = ("changed in ", "read in ")
    if said := next((one for one in because if one.startswith(verbs)), ""):
        return replace(reason, words=said)
    written = written_in(task)
    held = {stem for text in texts if may_hold(written, text) for stem in stems_of(text)}
    ranked = sorted(held & written.keys(), key=lambda stem: (-told.get(stem, 0.0), stem))
    words = " ".join([*dict.fromkeys(written[stem] for stem in ranked)][:MOST_WORDS])
    about = "words of the task" if reason.family == "words" else reason.words
    return replace(reason, words=f"{about}: {words}" if words else reason.words)


# --- what a plan lacks --------------------------------------------------------------------


def notes_of(asked: Asked, status: CacheStatus, found: Sequence[Candidate]) -> tuple[str, ...]:
    """Return what a plan lacks."""
    state = asked.source.index.state()
    if state.phase in ("starting", "indexing"):
        return (f"Still indexing: {state.indexed} of {state.files} files are known.",)
    return (*state.notes, *_lacks(asked, status, found))


def _lacks(asked: Asked, status: CacheStatus, found: Sequence[Candidate]) -> Iterator[str]:
    structure = asked.source.structure
    progress = structure.progress
    if progress.done < progress.total:
        yield f"{progress.done} of {progress.total} files are read for how they hang together."
    elif status == "partial" and not structure.settled:
        yield READING
    if count := structure.names.unread:
        yield (
            f"{counted(count, 'file')} of code as text only, without definitions and imports: "
            f"{install_hint('code')}, then `vaultmind daemon stop`."
        )
    if status == "partial" and not structure.settled:
        return
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
    near = max((one.signals.get("meaning", 0.0) for one in found), default=0.0)
    names = ("coverage", "meaning", *SURE)
    best = max((one.signals.get(name, 0.0) for one in found for name in names), default=0.0)
    return best < LITTLE or not (near >= SAME or any(one.is_said for one in found))
