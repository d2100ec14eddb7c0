"""Packing: in which form each file stands in a context of so many tokens, checked on the disk.

Each of the best files has forms, from a line to the whole. The best file gets the one that is worth
most, then each of the others its line, as far as a part of the budget goes, then its content in
their order; the files most worth reading get what room is left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate

from vaultmind import tokens
from vaultmind.errors import VaultMindError
from vaultmind.planner.candidates import LINKED, Asked, Candidate, Form, Spot
from vaultmind.planner.graph import stems_of, told_by
from vaultmind.planner.records import lead_of, record_of
from vaultmind.planner.types import (
    BudgetReport,
    CacheStatus,
    Detail,
    Dropped,
    Layer,
    Part,
    Piece,
    Plan,
    PlannedContext,
)
from vaultmind.redact import blank_passages, mask
from vaultmind.types import Freshness, Reason
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
TOO_LITTLE, TOO_FAR = "low value per token", "ranked too low"
CHANGED = "changed during planning"
GONE = "empty or no longer readable"
_ALIKE = {
    "words_sum": "words", "coverage": "words", "rank": "words", "scope": "path",
    "defined": "definitions", "causal": "f_affinity_score", "tested": "test",
    "f_test_proximity": "test",
}  # fmt: skip
"""What says nearly the same as another: one of them is told, with the share of all."""
_LAST = {"beside": 1, "f_structural_relevance": 2, "f_recency_score": 2}
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


# --- forms --------------------------------------------------------------------------------


def forms_of(one: Candidate, told: Mapping[str, float], sizes: Sizes) -> tuple[Form, ...]:
    """Return the forms of a file, the shortest first.

    `told` says how much each word of the task tells.
    """
    forms, found = list[Form](), list[Piece]()
    has_secrets = mask(one.text).text != one.text

    def piece(part: str, lines: tuple[int, int], text: str, layer: Layer) -> Piece:
        shown = mask(text).text if has_secrets else text
        made = Piece(one.path, part, *lines, shown, 0, layer)
        return replace(made, tokens=tokens.count(block(made)) + SEPARATOR_TOKENS)

    def add(pieces: Iterable[Piece], gain: float) -> None:
        shown = tuple(sorted(pieces, key=lambda it: it.first_line))
        forms.append(Form(shown, sum(it.tokens for it in shown), gain))

    spots = places_of(one, told, sizes.spot_tokens * CHARS_A_TOKEN)
    add([piece("outline", (1, 1), _abstract(one), "L0")], LINE_GAIN)
    if lines := _outline(one, told, {spot.part for spot in spots}, sizes.outline_lines):
        text = "\n".join(f"{number}: {line}" for number, line in lines.items())
        add([piece("outline", (min(lines), max(lines)), text, "L1")], OUTLINE_GAIN)
    for number, spot in enumerate(spots[: sizes.spots], 1):
        text, first = _whole_lines(one.text, spot, sizes.spot_tokens)
        found.append(piece(spot.part, (first, first + text.count("\n")), text, "L3"))
        add(found, 1.0 - (1.0 - SPOT_GAIN) * (2 / 3) ** number)
    if len(one.text) <= sizes.whole_tokens * 2 * CHARS_A_TOKEN:
        whole = piece("", (1, one.text.count("\n") + 1), one.text.rstrip(), "L3")
        if whole.tokens <= sizes.whole_tokens:
            add([whole], WHOLE_GAIN)
    return tuple(forms)


def places_of(one: Candidate, told: Mapping[str, float], most_chars: int) -> list[Spot]:
    """Return the places of a file, the best first, none over another.

    What earlier work changed goes first. In code, a definition whose name shares a word with the
    task goes before lines that belong to none: imports, the head of a file. One within a place of
    more than `most_chars`, which is cut, is a place of its own.
    """
    parts = _parts(one, told)
    spots = [*one.spots]
    telling = sorted((it for it in parts if it.score), key=lambda it: (-it.score, it.start))
    telling = [it for it in telling if it.score >= LEAST_SHARE * telling[0].score][:MOST_DEFINED]

    def holds(spot: Spot, part: Spot) -> bool:
        return part.part == spot.part or spot.start <= part.start < spot.end

    def around(part: Spot) -> float:
        """Return the score of a place that is cut around a definition."""
        cut = (it for it in spots if it.end - it.start > most_chars and holds(it, part))
        return max((it.score for it in cut), default=0.0)

    found = [
        replace(it, score=it.score + max((p.score for p in telling if holds(it, p)), default=0.0))
        for it in spots
    ]
    found += [replace(it, score=it.score + 2 * around(it)) for it in telling]
    named = [it for it in found if it.part or any(holds(it, part) for part in telling)]
    changed = [
        replace(it, score=math.inf)
        for it in parts
        if any(it.part == f"#{name}" or it.part.endswith(f".{name}") for name in one.parts)
    ]
    kept: list[Spot] = []
    best = [*changed, *((named if telling else []) or found)]
    for spot in sorted(best, key=lambda it: (-it.score, it.start)):
        is_apart = all(spot.end <= it.start or it.end <= spot.start for it in kept)
        kept += [spot] if is_apart and one.text[spot.start : spot.end].strip() else []
    return kept


def _parts(file: Candidate, told: Mapping[str, float]) -> list[Spot]:
    """Return what a file is made of: its definitions, or its sections.

    The score of a definition says how much of the task its name and its doc line tell.
    """
    lines, total = file.text.split("\n"), math.fsum(told.values()) or 1.0
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    found = []
    for one in file.record.parts if file.record else ():
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


def _abstract(file: Candidate) -> str:
    """Return what a file is about, or else what it defines; nothing that its name says already."""
    if (record := file.record) is None:
        return ""
    names = [one.name for one in record.definitions if one.public and "." not in one.name]
    about = (record.abstract, record.title, ", ".join(names[:MOST_NAMED]))
    told = next((one for one in about if one.strip() and not _is_name(one, file.path)), "")
    return tokens.clip(" ".join(told.split()), ABSTRACT_TOKENS)


def _is_name(text: str, path: str) -> bool:
    """Tell whether a text says no more than the name of a file."""
    name = path.rpartition("/")[2].casefold()
    return " ".join(text.split()).casefold() in (name, name.rpartition(".")[0])


def _outline(
    file: Candidate, told: Mapping[str, float], first: Iterable[str], most: int
) -> dict[int, str]:
    """Return, by their lines, the definitions or headings that say most about the task."""
    record = file.record

    def telling_first(it: Part) -> tuple[bool, int, int]:
        return f"#{it.name}" not in first, -sum(w in it.name.lower() for w in told), it.line

    parts = sorted(record.parts if record else (), key=telling_first)[:most]
    if record is None or all(
        _is_name(it.name, file.path) or it.name == record.title for it in parts
    ):
        return {}
    parts.sort(key=lambda it: it.line)
    return {it.line: (it.signature or f"{'#' * it.level} {it.name}")[:LINE_CHARS] for it in parts}


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


# --- choosing -----------------------------------------------------------------------------


def pack(laid: Sequence[Candidate], budget: int, price: float) -> tuple[list[int], float]:
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


def lay(asked: Asked, ranked: Sequence[Candidate]) -> tuple[list[Candidate], list[tuple[str, str]]]:
    """Read the best of the ranked files and make their forms; tell why others are left out."""
    best = max((one.score for one in ranked), default=0.0)
    for one in ranked:
        one.relevance = math.exp((one.score - best) / SOFTNESS)
    near = [one for one in ranked if one.relevance >= LEAST]
    laid, gone = list[Candidate](), list[tuple[str, str]]()
    gone += [(one.path, TOO_FAR) for one in near[CONSIDERED:]]
    gone += [(one.path, TOO_LITTLE) for one in ranked if one.relevance < LEAST]
    told, sizes = telling(asked), SIZES[asked.request.detail]
    large = replace(sizes, whole_tokens=max(sizes.whole_tokens, asked.request.token_budget // 2))
    for one in near[:CONSIDERED]:
        if not read(asked, one):
            gone.insert(0, (one.path, GONE))
            continue
        one.confidence = min(1.0, CONFIDENCE + SURER * len({it.family for it in one.reasons}))
        size = large if one.relevance >= WORTH_READING else sizes
        one.forms = forms_of(one, told, size)
        laid.append(one)
    return laid, gone


def read(asked: Asked, one: Candidate) -> bool:
    """Read a file anew; tell whether there is anything in it."""
    source = asked.source
    try:
        file = source.reader.read(one.path)
    except VaultMindError:
        return False
    record = source.record(one.path)
    one.text, one.stat = blank_passages(file.text), file.stat
    if record is None or record.sha != file.sha:  # the index holds other bytes
        record, one.spots = record_of(file), ()
    one.record = record
    return bool(one.text.strip())


def decide(
    asked: Asked,
    laid: Sequence[Candidate],
    dropped: Sequence[tuple[str, str]],
    status: CacheStatus = "hit",
) -> Plan:
    """Return the forms that fit, checked against the disk, and why the others are left out."""
    budget, told = asked.request.token_budget, telling(asked)
    chosen, efficiency = pack(laid, budget, SIZES[asked.request.detail].price)
    pieces, left = list[Piece](), list[tuple[str, str]]()
    for one, number in zip(laid, chosen, strict=True):
        try:
            is_same = asked.source.reader.stat(one.path) == one.stat
            state: Freshness = "FRESH" if is_same else "STALE"
        except VaultMindError:
            state = "DIRTY"
        if number < 0 or (state != "FRESH" and asked.request.strict):
            left.append((one.path, CHANGED if number >= 0 else NO_ROOM))
            continue
        reasons = named_reasons(one, asked.said, told)
        told_of = partial(replace, relevance=one.relevance, freshness=state, reasons=reasons)
        pieces += map(told_of, one.forms[number].pieces)
    while pieces and tokens.count(rendered(pieces)) > budget:
        left.insert(0, (pieces.pop().path, NO_ROOM))
    shown, text = {piece.path: piece for piece in pieces}, rendered(pieces)
    left = [(path, why) for path, why in (*left, *dropped) if path not in shown]
    states = {piece.freshness for piece in pieces}
    about = asked.understood
    why = f"{about.predicted} ({about.confidence:.0%} sure, {about.risk} risk)"
    trace = [f"Understood as {why}: {'; '.join(about.reasons)}."]
    for path, piece in shown.items():
        parts = "+".join(dict.fromkeys(it.layer for it in pieces if it.path == path))
        why = ", ".join(map(str, piece.reasons)) or "best of the rest"
        trace.append(f"{path if path.isprintable() else one_line(path)} ({parts}): {why}")
    layers = tuple(sorted({piece.layer for piece in pieces}))
    return Plan(
        status,
        "dirty" if "DIRTY" in states else "stale" if "STALE" in states else "fresh",
        about,
        BudgetReport(budget, tokens.count(text), round(efficiency if pieces else 0.0, 4)),
        PlannedContext(layers, tuple(shown), text, tuple(pieces)),
        tuple(trace),
        tuple(Dropped(path, why) for path, why in left[:MOST_DROPPED]),
    )


def telling(asked: Asked) -> dict[str, float]:
    """Return how much each word of the task tells in a name of the source; rare ones most."""
    _, wording = asked.source.names
    return {word: worth for word in stems_of(asked.said) if (worth := wording.worth(word)) > 0}


# --- why ----------------------------------------------------------------------------------


def named_reasons(one: Candidate, task: str, told: Mapping[str, float]) -> tuple[Reason, ...]:
    """Return up to three reasons for a file, each about something else, with what it is about.

    `told` says how much each word of the task tells.
    """
    joined: dict[str, Reason] = {}
    for each in one.reasons:
        family = _ALIKE.get(each.family, each.family)
        first = joined.get(family, replace(each, share=0.0, family=family))
        joined[family] = replace(first, share=first.share + each.share)
    joined.pop("f_token_cost", None)
    texts: dict[str, Sequence[str]] = {
        "words": [piece.text for piece in one.forms[-1].pieces] if one.forms else (),
        "path": [one.path],
        "definitions": told_by(one.record) if one.record else (),
    }
    written = stems_of(task)

    def named(reason: Reason) -> Reason:
        verb = f"{LINKED.get(reason.family, reason.family)} "
        verbs = ("changed in ", "read in ") if reason.family == "f_affinity_score" else (verb,)
        because = [it for it in one.because if it.startswith(verbs)]
        held = {stem for text in texts.get(reason.family, ()) for stem in stems_of(text)}
        best = sorted(held & written.keys(), key=lambda stem: (-told.get(stem, 0.0), stem))
        words = " ".join([*dict.fromkeys(written[stem] for stem in best)][:MOST_WORDS])
        about = "matches words" if reason.family == "words" else reason.words
        return replace(reason, words=[*because, f"{about}: {words}" if words else about][0])

    ordered = sorted(joined.values(), key=lambda each: _LAST.get(each.family, 0))
    return tuple(map(named, ordered[:REASONS]))
