"""The user's messages that wait for an answer: they are always in a context, and its question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vaultmind.redact import mask
from vaultmind.session.context.budget import cut
from vaultmind.session.recall.triggers import phrases
from vaultmind.session.talk.view import key_of
from vaultmind.tokens import count
from vaultmind.types import Message

MOST_UNANSWERED = 3
"""Messages of the user at the end of a conversation that are taken for the question, where the
caller names none."""
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

    What is pending may be written down already: it then stands at the end of the conversation.
    """
    texts = tuple(text.strip() for text in pending if text.strip())
    at = len(messages)
    lowest = max(0, at - (len(texts) or MOST_UNANSWERED))
    while at > lowest and messages[at - 1].role == "user":
        said = messages[at - 1].text.strip()
        if not said or (texts and not any(_is_logged(text, said) for text in texts)):
            break
        at -= 1
    logged = messages[at:]
    before = messages[:at] if logged else messages
    texts = texts or tuple(message.text.strip() for message in logged)
    return Waiting(texts, before, tuple(key_of(message) for message in logged))


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
