"""Forms: the ways in which a file can stand in a context, from a line to the whole of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from vaultmind import tokens
from vaultmind.planner.candidates import Candidate, Spot
from vaultmind.planner.code import lead_of
from vaultmind.planner.names import may_hold, stems_of
from vaultmind.planner.types import Detail, FileRecord, Layer, Piece
from vaultmind.vault.files import FileStat
from vaultmind.vault.oneline import one_line

SEPARATOR_TOKENS = 2
"""Of the blank line between two pieces, rounded up."""
ABSTRACT_TOKENS, MOST_NAMED = 24, 6
CHARS_A_TOKEN = 4
"""About so many: by it is guessed which place will be cut."""
MOST_DEFINED, LEAST_SHARE = 3, 0.5
"""Definitions of a file that are places though the search did not find them; and of what the best
says of the task, for another to be one."""
ASIDE, AROUND = 0.5, 0.25
"""What a word counts in the doc line or of a constant, and in the name of what is around."""
LINE_GAIN, OUTLINE_GAIN, SPOT_GAIN, WHOLE_GAIN = 0.55, 0.7, 0.82, 1.0
"""How much of a file's worth each form has."""


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


@dataclass(frozen=True, slots=True)
class Form:
    """One way to show a file: its pieces, what they cost, and what they are worth."""

    pieces: tuple[Piece, ...]
    tokens: int
    value: float


def forms_of(
    page: Page,
    candidate: Candidate,
    worth: float,
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

    def add(pieces: Iterable[Piece], gain: float, price: float = sizes.price) -> None:
        shown = tuple(sorted(pieces, key=lambda one: one.first_line))
        cost = sum(one.tokens for one in shown)
        forms.append(Form(shown, cost, worth * gain - price * cost))

    if page.guarded:  # the search let through what is not forgotten; the file may say more
        spots = [one for one in _apart(candidate.spots) if page.indexed]
        for number, spot in enumerate(spots[: sizes.spots]):
            first = page.text.count("\n", 0, spot.start) + 1
            last = first + page.text.count("\n", spot.start, spot.end)
            text = tokens.clip(spot.text, sizes.spot_tokens)
            found.append(piece(spot.part, (first, last), text, "L3"))
            add(found, 1.0 - (1.0 - LINE_GAIN) / 2**number)
        return tuple(forms)
    spots = places_of(page, candidate, told, sizes.spot_tokens * CHARS_A_TOKEN)
    add([piece("outline", (1, 1), _abstract(page), "L0")], LINE_GAIN, 0.0)
    if lines := _outline(page, told, {one.part for one in spots}, sizes.outline_lines):
        text = "\n".join(f"{number}: {line}" for number, line in lines.items())
        add([piece("outline", (min(lines), max(lines)), text, "L1")], OUTLINE_GAIN)
    for number, spot in enumerate(spots[: sizes.spots], 1):
        text, first = _whole_lines(page.text, spot, sizes.spot_tokens)
        found.append(piece(spot.part, (first, first + text.count("\n")), text, "L3"))
        add(found, 1.0 - (1.0 - SPOT_GAIN) * (2 / 3) ** number)
    if len(page.text) <= sizes.whole_tokens * 8:
        whole = piece("", (1, page.text.count("\n") + 1), page.text.rstrip(), "L3")
        if whole.tokens <= sizes.whole_tokens:
            add([whole], WHOLE_GAIN)
    return tuple(forms)


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

    def is_shown(spot: Spot, part: Spot) -> bool:
        whole = part.part == spot.part or spot.end - spot.start <= most_chars
        return whole and holds(spot, part)

    def around(part: Spot) -> float:
        return max((spot.score for spot in spots if holds(spot, part)), default=0.0)

    def lifted(spot: Spot) -> float:
        return spot.score + max((p.score for p in telling if is_shown(spot, p)), default=0.0)

    found = [replace(spot, score=lifted(spot)) for spot in spots]
    alone = [
        replace(part, score=part.score + around(part))
        for part in telling
        if part.score >= LEAST_SHARE * telling[0].score
        and not any(is_shown(spot, part) for spot in spots)
    ]
    found += alone[:MOST_DEFINED]
    named = [one for one in found if one.part or any(holds(one, part) for part in telling)]
    found = (named or found) if telling else found
    changed = [one for one in parts if _is_named(one.part, candidate.parts)]
    return _apart([*(replace(one, score=math.inf) for one in changed), *found], page.text)


def _apart(spots: Iterable[Spot], text: str = "") -> list[Spot]:
    """Return places, the best first, none over another and none that is blank."""
    kept: list[Spot] = []
    for spot in sorted(spots, key=lambda one: (-one.score, one.start)):
        is_blank = bool(text) and not text[spot.start : spot.end].strip()
        if not is_blank and all(spot.end <= one.start or one.end <= spot.start for one in kept):
            kept.append(spot)
    return kept


def _parts(page: Page, told: Mapping[str, float]) -> list[Spot]:
    """Return what a file is made of, in order: its definitions, or its sections.

    The score of a definition says how much of the task its name and its doc line tell.
    """
    record = page.record
    if record is None:
        return []
    lines = page.text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    if record.shape != "code":
        headings = [one for one in record.headings if 0 < one.line <= len(lines)]
        ends = [*(one.line - 1 for one in headings[1:]), len(lines)]
        return [Spot(starts[one.line - 1], starts[last] - 1, f"#{one.text}", 0.0)
                for one, last in zip(headings, ends, strict=False)]  # fmt: skip
    total = math.fsum(told.values()) or 1.0
    found = []
    for one in record.definitions:
        if 0 < one.line <= one.last_line <= len(lines):
            outer, _, name = one.name.rpartition(".")
            score = 0.0
            if may_hold(told, f"{one.name} {one.summary}"):
                counted: dict[str, float] = {}
                for text, share in ((name, 1.0), (one.summary, ASIDE), (outer, AROUND)):
                    for word in stems_of(text):
                        counted.setdefault(word, share)
                score = math.fsum(part * told.get(word, 0.0) for word, part in counted.items())
                score *= (ASIDE if one.kind == "constant" else 1.0) / total
            first = lead_of(lines, one.line)
            found.append(Spot(starts[first - 1], starts[one.last_line] - 1, f"#{one.name}", score))
    return sorted(found, key=lambda one: (one.start, -one.end))


def _is_named(part: str, wanted: Iterable[str]) -> bool:
    """Tell whether a part is one of those named, be it by the last part of its name."""
    return any(part == f"#{one}" or part.endswith(f".{one}") for one in wanted)


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
    name = path.rpartition("/")[2]
    said = " ".join(text.split()).casefold()
    return said in (path.casefold(), name.casefold(), name.rpartition(".")[0].casefold())


def _outline(
    page: Page, told: Mapping[str, float], first: Iterable[str], most: int
) -> dict[int, str]:
    """Return the lines, by number, of the definitions or headings that say most about the task."""
    record, lines = page.record, page.text.splitlines()
    named: list[tuple[str, int]] = []
    for one in record.definitions if record else ():
        line = one.line
        while line < len(lines) and lines[line - 1].lstrip().startswith("@"):
            line += 1  # below its decorators
        named.append((one.name, line))
    named += [(one.text, one.line) for one in record.headings] if record else []
    ranked = sorted(
        named,
        key=lambda it: (f"#{it[0]}" not in first, -sum(w in it[0].lower() for w in told), it[1]),
    )
    kept = {line: name for name, line in ranked[:most] if 0 < line <= len(lines)}
    title = record.title.casefold() if record else ""
    if all(_is_name(name, page.path) or name.casefold() == title for name in kept.values()):
        return {}
    return {line: lines[line - 1].strip()[:160] for line in sorted(kept)}


def _whole_lines(text: str, spot: Spot, most_tokens: int) -> tuple[str, int]:
    """Return the whole lines of a spot, as many as the size allows, and the first's number."""
    start = text.rfind("\n", 0, spot.start) + 1
    end = text.find("\n", max(start, spot.end - 1))
    lines = text[start : end if end >= 0 else len(text)].rstrip().split("\n")
    sizes = accumulate(tokens.count(line) + 1 for line in lines)
    kept = [line.rstrip("\r") for line, size in zip(lines, sizes, strict=True)
            if size <= most_tokens]  # fmt: skip
    shown = "\n".join(kept).rstrip() or tokens.clip(lines[0], most_tokens)
    return shown, text.count("\n", 0, start) + 1
