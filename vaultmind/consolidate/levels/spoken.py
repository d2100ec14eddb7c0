"""What a built-in summary may choose from: the sound sentences of a talk, each with its source.

Questions, suppositions, quotations, jokes, pastes, secrets and what was asked not to be kept are
no part of it, by the same reading as facts are taken from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby

from vaultmind.consolidate.facts.cues import begins, says
from vaultmind.consolidate.facts.own import GAP, own_words
from vaultmind.consolidate.facts.statement import statement
from vaultmind.consolidate.facts.talk import Said, Talk, Understand, key_of, read_talk
from vaultmind.consolidate.facts.types import Reason
from vaultmind.consolidate.levels.wording import wording
from vaultmind.consolidate.levels.writer import Piece, Source, mark
from vaultmind.memory.intents import Intent, recogniser
from vaultmind.memory.words import SOFT, Word, content, fold
from vaultmind.ports import Embedder
from vaultmind.redact import mask
from vaultmind.session.summary.sentences import MARK, sentences, shortened
from vaultmind.session.summary.weigh import Sentence, read, telling_parts
from vaultmind.types import Message
from vaultmind.vault.oneline import one_line

MOST_TOKENS = 45
"""Of a sentence; a longer one is cut to the piece that tells most, with marks."""
MOST_ASKING = 120
"""Characters of a sentence that may ask the memory for something."""
ASKING: frozenset[Reason] = frozenset({"request", "question"})
MAY_BE_TOLD: frozenset[Reason | None] = frozenset({None, "other language", *ASKING})
"""What may be wrong with a sentence, as a fact, that is told in a summary all the same."""
NOT_TOLD = ("forget_topic", "forget_that", "skip", "recall", "show_memory")
"""What a sentence may ask of the memory, for which it is not told."""
DAY = 10
"""Characters of an ISO date."""

_ENDED = re.compile(r"[.!?…。！？][\"'»”’)\]*_]*$")
_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]")
_DATED = re.compile(r"(\d{4}-\d\d-\d\d) · ")
_SPEAKS = re.compile(r"([^\W\d_][\w .'’-]{0,40}): (?=\S)")


@dataclass(frozen=True, slots=True)
class Spoken:
    """A sentence that may stand in a summary."""

    text: str
    source: str
    """Key of its message, or the mark of the piece that it stands in."""
    at: int
    """The number of its message or piece, from 0."""
    read: Sentence
    speaker: str = ""
    date: str = ""
    """ISO date that it speaks from; empty in the summary of one talk."""
    user: bool = True
    asks: bool = False
    """A request or a question: it stands where there is nothing better."""


def of_messages(
    messages: Sequence[Message],
    language: str,
    understand: Understand | None = None,
    embedder: Embedder | None = None,
) -> list[Spoken]:
    """Return the sentences of a talk that may be kept, in order."""
    own = understand or _recogniser()
    words = wording(language)
    talk = read_talk(
        messages, lambda said: own(said) if len(said) <= MOST_ASKING else Intent(), embedder
    )
    plays = any(says(fold(one.text), "fiction") for one in messages if one.role == "user")
    unwanted = _unwanted(talk)
    found = []
    for (at, whole), said in groupby(talk.said, lambda one: (one.at, one.whole)):
        message, pieces = messages[at], list(said)
        if any(map(_asks_the_memory, pieces)) or _is_about(whole, unwanted):
            continue
        faults: set[Reason | None] = {piece.fault for piece in pieces}
        if "quoted" in faults and not plays and _tells_again(whole, message):
            faults = faults - {"quoted"} or {None}
        if GAP in whole or not faults <= MAY_BE_TOLD:
            continue
        asks = not faults.isdisjoint(ASKING)
        text = prose(clean(whole), asks=asks)
        sentence = read(text, language)
        if not text or sentence.is_small_talk:
            continue
        asks = asks or sentence.asks
        found.append(
            Spoken(
                text,
                key_of(message),
                at,
                sentence,
                message.speaker or words.role(message.role),
                user=message.role == "user",
                asks=asks,
            )
        )
    return found


def of_sessions(
    sources: Sequence[Source],
    language: str,
    understand: Understand | None = None,
    embedder: Embedder | None = None,
) -> list[Spoken]:
    """Return the sentences of several talks that may be kept, in order, each with its date."""
    found: list[Spoken] = []
    at = 0
    for source in sources:
        messages = [_message(source, piece) for piece in source.pieces]
        for one in of_messages(messages, language, understand, embedder):
            found.append(replace(one, at=one.at + at, date=source.started[:DAY]))
        at += len(messages)
    return found


def of_summaries(sources: Sequence[Source], language: str) -> list[Spoken]:
    """Return the sentences of summaries, in order, each with the speaker and date above it."""
    found: list[Spoken] = []
    pieces = [(source, piece) for source in sources for piece in source.pieces]
    for at, (source, piece) in enumerate(pieces):
        for text, speaker, date in _attributed(piece.text):
            sentence = read(text, language)
            if not sentence.is_small_talk:
                marked = mark(source, piece)
                found.append(Spoken(text, marked, at, sentence, speaker, date))
    return found


def clean(text: str) -> str:
    """Return a sentence as it may stand in a summary: one line, no links, no secrets."""
    bare = mask(_LINK.sub(r"\1", one_line(text))).text
    return shortened(bare, MOST_TOKENS, telling_parts)


def prose(text: str, *, asks: bool = False) -> str:
    """Return a sentence as it stands among others: it begins with a capital and ends in a mark.

    What only leads to it or trails it (`oh and`, `lol`) goes.
    """
    bare = text if asks or text.endswith(MARK) else statement(text)
    if not any(map(str.isalnum, bare)):
        return ""
    opened = bare[:1].upper() + bare[1:]
    return opened if _ENDED.search(opened) else f"{opened}."


def lined_up(chosen: Iterable[Spoken]) -> str:
    """Return sentences as a paragraph; who speaks, and when, stands where it changes."""
    said: list[str] = []
    date = speaker = ""
    for one in chosen:
        lead = f"{one.date} · " if one.date and one.date != date else ""
        if one.speaker and (lead or one.speaker != speaker):
            lead += f"{one.speaker}: "
        said.append(lead + one.text)
        date, speaker = one.date or date, one.speaker
    return " ".join(said)


def _asks_the_memory(said: Said) -> bool:
    """Tell whether a piece asks to forget, to skip or to show: that is no part of a talk."""
    if said.role != "user":
        return False
    return said.intent.intent in NOT_TOLD or bool(begins(fold(said.text), "forget"))


def _unwanted(talk: Talk) -> list[tuple[Word, ...]]:
    """Return the words of each thing that the user asked, in the talk, to have forgotten."""
    asked = [one.intent.payload for one in talk.by_user() if one.intent.intent == "forget_topic"]
    for one in talk.by_user():
        folded = fold(one.text)
        if one.intent.intent != "forget_topic" and (found := begins(folded, "forget")):
            asked.append(folded[found.end() :])
    words = (tuple(word for word in content(one) if word.folded not in SOFT) for one in asked)
    return [one for one in words if one]


def _is_about(sentence: str, unwanted: Sequence[tuple[Word, ...]]) -> bool:
    there = content(sentence) if unwanted else ()
    return any(
        all(any(word.same(other) for other in there) for word in words) for words in unwanted
    )


def _tells_again(sentence: str, message: Message) -> bool:
    """Tell whether a sentence says, in its speaker's own words, what somebody told them.

    That is no fact to be kept, but `Anna: The doctor told me to rest` is true of the talk.
    """
    own = " ".join(own_words(message.text)[0].split())
    return bool(says(fold(sentence), "told")) and sentence in own


@cache
def _recogniser() -> Understand:
    return recogniser().recognise


def _attributed(paragraph: str) -> Iterator[tuple[str, str, str]]:
    """Yield (sentence, speaker, date) of a paragraph that `lined_up` has made, or another has."""
    speaker = date = ""
    for sentence in sentences(_LINK.sub(r"\1", paragraph)):
        text = sentence
        if dated := _DATED.match(text):
            date, speaker, text = dated[1], "", text[dated.end() :]
        if spoken := _SPEAKS.match(text):
            speaker, text = spoken[1], text[spoken.end() :]
        if text := clean(text):
            yield text, speaker, date


def _message(source: Source, piece: Piece) -> Message:
    return Message(
        piece.role, piece.text, source.started, mark(source, piece), speaker=piece.speaker
    )
