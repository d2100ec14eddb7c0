"""What an erasure is about, and whether a text says it.

The words as they were typed are always found, in any case, with or without diacritics, in any
inflected form; and, where they say enough to be told from others, the same said in another order
(`match.says`). A text that merely shares a word with them is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from vaultmind.language.words import NEGATIONS, SOFT, bare, content, fold, tokens
from vaultmind.memory.match import is_specific, numbers, says

WHOLE = 8
"""Letters from which words are found inside longer ones, too: in compounds and addresses."""
_BEGINNING = 3
"""Letters that all forms of one word begin with."""
_NO_SPACES = re.compile("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_OTHER_SCRIPT = re.compile("[\u0530-\u1cff\u2c00-\ud7ff\uf900-\uffef\U00010000-\U0010ffff]")
"""Letters other than Latin, Greek and Cyrillic ones: how these make words is not known here."""
_WORDS = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"\S.*?(?:[.!?…]{1,10}[\"'»”)\]]{0,10}(?=\s)|$)", re.DOTALL)

Span = tuple[int, int]


class Wanted:
    """Words to be erased, and messages that are meant whatever they say."""

    def __init__(self, texts: Iterable[str], refs: Iterable[tuple[str, str, str]] = ()) -> None:
        """Take `refs` as (agent, session, block or own id)."""
        plain = (" ".join(bare(text).split()) for text in texts)
        self.texts = tuple(dict.fromkeys(filter(None, plain)))
        self.refs = frozenset(refs)
        self._wordings = tuple(map(_Wording, self.texts))

    def says(self, text: str) -> bool:
        """Tell whether a text says what is to be erased."""
        folded = fold(text)
        begins = _beginnings(folded)
        return any(
            one.may_be_in(text, folded, begins) and one.said_in(text, folded)
            for one in self._wordings
        )

    def may_be_in(self, text: str) -> bool:
        """Tell quickly whether a text could say it: no text that does is left out."""
        folded = fold(text)
        begins = _beginnings(folded)
        return any(one.may_be_in(text, folded, begins) for one in self._wordings)

    def means(self, agent: str, session: str, *names: str) -> bool:
        """Tell whether a message is meant by its place: a fact came from it."""
        return any((agent, session, name) in self.refs for name in names if name)

    def spans(self, text: str) -> tuple[Span, ...]:
        """Return the spans of the sentences that say it; all of the text where none does alone.

        Two neighbours that say it only together both count.
        """
        found = [match.span() for match in _SENTENCE.finditer(text)]
        told = [" ".join(text[start:end].split()) for start, end in found]
        chosen = [self.says(one) for one in told]
        for at in range(len(told) - 1):
            if not any(chosen[at : at + 2]) and self.says(f"{told[at]} {told[at + 1]}"):
                chosen[at] = chosen[at + 1] = True
        spans = tuple(span for span, taken in zip(found, chosen, strict=True) if taken)
        return spans or ((0, len(text)),)


def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text, as an erasure takes them out."""
    return tuple(match.group() for match in _SENTENCE.finditer(text))


class _Wording:
    """One way to say it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded = " ".join(fold(text).split())
        self._phrase = _spoken(text)
        self._words = {word.folded: word for word in content(text)}
        self._numbers = numbers(text)
        self._is_specific = is_specific(text)
        self._anywhere = len(self._folded) >= WHOLE or bool(_NO_SPACES.search(text))
        small = SOFT | NEGATIONS
        hard = [word for word in self._words if word not in small] or list(self._words)
        self._begins = {part[:_BEGINNING] for word in hard for part in _WORDS.findall(word)}
        self._any_text = not self._begins or bool(_OTHER_SCRIPT.search(text))
        """Whether nothing can be told from single words."""

    def may_be_in(self, text: str, folded: str, begins: set[str]) -> bool:
        if self._any_text or self._begins <= begins or self._folded in folded:
            return bool(text)
        return bool(self._numbers and self._numbers & numbers(text))

    def said_in(self, text: str, folded: str) -> bool:
        if self._anywhere and self._folded in " ".join(folded.split()):
            return True
        return self._has_phrase(text) or (self._is_specific and says(text, self._text))

    def _has_phrase(self, text: str) -> bool:
        """Tell whether the words stand in a row, each in any form."""
        words, size = _spoken(text), len(self._phrase)
        if not size or len(words) < size:
            return False
        theirs = {word.folded: word for word in content(text)}

        def same(one: str, other: str) -> bool:
            left, right = self._words.get(one), theirs.get(other)
            return one == other or bool(left and right and left.same(right))

        return any(
            all(map(same, self._phrase, words[at : at + size]))
            for at in range(len(words) - size + 1)
        )


def _spoken(text: str) -> list[str]:
    """Return the words of a text in order, folded; its symbols where there is nothing else."""
    words = [fold(token) for token in tokens(text)]
    return [word for word in words if any(map(str.isalnum, word))] or words


def _beginnings(folded: str) -> set[str]:
    return {word[:_BEGINNING] for word in _WORDS.findall(folded)}
