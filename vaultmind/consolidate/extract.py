"""The facts of a conversation without a model: two trained readers choose what is worth keeping.

One says what sort of fact a piece of a sentence is, if any, the other whether it can be understood
by itself. What the first would keep and the second not is left to a better reader. Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind.consolidate.ground import share_of, values, words_of
from vaultmind.consolidate.merge import merge
from vaultmind.consolidate.talk import (
    TO_THE_MEMORY,
    Talk,
    Understand,
    Utterance,
    read_talk,
    spans,
    statement,
)
from vaultmind.consolidate.types import (
    SECTION_OF,
    Candidate,
    Category,
    Dropped,
    Extraction,
    Reason,
)
from vaultmind.index.when import with_dates
from vaultmind.index.words.clauses import facts_in
from vaultmind.memory.match import same_fact
from vaultmind.memory.weights import VECTORS, WORDS, Weights, hashed, knows, read_weights
from vaultmind.memory.words import SOFT, fold, tokens
from vaultmind.types import Fact, Message

if TYPE_CHECKING:
    from vaultmind.ports import Embedder

MAX_FACTS = 8
WEIGHTS = Path(__file__).parent / "weights"
SORTS: tuple[Category, ...] = ("CORE", "PREFERENCE", "DECISION", "PROJECT", "SKIP")
ALONE = ("unclear", "alone")
MANNERS = ("plain", "back", "told", "supposed", "joke", "play")
"""How something is said: in earnest, taking back what was said before, as somebody else's, ..."""
PLACES = 1 << 15
KEEPS, KEEPS_BY_WORDS = 0.78, 0.8
"""Likelihood of being a fact from which a piece is one, with vectors and by words alone."""
STANDS, STANDS_BY_WORDS = 0.7, 0.65
"""Likelihood of standing alone from which a piece is written."""
SURE, BACK_FROM, BROKEN = 0.5, 0.35, 0.5
"""Likelihood from which a sentence is in earnest, takes something back, or breaks off itself."""
REASON_OF: dict[str, Reason] = {
    "told": "quoted",
    "supposed": "hypothetical",
    "joke": "joke",
    "play": "joke",
    "broken": "unclear alone",
}
FEWEST = 2
"""Words of a piece that says something."""
PLAYED = 8
"""Messages after "you are the doctor, I'll be the patient" that are play too."""
BACK = 3
"""Messages of the user after a fact in which it may be taken back."""
WEIGHT: dict[Category, float] = {"CORE": 4.0, "PREFERENCE": 3.5, "DECISION": 3.0, "PROJECT": 2.5}
ASKED = 5.0
"""What a fact weighs that the person asked to have kept, or put right."""
TWICE = 0.5
"""What a fact weighs more for being said twice."""
ALIKE = 0.9
"""Share of its words in which a fact says no more than another."""
BEGINNING, ENDING, PIECE = 5, 3, 4
"""Letters by which forms of one word are alike, in which endings differ, and of a piece."""


def extract(
    messages: Sequence[Message],
    brain: Sequence[Fact] = (),
    *,
    max_facts: int = MAX_FACTS,
    embedder: Embedder | None = None,
    understand: Understand | None = None,
) -> Extraction:
    """Return what a conversation leaves behind that the brain does not know yet.

    Give only messages that may be recalled: what was forgotten is left out by the caller. With the
    bundled embedder it is surer; without one it works by words alone.
    """
    talk = read_talk(messages, understand, embedder)
    said = talk.by_user()
    dropped = [
        Dropped(_shown(one), one.fault, (one.key,))
        for one in said
        if one.fault and any(map(str.isalnum, one.text))
    ]
    known = Vectors(embedder)
    pieces = {one.text: _pieces(one) for one in said if not one.fault}
    known.add([*(one.text for one in said), *(piece for own in pieces.values() for piece in own)])
    told = manners([one.text for one in said], known)
    earnest = list(_earnest(said, told, dropped))
    found, unclear = _found(earnest, pieces, known)
    kept, gone = _still_so(found, said, told)
    facts, twins = once([*_forgets(said), *kept])
    merged = settle(facts, talk, brain, max_facts)
    return Extraction(merged.facts, (*dropped, *unclear, *gone, *twins, *merged.dropped))


def settle(
    found: Iterable[Candidate], talk: Talk, brain: Sequence[Fact], max_facts: int
) -> Extraction:
    """Return facts that were found, by whomever, as they change the brain: dated and single."""
    single: list[Candidate] = []
    for one in found:
        first, *others = facts_in(one.text) if one.category != "DELETE" else (one.text,)
        days = [talk.days[key] for key in one.evidence if key in talk.days]
        now = datetime.combine(max(days), time()) if days else None
        for text in (first, *(other[:1].upper() + other[1:] for other in others)):
            dated = with_dates(text, now) if now and one.category != "DELETE" else text
            single.append(replace(one, text=dated))
    facts, dropped = merge(single, brain, max_facts)
    return Extraction(tuple(facts), tuple(dropped))


def once(found: Iterable[Candidate]) -> tuple[list[Candidate], list[Dropped]]:
    """Return facts, each once: what was said again weighs more and has more evidence."""
    kept: list[Candidate] = []
    dropped: list[Dropped] = []
    for one in found:
        at = next((at for at, other in enumerate(kept) if _alike(one, other)), None)
        if at is None:
            kept.append(one)
            continue
        lesser, fuller = sorted((kept[at], one), key=lambda it: len(it.text))
        kept[at] = replace(
            fuller,
            evidence=tuple(dict.fromkeys((*kept[at].evidence, *one.evidence))),
            weight=min(ASKED, max(one.weight, kept[at].weight) + TWICE),
            asked=one.asked or kept[at].asked,
            doubt=one.doubt and kept[at].doubt,
        )
        dropped.append(Dropped(lesser.text, "said twice", lesser.evidence, lesser.category))
    return kept, dropped


def _alike(one: Candidate, other: Candidate) -> bool:
    """Tell whether one fact says no more than another."""
    if (one.category == "DELETE") != (other.category == "DELETE"):
        return False
    few = min(len(words_of(one.text)), len(words_of(other.text)))
    return same_fact(one.text, other.text) or (few > 1 and share_of(one.text, other.text) >= ALIKE)


def _shown(one: Utterance) -> str:
    hidden = one.fault in ("private", "secret", "asked not to keep")
    return "" if hidden else one.text.replace("\ufffc", "…")


def _forgets(said: Iterable[Utterance]) -> Iterator[Candidate]:
    """Yield what the user asked the memory, in words addressed to it, to forget."""
    for one in said:
        words = one.intent.payload if one.intent.intent == "forget_topic" else ""
        if not one.fault and any(word.folded not in SOFT for word in words_of(words)):
            yield Candidate("DELETE", words, (one.key,), ASKED, asked=True)


def _earnest(
    said: Sequence[Utterance], told: Sequence[str], dropped: list[Dropped]
) -> Iterator[Utterance]:
    """Yield what is said in earnest; the rest is told among what was dropped."""
    playing = -1
    for one, manner in zip(said, told, strict=True):
        if manner == "play":
            playing = one.at + PLAYED
        asked = one.intent.intent == "remember"
        reason = REASON_OF.get(manner if one.at > playing else "play")
        if one.fault:
            continue
        if reason and not asked:
            dropped.append(Dropped(one.text, reason, (one.key,)))
        else:
            yield one


def _still_so(
    found: Sequence[tuple[Candidate, Utterance]], said: Sequence[Utterance], told: Sequence[str]
) -> tuple[list[Candidate], list[Dropped]]:
    """Return the facts that nothing said soon after them seems to take back, and the others.

    In doubt a fact is not kept: what came in its place is a fact of its own, or is told again.
    """
    order = {id(one): at for at, one in enumerate(said)}
    turns = {at: number for number, at in enumerate(sorted({one.at for one in said}))}
    kept: list[Candidate] = []
    gone: list[Dropped] = []
    for number, (fact, one) in enumerate(found):
        following = [each for _, each in found[number + 1 :]]
        back: Utterance | None = None
        for later, manner in zip(said, told, strict=True):
            near = turns[later.at] - turns[one.at]
            if manner not in ("back", "broken", "joke") or not 0 <= near <= BACK:
                continue
            if order[id(later)] <= order[id(one)]:
                continue
            between = [x for x in following if order[id(x)] < order[id(later)]]
            if manner == "joke" and len(words_of(later.text)) <= BACK and not between:
                back = later
            shared = _shares_words(fact.text, later.text)
            if manner in ("back", "broken") and (shared or (not between and near <= 1)):
                back = later
        if back is None:
            kept.append(fact)
        else:
            text, keys = fact.text, fact.evidence
            gone.append(Dropped(text, "taken back", keys, fact.category, back.key))
    return kept, gone


def _shares_words(one: str, other: str) -> bool:
    mine = [word for word in words_of(one) if word.folded not in SOFT]
    return any(word.same(theirs) for word in mine for theirs in words_of(other))


def _pieces(one: Utterance) -> list[str]:
    """Return what of a sentence may be a fact: for what it asks to have kept, its words alone."""
    if one.intent.intent in TO_THE_MEMORY:
        return []
    if one.intent.intent == "remember" and (text := statement(one.intent.payload)):
        return [text]
    return [piece for piece in spans(one.text) if len(piece.split()) >= FEWEST]


def _found(
    said: Sequence[Utterance], pieces: Mapping[str, Sequence[str]], known: Vectors
) -> tuple[list[tuple[Candidate, Utterance]], list[Dropped]]:
    """Return the facts among what the user said, in order, and what is unclear by itself."""
    keeps = KEEPS_BY_WORDS if known.by_words else KEEPS
    stands = STANDS_BY_WORDS if known.by_words else STANDS
    found: list[tuple[Candidate, Utterance]] = []
    unclear: list[Dropped] = []
    for one in said:
        asked = one.intent.intent == "remember"
        own = pieces[one.text]
        likely = sorts(own, known)
        worth = [at for at, told in enumerate(likely) if asked or 1 - told["SKIP"] >= keeps]
        clear = alone([own[at] for at in worth], known)
        ranked = [
            (asked or sure >= stands, len(own[at]) if sure >= stands else sure, at)
            for at, sure in zip(worth, clear, strict=True)
        ]
        if not ranked:
            continue
        stands_alone, _, at = max(ranked)
        told = likely[at]
        category = max(WEIGHT, key=lambda name, told=told: told[name])  # type: ignore[misc]
        if stands_alone:
            found.append((_candidate(category, own[at], one, asked=asked), one))
        else:
            unclear.append(Dropped(own[at], "unclear alone", (one.key,), category))
    return found, unclear


def _candidate(category: Category, text: str, one: Utterance, *, asked: bool = False) -> Candidate:
    weight = ASKED if asked or one.intent.intent == "correct" else WEIGHT[category]
    return Candidate(category, text, (one.key,), weight, SECTION_OF[category], asked=asked)


# --- the readers ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reader:
    """A linear model of short texts."""

    weights: Weights
    classes: tuple[str, ...]

    def probabilities(self, text: str, vector: Sequence[float] = ()) -> Mapping[str, float]:
        """Return how likely a text is of each class."""
        scores = self.weights.scores([(places(text), 1.0)], vector)
        powers = [math.exp(score - max(scores)) for score in scores]
        return {name: one / sum(powers) for name, one in zip(self.classes, powers, strict=True)}


@cache
def reader(name: str, classes: tuple[str, ...], kind: str) -> Reader:
    """Return a reader that ships: by words alone, or with vectors."""
    data = (WEIGHTS / f"{name}-{kind}.weights").read_bytes()
    return Reader(
        read_weights(data, name, classes, PLACES, "benchmarks/train_extractive.py"), classes
    )


class Vectors:
    """The vectors of some texts, all worked out at once where the bundled embedder is there."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder if embedder is not None and knows(embedder) else None
        self._vectors: dict[str, list[float]] = {}

    @property
    def by_words(self) -> bool:
        """Tell whether there are none."""
        return self._embedder is None

    def add(self, texts: Sequence[str]) -> None:
        """Work out the vectors of texts."""
        new = [one for one in dict.fromkeys(texts) if one not in self._vectors]
        if self._embedder is not None and new:
            rows = self._embedder.embed(new)
            self._vectors |= {one: row.tolist() for one, row in zip(new, rows, strict=True)}

    def read(
        self, name: str, classes: tuple[str, ...], texts: Sequence[str]
    ) -> list[Mapping[str, float]]:
        """Return how likely each text is of each class of a reader."""
        self.add(texts)
        model = reader(name, classes, WORDS if self.by_words else VECTORS)
        return [model.probabilities(one, self._vectors.get(one, ())) for one in texts]


def sorts(texts: Sequence[str], known: Vectors) -> list[Mapping[str, float]]:
    """Return how likely each text is a fact of each sort, or nothing to keep."""
    return known.read("fact", SORTS, texts)


def alone(texts: Sequence[str], known: Vectors) -> list[float]:
    """Return how likely each text can be understood by itself."""
    return [one["alone"] for one in known.read("alone", ALONE, texts)]


def manners(texts: Sequence[str], known: Vectors) -> list[str]:
    """Return in what manner each text is said, the likeliest odd one where it may be odd.

    What corrects itself in one breath is `broken`: nobody knows which half of it holds.
    """
    found = []
    for text, one in zip(texts, known.read("manner", MANNERS, texts), strict=True):
        odd = max(MANNERS[2:], key=lambda name, one=one: one[name])  # type: ignore[misc]
        earnest = one["plain"] + one["back"] >= SURE
        back = "back" if one["back"] >= BACK_FROM else ""
        if back and one["back"] >= BROKEN and values(text) > 1:
            back = "broken"
        found.append((back or "plain") if earnest else odd)
    return found


def places(text: str) -> list[int]:
    """Return the places of a text's features, each once, in order."""
    return hashed(_features(text), PLACES)


def _features(text: str) -> Iterator[str]:
    words = [fold(token) for token in tokens(text) if token[0].isalnum()]
    for at, word in enumerate(words):
        shown = "#" if word.isdigit() else word
        yield f"w {shown}"
        if len(word) > BEGINNING:
            yield f"b {word[:BEGINNING]}"
        if len(word) > ENDING:
            yield f"e {word[-ENDING:]}"
        if at:
            yield f"2 {words[at - 1]} {shown}"
        if at > 1:
            yield f"3 {words[at - 2]} {words[at - 1]} {shown}"
        yield from (f"c {word[n : n + PIECE]}" for n in range(len(word) - PIECE + 1))
    yield from (f"s{at} {word}" for at, word in enumerate(words[:3]))
    yield f"s {' '.join(words[:2])}"
    yield from (f"l{at} {word}" for at, word in enumerate(words[:-3:-1]))
    yield f"long {sum(len(words) > limit for limit in (2, 4, 8, 16))}"
    if any(map(str.isdigit, text)):
        yield "number"
    if re.search(r"(?<=[\w,] )[^\W\d_a-zа-я][^\W\d_]{2,}", text):
        yield "name"
