"""What a person asked not to keep: the one place that decides it, for all that keeps something.

"Don't remember this: my sister is pregnant" means itself; "don't keep that" means what was said
before it; "what I say next goes nowhere" means that; "don't keep anything about Laura" means all
that is said of her, before and after. What somebody asked so stays in the session's file, as the
rest of what was said, and gets into no summary, no fact and no active context.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from vaultmind.memory.words import Word, content, fold
from vaultmind.ports import Embedder
from vaultmind.session.sentences import sentences
from vaultmind.session.summary.asking import Eyes
from vaultmind.session.summary.asks import (
    Asks,
    Ears,
    Understand,
    keeps_out,
    may_stay,
    read_asks,
)
from vaultmind.session.summary.pointing import counts, lifts
from vaultmind.types import Message

__all__ = ["keeping", "keeps_out", "unkept"]

MOST_CHARACTERS = 300
"""Of a sentence in which a wish to remember is looked for."""


def unkept(
    messages: Sequence[Message],
    understand: Understand | None = None,
    embedder: Embedder | None = None,
) -> dict[int, int]:
    """Return which messages were asked not to be kept, each with the one that asks, by number.

    `messages` are those of a conversation in their order. `understand`: the person's own phrases.
    With the bundled embedder more ways to ask are heard.
    """
    ears = Ears(understand, embedder)
    found: dict[int, int] = {}
    spoken = [
        at
        for at, one in enumerate(messages)
        if one.role in ("user", "assistant") and not one.erased
    ]
    users = [at for at in spoken if messages[at].role == "user"]
    for place, at in enumerate(users):
        asks = _asks(messages[at].text, ears)
        if asks is None:
            continue
        own = () if asks.rest and place else (at,)
        for meant in (*own, *_meant(asks, messages, users, place, ears)):
            found.setdefault(meant, at)
        points = not (asks.own or asks.matters or asks.next or asks.ahead)
        if (asks.before or points) and place:
            between = (n for n in spoken if users[max(0, place - max(1, asks.before))] < n < at)
            found.update((n, at) for n in between if n not in found)
        if asks.all:
            found.update((n, at) for n in spoken if n <= at and n not in found)
    for at, asker in list(found.items()):
        found.update((n, asker) for n in _echoes(messages, spoken, at) if n not in found)
    return found


def keeping(
    messages: Sequence[Message],
    understand: Understand | None = None,
    embedder: Embedder | None = None,
) -> Sequence[Message]:
    """Return messages with nothing in those that were asked not to be kept."""
    gone = unkept(messages, understand, embedder)
    if not gone:
        return messages
    return [replace(one, text="") if at in gone else one for at, one in enumerate(messages)]


def _meant(
    asks: Asks, messages: Sequence[Message], users: Sequence[int], place: int, ears: Ears
) -> Iterator[int]:
    """Yield the numbers of the user's other messages that are meant."""
    before, after = users[:place], users[place + 1 :]
    if asks.ahead:
        until = next((n for n, at in enumerate(after) if _lifts(messages[at].text)), len(after))
        yield from (at for at in after[:until] if not _is_wanted(messages[at].text, (), ears))
    elif asks.next:
        yield from after[:1]
    if asks.before:
        yield from before[-asks.before :]
    spoken_of = [at for at in before if _is_about(messages[at].text, asks.matters)]
    if asks.matters:
        yield from spoken_of
        yield from (at for at in after if _is_about(messages[at].text, asks.matters))
        if spoken_of:
            return
        if asks.back and not asks.next:
            # It was said in other words: rather too much than what somebody wanted gone.
            yield from (at for at in before if not _is_wanted(messages[at].text, asks.stays, ears))
            return
    if not (asks.own or asks.next or asks.ahead or asks.before):
        yield users[place - 1] if place else users[min(1, len(users) - 1)]


def _is_about(text: str, matters: Iterable[Sequence[Word]]) -> bool:
    """Tell whether a message is about any of some matters."""
    if not matters:
        return False
    from vaultmind.memory.contradictions.alike import alike  # seldom needed, and slow to load

    there = content(text)
    return any(
        all(any(alike(word, other) for other in there) for word in words) for words in matters
    )


def _is_wanted(text: str, stays: Sequence[Word], ears: Ears) -> bool:
    """Tell whether a message was to be remembered, or is of what may be kept."""
    if _is_about(text, [(word,) for word in stays]):
        return True
    said = [one for one in sentences(text) if len(one) <= MOST_CHARACTERS]
    return any(ears.hear(one).intent == "remember" or may_stay(fold(one)) for one in said)


def _lifts(text: str) -> bool:
    """Tell whether a message says that what comes may be kept again."""
    said = [fold(one) for one in sentences(text) if len(one) <= MOST_CHARACTERS]
    return any(lifts(one) and may_stay(one) for one in said)


def _echoes(messages: Sequence[Message], spoken: Sequence[int], at: int) -> Iterator[int]:
    """Yield the assistant's messages that follow a message and say any of its words again."""
    from vaultmind.memory.contradictions.alike import alike

    if messages[at].role != "user":
        return
    own = [word for word in content(messages[at].text) if counts(word)]
    for after in (n for n in spoken if n > at):
        if messages[after].role == "user":
            return
        there = content(messages[after].text)
        if any(alike(word, other) for word in own for other in there):
            yield after


def _asks(text: str, ears: Ears) -> Asks | None:
    """Return what a message asks not to keep; None where it asks nothing of the kind."""
    if ears.understand is not None:
        return read_asks(text, ears)
    return _read(text, Eyes(ears.embedder) if ears.embedder else None)


@lru_cache(maxsize=8192)
def _read(text: str, eyes: Eyes | None) -> Asks | None:
    return read_asks(text, Ears(embedder=eyes.embedder if eyes else None))
