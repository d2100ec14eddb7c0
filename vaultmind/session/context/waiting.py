"""The user's messages that wait for an answer: they are always in a context, and its question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vaultmind.redact import mask
from vaultmind.session.context.budget import cut
from vaultmind.session.conversation import key_of
from vaultmind.session.recall.triggers import phrases
from vaultmind.tokens import count
from vaultmind.types import Message

MOST_UNANSWERED = 3
"""Messages of the user at the end of a conversation that are taken for the question, where the
caller names none."""
MOST_OF_A_TURN = 1000
"""Messages of an answer under way that are looked past for what it answers."""
SHORT_WORDS = 3
"""Words of which something is said again and again (yes, go on, thank you): what was answered with
so few is not what waits now."""
QUERY_CHARACTERS = 4000
"""Of a long message so much is searched for: half of it from its beginning, half from its end."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for an answer, and the conversation before it."""

    texts: tuple[str, ...]
    before: Sequence[Message]
    keys: tuple[str, ...] = ()
    """Of those that are written down in the conversation already."""

    @property
    def query(self) -> str:
        """Return what is looked for."""
        text = "\n".join(self.texts).strip()
        if len(text) <= QUERY_CHARACTERS:
            return text
        half = QUERY_CHARACTERS // 2
        return f"{text[:half]}\n{text[-half:]}"


def waiting(messages: Sequence[Message], pending: Sequence[str]) -> Waiting:
    """Return what waits: what the caller says, else what the user said last, unanswered.

    What is pending may be written down already: it then stands at the end of the conversation, or
    before what the assistant has said and done about it so far.
    """
    texts = tuple(text.strip() for text in pending if text.strip())
    places = _logged(messages, texts) if texts else _unanswered(messages)
    if not places:
        return Waiting(texts, messages)
    first, logged = places[0], [messages[at] for at in places]
    turn = [messages[at] for at in range(first, len(messages)) if at not in places]
    before = (*messages[:first], *turn) if turn else messages[:first]
    texts = texts or tuple(message.text.strip() for message in logged)
    return Waiting(texts, before, tuple(key_of(message) for message in logged))


def _unanswered(messages: Sequence[Message]) -> list[int]:
    """Return which messages of the user nothing follows."""
    at = len(messages)
    while at > max(0, len(messages) - MOST_UNANSWERED):
        if messages[at - 1].role != "user" or not messages[at - 1].text.strip():
            break
        at -= 1
    return list(range(at, len(messages)))


def _logged(messages: Sequence[Message], texts: Sequence[str]) -> list[int]:
    """Return which messages of the running turn are the pending ones."""
    found: list[int] = []
    for at in range(len(messages) - 1, max(-1, len(messages) - 1 - MOST_OF_A_TURN), -1):
        if messages[at].role != "user":
            continue
        said = messages[at].text.strip()
        answered = at + len(found) + 1 < len(messages)
        if not said or (answered and len(said.split()) <= SHORT_WORDS):
            break
        if len(found) == len(texts) or not any(_is_logged(text, said) for text in texts):
            break
        found.insert(0, at)
    return found


def _is_logged(text: str, said: str) -> bool:
    """Tell whether a text is what was written down, where secrets are masked."""
    alike = 2 * len(said) > len(text) > len(said) // 2
    return text == said or (alike and mask(text).text.strip() == said)


def as_shown(texts: Sequence[str], room: int, language: str) -> tuple[str, bool]:
    """Return the messages to the letter, and whether all are whole.

    Where there is no room the oldest go first; the newest is cut, with a mark, if it must be.
    """
    user = phrases(language).user
    shown: list[str] = []
    for text in reversed(texts):
        left = room - count("\n".join(["", *shown]))
        line = cut(f"{user}: {text}", left)
        whole = line.endswith(text)
        if not whole and shown:
            return "\n".join(shown), False
        shown.insert(0, line)
        if not whole:
            return line, False
    return "\n".join(shown), True
