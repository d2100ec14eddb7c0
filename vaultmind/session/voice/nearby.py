"""What is known about what a person said: by its words, by its meaning, and in the notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from vaultmind.memory.brain import own_paragraphs, parse_brain
from vaultmind.memory.dated import superseded, told
from vaultmind.memory.match import NEAREST, Match, asked_about, find
from vaultmind.memory.sections import section_of
from vaultmind.redact import mask
from vaultmind.types import Caller, Fact, Hit, Kind, Outcome
from vaultmind.vault.bullets import bullets, plain

SURE = 0.45
"""Score from which a fact answers a question by its meaning; below it is only the closest."""

_ME = "me myself mnie mną mi mój moja moje moim mego меня мне мной моя mich mir mí moi"
ME = frozenset(_ME.split())
"""Words of a recall that mean everything about the person."""
Near = Callable[[str, str, Caller, Kind], Sequence[Hit]]
"""Finds facts of an agent, or notes, by some words, as a caller may see them, best first."""


def nowhere(agent: str, words: str, caller: Caller, kind: Kind) -> Sequence[Hit]:
    """Find nothing: where there is no search."""
    return ()


@dataclass(frozen=True, slots=True)
class Known:
    """An answer to what is known."""

    facts: tuple[Fact, ...]
    lines: tuple[str, ...]
    """The facts with their days, what the person typed beside them, else notes."""
    names: tuple[str, ...]
    """The names of what to say before them."""


def recalled(brain: str, archive: str, words: str, near: Callable[[Kind], Sequence[Hit]]) -> Known:
    """Return what brain, archive and, where they say nothing, the notes say about some words.

    `near` finds what is near in meaning, of a kind. Of facts that exclude each other the newer one
    is told.
    """
    facts = parse_brain(brain).all()
    if not _is_all(words):
        facts += parse_brain(archive).all()
    found, names = known_about(facts, words, lambda: near("fact"))
    old = superseded([(fact.text, fact.written) for fact in found])
    found = tuple(fact for at, fact in enumerate(found) if at not in old)
    typed = tuple(one for one in _typed(brain, words) if all(one != f.text for f in found))
    if typed and names[0] != "known":
        found, names = (), ("known",)
    lines = (*map(told, found), *typed)
    if names[0] != "known":
        notes = [f"{hit.path}: {hit.text}" for hit in near("note") if hit.score >= SURE]
        if notes:
            return Known((), tuple(notes[:NEAREST]), ("known",))
    return Known(found, lines, names)


def _typed(brain: str, words: str) -> list[str]:
    """Return what a person typed that is about some words, by its own or by its heading."""
    pieces = [piece for title, lines in own_paragraphs(brain) for piece in _pieces(title, lines)]
    pieces += [(one.heading, one.text) for one in bullets(brain) if not section_of(one.heading)]
    about = [Fact(f"{title}: {text}", None) for title, text in pieces]
    held = range(len(pieces)) if _is_all(words) else asked_about(about, words)
    return [pieces[at][1] for at in held]


def _pieces(title: str, lines: Sequence[str]) -> list[tuple[str, str]]:
    """Return a paragraph as one piece; a table by its rows, each cell with its column's name."""
    if len(lines) < 3 or "-" not in lines[1] or lines[1].strip(" \t|:-"):  # noqa: PLR2004
        return [(title, plain("\n".join(lines))[0])]
    first, *rows = (_cells(line) for line in (lines[0], *lines[2:]))
    told_rows = (
        (f"{name}: {cell}" for name, cell in zip(first, row, strict=False)) for row in rows
    )
    return [(title, ", ".join(row)) for row in told_rows]


def _cells(line: str) -> list[str]:
    return [plain(cell)[0] for cell in line.strip().strip("|").split("|")]


def _is_all(words: str) -> bool:
    """Tell whether some words ask for everything."""
    words = words.strip(" ?!.").lower()
    return not words or words in ME


def known_about(
    facts: Sequence[Fact], words: str, near: Callable[[], Sequence[Hit]]
) -> tuple[tuple[Fact, ...], tuple[str, ...]]:
    """Return the facts that some words are about, and the names of what to say before them.

    Those that hold the words; else those that mean the same; else the closest, as no more. For no
    words, and for those that mean the person, all.
    """
    words = words.strip(" ?!.").lower()
    if _is_all(words):
        return tuple(facts), ("known",) if facts else ("nothing_known",)
    held = tuple(facts[at] for at in asked_about(facts, words))
    if held or not facts:
        return held, ("known",) if held else ("nothing_known",)
    found = [(hit.score, fact) for hit in near() if (fact := _of(facts, hit)) is not None]
    sure = tuple(fact for score, fact in found if score >= SURE)
    if sure:
        return sure, ("known",)
    closest = tuple(fact for _, fact in found[:NEAREST])
    return closest, ("nothing_known", "nearest") if closest else ("nothing_known",)


def is_unknown(outcome: Outcome) -> bool:
    """Tell whether a request found no fact that it means."""
    return outcome.outcome == "not_found" and not outcome.fact


def offered(outcome: Outcome, hits: Sequence[Hit]) -> Outcome:
    """Return an outcome with facts to choose from: nearest by their words, then by meaning."""
    choices = dict.fromkeys((*outcome.nearest, *(hit.text for hit in hits)))
    return replace(outcome, nearest=tuple(choices)[:NEAREST])


def nearest_to(brain: str, words: str) -> tuple[str, ...]:
    """Return the facts of a brain that hold some words, as they may be told."""
    facts = parse_brain(brain).all()
    match = find(facts, words) if words else Match()
    near = (facts[at] for at in (*match.found, *match.nearest)[:NEAREST])
    return tuple(mask(fact.text).text for fact in near)


def name_of(fact: Fact) -> str:
    """Return what names one fact for certain: its block id, else its words."""
    return f"^{fact.block}" if fact.block else fact.text


def _of(facts: Sequence[Fact], hit: Hit) -> Fact | None:
    """Return the fact that a hit is."""
    named = (fact for fact in facts if fact.block and hit.anchor == f"#^{fact.block}")
    same = (fact for fact in facts if fact.text == hit.text)
    return next(named, None) or next(same, None)
