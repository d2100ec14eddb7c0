"""The window: the last messages of a conversation, each whole.

Of a tool's result its name and its beginning stand for the whole. A message that is larger than
half of the room is passed over with a mark, so that one long paste does not cost the
conversation around it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from vaultmind.session.context.budget import LONGEST_TOKEN, cut
from vaultmind.session.conversation import key_of
from vaultmind.session.recall.dates import dated
from vaultmind.session.recall.triggers import phrases
from vaultmind.tokens import count
from vaultmind.types import Message, Role

TOOL_CHARACTERS = 200
"""Of a tool's result that are shown."""
GAP = "…"
"""Stands in the place of messages that are too large."""
TOO_LARGE = 0.5
"""Share of the room beyond which a message is passed over, ..."""
WORTH_GOING_ON = 0.25
"""... while such a share is left."""
DAY_TOKENS = 10
"""What a line with a date costs at most."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A message as it is shown; a gap has no key."""

    text: str
    tokens: int
    """With the end of its line."""
    key: str = ""
    whole: bool = False
    """Whether its full text stands there."""
    day: str = ""


@dataclass(frozen=True, slots=True)
class Picked:
    """The messages that fit a room, oldest first."""

    entries: tuple[Entry, ...] = ()
    older: int = 0
    """Messages before the first of them that could be shown."""
    too_large: tuple[Entry, ...] = ()
    """Those that were passed over."""

    @property
    def outside(self) -> int:
        """Return how many messages of all do not stand there."""
        return self.older + len(self.too_large)

    @property
    def keys(self) -> frozenset[str]:
        """Return which messages stand there, whole or as what is shown of a tool's."""
        return frozenset(entry.key for entry in self.entries if entry.key)

    @property
    def whole(self) -> tuple[str, ...]:
        """Return the keys of those whose full text stands there."""
        return tuple(entry.key for entry in self.entries if entry.whole)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which messages may be picked, and how they are shown."""

    room: int
    language: str = "en"
    most: int | None = None
    """Messages at most; None: as many as fit."""
    elsewhere: Collection[str] = ()
    """Keys of those that stand in another part."""


def pick(messages: Sequence[Message], scope: Scope) -> Picked:
    """Return the newest messages that fit."""
    taken: list[Entry] = []
    too_large: list[Entry] = []
    left, day, at = scope.room, "", len(messages)
    oldest = 0 if scope.most is None else max(0, at - scope.most)
    while at > oldest:
        message = messages[at - 1]
        if key_of(message) not in scope.elsewhere:
            entry = entry_of(message, scope.room, scope.language)
            cost = entry.tokens + _days_cost(entry, taken, day)
            if cost > left:
                if entry.tokens <= TOO_LARGE * scope.room or left < WORTH_GOING_ON * scope.room:
                    break
                too_large.append(entry)
                entry = Entry(GAP, count(f"{GAP}\n"))
                cost = entry.tokens
            day = entry.day or day
            taken.append(entry)
            left -= cost
        at -= 1
    return Picked(_without_outer_gaps(taken[::-1]), at, tuple(too_large))


def newest_cut(message: Message, scope: Scope) -> Entry | None:
    """Return the beginning of a message that is too large, for where nothing else would stand."""
    head = f"{_head(message, scope.language)}: "
    text = cut(f"{head}{message.text.strip()}", scope.room)
    fits = len(text) > len(head) + 1
    return Entry(text, count(text), key_of(message), day=message.time[:10]) if fits else None


def entry_of(message: Message, room: int, language: str) -> Entry:
    """Return a message as it is shown; one that can never fit a room is not read through."""
    key, day = key_of(message), message.time[:10]
    if message.role != "tool" and len(message.text) > LONGEST_TOKEN * room:
        return Entry("", room + 1, key, day=day)
    head = _head(message, language)
    if message.role == "tool" and len(message.text) > TOOL_CHARACTERS:
        text = f"{head}: {_beginning(message.text)}"
        return Entry(text, count(f"{text}\n"), key, day=day)
    said = message.text.strip()
    text = f"{head}: {said}"
    return Entry(text, count(f"{text}\n"), key, bool(said), day)


def lines(entries: Sequence[Entry]) -> list[str]:
    """Return entries as lines, with a date where a day begins if they are of several."""
    return dated([(entry.day, entry.text) for entry in entries])


def _days_cost(entry: Entry, taken: Sequence[Entry], day: str) -> int:
    """Return what the dates cost that a message of another day makes necessary."""
    if not day or not entry.day or entry.day == day:
        return 0
    first = all(one.day in (day, "") for one in taken)
    return DAY_TOKENS * (2 if first else 1)


def _without_outer_gaps(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return entries that begin with a message, and one gap for several in a row."""
    kept: list[Entry] = []
    for entry in entries:
        if entry.key or (kept and kept[-1].key):
            kept.append(entry)
    return tuple(kept) if any(entry.key for entry in kept) else ()


def _head(message: Message, language: str) -> str:
    words = phrases(language)
    roles: dict[Role, str] = {"user": words.user, "assistant": words.assistant}
    who = roles.get(message.role, message.role)
    return f"{who} {message.speaker}" if message.speaker else who


def _beginning(text: str) -> str:
    """Return the first characters of a tool's result, cut at a space where there is one near."""
    head = text[:TOOL_CHARACTERS]
    space = head.rfind(" ", TOOL_CHARACTERS // 2)
    return f"{head[:space] if space > 0 else head} …"
