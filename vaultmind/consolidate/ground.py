"""Whether a conversation says a fact: the last word on what any model, or rule, has found.

A fact is kept only where the messages it names say it: its content words, names and numbers stand
close together in the words of the right speaker, with the same polarity, and not as a question,
a supposition, a quotation, a joke or an order to the memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from vaultmind.consolidate.facts.figures import numbers
from vaultmind.consolidate.talk import Talk, Utterance, statement
from vaultmind.consolidate.types import Candidate, Dropped, Reason
from vaultmind.memory.contradictions.alike import alike
from vaultmind.memory.contradictions.claims import read
from vaultmind.memory.words import NEGATIONS, SMALL, SOFT, Word, content, fold
from vaultmind.redact import mask

NEAR = 3
"""Pieces of one message in a row that may say a fact together."""
_FRAME = """
    user prefer like want named name call decide decision plan goal project currently work
    age where when health taste detail
    uzytkownik woli lubi chce nazywa imie postanowil zdecydowal planuje cel projekt obecnie
    wiek gdzie kiedy praca zdrowie gust szczegol
    пользователь предпочитает любит хочет зовут решил планирует цель проект сеичас
    имя возраст где когда работа здоровье вкус подробность
"""
FRAME = frozenset(_FRAME.split())
"""What a summing-up says without the person having said it: it takes no side by itself."""
_NAME = re.compile(r"(?<=[\w,;] )[^\W\d_a-zа-я][^\W\d_]+")
_VERB = 3
"""Letters that two forms of a verb begin alike with."""
_VERB_ENDS = frozenset({"", "s", "es", "ed", "d", "ing"})
_WORTH_TELLING: tuple[Reason, ...] = (
    "private",
    "secret",
    "asked not to keep",
    "orders the memory",
    "quoted",
    "joke",
    "hypothetical",
    "question",
    "request",
)


def ground(candidate: Candidate, talk: Talk) -> Dropped | None:
    """Return why a fact cannot be kept; None where the conversation says it.

    `candidate.evidence` are keys of messages; a message that is not in the talk (a tool's, an
    erased one) is no evidence.
    """
    if mask(candidate.text).text != candidate.text:
        return _dropped(candidate, "secret")
    said = [one for one in talk.said if one.key in candidate.evidence]
    if not said:
        return _dropped(candidate, "no evidence")
    agreed = [one for one in said if one.role == "user" or _lends(one, said)]
    if not any(one.role == "user" for one in agreed):
        return _dropped(candidate, "not the user's words")
    if candidate.category == "DELETE":
        return None
    return _said_by(candidate, agreed)


def _said_by(candidate: Candidate, said: Sequence[Utterance]) -> Dropped | None:
    """Return why some pieces of talk do not say a fact; None where they do."""
    together = any(one.role == "assistant" for one in said)
    clear = [
        one
        for one in said
        if not one.fault or _lends(one, said) or (together and one.fault == "request")
    ]
    words = _words(candidate.text)
    missing = _missing(words, clear)
    if missing:
        blamed = [one for one in said if one.fault]
        for reason in _WORTH_TELLING:
            own = [one for one in blamed if one.fault == reason]
            if own and not _missing(words, [*clear, *own]):
                return _dropped(candidate, reason)
        return _dropped(candidate, _kind(missing[0], candidate.text), missing[0].folded)
    if lost := numbers(candidate.text) - _spoken(clear):
        return _dropped(candidate, "number not in evidence", min(lost))
    if not _is_close(words, clear, len(candidate.evidence)):
        return _dropped(candidate, "words not in evidence", "they stand far apart")
    if not _agrees(candidate.text, words, clear):
        return _dropped(candidate, "polarity")
    return None


def _lends(one: Utterance, said: Sequence[Utterance]) -> bool:
    """Tell whether a piece is the assistant's, and the user's next one among the evidence does not
    begin with a no: what was agreed to may be said with the assistant's words."""
    if one.role != "assistant" or one.fault not in (None, "question", "hypothetical", "request"):
        return False
    after = next((x for x in said if x.role == "user" and x.at > one.at), None)
    return (
        after is not None and not set(fold(after.whole).replace(",", " ").split()[:1]) & NEGATIONS
    )


def _words(text: str) -> tuple[Word, ...]:
    """Return the words of a fact that must have been said."""
    return tuple(
        word
        for word in content(text)
        if word.folded[0].isalnum()
        and not _is_frame(word)
        and word.folded not in SOFT | SMALL | NEGATIONS
    )


def _is_frame(word: Word) -> bool:
    return word.folded in FRAME or any(stem.rpartition(" ")[2] in FRAME for stem in word.stems)


def _missing(words: Sequence[Word], said: Sequence[Utterance]) -> list[Word]:
    there = [word for one in said for word in content(one.text)]
    spoken = _spoken(said)
    return [
        word
        for word in words
        if not any(alike(word, other) or _third_person(word, other) for other in there)
        and not (numbers(word.folded) and numbers(word.folded) <= spoken)
    ]


def _spoken(said: Sequence[Utterance]) -> frozenset[str]:
    return numbers(" ".join(one.text for one in said), parts=True)


def _third_person(one: Word, other: Word) -> bool:
    """Tell whether two words are one English verb: `lives` is stemmed as Polish beside `Gdańsk`."""
    left, right = one.folded, other.folded
    same = (at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b)
    shared = next(same, min(len(left), len(right)))
    ends = {left[shared:], right[shared:]}
    return shared >= _VERB and left.isascii() and right.isascii() and ends <= _VERB_ENDS


def _kind(word: Word, text: str) -> Reason:
    if any(char.isdigit() for char in word.folded):
        return "number not in evidence"
    names = {fold(name) for name in _NAME.findall(text)}
    return "name not in evidence" if word.folded in names else "words not in evidence"


def _is_close(words: Sequence[Word], said: Sequence[Utterance], messages: int) -> bool:
    """Tell whether neighbouring pieces say all of a fact; several messages may say it together."""
    if messages > 1 or len(said) <= NEAR:
        return True
    windows = (said[at : at + NEAR] for at in range(len(said) - NEAR + 1))
    return any(not _missing(words, window) for window in windows)


def _agrees(text: str, words: Sequence[Word], said: Sequence[Utterance]) -> bool:
    """Tell whether the pieces that say most of a fact take the same side as it."""
    if any(_verbatim(text, one.text) for one in said):
        return True
    fact = read(text)
    held = [sum(any(alike(word, w) for w in content(one.text)) for word in words) for one in said]
    best = max(held, default=0)
    mine = [
        read(statement(one.text))
        for one, count in zip(said, held, strict=True)
        if count and count == best
    ]
    if not mine:
        return True
    sides = [dict(one.poles) for one in mine]
    for name, pole in fact.poles:
        others = {side[name] for side in sides if name in side}
        if others and pole not in others:
            return False
    liking = dict(fact.poles).get("liking")
    return any(one.negative == fact.negative for one in mine) or _turned(liking, mine)


def _verbatim(text: str, said: str) -> bool:
    """Tell whether a fact stands word for word in what was said, with no `not` before it."""
    whole, part = fold(said), fold(text)
    at = whole.find(part)
    return at >= 0 and not (set(whole[:at].replace(",", " , ").split()[-1:]) & NEGATIONS)


def _turned(liking: int | None, said: Sequence[object]) -> bool:
    """Tell whether a taste is said by its opposite: `does not like` and `dislikes`."""
    return liking is not None and any(
        getattr(one, "negative", False) and dict(getattr(one, "poles", ())).get("liking") != liking
        for one in said
    )


def _dropped(candidate: Candidate, reason: Reason, detail: str = "") -> Dropped:
    hidden = reason in ("secret", "private", "asked not to keep")
    text = mask(candidate.text).text if not hidden else ""
    return Dropped(text, reason, candidate.evidence, candidate.category, detail)
