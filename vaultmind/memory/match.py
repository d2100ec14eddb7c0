"""Which fact is meant: the same said otherwise, or the one some words are about.

A wrong forget is the worst mistake a memory can make, so words must name one fact alone: where
two hold them, or one only among much else, nothing is chosen and the nearest are offered.
What is to be erased is looked for as well: there every text that says it is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from vaultmind.language.names import alike
from vaultmind.language.text import sentences
from vaultmind.language.words import (
    NEGATIONS,
    SOFT,
    Word,
    bare,
    content,
    fold,
    letters_shared,
    saying,
    tokens,
)
from vaultmind.types import Fact

NEAREST = 3
"""How many facts are offered when none is meant for certain."""
ABOUT_SHARE = 0.25
"""Words mean a fact only where they are at least this part of what the fact says."""
SHORT_MESSAGE = 8
"""A message of so few content words says a fact of one word; a longer one mentions it."""
SAME_SHARE = 0.5
"""A part of a fact stands for it with so much of its words."""
LONG_NUMBER = 6
_LIKE = 0.6
WHOLE = 8
"""Letters from which words are found inside longer ones, too: in compounds and addresses."""
_STEM = 3
"""Letters that all forms of one word begin with."""
_NO_SPACES = re.compile("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_OTHER_SCRIPT = re.compile("[\u0530-\u1cff\u2c00-\ud7ff\uf900-\uffef\U00010000-\U0010ffff]")
"""Letters other than Latin, Greek and Cyrillic ones: how these make words is not known here."""
_BLOCK = re.compile(r"\^([A-Za-z0-9-]+)")
_SENTENCES = re.compile(r"(?<=[.!?…])\s+|\n+")
_DIGITS = re.compile(r"\d(?:[\d ().-]*\d)?")
_DATE = re.compile(
    r"(?<!\d)(?:\d{4}([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2\d{4})(?!\d)"
    r"(?:[T ]\d{1,2}(?::\d{2}){1,2})?"
)
"""A day, with the hour or without: many texts have it that say nothing of one another."""
_VOWELS = "aeiouyаеиоуыюя"
_BEGINNING = 5
"""Letters that two words of a question and a fact begin with, at least, ..."""
_LOOSE_ENDING = 3
"""... and letters that may follow, at most, where no rule knows both as forms of one."""


Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Match:
    """Positions of facts. `found` holds one fact, or several that say the same."""

    found: tuple[int, ...] = ()
    nearest: tuple[int, ...] = ()
    in_doubt: bool = False
    """The nearest hold the words: several equally, or none is about them alone."""


def same_fact(one: str, other: str) -> bool:
    """Tell whether two texts say one fact: case, punctuation, diacritics, small words aside."""
    left = saying(one)
    return bool(left) and left == saying(other)


def find(facts: Sequence[Fact], words: str) -> Match:
    """Return the fact that some words mean: its block id (`^k3f9`), its words, its topic."""
    named = _BLOCK.fullmatch(words.strip())
    if named:
        return _one_of(facts, [i for i, fact in enumerate(facts) if fact.block == named.group(1)])
    same = tuple(i for i, fact in enumerate(facts) if same_fact(fact.text, words))
    if same:
        return Match(same)
    asked = content(words)
    said = [content(fact.text) for fact in facts]
    exact = [i for i, one in enumerate(said) if _says_exactly(asked, one)]
    if exact:
        return _one_of(facts, exact)
    held = sorted(
        (i for i, one in enumerate(said) if _holds(one, asked)),
        key=lambda i: (not _is_about(asked, said[i]), len(said[i])),
    )
    if held and _is_about(asked, said[held[0]]):
        return _one_of(facts, held)
    if held:
        return Match((), tuple(held), in_doubt=True)
    return Match((), _nearest(facts, words))


def asked_about(facts: Sequence[Fact], words: str) -> tuple[int, ...]:
    """Return the facts that hold the words of a question, for an answer and for no change.

    A word may stand in a form that no rule here knows ("dentyście", "dentysta"): a long common
    beginning is enough.
    """
    match = find(facts, words)
    held = set(match.nearest) if match.in_doubt else set()
    asked = _hard(content(words))
    for at, fact in enumerate(facts):
        said = content(fact.text)
        if asked and all(is_among(word, said) for word in asked):
            held.add(at)
    return tuple(sorted({*match.found, *held}))


def is_among(word: Word, others: Sequence[Word]) -> bool:
    """Tell whether a word is one of some others: in any form, or in another script.

    Words that differ in their last vowels, or begin alike for long, may be forms of one.
    """
    return any(alike(word, one) or _begin_alike(word.folded, one.folded) for one in others)


def _begin_alike(one: str, other: str) -> bool:
    shared, longest = letters_shared(one, other), max(len(one), len(other))
    stems = {each.rstrip(_VOWELS) for each in (one, other)}
    same = len(stems) == 1 and len(stems.pop()) > 1
    return same or (shared >= _BEGINNING and longest - shared <= _LOOSE_ENDING)


def mentions(message: str, words: str) -> bool:
    """Tell whether all that some words are about stands in a message, wherever in it."""
    return _holds(content(message), content(words))


def is_specific(words: str) -> bool:
    """Tell whether words say enough to be told from others by their content."""
    return len(_hard(content(words))) > 1 or bool(numbers(words))


def says(message: str, fact: str) -> bool:
    """Tell whether a message says a fact, in whatever words' forms and order.

    All that the fact says must stand within two neighbouring sentences of the message, or a
    long number (a telephone's) that the fact holds.
    """
    wanted = _hard(content(fact))
    if not wanted:
        return same_fact(message, fact)
    if numbers(fact) & numbers(message):
        return True
    if len(wanted) == 1 and len(content(message)) > SHORT_MESSAGE:
        return False
    sentences = [content(part) for part in _SENTENCES.split(message)]
    pairs = zip(sentences, [*sentences[1:], ()], strict=True)
    return any(_within(wanted, (*one, *following)) for one, following in pairs)


def share_of(part: str, fact: str) -> float:
    """Return how much of a fact's words stand in a text, from 0 to 1."""
    wanted, there = _hard(content(fact)), content(part)
    held = sum(any(word.same(other) for other in there) for word in wanted)
    return held / max(1, len(wanted))


def numbers(text: str) -> set[str]:
    """Return the long numbers in a text, digits only: telephones, accounts, and no dates."""
    found = _DIGITS.findall(_DATE.sub(" ; ", bare(text)))
    runs = ("".join(filter(str.isdigit, run)) for run in found)
    return {run for run in runs if len(run) >= LONG_NUMBER}


def repeats(text: str, forgotten: str) -> bool:
    """Tell whether a new fact says again what was forgotten: all of it, or a good part alone."""
    if same_fact(text, forgotten) or says(text, forgotten):
        return True
    return says(forgotten, text) and share_of(text, forgotten) >= SAME_SHARE


def _one_of(facts: Sequence[Fact], meant: Sequence[int]) -> Match:
    """Return the facts that are meant if they all say the same, else a tie between them."""
    if all(same_fact(facts[i].text, facts[meant[0]].text) for i in meant):
        return Match(tuple(sorted(meant)))
    return Match((), tuple(meant), in_doubt=True)


def _says_exactly(asked: tuple[Word, ...], said: tuple[Word, ...]) -> bool:
    """Tell whether all that a fact says is asked, and nothing else but the request's own words."""
    return bool(asked) and _within(_hard(asked) or asked, said) and _within(said, asked)


def _holds(said: tuple[Word, ...], asked: tuple[Word, ...]) -> bool:
    hard = _hard(asked)
    return bool(hard) and _within(hard, said)


def _is_about(asked: tuple[Word, ...], said: tuple[Word, ...]) -> bool:
    """Tell whether a fact that holds the words is about them, and does not say the opposite."""
    hard = _hard(asked)
    positive = tuple(word for word in said if word.folded not in NEGATIONS)
    if len(hard) > 1 and len(positive) < len(said) and _within(positive, hard):
        return any(word.folded in NEGATIONS for word in hard)
    return len(hard) >= len(said) * ABOUT_SHARE


def _hard(words: tuple[Word, ...]) -> tuple[Word, ...]:
    return tuple(word for word in words if word.folded not in SOFT)


def _within(words: tuple[Word, ...], others: tuple[Word, ...]) -> bool:
    return all(any(word.same(other) for other in others) for word in words)


def _nearest(facts: Sequence[Fact], words: str) -> tuple[int, ...]:
    """Return the facts that share the most words, then those that are spelt most alike."""
    folded, shared = fold(words), []
    for fact in facts:
        alike = SequenceMatcher(None, folded, fold(fact.text)).ratio()
        shared.append((share_of(fact.text, words), alike))
    best = sorted(range(len(facts)), key=lambda at: shared[at], reverse=True)
    return tuple(at for at in best if shared[at][0] or shared[at][1] > _LIKE)[:NEAREST]


# --- what is wanted ----------------------------------------------------------------------
# The words as typed are always found, in any case, with or without diacritics, in any inflected
# form; and, where they say enough to be told from others, the same said in another order. A text
# that merely shares a word with them is left.


class Wanted:
    """Words to be erased, and messages that are meant whatever they say."""

    def __init__(
        self, texts: Iterable[str], refs: Iterable[tuple[str, str, str]] = (), today: str = ""
    ) -> None:
        """Take `refs` as (path without `.md`, block, own id); `today` as an ISO date."""
        plain = (" ".join(bare(text).split()) for text in texts)
        self.texts = tuple(dict.fromkeys(filter(None, plain)))
        self.refs, self.today = dict[str, set[str]](), today
        for path, *names in refs:
            self.refs.setdefault(path, set()).update(filter(None, names))
        self._wordings = tuple(map(_Wording, self.texts))

    def says(self, text: str) -> bool:
        """Tell whether a text says what is to be erased."""
        folded = fold(text)
        return any(one.may_be_in(folded) and one.said_in(text) for one in self._wordings)

    def may_be_in(self, text: str) -> bool:
        """Tell quickly whether a text could say it: no text that does is left out."""
        folded = fold(text)
        return any(one.may_be_in(folded) for one in self._wordings)

    def means(self, path: str, *names: str) -> bool:
        """Tell whether a message or part is meant by its place: a fact came from it."""
        return not self.refs.get(path.removesuffix(".md"), set()).isdisjoint(names)

    def spans(self, text: str) -> tuple[Span, ...]:
        """Return the spans of the sentences that say it; all of the text where none does alone.

        Two neighbours that say it only together both count.
        """
        found = sentence_spans(text)
        told = [" ".join(text[start:end].split()) for start, end in found]
        chosen = [self.says(one) for one in told]
        for at in range(len(told) - 1):
            if not any(chosen[at : at + 2]) and self.says(f"{told[at]} {told[at + 1]}"):
                chosen[at] = chosen[at + 1] = True
        spans = tuple(span for span, taken in zip(found, chosen, strict=True) if taken)
        return spans or ((0, len(text)),)


def sentence_spans(text: str) -> list[Span]:
    """Return where the sentences of a text stand, as an erasure takes them out."""
    return [(one.start, one.end) for one in sentences(text.replace("\n", " "))]


class _Wording:
    """One way to say it."""

    def __init__(self, text: str) -> None:
        self._text, self._folded = text, " ".join(fold(text).split())
        self._phrase, self._numbers = spoken(text), numbers(text)
        self._anywhere = len(self._folded) >= WHOLE or bool(_NO_SPACES.search(text))
        words = () if _OTHER_SCRIPT.search(text) else content(text)
        hard = (word.folded for word in words if word.folded not in SOFT | NEGATIONS)
        self._begins = {word[:_STEM] for word in hard}

    def may_be_in(self, folded: str) -> bool:
        if all(one in folded for one in self._begins):
            return True
        return bool(self._numbers and self._numbers & numbers(folded))

    def said_in(self, text: str) -> bool:
        if self._anywhere and self._folded in " ".join(fold(text).split()):
            return True
        words, size = spoken(text), len(self._phrase)
        in_a_row = (words[at : at + size] for at in range(len(words) - size + 1 if size else 0))
        return any(
            all(one.same(other) for one, other in zip(self._phrase, row, strict=True))
            for row in in_a_row
        ) or (is_specific(self._text) and says(text, self._text))


def spoken(text: str) -> list[Word]:
    """Return the words of a text in order; its symbols where there is nothing else."""
    known = {word.folded: word for word in content(text)}
    folded = [fold(token) for token in tokens(text)]
    words = [one for one in folded if any(map(str.isalnum, one))] or folded
    return [known.get(one, Word(one, frozenset())) for one in words]
