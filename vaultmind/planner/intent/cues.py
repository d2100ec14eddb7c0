"""Cues: the words by which a task shows what kind of work it is and what may go wrong with it.

Each language is a file in `cues/`, and `common.toml` holds what is the same in all. A task is met
by the cues of every language: people write `fix` in Polish and paste English errors under Russian
words. A cue is a word or several, folded; `*` stands for any ending, `^` before it means that it
counts only where a sentence begins.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast, get_args

from vaultmind.index.words.terms import words

FOLDER = Path(__file__).parent / "cues"
LANGUAGES = ("en", "pl", "ru")
Role = Literal["kind", "risk", "neutral"]
Weight = float
STRENGTHS: Mapping[str, Weight] = {"strong": 3.0, "named": 2.5, "plain": 2.0, "slight": 1.0}
NAMED = STRENGTHS["named"]
"""Of a thing that is to be made. Where a task says how something is, it hardly counts: `a report
for the board` is to be written, `the report shows the wrong day` is not."""
RiskKind = Literal[
    "auth", "payment", "secrets", "migration", "deletion", "production", "security", "personal"
]
RISK_KINDS: tuple[RiskKind, ...] = get_args(RiskKind)
_KEY = 3
"""First letters by which cues with any ending are found."""


@dataclass(frozen=True, slots=True)
class Cue:
    """Words that tell something."""

    role: Role
    name: str
    """Of a kind, its name; of a risk, what is at risk."""
    weight: Weight
    words: tuple[str, ...]
    """Folded; with `*` at the end of those that may end in any way."""
    lead: bool
    """Whether it counts only where a sentence begins."""
    language: str


@dataclass(frozen=True, slots=True)
class Found:
    """A cue in a text."""

    cue: Cue
    first: int
    last: int
    """Words that it stands on, counted from 0."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Which cues are looked for."""

    roles: frozenset[str]
    without: str
    """A language whose cues are not."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The cues of all languages."""

    exact: Mapping[str, tuple[Cue, ...]]
    """By their first word, longest first."""
    open: Mapping[str, tuple[Cue, ...]]
    """Those whose first word may end in any way, by its first letters."""
    negations: frozenset[str]
    without: frozenset[str]
    touching: tuple[str, ...]
    states: frozenset[str]
    states_after_plural: frozenset[str]
    state_endings: tuple[str, ...]
    circumstances: frozenset[str]
    relatives: frozenset[str]
    empty: frozenset[str]
    empty_open: tuple[str, ...]
    openings: Mapping[str, tuple[tuple[str, ...], ...]]
    """Words that stand before what is asked (`could you please`), by their first, longest first."""

    def leads(self, folded: Sequence[str], starts: Sequence[int]) -> frozenset[int]:
        """Return the words at which sentences begin, and those behind what only opens them."""
        found = set(starts)
        for start in starts:
            at = start
            while at < len(folded) and (skipped := self._opening(folded, at)):
                at += skipped
                found.add(at)
        return frozenset(found)

    def find(
        self, role: Role, folded: Sequence[str], starts: frozenset[int], language: str
    ) -> list[Found]:
        """Return the cues of a role in folded words, the longest at each place; none overlap.

        `starts` are the words at which sentences begin. English has no cues of Polish: with any
        ending they meet words of it; Polish is full of English ones.
        """
        wanted = _Wanted(frozenset({role, "neutral"}), "pl" if language == "en" else "")
        found: list[Found] = []
        at = 0
        while at < len(folded):
            cues = self._at(folded, at, wanted, leads=at in starts)
            found += (Found(one, at, at + len(one.words) - 1) for one in cues if one.name)
            at += len(cues[0].words) if cues else 1
        return found

    def is_empty(self, folded: str) -> bool:
        """Tell whether a word says nothing of a subject: what is done to it, or politeness."""
        return folded in self.empty or folded.startswith(self.empty_open)

    def states_something(self, folded: Sequence[str], starts: Sequence[int]) -> bool:
        """Tell whether words say how something is, rather than name a thing.

        What they say of circumstances does not count: `a progress bar while it is built`.
        """
        counts, plural = True, False
        for at, word in enumerate(folded):
            plural = plural and at not in starts
            if at and folded[at - 1] in self.relatives:
                continue
            counts = at in starts or (counts and word not in self.circumstances)
            if counts and (word in self.states or word.endswith(self.state_endings)):
                return True
            if counts and plural and word in self.states_after_plural:
                return True
            plural = plural or word.endswith("s")
        return False

    def begins_cue(self, folded: str) -> bool:
        """Tell whether a cue may begin with a word as it stands."""
        opened = self.open.get(folded[:_KEY], ())
        return folded in self.exact or any(_meets(cue.words[0], folded) for cue in opened)

    def speaks(self, language: str, folded: str) -> bool:
        """Tell whether a word is a cue of a language."""
        cues = (*self.exact.get(folded, ()), *self.open.get(folded[:_KEY], ()))
        return any(
            cue.language == language and len(cue.words) == 1 and _meets(cue.words[0], folded)
            for cue in cues
        )

    def _opening(self, folded: Sequence[str], at: int) -> int:
        for opening in self.openings.get(folded[at], ()):
            if _stands(opening, folded, at):
                return len(opening)
        return 0

    def _at(self, folded: Sequence[str], at: int, wanted: _Wanted, *, leads: bool) -> list[Cue]:
        """Return the cues of the most words that stand at a place; several may have the same."""
        first = folded[at]
        best: list[Cue] = []
        for cue in (*self.exact.get(first, ()), *self.open.get(first[:_KEY], ())):
            if cue.role not in wanted.roles or (cue.lead and not leads):
                continue
            if cue.language == wanted.without:
                continue
            if best and len(cue.words) < len(best[0].words):
                continue
            if _stands(cue.words, folded, at):
                best = [*best, cue] if best and len(best[0].words) == len(cue.words) else [cue]
        return best


@cache
def lexicon() -> Lexicon:
    """Return the cues of all languages, read once."""
    exact: dict[str, list[Cue]] = {}
    opened: dict[str, list[Cue]] = {}
    negations: set[str] = set()
    without: set[str] = set()
    touching: set[str] = set()
    empty: set[str] = set()
    states: set[str] = set()
    after_plural: set[str] = set()
    endings: set[str] = set()
    circumstances: set[str] = set()
    relatives: set[str] = set()
    openings: dict[str, list[tuple[str, ...]]] = {}
    for language in LANGUAGES:
        data = tomllib.loads((FOLDER / f"{language}.toml").read_text("utf-8"))
        negations.update(words(data["negations"]))
        without.update(words(data["without"]))
        touching.update(words(data["touching"]))
        states.update(words(data["states"]))
        after_plural.update(words(data["states_after_plural"]))
        endings.update(words(data["state_endings"]))
        circumstances.update(words(data["circumstances"]))
        relatives.update(words(data["relatives"]))
        empty.update(folded_cue(word)[0] for word in data["empty"].split())
        for written in _split(data["opening"]):
            openings.setdefault(folded_cue(written)[0], []).append(folded_cue(written))
        for cue in _cues(data, language):
            first = cue.words[0]
            if first.endswith("*"):
                opened.setdefault(first[:_KEY], []).append(cue)
            else:
                exact.setdefault(first, []).append(cue)
    return Lexicon(
        {key: tuple(cues) for key, cues in exact.items()},
        {key: tuple(cues) for key, cues in opened.items()},
        frozenset(negations),
        frozenset(without),
        tuple(sorted(touching)),
        frozenset(states),
        frozenset(after_plural),
        tuple(sorted(endings)),
        frozenset(circumstances),
        frozenset(relatives),
        frozenset(word for word in empty if not word.endswith("*")),
        tuple(sorted(word.rstrip("*") for word in empty if word.endswith("*"))),
        {key: tuple(sorted(some, key=len, reverse=True)) for key, some in openings.items()},
    )


@cache
def common() -> Mapping[str, Any]:
    """Return what is the same in all languages: prefixes of commits, parts of paths."""
    return tomllib.loads((FOLDER / "common.toml").read_text("utf-8"))


@cache
def prefixes() -> Mapping[str, str]:
    """Return the kind of work of each prefix of a commit or label."""
    listed: dict[str, str] = common()["prefixes"]
    return {prefix: kind for kind, some in listed.items() for prefix in some.split()}


def folded_cue(written: str) -> tuple[str, ...]:
    """Return the words of a cue, folded as those of a text are, with their `*`."""
    found: list[str] = []
    for word in written.split():
        pieces = words(word.rstrip("*"))
        found += pieces
        if word.endswith("*") and found:
            found[-1] += "*"
    return tuple(found)


def _cues(data: Mapping[str, Any], language: str) -> Iterator[Cue]:
    """Yield the cues of one language's file."""
    for role, group in (("kind", "kinds"), ("risk", "risks")):
        for name, by_strength in data[group].items():
            for strength, text in by_strength.items():
                weight = STRENGTHS[strength]
                yield from _listed(text, cast(Role, role), name, weight, language)
    yield from _listed(data["neutral"], "neutral", "", 0.0, language)


def _listed(text: str, role: Role, name: str, weight: Weight, language: str) -> Iterator[Cue]:
    for written in _split(text):
        folded = folded_cue(written.removeprefix("^"))
        if folded[0].endswith("*") and len(folded[0]) <= _KEY:
            raise ValueError(f"{language}.toml: {written!r} begins with too few letters")
        yield Cue(role, name, weight, folded, written.startswith("^"), language)


def _split(text: str) -> Iterator[str]:
    """Yield what commas and ends of lines stand between."""
    for written in text.replace("\n", ",").split(","):
        if any(letter.isalnum() for letter in written):
            yield written.strip()


def _stands(cue: tuple[str, ...], folded: Sequence[str], at: int) -> bool:
    if at + len(cue) > len(folded):
        return False
    return all(_meets(one, folded[at + n]) for n, one in enumerate(cue))


def _meets(cue: str, word: str) -> bool:
    return word.startswith(cue[:-1]) if cue.endswith("*") else word == cue
