"""What a person says to their memory in plain words: understood, done, and answered.

Only a sentence that is clearly a request does anything; see docs/voice-commands.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from vaultmind.memory.brain import parse_brain
from vaultmind.memory.intents import Intent, Recogniser
from vaultmind.memory.last import last_written
from vaultmind.memory.match import find
from vaultmind.memory.replies import FALLBACK, phrase, told
from vaultmind.session.lifecycle import SessionLog
from vaultmind.session.reading import Shows, read_text
from vaultmind.session.requests import Requests
from vaultmind.types import Caller, MessageRef, Outcome
from vaultmind.vault.files import VaultReader

ME = frozenset({"me", "mnie", "mną", "mi", "меня", "мне", "мной", "mich", "mir", "mí", "moi"})
"""Payloads of a recall that mean everything about the person."""


class Memory(Protocol):
    """The part of the gate that a spoken request needs beside `Requests`."""

    def hide(self, agent: str, refs: Iterable[MessageRef], caller: Caller) -> int:
        """Hide messages from every recall."""
        ...


@dataclass(frozen=True, slots=True)
class Heard:
    """What was understood, what came of it, and the answer in the person's language."""

    intent: Intent
    message: str
    outcome: Outcome
    facts: tuple[str, ...] = ()
    """For a question about what is known: the facts."""


class Voice:
    """Carries out what a person says. Any thread."""

    def __init__(
        self,
        recogniser: Callable[[], Recogniser],
        requests: Requests,
        gate: Memory,
        sessions: SessionLog,
        reader: VaultReader,
        shows: Shows,
    ) -> None:
        self._recogniser = recogniser
        self._requests = requests
        self._gate = gate
        self._sessions = sessions
        self._reader = reader
        self._shows = shows

    def understand(self, utterance: str) -> Intent:
        """Return what a sentence asks for, and do nothing."""
        return self._recogniser().recognise(utterance)

    def heed(self, utterance: str, target: str) -> Heard:
        """Return what would be heard, with nothing done."""
        return Heard(self.understand(utterance), "", Outcome("unchanged", target))

    def hear(self, caller: Caller, target: str, utterance: str, message_id: str = "") -> Heard:
        """Do what a sentence asks for; `message_id` makes sure that it happens once."""
        intent = self.understand(utterance)
        spoken = _Spoken(caller, target, utterance, message_id, intent)
        ways = {
            "remember": self._remember,
            "correct": self._correct,
            "forget_topic": self._forget,
            "forget_that": self._forget_last,
            "skip": self._skip,
            "recall": self._recall,
            "show_memory": self._recall,
        }
        return ways.get(intent.intent, self._nothing)(spoken)

    def _remember(self, spoken: _Spoken) -> Heard:
        """Remember the payload; a bare "remember that" has nothing to remember."""
        intent = spoken.intent
        if not intent.payload:
            return self._nothing(spoken)
        outcome = self._requests.remember(
            spoken.caller, spoken.target, intent.payload, words=spoken.words, message_id=spoken.id
        )
        return _answer(intent, "remember", outcome, intent.payload)

    def _correct(self, spoken: _Spoken) -> Heard:
        """Replace what was named as wrong, or the last fact; a new fact where neither is known."""
        intent = spoken.intent
        last = last_written(self._reader, spoken.target)
        old = intent.old or (f"^{last.block}" if last and last.block else "")
        if not old:
            outcome = self._requests.remember(
                spoken.caller, spoken.target, intent.new, words=spoken.words, message_id=spoken.id
            )
            return _answer(intent, "remember", outcome, intent.new)
        outcome = self._requests.replace(
            spoken.caller, spoken.target, intent.new, old, words=spoken.words, message_id=spoken.id
        )
        return _answer(intent, "replace", outcome, intent.old or intent.new)

    def _forget(self, spoken: _Spoken) -> Heard:
        intent = spoken.intent
        outcome = self._requests.forget(
            spoken.caller, spoken.target, intent.payload, words=spoken.words, message_id=spoken.id
        )
        return _answer(intent, "forget", outcome, intent.payload)

    def _forget_last(self, spoken: _Spoken) -> Heard:
        last = last_written(self._reader, spoken.target)
        if last is None or not last.block:
            outcome = Outcome("not_found", spoken.target)
            return Heard(spoken.intent, phrase(spoken.intent.lang, "nothing_last"), outcome)
        outcome = self._requests.forget(
            spoken.caller, spoken.target, f"^{last.block}", words=spoken.words, message_id=spoken.id
        )
        return _answer(spoken.intent, "forget", outcome, last.text)

    def _skip(self, spoken: _Spoken) -> Heard:
        """Hide the message said last from recall, and from whatever learns from the session."""
        lang = spoken.intent.lang
        ref = self._sessions.last(spoken.target)
        if ref is None:
            outcome = Outcome("not_found", spoken.target)
            return Heard(spoken.intent, phrase(lang, "nothing_to_skip"), outcome)
        hidden = self._gate.hide(spoken.target, [ref], spoken.caller)
        outcome = Outcome("written" if hidden else "unchanged", spoken.target)
        return Heard(spoken.intent, phrase(lang, "skip"), replace(outcome, hidden_messages=hidden))

    def _recall(self, spoken: _Spoken) -> Heard:
        """Return the facts: all of them, or those that hold the words of the question."""
        intent, path = spoken.intent, self._reader.paths.brain(spoken.target)
        shown = self._shows(path, spoken.caller)
        facts = parse_brain(read_text(self._reader, path)[0]).all() if shown else ()
        about = intent.payload.strip(" ?!.").lower()
        if intent.intent == "recall" and about and about not in ME:
            match = find(facts, about)
            facts = tuple(facts[at] for at in sorted({*match.found, *match.nearest}))
        message = phrase(intent.lang, "known" if facts else "nothing_known")
        outcome = Outcome("unchanged", spoken.target, path=path)
        return Heard(intent, message, outcome, tuple(fact.text for fact in facts))

    def _nothing(self, spoken: _Spoken) -> Heard:
        message = phrase(spoken.intent.lang or FALLBACK, "none")
        return Heard(spoken.intent, message, Outcome("unchanged", spoken.target))


@dataclass(frozen=True, slots=True)
class _Spoken:
    """One sentence on its way."""

    caller: Caller
    target: str
    words: str
    id: str
    """Of the message; empty when it has none."""
    intent: Intent


def _answer(intent: Intent, op: str, outcome: Outcome, asked: str) -> Heard:
    return Heard(intent, told(intent.lang, op, outcome, asked), outcome)
