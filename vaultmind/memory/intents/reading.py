"""One message read with one language's rules."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from vaultmind.memory.intents.contrast import contrasted
from vaultmind.memory.intents.names import Names
from vaultmind.memory.intents.nodes import Stretch
from vaultmind.memory.intents.rules import Match, Rule, Rules
from vaultmind.memory.intents.spans import Span, is_paste, trim, with_signs
from vaultmind.memory.intents.text import Folded, Sentence
from vaultmind.memory.intents.tokens import COLON, COMMA, DASH, OTHER, SPACE, Tokens
from vaultmind.memory.intents.types import NONE, Intent

AT_START = 0.95
AFTER_WORDS = 0.9
TYPO_COST = 0.05
MAX_SENTENCES = 6
"""In a longer message only its first and last sentences can be commands."""
MAX_CLAUSES = 6
"""Clauses of a sentence, from its beginning and from its end, that can be commands."""
_MAX_NAME_WORDS = 2
_MIN_WORDS = 2
_CLAUSE_ENDS = (COMMA, DASH, OTHER)


@dataclass(frozen=True, slots=True)
class Message:
    """A message made ready once, for every language."""

    original: str
    folded: Folded
    tokens: Tokens
    sentences: tuple[Sentence, ...]
    names: Names
    called: frozenset[int] = frozenset()
    """Words that are an agent's name."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The word where a command may begin, and whether other words of the sentence come before."""

    word: int
    before: int | None = None
    """The first word after those before; None where only fillers and names stand there."""


class Reading:
    """One message read with one language's rules."""

    def __init__(self, rules: Rules, message: Message) -> None:
        self.rules = rules
        self.message = message
        self.words = rules.mended(message.tokens)
        self._mended = self.words != message.tokens.words
        self._bounds = [message.tokens.within(s.start, s.end) for s in message.sentences]

    def intent(self) -> Intent:
        """Return the surest command of the message, of equals the first."""
        best = NONE
        for number in self._worth_reading():
            intent = self._sentence(number)
            if intent.confidence > best.confidence:
                best = intent
        return best

    def _worth_reading(self) -> Collection[int]:
        count = len(self.message.sentences)
        if is_paste(self.message.folded.text):
            return range(min(1, count))
        return range(count) if count <= MAX_SENTENCES else (0, 1, count - 2, count - 1)

    def _stretch(self, end: int) -> Stretch:
        return Stretch(self.words, self.message.tokens.gaps, end, self.message.called)

    def _sentence(self, number: int) -> Intent:
        stretch = self._stretch(self._bounds[number][1])
        opened = False
        for place in self._places(number, stretch):
            rules = self.rules.at(self.words[place.word])
            if not opened:
                rules, opened = [*rules, *self.rules.anywhere()], True
            for rule in rules:
                intent = self._try(rule, place, number, stretch)
                if intent is not None:
                    return intent
        return NONE

    def _places(self, number: int, stretch: Stretch) -> Iterator[_Place]:
        """Yield where a command may begin: where the sentence or a clause of it does."""
        first, end = self._bounds[number]
        if not self._may_open(number, first):
            return
        seen = set()
        for word in self.rules.fronts(first, stretch):
            if word < end:
                seen.add(word)
                yield _Place(word)
        anchors = list(self._anchors(first, stretch))
        for at, after in anchors[:MAX_CLAUSES] + anchors[MAX_CLAUSES:][-MAX_CLAUSES:]:
            before = None if self._is_call(first, at) else at
            if before and self.rules.listed("veto", self._stretch(at), first):
                continue
            for word in self.rules.fronts(after, stretch):
                if word < end and not (before is None and word in seen):
                    yield _Place(word, before)

    def _may_open(self, number: int, first: int) -> bool:
        """Return whether no sign before the first word shows a quote, a list, a heading or code."""
        sentence, tokens = self.message.sentences[number], self.message.tokens
        if first >= self._bounds[number][1]:
            return False
        opening = tokens.text[sentence.start : tokens.starts[first]]
        return not any(sign in opening for sign in ">#$|/`'\"*<{[-")

    def _anchors(self, first: int, stretch: Stretch) -> Iterator[tuple[int, int]]:
        """Yield where a clause may end and where the next begins."""
        for word in range(first + 1, stretch.end):
            joint = [end >> 1 for end in self.rules.ends("joint", word, stretch)]
            if stretch.gaps[word] in _CLAUSE_ENDS or self.rules.ends("please", word, stretch):
                yield word, word
            for after in joint:
                if after < stretch.end:
                    yield word, after

    def _is_call(self, first: int, end: int) -> bool:
        """Return whether the words before a comma only call somebody or fill the air."""
        stretch = self._stretch(end)
        for word in self.rules.fronts(first, stretch):
            rest = self.words[word:end]
            if len(rest) <= _MAX_NAME_WORDS and not self.rules.no_names & set(rest):
                return True
        return False

    def _try(self, rule: Rule, place: _Place, number: int, stretch: Stretch) -> Intent | None:
        alone = place.before is None
        if (rule.source.place == "start" and not alone) or (
            rule.source.place == "end" and alone and number == 0
        ):
            return None
        if self._is_negated(place.word):
            return None
        match = self.rules.match(rule, place.word, stretch)
        if match is None or not self._may_ask(rule, match, place, number):
            return None
        if rule.intent in ("forget_that", "forget_topic") and self._goes_on(number):
            return None
        return self._intent(rule, match, place, number)

    def _is_negated(self, word: int) -> bool:
        """Return whether the word before turns the command round: "nie zapomnij o kluczach"."""
        before = word - 1
        stretch = self._stretch(word)
        return (
            before >= 0
            and self.message.tokens.gaps[word] == SPACE
            and bool(self.rules.ends("negation", before, stretch))
        )

    def _may_ask(self, rule: Rule, match: Match, place: _Place, number: int) -> bool:
        allowed = rule.source.question
        if not self.message.sentences[number].question:
            told = rule.intent == "recall" and place.before is not None
            return allowed != "only" and not told
        if allowed in ("any", "only"):
            return True
        stretch = self._stretch(self._bounds[number][1])
        head = min((span[0] for span in match.slots.values()), default=match.end)
        return allowed == "ask" and (
            self.rules.listed("ask", self._stretch(head), match.start)
            or any(
                stretch.end * 2 in self.rules.ends("back", word, stretch)
                for word in range(match.start + 1, stretch.end)
            )
        )

    def _goes_on(self, number: int) -> bool:
        """Return whether the next sentence shows that "forget that" was only a way to talk."""
        if number + 1 >= len(self._bounds):
            return False
        first, end = self._bounds[number + 1]
        stretch = self._stretch(end)
        return any(self.rules.ends("aside", w, stretch) for w in self.rules.fronts(first, stretch))

    def _intent(self, rule: Rule, match: Match, place: _Place, number: int) -> Intent | None:
        slots = dict(match.slots)
        named = slots.get("target")
        target = self.message.names.meant(self.message.tokens.words[named[0]]) if named else ""
        if named and not target:
            return None
        words = slots.get("payload") or slots.get("new")
        if words is None and rule.intent in ("remember", "skip"):
            words = self._pointed_at(place, number)
        if words is not None and rule.intent == "remember":
            words = self._without_please(words)
        for part in filter(None, (words, slots.get("old"))):
            stretch = self._stretch(part[1])
            told = self.rules.listed("hearsay", stretch, part[0])
            empty = self.rules.is_tail(part[0], stretch)
            if told or empty or not self.rules.allows(rule, stretch, part[0]):
                return None
        if words is None and (rule.source.starts or rule.source.needs):
            return None
        if rule.intent == "forget_that":
            words = None
        if rule.intent == "correct":
            slots = contrasted(self.rules, self._stretch(self._bounds[number][1]), slots)
            words = slots.get("new")
        start, end = self._place(words, number)
        old_start, old_end = self._place(slots.get("old"), number)
        sure = AT_START if place.before is None else AFTER_WORDS
        original = self.message.original
        return Intent(
            intent=rule.intent,
            lang=self.rules.language,
            payload=original[start:end],
            start=start,
            end=end,
            old=original[old_start:old_end],
            new=original[start:end] if rule.intent == "correct" else "",
            target=target,
            confidence=round(sure - TYPO_COST * self._mended, 2),
        )

    def _without_please(self, words: Span) -> Span:
        first, end = words
        after = max(self.rules.ends("please", first, self._stretch(end)), default=0) >> 1
        return (after, end) if first < after < end else words

    def _place(self, words: Span | None, number: int) -> Span:
        """Return where some words stand in the message, without the marks around them."""
        if words is None:
            return 0, 0
        last = next(s for s, (_, end) in enumerate(self._bounds) if words[1] <= end)
        limits = (self.message.sentences[0].start, self.message.sentences[last].end)
        span = trim(self.message.folded.text, self.message.tokens.span(*words, limits))
        if span is not None:
            span = span[0], with_signs(self.message.folded.text, span[1], limits[1])
        return self.message.folded.place(*span) if span else (0, 0)

    def _pointed_at(self, place: _Place, number: int) -> Span | None:
        """Return the words that a bare "remember that" means: before it, or the next sentence."""
        first, end = self._bounds[number]
        if place.before is not None:
            return self._without_fillers(first, place.before)
        later = self._bounds[number + 1 :]
        if later and self.message.tokens.gaps[end] == COLON:
            return later[0][0], later[-1][1]
        if number and self._tells(number - 1):
            return self._without_fillers(*self._bounds[number - 1])
        if not number and later and self._tells(1):
            return later[0]
        return None

    def _tells(self, number: int) -> bool:
        first, end = self._bounds[number]
        return not self.message.sentences[number].question and end - first >= _MIN_WORDS

    def _without_fillers(self, first: int, end: int) -> Span | None:
        """Take fillers that a mark sets off from the beginning, and an "and" from the end."""
        stretch = self._stretch(end)
        gaps = self.message.tokens.gaps
        for word in self.rules.fronts(first, stretch):
            if first < word < end and gaps[word] in (COMMA, COLON, DASH, OTHER):
                first = word
        while end > first and (end * 2) in self.rules.ends("joint", end - 1, self._stretch(end)):
            end -= 1
        return (first, end) if end > first else None
