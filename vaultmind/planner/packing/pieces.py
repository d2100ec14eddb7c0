"""Pieces: the forms in which a file can stand in a context, from a line to the whole of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from vaultmind import tokens
from vaultmind.planner.candidates.places import EarlierUse, places_of, with_earlier
from vaultmind.planner.candidates.pool import Spot
from vaultmind.planner.packing.packer import Offer
from vaultmind.planner.sources.freshness import Page
from vaultmind.planner.types import Detail, Layer, Piece
from vaultmind.types import Reason
from vaultmind.vault.oneline import one_line

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
