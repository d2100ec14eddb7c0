"""A wish to forget in words that no phrase file has, and the one fact that it means.

Only for what is said to the memory itself. What is asked is told by its verb, what is meant by
the words that stand in one fact and in no other; where two are as near, none is meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from vaultmind.index.words.language import detect
from vaultmind.index.words.terms import roots
from vaultmind.memory.contradictions.alike import alike, begin_alike
from vaultmind.memory.contradictions.axes import AXES
from vaultmind.memory.contradictions.claims import denies
from vaultmind.memory.intents import Intent
from vaultmind.memory.intents.text import fold, sentences
from vaultmind.memory.words import NEGATIONS, SOFT, Word, content
from vaultmind.types import Fact

MOST = 0.6
"""Part of the words asked with that must stand in a fact, where it is not all of them."""
MARGIN = 0.2
"""How much nearer than any other the fact must be."""
BEFORE = 6
"""Words that may stand in a clause before its verb (`could you please`)."""
EXACT = 0.35
"""What words count more for in the very form in which the fact has them."""
SOME = 2
"""Words there must have been said before that are to be forgotten by "forget that"."""
SHORT = 2
SURE = 0.6
"""Confidence of a wish that is told by its verb alone."""
_VOWELS = frozenset("aeiouyаеиоуыюя")
_OWN = re.compile(
    r"\b(?:i|i'm|my|our|we|moj\w*|mam|nasz\w*|ze|мо\w{1,3}|наш\w*|что|я|juz|уже|больше)\b"
)
"""What shows that a fact of the person is spoken of."""
_CLAUSE = re.compile(r"(?i)\W{0,3}(?:that|i|we|my|ze|że|что)\b")

_FORGET = re.compile(
    r"\b(?:forget|unlearn|unremember|zapomnij\w*|zapomniec|(?:zebys|moglbys|moglabys) zapomnial\w?|"
    r"забудь\w*|забыть|чтобы ты забыла?)\b"
    r"|\b(?:i (?:don'?t|do not) want you to|you should no longer|stop|don'?t|do not|nie|przestan|"
    r"не|перестань)(?: \w+){0,3} (?:remember(?:ing)?|know|"
    r"keep(?:ing)?|stor(?:e|ing)|pamieta[cj]|wiedziec|"
    r"trzymac|trzymaj|помни|помнить|храни|хранить|знать)\b"
)
_DELETE = re.compile(
    r"\b(?:delete|remove|erase|drop|wipe|scrub|purge|clear|strike|scratch|take|get rid of|"
    r"usun\w*|(?:wy|s)?kasuj\w*|wymaz\w*|(?:wy)?kresl\w*|wyrzuc\w*|wywal\w*|wyczysc\w*|"
    r"удали\w*|сотри\w*|стереть|вычеркн\w+|убери\w*|убрать|выкин\w+|выброс\w+|очисти\w*)\b"
)
_MEMORY = re.compile(
    r"\b(?:(?:from|out of|of|z|ze|из|в)\s+)?(?:(?:your|my|twoj\w*|swoj\w*|сво\w+|тво\w+)\s+)?"
    r"(?:memor\w+|brain|remember\w*|you know|knowledge|notes?(?= (?:about|on|that)|$)|facts?|"
    r"pamiec\w*|pamieta\w*|wiesz|notat\w*|fakt\w*|wpis\w*|"
    r"памят\w*|помнишь|знаешь|заметк\w*|факт\w*|запис[ьи]\w*)\b"
)
_TURNED = re.compile(
    r"\b(?:not|never|don'?t|can'?t|cannot|won'?t|did|does|why|when|how|if|who|he|she|they|we|always|often|"
    r"nie|nigdy|dlaczego|czemu|kiedy|jesli|jak|не|ни|никогда|почему|когда|если|как)\b"
)
"""What before a verb of forgetting makes it no wish."""
_LATER = re.compile(
    r"\b(?:for now|for today|for this|for a moment|na razie|na chwile|пока|на время)\b"
)
_BREAK = re.compile(
    r"(?:[!?;,]|(?<=\w{4})\.)\s(?!\s{0,3}(?:that|ze|co|gdzie|kiedy|что|где|когда|как)\b)|\s-\s"
)
_NO_CONTENT = """
    name names imie imiona имя имена thing things rule fact info preference
    decision plan plans part stuff note entry like want anymore longer please now was were
    zasada zasadzie informacja informacje decyzja decyzji wpis
    plan juz gdzie kiedy jak правило правиле решение запись план планы больше уже где когда как
    мою свою нашу нашего
"""
_EMPTY = frozenset(_NO_CONTENT.split())
"""Words that only say that a fact is meant."""


def wish_to_forget(text: str) -> Intent:
    """Return the wish to forget that is said to a memory, with its object; else no intent.

    Verbs that other things are done with (`delete`) need the memory to be named.
    """
    folded = fold(text)
    to_memory = bool(_MEMORY.search(folded.text))
    for sentence in sentences(folded.text):
        start = sentence.start
        parts = _BREAK.split(folded.text[start : sentence.end])
        for number, part in enumerate(parts):
            at = folded.text.index(part, start)
            start = at + len(part)
            verb = _FORGET.search(part) or (_DELETE.search(part) if to_memory else None)
            if not verb or not _is_wish(part[: verb.start()], folded.text):
                continue
            begin, end = folded.place(at + verb.end(), at + len(part))
            if not _asked(text[begin:end]):  # "… – forget that": what was said before is meant
                begin, end = 0, folded.place(at, at + verb.start())[1]
                if len(_asked(text[:end])) < SOME:
                    continue
            elif number + 1 < len(parts) and not to_memory and not _OWN.search(folded.text):
                continue
            return Intent(
                "forget_topic", detect(text), text[begin:end], begin, end, confidence=SURE
            )
    return Intent()


def _is_wish(before: str, folded: str) -> bool:
    """Tell whether a verb of forgetting is said to the memory, by what stands before it."""
    few = len(before.split()) <= BEFORE
    own = {"i", "you"} & set(before.split()) == {"i"}
    return few and not own and not _TURNED.search(before) and not _LATER.search(folded)


def meant(facts: Sequence[Fact], words: str, *, loosely: bool = False) -> Fact | None:
    """Return the fact that words to forget something mean; None where it is none or several.

    `loosely`: the words say more than what to forget, and may say it the other way round.
    """
    part = words if loosely else _BREAK.split(words, maxsplit=1)[0]
    part = part if _asked(part) else words
    asked = _asked(part)
    proper = {one.folded for one in asked if not loosely and _is_proper(one.folded, part)}
    near: list[tuple[float, float, Fact]] = []
    for fact in facts:
        said = content(fact.text)
        held = [one for one in asked if any(_same(one, other) for other in said)]
        exact = {one.folded for one in held} & {other.folded for other in said}
        turned = denies(fact.text) != denies(part) and (denies(part) or _CLAUSE.match(words))
        if held and proper <= {one.folded for one in held} and (loosely or not turned):
            share = len(held) / len(asked)
            near.append((share + EXACT * len(exact) / len(asked), share, fact))
    near.sort(key=lambda one: -one[0])
    if not near:
        return None
    (best, share, fact), (second, other, _) = (*near, (0.0, 0.0, near[0][2]))[:2]
    if best - second < MARGIN and not share == 1 > other:
        return None
    return fact if share == 1 or (share >= MOST and share * len(asked) > 1) else None


def is_about(facts: Sequence[Fact], words: str) -> bool:
    """Tell whether most of what words to forget something name stands in one of some facts."""
    asked = _asked(_BREAK.split(words, maxsplit=1)[0]) or _asked(words)
    for fact in facts:
        said = content(fact.text)
        held = sum(any(_same(one, other) for other in said) for one in asked)
        if held and held >= MOST * len(asked):
            return True
    return False


def _is_proper(folded: str, words: str) -> bool:
    """Tell whether a word asked with is a number, or a name within the words."""
    found = re.search(rf"(?<=\w\W){re.escape(folded)}", fold(words).text)
    return folded[0].isdigit() or bool(found and words[found.start() : found.start() + 1].isupper())


def _asked(words: str) -> list[Word]:
    plain = _MEMORY.sub(" ", fold(words).text)
    return [
        one
        for one in content(plain)
        if one.folded[0].isalnum()
        and one.folded not in SOFT | NEGATIONS | _EMPTY
        and not AXES["liking"].search(one.folded)
    ]


def _same(one: Word, other: Word) -> bool:
    a, b = one.folded, other.folded
    if alike(one, other) or not (a.isalpha() and b.isalpha()):
        return alike(one, other)
    short = min(len(a), len(b)) > SHORT and a[:-1] == b[:-1] and {a[-1], b[-1]} <= _VOWELS
    return short or begin_alike(a, b) or bool({*roots(a)} & {*roots(b)})


def strays(fact: Fact, facts: Sequence[Fact], words: str) -> bool:
    """Tell whether a fact has none of some words, and another one has."""
    asked = _asked(words)
    others = [one for one in facts if one.text != fact.text]
    return not _shares(fact, asked) and any(_shares(one, asked) for one in others)


def _shares(fact: Fact, asked: Sequence[Word]) -> bool:
    return any(_same(one, other) for one in asked for other in content(fact.text))
