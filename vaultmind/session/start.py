"""What an agent knows when a conversation begins: identity, brain, active context.

Each has a share of the budget that is its own, and what one leaves over flows to the next: the
identity first, then the brain, then the active context. What does not fit is named in the answer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from vaultmind.errors import BadArgument
from vaultmind.index.words.language import detect
from vaultmind.memory import brain as facts_in
from vaultmind.memory.brain import MEND, WRITING_WAITS, PlacedFact, parse_brain
from vaultmind.memory.contradictions import OUTDATED, superseded, with_days
from vaultmind.session.active import Recent, speaks_of
from vaultmind.session.files import Hides, Shows, plain_text, read_text
from vaultmind.session.parts import NO_ROOM, Dropped
from vaultmind.session.sentences import headings
from vaultmind.session.summary import section_text
from vaultmind.tokens import clip, count
from vaultmind.types import Caller
from vaultmind.vault.files import VaultReader
from vaultmind.vault.parts import without_hidden
from vaultmind.vault.paths import SESSION_ID, VaultPaths, agent_name

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
        told = ((one.what, "" if one.reason == NO_ROOM else one.reason) for one in self.dropped)
        return tuple(f"{what} ({reason})" if reason else what for what, reason in told)


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


def files_of(paths: VaultPaths, agent: str) -> dict[PartName, str]:
    """Return where what an agent knows at the start stands, vault-relative."""
    return {
        "identity": paths.identity(agent),
        "brain": paths.brain(agent),
        "active context": paths.active_context(agent),
    }


def start_context(
    reader: VaultReader, begins: Beginning, *, shows: Shows, hides: Hides
) -> StartContext:
    """Return what an agent knows at the start, in as many tokens as it may have.

    Only files that `shows` lets the caller see are read; a missing or damaged one is left out,
    and so is what `hides` knows for forgotten.
    """
    budget = begins.max_tokens
    if budget < 1:
        raise BadArgument("max_tokens", budget, "1 or more")
    agent, dropped, paths = agent_name(begins.agent), list[Dropped](), reader.paths
    files = files_of(paths, agent)
    read = {
        name: _readable(reader, name, path, dropped) if shows(path, begins.caller) else ""
        for name, path in files.items()
    }
    record = files["active context"].removesuffix(".md")
    last = without_hidden(read["active context"], lambda block: hides(agent, record, block))
    others = _others(reader, begins, shows, speaks_of(last))
    if begins.session and begins.session in SESSION_ID.findall(speaks_of(last)):
        dropped.append(Dropped("the active context", "it is of this conversation"))
        last = ""
    active = "\n\n".join(filter(None, (plain_text(last), others)))
    facts, identity = _current(read["brain"], dropped), plain_text(read["identity"])
    brain = plain_text(with_days(facts))
    rooms = _rooms((count(identity), count(brain), count(active)), budget)
    if count(identity) > rooms[0]:
        identity = clip(identity, rooms[0])
        dropped.append(Dropped("part of the identity", NO_ROOM))
    if count(brain) > rooms[1]:
        brain = _cut_brain(facts, rooms[1], dropped)
    room = budget - count(identity) - count(brain)
    if count(active) > room:
        active = _cut_active(active, room, dropped)
    shown = zip(files.items(), (identity, brain, active), strict=True)
    parts = tuple(
        ContextPart(name, text, count(text), path) for (name, path), text in shown if text
    )
    return StartContext(agent, parts, sum(part.tokens for part in parts), tuple(dropped))


def _others(reader: VaultReader, begins: Beginning, shows: Shows, told: str) -> str:
    """Return what goes on in other conversations, and what was before the one that is `told`."""
    seen = [
        one
        for one in begins.others
        if shows(reader.paths.session(begins.agent, one.session), begins.caller)
        and f"/{one.session}]]" not in told
    ]
    titles = headings(detect("\n".join(one.line for one in seen)) or "en")
    kept: dict[bool, list[str]] = {True: [], False: []}
    room = OTHERS_TOKENS
    for one in sorted(seen, key=lambda one: not one.running):
        if (cost := count(f"- {one.line}")) <= room:
            kept[one.running].append(one.line)
            room -= cost
    named = ((titles["beside" if running else "before"], lines) for running, lines in kept.items())
    return "\n\n".join(section_text(title, lines) for title, lines in named if lines)


def _readable(reader: VaultReader, name: PartName, path: str, dropped: list[Dropped]) -> str:
    """Return what can be read of a file; what cannot is named, and how to mend it."""
    text, reason = read_text(reader, path)
    mend = MEND
    if name == "brain":
        if broken := facts_in.fault(text):
            dropped.append(Dropped("the front matter of the brain", f"{path}: {broken}. {MEND}"))
        text, damaged = facts_in.sound_text(text)
        reason, mend = reason or damaged, f"{WRITING_WAITS} {MEND}"
    if reason:
        what = f"part of the {name}" if text.strip() else f"the {name}"
        dropped.append(Dropped(what, f"{path}: {reason}. {mend}"))
    return text


def _rooms(needs: tuple[int, int, int], budget: int) -> list[int]:
    """Return what identity, brain and active context may take of a budget, by what they need."""
    active = min(ACTIVE_TOKENS, budget // 2)
    floors = (*[(budget - active) // 2] * 2, active)
    rooms = [min(need, floor) for need, floor in zip(needs, floors, strict=True)]
    for at, need in enumerate(needs):
        rooms[at] += min(need - rooms[at], budget - sum(rooms))
    return rooms


def _current(text: str, dropped: list[Dropped]) -> str:
    """Return a brain without facts that a newer one contradicts, but for those with others below.

    The file keeps them: which of the two holds is the person's to say.
    """
    placed = parse_brain(text).facts
    old = superseded([(one.fact.text, one.fact.written) for one in placed])
    gone = [placed[at] for at in sorted(old) if placed[at].tree_end == placed[at].end]
    dropped += [Dropped(f"a fact of {one.fact.written}", OUTDATED) for one in gone]
    return _without(text, gone)


def _cut_active(text: str, room: int, dropped: list[Dropped]) -> str:
    """Return as much of the active context as there is room for."""
    fits = room >= MIN_TOKENS
    dropped.append(Dropped("part of the active context" if fits else "the active context", NO_ROOM))
    return clip(text, room) if fits else ""


def _cut_brain(text: str, room: int, dropped: list[Dropped]) -> str:
    """Return a brain without as many of its least important facts as must go.

    By section; in a section what we wrote goes before what the person typed, then the older.
    """

    def importance(one: PlacedFact) -> tuple[int, bool, str, int]:
        fact = one.fact
        return _IMPORTANCE[fact.section], not fact.written, fact.written, one.start

    facts = sorted(parse_brain(text).facts, key=importance)

    def less(many: int) -> str:
        return plain_text(with_days(_without(text, facts[:many])))

    gone = bisect_left(range(len(facts)), True, key=lambda many: count(less(many)) <= room)
    brain = less(gone)
    if facts:
        words = "the least important fact" if gone == 1 else f"{gone} of the least important facts"
        dropped.append(Dropped(words if gone < len(facts) else f"all {gone} facts", NO_ROOM))
    if count(brain) > room:
        what = "the rest of the brain" if room < MIN_TOKENS else "part of the brain"
        dropped.append(Dropped(what, NO_ROOM))
        brain = clip(brain, room) if room >= MIN_TOKENS else ""
    return brain


def _without(text: str, facts: Sequence[PlacedFact]) -> str:
    """Return a brain without some facts and what is nested under them."""
    kept, position = list[str](), 0
    for placed in sorted(facts, key=lambda one: one.start):
        if placed.start >= position:
            kept.append(text[position : placed.start])
        stop = text.find("\n", placed.tree_end)
        position = max(position, stop + 1 if stop >= 0 else len(text))
    return "".join((*kept, text[position:]))
