"""Pieces: where in a file a task is spoken of, and the forms in which it can stand in a context."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from vaultmind import tokens
from vaultmind.planner.candidates import Spot
from vaultmind.planner.pages import Page
from vaultmind.planner.types import Definition, Detail, Layer, Piece
from vaultmind.planner.words import stems_of
from vaultmind.types import Reason
from vaultmind.vault.oneline import one_line

MOST_DEFINED = 3
"""Definitions of a file that are places though the search did not find them."""
LEAST_SHARE = 0.5
"""Of what the best definition of a file says of the task, for another to be a place."""
ASIDE, AROUND = 0.5, 0.25
"""What a word counts in the doc line or of a constant, and in the name of what is around."""
MOST_ABOVE = 8
"""Lines of comments and decorators above a definition that are shown with it."""
STEM = 3
"""Characters by which a word is looked for before it is looked at closely."""
MOST_SEARCHED = 200_000
"""Characters of a file whose definitions are searched for the words of a task."""
_ABOVE = ("#", "//", "/*", "*", "@", "--", ";")


@dataclass(frozen=True, slots=True)
class Offer:
    """One form of a file."""

    value: float
    """What it is worth to have it: relevance and confidence, by how much the form tells."""
    tokens: int
    causal: float = 0.0
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class _Defined:
    """A definition that shares words with the task."""

    start: int
    end: int
    name: str
    score: float


@dataclass(frozen=True, slots=True)
class EarlierUse:
    """What leads into a file that earlier work on such tasks used."""

    parts: frozenset[str]
    """Definitions or headings that the work told to have changed."""
    words: frozenset[str]
    """Stems of the task's telling words."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A definition, or what stands below a heading."""

    start: int
    end: int
    name: str


def places_of(
    page: Page, spots: Sequence[Spot], told: Mapping[str, float], most_chars: int
) -> list[Spot]:
    """Return the places of a file, the best first, none over another.

    `told` says how much each word of the task tells. In code, a definition that shares a word
    with the task goes before lines that belong to none: imports, the head of a file. One within a
    place of more than `most_chars`, which is cut, is a place of its own.
    """
    found = [*spots] if page.indexed else []
    defined = _defined(page, told)
    if defined:
        found = [_with(one, defined, most_chars) for one in found]
        found += _alone(found, defined, most_chars)
        bodies = [one for one in found if one.part or _inside(one, defined)]
        found = bodies or found
    kept: list[Spot] = []
    for spot in sorted(found, key=lambda one: (-one.score, one.start)):
        if all(spot.end <= one.start or one.end <= spot.start for one in kept):
            kept.append(spot)
    return kept


def with_earlier(page: Page, places: Sequence[Spot], earlier: EarlierUse) -> list[Spot]:
    """Return the places of a file that earlier work used: what it changed there goes first.

    Where nobody told what that was, and no place is of a definition or a section, those go first
    whose own text says most of the task: the head of a file says nothing of what is to be done.
    """
    parts = _parts(page)
    first = [one for one in parts if _is_named(one.name, earlier.parts)]
    if not first:
        if any(one.part or _holds(one, parts) for one in places):
            return [*places]
        first = _saying(page, parts, earlier.words)
    kept: list[Spot] = []
    for spot in (*(Spot(one.start, one.end, f"#{one.name}", 1.0) for one in first), *places):
        if all(spot.end <= one.start or one.end <= spot.start for one in kept):
            kept.append(spot)
    return kept


def beginnings(words: Iterable[str]) -> re.Pattern[str]:
    """Return what finds texts that may hold some stems."""
    return re.compile("|".join(re.escape(word[:STEM]) for word in words), re.IGNORECASE)


def may_hold(begins: re.Pattern[str], text: str) -> bool:
    """Tell whether a text is to be looked at closely: a stem has no accents, a text may."""
    return not text.isascii() or begins.search(text) is not None


def _defined(page: Page, told: Mapping[str, float]) -> list[_Defined]:
    """Return the definitions that share words with the task, the best first."""
    record, total = page.record, sum(told.values())
    if record is None or record.shape != "code" or not total:
        return []
    begins = beginnings(told)
    said = [
        (one, _said(one, told) / total)
        for one in record.definitions
        if may_hold(begins, f"{one.name} {one.summary}")
    ]
    if not any(score for _, score in said):
        return []
    lines = page.text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    found = []
    for one, score in said:
        if score and 0 < one.line <= one.last_line <= len(lines):
            first, end = _first_line(lines, one.line), starts[one.last_line] - 1
            found.append(_Defined(starts[first - 1], end, f"#{one.name}", score))
    return sorted(found, key=lambda one: (-one.score, one.start))


def _parts(page: Page) -> list[_Part]:
    """Return what a file is made of, in order: its definitions, or its sections."""
    record = page.record
    if record is None:
        return []
    lines = page.text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    if record.shape == "code":
        named = [
            (_first_line(lines, one.line), one.last_line, one.name)
            for one in record.definitions
            if 0 < one.line <= one.last_line <= len(lines)
        ]
    else:
        headings = [one for one in record.headings if 0 < one.line <= len(lines)]
        ends = [*(one.line - 1 for one in headings[1:]), len(lines)]
        named = [(one.line, last, one.text) for one, last in zip(headings, ends, strict=False)]
    found = [_Part(starts[first - 1], starts[last] - 1, name) for first, last, name in named]
    return sorted(found, key=lambda one: (one.start, -one.end))


def _is_named(name: str, wanted: Iterable[str]) -> bool:
    """Tell whether a part is one of those named, be it by the last part of its name."""
    return any(name == one or name.endswith(f".{one}") for one in wanted)


def _holds(spot: Spot, parts: Sequence[_Part]) -> bool:
    return any(spot.start <= one.start < spot.end for one in parts)


def _saying(page: Page, parts: Sequence[_Part], words: frozenset[str]) -> list[_Part]:
    """Return the innermost parts that hold most of some words, the rare ones first of all."""
    if not words or len(page.text) > MOST_SEARCHED:
        return []
    ends = (*(one.start for one in parts[1:]), math.inf)
    inner = [one for one, after in zip(parts, ends, strict=False) if after >= one.end]
    begins = beginnings(words)
    held: dict[_Part, frozenset[str]] = {}
    for one in inner:
        text = page.text[one.start : one.end]
        if may_hold(begins, text) and (both := words.intersection(stems_of(text))):
            held[one] = both
    holding = Counter(word for each in held.values() for word in each)
    score = {
        one: math.fsum(math.log1p(len(inner) / holding[word]) for word in each)
        for one, each in held.items()
    }
    least = LEAST_SHARE * max(score.values(), default=0.0)
    ranked = sorted(score, key=lambda one: (-score[one], one.start))
    return [one for one in ranked if score[one] >= least][:MOST_DEFINED]


def _said(one: Definition, told: Mapping[str, float]) -> float:
    around, _, name = one.name.rpartition(".")
    counted: dict[str, float] = {}
    for text, share in ((name, 1.0), (one.summary, ASIDE), (around, AROUND)):
        for word in stems_of(text):
            counted.setdefault(word, share)
    share = ASIDE if one.kind == "constant" else 1.0
    return share * math.fsum(part * told.get(word, 0.0) for word, part in counted.items())


def _first_line(lines: Sequence[str], line: int) -> int:
    """Return the line at which what stands above a definition, and belongs to it, begins."""
    first = line
    while first > max(1, line - MOST_ABOVE) and lines[first - 2].lstrip().startswith(_ABOVE):
        first -= 1
    return first


def _inside(spot: Spot, defined: Sequence[_Defined]) -> list[_Defined]:
    """Return the definitions that a place holds, or is a part of by its name."""
    return [one for one in defined if one.name == spot.part or spot.start <= one.start < spot.end]


def _with(spot: Spot, defined: Sequence[_Defined], most_chars: int) -> Spot:
    """Return a place with what its definitions say of the task added to its score."""
    inside = _inside(spot, defined)
    whole = [one for one in inside if one.name == spot.part or spot.end - spot.start <= most_chars]
    return replace(spot, score=spot.score + max((one.score for one in whole), default=0.0))


def _alone(spots: Sequence[Spot], defined: Sequence[_Defined], most_chars: int) -> list[Spot]:
    """Return the definitions that stand in no place which is shown whole.

    Each goes before the place that holds it and is cut.
    """
    least = LEAST_SHARE * defined[0].score
    alone: list[Spot] = []
    for one in defined:
        around = [spot for spot in spots if _inside(spot, (one,))]
        whole = any(one.name == spot.part or spot.end - spot.start <= most_chars for spot in around)
        if one.score >= least and not whole:
            score = one.score + max((spot.score for spot in around), default=0.0)
            alone.append(Spot(one.start, one.end, one.name, score))
    return alone[:MOST_DEFINED]


SEPARATOR_TOKENS = 2
"""Of the blank line between two pieces, rounded up."""
ABSTRACT_TOKENS, MOST_NAMED = 24, 6
CHARS_A_TOKEN = 4
"""About so many: by it is guessed which place will be cut."""


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
LINE_GAIN, OUTLINE_GAIN, SPOT_GAIN, WHOLE_GAIN = 0.55, 0.7, 0.82, 1.0
"""How much of a file's worth each form has."""


@dataclass(frozen=True, slots=True)
class Worth:
    """What is known of a file when its forms are made."""

    relevance: float
    confidence: float
    causal: float
    reasons: tuple[Reason, ...]
    spots: tuple[Spot, ...]
    telling: frozenset[str]
    """Lowered names and words of the task: definitions and headings with them come first."""
    told: Mapping[str, float] = field(default_factory=dict)
    """How much each word of the task tells, by its stem."""
    earlier: EarlierUse | None = None
    """Of a file that earlier work on such tasks used."""


@dataclass(frozen=True, slots=True)
class Form:
    """One way to show a file: its pieces, and what they are worth."""

    pieces: tuple[Piece, ...]
    offer: Offer


def forms_of(
    page: Page, worth: Worth, detail: Detail, clean: Callable[[str], str], most: int = 0
) -> tuple[Form, ...]:
    """Return the forms of a file, the shortest first; none of an empty one.

    `clean` takes secrets out of a text. A file of up to `most` tokens is shown whole, too.
    """
    if not page.text.strip():
        return ()
    sizes = SIZES[detail]
    cut = _Cut(page, worth, clean)
    if page.guarded:
        return _guarded(cut, sizes)
    places = places_of(page, worth.spots, worth.told, sizes.spot_tokens * CHARS_A_TOKEN)
    if worth.earlier is not None:
        places = with_earlier(page, places, worth.earlier)
    line = cut.piece("outline", (1, 1), _abstract(page), "L0")
    forms = [cut.form((line,), LINE_GAIN, 0.0)]
    if (outline := _outline(cut, sizes, {one.part for one in places})) is not None:
        forms.append(cut.form((outline,), OUTLINE_GAIN, sizes.price))
    found: list[Piece] = []
    gain = SPOT_GAIN
    for spot in places[: sizes.spots]:
        if not page.text[spot.start : spot.end].strip():
            continue
        found.append(_spot(cut, spot, sizes.spot_tokens))
        gain += (1.0 - gain) / 3
        forms.append(
            cut.form(tuple(sorted(found, key=lambda one: one.first_line)), gain, sizes.price)
        )
    last = page.text.count("\n") + 1
    most = max(most, sizes.whole_tokens)
    if len(page.text) <= most * 8:
        whole = cut.piece("", (1, last), page.text.rstrip(), "L3")
        if whole.tokens <= most:
            forms.append(cut.form((whole,), WHOLE_GAIN, sizes.price))
    return tuple(forms)


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


@dataclass(frozen=True, slots=True)
class _Cut:
    """A page that pieces are cut from."""

    page: Page
    worth: Worth
    clean: Callable[[str], str]

    def piece(self, part: str, lines: tuple[int, int], text: str, layer: Layer) -> Piece:
        """Return a piece with what it costs when it is shown."""
        worth = self.worth
        made = Piece(
            self.page.path,
            part,
            *lines,
            self.clean(text),
            0,
            layer,
            worth.relevance,
            worth.confidence,
            worth.causal,
            "FRESH",
            worth.reasons,
        )
        return replace(made, tokens=tokens.count(block(made)) + SEPARATOR_TOKENS)

    def form(self, pieces: tuple[Piece, ...], gain: float, price: float) -> Form:
        """Return some pieces as one form."""
        cost = sum(one.tokens for one in pieces)
        value = self.worth.relevance * self.worth.confidence * gain - price * cost
        return Form(pieces, Offer(value, cost, self.worth.causal))


def _guarded(cut: _Cut, sizes: Sizes) -> tuple[Form, ...]:
    """Return the forms of a file of an agent's memory: what was found of it, and nothing else.

    The search let through what is not forgotten; the file itself may say more.
    """
    forms: list[Form] = []
    found: list[Piece] = []
    gain = LINE_GAIN
    for spot in places_of(cut.page, cut.worth.spots, {}, 0)[: sizes.spots]:
        text = tokens.clip(spot.text, sizes.spot_tokens)
        first = cut.page.text.count("\n", 0, spot.start) + 1
        last = first + cut.page.text.count("\n", spot.start, spot.end)
        found.append(cut.piece(spot.part, (first, last), text, "L3"))
        gain += (1.0 - gain) / 2
        forms.append(cut.form(tuple(found), gain, sizes.price))
    return tuple(forms)


def _abstract(page: Page) -> str:
    """Return what a file is about, or else what it defines; nothing that its name says already."""
    record = page.record
    if record is None:
        return ""
    for about in (record.abstract, record.title):
        if about.strip() and not _is_name(about, page.path):
            return tokens.clip(" ".join(about.split()), ABSTRACT_TOKENS)
    names = [one.name for one in record.definitions if one.public and "." not in one.name]
    return tokens.clip(", ".join(names[:MOST_NAMED]), ABSTRACT_TOKENS)


def _is_name(text: str, path: str) -> bool:
    """Tell whether a text says no more than the path of its file."""
    name = path.rpartition("/")[2]
    said = " ".join(text.split()).casefold()
    return said in (path.casefold(), name.casefold(), name.rpartition(".")[0].casefold())


def _outline(cut: _Cut, sizes: Sizes, places: Collection[str]) -> Piece | None:
    """Return the definitions or headings that say most about the task, by line.

    Of a file that earlier work used, those of its `places` come first.
    """
    page, telling = cut.page, cut.worth.telling
    record = page.record
    if record is None:
        return None
    lines = page.text.splitlines()
    named = [(one.name, _signature_line(lines, one.line)) for one in record.definitions]
    named += [(one.text, one.line) for one in record.headings]
    first = places if cut.worth.earlier is not None else ()
    ranked = sorted(
        named, key=lambda one: (f"#{one[0]}" not in first, -_told(one[0], telling), one[1])
    )
    kept = sorted({line for _, line in ranked[: sizes.outline_lines] if 0 < line <= len(lines)})
    if not any(_is_news(name, page) for name, line in named if line in kept):
        return None
    text = "\n".join(f"{line}: {lines[line - 1].strip()[:160]}" for line in kept)
    return cut.piece("outline", (kept[0], kept[-1]), text, "L1")


def _signature_line(lines: Sequence[str], line: int) -> int:
    """Return the line that names a definition, below its decorators."""
    while line < len(lines) and lines[line - 1].lstrip().startswith("@"):
        line += 1
    return line


def _is_news(name: str, page: Page) -> bool:
    title = page.record.title if page.record else ""
    return not _is_name(name, page.path) and name.casefold() != title.casefold()


def _told(name: str, telling: frozenset[str]) -> int:
    lowered = name.lower()
    return sum(word in lowered for word in telling)


def _spot(cut: _Cut, spot: Spot, most_tokens: int) -> Piece:
    """Return the whole lines of a spot, as many from its first on as the size allows."""
    text = cut.page.text
    start = text.rfind("\n", 0, spot.start) + 1
    end = text.find("\n", max(start, spot.end - 1))
    lines = text[start : end if end >= 0 else len(text)].rstrip().split("\n")
    first = text.count("\n", 0, start) + 1
    kept: list[str] = []
    left = most_tokens
    for line in lines:
        left -= tokens.count(line) + 1
        if left < 0:
            break
        kept.append(line.rstrip("\r"))
    while kept and not kept[-1].strip():
        kept.pop()
    shown = "\n".join(kept) if kept else tokens.clip(lines[0], most_tokens)
    return cut.piece(spot.part, (first, first + max(0, len(kept) - 1)), shown, "L3")
