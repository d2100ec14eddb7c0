"""One language's rules: which of them a sentence can meet at a word, and whether one does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from vaultmind.memory.intents.grammar import Grammar
from vaultmind.memory.intents.nodes import PASSED, Captures, Node, Stretch
from vaultmind.memory.intents.phrases import Phrases, RuleSource
from vaultmind.memory.intents.tokens import SPACE, Tokens
from vaultmind.memory.intents.types import IntentName
from vaultmind.memory.intents.typos import Typos

WORDS_CACHED = 4096
MAX_FRONTS = 10
"""Fillers in a row that are read over."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One phrase of a rule."""

    source: RuleSource
    node: Node

    @property
    def intent(self) -> IntentName:
        """Return what the phrase asks for."""
        return self.source.intent


@dataclass(frozen=True, slots=True)
class Match:
    """A rule that a stretch of words meets: where it began, its slots, where its core ended."""

    start: int
    slots: dict[str, tuple[int, int]]
    end: int


class Rules:
    """One language's rules by the word they begin with."""

    def __init__(self, phrases: Phrases) -> None:
        self.language = phrases.language
        self.common = phrases.common
        self.no_names = phrases.common | phrases.known
        """Words that call nobody."""
        self._lists = phrases.words
        self._grammar = Grammar(phrases.words)
        self._by_word: dict[str | None, list[Rule]] = {}
        for source in phrases.rules:
            for said in source.say:
                rule = Rule(source, self._grammar.node(said))
                for word in rule.node.first if rule.node.first is not None else (None,):
                    self._by_word.setdefault(word, []).append(rule)
        words = frozenset(self._grammar.words)
        self._known = self.no_names | words
        typos = Typos(words, self.no_names, phrases.inflected)
        self._mend = lru_cache(WORDS_CACHED)(typos.mend)

    def mended(self, tokens: Tokens) -> tuple[str, ...]:
        """Return a text's words with typos in the rules' own words mended."""
        return tuple(map(self._mend, tokens.words))

    def at(self, word: str) -> list[Rule]:
        """Return the rules that can begin with a word."""
        return self._by_word.get(word, [])

    def anywhere(self) -> list[Rule]:
        """Return the rules that can begin with any word, for a sentence's beginning."""
        return self._by_word.get(None, [])

    def match(self, rule: Rule, start: int, stretch: Stretch) -> Match | None:
        """Return how a rule meets all words from `start` to the stretch's end, thanks included."""
        captures: Captures
        for end, captures in rule.node.walk(start * 2 + PASSED, stretch, ()):
            word = end >> 1
            slotted = bool(captures) and captures[-1][2] == word
            if self.is_tail(word, stretch, slotted):
                return Match(start, {kind: (a, b) for kind, a, b in captures}, word)
        return None

    def is_tail(self, word: int, stretch: Stretch, slotted: bool = False) -> bool:
        """Return whether only thanks, an "ok?" and the like follow.

        After a slot they need a mark before them, but for those of `later` and `please`: they
        could be its own last words ("that I feel right", "że czuję się dobrze").
        """
        reached, fresh = {word}, [word]
        while fresh:
            place = fresh.pop()
            if place == stretch.end:
                return True
            apart = not slotted or place > word or stretch.gaps[place] != SPACE
            lists = ("back", "later", "please") if apart else ("later", "please")
            more = {end >> 1 for name in lists for end in self.ends(name, place, stretch)}
            if apart and place in stretch.called:
                more.add(place + 1)
            fresh.extend(more - reached)
            reached |= more
        return False

    def ends(self, name: str, word: int, stretch: Stretch) -> tuple[int, ...]:
        """Return where one of the recogniser's own lists can end that begins at a word."""
        if name not in self._lists or word >= stretch.end:
            return ()
        return self._grammar.node(f"<{name}>").ends(word * 2 + PASSED, stretch)

    def starts(self, phrase: str, stretch: Stretch, word: int) -> bool:
        """Return whether a phrase stands at a word."""
        return bool(self._grammar.node(phrase).ends(word * 2 + PASSED, stretch))

    def holds(self, phrase: str, stretch: Stretch, first: int) -> bool:
        """Return whether a phrase stands anywhere from a word to the stretch's end."""
        node = self._grammar.node(phrase)
        return any(
            node.ends(word * 2 + PASSED, stretch) or (word > first and node.ends(word * 2, stretch))
            for word in range(first, stretch.end)
        )

    def listed(self, name: str, stretch: Stretch, first: int) -> bool:
        """Return whether one of the recogniser's own lists stands from a word on."""
        return name in self._lists and self.holds(f"<{name}>", stretch, first)

    def allows(self, rule: Rule, stretch: Stretch, first: int) -> bool:
        """Return whether the words from `first` to the stretch's end meet the rule's guards."""
        source = rule.source
        return (
            (not source.starts or self.starts(source.starts, stretch, first))
            and not (source.never and self.starts(source.never, stretch, first))
            and (not source.needs or self.holds(source.needs, stretch, first))
            and not (source.lacks and self.holds(source.lacks, stretch, first))
        )

    def fronts(self, word: int, stretch: Stretch) -> Iterator[int]:
        """Yield a word and the words after each filler, greeting and name that follows."""
        yield word
        called = False
        for _ in range(MAX_FRONTS):
            if word >= stretch.end:
                return
            ends = self.ends("front", word, stretch)
            after = max(ends, default=0) >> 1
            if after <= word and word in stretch.called:
                after = word + 1
            if after <= word:
                if not called or stretch.words[word] in self.common:
                    return
                called, word = False, word + 1
            else:
                called = (after << 1) in self.ends("greeting", word, stretch)
                word = after
            yield word

    def score(self, tokens: Tokens) -> int:
        """Return how many of the language's common words a text has."""
        return sum(1 for word in tokens.words if word in self.common)

    def known(self, tokens: Tokens) -> int:
        """Return how many words of a text the language's rules look for or know."""
        return sum(1 for word in tokens.words if word in self._known)
