"""Rules compiled: which of them a sentence can meet at a place, and whether one does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from vaultmind.memory.intents.grammar import Grammar
from vaultmind.memory.intents.phrases import Phrases, RuleSource
from vaultmind.memory.intents.text import MASK, Folded
from vaultmind.memory.intents.types import IntentName
from vaultmind.memory.intents.typos import Typos

NEVER_MATCHES = re.compile(r"(?!)")
_JUNK = rf"[^\w{MASK}]*"
_BEFORE_TAG = r"[\s,.!;:()-]+"
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


@dataclass(slots=True)
class Rule:
    """One phrase of a rule, compiled when it is first needed."""

    source: RuleSource
    regex: str
    first: frozenset[str | None]
    language: Rules

    @property
    def intent(self) -> IntentName:
        """Return what the phrase asks for."""
        return self.source.intent

    def match(self, text: str, start: int, end: int) -> re.Match[str] | None:
        """Return the match of a whole stretch of text."""
        return self.language.expression(self.regex).fullmatch(text, start, end)

    def allows(self, payload: str) -> bool:
        """Return whether the payload meets the rule's guards."""
        source, language = self.source, self.language
        return (
            (not source.starts or bool(language.phrase(source.starts).match(payload)))
            and not (source.never and language.phrase(source.never).match(payload))
            and (not source.needs or bool(language.phrase(source.needs).search(payload)))
            and not (source.lacks and language.phrase(source.lacks).search(payload))
        )


class Rules:
    """One language's rules by the word they begin with."""

    def __init__(self, phrases: Phrases) -> None:
        self.language = phrases.language
        self.common = phrases.common
        self._lists = phrases.words
        self._grammar = Grammar(phrases.words)
        self._compiled: dict[str, re.Pattern[str]] = {}
        self._by_word: dict[str | None, list[Rule]] = {}
        words: set[str] = set()
        for source in phrases.rules:
            for said in source.say:
                part = self._grammar.compile(said)
                words |= part.words
                rule = Rule(source, part.pattern + self._tail(), part.first, self)
                for word in part.first:
                    self._by_word.setdefault(word, []).append(rule)
        self._typos = Typos(words, phrases.known | phrases.common, phrases.inflected)

    def at(self, text: str, place: int) -> list[Rule]:
        """Return the rules that can begin with the word at a place."""
        match = _WORD.match(text, place)
        return self._by_word.get(match.group().replace("'", ""), []) if match else []

    def anywhere(self) -> list[Rule]:
        """Return the rules that begin with a slot, for a sentence's beginning."""
        return self._by_word.get(None, [])

    def expression(self, regex: str) -> re.Pattern[str]:
        """Return an expression, compiled once."""
        if regex not in self._compiled:
            self._compiled[regex] = re.compile(regex, re.DOTALL)
        return self._compiled[regex]

    def phrase(self, phrase: str) -> re.Pattern[str]:
        """Return the expression of a phrase that stands on word borders."""
        part = self._grammar.compile(phrase) if phrase not in self._compiled else None
        if part is not None:
            self._compiled[phrase] = re.compile(rf"(?<!\w)(?:{part.regex})")
        return self._compiled[phrase]

    def listed(self, name: str) -> re.Pattern[str]:
        """Return the expression of one of the recogniser's own lists."""
        return self.phrase(f"<{name}>") if name in self._lists else NEVER_MATCHES

    def mend(self, folded: Folded) -> Folded:
        """Return the text with typos in the rules' words mended, spans kept."""
        typos = self._typos.text(folded.text)
        if not typos:
            return folded
        letters: list[str] = []
        origin: list[int] = []
        done = 0
        for start, end, meant in typos:
            letters.append(folded.text[done:start] + meant)
            origin.extend(folded.origin[done:start])
            origin.extend(folded.origin[min(start + i, end - 1)] for i in range(len(meant) - 1))
            origin.append(folded.origin[end - 1])
            done = end
        letters.append(folded.text[done:])
        origin.extend(folded.origin[done:])
        return Folded("".join(letters), tuple(origin))

    def score(self, text: str) -> int:
        """Return how many of the language's common words a text has."""
        return sum(1 for match in _WORD.finditer(text) if match.group() in self.common)

    @cached_property
    def _back(self) -> str:
        return self._grammar.compile("<back>").regex if "back" in self._lists else ""

    def _tail(self) -> str:
        """Return what may follow a command: thanks, an 'ok?', dots and smileys."""
        return (rf"(?:{_BEFORE_TAG}(?:{self._back}))*" if self._back else "") + _JUNK

    def fronts(self, text: str, place: int, end: int) -> Iterator[int]:
        """Yield a place and the places after each filler, greeting and vocative that follows."""
        yield place
        pattern = self.listed("front")
        while place < end:
            match = pattern.match(text, place, end)
            if match is None or match.end() == place:
                return
            place = match.end()
            while place < end and not text[place].isalnum() and text[place] != MASK:
                place += 1
            yield place
