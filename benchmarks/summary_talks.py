"""Generated conversations with planted facts, and their sliding summaries. All sentences are ours.

Decisions, numbers, names and dates, each said once among filler about the same things, three
decisions among the first ten messages. `check.py` asks which of their values stand in the summary.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path

from vaultmind.session.summary import Rolling, fold, parse_rolling, rendered, shown
from vaultmind.types import Message

KINDS = ("decision", "number", "name", "date")
LENGTHS = {100: 16, 1000: 40}
"""Messages of a conversation, and facts in it."""
EVERY = 6
"""Messages that are folded at once."""

WORDS = json.loads((Path(__file__).parent / "data" / "summary_talks.json").read_text("utf-8"))
"""By language: what is talked about, values, and sentences that state, ask or fill."""


@dataclass(frozen=True, slots=True)
class Planted:
    """A fact that was said once."""

    kind: str
    at: int
    """The number of its message, from 1."""
    value: str


@dataclass(frozen=True, slots=True)
class Talk:
    """A generated conversation."""

    language: str
    messages: tuple[Message, ...]
    planted: tuple[Planted, ...]


def make_talk(language: str, length: int, facts: int, seed: int) -> Talk:
    """Return a conversation with so many facts in it, three decisions among its first ten."""
    rng = random.Random(f"{language}-{length}-{seed}")
    things = list(WORDS[language]["things"])
    rng.shuffle(things)
    rest = rng.sample(range(11, length + 1), facts - 3)
    places = [*sorted(rng.sample(range(1, 11), 3)), *sorted(rest)]
    kinds = ["decision"] * 3 + [KINDS[number % len(KINDS)] for number in range(facts - 3)]
    values = _Values(language, rng)
    planted, said = [], {}
    for at, kind, thing in zip(places, kinds, things, strict=False):
        value = values.next(kind)
        said[at] = rng.choice(WORDS[language]["said"][kind]).format(thing=thing, value=value)
        said[at] = said[at][0].upper() + said[at][1:]
        planted.append(Planted(kind, at, value))
    messages = [_message(n, said.get(n, ""), language, rng) for n in range(1, length + 1)]
    return Talk(language, tuple(messages), tuple(planted))


class _Values:
    """Gives each fact a value of its own."""

    def __init__(self, language: str, rng: random.Random) -> None:
        self._rng = rng
        self._choices = list(WORDS[language]["choices"])
        self._names = list(WORDS[language]["names"])
        self._months = list(WORDS[language]["months"])
        rng.shuffle(self._choices)
        rng.shuffle(self._names)
        self._numbers = rng.sample(range(1013, 9989), 200)
        self._days = rng.sample([(d, m) for d in range(1, 29) for m in self._months], 100)

    def next(self, kind: str) -> str:
        """Return a value that no other fact has."""
        if kind == "decision":
            return self._choices.pop()
        if kind == "name":
            return self._names.pop()
        if kind == "number":
            return str(self._numbers.pop())
        day, month = self._days.pop()
        return f"{day} {month}"


def _message(number: int, fact: str, language: str, rng: random.Random) -> Message:
    things = list(WORDS[language]["things"])
    picked = rng.sample(WORDS[language]["filler"], rng.choice((1, 2, 3)))
    texts = [one.format(thing=rng.choice(things)) for one in picked]
    if fact:
        texts.insert(rng.randrange(len(texts) + 1), fact)
    role = "user" if number % 2 else "assistant"
    return Message(role, " ".join(texts), "", id=f"t:{number}", block=f"m{number}")


def summarised(talk: Talk) -> str:
    """Return what a conversation's summary shows, each fold by way of its file."""
    rolling = Rolling("talk", "main", talk.language)
    for start in range(0, len(talk.messages), EVERY):
        rolling = fold(rolling, talk.messages[start : start + EVERY])
        rolling = parse_rolling(rendered(rolling))
    return shown(rolling)
