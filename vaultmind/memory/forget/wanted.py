"""What an erasure is about, and whether a text says it.

The words as they were typed are always found, in any case, with or without diacritics, in any
inflected form; and, where they say enough to be told from others, the same said in another order
(`match.says`). A text that merely shares a word with them is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from vaultmind.language.words import NEGATIONS, SOFT, Word, bare, content, fold, tokens
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
        return any(one.said_in(text) for one in self._near(text))

    def may_be_in(self, text: str) -> bool:
        """Tell quickly whether a text could say it: no text that does is left out."""
        return next(self._near(text), None) is not None

    def _near(self, text: str) -> Iterator[_Wording]:
        begins = _beginnings(folded := fold(text))
        return (one for one in self._wordings if one.may_be_in(text, folded, begins))

    def means(self, path: str, *names: str) -> bool:
        """Tell whether a message or part is meant by its place: a fact came from it."""
        return not self.refs.get(path.removesuffix(".md"), set()).isdisjoint(names)

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
        self._text, self._folded = text, " ".join(fold(text).split())
        self._phrase = spoken(text)
        self._anywhere = len(self._folded) >= WHOLE or bool(_NO_SPACES.search(text))
        words = [word.folded for word in content(text)]
        hard = [word for word in words if word not in SOFT | NEGATIONS] or words
        self._begins = {part[:_BEGINNING] for word in hard for part in _WORDS.findall(word)}
        self._any_text = not self._begins or bool(_OTHER_SCRIPT.search(text))
        """Whether nothing can be told from single words."""

    def may_be_in(self, text: str, folded: str, begins: set[str]) -> bool:
        if self._any_text or self._begins <= begins or self._folded in folded:
            return bool(text)
        return bool(numbers(self._text) & numbers(text))

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


def _beginnings(folded: str) -> set[str]:
    return {word[:_BEGINNING] for word in _WORDS.findall(folded)}
