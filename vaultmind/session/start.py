"""What an agent knows when a conversation begins: identity, brain, active context.

Each has a share of the budget that is its own, and what one leaves over flows to the next: the
identity first, then the brain, then the active context. What does not fit is named in the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from vaultmind.errors import BadArgument
from vaultmind.index.words.language import detect
from vaultmind.memory.brain import (
    MEND,
    WRITING_WAITS,
    PlacedFact,
    fault,
    parse_brain,
    sound_text,
)
from vaultmind.memory.dated import OUTDATED, superseded, with_days
from vaultmind.session.active import Recent, speaks_of, told_beside
from vaultmind.session.files import Hides, Shows, plain_text, read_text
from vaultmind.session.parts import NO_ROOM, Dropped
from vaultmind.session.sentences import headings
from vaultmind.tokens import clip, count
from vaultmind.types import Caller
from vaultmind.vault.bullets import HEADING
from vaultmind.vault.files import VaultReader
from vaultmind.vault.parts import without_hidden
from vaultmind.vault.paths import agent_name

PartName = Literal["identity", "brain", "active context"]
ACTIVE_TOKENS = 120
"""Where the last conversation stopped has so much room, or half of a budget that is small."""
MIN_TOKENS = 20
"""A text cut to less says nothing and is left out whole."""
OTHERS_TOKENS = 120
"""Room of other conversations' lines; over budget they go with the active context."""

_IMPORTANCE = {"current": 0, None: 1, "decisions": 2, "preferences": 3, "user": 4}
"""Sections whose facts go first; `None` is a heading of the person's own."""


@dataclass(frozen=True, slots=True)
class ContextPart:
    """One file's share of the context."""

    name: PartName
    text: str
    tokens: int
    path: str


@dataclass(frozen=True, slots=True)
class StartContext:
    """The context at session start, within its budget."""

    agent: str
    parts: tuple[ContextPart, ...]
    tokens: int
    dropped: tuple[Dropped, ...] = ()
    """What did not fit or could not be read, and why."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return the same in words."""
        return tuple(
            one.what if one.reason == NO_ROOM else f"{one.what} ({one.reason})"
            for one in self.dropped
        )


@dataclass(frozen=True, slots=True)
class Beginning:
    """Whose conversation begins, and what else is to be known of it."""

    agent: str
    caller: Caller
    max_tokens: int = 800
    session: str = ""
    """The conversation's own, where it goes on: nothing is told of it."""
    others: tuple[Recent, ...] = ()
    """Other conversations of the last days, the newest first."""


def start_context(
    reader: VaultReader, begins: Beginning, *, shows: Shows, hides: Hides
) -> StartContext:
    """Return what an agent knows at the start, in as many tokens as it may have.

    Only files that `shows` lets the caller see are read; a missing or damaged one is left out,
    and so is what `hides` knows for forgotten.
    """
    max_tokens = begins.max_tokens
    if max_tokens < 1:
        raise BadArgument("max_tokens", max_tokens, "1 or more")
    agent, caller = agent_name(begins.agent), begins.caller
    left_out: list[Dropped] = []
    files = _files(reader, agent, caller, shows, left_out)
    identity = plain_text(files["identity"])
    record = reader.paths.active_context(agent).removesuffix(".md")
    shown = without_hidden(files["active context"], lambda block: hides(agent, record, block))
    others = _others(reader, agent, begins, shows, speaks_of(shown))
    active = "\n\n".join(filter(None, (plain_text(told_beside(shown, begins.session)), others)))
    facts = _current(files["brain"], left_out)
    brain = _plain_brain(facts)
    needs = (count(identity), count(brain), count(active))
    rooms = _rooms(needs, max_tokens)
    if needs[0] > rooms[0]:
        identity = clip(identity, rooms[0])
        left_out.append(Dropped("part of the identity", NO_ROOM))
    if needs[1] > rooms[1]:
        brain = _cut_brain(facts, rooms[1], left_out)
    room = max_tokens - count(identity) - count(brain)
    if needs[2] > room:
        active = _cut_active(active, room, left_out)
    texts: tuple[tuple[PartName, str], ...] = (
        ("identity", identity),
        ("brain", brain),
        ("active context", active),
    )
    names = dict(_paths(reader, agent))
    parts = tuple(ContextPart(n, text, count(text), names[n]) for n, text in texts if text)
    return StartContext(agent, parts, sum(part.tokens for part in parts), tuple(left_out))


def _others(reader: VaultReader, agent: str, begins: Beginning, shows: Shows, told: str) -> str:
    """Return what goes on in other conversations, and what was before the one that is `told`."""
    paths = reader.paths
    seen = [
        one
        for one in begins.others
        if shows(paths.session(agent, one.session), begins.caller)
        and f"/{one.session}]]" not in told
    ]
    titles = headings(detect("\n".join(one.line for one in seen)) or "en")
    sections, room = list[str](), OTHERS_TOKENS
    for title, running in (("beside", True), ("before", False)):
        lines = list[str]()
        for one in seen:
            line = f"- {one.line}"
            if one.running is running and count(line) <= room:
                lines.append(line)
                room -= count(line)
        if lines:
            sections.append("\n".join([f"## {titles[title]}", *lines]))
    return "\n\n".join(sections)


def _paths(reader: VaultReader, agent: str) -> tuple[tuple[PartName, str], ...]:
    paths = reader.paths
    return (
        ("identity", paths.identity(agent)),
        ("brain", paths.brain(agent)),
        ("active context", paths.active_context(agent)),
    )


def _files(
    reader: VaultReader, agent: str, caller: Caller, shows: Shows, left_out: list[Dropped]
) -> dict[PartName, str]:
    """Return the three files' texts, empty where there is none or the caller may not see it."""
    texts: dict[PartName, str] = {}
    for name, path in _paths(reader, agent):
        text, reason = read_text(reader, path) if shows(path, caller) else ("", "")
        broken = fault(text) if name == "brain" else ""
        if name == "brain":
            text, damaged = sound_text(text)
            reason = reason or damaged
        if reason:
            what = f"part of the {name}" if text.strip() else f"the {name}"
            mend = f"{WRITING_WAITS} {MEND}" if name == "brain" else MEND
            left_out.append(Dropped(what, f"{path}: {reason}. {mend}"))
        if broken:
            left_out.append(Dropped("the front matter of the brain", f"{path}: {broken}. {MEND}"))
        texts[name] = text
    return texts


def _rooms(needs: tuple[int, int, int], budget: int) -> list[int]:
    """Return what identity, brain and active context may take of a budget, by what they need."""
    active = min(ACTIVE_TOKENS, budget // 2)
    floors = (*[(budget - active) // 2] * 2, active)
    rooms = [min(need, floor) for need, floor in zip(needs, floors, strict=True)]
    for at, need in enumerate(needs):
        rooms[at] += min(need - rooms[at], budget - sum(rooms))
    return rooms


def _current(text: str, left_out: list[Dropped]) -> str:
    """Return a brain without facts that a newer one contradicts, but for those with others below.

    The file keeps them: which of the two holds is the person's to say.
    """
    placed = parse_brain(text).facts
    old = superseded([(one.fact.text, one.fact.written) for one in placed])
    gone = [placed[at] for at in sorted(old) if placed[at].tree_end == placed[at].end]
    left_out += [Dropped(f"a fact of {one.fact.written}", OUTDATED) for one in gone]
    return _rest(text, gone)


def _cut_active(text: str, room: int, left_out: list[Dropped]) -> str:
    """Return as much of the active context as there is room for: whole lines if they fit."""
    if room < MIN_TOKENS:
        left_out.append(Dropped("the active context", NO_ROOM))
        return ""
    left_out.append(Dropped("part of the active context", NO_ROOM))
    lines = clip(text, room, mark="").split("\n")[:-1]
    while lines and (not lines[-1].strip() or HEADING.match(lines[-1])):
        lines.pop()
    whole = "\n".join(lines)
    return whole if count(whole) >= MIN_TOKENS else clip(text, room)


def _cut_brain(text: str, room: int, left_out: list[Dropped]) -> str:
    """Return a brain without as many of its least important facts as must go."""
    facts = sorted(parse_brain(text).facts, key=_importance)
    low, high = 1, len(facts)
    while low < high:
        middle = (low + high) // 2
        if count(_without(text, facts[:middle])) <= room:
            high = middle
        else:
            low = middle + 1
    brain = _without(text, facts[:low])
    if facts:
        words = "the least important fact" if low == 1 else f"{low} of the least important facts"
        what = words if low < len(facts) else f"all {len(facts)} facts"
        left_out.append(Dropped(what, NO_ROOM))
    if count(brain) > room:
        what = "the rest of the brain" if room < MIN_TOKENS else "part of the brain"
        left_out.append(Dropped(what, NO_ROOM))
        brain = clip(brain, room) if room >= MIN_TOKENS else ""
    return brain


def _importance(placed: PlacedFact) -> tuple[int, bool, str, int]:
    """Return what sorts facts, least important first.

    By section; in a section what we wrote before what the person typed, then the older.
    """
    fact = placed.fact
    return _IMPORTANCE[fact.section], not fact.written, fact.written, placed.start


def _without(text: str, facts: Sequence[PlacedFact]) -> str:
    """Return a brain as a model reads it, without some facts and what is nested under them."""
    return _plain_brain(_rest(text, facts))


def _plain_brain(text: str) -> str:
    return plain_text(with_days(text))


def _rest(text: str, facts: Sequence[PlacedFact]) -> str:
    kept: list[str] = []
    position = 0
    for placed in sorted(facts, key=lambda one: one.start):
        if placed.start >= position:
            kept.append(text[position : placed.start])
        stop = text.find("\n", placed.tree_end)
        position = max(position, stop + 1 if stop >= 0 else len(text))
    return "".join((*kept, text[position:]))
