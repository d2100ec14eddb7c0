"""The facts of a conversation without a model: what the user said, told apart by a linear model.

What nothing speaks against is weighed by a small linear model whose weights ship as data, made a
short statement, cleared of what was taken back or said twice, and ordered by importance. Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind.consolidate.merge import merge
from vaultmind.consolidate.talk import (
    CLAUSE,
    NAME,
    NUMBER,
    Talk,
    Understand,
    Utterance,
    begins,
    clauses,
    features,
    read_talk,
    says,
    statement,
)
from vaultmind.consolidate.types import SECTION_OF, Candidate, Category, Dropped, Extraction
from vaultmind.index.when import with_dates
from vaultmind.index.words.clauses import facts_in
from vaultmind.memory.contradictions.alike import covers
from vaultmind.memory.match import mentions, same_fact
from vaultmind.memory.weights import VECTORS, WORDS, Weights, hashed, knows, read_weights
from vaultmind.memory.words import NEGATIONS, SOFT, Word, content, fold, tokens
from vaultmind.types import Fact, Message

if TYPE_CHECKING:
    from vaultmind.ports import Embedder, Matrix

MAX_FACTS = 8
WEIGHTS = Path(__file__).parent / "weights"
CLASSES: tuple[Category, ...] = ("CORE", "PREFERENCE", "DECISION", "PROJECT", "SKIP")
PLACES = 1 << 15
KEEPS, KEEPS_BY_WORDS = 0.7, 0.65
"""Likelihood of being a fact from which a statement is one, with vectors and by words alone."""
ONE_WORD_KEEPS = 0.75
"""The same of a statement with one content word: `I'm vegan` is one, `I'm bored` is not."""
PLAIN, PLAIN_WORDS, STAYS, STAYS_WORDS = 0.4, 8, 0.3, 12
"""By how much less sure one need be of a plain statement, and of one that says what stays so, of
so many words at most."""
WEIGHT: dict[Category, float] = {"CORE": 4.0, "PREFERENCE": 3.5, "DECISION": 3.0, "PROJECT": 2.5}
ASKED = 5.0
"""What a fact weighs that the person asked to have kept, or put right."""
TWICE = 0.5
"""What a fact weighs more for being said twice."""
FEWEST = 2
"""Content words from which a statement says something without speaking of the person."""
NEAR = 2
"""Messages of the user back to which a correction without a subject reaches."""
OFF = 4
"""The same to which `it's off` reaches, which ends the last plan whatever was said since."""
PLANS = ("PROJECT", "DECISION")
SHORT = 5
"""Content words of a correction without a subject of its own, at most."""
LED = 0.5
"""What the beginning of a sentence, as it was said, weighs beside its words."""
HEARD = 600
"""Characters of a message that tell what it is about."""
BEGINNING, ENDING = 5, 3
"""Letters by which forms of one word are alike, and in which Polish and Russian say who speaks."""
TO_THE_MEMORY = ("forget_topic", "forget_that", "skip", "recall", "show_memory")
_POINTS = re.compile(
    r"(?:it|it's|its|that|that's|this|he|he's|she|she's|they|they're|these|those|there|his|her|"
    r"to|ona|ono|oni|one|on|jego|jej|ich|tam|ten|ta|te|это|он|она|они|оно|его|ее|их|ему|еи|там|"
    r"этот|эта)(?!\w)"
)
"""What begins a statement whose subject stands in another sentence."""
_PLAIN = re.compile(
    r"(?:i'm|i am) (?:an? (?:\w+ )?\w+ (?:in|at|for|from|by)|allergic|vegan|vegetarian|coeliac|"
    r"celiac|diabetic|originally from)\b|i (?:live|work) (?:in|at|as|for)\b|i prefer |"
    r"i (?:have|'ve got) (?:type|diabetes|asthma|coeliac)\b|"
    r"(?:wolę |mieszkam w|pracuję (?:w|jako)|jestem (?:uczulon|wegan|wegetaria)|"
    r"mam (?:cukrzycę|alergię|astmę|celiakię))|"
    r"(?:я )?(?:предпочитаю |живу в|работаю (?:в|на))(?!\w)|у меня (?:аллергия|диабет|астма)"
)
"""What a person is, in the plainest words: in talks it is mostly said with more around it."""
_BUT_NOT = re.compile(
    r"(?<!\w)(?:not|nie|не) (?:in |w |we |на |в )?(?P<old>\w{2,}),? "
    r"(?:but |tylko |lecz |a |а |it's |to |in |w |we |в )*(?P<new>\w{2,})"
    r"|(?<!\w)(?P<now>\w{2,}),? (?:a |а |and |but )?(?:not|nie|не) (?:in |w |we |на |в )?"
    r"(?P<then>\w{2,})(?!\w)"
)


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
    said = list(talk.by_user())
    dropped = [
        Dropped(_shown(one), one.fault, (one.key,))
        for one in said
        if one.fault and one.fault != "request" and any(map(str.isalnum, one.text))
    ]
    kept, gone = settled(list(_found(said, embedder, dropped)), said)
    facts, twins = once(one for one, _ in kept)
    merged = settle([*_forgets(said), *facts], talk, brain, max_facts)
    return Extraction(merged.facts, (*dropped, *gone, *twins, *merged.dropped))


def settle(
    found: Iterable[Candidate], talk: Talk, brain: Sequence[Fact], max_facts: int
) -> Extraction:
    """Return facts that were found, by whomever, as they change the brain: dated and single."""
    single: list[Candidate] = []
    for one in found:
        first, *others = facts_in(one.text) if one.category != "DELETE" else (one.text,)
        days = [talk.days[key] for key in one.evidence if key in talk.days]
        for text in (first, *(other[:1].upper() + other[1:] for other in others)):
            now = datetime.combine(max(days), time()) if days else None
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
    less, more = sorted((telling(one.text), telling(other.text)), key=len)
    return same_fact(one.text, other.text) or (len(less) > 1 and covers(less, more))


@lru_cache(maxsize=4096)
def telling(text: str) -> tuple[Word, ...]:
    """Return the content words of a text that are not of the request itself."""
    return tuple(word for word in content(text) if word.folded not in SOFT)


def _shown(one: Utterance) -> str:
    hidden = one.fault in ("private", "secret", "asked not to keep")
    return "" if hidden else one.text.replace("\ufffc", "…")


def _forgets(said: Iterable[Utterance]) -> Iterator[Candidate]:
    """Yield what the user asked the memory, in words addressed to it, to forget."""
    done: set[str] = set()
    for one in said:
        words = one.intent.payload if one.intent.intent == "forget_topic" else ""
        words = words[slice(*clauses(words)[0])] if words else ""
        if one.fault in (None, "request") and one.whole not in done and telling(words):
            done.add(one.whole)
            yield Candidate("DELETE", words, (one.key,), ASKED, asked=True)


# --- what is a fact ------------------------------------------------------------------------


def _found(
    said: Sequence[Utterance], embedder: Embedder | None, dropped: list[Dropped]
) -> Iterator[tuple[Candidate, Utterance]]:
    """Yield the candidates among what the user said, in order."""
    open_ = open_to(said)
    texts = [stated(one) for one in open_]
    around = surroundings(said, embedder)
    least = KEEPS_BY_WORDS if embedder is None else KEEPS
    told = weighed(
        [(t, o.whole, o.at) for o, t in zip(open_, texts, strict=True)], embedder, around
    )
    last: tuple[Candidate, Utterance] | None = None
    for one, text, likely in zip(open_, texts, told, strict=True):
        wanted, sure = one.intent.intent == "remember", 1 - likely["SKIP"]
        few = len(telling(text)) < (1 if wanted else FEWEST)
        if (not wanted and sure < least - _plainness(text)) or (few and sure < ONE_WORD_KEEPS):
            continue
        category = max(WEIGHT, key=lambda name: likely[name])
        asked = wanted or one.intent.intent == "correct"
        weight = ASKED if asked else WEIGHT[category]
        if _POINTS.match(fold(text)) and not NAME.search(text):
            joined = last[0].text if last is not None and last[1].at == one.at else ""
            if not (whole := f"{joined}; {_small(text)}" if joined else _from_the_person(text)):
                dropped.append(Dropped(text, "unclear alone", (one.key,), category))
                continue
            text = whole  # noqa: PLW2901
        last = (
            Candidate(category, text, (one.key,), weight, SECTION_OF[category], asked=asked),
            one,
        )
        yield last


def _plainness(text: str) -> float:
    """Return by how much less sure one need be of a short statement that plainly says what the
    person is, or what they always do, like or keep as a pet."""
    folded, cues = fold(text), features(fold(text))
    words = len(folded.split())
    if words <= PLAIN_WORDS and (_PLAIN.match(folded) or _PLAIN.match(text.lower())):
        return PLAIN
    shown = {name for name, cue in cues.items() if cue.search(folded)}
    lasting = shown & {"standing", "pet", "like"} and shown & {"self", "we"}
    passing = shown & {"passing", "tech", "mood", "here"}
    return STAYS if words <= STAYS_WORDS and lasting and not passing else 0.0


def open_to(said: Iterable[Utterance]) -> list[Utterance]:
    """Return the pieces of a conversation that may be facts, for all that rules can tell."""
    return [one for one in said if not one.fault and _may_be_a_fact(one)]


def _may_be_a_fact(one: Utterance) -> bool:
    text = statement(one.text)
    if one.intent.intent in TO_THE_MEMORY or says(fold(text), "undo"):
        return False
    wanted, cues, words = one.intent.intent == "remember", features(one.folded), telling(text)
    if not wanted and begins(fold(text), "request") and not cues["standing"].search(one.folded):
        return False
    return len(words) >= FEWEST or bool(words and (wanted or cues["self"].search(one.folded)))


def stated(one: Utterance) -> str:
    """Return what a piece of a conversation says as a statement."""
    payload = one.intent.payload
    if one.intent.intent == "remember" and payload and payload in one.text:
        return statement(payload)
    return statement(one.text)


def _small(text: str) -> str:
    return text if text[:2].isupper() or text.startswith("I ") else text[:1].lower() + text[1:]


def _from_the_person(text: str) -> str:
    """Return a statement from the clause on that speaks of the person; empty if none does."""
    for match in CLAUSE.finditer(text):
        rest = text[match.end() :]
        cues = features(folded := fold(rest))
        if any(cues[name].match(folded) for name in ("self", "we", "own")):
            return statement(rest)
    return ""


# --- the linear model ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FactModel:
    """The weights of a model, and what it does with a statement."""

    weights: Weights

    def probabilities(
        self, text: str, whole: str = "", vector: Matrix | None = None, around: Matrix | None = None
    ) -> Mapping[Category, float]:
        """Return how likely a statement, of the sentence `whole`, is of each class.

        `around`: the direction of what else the person said in the conversation.
        """
        seen = ((sentence_places(text), 1.0), (leading_places(whole), LED))
        scores = self.weights.scores(seen)
        if self.weights.meaning and vector is not None:
            numbers = vector.tolist()
            near = around.tolist() if around is not None else [0.0] * len(numbers)
            alike = math.fsum(a * b for a, b in zip(numbers, near, strict=True))
            beside = self.weights.head.get("beside", [0.0] * len(CLASSES))
            scores = self.weights.scores(seen, [*numbers, *near])
            scores = [one + own * alike for one, own in zip(scores, beside, strict=True)]
        top = max(scores)
        powers = [math.exp(score - top) for score in scores]
        return {name: power / sum(powers) for name, power in zip(CLASSES, powers, strict=True)}


def weighed(
    statements: Sequence[tuple[str, str, int]],
    embedder: Embedder | None = None,
    around: Mapping[int, Matrix] | None = None,
) -> list[Mapping[Category, float]]:
    """Return how likely each (statement, sentence, message) is of each class.

    By the model with vectors where the bundled embedder is there, else by words.
    """
    if embedder is None or not knows(embedder) or not statements:
        return [model(WORDS).probabilities(text, whole) for text, whole, _ in statements]
    vectors = embedder.embed([text for text, _, _ in statements])
    return [
        model(VECTORS).probabilities(text, whole, vector, (around or {}).get(at))
        for (text, whole, at), vector in zip(statements, vectors, strict=True)
    ]


def surroundings(said: Iterable[Utterance], embedder: Embedder | None) -> dict[int, Matrix]:
    """Return, for each message of the user by its number, the direction of all the others.

    What lasts is mostly said by the way: it lies off what the rest of a conversation is about.
    """
    wholes: dict[int, dict[str, None]] = {}
    for one in said:
        if one.fault not in ("private", "secret", "asked not to keep"):
            wholes.setdefault(one.at, {})[one.whole] = None
    if embedder is None or not knows(embedder) or len(wholes) < 2:  # noqa: PLR2004
        return {}
    vectors = embedder.embed([" ".join(each)[:HEARD] for each in wholes.values()])
    total, found = vectors.sum(axis=0), {}
    for at, vector in zip(wholes, vectors, strict=True):
        rest = total - vector
        if (length := math.sqrt(float(rest @ rest))) > 0:
            found[at] = rest / length
    return found


@cache
def model(name: str) -> FactModel:
    """Return a model that ships with the package."""
    return read_model((WEIGHTS / f"{name}.weights").read_bytes(), name)


def read_model(data: bytes, name: str) -> FactModel:
    """Return the model of a file's bytes; raises ConfigError for a file of another shape."""
    return FactModel(read_weights(data, name, CLASSES, PLACES, "benchmarks/train_extractive.py"))


def sentence_places(text: str) -> list[int]:
    """Return the places of a statement's features, each once, in order."""
    return hashed(_features(text), PLACES)


def leading_places(whole: str) -> list[int]:
    """Return the places of how a sentence begins as it was said: its first three words."""
    words = [fold(token) for token in tokens(whole[:80]) if token[0].isalnum()][:3]
    return hashed((f"l{n} {' '.join(words[:n])}" for n in range(1, len(words) + 1)), PLACES)


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
    yield from (f"s{at} {word}" for at, word in enumerate(words[:2]))
    folded = fold(" ".join(text.split()))
    cues = features(folded)
    cued = [name for name, cue in cues.items() if cue.search(folded)]
    for name in cued:
        yield f"c {name}"
        yield from (f"c {name} {other}" for other in cued if other > name)
    yield from (f"first {name}" for name, cue in cues.items() if cue.match(folded))
    yield f"long {sum(len(words) > limit for limit in (3, 8, 16))}"
    if any(map(str.isdigit, text)):
        yield "number"
    if re.search(r"(?<=[\w,] )[^\W\d_a-zа-я][^\W\d_]{2,}", text):
        yield "name"


# --- what was taken back -------------------------------------------------------------------


def settled(
    found: Sequence[tuple[Candidate, Utterance]], said: Sequence[Utterance]
) -> tuple[list[tuple[Candidate, Utterance]], list[Dropped]]:
    """Return what still holds at the end of a conversation, and what was taken back.

    "The launch is on 14 March" … "sorry, it's the 21st": the first must not be kept, and the
    second says nothing without the first. `said`: all that the user said, in order.
    """
    order = {id(one): at for at, one in enumerate(said)}
    messages = sorted({one.at for one in said})
    kept, gone = list(found), list[Dropped]()
    for at, later in enumerate(said):
        if later.fault in ("question", "hypothetical", "orders the memory"):
            continue
        earlier = [one for one in kept if order[id(one[1])] < at]
        if not earlier:
            continue
        first = next(one for one in said if one.at == later.at)
        led = first is not later and bool(
            says(first.folded, "undo") or begins(first.folded, "retract")
        )
        course = _Correction(later, led, any(one[1] is later for one in kept))
        if not course.may_take_back:
            continue
        for one in earlier:
            back = messages.index(later.at) - messages.index(one[1].at)
            between = said[order[id(one[1])] + 1 : at]
            idle = not any(not x.fault and len(_subject(x)) > 1 for x in between)
            valued = [x for x in earlier if _values(x[0].text)]
            plans = [x for x in earlier if _is_plan(x[0])]
            idle = (idle and back <= NEAR) or (plans[-1:] == [one] and back <= OFF)
            if not course.takes_back(one, back, idle=idle, newest=valued[-1:] == [one]):
                continue
            kept.remove(one)
            text, keys = one[0].text, one[0].evidence
            gone.append(Dropped(text, "taken back", keys, one[0].category, later.key))
            own = next((n for n, other in enumerate(kept) if other[1] is later), None)
            if own is not None:
                kept[own] = (replace(kept[own][0], weight=ASKED), later)
            elif new := course.in_its_place(text):
                evidence = (*keys, later.key)
                kept.append((replace(one[0], text=new, evidence=evidence, weight=ASKED), later))
    return kept, gone


class _Correction:
    """A piece of a conversation, and what it may do to what was said before it."""

    def __init__(self, said: Utterance, led: bool, is_fact: bool) -> None:
        self.said, self.led, self.is_fact = said, led, is_fact
        self.stated = statement(said.text)
        self.few = len(_subject(said)) <= SHORT
        self.undoes = said.intent.intent == "forget_that" or bool(says(said.folded, "undo"))
        self.retracts = bool(says(said.folded, "retract"))
        self.values = _values(said.text)
        self.denied = frozenset(
            NUMBER.findall(" ".join(re.findall(r"\b(?:not|nie|не)\b.{0,20}", said.folded)))
        )
        self.renames = [
            (m["old"] or m["then"], m["new"] or m["now"]) for m in _BUT_NOT.finditer(said.folded)
        ]

    @property
    def may_take_back(self) -> bool:
        """Tell whether anything about it speaks of what was said before."""
        wish = self.said.intent.intent == "correct"
        cue = self.undoes or self.retracts or self.led or wish or self.is_fact
        return bool(cue or self.renames or self.denied)

    def takes_back(
        self,
        one: tuple[Candidate, Utterance],
        back: int,
        *,
        idle: bool,
        newest: bool,
    ) -> bool:
        """Tell whether it takes a fact back that was said `back` messages before.

        `idle`: nothing was told in between. `newest`: no later fact gives a value.
        """
        text, intent = one[0].text, self.said.intent
        values = _values(text)
        names = {fold(name) for name in NAME.findall(text)}
        if any(old in names for old, _ in self.renames) or (
            self.denied & values and self.values - self.denied
        ):
            return True
        quoted = self.said.fault == "quoted" and not (self.undoes and self.few)
        shared = _shared(text, self.stated)
        if quoted or (self.undoes and (shared or idle)):
            return not quoted
        named = intent.intent == "correct" and intent.old and mentions(text, intent.old)
        if named or ((self.is_fact or self.retracts) and _contradicts(self.stated, text)):
            return True
        if self.undoes or not (self.retracts or (self.led and one[1].at != self.said.at)):
            return False
        if shared and _denies(self.stated):
            return True
        other = bool(values and self.values - values)
        return other and (bool(shared) or (self.few and back <= NEAR and newest))

    def in_its_place(self, text: str) -> str:
        """Return what it makes of a fact; empty where it says nothing new."""
        old, new = self.said.intent.old, self.said.intent.new
        if self.said.intent.intent == "correct" and old and new:
            new = new[slice(*clauses(new)[0])]
            swapped = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, text, flags=re.I)
            return swapped if swapped != text else ""
        for before, after in self.renames:
            name = next((one for one in NAME.findall(text) if fold(one) == before), "")
            fresh = [w for w in re.findall(r"\w+", self.said.text) if fold(w) == after]
            if name and fresh:
                return re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", fresh[0], text)
        given = [one for one in NUMBER.findall(self.said.text) if one not in self.denied]
        had = NUMBER.findall(text)
        fresh = [one.rstrip(".,:") for one in given if one not in had]
        if len(had) == 1 and len(fresh) == 1 and self.few:
            return re.sub(r"\d+(?:[.,:]\d+)*(?:st|nd|rd|th)?", fresh[0], text)
        if _shared(text, self.stated) and len(content(self.stated)) > 1 and self.values:
            return self.stated
        return ""


@lru_cache(maxsize=4096)
def _values(text: str) -> frozenset[str]:
    """Return the numbers, months and days of the week of a text."""
    folded = fold(text)
    named = (match.group() for match in features(folded)["month"].finditer(folded))
    return frozenset({*(one.rstrip(".,:") for one in NUMBER.findall(folded)), *named})


def _shared(one: str, other: str) -> list[Word]:
    """Return the words of a text that another has too, in whatever form."""
    mine, theirs = telling(one), telling(other)
    values = _values(one)
    return [
        word
        for word in mine
        if word.folded not in values | NEGATIONS and any(word.same(it) for it in theirs)
    ]


def _contradicts(new: str, old: str) -> bool:
    from vaultmind.memory.contradictions.contradict import relation

    return relation(new, old) == "contradicts"


def _denies(text: str) -> bool:
    from vaultmind.memory.contradictions.claims import read

    return read(text).negative


def _is_plan(one: Candidate) -> bool:
    folded = fold(one.text)
    return one.category in PLANS or bool(features(folded)["plan"].search(folded))


def _subject(said: Utterance) -> list[Word]:
    """Return what a piece of a conversation is about, besides that it takes something back."""
    return [word for word in telling(statement(said.text)) if not says(word.folded, "retract")]
