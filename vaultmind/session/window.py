"""What waits for an answer, and the last messages before it, each whole.

Of a tool's result its name and its beginning stand for the whole. A message that is larger than
half of the room is cut, so that one long paste does not cost the conversation around it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from vaultmind.redact import mask
from vaultmind.session.recall import key_of
from vaultmind.tokens import clip, count
from vaultmind.types import Message

TOOL_CHARACTERS = 200
"""Of a tool's result that are shown."""
TOO_LARGE = 0.5
"""Share of the room to which a message is cut."""
DAY_TOKENS = 10
"""What a line with a date costs at most."""
MOST_UNANSWERED, MOST_OF_A_TURN = 3, 1000
"""Messages at the end that are taken for the question where none is named; messages of an answer
under way that are looked past."""
QUERY_CHARACTERS = 2000
"""Of a long message that are searched for, its ends."""
GAP = "…"


class Waiting(NamedTuple):
    """What waits for an answer, and the conversation before it."""

    texts: tuple[str, ...]
    before: Sequence[Message]
    keys: tuple[str, ...]
    """Of those that are written down in the conversation already."""

    @property
    def query(self) -> str:
        """Return what is looked for."""
        text, half = "\n".join(self.texts).strip(), QUERY_CHARACTERS // 2
        return text if len(text) <= QUERY_CHARACTERS else f"{text[:half]}\n{text[-half:]}"


class Entry(NamedTuple):
    """A message as it is shown; one that was cut has no key."""

    text: str
    key: str = ""
    whole: bool = False
    """Whether its full text stands there."""
    day: str = ""


class Picked(NamedTuple):
    """The newest messages that fit a room, oldest first."""

    entries: Sequence[Entry] = ()
    older: int = 0
    """Messages before the first of them."""

    @property
    def keys(self) -> frozenset[str]:
        """Return which messages stand there, whole or as what is shown of a tool's."""
        return frozenset(entry.key for entry in self.entries if entry.key)


def waiting(messages: Sequence[Message], pending: Sequence[str]) -> Waiting:
    """Return what waits: what the caller says, else what the user said last, unanswered.

    What is pending may be written down already: it then stands at the end of the conversation, or
    before what the assistant has said and done about it so far.
    """
    texts = tuple(text.strip() for text in pending if text.strip())
    at, most = len(messages), len(texts) or MOST_UNANSWERED
    oldest = max(0, at - MOST_OF_A_TURN) if texts else at
    while at > oldest and messages[at - 1].role != "user":
        at -= 1
    first = at
    while first and at - first < most and messages[first - 1].role == "user":
        said = messages[first - 1].text.strip()
        if not said or (texts and not any(_is_logged(text, said) for text in texts)):
            break
        first -= 1
    logged = messages[first:at]
    texts = texts or tuple(message.text.strip() for message in logged)
    return Waiting(texts, [*messages[:first], *messages[at:]], tuple(map(key_of, logged)))


def _is_logged(text: str, said: str) -> bool:
    """Tell whether a text is what was written down, where secrets are masked."""
    alike = 2 * len(said) > len(text) > len(said) // 2
    return text == said or (alike and mask(text).text.strip() == said)


def pick(
    messages: Sequence[Message], room: int, words: dict[str, str], most: int, out: Collection[str]
) -> Picked:
    """Return the newest messages that fit, other than those left `out`."""
    entries = list[Entry]()
    left, at, oldest = room, len(messages), max(0, len(messages) - most)
    while at > oldest:
        one = messages[at - 1]
        if key_of(one) not in out:
            entry = _shown(one, words, int(TOO_LARGE * room))
            days = {other.day for other in entries}
            dates = DAY_TOKENS * (1 + (len(days) == 1)) if days and entry.day not in days else 0
            left -= count(f"{entry.text}\n") + dates
            if left < 0:
                break
            entries.append(entry)
        at -= 1
    return Picked(entries[::-1], at)


def _shown(message: Message, words: dict[str, str], most: int) -> Entry:
    """Return a message as it is shown, in so many tokens at most."""
    said = message.text.strip()
    who = " ".join(filter(None, (words.get(message.role, message.role), message.speaker)))
    key, whole = key_of(message), bool(said)
    if message.role == "tool" and len(said) > TOOL_CHARACTERS:
        said, whole = f"{said[:TOOL_CHARACTERS]} {GAP}", False
    text = f"{who}: {said}"
    if count(text) > most:
        text, key, whole = clip(text, most), "", False
    return Entry(text, key, whole, message.time[:10])
