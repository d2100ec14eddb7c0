"""The small language of the phrase files: how a phrase is read, and what it becomes.

    remember [the fact] that {payload}        [ ] may be missing; (so)? is the same as [so]
    (keep | bear) in mind : {payload}         ( | ) one of; a lone : is a colon or a dash
    <please> forget about {payload}           < > a word list of the same file
    zapamieta*                                a word's beginning; *am an ending; a lone * any word

Between two words stands a space or a comma; a lone , must be there, and ~ is a space alone;
$ is the end, ... any words. Case and diacritics do not matter. Slots are {payload}, {old} and
{new}; {old3} has three words at most. {target} is an agent that exists, in any of its cases.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from vaultmind.memory.intents.nodes import (
    Affix,
    Either,
    End,
    Mark,
    Maybe,
    Node,
    Rest,
    Sequence,
    Slot,
    Word,
)
from vaultmind.memory.intents.text import fold_word
from vaultmind.memory.intents.tokens import COLON, COMMA, DASH, SPACE

_TOKEN = re.compile(r"\s*(?:<(\w+)>|\{(\w+)\}|([\[\]()|:,?$~])|([^\s\[\](){}<>|:,?$~]+))")
_SLOT = re.compile(r"(payload|old|new|target)(\d*)")
_MARKS = {
    ":": frozenset({COLON, DASH}),
    ",": frozenset({COMMA}),
    "~": frozenset({SPACE}),
}
_KINDS = ("list", "slot", "mark", "word")
_MAX_DEPTH = 12
_MAX_WORDS = {"payload": 10_000, "old": 10, "new": 12, "target": 1}

Lexeme = tuple[str, str]


class BadPhrase(ValueError):
    """A phrase of a phrases file cannot be read."""


class Grammar:
    """Word lists by name, and the phrases that use them. A list becomes one node, shared by all."""

    def __init__(self, lists: Mapping[str, str]) -> None:
        self._lists = lists
        self._known: dict[str, Node] = {}
        self._phrases: dict[str, Node] = {}
        self.words: set[str] = set()
        """Every whole word of what was read so far."""

    def node(self, phrase: str) -> Node:
        """Return what a phrase becomes; BadPhrase if it cannot be read."""
        if phrase not in self._phrases:
            self._phrases[phrase] = self._parse(phrase, 0)
        return self._phrases[phrase]

    def _named(self, name: str, depth: int) -> Node:
        if name not in self._lists:
            raise BadPhrase(f"no word list is called <{name}>")
        if depth > _MAX_DEPTH:
            raise BadPhrase(f"<{name}> contains itself")
        if name not in self._known:
            self._known[name] = self._parse(self._lists[name], depth + 1)
        return self._known[name]

    def _parse(self, phrase: str, depth: int) -> Node:
        lexemes = _lexemes(phrase)
        node, rest = self._alternatives(lexemes, 0, depth)
        if rest < len(lexemes):
            raise BadPhrase(f"'{lexemes[rest][1]}' closes nothing in '{phrase}'")
        return node

    def _alternatives(self, lexemes: list[Lexeme], at: int, depth: int) -> tuple[Node, int]:
        choices: list[Node] = []
        while True:
            part, at = self._sequence(lexemes, at, depth)
            choices.append(part)
            if at >= len(lexemes) or lexemes[at] != ("mark", "|"):
                return choices[0] if len(choices) == 1 else Either(choices), at
            at += 1

    def _sequence(self, lexemes: list[Lexeme], at: int, depth: int) -> tuple[Node, int]:
        parts: list[Node] = []
        while at < len(lexemes) and lexemes[at] not in _CLOSING:
            kind, value = lexemes[at]
            at += 1
            if kind == "list":
                parts.append(self._named(value, depth))
            elif kind == "mark" and value in "([":
                part, at = self._alternatives(lexemes, at, depth)
                if at >= len(lexemes) or lexemes[at] != ("mark", ")" if value == "(" else "]"):
                    raise BadPhrase(f"'{value}' is never closed")
                at += 1
                parts.append(part if value == "(" else Maybe(part))
            elif kind == "mark" and value == "?" and parts:
                parts.append(Maybe(parts.pop()))
            else:
                parts.append(self._single(kind, value))
        return parts[0] if len(parts) == 1 else Sequence(parts), at

    def _single(self, kind: str, value: str) -> Node:
        if kind == "slot":
            return _slot(value)
        if kind == "mark":
            if value == "$":
                return End()
            if value not in _MARKS:
                raise BadPhrase(f"'{value}' stands where it means nothing")
            return Mark(_MARKS[value])
        if value == "...":
            return Rest()
        bare = value.replace("'", "")
        if "*" in bare:
            return Affix(bare)
        self.words.add(bare)
        return Word(bare)


_CLOSING = frozenset({("mark", "|"), ("mark", ")"), ("mark", "]")})


def _lexemes(phrase: str) -> list[Lexeme]:
    found: list[Lexeme] = []
    at = 0
    phrase = phrase.strip()
    while at < len(phrase):
        match = _TOKEN.match(phrase, at)
        if match is None:
            raise BadPhrase(f"cannot read '{phrase[at:]}'")
        at = match.end()
        kind = _KINDS[(match.lastindex or 1) - 1]
        value = match.group(match.lastindex or 1)
        found.append((kind, fold_word(value) if kind == "word" else value))
    return found


def _slot(name: str) -> Node:
    match = _SLOT.fullmatch(name)
    if match is None:
        raise BadPhrase(f"no slot is called {{{name}}}")
    kind, words = match.groups()
    return Slot(kind, int(words) if words else _MAX_WORDS[kind], bool(words))
