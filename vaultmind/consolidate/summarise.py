"""Summaries without a model: whole sentences of what was said, with their speakers.

Nothing is reworded, so nothing is made up, in whatever language the conversation was held. Pure.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from vaultmind.consolidate.talk import GAP, TO_THE_MEMORY, read_talk, statement
from vaultmind.consolidate.types import WORDS, Level
from vaultmind.language.text import MARK, plain_sentences
from vaultmind.redact import mask
from vaultmind.session.sentences import Sentence, read, same, shortened, telling_parts
from vaultmind.tokens import count
from vaultmind.types import Message
from vaultmind.vault.files import FileStat
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
BY_OTHERS = 0.65
"""Share of its worth that is left to a sentence that is not the user's."""
DECISION, NUMBER = 1.3, 1.2
"""What a decision, and a number, multiply a sentence's worth by."""
FEW_WORDS = 3
"""Sentences with fewer content words say little, unless they hold a number."""
_ENDED = re.compile(r"[.!?…。！？][\"'»”’)\]*_]*$")
_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]")
_DATED = re.compile(r"(\d{4}-\d\d-\d\d) · ")
_SPEAKS = re.compile(r"([^\W\d_][\w .'’-]{0,40}): (?=\S)")


@dataclass(frozen=True, slots=True)
class Source:
    """A session or an L1, as far as it may be recalled."""

    id: str
    started: str
    """ISO date or time."""
    pieces: tuple[Message, ...]
    """The messages of a session, the paragraphs of an L1; their ids are `<source>#<block>`."""
    ended: str = ""
    """ISO date of the last day that it speaks of."""
    path: str = ""
    stat: FileStat | None = None
    """What tells that the file has changed since it was read."""


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


Summarise = Callable[[Level, Sequence[Source], str, int], Summary]
"""Sums up sources in a language in at most so many tokens, links apart. It always does: where a
model cannot, `of_sources` does."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence that may stand in a summary."""

    text: str
    source: str
    """Key of its message, or the mark of its piece."""
    read: Sentence
    speaker: str = ""
    date: str = ""
    """ISO date that it speaks from; empty in the summary of one conversation."""
    user: bool = True
    asks: bool = False


def of_session(messages: Sequence[Message], language: str) -> Summary:
    """Return three to five sentences of a conversation; fewer where less was said."""
    quotes = _quotes(messages, language)
    found = chosen(quotes, worth_of(quotes), SESSION_TOKENS, SENTENCES)
    return Summary((_paragraph(found),) if found else ())


def of_sources(level: Level, sources: Sequence[Source], language: str, max_tokens: int) -> Summary:
    """Return a paragraph for each source, or for each few in a row, within `max_tokens`."""
    each = [quotes_of(level, one, language) for one in sources]
    worth = worth_of([quote for quotes in each for quote in quotes])
    number = min(GROUPS[level], len(sources))
    ends = [round(len(sources) * (at + 1) / number) for at in range(number)]
    paragraphs: list[Paragraph] = []
    said: list[Quote] = []
    for at, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        among = [quote for quotes in each[start:end] for quote in quotes]
        share = (max_tokens - count("\n\n".join(p.text for p in paragraphs))) // (number - at)
        if found := chosen(among, worth, share - 2, len(among), said):
            paragraphs.append(_paragraph(found))
            said += found
    return Summary(tuple(paragraphs))


def quotes_of(level: Level, source: Source, language: str) -> list[Quote]:
    """Return the sentences of a source that may be told, in order, each with its date."""
    found = _quotes(source.pieces, language) if level == "L1" else _of_summary(source, language)
    return [replace(one, date=one.date or source.started[:10]) for one in found]


def _quotes(messages: Sequence[Message], language: str) -> list[Quote]:
    """Return the sentences of a conversation that may be told, in order."""
    found = []
    for one in read_talk(messages).said:
        asks, message = one.fault == "question", messages[one.at]
        if GAP in one.text or one.fault not in (None, "question"):
            continue
        if one.intent.intent in TO_THE_MEMORY:
            continue
        text = _prose(clean(one.text), asks=asks)
        sentence = read(text, language)
        if text and not sentence.is_small_talk:
            user = message.role == "user"
            speaker = message.speaker or words(language)[3 if user else 4]
            asks = asks or sentence.asks
            found.append(Quote(text, one.key, sentence, speaker, user=user, asks=asks))
    return found


def clean(text: str) -> str:
    """Return a sentence as it may stand in a summary: one line, no links, no secrets."""
    bare = mask(_LINK.sub(r"\1", one_line(text))).text
    return shortened(bare, SENTENCE_TOKENS, telling_parts)


def lined_up(quotes: Iterable[Quote]) -> str:
    """Return sentences as a paragraph; who speaks, and when, stands where it changes."""
    said: list[str] = []
    date = speaker = ""
    for one in quotes:
        lead = f"{one.date} · " if one.date and one.date != date else ""
        if one.speaker and (lead or one.speaker != speaker):
            lead += f"{one.speaker}: "
        said.append(lead + one.text)
        date, speaker = one.date or date, one.speaker
    return " ".join(said)


def words(language: str) -> Sequence[str]:
    """Return the headings of an L1 and an L2, what is told of empty talk, and two speakers."""
    found: Sequence[str] = WORDS["levels"].get(language, WORDS["levels"]["en"])
    return found


def worth_of(quotes: Sequence[Quote]) -> dict[str, float]:
    """Return what each stem is worth: how rare it is among the sentences."""
    seen = Counter(stem for one in quotes for stem in set(one.read.stems))
    return {stem: math.log((1 + len(quotes)) / often) for stem, often in seen.items()}


def chosen(
    among: Sequence[Quote],
    worth: dict[str, float],
    max_tokens: int,
    most: int,
    said: Sequence[Quote] = (),
) -> list[Quote]:
    """Return the sentences that tell most in few words and not twice, in their order.

    What was asked is told only where nothing else was said.

    Maximal marginal relevance (Carbonell and Goldstein 1998), with words in place of vectors.
    `said` are sentences that stand in the summary already.
    """
    covered = {stem for one in said for stem in one.read.stems}
    found: list[Quote] = []
    told = [one for one in among if not one.asks] or among
    new = [one for one in told if not any(same(one.read, other.read) for other in said)]
    pool = [one for one in new if one.read.numbers or len(set(one.read.stems)) >= FEW_WORDS] or new

    def value(one: Quote) -> float:
        stems = sorted(set(one.read.stems))
        total = math.fsum(worth[s] * (REPEATED if s in covered else 1.0) for s in stems)
        total *= 1.0 if one.user else BY_OTHERS
        total *= (DECISION if one.read.decides else 1.0) * (NUMBER if one.read.numbers else 1.0)
        return total / math.pow(count(one.text), LENGTH_POWER)

    while pool and len(found) < most:
        best = max(pool, key=value)
        more = sorted([*found, best], key=among.index)
        if count(lined_up(more)) <= max_tokens:
            found = more
            covered.update(best.read.stems)
        pool = [one for one in pool if one is not best and not same(one.read, best.read)]
    return found


def _paragraph(found: Sequence[Quote]) -> Paragraph:
    return Paragraph(lined_up(found), tuple(dict.fromkeys(one.source for one in found)))


def _prose(text: str, *, asks: bool) -> str:
    """Return a sentence with a capital and a mark at its end, without what only leads to it."""
    bare = text if asks or text.endswith(MARK) else statement(text)
    if not any(map(str.isalnum, bare)):
        return ""
    opened = bare[:1].upper() + bare[1:]
    return opened if _ENDED.search(opened) else f"{opened}."


def _of_summary(source: Source, language: str) -> Iterator[Quote]:
    """Yield the sentences of an L1, each with the speaker and the date that stand before it."""
    for piece in source.pieces:
        speaker = date = ""
        for sentence in plain_sentences(_LINK.sub(r"\1", piece.text)):
            text = sentence
            if dated := _DATED.match(text):
                date, speaker, text = dated[1], "", text[dated.end() :]
            if spoken := _SPEAKS.match(text):
                speaker, text = spoken[1], text[spoken.end() :]
            bare = read(clean(text), language)
            if bare.text and not bare.is_small_talk:
                yield Quote(bare.text, piece.id, bare, speaker, date)
