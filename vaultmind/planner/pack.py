"""Packing: which form of which file stands in a context of so many tokens, checked on the disk."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from vaultmind import tokens
from vaultmind.errors import VaultMindError
from vaultmind.planner.candidates import Asked, Candidate
from vaultmind.planner.pages import Page, indexed_shas, read_page, state_of
from vaultmind.planner.pieces import EarlierUse, Form, Offer, Worth, forms_of, rendered
from vaultmind.planner.scorer import relevances
from vaultmind.planner.telling import (
    CHANGED,
    EMPTY,
    GONE,
    NO_ROOM,
    TOO_FAR,
    TOO_LITTLE,
    TaskWords,
    is_told,
    texts_of,
    told_dropped,
    told_files,
    told_intent,
    told_reasons,
)
from vaultmind.planner.types import BudgetReport, Dropped, Piece, PlannedContext
from vaultmind.planner.words import stems_of, written_in
from vaultmind.types import Freshness, Reason

MOST_STEPS = 8_000
"""Steps a budget is cut into: up to so many tokens the answer is exact."""
CAUSAL_TIE, FRESH_TIE, ORDER_TIE = 1e-6, 1e-7, 1e-9
"""What decides between equal values: earlier work that changed a file, then freshness, then rank.
Values differ by more."""


@dataclass(frozen=True, slots=True)
class Packed:
    """What was chosen."""

    chosen: tuple[int | None, ...]
    """Of each file the number of its form, or None."""
    tokens: int
    value: float


def pack(files: Sequence[Sequence[Offer]], budget: int) -> Packed:
    """Return the choice of the most value within a budget, the same for the same offers."""
    import numpy as np  # loads with the first search; a plan without one is rare

    steps = min(max(budget, 0), MOST_STEPS)
    unit = max(1, -(-max(budget, 0) // max(1, steps)))
    steps = max(budget, 0) // unit
    best = np.zeros(steps + 1)
    picks = np.full((len(files), steps + 1), -1, dtype=np.int16)
    for at, offers in enumerate(files):
        before = best.copy()
        for number, offer in enumerate(offers):
            cost = -(-offer.tokens // unit)
            if cost > steps or offer.value <= 0:
                continue
            worth = before[: steps + 1 - cost] + _tied(offer, at)
            better = worth > best[cost:]
            best[cost:][better] = worth[better]
            picks[at, cost:][better] = number
    return _walked_back(files, picks.tolist(), steps, unit)


def bound(files: Sequence[Sequence[Offer]], budget: int) -> float:
    """Return a value that no choice within a budget can exceed: as if forms could be cut.

    The fractional optimum (Sinha and Zoltners, 1979): each file's forms on their upper hull,
    the steps between them taken by value per token.
    """
    gains = [step for offers in files for step in _hull(offers)]
    total, left = 0.0, float(budget)
    for value, cost in sorted(gains, key=lambda one: (-one[0] / max(one[1], 1e-9), one)):
        if cost >= left:
            return total + (value * left / cost if cost else value)
        total, left = total + value, left - cost
    return total


def _tied(offer: Offer, at: int) -> float:
    tie = CAUSAL_TIE * offer.causal + FRESH_TIE * offer.fresh - ORDER_TIE * min(at, 90)
    return offer.value + tie


def _walked_back(
    files: Sequence[Sequence[Offer]], picks: list[list[int]], steps: int, unit: int
) -> Packed:
    chosen: list[int | None] = [None] * len(files)
    left = steps
    for at in range(len(files) - 1, -1, -1):
        number = picks[at][left]
        if number >= 0:
            chosen[at] = number
            left -= -(-files[at][number].tokens // unit)
    taken = [files[at][one] for at, one in enumerate(chosen) if one is not None]
    return Packed(tuple(chosen), sum(one.tokens for one in taken), sum(one.value for one in taken))


def _hull(offers: Sequence[Offer]) -> list[tuple[float, int]]:
    """Return the steps (value, tokens) from one useful form of a file to the next."""
    points: list[tuple[float, int]] = [(0.0, 0)]
    useful = sorted({(one.tokens, -one.value) for one in offers if one.value > 0})
    for cost, negative in useful:
        value = -negative
        if value <= points[-1][0]:
            continue
        while len(points) > 1 and _steeper(points[-2], points[-1], (value, cost)):
            points.pop()
        points.append((value, cost))
    return [(after[0] - before[0], after[1] - before[1]) for before, after in pairwise(points)]


def _steeper(first: tuple[float, int], middle: tuple[float, int], last: tuple[float, int]) -> bool:
    """Tell whether the middle of three points lies on or below the line between the others."""
    left = (middle[0] - first[0]) * (last[1] - first[1])
    return left <= (last[0] - first[0]) * (middle[1] - first[1])


BEHIND = 1.0
"""How far below the best of the other files a running summary stands at most."""
_RUNNING = re.compile(r"/agents/([^/]+)/memory/(?:active_context\.md$|summaries/rolling/)")


def running_last(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return candidates with of each agent one running summary, below what it is about.

    An active context and the sliding summaries beside it hold the same sentences: of them the best
    stays. Where there is nothing else, it stays as it is.
    """
    own = {one.candidate.path: _agent(one.candidate.path) for one in ranked}
    others = [one.score for one in ranked if not own[one.candidate.path]]
    most = max(others) - BEHIND if others else float("inf")
    kept: list[Ranked] = []
    seen: set[str] = set()
    for one in sorted(ranked, key=lambda it: (-it.score, it.candidate.path)):
        agent = own[one.candidate.path]
        if agent and agent in seen:
            continue
        seen.add(agent)
        kept.append(replace(one, score=min(one.score, most)) if agent else one)
    return kept


def _agent(path: str) -> str:
    """Return whose running summary a file is; empty for any other file."""
    found = _RUNNING.search(f"/{path}")
    return found[1] if found else ""


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
