"""Assembling: from ranked files to a context that fits, with every piece checked on the disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from vaultmind import tokens
from vaultmind.errors import VaultMindError
from vaultmind.planner.candidates.candidates import Asked
from vaultmind.planner.candidates.places import EarlierUse
from vaultmind.planner.candidates.pool import Candidate
from vaultmind.planner.packing.packer import Offer, Packed, bound, pack
from vaultmind.planner.packing.pieces import Form, Worth, forms_of, rendered
from vaultmind.planner.ranking.scorer import relevances
from vaultmind.planner.sources.freshness import Page, indexed_shas, read_page, state_of
from vaultmind.planner.telling.telling import TaskWords, is_told, texts_of, told_reasons
from vaultmind.planner.telling.trace import (
    CHANGED,
    EMPTY,
    GONE,
    NO_ROOM,
    TOO_FAR,
    TOO_LITTLE,
    told_dropped,
    told_files,
    told_intent,
)
from vaultmind.planner.types import BudgetReport, Dropped, Piece, PlannedContext
from vaultmind.planner.words import stems_of, written_in
from vaultmind.types import Freshness, Reason

CONSIDERED = 12
"""Files, the best, of which forms are made: more is a list, and no reading for a task."""
SOFTNESS = 2.0
"""How far behind the best a score may be before its file is worth little."""
LEAST = 0.02
"""Relevance below which a file is left out even where there is room."""
SURE, SURER = 0.6, 0.1
"""How far a relevance is believed by itself, and more for each kind of sign that speaks for it."""
WORTH_READING = 0.5
"""Relevance from which a file gets what room is left, so that more of it can be read."""
SETTLE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its place."""

    candidate: Candidate
    score: float
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Assembled:
    """The parts of a plan that the packing decides."""

    context: PlannedContext
    report: BudgetReport
    freshness: Literal["fresh", "stale", "dirty"]
    trace: tuple[str, ...]
    dropped: tuple[Dropped, ...]
    outdated: tuple[str, ...]
    """Files that the index or the structure did not hold as they stand on disk, or that changed
    meanwhile: to be looked at again."""


@dataclass(frozen=True, slots=True)
class LaidFile:
    """A file whose forms can be packed."""

    page: Page
    forms: tuple[Form, ...]
    ranked: Ranked
    relevance: float


@dataclass(frozen=True, slots=True)
class Laid:
    """The best files, read, with their forms; and what was left out before that."""

    files: tuple[LaidFile, ...]
    dropped: tuple[tuple[str, str], ...]


def assemble(asked: Asked, ranked: Sequence[Ranked]) -> Assembled:
    """Return what of the ranked files is read, and what is left out and why."""
    return decide(asked, lay(asked, ranked))


def lay(asked: Asked, ranked: Sequence[Ranked]) -> Laid:
    """Read the best of the ranked files and make their forms."""
    near, dropped = _near(ranked)
    files, gone = _read(asked, near)
    return Laid(tuple(files), (*gone, *dropped))


def decide(asked: Asked, read: Laid) -> Assembled:
    """Return the forms that fit, checked against the disk, and why the others are left out."""
    budget = asked.request.token_budget
    laid, dropped = read.files, list(read.dropped)
    offers = [[form.offer for form in one.forms] for one in laid]
    packed = _filled(laid, pack(offers, budget), budget)
    chosen: list[tuple[LaidFile, Form]] = []
    left: list[LaidFile] = []
    for one, number in zip(laid, packed.chosen, strict=True):
        if number is None:
            left.append(one)
        else:
            chosen.append((one, one.forms[number]))
    room = budget - packed.tokens
    dropped = [(one.page.path, _why_not(one, room)) for one in left] + dropped
    files, pieces, changed = _checked(asked, chosen)
    dropped = [(path, CHANGED) for path in changed] + dropped
    files, pieces, cut = _fitting(files, pieces, budget)
    dropped = [(path, NO_ROOM) for path in cut] + dropped
    text = rendered(pieces)
    used = tokens.count(text)
    best = bound(offers, packed.tokens)
    efficiency = round(min(1.0, packed.value / best), 4) if best > 0 else 0.0
    words = TaskWords(written_in(asked.said), _telling(asked))
    clean = asked.source.index.outlet.clean
    reasons = {one.page.path: _told(one, words, clean) for one, _ in chosen}
    pieces = [replace(piece, reasons=reasons[piece.path]) for piece in pieces]
    old = [one.page.path for one in laid if one.page.outdated]
    return Assembled(
        PlannedContext(
            tuple(sorted({piece.layer for piece in pieces})), tuple(files), text, tuple(pieces)
        ),
        BudgetReport(budget, used, efficiency if pieces else 0.0),
        _worst(pieces),
        (told_intent(asked.understood), *told_files(files, pieces, reasons)),
        told_dropped(dropped),
        tuple(dict.fromkeys((*old, *changed))),
    )


def _filled(laid: Sequence[LaidFile], packed: Packed, budget: int) -> Packed:
    """Return a packing whose room that is left holds more of the files most worth reading.

    The best file comes first: it gets its fullest form that fits, then the next one.
    """
    chosen, room, value = [*packed.chosen], budget - packed.tokens, packed.value
    for at, one in enumerate(laid):
        if one.relevance < WORTH_READING:
            continue
        now = chosen[at]
        here = one.forms[now].offer if now is not None else Offer(0.0, 0)
        for number in range(len(one.forms) - 1, -1 if now is None else now, -1):
            offer = one.forms[number].offer
            if offer.tokens - here.tokens <= room:
                chosen[at] = number
                room -= offer.tokens - here.tokens
                value += offer.value - here.value
                break
    return Packed(tuple(chosen), budget - room, value)


def look_again(asked: Asked, paths: Sequence[str]) -> None:
    """Bring index and structure up to date with some files, at once."""
    with suppress(VaultMindError):
        asked.source.index.refresh(paths)
    if asked.source.structure is not None:
        asked.source.structure.settle(SETTLE_SECONDS)
    asked.known.settle(SETTLE_SECONDS)


def _near(ranked: Sequence[Ranked]) -> tuple[list[tuple[Ranked, float]], list[tuple[str, str]]]:
    """Return the best files with their relevance, and why the others are left out."""
    relevant = relevances([one.score for one in ranked], SOFTNESS)
    near: list[tuple[Ranked, float]] = []
    dropped: list[tuple[str, str]] = []
    for one, relevance in zip(ranked, relevant, strict=True):
        if len(near) >= CONSIDERED:
            dropped.append((one.candidate.path, TOO_FAR))
        elif relevance < LEAST:
            dropped.append((one.candidate.path, TOO_LITTLE))
        else:
            near.append((one, relevance))
    return near, dropped


def _read(
    asked: Asked, near: Sequence[tuple[Ranked, float]]
) -> tuple[list[LaidFile], list[tuple[str, str]]]:
    """Return the files that can be packed, read anew, and those that cannot be read."""
    source, detail = asked.source, asked.request.detail
    shas = indexed_shas(source, [one.candidate.path for one, _ in near])
    telling = frozenset(asked.understood.terms)
    told = _telling(asked)
    words = frozenset(stems_of(" ".join(asked.understood.terms)))
    laid: list[LaidFile] = []
    gone: list[tuple[str, str]] = []
    for one, relevance in near:
        path = one.candidate.path
        page = read_page(source, path, shas.get(path, ""))
        if page is None:
            gone.append((path, GONE))
            continue
        if not page.text.strip():
            gone.append((path, EMPTY))
            continue
        signs = {reason.family for reason in one.reasons}
        worth = Worth(
            relevance,
            min(1.0, SURE + SURER * len(signs)),
            one.candidate.causal,
            one.reasons,
            one.candidate.spots,
            telling,
            told,
            _earlier_use(one.candidate, words),
        )
        most = asked.request.token_budget // 2 if relevance >= WORTH_READING else 0
        forms = forms_of(page, worth, detail, source.index.outlet.clean, most)
        laid.append(LaidFile(page, forms, one, relevance))
    return laid, gone


def _earlier_use(candidate: Candidate, words: frozenset[str]) -> EarlierUse | None:
    """Return what leads into a file that earlier work used; None of any other."""
    if not (candidate.causal or candidate.signals.get("affinity")):
        return None
    return EarlierUse(frozenset(candidate.parts), words)


def _checked(
    asked: Asked, chosen: Sequence[tuple[LaidFile, Form]]
) -> tuple[list[str], list[Piece], list[str]]:
    """Return files and pieces as they stand on the disk now, and the files that changed."""
    files: list[str] = []
    pieces: list[Piece] = []
    changed: list[str] = []
    for one, form in chosen:
        path = one.page.path
        state = state_of(asked.source, one.page)
        if state != "FRESH":
            changed.append(path)
            if asked.request.strict:
                continue
        files.append(path)
        pieces += [_marked(piece, state) for piece in form.pieces]
    return files, pieces, changed


def _fitting(
    files: Sequence[str], pieces: Sequence[Piece], budget: int
) -> tuple[list[str], list[Piece], list[str]]:
    """Return files and pieces within a budget, the last left out first, and the files left out."""
    kept = [*pieces]
    while kept and tokens.count(rendered(kept)) > budget:
        kept.pop()
    if len(kept) == len(pieces):
        return [*files], kept, []
    shown = {piece.path for piece in kept}
    here = [path for path in files if path in shown]
    return here, kept, [path for path in files if path not in shown]


def _telling(asked: Asked) -> dict[str, float]:
    """Return how much each word of the task tells in a name of the source; rare ones most."""
    wording = asked.known.names.by_definition
    worth = {word: wording.worth(word) for word in dict.fromkeys(stems_of(asked.said))}
    return {word: value for word, value in worth.items() if value > 0}


def _told(one: LaidFile, words: TaskWords, clean: Callable[[str], str]) -> tuple[Reason, ...]:
    """Return a file's reasons as they are told, with words that may be shown of it."""
    page, shown = one.page, [piece.text for piece in one.forms[-1].pieces]
    record = None if page.guarded else page.record
    told = [reason for reason in one.ranked.reasons if is_told(reason, page.record)]
    because = one.ranked.candidate.because
    return told_reasons(told, because, words, texts_of(clean(page.path), record, shown))


def _marked(piece: Piece, state: Freshness) -> Piece:
    return piece if piece.freshness == state else replace(piece, freshness=state)


def _why_not(one: LaidFile, room: int) -> str:
    least = min((form.offer.tokens for form in one.forms), default=0)
    return NO_ROOM if least > room else TOO_LITTLE


def _worst(pieces: Sequence[Piece]) -> Literal["fresh", "stale", "dirty"]:
    states: Mapping[Freshness, Literal["stale", "dirty"]] = {"STALE": "stale", "DIRTY": "dirty"}
    found = {states[piece.freshness] for piece in pieces if piece.freshness in states}
    return "dirty" if "dirty" in found else "stale" if "stale" in found else "fresh"
