"""What an agent knows when a conversation begins: identity, brain, active context.

Over budget the active context is trimmed first, then the least important facts go, and the
answer says so. The identity is cut only when it alone is too large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from vaultmind.errors import BadArgument
from vaultmind.index.words.language import detect
from vaultmind.memory.brain import PlacedFact, parse_brain
from vaultmind.session.context.parts import NO_ROOM, Dropped
from vaultmind.session.lifecycle.active import told_beside
from vaultmind.session.lifecycle.lately import Recent, section, without_labels
from vaultmind.session.records.reading import Hides, Shows, plain_text, read_text
from vaultmind.tokens import clip, count
from vaultmind.types import Caller
from vaultmind.vault.files import VaultReader
from vaultmind.vault.parts import without_hidden
from vaultmind.vault.paths import agent_name

PartName = Literal["identity", "brain", "active context"]
MIN_ACTIVE_TOKENS = 20
"""An active context cut to less says nothing and is left out whole."""
BESIDE_TOKENS = 90
"""Room of what goes on in other conversations; over budget it goes with the active context."""

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
    beside: tuple[Recent, ...] = ()
    """What goes on beside it."""


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
    if shown != files["active context"]:
        shown = without_labels(shown)
    running = _running(reader, agent, begins, shows)
    active = plain_text(told_beside(shown, begins.session, running))
    brain = plain_text(files["brain"])
    room = max_tokens - count(identity) - count(brain)
    if count(active) > room:
        active = _cut_active(active, room, left_out)
        room = max_tokens - count(active) - count(identity)
        if count(brain) > room:
            brain = _cut_brain(files["brain"], max(0, room), left_out)
    if count(identity) > max_tokens:
        identity = clip(identity, max_tokens)
        left_out.append(Dropped("part of the identity", NO_ROOM))
    texts: tuple[tuple[PartName, str], ...] = (
        ("identity", identity),
        ("brain", brain),
        ("active context", active),
    )
    names = dict(_paths(reader, agent))
    parts = tuple(ContextPart(n, text, count(text), names[n]) for n, text in texts if text)
    return StartContext(agent, parts, sum(part.tokens for part in parts), tuple(left_out))


def _running(reader: VaultReader, agent: str, begins: Beginning, shows: Shows) -> str:
    """Return the section on what goes on beside a conversation; empty where nothing does."""
    paths = reader.paths
    seen = [one for one in begins.beside if shows(paths.session(agent, one.session), begins.caller)]
    language = detect("\n".join(line for one in seen for line in one.lines)) if seen else ""
    return section(seen, BESIDE_TOKENS, language or "en", "beside")[0]


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
        if name == "brain" and not reason and text:
            reason = parse_brain(text).damaged
        if reason:
            left_out.append(Dropped(f"the {name}", f"{path}: {reason}"))
        texts[name] = "" if reason else text
    return texts


def _cut_active(text: str, room: int, left_out: list[Dropped]) -> str:
    """Return as much of the active context as there is room for: whole lines if they fit."""
    if room < MIN_ACTIVE_TOKENS:
        left_out.append(Dropped("the active context", NO_ROOM))
        return ""
    left_out.append(Dropped("part of the active context", NO_ROOM))
    return clip(text, room)


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
        what = "the rest of the brain" if room < MIN_ACTIVE_TOKENS else "part of the brain"
        left_out.append(Dropped(what, NO_ROOM))
        brain = clip(brain, room) if room >= MIN_ACTIVE_TOKENS else ""
    return brain


def _importance(placed: PlacedFact) -> tuple[int, bool, str, int]:
    """Return what sorts facts, least important first.

    By section; in a section what we wrote before what the person typed, then the older.
    """
    fact = placed.fact
    return _IMPORTANCE[fact.section], not fact.written, fact.written, placed.start


def _without(text: str, facts: Sequence[PlacedFact]) -> str:
    """Return a brain as a model reads it, without some facts and what is nested under them."""
    kept: list[str] = []
    position = 0
    for placed in sorted(facts, key=lambda one: one.start):
        if placed.start >= position:
            kept.append(text[position : placed.start])
        stop = text.find("\n", placed.tree_end)
        position = max(position, stop + 1 if stop >= 0 else len(text))
    return plain_text("".join((*kept, text[position:])))
