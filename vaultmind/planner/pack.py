"""Packing: which form of which file stands in a context of so many tokens, checked on the disk.

The forms are chosen by their worth for each token; what is left goes to the best files' content.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal

from vaultmind import tokens
from vaultmind.errors import VaultMindError
from vaultmind.planner.candidates import Asked, Candidate
from vaultmind.planner.forms import SIZES, Form, Page, forms_of, rendered
from vaultmind.planner.names import stems_of
from vaultmind.planner.telling import (
    CHANGED,
    EMPTY,
    GONE,
    MOST_DROPPED,
    NO_ROOM,
    TOO_FAR,
    TOO_LITTLE,
    file_words,
    intent_words,
    named_reasons,
)
from vaultmind.planner.types import (
    BudgetReport,
    Dropped,
    Piece,
    PlannedContext,
)
from vaultmind.redact import blank_passages
from vaultmind.types import Freshness, Reason

CONSIDERED = 12
"""Files, the best, of which forms are made: more is a list, and no reading for a task."""
SOFTNESS = 2.0
"""How far behind the best a score may be before its file is worth little."""
LEAST = 0.02
"""Relevance below which a file is left out even where there is room."""
CONFIDENCE, SURER = 0.6, 0.1
"""How far a relevance is believed by itself, and more for each kind of sign that speaks for it."""
WORTH_READING = 0.5
"""Relevance from which a file gets what room is left, so that more of it can be read."""
SETTLE_SECONDS = 0.1
BEHIND = 1.0
"""How far below the best of the other files a running summary stands at most."""
_RUNNING = re.compile(r"/agents/([^/]+)/memory/(?:active_context\.md$|summaries/rolling/)")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its place."""

    candidate: Candidate
    score: float
    features: Mapping[str, float] = field(default_factory=dict)
    reasons: tuple[Reason, ...] = ()

    @property
    def path(self) -> str:
        """The file's path."""
        return self.candidate.path


@dataclass(frozen=True, slots=True)
class Laid:
    """A file whose forms can be packed."""

    ranked: Ranked
    page: Page
    relevance: float
    confidence: float
    forms: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class Packed:
    """What was chosen: of each file the number of its form, or None."""

    chosen: tuple[int | None, ...]
    tokens: int
    value: float
    bound: float
    """A value that no choice within these tokens can exceed: as if forms could be cut."""


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


def running_last(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return candidates with of each agent one running summary, below what it is about.

    An active context and the sliding summaries beside it hold the same sentences: of them the best
    stays. Where there is nothing else, it stays as it is.
    """
    own = {one.path: found[1] for one in ranked if (found := _RUNNING.search(f"/{one.path}"))}
    most = max((one.score for one in ranked if one.path not in own), default=math.inf) - BEHIND
    kept: dict[str, Ranked] = {}
    for one in sorted(ranked, key=lambda it: (-it.score, it.path)):
        if one.path in own:
            kept.setdefault(f"/{own[one.path]}", replace(one, score=min(one.score, most)))
        else:
            kept[one.path] = one
    return [*kept.values()]


# --- choosing -----------------------------------------------------------------------------


def pack(files: Sequence[Sequence[Form]], budget: int) -> Packed:
    """Return a choice of much value within a budget, the same for the same forms.

    Each form of the first file is tried, with the others chosen by value per token.
    """
    firsts = [None, *range(len(files[0]))] if files else [None]
    tried = [_packed(files, budget, first) for first in firsts]
    best = max(tried, key=lambda one: one.value)
    return replace(best, bound=max(one.bound for one in tried))


def _packed(files: Sequence[Sequence[Form]], budget: int, first: int | None) -> Packed:
    """Return a choice with one form of the first file: the steps from form to form by their worth.

    Each file's forms on their upper hull: the fractional optimum (Sinha and Zoltners, 1979),
    without the step that does not fit.
    """
    chosen: list[int | None] = [None] * len(files)
    used, total, bound, full = 0, 0.0, 0.0, {0}
    if first is not None and files[0][first].tokens <= budget:
        form = files[0][first]
        chosen[0], used, total = first, form.tokens, max(0.0, form.value)
    steps = [(-value / max(cost, 1), at, number, value, cost)
             for at, forms in enumerate(files)
             for number, value, cost in _hull(forms) if at]  # fmt: skip
    for _, at, number, value, cost in sorted(steps):
        if used + cost > budget:
            bound = bound or total + value * (budget - used) / max(cost, 1)
            full.add(at)
        elif at not in full:
            chosen[at], used, total = number, used + cost, total + value
    return Packed(tuple(chosen), used, total, max(bound, total))


def _hull(forms: Sequence[Form]) -> Iterator[tuple[int, float, int]]:
    """Yield (number, more value, more tokens) from one useful form of a file to the next."""
    value, cost = 0.0, 0
    while True:
        more = [
            ((one.value - value) / max(one.tokens - cost, 1), -one.tokens, number)
            for number, one in enumerate(forms)
            if one.value > value + 1e-12 and one.tokens >= cost
        ]
        if not more:
            return
        _, _, number = max(more)
        best = forms[number]
        yield number, best.value - value, best.tokens - cost
        value, cost = best.value, best.tokens


def filled(laid: Sequence[Laid], packed: Packed, budget: int) -> Packed:
    """Return a packing whose room that is left holds more of the files most worth reading.

    The best file comes first: it gets its fullest form that fits, then the next one.
    """
    chosen, room, value = [*packed.chosen], budget - packed.tokens, packed.value
    for at, one in enumerate(laid):
        now = chosen[at]
        here = Form((), 0, 0.0) if now is None else one.forms[now]
        fuller = [
            (form, number)
            for number, form in enumerate(one.forms)
            if number > (-1 if now is None else now) and form.tokens - here.tokens <= room
        ]
        if fuller and one.relevance >= WORTH_READING:
            form, chosen[at] = fuller[-1]
            room -= form.tokens - here.tokens
            value += form.value - here.value
    return Packed(tuple(chosen), budget - room, value, max(packed.bound, value))


def lay(asked: Asked, ranked: Sequence[Ranked]) -> tuple[list[Laid], list[tuple[str, str]]]:
    """Read the best of the ranked files and make their forms; tell why others are left out."""
    best = max((one.score for one in ranked), default=0.0)
    laid, gone, far = list[Laid](), list[tuple[str, str]](), list[tuple[str, str]]()
    near = list[tuple[Ranked, float]]()
    for one in ranked:
        relevance = math.exp((one.score - best) / SOFTNESS)
        if len(near) >= CONSIDERED or relevance < LEAST:
            far.append((one.path, TOO_FAR if len(near) >= CONSIDERED else TOO_LITTLE))
        else:
            near.append((one, relevance))
    shas = _indexed_shas(asked, [one.path for one, _ in near])
    told, clean = _telling(asked), asked.source.index.outlet.clean
    for one, relevance in near:
        page = read_page(asked, one.path, shas.get(one.path, ""))
        if page is None or not page.text.strip():
            gone.append((one.path, EMPTY if page else GONE))
            continue
        signs = {reason.family for reason in one.reasons}
        confidence = min(1.0, CONFIDENCE + SURER * len(signs))
        sizes = SIZES[asked.request.detail]
        if relevance >= WORTH_READING:
            half = asked.request.token_budget // 2
            sizes = replace(sizes, whole_tokens=max(sizes.whole_tokens, half))
        forms = forms_of(page, one.candidate, relevance * confidence, told, sizes, clean)
        laid.append(Laid(one, page, relevance, confidence, forms))
    return laid, gone + far


def decide(asked: Asked, laid: Sequence[Laid], dropped: Sequence[tuple[str, str]]) -> Assembled:
    """Return the forms that fit, checked against the disk, and why the others are left out."""
    budget, told = asked.request.token_budget, _telling(asked)
    packed = filled(laid, pack([one.forms for one in laid], budget), budget)
    pieces, changed, left = list[Piece](), list[str](), list[tuple[str, str]]()
    for one, number in zip(laid, packed.chosen, strict=True):
        if number is None:
            least = min((form.tokens for form in one.forms), default=0)
            fits = least <= budget - packed.tokens
            left.append((one.page.path, TOO_LITTLE if fits else NO_ROOM))
            continue
        state = state_of(asked, one.page)
        if state != "FRESH":
            changed.append(one.page.path)
            if asked.request.strict:
                continue
        reasons = named_reasons(
            one.ranked.reasons, one.ranked.candidate.because, asked.said, told,
            None if one.page.guarded else one.page.record, one.forms[-1].pieces,
        )  # fmt: skip
        pieces += [
            replace(
                piece, relevance=one.relevance, confidence=one.confidence, freshness=state,
                causal=one.ranked.candidate.causal, reasons=reasons,
            )
            for piece in one.forms[number].pieces
        ]  # fmt: skip
    files = dict.fromkeys(piece.path for piece in pieces)
    while pieces and tokens.count(rendered(pieces)) > budget:
        pieces.pop()
    shown = {piece.path: piece for piece in pieces}
    left = [(path, NO_ROOM) for path in files if path not in shown] + left
    left = [*((path, CHANGED) for path in changed), *left, *dropped]
    text = rendered(pieces)
    layers = {path: {one.layer: None for one in pieces if one.path == path} for path in shown}
    states = {piece.freshness for piece in pieces}
    efficiency = min(1.0, packed.value / packed.bound) if packed.bound > 0 and pieces else 0.0
    old = [one.page.path for one in laid if one.page.outdated]
    return Assembled(
        PlannedContext(
            tuple(sorted({piece.layer for piece in pieces})), tuple(shown), text, tuple(pieces)
        ),
        BudgetReport(budget, tokens.count(text), round(efficiency, 4)),
        "dirty" if "DIRTY" in states else "stale" if "STALE" in states else "fresh",
        (
            intent_words(asked.understood),
            *(file_words(path, shown[path].reasons, [*layers[path]]) for path in shown),
        ),
        tuple(Dropped(path, why) for path, why in left[:MOST_DROPPED]),
        tuple(dict.fromkeys((*old, *changed))),
    )


def look_again(asked: Asked, paths: Sequence[str]) -> None:
    """Bring index and structure up to date with some files, at once."""
    with suppress(VaultMindError):
        asked.source.index.refresh(paths)
    asked.source.structure.settle(SETTLE_SECONDS)


def read_page(asked: Asked, path: str, indexed_sha: str) -> Page | None:
    """Read a file anew; None where it is gone or cannot be read."""
    source = asked.source
    try:
        file = source.reader.read(path)
    except VaultMindError:
        return None
    record = source.structure.record(path)
    return Page(
        path,
        blank_passages(file.text),
        file.stat,
        record if record is not None and record.sha == file.sha else None,
        indexed_sha == file.sha,
        indexed_sha not in ("", file.sha),
        bool(source.index.outlet.paths.agent_of(path)),
    )


def state_of(asked: Asked, page: Page) -> Freshness:
    """Return how a page stands to the disk: FRESH where the file is as it was read."""
    try:
        now = asked.source.reader.stat(page.path)
    except VaultMindError:
        return "DIRTY"
    return "FRESH" if now == page.stat else "STALE"


def _indexed_shas(asked: Asked, paths: Sequence[str]) -> dict[str, str]:
    try:
        return {row.path: row.sha for row in asked.source.index.rows(paths)}
    except VaultMindError:
        return {}


def _telling(asked: Asked) -> dict[str, float]:
    """Return how much each word of the task tells in a name of the source; rare ones most."""
    wording = asked.source.structure.names.by_definition
    worth = {word: wording.worth(word) for word in dict.fromkeys(stems_of(asked.said))}
    return {word: value for word, value in worth.items() if value > 0}
