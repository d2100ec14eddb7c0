"""Auto-RAG: whether to look back before an answer, and what of it to show. Pure.

Who calls reserves `reserve` tokens, cuts the window to the rest, calls `recall` with what the
window holds, and gives the window back what was not spent.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

from vaultmind.ports import Embedder
from vaultmind.session.recall.asking import NO_QUESTION, says_something
from vaultmind.session.recall.dates import dated
from vaultmind.session.recall.segment import (
    DEPTH,
    START_MESSAGES,
    Answer,
    Query,
    Recalled,
    Scope,
    SegmentIndex,
)
from vaultmind.session.recall.triggers import Trigger, find_trigger, phrases, small_words
from vaultmind.tokens import clip, count

TOP_K, MAX_TOKENS = 3, 400
BUDGET_SHARE = 0.4
"""Of an explicit budget that may be spent, without a top-k."""
RELEVANCE = 0.5
"""The best distance may be so much: 1 minus the relevance of the best message."""
RELEVANCE_TRIGGERED = 0.3
"""Where something points back, a fainter match will do: the user says that there is one."""
BY_WORDS_ALONE = 0.4
"""Factor of both where there are no vectors: the words of a question are half of what it says."""
OTHERS = 0.5
"""Of the threshold that each further message, or one beside it, must have where only a few are
shown."""
ONE_WORD = 0.75
"""Relevance that a query of a single telling word needs: it is often no question at all."""
WEAK_IN_WINDOW = 0.25
"""Below it nothing in the window is about the query: what it is about may be further back."""
TOKENS_A_MESSAGE = 10
"""What a message costs at least: how deep a budget reaches."""
DAY_TOKENS = 9
"""What a line with a date costs at most."""
LEAST_LINE = 6
"""No message costs less: who said it, where it stands, a word."""
MIN_CUT_TOKENS = 40
"""A message is cut to no less than so much; it is left out instead."""


@dataclass(frozen=True, slots=True)
class AutoRagSettings:
    """What may be spent, and on how good a match."""

    enabled: bool = True
    top_k: int = TOP_K
    max_tokens: int = MAX_TOKENS
    relevance: float = RELEVANCE
    """The greatest distance of the best match, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What the conversation looks like before an answer."""

    messages: int
    """Of the segment, without the pending ones."""
    tokens: int
    window_messages: int
    window_tokens: int
    """What the window may hold if nothing is recalled."""
    subagent: bool = False


@dataclass(frozen=True, slots=True)
class Room:
    """What may be spent."""

    tokens: int
    top_k: int | None
    """Messages at most; None: as many as fit."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to recall."""

    pending: tuple[str, ...]
    """The user's messages that wait for an answer."""
    segment: int
    window: frozenset[str]
    """Keys of the messages that are shown anyway."""
    room: Room
    language: str = "en"
    relevance: float = RELEVANCE


@dataclass(frozen=True, slots=True)
class Block:
    """What is shown, and why, or why nothing is."""

    text: str = ""
    tokens: int = 0
    messages: tuple[str, ...] = ()
    """Keys of those whose whole text stands in the block, in the order they were said."""
    cut: tuple[str, ...] = ()
    """Keys of those whose beginning stands there."""
    best: float = 0.0
    """The relevance of the best match, shown or not."""
    trigger: Trigger = field(default_factory=Trigger)
    reason: str = ""
    """Why nothing, in words; empty where something is shown."""
    left_out: int = 0
    """Messages that were found and are not shown, ..."""
    full: Literal["", "top_k", "tokens"] = ""
    """... and what they are too many for."""


def why_not(settings: AutoRagSettings, situation: Situation) -> str:
    """Return why nothing is looked for, in words; empty where it should be."""
    if not settings.enabled:
        return "switched off"
    if situation.subagent:
        return "a sub-agent has its runs instead"
    fits = situation.messages <= situation.window_messages
    if fits and situation.tokens <= situation.window_tokens:
        return "the whole segment fits the window"
    return ""


def room_of(settings: AutoRagSettings, budget: int | None = None) -> Room:
    """Return what may be spent: the default, or its share of a budget that was asked for."""
    if budget is None:
        return Room(settings.max_tokens, settings.top_k)
    return Room(int(BUDGET_SHARE * budget), None)


def recall(index: SegmentIndex, request: Request, embedder: Embedder | None = None) -> Block:
    """Return what was said earlier about the pending messages, within the room.

    Without an embedder, words alone decide. Something that points back widens the search from the
    segment to the session, and so do weak matches in the window.
    """
    text = "\n".join(request.pending).strip()
    if not text or request.room.tokens < 1:
        return Block(reason="nothing was asked" if not text else "no room")
    trigger = find_trigger(text)
    vector = embedder.embed_query(text) if embedder is not None else None
    query = Query(text, vector, small_words(), trigger.kind == "start")
    depth = DEPTH if request.room.top_k else max(DEPTH, request.room.tokens // TOKENS_A_MESSAGE)
    scope = Scope(None if trigger else request.segment, request.window, depth)
    answer = index.search(query, scope)
    least = threshold(request.relevance, trigger, by_words=vector is None)
    single = answer.telling == 1 and not trigger and least < ONE_WORD
    if single:
        least = ONE_WORD
    if not trigger and answer.best < least and answer.telling and _weak(answer, least):
        wider = index.search(query, Scope(None, request.window, depth))
        if wider.best >= least:
            answer, trigger = wider, Trigger("weak")
    if not answer.telling and trigger.kind != "start":
        return Block(trigger=trigger, best=answer.best, reason="nothing in it to look for")
    if answer.best < least and trigger.kind != "start":
        return Block(
            trigger=trigger,
            best=answer.best,
            reason=_too_weak(answer.best, least, request, single=single),
        )
    if trigger.kind == "start":
        return _block(_of_the_beginning(answer, least), request, answer.best, trigger)
    floor = OTHERS * least if request.room.top_k else 0.0
    hits = [hit for hit in answer.hits if hit.around >= floor]
    return _block(hits, request, answer.best, trigger)


def _of_the_beginning(answer: Answer, least: float) -> list[Recalled]:
    """Return what answers a question about the beginning, of the first messages if any does.

    Where none does, those of the first that say anything; all where nothing more is asked.
    """
    early = [hit for hit in answer.hits if hit.place < START_MESSAGES]
    if not answer.telling:
        return early
    for hits in (early, answer.hits):
        enough = max(least, OTHERS * max((hit.relevance for hit in hits), default=0.0))
        if good := [hit for hit in hits if hit.relevance >= enough]:
            return sorted(good, key=lambda hit: -hit.relevance)
    return [hit for hit in early if says_something(hit.message.text, NO_QUESTION)]


def threshold(distance: float, trigger: Trigger, *, by_words: bool) -> float:
    """Return the relevance that the best match must have, for a greatest distance."""
    least = 1.0 - distance
    if trigger:
        least *= RELEVANCE_TRIGGERED / RELEVANCE
    return least * BY_WORDS_ALONE if by_words else least


def _weak(answer: Answer, least: float) -> bool:
    return answer.in_window < min(WEAK_IN_WINDOW, least)


def _too_weak(best: float, least: float, request: Request, *, single: bool) -> str:
    """Return in words, on the scale of the setting, why the best match is not good enough."""
    most = " for a question of one telling word" if single else ""
    return (
        f"the best match is at distance {1 - best:.2f}, more than {1 - least:.2f}{most}"
        f" (auto_rag.relevance is {request.relevance:.2f})"
    )


def _block(hits: Sequence[Recalled], request: Request, best: float, trigger: Trigger) -> Block:
    """Return as many of the best as there is room for, in the order they were said."""
    words = phrases(request.language)
    roles = {"user": words.user, "assistant": words.assistant}
    left = request.room.tokens - count(f"{words.header}\n")
    most = request.room.top_k or len(hits)
    lines: list[tuple[int, str, str]] = []
    days: set[str] = set()
    whole: dict[int, str] = {}
    cut: list[str] = []
    for hit in hits:
        if len(lines) >= most or left < LEAST_LINE:
            break
        if hit.message.tokens > left and not request.room.top_k:
            continue
        line, day = _line(hit, roles), hit.message.day
        dates = _dates_cost(days, day)
        left -= dates
        cost = count(f"{line}\n")
        if cost > left and request.room.top_k and left >= MIN_CUT_TOKENS and not cut:
            line = clip(line, left - 1)
            cost = count(f"{line}\n")
            cut.append(hit.message.key)
        elif cost > left:
            left += dates
            continue
        else:
            whole[hit.place] = hit.message.key
        lines.append((hit.place, line, day))
        days.add(day)
        left -= cost
    if not lines:
        reason = "nothing fits"
        return Block(
            best=best, trigger=trigger, reason=reason, left_out=len(hits), full=_full(0, most)
        )
    text = "\n".join([words.header, *dated([(day, line) for _, line, day in sorted(lines)])])
    keys = tuple(whole[place] for place in sorted(whole))
    rest = len(hits) - len(lines)
    full = _full(len(lines), most) if rest else ""
    return Block(text, count(text), keys, tuple(cut), best, trigger, left_out=rest, full=full)


def _full(shown: int, most: int) -> Literal["top_k", "tokens"]:
    return "top_k" if shown >= most else "tokens"


def _dates_cost(days: Collection[str], day: str) -> int:
    """Return what a message of a day costs in dates: none are shown for a single one."""
    if not day or day in days or not (known := len(set(days) - {""})):
        return 0
    return DAY_TOKENS * (2 if known == 1 else 1)


def _line(hit: Recalled, roles: dict[str, str]) -> str:
    """Return a message as it is shown: who said it, where it stands, its words."""
    message = hit.message
    who = roles.get(message.role, message.role)
    named = f"{who} {message.speaker}" if message.speaker else who
    return f"{' '.join(part for part in (named, message.link) if part)}: {message.text.strip()}"
