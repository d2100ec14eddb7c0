"""The facts of a conversation without a model: a trained network chooses what is worth keeping.

It says what sort of fact a piece of a sentence is, if any, whether it can be understood by itself,
and whether it is said in earnest. What is worth keeping but cannot stand alone is left to a better
reader. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time

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
from vaultmind.language.network import network
from vaultmind.language.words import SOFT
from vaultmind.memory.match import same_fact
from vaultmind.types import Fact, Message

MAX_FACTS = 8
ODD = ("told", "supposed", "joke", "play")
"""How something is said that is not in earnest: as somebody else's words, an idea, ..."""
KEEPS = 0.8
"""Likelihood of being a fact from which a piece is one."""
STANDS = 0.9
"""Likelihood of standing alone from which a piece is written."""
ASKS = 0.9
"""Likelihood of a wish to have something kept from which it is kept as said."""
TELLS_NOTHING = 0.5
"""Likelihood of being no fact from which a clause is left out before one."""
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
_WRITES = re.compile(
    r"\b(?:write|draft|compose|rewrite|napisz|zredaguj|ułóż|напиши|составь|сочини)", re.IGNORECASE
)
"""What is to be written is play, and nothing after it."""
_TURNS = re.compile(
    r"\W*(?:(?:yes|oh|ah|ok|tak|oj|да|ой)\W+){0,2}"
    r"(?:actually|no|nope|wait|correction|sorry|nie|jednak|czekaj|poprawka|нет|хотя|стоп|вообще)\b",
    re.IGNORECASE,
)
"""How a message begins that may take back the one before it in other words."""
BACK = 3
"""Messages of the user after a fact in which it may be taken back."""
WEIGHT: dict[Category, float] = {"CORE": 4.0, "PREFERENCE": 3.5, "DECISION": 3.0, "PROJECT": 2.5}
ASKED = 5.0
"""What a fact weighs that the person asked to have kept, or put right."""
TWICE = 0.5
"""What a fact weighs more for being said twice."""
ALIKE = 0.9
"""Share of its words in which a fact says no more than another."""


def extract(
    messages: Sequence[Message],
    brain: Sequence[Fact] = (),
    *,
    max_facts: int = MAX_FACTS,
    understand: Understand | None = None,
) -> Extraction:
    """Return what a conversation leaves behind that the brain does not know yet.

    Give only messages that may be recalled: what was forgotten is left out by the caller.
    """
    talk = read_talk(messages, understand)
    said = talk.by_user()
    dropped = [
        Dropped(_shown(one), one.fault, (one.key,))
        for one in said
        if one.fault and any(map(str.isalnum, one.text))
    ]
    pieces = {one.text: _pieces(one) for one in said if not one.fault}
    read = Readings.of(
        [*(one.text for one in said), *(piece for x in pieces.values() for piece in x)]
    )
    told = [read.manner(one.text) for one in said]
    earnest = list(_earnest(said, told, dropped))
    found, unclear = _found(earnest, pieces, read)
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
        days = [talk.days[key] for key in one.evidence if key in talk.days]
        now = datetime.combine(max(days), time()) if days else None
        dated = with_dates(one.text, now) if now and one.category != "DELETE" else one.text
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
        if manner == "play" and not _WRITES.search(one.text):
            playing = one.at + PLAYED
        asked, reason = _is_asked(one), REASON_OF.get(manner if one.at > playing else "play")
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
            points = len(words_of(later.text)) <= BACK or _TURNS.match(later.text)
            if manner in ("back", "broken") and (shared or (points and not between and near <= 1)):
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
    if _is_asked(one) and (text := statement(one.intent.payload)):
        return [text]
    return [piece for piece in spans(one.text) if len(piece.split()) >= FEWEST]


def _is_asked(one: Utterance) -> bool:
    """Tell whether a sentence surely asks to have something kept."""
    return one.intent.intent == "remember" and one.intent.confidence >= ASKS


def _found(
    said: Sequence[Utterance], pieces: Mapping[str, Sequence[str]], read: Readings
) -> tuple[list[tuple[Candidate, Utterance]], list[Dropped]]:
    """Return the facts among what the user said, in order, and what is unclear by itself."""
    found: list[tuple[Candidate, Utterance]] = []
    unclear: list[Dropped] = []
    for one in said:
        asked, worth = _is_asked(one), pieces[one.text]
        if not asked:
            whole = statement(one.text)
            worth = [
                piece
                for piece in worth
                if 1 - read.sort(piece)["SKIP"] >= KEEPS and _begins(piece, whole, read)
            ]
        if not worth:
            continue
        clear = [piece for piece in worth if asked or read.alone(piece) >= STANDS]
        # the most that is clear, without a beginning that tells nothing: "Last thing, ..."
        text = max(clear, key=len) if clear else max(worth, key=read.alone)
        text = min((one for one in clear if text.endswith(one[1:])), key=len, default=text)
        likely = read.sort(text)
        category = max(WEIGHT, key=lambda name, likely=likely: likely[name])  # type: ignore[misc]
        if clear:
            found.append((_candidate(category, text, one, asked=asked), one))
        else:
            unclear.append(Dropped(text, "unclear alone", (one.key,), category))
    return found, unclear


def _begins(piece: str, whole: str, read: Readings) -> bool:
    """Tell whether a piece begins its sentence, or what stands before it tells nothing."""
    before = whole[: max(0, whole.casefold().find(piece.casefold()))]
    if before.rstrip().endswith(":"):  # "For the test user: I live in Berlin"
        return False
    lead = statement(before)
    if not lead:
        return whole.casefold().startswith(piece.casefold())
    told = read.heads.get(lead)
    return told is not None and told["fact"]["SKIP"] >= TELLS_NOTHING and not values(lead)


def _candidate(category: Category, text: str, one: Utterance, *, asked: bool = False) -> Candidate:
    weight = ASKED if asked or one.intent.intent == "correct" else WEIGHT[category]
    return Candidate(category, text, (one.key,), weight, SECTION_OF[category], asked=asked)


# --- the network ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Readings:
    """What the network makes of some texts, which it reads together."""

    heads: Mapping[str, Mapping[str, Mapping[str, float]]]
    """By text, head and label, how likely it is."""

    @classmethod
    def of(cls, texts: Iterable[str]) -> Readings:
        """Read texts, each once."""
        each = list(dict.fromkeys(texts))
        found = network().read("facts", each)
        return cls({text: one.heads for text, one in zip(each, found, strict=True)})

    def sort(self, text: str) -> Mapping[str, float]:
        """Return how likely a text is a fact of each sort, or nothing to keep (`SKIP`)."""
        return self.heads[text]["fact"]

    def alone(self, text: str) -> float:
        """Return how likely a text can be understood by itself."""
        return self.heads[text]["alone"]["alone"]

    def manner(self, text: str) -> str:
        """Return in what manner a text is said, the likeliest odd one where it may be odd.

        What corrects itself in one breath is `broken`: nobody knows which half of it holds.
        """
        told = self.heads[text]["manner"]
        if told["plain"] + told["back"] < SURE:
            return max(ODD, key=lambda name: told[name])
        if told["back"] < BACK_FROM:
            return "plain"
        return "broken" if told["back"] >= BROKEN and values(text) > 1 else "back"
