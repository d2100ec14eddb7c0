"""A context as data: what it is for, its ordered parts, what was left out and why.

A part is filled with pieces, the best first, while they fit; they are shown in an order of their
own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from vaultmind.tokens import count, size_of

PartName = Literal[
    "identity", "brain", "active context", "summary", "earlier", "memory", "associations",
    "history", "window", "tools",
]  # fmt: skip
PART_NAMES: tuple[PartName, ...] = get_args(PartName)
"""In the order in which they are shown. `history` is a sub-agent's, in the place of all that is
recalled from a conversation; `window` ends in the pending messages."""


@dataclass(frozen=True, slots=True)
class Recent:
    """Another conversation, as the start of one tells of it."""

    session: str
    line: str
    """When it was, with which client, in which project, and its title."""
    title: str
    running: bool


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What a context is built for."""

    agent: str
    session: str = ""
    """Empty: the agent's latest; one that has ended is so for a person alone."""
    pending: tuple[str, ...] = ()
    """The user's messages that wait for an answer. None: what the user said last, unanswered."""
    budget: int | None = None
    """Tokens of all parts together; None: `context.max_tokens`, with the caps of each part."""
    task: str = ""
    """The name of a scheduled sub-agent's task: its runs take the place of the conversation."""
    tools: str = ""
    """What the caller says of its tools and skills."""
    frame_tokens: int = 0
    """What a surface puts around each part: counted in the total."""
    without: frozenset[PartName] = frozenset()
    """Parts that are not wanted."""
    known: frozenset[str] = frozenset()
    """Keys (ids, or block ids) of messages that the host shows anyway: not recalled again."""
    shown: tuple[str, ...] = ()
    """Texts that the host was given in this conversation already: not recalled again."""
    fresh: bool = False
    """Nothing of the conversation is written down yet: none is looked at, not the latest either."""
    others: tuple[Recent, ...] = ()
    """Other conversations of the last days, the newest first, which are told of in a line each."""
    untitled: bool = False
    """Whether the surface names the parts itself."""


@dataclass(frozen=True, slots=True)
class Part:
    """One share of a context."""

    name: PartName
    text: str
    tokens: int
    sources: tuple[str, ...] = ()
    """Where it comes from: vault-relative paths, with an anchor where there is one."""
    messages: tuple[str, ...] = ()
    """Ids (block ids where a message has none) of the messages whose full text stands in it."""
    why: str = ""
    """Why it is there, in words, where that is not obvious: what was recalled and how well."""


NO_ROOM = "no room"
"""Why most of what is dropped is."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """What is not in a context, and why, in words."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class BuiltContext:
    """What an agent is given before it answers; never more than its budget."""

    agent: str
    session: str
    """Empty where there is no conversation."""
    segment: int
    budget: int
    tokens: int
    """Of all parts together, as they are counted when they are shown one after the other."""
    parts: tuple[Part, ...]
    dropped: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = ()
    """What a person should know: the index is loading, a file cannot be read, ..."""


BETWEEN, BETWEEN_TOKENS = "\n\n", 3
"""What stands between two parts, and what that costs, with what rounded estimates miss."""


def more_than(room: int, key: str) -> str:
    """Return why something is left out, and what to raise."""
    return f"more than {room:,} tokens (raise the budget or {key})"


# --- filling a part -----------------------------------------------------------------------

DAY_TOKENS = 10
"""What a line with a date costs at most."""
SHOWN, OUTDATED = "already in the context", "a newer fact contradicts it"
"""Why something is left out."""
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that may stand in a part, and why it may not."""

    texts: tuple[str, ...]
    """As it may be shown: the first that fits is."""
    at: int = 0
    """Its place among the others."""
    day: str = ""
    """The day that it is from, which stands above it where there are several."""
    key: str = ""
    """Of the message that its first text holds whole."""
    source: str = ""
    says: str = ""
    """Its bare words: they are not said twice."""
    why: str = ""
    """Why it is here, in words."""
    reason: str = ""
    """Why it is left out."""


def bare(text: str) -> str:
    """Return a text's words, by which it is told whether something was said already."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def filled(
    title: str,
    pieces: Iterable[Piece],
    room: int,
    limit: tuple[str, int | None],
    known: str = "",
    *,
    unbroken: bool = False,
) -> tuple[list[Piece], list[Piece]]:
    """Return the pieces that fit a room, in their order, and the others with the reason.

    `pieces` come best first; `limit` is the section of the configuration that limits them, and how
    many there may be. What the `known` bare words hold is said already. Where they are to be
    `unbroken`, what comes after the first that does not fit is not looked at.
    """
    section, most = limit
    kept, out, days = list[Piece](), list[Piece](), set[str]()
    left = room - size_of(f"{title}\n")
    for one in pieces:
        dates = DAY_TOKENS * (1 + (len(days) == 1)) if days and one.day not in days else 0
        costs = ((text, size_of(f"{text}\n") + dates) for text in one.texts)
        text, cost = next((it for it in costs if it[1] <= left), ("", 0.0))
        reason = one.reason or (SHOWN if one.says and one.says in known else "")
        if not reason and most is not None and len(kept) >= most:
            reason = f"only the best {most} are shown (raise {section}.top_k)"
        if not reason and not text:
            reason = more_than(room, f"{section}.max_tokens")
        if reason:
            out.append(replace(one, reason=reason))
            if unbroken:
                break
            continue
        kept.append(replace(one, texts=(text,), key=one.key if text == one.texts[0] else ""))
        days |= {one.day} - {""}
        known += one.says
        left -= cost
    return sorted(kept, key=lambda one: one.at), out


def part_of(name: PartName, title: str, kept: Sequence[Piece], why: str = "") -> Part | None:
    """Return the part that pieces make; None for none."""
    text = "\n".join([title, *dated(kept)])
    sources = tuple(dict.fromkeys(one.source for one in kept if one.source))
    keys = tuple(one.key for one in kept if one.key)
    why = why or ", ".join(one.why for one in kept)
    return Part(name, text, count(text), sources, keys, why) if kept else None


def dated(pieces: Iterable[Piece]) -> list[str]:
    """Return pieces as they are shown, with a date where a day begins if there are several.

    A question of when is answered by them. A piece without a day belongs to that before it.
    """
    shown, day = list[str](), ""
    several = len({one.day for one in pieces} - {""}) > 1
    for one in pieces:
        if several and one.day not in ("", day):
            day = one.day
            shown.append(f"— {day} —")
        shown += one.texts
    return shown
