"""A sentence becomes an intent, by rules of grammar read from phrase files.

A command stands at the beginning of a sentence, after fillers and a name, or after a comma.
That alone keeps out "she forgot", "he told me to remember" and "how do I make you forget": the
verb is not where a command has it. When in doubt, the answer is `none`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from functools import cache
from pathlib import Path

from vaultmind.memory.intents import phrases as files
from vaultmind.memory.intents.names import Names
from vaultmind.memory.intents.reading import Message, Reading
from vaultmind.memory.intents.rules import Rules
from vaultmind.memory.intents.text import fold, sentences
from vaultmind.memory.intents.tokens import tokenise
from vaultmind.memory.intents.types import NONE, Intent

MARGIN = 1
"""Small words that a language may have fewer of than another and still be the sentence's."""
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_LATIN = re.compile(r"[a-z]")

_LETTERS = {"pl": set("ąćęłńśźż"), "de": set("äöüß"), "es": set("ñ¿¡"), "fr": set("çèêëàùœ")}
"""Letters that tell a language, whatever small words it shares with another; those of a name
("Bułka is a dog") only where the small words do not."""


class Recogniser:
    """Finds what a message asks of the memory. Reads nothing, writes nothing, keeps nothing."""

    def __init__(
        self,
        phrases: Collection[files.Phrases],
        faults: tuple[str, ...] = (),
        names: Collection[str] = (),
    ) -> None:
        self._phrases = {each.language: each for each in phrases}
        self._rules: dict[str, Rules] = {}
        self._cyrillic = {each.language for each in phrases if each.is_cyrillic()}
        self._names = Names(names)
        self.faults = faults
        """What is wrong in the phrase files; the rest of them works."""

    def recognise(self, text: str, names: Names | None = None) -> Intent:
        """Return what the text asks of the memory; `none` when in doubt.

        `names`: what agents are called now, where that has changed since this was made.
        """
        message = _message(text, self._names if names is None else names)
        folded = message.folded
        candidates = self._candidates(folded.text)
        scores = {rules.language: rules.score(message.tokens) for rules in candidates}
        best = max(scores.values(), default=0)
        likely = [rules for rules in candidates if scores[rules.language] >= best - MARGIN]
        found = [Reading(rules, message).intent() for rules in likely]
        commands = [intent for intent in found if intent.intent != "none"]
        if commands:
            return max(commands, key=lambda each: (scores[each.lang], each.confidence))
        letters = set(text.casefold())
        common = {letter for word in text.split() if word[0].islower() for letter in word}
        told = {
            rules.language: (
                bool(common & _LETTERS.get(rules.language, set())),
                scores[rules.language],
                bool(letters & _LETTERS.get(rules.language, set())),
                rules.known(message.tokens),
            )
            for rules in candidates
        }
        lang = max(told, key=lambda language: told[language], default="")
        return replace(NONE, lang=lang if len(told) == 1 or any(told.get(lang, ())) else "")

    def warm(self) -> None:
        """Read every language's rules now, so that no sentence waits for them."""
        for language in self._phrases:
            self._ruled(language)

    def _candidates(self, text: str) -> list[Rules]:
        cyrillic, latin = bool(_CYRILLIC.search(text)), bool(_LATIN.search(text))
        return [
            self._ruled(language)
            for language in self._phrases
            if (cyrillic if language in self._cyrillic else latin)
        ]

    def _ruled(self, language: str) -> Rules:
        """Return a language's rules, made when a text could be in it for the first time."""
        if language not in self._rules:
            self._rules[language] = Rules(self._phrases[language])
        return self._rules[language]


def recogniser(extra: Path | None = None, names: Collection[str] = ()) -> Recogniser:
    """Return a recogniser of the shipped phrases and a person's own.

    `extra` is a phrases file, or a folder of them; what is wrong in it is in `faults`. `names`
    are what agents are called, so that no comma is needed after them.
    """
    if extra is None and not names:
        return _shipped()
    languages, faults = _read_shipped()
    own = sorted(extra.glob("*.toml")) if extra is not None and extra.is_dir() else [extra]
    for path in filter(None, own):
        phrases, wrong = files.read(path)
        faults.extend(wrong)
        if phrases is None:
            continue
        base = languages.get(phrases.language)
        faults.extend(files.check(phrases, base, path.name))
        languages[phrases.language] = base.with_more(phrases) if base else phrases
    return Recogniser(list(languages.values()), tuple(faults), names)


@cache
def _shipped() -> Recogniser:
    """Return the recogniser of the shipped phrases alone, one for the whole process.

    Everybody in it who understands sentences asks the same one: to read the rules of six
    languages takes half a second.
    """
    languages, faults = _read_shipped()
    return Recogniser(list(languages.values()), tuple(faults))


def _read_shipped() -> tuple[dict[str, files.Phrases], list[str]]:
    languages: dict[str, files.Phrases] = {}
    faults: list[str] = []
    for path in files.shipped():
        phrases, wrong = files.read(path)
        faults.extend(wrong)
        if phrases is not None:
            languages[phrases.language] = phrases
    return languages, faults


def _message(text: str, names: Names) -> Message:
    folded = fold(text)
    tokens = tokenise(folded.text)
    called = frozenset(i for i, word in enumerate(tokens.words) if names.called(word))
    return Message(text, folded, tokens, tuple(sentences(folded.text)), names, called)
