"""Summaries of conversations: what a summariser is given, what it gives back, and the built-in one.

The built-in summariser chooses whole sentences of what was said and names their speakers. It
rewords nothing, so it makes nothing up, in whatever language the conversation was held. Pure.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from vaultmind.consolidate.talk import GAP, TO_THE_MEMORY, Understand, read_talk, statement
from vaultmind.consolidate.types import Level
from vaultmind.redact import mask
from vaultmind.session.sentences import (
    MARK,
    Sentence,
    read,
    same,
    sentences,
    shortened,
    telling_parts,
)
from vaultmind.tokens import count
from vaultmind.types import Message, Role
from vaultmind.vault.oneline import one_line

SENTENCES, SESSION_TOKENS = 5, 130
"""Maximum number of sentences, and of tokens, in the summary of one conversation."""
GROUPS: dict[Level, int] = {"L1": 5, "L2": 3}
"""Maximum number of paragraphs of a summary of several sources."""
SENTENCE_TOKENS = 45
"""A longer sentence is cut to the piece that tells most, with marks."""
LENGTH_POWER = 0.3
"""Power of its tokens by which a sentence is worth less."""
REPEATED = 0.2
"""Share of a word's worth that is left once a chosen sentence has said it."""
QUESTION, BY_OTHERS = 0.15, 0.65
"""Share of its worth that is left to a sentence that asks, and to one that is not the user's."""
DECISION, NUMBER = 1.3, 1.2
"""What a decision, and a number, multiply a sentence's worth by."""
FEW_WORDS = 3
"""Sentences with fewer content words say little, unless they hold a number."""
_WORDS = {
    "en": ("Conversations, {}", "A longer time, {}", "Nothing was said that needs keeping."),
    "pl": ("Rozmowy, {}", "Dłuższy czas, {}", "Nie padło nic, co trzeba zachować."),
    "ru": (
        "Разговоры, {}",
        "За долгое время, {}",
        "Не было сказано ничего, что нужно сохранить.",
    ),
    "de": ("Gespräche, {}", "Eine längere Zeit, {}", "Es wurde nichts gesagt, das bleiben muss."),
    "es": ("Conversaciones, {}", "Un tiempo más largo, {}", "No se dijo nada que guardar."),
    "fr": (
        "Conversations, {}",
        "Une période plus longue, {}",
        "Rien n'a été dit qui doive rester.",
    ),
}
_SPEAKERS = {
    "en": ("User", "Assistant"),
    "pl": ("Użytkownik", "Asystent"),
    "ru": ("Пользователь", "Ассистент"),
    "de": ("Nutzer", "Assistent"),
    "es": ("Usuario", "Asistente"),
    "fr": ("Utilisateur", "Assistant"),
}
_ENDED = re.compile(r"[.!?…。！？][\"'»”’)\]*_]*$")
_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]")
_DATED = re.compile(r"(\d{4}-\d\d-\d\d) · ")
_SPEAKS = re.compile(r"([^\W\d_][\w .'’-]{0,40}): (?=\S)")


@dataclass(frozen=True, slots=True)
class Piece:
    """What a summary of a level is made from: a message of a session, a paragraph of an L1."""

    block: str
    """The Obsidian block id in the source's file; empty where it has none."""
    text: str
    speaker: str = ""
    role: Role = "user"


@dataclass(frozen=True, slots=True)
class Source:
    """A session or an L1, as far as it may be recalled."""

    id: str
    started: str
    """ISO date or time."""
    pieces: tuple[Piece, ...]

    def mark(self, piece: Piece) -> str:
        """Return what a paragraph calls a piece: `<id>#<block>`, or the id alone."""
        return f"{self.id}#{piece.block}" if piece.block else self.id

    def messages(self) -> list[Message]:
        """Return the pieces as messages, with their marks as ids."""
        return [
            Message(one.role, one.text, self.started, self.mark(one), speaker=one.speaker)
            for one in self.pieces
        ]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Whole sentences on one line, and the messages' keys or the marks they come from."""

    text: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary, not yet a file."""

    paragraphs: tuple[Paragraph, ...]
    """None where nothing was said that is worth it."""
    by: str = "extractive"
    """`extractive`, or a model's id."""
    notes: tuple[str, ...] = ()
    """What went wrong, in words."""

    @property
    def text(self) -> str:
        """Return its paragraphs, with an empty line between two."""
        return "\n\n".join(one.text for one in self.paragraphs)


class Summariser(Protocol):
    """Writes summaries. It always gives one: where a model cannot, the built-in one does."""

    def session(self, messages: Sequence[Message], language: str) -> Summary:
        """Return a conversation in at most five sentences; sources are keys of messages."""
        ...

    def level(
        self, level: Level, sources: Sequence[Source], language: str, max_tokens: int
    ) -> Summary:
        """Return up to 5 paragraphs (L1) or 3 (L2) of at most `max_tokens`, links apart."""
        ...


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence that may stand in a summary."""

    text: str
    source: str
    """Key of its message, or the mark of its piece."""
    at: int
    """The number of its message or piece, from 0."""
    read: Sentence
    speaker: str = ""
    date: str = ""
    """ISO date that it speaks from; empty in the summary of one conversation."""
    user: bool = True
    asks: bool = False


class ExtractiveSummariser:
    """Implements `Summariser`. `understand` knows the person's own phrases, where given."""

    def __init__(self, understand: Understand | None = None) -> None:
        self._understand = understand

    def session(self, messages: Sequence[Message], language: str) -> Summary:
        """Return three to five sentences of a conversation; fewer where less was said."""
        quotes = self._quotes(messages, language)
        chosen = _chosen(_answers(quotes), _worth(quotes), SESSION_TOKENS, SENTENCES)
        return Summary((_paragraph(chosen),) if chosen else ())

    def level(
        self, level: Level, sources: Sequence[Source], language: str, max_tokens: int
    ) -> Summary:
        """Return a paragraph for each source, or for each few in a row, within `max_tokens`."""
        quotes: list[Quote] = []
        for one in sources:
            found = (
                self._quotes(one.messages(), language)
                if level == "L1"
                else list(_of_summary(one, language))
            )
            base = quotes[-1].at + 1 if quotes else 0
            date = one.started[:10]
            quotes += [replace(q, at=q.at + base, date=q.date or date) for q in found]
        worth = _worth(quotes)
        number = min(GROUPS[level], len(sources))
        ends = [round(len(sources) * (at + 1) / number) for at in range(number)]
        paragraphs: list[Paragraph] = []
        said: list[Quote] = []
        for at, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
            ids = {one.id for one in sources[start:end]}
            among = [one for one in quotes if one.source.partition("#")[0] in ids]
            share = (max_tokens - count("\n\n".join(p.text for p in paragraphs))) // (number - at)
            chosen = _chosen(_answers(among), worth, share - 2, len(among), said)
            if chosen:
                paragraphs.append(_paragraph(chosen))
                said += chosen
        return Summary(tuple(paragraphs))

    def _quotes(self, messages: Sequence[Message], language: str) -> list[Quote]:
        """Return the sentences of a conversation that may be told, in order."""
        found = []
        for one in read_talk(messages, self._understand).said:
            asks, message = one.fault == "question", messages[one.at]
            if GAP in one.text or one.fault not in (None, "question"):
                continue
            if one.intent.intent in TO_THE_MEMORY:
                continue
            text = _prose(clean(one.text), asks=asks)
            sentence = read(text, language)
            if text and not sentence.is_small_talk:
                speaker = message.speaker or speaker_of(message.role, language)
                user, asks = message.role == "user", asks or sentence.asks
                quote = Quote(text, one.key, one.at, sentence, speaker, user=user, asks=asks)
                found.append(quote)
        return found


def clean(text: str) -> str:
    """Return a sentence as it may stand in a summary: one line, no links, no secrets."""
    bare = mask(_LINK.sub(r"\1", one_line(text))).text
    return shortened(bare, SENTENCE_TOKENS, telling_parts)


def lined_up(chosen: Iterable[Quote]) -> str:
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


def heading(level: Level, first: str, last: str, language: str) -> str:
    """Return the heading of a summary of some days, given as ISO dates; either may be empty."""
    days = " – ".join(dict.fromkeys(day for day in (first, last) if day))
    words = _WORDS.get(language, _WORDS["en"])
    return words[level == "L2"].format(days).strip(" ,:")


def nothing_said(language: str) -> str:
    """Return what a summary says of talks in which nothing was said that needs keeping."""
    return _WORDS.get(language, _WORDS["en"])[2]


def speaker_of(role: str, language: str) -> str:
    """Return what a speaker without a name is called."""
    return _SPEAKERS.get(language, _SPEAKERS["en"])[role != "user"]


def _answers(quotes: Sequence[Quote]) -> list[Quote]:
    """Return the statements; where there is none, what was asked."""
    return [one for one in quotes if not one.asks] or list(quotes)


def _worth(quotes: Sequence[Quote]) -> dict[str, float]:
    """Return what each stem is worth: how rare it is among the sentences."""
    seen = Counter(stem for one in quotes for stem in set(one.read.stems))
    return {stem: math.log((1 + len(quotes)) / often) for stem, often in seen.items()}


def _chosen(
    among: Sequence[Quote],
    worth: dict[str, float],
    max_tokens: int,
    most: int,
    said: Sequence[Quote] = (),
) -> list[Quote]:
    """Return the sentences that tell most in few words and not twice, in their order.

    Maximal marginal relevance (Carbonell and Goldstein 1998), with words in place of vectors.
    `said` are sentences that stand in the summary already.
    """
    covered = {stem for one in said for stem in one.read.stems}
    chosen: list[Quote] = []
    new = [one for one in among if not any(same(one.read, other.read) for other in said)]
    pool = [one for one in new if one.read.numbers or len(set(one.read.stems)) >= FEW_WORDS] or new

    def value(one: Quote) -> float:
        stems = sorted(set(one.read.stems))
        total = math.fsum(worth[s] * (REPEATED if s in covered else 1.0) for s in stems)
        total *= (QUESTION if one.asks else 1.0) * (1.0 if one.user else BY_OTHERS)
        total *= (DECISION if one.read.decides else 1.0) * (NUMBER if one.read.numbers else 1.0)
        return total / math.pow(count(one.text), LENGTH_POWER)

    while pool and len(chosen) < most:
        best = max(pool, key=lambda one: (value(one), -one.at))
        more = sorted([*chosen, best], key=among.index)
        if count(lined_up(more)) <= max_tokens:
            chosen = more
            covered.update(best.read.stems)
        pool = [one for one in pool if one is not best and not same(one.read, best.read)]
    return chosen


def _paragraph(chosen: Sequence[Quote]) -> Paragraph:
    return Paragraph(lined_up(chosen), tuple(dict.fromkeys(one.source for one in chosen)))


def _prose(text: str, *, asks: bool) -> str:
    """Return a sentence with a capital and a mark at its end, without what only leads to it."""
    bare = text if asks or text.endswith(MARK) else statement(text)
    if not any(map(str.isalnum, bare)):
        return ""
    opened = bare[:1].upper() + bare[1:]
    return opened if _ENDED.search(opened) else f"{opened}."


def _of_summary(source: Source, language: str) -> Iterator[Quote]:
    """Yield the sentences of an L1, each with the speaker and the date that stand before it."""
    for at, piece in enumerate(source.pieces):
        speaker = date = ""
        for sentence in sentences(_LINK.sub(r"\1", piece.text)):
            text = sentence
            if dated := _DATED.match(text):
                date, speaker, text = dated[1], "", text[dated.end() :]
            if spoken := _SPEAKS.match(text):
                speaker, text = spoken[1], text[spoken.end() :]
            bare = read(clean(text), language)
            if bare.text and not bare.is_small_talk:
                yield Quote(bare.text, source.mark(piece), at, bare, speaker, date)
