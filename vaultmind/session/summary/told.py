"""What a language model says of a conversation, taken into its sliding summary line by line.

The summary is there already, made of what was said word for word. A model's line takes the place
of those that it says; where it has none that holds, they stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from vaultmind.session.summary.fold import packed, room
from vaultmind.session.summary.rolling import Kind, Line, Rolling, ordered
from vaultmind.session.summary.sentences import sentences, shortened, unmarked
from vaultmind.session.summary.standing import heard
from vaultmind.session.summary.weigh import (
    Sentence,
    kind_of,
    read,
    same,
    tell,
    telling_parts,
    weight,
)
from vaultmind.types import Message

LINE_TOKENS = 60
"""A longer line of a model is cut."""
SAYS = 0.5
"""Share of a line's content words that a model's line must have to say the same."""
MOST_TOOLS = 300
"""Lines on tools that a conversation keeps: of more, the newest."""


@dataclass(frozen=True, slots=True)
class ToldLine:
    """A sentence by a model, and the messages that say it."""

    text: str
    sources: tuple[str, ...]
    """The block ids of the messages, at least one, in their order."""
    kind: Kind = "other"


@dataclass(frozen=True, slots=True)
class Told:
    """What a model made of some messages. Each of its lines was held against them."""

    lines: tuple[ToldLine, ...]
    by: str
    """The model's id."""
    doubted: tuple[str, ...] = ()
    """The block ids of messages whose own words are to stay: it was not shown them, or said of
    them what they do not say."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The messages that a model was asked about, and where they stand in the conversation."""

    messages: tuple[Message, ...]
    at: Mapping[str, int]
    """The number of each message in the conversation, by block id."""
    known: frozenset[str]
    """The block ids of the lines that the summary had of them then."""

    @property
    def upto(self) -> str:
        """Return the block id of the last one."""
        return self.messages[-1].block


@dataclass(frozen=True, slots=True)
class _Read:
    line: Line
    sentence: Sentence


def with_told(
    rolling: Rolling, told: Told, asked: Asked, max_tokens: int, gone: Iterable[str] = ()
) -> Rolling:
    """Return a summary with a model's lines in place of those that they say.

    Of the lines of the messages asked about, the others stay where they decide, ask or count, or
    are of a message that the model said something wrong of. The person's own lines stay as they
    are: what they typed over or deleted meanwhile is not said again. `gone` are messages that may
    not be recalled any more, or do not say what they said when the model was asked.
    """
    lines = {one.block: one for one in rolling.lines}
    theirs = {one.source for one in rolling.lines if one.own and one.source}
    theirs |= _deleted(asked, lines.keys())
    texts = {one.block: one for one in asked.messages}
    barred = theirs.union(gone)
    fresh = [
        one
        for one in _lines_of(rolling, told, asked)
        if one.block not in lines and barred.isdisjoint(one.sources) and not _is_quoted(one, texts)
    ]
    done = replace(rolling, told=asked.upto)
    if not fresh:
        return done
    doubted = set(told.doubted)
    new = [_Read(one, read(one.text, rolling.language)) for one in fresh]
    kept = [
        one
        for one in rolling.lines
        if one.own
        or one.by
        or one.source not in texts
        or one.source in doubted
        or not _is_replaced(one, new, rolling.language)
    ]
    whole = replace(done, lines=ordered([*kept, *_weighed(kept, new, asked, rolling.language)]))
    return packed(whole, room(max_tokens, rolling.messages))


def with_tools(
    rolling: Rolling, told: Sequence[Told], asked: Asked, gone: Iterable[str] = ()
) -> Rolling:
    """Return a summary with what a model says that tools did."""
    known = {one.block for one in rolling.tools}
    barred = frozenset(gone)
    texts = {one.block: one for one in asked.messages}
    new = [
        Line(
            text=shortened(one.text, LINE_TOKENS, telling_parts),
            kind="other",
            block=f"u-{one.sources[0]}",
            source=one.sources[0],
            at=asked.at.get(one.sources[0], 0),
            speaker=texts[one.sources[0]].speaker,
            by=answer.by,
            heard=heard(texts[source].text for source in one.sources),
        )
        for answer in told
        for one in answer.lines
        if one.sources and barred.isdisjoint(one.sources) and texts.keys() >= set(one.sources)
    ]
    fresh = {one.block: one for one in new if one.block not in known}
    tools = (*rolling.tools, *fresh.values())
    spare = len(tools) - MOST_TOOLS
    ours = [one for one in tools if not one.own]
    dropped = {one.block for one in ours[:spare]} if spare > 0 else set()
    tools = tuple(one for one in tools if one.own or one.block not in dropped)
    return replace(rolling, tools=tools, tools_upto=asked.upto)


def _deleted(asked: Asked, there: Iterable[str]) -> set[str]:
    """Return the messages of which a line was there when the model was asked, and none is now.

    Folding drops lines too, of messages that say little: nothing is lost where a model's go.
    """
    gone = {block.rpartition("-")[0] for block in asked.known.difference(there)}
    return gone - {block.rpartition("-")[0] for block in there}


def _lines_of(rolling: Rolling, told: Told, asked: Asked) -> list[Line]:
    """Return a model's sentences as lines, each under the heading that its sources allow."""
    texts = {one.block: one for one in asked.messages}
    found: list[Line] = []
    for one in told.lines:
        if not one.sources or not texts.keys() >= set(one.sources):
            continue
        first, *also = one.sources
        number = sum(line.source == first for line in found) + 1
        said_ = [texts[source].text for source in one.sources]
        found.append(
            Line(
                text=shortened(one.text, LINE_TOKENS, telling_parts),
                kind=_kind(one, said_, rolling.language),
                block=f"{first}-s{number}",
                source=first,
                at=asked.at.get(first, 0),
                speaker=texts[first].speaker or texts[first].role,
                by=told.by,
                also=tuple(also),
                heard=heard(said_),
            )
        )
    return found


def _kind(line: ToldLine, texts: Sequence[str], language: str) -> Kind:
    """Return a line's heading: the model's, where its words or its sources bear that out."""
    own = kind_of(read(line.text, language))
    if own in ("decision", "question") or line.kind == own:
        return own
    said_ = [read(sentence, language) for text in texts for sentence in sentences(text)]
    if line.kind == "decision":
        return "decision" if any(one.decides for one in said_) else own
    if line.kind == "question":
        return "question" if any(one.asks or one.is_open for one in said_) else own
    return own if own == "fact" else line.kind


def _is_quoted(line: Line, texts: Mapping[str, Message]) -> bool:
    """Tell whether a line is a message's own words: those stand in the summary already."""
    words = "".join(unmarked(line.text).casefold().split())
    said_ = ("".join(texts[source].text.casefold().split()) for source in line.sources)
    return any(words in text for text in said_)


def _is_replaced(line: Line, new: Sequence[_Read], language: str) -> bool:
    """Tell whether a line may go, since a model's says it or it says nothing that must stay."""
    sentence = read(unmarked(line.text), language)
    if any(_says(one.sentence, sentence) for one in new):
        return True
    if line.kind in ("decision", "question") or sentence.numbers:
        return False
    return line.kind == "other" or any(line.source in one.line.sources for one in new)


def _says(told: Sentence, sentence: Sentence) -> bool:
    """Tell whether a model's sentence says a line: its numbers, and most of its words."""
    wanted = set(sentence.stems)
    if not wanted or not set(sentence.numbers) <= set(told.numbers):
        return False
    return same(told, sentence) or len(wanted & set(told.stems)) >= SAYS * len(wanted)


def _weighed(kept: Sequence[Line], new: Sequence[_Read], asked: Asked, language: str) -> list[Line]:
    """Return the new lines with their weights, told among all that the summary says."""
    users = {one.block for one in asked.messages if one.role == "user"}
    known = [read(unmarked(one.text), language) for one in kept]
    telling = tell([*known, *(one.sentence for one in new)])[len(known) :]
    return [
        replace(
            one.line,
            weight=weight(one.sentence, one.line.at, user=one.line.source in users, telling=share),
        )
        for one, share in zip(new, telling, strict=True)
    ]
