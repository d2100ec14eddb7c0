"""A sentence becomes an intent, by rules of grammar read from phrase files.

A command stands at the beginning of a sentence, after fillers and a name, or after a comma.
That alone keeps out "she forgot", "he told me to remember" and "how do I make you forget": the
verb is not where a command has it. When in doubt, the answer is `none`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from vaultmind.memory.intents import phrases as files
from vaultmind.memory.intents.rules import Rule, Rules
from vaultmind.memory.intents.spans import Span, is_paste, payload_span, trim
from vaultmind.memory.intents.text import MASK, Folded, Sentence, fold, fold_word, sentences
from vaultmind.memory.intents.types import NONE, Intent

AT_START = 0.95
AFTER_WORDS = 0.9
TYPO_COST = 0.05
MAX_SENTENCES = 6
"""In a longer message only its first and last sentences can be commands."""
_ANCHOR = re.compile(r"[,;]\s*|\s-{1,2}\s+|\.\.+\s*")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_LATIN = re.compile(r"[a-z]")
_NAME = re.compile(r"[^\W\d_][\w'-]*")
_MAX_NAME_WORDS = 2


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a command may begin, and the words of its sentence that stand before it."""

    start: int
    before: Span | None


class Recogniser:
    """Finds what a message asks of the memory. Reads nothing, writes nothing, keeps nothing."""

    def __init__(self, languages: Collection[Rules], faults: tuple[str, ...] = ()) -> None:
        self._languages = {rules.language: rules for rules in languages}
        self.faults = faults
        """What is wrong in the phrase files; the rest of them works."""

    def recognise(self, text: str) -> Intent:
        """Return what the text asks of the memory; `none` when in doubt."""
        folded = fold(text)
        candidates = self._candidates(folded.text)
        found: list[tuple[float, int, Intent]] = []
        for rules in candidates:
            intent = _Reading(rules, folded, text).intent()
            if intent.intent != "none":
                found.append((intent.confidence, rules.score(folded.text), intent))
        if found:
            return max(found, key=lambda item: item[:2])[2]
        return replace(NONE, lang=_likeliest(candidates, folded.text))

    def _candidates(self, text: str) -> list[Rules]:
        cyrillic, latin = bool(_CYRILLIC.search(text)), bool(_LATIN.search(text))
        return [
            rules
            for language, rules in self._languages.items()
            if (cyrillic if language in ("ru", "uk", "be", "bg", "sr") else latin)
        ]


def _likeliest(candidates: Collection[Rules], text: str) -> str:
    scores = {rules.language: rules.score(text) for rules in candidates}
    best = max(scores, key=lambda language: scores[language], default="")
    return best if best and (scores[best] or len(scores) == 1) else ""


class _Reading:
    """One message read with one language's rules."""

    def __init__(self, rules: Rules, folded: Folded, original: str) -> None:
        self.rules = rules
        self.folded = rules.mend(folded)
        self.text = self.folded.text
        self.mended = self.folded is not folded
        self.original = original
        self.sentences = sentences(self.text)

    def intent(self) -> Intent:
        """Return the surest command of the message, of equals the first."""
        best = NONE
        for number in self._worth_reading():
            intent = self._sentence(number)
            if intent.confidence > best.confidence:
                best = intent
        return best

    def _worth_reading(self) -> Collection[int]:
        count = len(self.sentences)
        if is_paste(self.text):
            return range(min(1, count))
        return range(count) if count <= MAX_SENTENCES else (0, 1, count - 2, count - 1)

    def _sentence(self, number: int) -> Intent:
        sentence = self.sentences[number]
        for place in self._places(sentence):
            rules = self.rules.at(self.text, place.start)
            if place.start == sentence.start:
                rules = [*rules, *self.rules.anywhere()]
            for rule in rules:
                intent = self._try(rule, place, number)
                if intent is not None:
                    return intent
        return NONE

    def _places(self, sentence: Sentence) -> Iterator[_Place]:
        for start in self.rules.fronts(self.text, sentence.start, sentence.end):
            yield _Place(start, None)
        for start, after in self._anchors(sentence):
            words = (sentence.start, start)
            before = None if self._is_call(*words) else words
            if before and self.rules.listed("veto").search(self.text, *words):
                continue
            for place in self.rules.fronts(self.text, after, sentence.end):
                yield _Place(place, before)

    def _anchors(self, sentence: Sentence) -> Iterator[tuple[int, int]]:
        """Yield where a clause may end and the next one begin."""
        span = (sentence.start, sentence.end)
        found = [match.span() for match in _ANCHOR.finditer(self.text, *span)]
        found += [
            (match.start(), match.end() if name == "joint" else match.start())
            for name in ("joint", "please")
            for match in self.rules.listed(name).finditer(self.text, *span)
            if match.start() > sentence.start
        ]
        yield from sorted((start, self._skip(end)) for start, end in found)

    def _skip(self, place: int) -> int:
        while place < len(self.text) and self.text[place].isspace():
            place += 1
        return place

    def _is_call(self, start: int, end: int) -> bool:
        """Return whether the words before a comma only call somebody or fill the air."""
        place = start
        for place in self.rules.fronts(self.text, start, end):
            pass
        rest = self.text[place:end].strip(" ,;-.!")
        words = rest.split()
        return len(words) <= _MAX_NAME_WORDS and all(
            _NAME.fullmatch(word) and word not in self.rules.common for word in words
        )

    def _try(self, rule: Rule, place: _Place, number: int) -> Intent | None:
        sentence = self.sentences[number]
        if (rule.source.place == "start" and place.before) or (
            rule.source.place == "end" and not place.before and number == 0
        ):
            return None
        match = rule.match(self.text, place.start, sentence.end)
        if match is None or not self._may_ask(rule, match, sentence):
            return None
        if rule.intent in ("forget_that", "forget_topic") and self._goes_on(number):
            return None
        return self._intent(rule, match, place, number)

    def _may_ask(self, rule: Rule, match: re.Match[str], sentence: Sentence) -> bool:
        allowed = rule.source.question
        if not sentence.question:
            return allowed != "only"
        if allowed in ("any", "only"):
            return True
        slots = [match.start(slot) for slot in match.groupdict() if match.start(slot) >= 0]
        ask = self.rules.listed("ask")
        head = min(slots, default=match.end())
        tail = max((match.end(slot) for slot in match.groupdict()), default=match.start())
        back = self.rules.listed("back").search(self.text, tail, sentence.end)
        return allowed == "ask" and bool(ask.search(self.text, match.start(), head) or back)

    def _goes_on(self, number: int) -> bool:
        """Return whether the next sentence shows that "forget that" was only a way to talk."""
        if number + 1 >= len(self.sentences):
            return False
        following = self.sentences[number + 1]
        aside = self.rules.listed("aside")
        places = self.rules.fronts(self.text, following.start, following.end)
        return any(aside.match(self.text, place, following.end) for place in places)

    def _intent(
        self, rule: Rule, match: re.Match[str], place: _Place, number: int
    ) -> Intent | None:
        spans = {slot: match.span(slot) for slot in match.groupdict() if match.group(slot)}
        old = trim(self.text, spans["old"]) if "old" in spans else None
        slot = spans.get("payload") or spans.get("new")
        if slot is None and rule.intent in ("remember", "skip"):
            slot = payload_span(self, place.before, number)
        span = trim(self.text, slot) if slot else None
        for part in (span, old):
            if part and not (self._own(part) and rule.allows(self.text[slice(*part)])):
                return None
        if span is None and (rule.source.starts or rule.source.needs):
            return None
        confidence = (AFTER_WORDS if place.before else AT_START) - TYPO_COST * self.mended
        start, end = self.folded.place(*span) if span else (0, 0)
        payload = self.original[start:end]
        return Intent(
            intent=rule.intent,
            lang=self.rules.language,
            payload=payload,
            start=start,
            end=end,
            old=self.original[slice(*self.folded.place(*old))] if old else "",
            new=payload if rule.intent == "correct" else "",
            confidence=confidence,
        )

    def _own(self, span: Span) -> bool:
        """Return whether somebody is not just telling what another one said."""
        text = self.text[slice(*span)]
        return bool(text.strip()) and not self.rules.listed("hearsay").search(text)


def recogniser(extra: Path | None = None, names: Collection[str] = ()) -> Recogniser:
    """Return a recogniser of the shipped phrases and a person's own.

    `extra` is a phrases file, or a folder of them; what is wrong in it is in `faults`. `names`
    are what agents are called, so that no comma is needed after them.
    """
    languages: dict[str, files.Phrases] = {}
    faults: list[str] = []
    own = sorted(extra.glob("*.toml")) if extra is not None and extra.is_dir() else [extra]
    for path in (*files.shipped(), *(path for path in own if path is not None)):
        phrases, wrong = files.read(path)
        faults.extend(wrong)
        if phrases is None:
            continue
        base = languages.get(phrases.language)
        faults.extend(files.check(phrases, base, path.name))
        if base is None:
            languages[phrases.language] = phrases
        else:
            base.add(phrases)
    called = " | ".join(name for name in map(fold_word, names) if _NAME.fullmatch(name))
    for phrases in languages.values():
        if called:
            phrases.words["name"] = " | ".join(filter(None, (phrases.words.get("name"), called)))
    return Recogniser([Rules(phrases) for phrases in languages.values()], tuple(faults))


__all__ = ["MASK", "Recogniser", "recogniser"]
