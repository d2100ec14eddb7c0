"""Packing: in which form each file stands in a context of so many tokens, checked on the disk.

Each of the best files has forms, from a line to the whole. The best file gets the one that is worth
most, then each of the others its line, as far as a part of the budget goes, then its content in
their order; the files most worth reading get what room is left.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Literal, NamedTuple

from vaultmind import tokens
from vaultmind.errors import VaultMindError
from vaultmind.planner.candidates import LINKED, Asked, Candidate, Spot
from vaultmind.planner.code import lead_of
from vaultmind.planner.names import stems_of, told_by
from vaultmind.planner.types import (
    BudgetReport,
    Detail,
    Dropped,
    FileRecord,
    Layer,
    Piece,
    PlannedContext,
    Understood,
)
from vaultmind.redact import blank_passages
from vaultmind.types import Freshness, Reason
from vaultmind.vault.files import FileStat
from vaultmind.vault.oneline import one_line

CONSIDERED = 12
"""Files, the best, of which forms are made: more is a list, and no reading for a task."""
SOFTNESS, LEAST = 2.0, 0.02
"""How far behind the best a score may be before its file is worth little; and the relevance below
which it is left out even where there is room."""
CONFIDENCE, SURER = 0.6, 0.1
"""How far a relevance is believed by itself, and more for each kind of sign that speaks for it."""
WORTH_READING = 0.5
"""Relevance from which a file gets what room is left, so that more of it can be read."""
LINES_SHARE = 0.4
"""Of what the best file leaves of a budget, that lines of others may take before they are read."""
SETTLE_SECONDS = 0.1
BEHIND = 1.0
"""How far below the best of the other files a running summary stands at most."""
_RUNNING = re.compile(r"/agents/([^/]+)/memory/(?:active_context\.md$|summaries/rolling/)")
SEPARATOR_TOKENS = 2
"""Of the blank line between two pieces, rounded up."""
ABSTRACT_TOKENS, MOST_NAMED, LINE_CHARS = 24, 6, 160
CHARS_A_TOKEN = 4
"""About so many: by it is guessed which place will be cut."""
MOST_DEFINED, LEAST_SHARE = 3, 0.5
"""Definitions of a file that are places though the search did not find them; and of what the best
says of the task, for another to be one."""
ASIDE, AROUND = 0.5, 0.25
"""What a word counts in the doc line or of a constant, and in the name of what is around."""
LINE_GAIN, OUTLINE_GAIN, SPOT_GAIN, WHOLE_GAIN = 0.55, 0.7, 0.82, 1.0
"""How much of a file's worth each form has."""
MOST_DROPPED, REASONS, MOST_WORDS = 12, 3, 3
"""Files that are told to be left out; reasons of a file; words of the task in one of them."""
NO_ROOM = "no room left in the token budget"
TOO_LITTLE, TOO_FAR = "low utility per token", "ranked too low"
CHANGED = "changed while it was being planned"
GONE, EMPTY = "cannot be read any more", "it is empty"
_ALIKE = {
    "words_sum": "words", "coverage": "words", "rank": "words", "whole_name": "path",
    "scope": "path", "defined": "definitions", "causal": "f_affinity_score", "tested": "test",
    "f_test_proximity": "test",
}  # fmt: skip
"""What says nearly the same as another: one of them is told, with the share of all."""
_ANYHOW = ("f_structural_relevance", "f_recency_score", "beside")
"""What lifts a file whatever stands in it, or whatever the task is: told last."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of a file each form may show."""

    spots: int
    """Places that were found."""
    spot_tokens: int
    outline_lines: int
    whole_tokens: int
    """A file of at most so many is shown whole."""
    price: float
    """What a token costs: a form must be worth more than it costs."""


SIZES: Mapping[Detail, Sizes] = {
    "compact": Sizes(3, 220, 8, 300, 0.0006),
    "normal": Sizes(4, 400, 14, 700, 0.0003),
    "verbose": Sizes(6, 700, 30, 1500, 0.0001),
}


@dataclass(frozen=True, slots=True)
class Page:
    """A file as it was read for a plan."""

    path: str
    text: str
    """Without private passages and keys; every offset and line as on disk."""
    stat: FileStat
    record: FileRecord | None
    """What is known of it, if that is of these very bytes."""
    indexed: bool
    """Whether the index holds these very bytes: only then its offsets are right."""
    outdated: bool
    """Whether the index holds other bytes of it."""
    guarded: bool
    """Whether it is an agent's memory, of which only what a search let through may be shown."""


class Form(NamedTuple):
    """One way to show a file: its pieces, what they cost, how much of its worth they have."""

    pieces: tuple[Piece, ...]
    tokens: int
    gain: float


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
    """A file whose forms can be packed, the shortest first."""

    ranked: Ranked
    page: Page
    relevance: float
    confidence: float
    forms: tuple[Form, ...]


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


# --- forms --------------------------------------------------------------------------------


def forms_of(
    page: Page,
    candidate: Candidate,
    told: Mapping[str, float],
    sizes: Sizes,
    clean: Callable[[str], str],
) -> tuple[Form, ...]:
    """Return the forms of a file, the shortest first.

    `told` says how much each word of the task tells. `clean` takes secrets out of a text.
    """
    forms, found = list[Form](), list[Piece]()

    def piece(part: str, lines: tuple[int, int], text: str, layer: Layer) -> Piece:
        made = Piece(page.path, part, *lines, clean(text), 0, layer, 0.0, 0.0)
        return replace(made, tokens=tokens.count(block(made)) + SEPARATOR_TOKENS)

    def add(pieces: Iterable[Piece], gain: float) -> None:
        shown = tuple(sorted(pieces, key=lambda one: one.first_line))
        forms.append(Form(shown, sum(one.tokens for one in shown), gain))

    if page.guarded:  # the search let through what is not forgotten; the file may say more
        spots = _apart(candidate.spots) if page.indexed else []
        for number, spot in enumerate(spots[: sizes.spots]):
            between = _line_of(page.text, spot.start), _line_of(page.text, spot.end)
            text = tokens.clip(spot.text, sizes.spot_tokens)
            found.append(piece(spot.part, between, text, "L3"))
            add(found, 1.0 - (1.0 - LINE_GAIN) / 2**number)
        return tuple(forms)
    spots = places_of(page, candidate, told, sizes.spot_tokens * CHARS_A_TOKEN)
    add([piece("outline", (1, 1), _abstract(page), "L0")], LINE_GAIN)
    if lines := _outline(page, told, {one.part for one in spots}, sizes.outline_lines):
        text = "\n".join(f"{number}: {line}" for number, line in lines.items())
        add([piece("outline", (min(lines), max(lines)), text, "L1")], OUTLINE_GAIN)
    for number, spot in enumerate(spots[: sizes.spots], 1):
        text, first = _whole_lines(page.text, spot, sizes.spot_tokens)
        found.append(piece(spot.part, (first, first + text.count("\n")), text, "L3"))
        add(found, 1.0 - (1.0 - SPOT_GAIN) * (2 / 3) ** number)
    if len(page.text) <= sizes.whole_tokens * 2 * CHARS_A_TOKEN:
        whole = piece("", (1, page.text.count("\n") + 1), page.text.rstrip(), "L3")
        if whole.tokens <= sizes.whole_tokens:
            add([whole], WHOLE_GAIN)
    return tuple(forms)


def _line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def places_of(
    page: Page, candidate: Candidate, told: Mapping[str, float], most_chars: int
) -> list[Spot]:
    """Return the places of a file, the best first, none over another.

    What earlier work changed goes first. In code, a definition whose name shares a word with the
    task goes before lines that belong to none: imports, the head of a file. One within a place of
    more than `most_chars`, which is cut, is a place of its own.
    """
    parts = _parts(page, told)
    spots = [*candidate.spots] if page.indexed else []
    telling = sorted((one for one in parts if one.score), key=lambda one: (-one.score, one.start))

    def holds(spot: Spot, part: Spot) -> bool:
        return part.part == spot.part or spot.start <= part.start < spot.end

    def shows(spot: Spot, part: Spot) -> bool:
        is_whole = part.part == spot.part or spot.end - spot.start <= most_chars
        return is_whole and holds(spot, part)

    found = [
        replace(it, score=it.score + max((p.score for p in telling if shows(it, p)), default=0.0))
        for it in spots
    ]
    alone = [
        replace(it, score=it.score + max((s.score for s in spots if holds(s, it)), default=0.0))
        for it in telling
        if it.score >= LEAST_SHARE * telling[0].score and not any(shows(s, it) for s in spots)
    ]
    found += alone[:MOST_DEFINED]
    named = [one for one in found if one.part or any(holds(one, part) for part in telling)]
    changed = [
        replace(one, score=math.inf)
        for one in parts
        if any(one.part == f"#{name}" or one.part.endswith(f".{name}") for name in candidate.parts)
    ]
    return _apart([*changed, *((named if telling else []) or found)], page.text)


def _apart(spots: Iterable[Spot], text: str = "") -> list[Spot]:
    """Return places, the best first, none over another and none that is blank."""
    kept: list[Spot] = []
    for spot in sorted(spots, key=lambda one: (-one.score, one.start)):
        is_blank = bool(text) and not text[spot.start : spot.end].strip()
        if not is_blank and all(spot.end <= one.start or one.end <= spot.start for one in kept):
            kept.append(spot)
    return kept


def _parts(page: Page, told: Mapping[str, float]) -> list[Spot]:
    """Return what a file is made of: its definitions, or its sections.

    The score of a definition says how much of the task its name and its doc line tell.
    """
    lines, total = page.text.split("\n"), math.fsum(told.values()) or 1.0
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    found = []
    for one in page.record.parts if page.record else ():
        if one.last_line <= len(lines):
            outer, _, name = ("", "", "") if one.level else one.name.rpartition(".")
            counted: dict[str, float] = {}
            for text, share in ((outer, AROUND), (one.summary, ASIDE), (name, 1.0)):
                counted |= dict.fromkeys(stems_of(text), share)
            score = math.fsum(part * told.get(word, 0.0) for word, part in counted.items()) / total
            score *= ASIDE if one.kind == "constant" else 1.0
            first = one.line if one.level else lead_of(lines, one.line)
            found.append(Spot(starts[first - 1], starts[one.last_line] - 1, f"#{one.name}", score))
    return found


def rendered(pieces: Sequence[Piece]) -> str:
    """Return pieces as the text of a context."""
    return "\n\n".join(block(piece) for piece in pieces)


def block(piece: Piece) -> str:
    """Return one piece as it is shown: where it stands, then its text."""
    path = piece.path if piece.path.isprintable() else one_line(piece.path)
    if piece.part == "outline":
        between = ": " if piece.layer == "L0" else "\n"
        return f"{path}{between}{piece.text}" if piece.text else path
    part = f" {piece.part}" if piece.part else ""
    return f"{path}:{piece.first_line}-{piece.last_line}{part}\n{piece.text}"


def _abstract(page: Page) -> str:
    """Return what a file is about, or else what it defines; nothing that its name says already."""
    record = page.record
    if record is None:
        return ""
    names = [one.name for one in record.definitions if one.public and "." not in one.name]
    about = (record.abstract, record.title, ", ".join(names[:MOST_NAMED]))
    told = next((one for one in about if one.strip() and not _is_name(one, page.path)), "")
    return tokens.clip(" ".join(told.split()), ABSTRACT_TOKENS)


def _is_name(text: str, path: str) -> bool:
    """Tell whether a text says no more than the path of its file."""
    path, said = path.casefold(), " ".join(text.split()).casefold()
    name = path.rpartition("/")[2]
    return said in (path, name, name.rpartition(".")[0])


def _outline(
    page: Page, told: Mapping[str, float], first: Iterable[str], most: int
) -> dict[int, str]:
    """Return the lines, by number, of the definitions or headings that say most about the task."""
    lines, named = page.text.splitlines(), list[tuple[str, int]]()
    for one in page.record.parts if page.record else ():
        line = one.line
        while line < len(lines) and lines[line - 1].lstrip().startswith("@"):
            line += 1  # below its decorators
        named.append((one.name, line))
    named.sort(
        key=lambda it: (f"#{it[0]}" not in first, -sum(w in it[0].lower() for w in told), it[1])
    )
    kept = {line: name for name, line in named[:most] if line <= len(lines)}
    title = page.record.title.casefold() if page.record else ""
    if all(_is_name(name, page.path) or name.casefold() == title for name in kept.values()):
        return {}
    return {line: lines[line - 1].strip()[:LINE_CHARS] for line in sorted(kept)}


def _whole_lines(text: str, spot: Spot, most_tokens: int) -> tuple[str, int]:
    """Return the whole lines of a spot, as many as the size allows, and the first's number."""
    start = text.rfind("\n", 0, spot.start) + 1
    end = text.find("\n", max(start, spot.end - 1))
    lines = text[start : end if end >= 0 else len(text)].rstrip().split("\n")
    sizes = accumulate(tokens.count(line) + 1 for line in lines)
    kept = [line.rstrip("\r") for line, size in zip(lines, sizes, strict=True)
            if size <= most_tokens]  # fmt: skip
    return "\n".join(kept).rstrip() or tokens.clip(lines[0], most_tokens), _line_of(text, start)


# --- choosing -----------------------------------------------------------------------------


def pack(laid: Sequence[Laid], budget: int, price: float) -> tuple[list[int], float]:
    """Return which form of each file, -1 for none, fits into a budget; and how well that is.

    That is the worth of what was chosen, as a share of that of all files without a budget.
    """
    chosen, room = [-1] * len(laid), budget

    def worth(at: int, number: int, price: float = price) -> float:
        one, form = laid[at], laid[at].forms[number]
        return one.relevance * one.confidence * form.gain - price * form.tokens

    def take(at: int, most: int, price: float) -> int:
        """Give a file the form that is worth most within what is left; return what that takes."""
        now, forms = chosen[at], laid[at].forms
        held = forms[now].tokens if now >= 0 else 0
        fits = [number for number, form in enumerate(forms) if form.tokens - held <= most]
        best = max(fits, key=lambda number: (worth(at, number, price), -number), default=-1)
        if best < 0 or (now >= 0 and worth(at, best, price) <= worth(at, now, price)):
            return 0
        chosen[at] = best
        return forms[best].tokens - held

    room -= take(0, room, price) if laid else 0
    spare = int(room * LINES_SHARE)
    for at, one in enumerate(laid[1:], 1):
        if one.forms and one.forms[0].tokens <= spare:
            chosen[at], spare, room = 0, spare - one.forms[0].tokens, room - one.forms[0].tokens
    for least, cost in ((LEAST, price), (WORTH_READING, 0.0)):
        for at, one in enumerate(laid):
            room -= take(at, room, cost) if one.relevance >= least else 0
    value = sum(max(0.0, worth(at, it)) for at, it in enumerate(chosen) if it >= 0)
    most = sum(max((worth(at, it) for it in range(len(one.forms))), default=0.0)
               for at, one in enumerate(laid))  # fmt: skip
    return chosen, min(1.0, value / most) if most > 0 else 0.0


def lay(asked: Asked, ranked: Sequence[Ranked]) -> tuple[list[Laid], list[tuple[str, str]]]:
    """Read the best of the ranked files and make their forms; tell why others are left out."""
    best = max((one.score for one in ranked), default=0.0)
    laid, gone = list[Laid](), list[tuple[str, str]]()
    near = [one for one in ranked if math.exp((one.score - best) / SOFTNESS) >= LEAST]
    far = [(one.path, TOO_FAR) for one in near[CONSIDERED:]]
    far += [(one.path, TOO_LITTLE) for one in ranked if one not in near]
    shas, told = dict[str, str](), telling(asked)
    with suppress(VaultMindError):
        rows = asked.source.index.rows([one.path for one in near[:CONSIDERED]])
        shas = {row.path: row.sha for row in rows}
    for one in near[:CONSIDERED]:
        page = read_page(asked, one.path, shas.get(one.path, ""))
        if page is None or not page.text.strip():
            gone.append((one.path, EMPTY if page else GONE))
            continue
        relevance = math.exp((one.score - best) / SOFTNESS)
        signs = {reason.family for reason in one.reasons}
        sizes = SIZES[asked.request.detail]
        if relevance >= WORTH_READING:
            half = asked.request.token_budget // 2
            sizes = replace(sizes, whole_tokens=max(sizes.whole_tokens, half))
        clean = asked.source.index.outlet.clean
        forms = forms_of(page, one.candidate, told, sizes, clean)
        laid.append(Laid(one, page, relevance, min(1.0, CONFIDENCE + SURER * len(signs)), forms))
    return laid, gone + far


def decide(asked: Asked, laid: Sequence[Laid], dropped: Sequence[tuple[str, str]]) -> Assembled:
    """Return the forms that fit, checked against the disk, and why the others are left out."""
    budget, told = asked.request.token_budget, telling(asked)
    chosen, efficiency = pack(laid, budget, SIZES[asked.request.detail].price)
    pieces, changed, left = list[Piece](), list[str](), list[tuple[str, str]]()
    for one, number in zip(laid, chosen, strict=True):
        state = state_of(asked, one.page)
        if number < 0:
            left.append((one.page.path, NO_ROOM if one.forms else TOO_LITTLE))
        elif state != "FRESH":
            changed.append(one.page.path)
        if number < 0 or (state != "FRESH" and asked.request.strict):
            continue
        reasons = named_reasons(one, asked.said, told)
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
    shown, text = {piece.path: piece for piece in pieces}, rendered(pieces)
    left = [(path, NO_ROOM) for path in files if path not in shown] + left
    left = [*((path, CHANGED) for path in changed), *left, *dropped]
    states = {piece.freshness for piece in pieces}
    layers = tuple(sorted({piece.layer for piece in pieces}))
    trace = [
        file_words(path, shown[path].reasons, {it.layer: None for it in pieces if it.path == path})
        for path in shown
    ]
    return Assembled(
        PlannedContext(layers, tuple(shown), text, tuple(pieces)),
        BudgetReport(budget, tokens.count(text), round(efficiency if pieces else 0.0, 4)),
        "dirty" if "DIRTY" in states else "stale" if "STALE" in states else "fresh",
        (intent_words(asked.understood), *trace),
        tuple(Dropped(path, why) for path, why in left[:MOST_DROPPED]),
        tuple(dict.fromkeys((*(it.page.path for it in laid if it.page.outdated), *changed))),
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
        return "FRESH" if asked.source.reader.stat(page.path) == page.stat else "STALE"
    except VaultMindError:
        return "DIRTY"


def telling(asked: Asked) -> dict[str, float]:
    """Return how much each word of the task tells in a name of the source; rare ones most."""
    wording = asked.source.structure.names.by_definition
    worth = {word: wording.worth(word) for word in stems_of(asked.said)}
    return {word: value for word, value in worth.items() if value > 0}


# --- why ----------------------------------------------------------------------------------


def intent_words(understood: Understood) -> str:
    """Return what the task was taken for."""
    why = f": {'; '.join(understood.reasons[:REASONS])}" if understood.reasons else ""
    sure = f"{understood.confidence:.0%} sure"
    return f"Taken for {understood.predicted} ({sure}, {understood.risk} risk){why}."


def file_words(path: str, reasons: Sequence[Reason], layers: Iterable[Layer]) -> str:
    """Return why a file was chosen, and which layers tell of it."""
    why = ", ".join(map(str, reasons)) or "the best that is left"
    name = path if path.isprintable() else one_line(path)
    return f"{name} ({'+'.join(layers)}): {why}"


def named_reasons(one: Laid, task: str, told: Mapping[str, float]) -> tuple[Reason, ...]:
    """Return up to three reasons for a file, each about something else, with what it is about.

    `told` says how much each word of the task tells.
    """
    joined: dict[str, Reason] = {}
    for each in one.ranked.reasons:
        family = _ALIKE.get(each.family, each.family)
        first = joined.get(family, replace(each, share=0.0, family=family))
        joined[family] = replace(first, share=first.share + each.share)
    joined.pop("f_token_cost", None)
    record = None if one.page.guarded else one.page.record
    texts: dict[str, Sequence[str]] = {
        "words": [piece.text for piece in one.forms[-1].pieces] if one.forms else (),
        "path": [one.page.path],
        "definitions": told_by(record) if record else (),
    }
    written = stems_of(task)

    def named(reason: Reason) -> Reason:
        verb = f"{LINKED.get(reason.family, reason.family)} "
        verbs = ("changed in ", "read in ") if reason.family == "f_affinity_score" else (verb,)
        because = [it for it in one.ranked.candidate.because if it.startswith(verbs)]
        held = {stem for text in texts.get(reason.family, ()) for stem in stems_of(text)}
        best = sorted(held & written.keys(), key=lambda stem: (-told.get(stem, 0.0), stem))
        words = " ".join([*dict.fromkeys(written[stem] for stem in best)][:MOST_WORDS])
        about = "words of the task" if reason.family == "words" else reason.words
        return replace(reason, words=[*because, f"{about}: {words}" if words else about][0])

    ordered = sorted(joined.values(), key=lambda each: each.family in _ANYHOW)
    return tuple(map(named, ordered[:REASONS]))
