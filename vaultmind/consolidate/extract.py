"""The facts of a conversation without a model: a trained network chooses what is worth keeping.

It says what sort of fact a piece of a sentence is, if any, whether it can be understood by itself,
and whether it is said in earnest. What is worth keeping but cannot stand alone is left to a better
reader. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from vaultmind.consolidate.ground import values, words_of
from vaultmind.consolidate.merge import merge
from vaultmind.consolidate.talk import GAP, TO_THE_MEMORY, Utterance, read_talk, spans, statement
from vaultmind.consolidate.types import SECTION_OF, Candidate, Category, Dropped, Extraction, Reason
from vaultmind.language.network import network
from vaultmind.language.words import SOFT
from vaultmind.types import Fact, Message

Heads = Mapping[str, Mapping[str, float]]
"""By head and label, how likely a text is that."""
Readings = Mapping[str, Heads]
"""What the network makes of some texts, which it reads together."""
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


def extract(
    messages: Sequence[Message], brain: Sequence[Fact] = (), *, max_facts: int = MAX_FACTS
) -> Extraction:
    """Return what a conversation leaves behind that the brain does not know yet.

    Give only messages that may be recalled: what was forgotten is left out by the caller.
    """
    talk = read_talk(messages)
    said = [one for one in talk.said if one.role == "user"]
    dropped = [
        Dropped(_shown(one), one.fault, (one.key,))
        for one in said
        if one.fault and any(map(str.isalnum, one.text))
    ]
    pieces = {one.text: _pieces(one) for one in said if not one.fault}
    read = readings([*(one.text for one in said), *chain.from_iterable(pieces.values())])
    told = [manner(read[one.text], one.text) for one in said]
    earnest = list(_earnest(said, told, dropped))
    found = _found(earnest, pieces, read, dropped)
    kept = list(_still_so(found, said, told, dropped))
    merged = merge([*_forgets(said), *kept], talk, brain, max_facts)
    return Extraction(merged.facts, (*dropped, *merged.dropped))


def _shown(one: Utterance) -> str:
    hidden = one.fault in ("private", "secret", "asked not to keep")
    return "" if hidden else one.text.replace(GAP, "…")


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
    found: Sequence[tuple[Candidate, Utterance]],
    said: Sequence[Utterance],
    told: Sequence[str],
    dropped: list[Dropped],
) -> Iterator[Candidate]:
    """Yield the facts that nothing said soon after them seems to take back.

    In doubt a fact is not kept: what came in its place is a fact of its own, or is told again.
    """
    turns = {at: number for number, at in enumerate(sorted({one.at for one in said}))}
    places = [next(at for at, one in enumerate(said) if one is it) for _, it in found]
    for (fact, one), place in zip(found, places, strict=True):
        for at in range(place + 1, len(said)):
            text, near = said[at].text, turns[said[at].at] - turns[one.at]
            if near > BACK or told[at] not in ("back", "broken", "joke"):
                continue
            last = not any(place < other < at for other in places)
            short = len(words_of(text)) <= BACK
            points = last and near <= 1 and (short or _TURNS.match(text))
            back = last and short if told[at] == "joke" else points
            if back or (told[at] != "joke" and _shares_words(fact.text, text)):
                dropped.append(Dropped(fact.text, "taken back", fact.evidence, fact.category))
                break
        else:
            yield fact


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
    said: Sequence[Utterance],
    pieces: Mapping[str, Sequence[str]],
    read: Readings,
    dropped: list[Dropped],
) -> list[tuple[Candidate, Utterance]]:
    """Return the facts among what the user said, in order; what is unclear alone is dropped."""
    found: list[tuple[Candidate, Utterance]] = []
    for one in said:
        asked, worth = _is_asked(one), pieces[one.text]
        if not asked:
            worth = [
                piece
                for piece in worth
                if 1 - read[piece]["fact"]["SKIP"] >= KEEPS
                and _begins(piece, statement(one.text), read)
            ]
        if not worth:
            continue
        alone = {piece: 1.0 if asked else read[piece]["alone"]["alone"] for piece in worth}
        clear = [piece for piece in worth if alone[piece] >= STANDS]
        # the most that is clear, without a beginning that tells nothing: "Last thing, ..."
        text = max(clear, key=len) if clear else max(alone, key=lambda it: alone[it])
        text = min((one for one in clear if text.endswith(one[1:])), key=len, default=text)
        category = likeliest(read[text])
        if not clear:
            dropped.append(Dropped(text, "unclear alone", (one.key,), category))
            continue
        weight = ASKED if asked or one.intent.intent == "correct" else WEIGHT[category]
        section = SECTION_OF[category]
        found.append((Candidate(category, text, (one.key,), weight, section, asked=asked), one))
    return found


def _begins(piece: str, whole: str, read: Readings) -> bool:
    """Tell whether a piece begins its sentence, or what stands before it tells nothing."""
    before = whole[: max(0, whole.casefold().find(piece.casefold()))]
    if before.rstrip().endswith(":"):  # "For the test user: I live in Berlin"
        return False
    lead = statement(before)
    if not lead:
        return whole.casefold().startswith(piece.casefold())
    return lead in read and read[lead]["fact"]["SKIP"] >= TELLS_NOTHING and not values(lead)


# --- the network ---------------------------------------------------------------------------


def readings(texts: Iterable[str]) -> Readings:
    """Return what the network makes of texts, each read once."""
    each = list(dict.fromkeys(texts))
    found = network().read("facts", each)
    return {text: one.heads for text, one in zip(each, found, strict=True)}


def likeliest(heads: Heads) -> Category:
    """Return which sort of fact a text is, if it is one."""
    return max(WEIGHT, key=lambda name: heads["fact"][name])


def manner(heads: Heads, text: str) -> str:
    """Return in what manner a text is said, the likeliest odd one where it may be odd.

    What corrects itself in one breath is `broken`: nobody knows which half of it holds.
    """
    told = heads["manner"]
    if told["plain"] + told["back"] < SURE:
        return max(ODD, key=lambda name: told[name])
    if told["back"] < BACK_FROM:
        return "plain"
    return "broken" if told["back"] >= BROKEN and values(text) > 1 else "back"
