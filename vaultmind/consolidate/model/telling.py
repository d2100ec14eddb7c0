"""The model that writes the summary of a running conversation.

Whatever it says is held against the messages that it names. What does not hold is left out, and
there the messages' own words stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from vaultmind.consolidate.facts.astray import astray
from vaultmind.consolidate.model.room import ask, few_enough, room_of
from vaultmind.consolidate.model.transcript import (
    Line,
    shares,
    text_of,
    transcript,
)
from vaultmind.consolidate.talk import key_of, read_talk
from vaultmind.consolidate.types import Reason
from vaultmind.minion import prompts
from vaultmind.minion.choice import EXTRACTIVE, Done, Minion
from vaultmind.ports import Generator
from vaultmind.session.sentences import read
from vaultmind.session.summary import KINDS, Kind, ModelLine, ModelLines
from vaultmind.types import Message
from vaultmind.vault.oneline import one_line

LINES = 8
"""Lines that a model may write about the messages of one window."""
LINE_CHARACTERS = 240
MOST_SOURCES = 4
"""Messages that a line may name."""
ENOUGH = 0.5
"""Share of a model's lines that must hold for any of them to be believed."""
LEAST_WORDS = 3
"""Content words of a line without a number: fewer say nothing by themselves."""
TRIES = 3
"""A question on which the models failed so often is not asked again: the words stay as they are."""
MOST_FAILING = 64
NOTHING = {"en": "(nothing)", "pl": "(nic)", "ru": "(ничего)"}
_KEPT_OUT: frozenset[Reason] = frozenset({"asked not to keep", "secret"})
_ORDERS: frozenset[Reason] = frozenset({"orders the memory", "private"})
_SHOWN_AS = re.compile(r"^\s*(?:[-*]\s+)?(?:[^\s:][^:]{0,40}:\s+)?")
_SPEAKER = re.compile(r"^(?:\[\d+\]\s*)?(?:(?:user|assistant)\s*:\s*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Said:
    """A line as a model gave it, and the numbers of what it names."""

    text: str
    numbers: tuple[int, ...]
    kind: Kind = "other"


@dataclass(frozen=True, slots=True)
class _Answer:
    """A model's lines, and by number what may be in them and which message that is."""

    said: Sequence[_Said]
    by: str
    held: Mapping[int, Sequence[str]]
    blocks: Mapping[int, str]


class ModelTeller:
    """Implements a conversation's `SummaryModel` with the models for summaries."""

    def __init__(self, minion: Minion, paused: Callable[[], bool] = lambda: False) -> None:
        self._minion = minion
        self._paused = paused
        self._failed: dict[str, int] = {}
        """How often the models failed, by the messages that they were asked about."""

    def ready(self) -> bool:
        """Tell whether there is a model, and the person has not paused its work."""
        return bool(self._minion.chain("summary")) and not self._paused()

    def lines(self, messages: Sequence[Message], earlier: str, language: str) -> ModelLines | None:
        """Return what some messages come to; None where no model could say."""
        blocks = {key_of(one): one.block for one in messages}
        lines = transcript(messages, read_talk(messages))
        if not lines:  # pastes and what was asked not to be kept: no model is to see these
            return ModelLines((), EXTRACTIVE, tuple(blocks.values()))
        known = _fit_to_show(earlier)
        done = self._minion.run("summary", partial(_ask_lines, lines, known, language))
        if done.value is None:
            return self._failing(
                done, f"{messages[0].time} {key_of(messages[-1])}", blocks.values()
            )
        frame = [*{one.speaker or one.role for one in messages}, messages[0].time[:10]]
        held = {one.number: [one.text, *frame] for one in lines}
        shown = {one.number: blocks[one.key] for one in lines}
        unseen = set(blocks.values()).difference(shown.values())
        return _told(_Answer(done.value, done.by, held, shown), unseen)

    def _failing(
        self, done: Done[list[_Said]], named: str, blocks: Iterable[str]
    ) -> ModelLines | None:
        """Return what a failure comes to: None, or after some tries that nothing is said."""
        if done.untried or self._paused():
            return None
        tries = self._failed.pop(named, 0) + 1
        if tries >= TRIES:
            return ModelLines((), EXTRACTIVE, tuple(blocks))
        self._failed[named] = tries
        while len(self._failed) > MOST_FAILING:
            del self._failed[next(iter(self._failed))]
        return None


def _told(answer: _Answer, doubted: set[str]) -> ModelLines:
    """Return the lines that what they name says, and of which messages their own words are to
    stay: those that were not shown, or of which something wrong was said.
    """
    kept: list[ModelLine] = []
    for one in answer.said:
        numbers = sorted({number for number in one.numbers if number in answer.blocks})
        sources = tuple(answer.blocks[number] for number in numbers)
        texts = [text for number in numbers for text in answer.held[number]]
        line = _clean(one.text)
        if sources and _says_something(line) and not astray(line, texts):
            kept.append(ModelLine(line, sources, one.kind))
        else:
            doubted = doubted.union(sources)
    if len(kept) < ENOUGH * len(answer.said):
        return ModelLines((), answer.by, tuple(answer.blocks.values()))
    return ModelLines(tuple(kept), answer.by, tuple(sorted(doubted)))


def _fit_to_show(earlier: str) -> str:
    """Return the lines of the summary so far that a model may be shown: whole ones alone.

    It may be of the messages' own words, and what of those is not to be shown is not here either.
    """
    lines = [line for line in earlier.splitlines() if line.strip()]
    said = [Message("user", _SHOWN_AS.sub("", line), "", id=str(n)) for n, line in enumerate(lines)]
    talk = read_talk(said)
    barred = {one.key for one in talk.said if one.fault in _KEPT_OUT or one.fault in _ORDERS}
    return "\n".join(line for at, line in enumerate(lines) if str(at) not in barred)


def _clean(text: str) -> str:
    """Return a line without the mark of whose message it was copied from."""
    return _SPEAKER.sub("", one_line(text), count=1)


def _says_something(text: str) -> bool:
    sentence = read(text, "en")
    return bool(sentence.numbers) or len(sentence.stems) >= LEAST_WORDS


# --- asking --------------------------------------------------------------------------------


def _ask_lines(
    lines: Sequence[Line], earlier: str, language: str, generator: Generator
) -> list[_Said]:
    words = prompts.load("sliding", language)
    nothing = NOTHING.get(words.language, NOTHING["en"])
    fixed = {"earlier": earlier or nothing, "lines": str(LINES)}
    room = room_of(generator, words.filled(transcript="", **fixed))
    parts = shares(lines, room.tokens, generator.count)
    few_enough(len(parts), generator)
    found: list[_Said] = []
    for window, there in parts:
        text = words.filled(transcript=text_of(window), **fixed)
        allowed = frozenset(line.number for line in there)
        check = _Check(allowed, "lines", "from")
        value = ask(generator, text, _LINES, room.answer, check, language=words.language)
        found += [
            _Said(one["text"], tuple(n for n in one["from"] if n in allowed), one["kind"])
            for one in value["lines"]
        ]
    return found


class _Check:
    """Tells whether an answer names what there is; a few that do not are left out later."""

    def __init__(self, allowed: frozenset[int], items: str, field: str) -> None:
        self._allowed, self._items, self._field = allowed, items, field

    def __call__(self, value: Mapping[str, Any]) -> Sequence[str]:
        items = value[self._items]
        named = [one[self._field] for one in items]
        wrong = [
            one
            for one in named
            if self._allowed.isdisjoint(one if isinstance(one, list) else [one])
        ]
        if not items or 2 * len(wrong) <= len(items):
            return ()
        low, high = min(self._allowed), max(self._allowed)
        return (f'"{self._field}" must hold numbers from {low} to {high}',)


def _list_of(name: str, properties: Mapping[str, Any], most: int) -> dict[str, Any]:
    item = {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {name: {"type": "array", "items": item, "maxItems": most}},
        "required": [name],
        "additionalProperties": False,
    }


_NUMBERS = {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": MOST_SOURCES}
_LINES = _list_of(
    "lines",
    {
        "kind": {"enum": list(KINDS)},
        "text": {"type": "string", "maxLength": LINE_CHARACTERS},
        "from": _NUMBERS,
    },
    LINES,
)
