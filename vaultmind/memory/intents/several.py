"""A message with more than one request: where each of them begins.

Only whole sentences that are requests of their own are told apart, and a "… and remember that …"
after a request to forget, which would be taken for what to forget. What is no request stays
with the request before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from vaultmind.memory.intents.reading import AT_START
from vaultmind.memory.intents.spans import is_paste
from vaultmind.memory.intents.text import fold, sentences
from vaultmind.memory.intents.types import Intent

MOST = 6
"""Sentences of a message that is read this way; a longer one is a text, not some requests."""
_NUMBER_END = re.compile(r"\d\.\s+")
_AND = re.compile(r"(?:\s{0,20},)?\s{1,20}(and|i|oraz|и|und|y|et)\s+")
_JOINS = {"and": "en", "i": "pl", "oraz": "pl", "и": "ru", "und": "de", "y": "es", "et": "fr"}
_POINTS = frozenset({"remember", "skip"})
"""Requests that may mean the sentence before them."""

Understand = Callable[[str], Intent]


def parted(text: str, understand: Understand) -> tuple[str, ...]:
    """Return a message's requests, each in its own words; the whole message where it is one."""
    folded = fold(text)
    if is_paste(folded.text):
        return (text,)
    starts = sorted({*_sentence_starts(text)})
    if len(starts) > MOST:
        return (text,)
    pieces = [
        part
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True)
        for part in _halves(text[start:end].strip(), understand)
    ]
    if len(pieces) < 2:  # noqa: PLR2004
        return (text,)
    requests = _requests(pieces, understand)
    return tuple(requests) if len(requests) > 1 else (text,)


def _sentence_starts(text: str) -> Iterator[int]:
    """Yield where sentences begin: after "42." as well, where a capital letter follows."""
    folded = fold(text)
    for sentence in sentences(folded.text):
        yield folded.place(sentence.start, sentence.end)[0]
        for match in _NUMBER_END.finditer(folded.text, sentence.start, sentence.end):
            place = folded.place(match.end(), match.end() + 1)[0]
            if text[place : place + 1].isupper():
                yield place


def _halves(sentence: str, understand: Understand) -> tuple[str, ...]:
    """Return a sentence; in two where it asks to forget one thing and to remember another."""
    for match in _AND.finditer(sentence):
        first, second = sentence[: match.start()], sentence[match.end() :]
        asked = understand(second)
        if asked.intent != "remember" or asked.start == 0 or asked.confidence < AT_START:
            continue
        if asked.lang != _JOINS[match.group(1)]:
            continue
        if understand(first).intent in ("forget_topic", "forget_that"):
            return first, second
    return (sentence,)


def _requests(pieces: list[str], understand: Understand) -> list[str]:
    requests: list[str] = []
    told: list[str] = []
    """Sentences since the last request."""
    for piece in pieces:
        intent = understand(piece)
        if intent.intent == "none":
            told.append(piece)
            continue
        own = told if intent.intent in _POINTS and not intent.payload else []
        if told and not own and requests:
            requests[-1] = " ".join((requests[-1], *told))
        elif told and not own:
            own = told
        requests.append(" ".join((*own, piece)))
        told = []
    if told and requests:
        requests[-1] = " ".join((requests[-1], *told))
    return requests
