"""Phrase files: one language's word lists and rules, read from TOML and checked entry by entry.

The shipped files and a person's own have the same format; see docs/voice-commands.md.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vaultmind.memory.intents.grammar import BadPhrase, Grammar
from vaultmind.memory.intents.text import fold_word
from vaultmind.memory.intents.types import INTENTS, IntentName

SHIPPED = Path(__file__).parent.parent / "phrases"
_RULE_KEYS = frozenset({"say", "starts", "never", "needs", "lacks", "question", "place"})
_FILE_KEYS = frozenset({"language", "inflected", "common", "known", "words"})
_ORDER: tuple[IntentName, ...] = (
    "skip", "forget_that", "remember", "forget_topic", "show_memory", "recall", "correct"
)  # fmt: skip
"""Which is tried first where a sentence could be two."""
_QUESTION = ("never", "ask", "any", "only")
_PLACE = ("any", "start", "end")


@dataclass(frozen=True, slots=True)
class RuleSource:
    """A rule as written. The four guards are phrases that the payload must or must not meet."""

    intent: IntentName
    say: tuple[str, ...]
    starts: str = ""
    never: str = ""
    needs: str = ""
    lacks: str = ""
    question: str = "ask"
    """Whether the sentence may be a question: never, ask (only "can you …?"), any, only."""
    place: str = "any"
    """start: a sentence's beginning; end: after other words, which are then the payload."""


@dataclass(slots=True)
class Phrases:
    """One language's phrases."""

    language: str
    inflected: bool = False
    common: frozenset[str] = frozenset()
    """Words that tell this language from others, none of them a name."""
    known: frozenset[str] = frozenset()
    """Words that resemble one of the rules' and are not typos of it."""
    words: dict[str, str] = field(default_factory=dict)
    rules: list[RuleSource] = field(default_factory=list)

    def is_cyrillic(self) -> bool:
        """Return whether the language is written in Cyrillic letters, by its small words."""
        return any("\u0400" <= word[0] <= "\u052f" for word in self.common)

    def with_more(self, other: Phrases) -> Phrases:
        """Return these with what another file says of the same language; its lists widen ours."""
        words = dict(self.words)
        for name, phrase in other.words.items():
            words[name] = f"{words[name]} | {phrase}" if name in words else phrase
        return Phrases(
            self.language,
            self.inflected or other.inflected,
            self.common | other.common,
            self.known | other.known,
            words,
            [*other.rules, *self.rules],
        )


def read(path: Path) -> tuple[Phrases | None, tuple[str, ...]]:
    """Return a file's phrases and what is wrong with it; a bad entry costs only itself."""
    try:
        data = tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return None, (f"{path.name}: cannot be read: {error}",)
    language = data.get("language")
    if not isinstance(language, str) or not language.isalpha():
        return None, (f"{path.name}: 'language' must be a code such as \"en\"",)
    faults: list[str] = [
        f"{path.name}: unknown key '{key}'" for key in data if key not in _FILE_KEYS | {*INTENTS}
    ]
    phrases = Phrases(
        language,
        data.get("inflected") is True,
        _word_set(data.get("common")),
        _word_set(data.get("known")),
    )
    _read_words(data.get("words", {}), phrases, path.name, faults)
    for intent in _ORDER:
        _read_rules(intent, data.get(intent, []), phrases, path.name, faults)
    return phrases, tuple(faults)


def check(phrases: Phrases, base: Phrases | None, name: str) -> tuple[str, ...]:
    """Drop the rules and lists that cannot be compiled on top of `base`; say which."""
    faults: list[str] = []
    lists = dict(base.words) if base else {}
    every = Grammar(lists | phrases.words)
    good: dict[str, str] = {}
    for key, phrase in phrases.words.items():
        fault = _fault(phrase, every)
        if fault:
            faults.append(f"{name}: <{key}>: {fault}")
        else:
            good[key] = phrase
    phrases.words = good
    usable = Grammar(lists | good)
    kept = []
    for rule in phrases.rules:
        guards = (rule.starts, rule.never, rule.needs, rule.lacks)
        wrong = {said: _fault(said, usable) for said in (*rule.say, *guards)}
        faults.extend(f"{name}: {rule.intent}: '{said}': {f}" for said, f in wrong.items() if f)
        say = tuple(said for said in rule.say if not wrong[said])
        if say and not any(wrong[said] for said in guards):
            kept.append(replace(rule, say=say))
    phrases.rules = kept
    return tuple(faults)


def _fault(phrase: str, grammar: Grammar) -> str:
    try:
        grammar.node(phrase)
    except BadPhrase as error:
        return str(error)
    return ""


def _word_set(value: object) -> frozenset[str]:
    return frozenset(fold_word(value).split()) if isinstance(value, str) else frozenset()


def _read_words(value: object, phrases: Phrases, name: str, faults: list[str]) -> None:
    if not isinstance(value, dict):
        faults.append(f"{name}: 'words' must be a table")
        return
    for key, phrase in value.items():
        if isinstance(phrase, str) and phrase.strip():
            phrases.words[key] = phrase
        else:
            faults.append(f"{name}: words.{key} must be a phrase, not {phrase!r}")


def _read_rules(
    intent: IntentName, entries: object, phrases: Phrases, name: str, faults: list[str]
) -> None:
    if not isinstance(entries, list):
        faults.append(f"{name}: [[{intent}]] must be a list of tables")
        return
    for number, entry in enumerate(entries, 1):
        wrong = _wrong(entry)
        if wrong:
            faults.append(f"{name}: {intent} {number}: {wrong}")
        else:
            say = tuple(said for said in entry["say"])
            rest = {key: value for key, value in entry.items() if key != "say"}
            phrases.rules.append(RuleSource(intent, say, **rest))


def _wrong(entry: Any) -> str:  # noqa: ANN401 - whatever a person typed
    if not isinstance(entry, dict):
        return f"must be a table, not {entry!r}"
    unknown = sorted(set(entry) - _RULE_KEYS)
    if unknown:
        return f"unknown key '{unknown[0]}'"
    say = entry.get("say")
    if not _texts(say):
        return "'say' must be a list of phrases"
    if not all(isinstance(value, str) for key, value in entry.items() if key != "say"):
        return "every key but 'say' is a text"
    if entry.get("question", "ask") not in _QUESTION:
        return f"'question' is one of {', '.join(_QUESTION)}"
    return "" if entry.get("place", "any") in _PLACE else f"'place' is one of {', '.join(_PLACE)}"


def _texts(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, str) and item.strip() for item in value)
    )


def shipped() -> Iterable[Path]:
    """Return the files that come with the package."""
    return sorted(SHIPPED.glob("*.toml"))
