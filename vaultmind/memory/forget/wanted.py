"""What an erasure is about, and whether a text says it.

The words as they were typed are always found, in any case, with or without diacritics, in any
inflected form; and, where they say enough to be told from others, the same said in another order
(`match.says`). A text that merely shares a word with them is left.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from vaultmind.memory.match import is_specific, numbers, says
from vaultmind.memory.words import (
    NEGATIONS,
    SOFT,
    Word,
    bare,
    content,
    fold,
    forms,
    inflected,
    tokens,
)

WHOLE = 8
"""Letters from which words are found inside longer ones, too: in compounds and addresses."""
_NO_SPACES = re.compile("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_OTHER_SCRIPT = re.compile("[\u0530-\u1cff\u2c00-\ud7ff\uf900-\uffef\U00010000-\U0010ffff]")
"""Letters other than Latin, Greek and Cyrillic ones: how these make words is not known here."""
_LETTERS = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"\S.*?(?:[.!?…]{1,10}[\"'»”)\]]{0,10}(?=\s)|$)", re.DOTALL)

Span = tuple[int, int]


class Wanted:
    """Words to be erased, and messages that are meant whatever they say."""

    def __init__(
        self, texts: Iterable[str], refs: Iterable[tuple[str, str, str]] = (), agent: str = ""
    ) -> None:
        """Take `refs` as (agent, session, block or own id); an `agent` limits what is shared."""
        self.texts = tuple(dict.fromkeys(text for text in map(_plain, texts) if text))
        self.refs = frozenset(refs)
        self.agent = agent
        self._subjects = tuple(_Subject(text) for text in self.texts)

    def says(self, text: str) -> bool:
        """Tell whether a text says what is to be erased."""
        return self.may_be_in(text) and any(one.said_in(text) for one in self._subjects)

    def may_be_in(self, text: str) -> bool:
        """Tell quickly whether a text could say it: no text that does is left out."""
        if not text or any(one.any_text for one in self._subjects):
            return bool(text)
        found = set(_LETTERS.findall(unicodedata.normalize("NFC", bare(text)).casefold()))
        return any(
            one.may_be_among(found) or (one.numbers and one.numbers & numbers(text))
            for one in self._subjects
        )

    def means(self, agent: str, session: str, *names: str) -> bool:
        """Tell whether a message is meant by its place: a fact came from it."""
        return any((agent, session, name) in self.refs for name in names if name)

    def spans(self, text: str) -> tuple[Span, ...]:
        """Return the spans of the sentences that say it; all of the text where none does alone.

        Two neighbours that say it only together both count.
        """
        found = [match.span() for match in _SENTENCE.finditer(text)]
        told = [" ".join(text[start:end].split()) for start, end in found]
        alone = [self.says(one) for one in told]
        chosen = list(alone)
        for at in range(len(told) - 1):
            pair = not (alone[at] or alone[at + 1])
            if pair and self.says(f"{told[at]} {told[at + 1]}"):
                chosen[at] = chosen[at + 1] = True
        spans = tuple(span for span, taken in zip(found, chosen, strict=True) if taken)
        return spans or ((0, len(text)),)


def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text, as an erasure takes them out."""
    return tuple(match.group() for match in _SENTENCE.finditer(text))


def sentence_count(text: str) -> int:
    """Return how many sentences a text has."""
    return sum(1 for _ in _SENTENCE.finditer(text))


class _Subject:
    """One wording."""

    def __init__(self, text: str) -> None:
        self._text = text
        words = [fold(token) for token in tokens(text)]
        self._phrase = [word for word in words if _has_letter(word)] or words
        self._folded = " ".join(fold(text).split())
        self._anywhere = len(self._folded) >= WHOLE or bool(_NO_SPACES.search(text))
        self._specific = is_specific(text)
        self.numbers = numbers(text)
        self._telling = [_Telling(word) for word in _telling(text)]
        self.any_text = not self._telling or bool(_OTHER_SCRIPT.search(text))
        """Whether nothing can be told from single words."""

    def may_be_among(self, found: set[str]) -> bool:
        """Tell whether every word that counts stands among some, in any form or part."""
        return all(word.is_among(found) for word in self._telling)

    def said_in(self, text: str) -> bool:
        if self._anywhere and self._folded in " ".join(fold(text).split()):
            return True
        return self._has_phrase(text) or (self._specific and says(text, self._text))

    def _has_phrase(self, text: str) -> bool:
        words = [fold(token) for token in tokens(text)]
        if any(map(_has_letter, self._phrase)):
            words = [word for word in words if _has_letter(word)]
        size = len(self._phrase)
        if not size or len(words) < size:
            return False
        theirs = {word.folded: word for word in content(text)}
        ours = {word.folded: word for word in content(self._text)}
        return any(
            all(
                _same(one, other, ours, theirs)
                for one, other in zip(self._phrase, words[at : at + size], strict=True)
            )
            for at in range(len(words) - size + 1)
        )


class _Telling:
    """A word that every text which says it holds, and the forms of it that were met."""

    def __init__(self, word: str) -> None:
        self._forms = forms(word)
        self._seen: set[str] = set()
        self._same: set[str] = set()

    def is_among(self, found: set[str]) -> bool:
        """Tell whether a form of it, or a word that holds it, stands among some words."""
        new = found - self._seen
        self._same |= {word for word in new if self._resembles(word)}
        self._seen |= new
        return not self._same.isdisjoint(found)

    def _resembles(self, token: str) -> bool:
        """Tell whether a token may be a form of it in any language: these begin alike."""
        folded, own = fold(token), self._forms.folded
        if own in folded:
            return True
        if folded[:1] != own[:1]:
            return False
        other = forms(token)
        return not self._forms.stems.isdisjoint(other.stems) or inflected(self._forms, other)


def _telling(text: str) -> list[str]:
    """Return the words of a text by which others that say it can be known, letters alone."""
    words = [word.folded for word in content(text)]
    hard = [word for word in words if word not in SOFT and word not in NEGATIONS] or words
    return list(dict.fromkeys(part for word in hard for part in _LETTERS.findall(word)))


def _same(one: str, other: str, ours: dict[str, Word], theirs: dict[str, Word]) -> bool:
    if one == other:
        return True
    left, right = ours.get(one), theirs.get(other)
    return left is not None and right is not None and left.same(right)


def _has_letter(word: str) -> bool:
    return any(map(str.isalnum, word))


def _plain(text: str) -> str:
    return " ".join(bare(text).split())
