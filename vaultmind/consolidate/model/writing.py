"""Summaries written by a model: each sentence must be said by what it was written from.

One that is not is dropped and counted; where too little is left, the built-in writer does it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vaultmind import tokens
from vaultmind.consolidate.model.room import ask, few_enough, room_of
from vaultmind.consolidate.model.sound import Sound, left_out, sound
from vaultmind.consolidate.model.summing import Summed, summed_up
from vaultmind.consolidate.model.transcript import (
    Line,
    language_of,
    shares,
    text_of,
    transcript,
)
from vaultmind.consolidate.summarise import Paragraph, Source, Summariser, Summary
from vaultmind.consolidate.talk import Understand, read_talk
from vaultmind.consolidate.types import Level
from vaultmind.errors import MinionFailed
from vaultmind.memory.words import content
from vaultmind.minion import prompts
from vaultmind.minion.choice import Minion
from vaultmind.ports import Embedder, Generator
from vaultmind.session.sentences import sentences
from vaultmind.types import Message
from vaultmind.vault.oneline import one_line

PARAGRAPHS: dict[Level, tuple[int, int]] = {"L1": (3, 5), "L2": (2, 3)}
"""Fewest and most."""
WORDS_A_TOKEN = 0.6
"""A limit in tokens, said in words, as models count them; on the safe side."""
PARAGRAPH_CHARACTERS = 900
MOST_MARKS = 6
"""Sources that a paragraph names: those that say most of it."""
DAY = 10
"""Characters of an ISO date."""


@dataclass(frozen=True, slots=True)
class _Said:
    """The lines of all sources, and what each of them is called in a summary."""

    source: Source
    lines: tuple[Line, ...]
    """Their keys are the marks of the pieces."""


class ModelWriter:
    """Implements `Summariser` with the models for summaries. Any thread."""

    def __init__(
        self,
        minion: Minion,
        plain: Summariser,
        *,
        understand: Understand | None = None,
        embedder: Callable[[], Embedder | None] = lambda: None,
    ) -> None:
        """Take the built-in writer as `plain`: it writes where no model can."""
        self._minion = minion
        self.plain = plain
        """The built-in writer."""
        self._understand = understand
        self._embedder = embedder

    def session(self, messages: Sequence[Message], language: str) -> Summary:
        """Return a conversation in three to five sentences; sources are keys of messages."""
        lines = self._lines(messages) if self._minion.chain("summary") else ()
        if not any(line.role == "user" for line in lines):
            return self.plain.session(messages, language)
        spoken = language_of((line.text for line in lines), language)
        done = self._minion.run("summary", lambda one: _session(one, lines, spoken))
        if done.value is None:
            plain = self.plain.session(messages, language)
            notes = (*done.failures, *plain.notes)
            return replace(plain, notes=notes)
        return replace(done.value, by=done.by, notes=(*done.failures, *done.value.notes))

    def level(
        self, level: Level, sources: Sequence[Source], language: str, max_tokens: int
    ) -> Summary:
        """Return 3-5 paragraphs (L1) or 2-3 (L2) of at most `max_tokens` in all, links apart."""
        said = self._said(level, sources) if self._minion.chain("summary") else []
        if not any(one.lines for one in said):
            return self.plain.level(level, sources, language, max_tokens)
        spoken = language_of((line.text for one in said for line in one.lines), language)
        job = _Level(level, said, spoken, max_tokens)
        done = self._minion.run("summary", job.written)
        if done.value is None:
            plain = self.plain.level(level, sources, language, max_tokens)
            notes = (*done.failures, *plain.notes)
            return replace(plain, notes=notes)
        return replace(done.value, by=done.by, notes=(*done.failures, *done.value.notes))

    def _lines(self, messages: Sequence[Message]) -> tuple[Line, ...]:
        return transcript(messages, read_talk(messages, self._understand, self._embedder()))

    def _said(self, level: Level, sources: Sequence[Source]) -> list[_Said]:
        """Return what a model may be shown of each source that says anything."""
        found = []
        for source in sources:
            if level == "L1":
                lines = self._lines(source.messages())
            else:
                texts = [(source.mark(one), one_line(one.text)) for one in source.pieces]
                lines = tuple(Line(at, key, "", text) for at, (key, text) in enumerate(texts, 1))
            found.append(_Said(source, lines))
        return [one for one in found if one.lines]


def _session(generator: Generator, lines: Sequence[Line], language: str) -> Summary:
    """Return a model's summary of one conversation; raises MinionFailed, nonsense too."""
    said = summed_up(generator, lines, language)
    found = sound((one.text for one in said), [line.text for line in lines])
    _enough(generator, found, len(lines))
    keys = dict.fromkeys(key for one in said for key in one.keys)
    told = Paragraph(" ".join(found.kept), tuple(keys) or tuple(line.key for line in lines))
    return Summary((told,), notes=left_out(found.dropped))


def _enough(generator: Generator, found: Sound, lines: int = 1) -> None:
    if not found.enough(lines):
        of = len(found.kept) + len(found.dropped)
        raise MinionFailed(
            "nonsense",
            f"The model {generator.id} did not understand: {len(found.kept)} of {of} sentences of "
            "its summary were said.",
        )


@dataclass(frozen=True, slots=True)
class _Level:
    """A summary of several sources that models are asked for, one after the other."""

    level: Level
    said: Sequence[_Said]
    language: str
    max_tokens: int

    def written(self, generator: Generator) -> Summary:
        """Return a model's summary; raises MinionFailed, nonsense too."""
        notes, dates = self._notes(generator)
        lines = [
            Line(at, str(at - 1), "", f"({date}) {note.text}" if date else note.text)
            for at, (note, date) in enumerate(zip(notes, dates, strict=True), 1)
        ]
        originals: dict[str, str] = {}
        for line in (line for one in self.said for line in one.lines):
            originals[line.key] = f"{originals.get(line.key, '')} {line.text}".strip()
        dated = [one.source.started[:DAY] for one in self.said]
        kept: list[Paragraph] = []
        dropped: list[str] = []
        for text, named in self._paragraphs(generator, lines):
            meant = [notes[at] for at in named] or notes
            keys = dict.fromkeys(key for note in meant for key in note.keys)
            told = [note.text for note in meant]
            found = sound(
                sentences(one_line(text)), [*map(originals.__getitem__, keys), *told, *dated]
            )
            dropped += found.dropped
            if found.kept:
                marks = _closest(" ".join(found.kept), keys, originals)
                kept.append(Paragraph(" ".join(found.kept), marks))
        fewest, most = PARAGRAPHS[self.level]
        if len(kept) < min(fewest, len(notes)):
            _enough(generator, Sound((), (*dropped, "so little")))
        return Summary(_within(kept[:most], self.max_tokens), notes=left_out(dropped))

    def _notes(self, generator: Generator) -> tuple[list[Summed], list[str]]:
        """Return sentences about each source, each sound, with the dates they speak from.

        What is short enough is its own note: paragraphs of summaries.
        """
        notes: list[Summed] = []
        dates: list[str] = []
        for one in self.said:
            if self.level == "L2":
                fresh = [Summed(line.text, (line.key,)) for line in one.lines]
            else:
                texts = [line.text for line in one.lines]
                fresh = [
                    replace(note, keys=note.keys or tuple(line.key for line in one.lines))
                    for note in summed_up(generator, one.lines, self.language)
                    if sound([note.text], texts).kept
                ]
            notes += fresh
            dates += [one.source.started[:DAY]] * len(fresh)
        if not notes:
            _enough(generator, Sound((), ("what no conversation was about",)))
        return notes, dates

    def _paragraphs(
        self, generator: Generator, lines: Sequence[Line]
    ) -> list[tuple[str, tuple[int, ...]]]:
        """Return a model's paragraphs about some notes, each with the positions of those."""
        words = prompts.load("level", self.language)
        fewest, most = PARAGRAPHS[self.level]
        wanted = {"words": str(round(self.max_tokens * WORDS_A_TOKEN))}
        around = words.filled(notes="", paragraphs=f"{fewest}-{most}", **wanted)
        room = room_of(generator, around)
        parts = shares(lines, room.tokens, generator.count)
        few_enough(len(parts), generator)
        found: list[tuple[str, tuple[int, ...]]] = []
        for window, there in parts:
            share = max(1, most // len(parts))
            number = f"{fewest}-{most}" if len(parts) == 1 else str(share)
            text = words.filled(notes=text_of(window), paragraphs=number, **wanted)
            value = ask(generator, text, _schema(share), room.answer, language=words.language)
            at = {line.number: int(line.key) for line in there}
            found += [
                (one["text"], tuple(dict.fromkeys(at[n] for n in one["from"] if n in at)))
                for one in value["paragraphs"]
            ]
        return found


def _closest(text: str, keys: dict[str, None], originals: dict[str, str]) -> tuple[str, ...]:
    """Return the keys of the few texts that say most of a paragraph, in their order."""
    words = content(text)

    def held(key: str) -> int:
        theirs = content(originals[key])
        return sum(any(word.same(other) for other in theirs) for word in words)

    order = list(keys)
    best = sorted(order, key=lambda key: (-held(key), order.index(key)))[:MOST_MARKS]
    return tuple(key for key in order if key in best)


def _within(paragraphs: Sequence[Paragraph], max_tokens: int) -> tuple[Paragraph, ...]:
    """Return paragraphs of so many tokens in all: the longest lose their last sentences."""
    texts = [sentences(one.text) for one in paragraphs]
    while tokens.count("\n\n".join(" ".join(one) for one in texts)) > max_tokens:
        longest = max(texts, key=lambda one: (len(one), sum(map(len, one))))
        if len(longest) == 1:
            texts.remove(longest)
            paragraphs = [one for one in paragraphs if sentences(one.text)[0] != longest[0]]
        else:
            longest.pop()
    return tuple(
        replace(one, text=" ".join(text)) for one, text in zip(paragraphs, texts, strict=True)
    )


def _schema(most: int) -> dict[str, Any]:
    paragraph = {
        "type": "object",
        "properties": {
            "text": {"type": "string", "maxLength": PARAGRAPH_CHARACTERS},
            "from": {"type": "array", "items": {"type": "integer"}, "maxItems": 12},
        },
        "required": ["text", "from"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "paragraphs": {"type": "array", "items": paragraph, "minItems": 1, "maxItems": most}
        },
        "required": ["paragraphs"],
        "additionalProperties": False,
    }
