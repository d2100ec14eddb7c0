"""What an agent knows when a conversation begins: identity, brain, active context.

Each has a share of the budget that is its own, and what one leaves over flows to the next: the
identity first, then the brain, then the active context. What does not fit is named in the answer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from vaultmind.errors import BadArgument
from vaultmind.index.words import detect
from vaultmind.memory.brain import (
    MEND,
    WRITING_WAITS,
    PlacedFact,
    fault,
    parse_brain,
    sound_text,
)
from vaultmind.memory.contradictions import OUTDATED, superseded, with_days
from vaultmind.session.active import Recent, speaks_of
from vaultmind.session.files import Hides, Shows, plain_text, read_text
from vaultmind.session.parts import NO_ROOM, Dropped, Part, PartName
from vaultmind.session.sentences import headings
from vaultmind.session.summary import section_text
from vaultmind.tokens import clip, count
from vaultmind.types import Caller
from vaultmind.vault.files import VaultReader
from vaultmind.vault.parts import without_hidden
from vaultmind.vault.paths import SESSION_ID, agent_name

ACTIVE_TOKENS = 120
"""Where the last conversation stopped has so much room, or half of a budget that is small."""
MIN_TOKENS = 20
"""A text cut to less says nothing and is left out whole."""
OTHERS_TOKENS = 120
"""Room of other conversations' lines; over budget they go with the active context."""
_IMPORTANCE = {"current": 0, None: 1, "decisions": 2, "preferences": 3, "user": 4}
"""Sections whose facts go first; `None` is a heading of the person's own."""


@dataclass(frozen=True, slots=True)
class StartContext:
    """The context at session start, within its budget."""

    agent: str
    parts: tuple[Part, ...]
    tokens: int
    dropped: tuple[Dropped, ...] = ()
    """What did not fit or could not be read, and why."""


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
    if begins.max_tokens < 1:
        raise BadArgument("max_tokens", begins.max_tokens, "1 or more")
    agent, dropped, paths = agent_name(begins.agent), list[Dropped](), reader.paths
    files = (paths.identity(agent), paths.brain(agent), paths.active_context(agent))
    identity, facts, last = (
        _readable(reader, path, dropped) if shows(path, begins.caller) else "" for path in files
    )
    record = files[2].removesuffix(".md")
    last = without_hidden(last, lambda block: hides(agent, record, block))
    others = _others(reader, begins, shows, speaks_of(last))
    if begins.session and begins.session in SESSION_ID.findall(speaks_of(last)):
        dropped.append(Dropped("active context", "it is of this conversation"))
        last = ""
    identity, active = plain_text(identity), f"{plain_text(last)}\n\n{others}".strip()
    facts = _current(facts, dropped)
    brain = plain_text(with_days(facts))
    left = begins.max_tokens - min(count(active), ACTIVE_TOKENS, begins.max_tokens // 2)
    identity = _cut(identity, left - min(count(brain), left // 2), "identity", dropped)
    brain = _cut_brain(facts, left - count(identity), dropped)
    left = begins.max_tokens - count(identity) - count(brain)
    active = _cut(active, left, "active context", dropped)
    names: tuple[PartName, ...] = ("identity", "brain", "active context")
    shown = zip(names, (identity, brain, active), files, strict=True)
    parts = tuple(Part(name, text, count(text), (path,)) for name, text, path in shown if text)
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
    shown, room = list[str](), OTHERS_TOKENS
    for running, title in ((True, titles["beside"]), (False, titles["before"])):
        lines = []
        for one in seen:
            if one.running == running and (cost := count(f"- {one.line}")) <= room:
                lines.append(one.line)
                room -= cost
        shown += [section_text(title, lines)] if lines else []
    return "\n\n".join(shown)


def _readable(reader: VaultReader, path: str, dropped: list[Dropped]) -> str:
    """Return what can be read of a file; what cannot is named, and how to mend it."""
    text, reason = read_text(reader, path)
    mend = MEND
    if path.endswith("/brain.md"):
        if broken := fault(text):
            dropped.append(Dropped("front matter of the brain", f"{path}: {broken}. {MEND}"))
        text, damaged = sound_text(text)
        reason, mend = reason or damaged, f"{WRITING_WAITS} {MEND}"
    if reason:
        dropped.append(Dropped(f"part of {path}", f"{reason}. {mend}"))
    return text


def _current(text: str, dropped: list[Dropped]) -> str:
    """Return a brain without facts that a newer one contradicts, but for those with others below.

    The file keeps them: which of the two holds is the person's to say.
    """
    placed = parse_brain(text).facts
    old = superseded([(one.fact.text, one.fact.written) for one in placed])
    gone = [placed[at] for at in sorted(old) if placed[at].tree_end == placed[at].end]
    dropped += [Dropped(f"a fact of {one.fact.written}", OUTDATED) for one in gone]
    return _without(text, gone)


def _cut(text: str, room: int, name: str, dropped: list[Dropped]) -> str:
    """Return as much of a text as there is room for."""
    if count(text) <= room:
        return text
    shown = clip(text, room) if room >= MIN_TOKENS else ""
    dropped.append(Dropped(f"part of the {name}" if shown else name, NO_ROOM))
    return shown


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
    if gone:
        dropped.append(Dropped(f"{gone} of {len(facts)} facts, the least important", NO_ROOM))
    return _cut(less(gone), room, "brain", dropped)


def _without(text: str, facts: Sequence[PlacedFact]) -> str:
    """Return a brain without some facts and what is nested under them."""
    kept, position = list[str](), 0
    for placed in sorted(facts, key=lambda one: one.start):
        if placed.start >= position:
            kept.append(text[position : placed.start])
        stop = text.find("\n", placed.tree_end)
        position = max(position, stop + 1 if stop >= 0 else len(text))
    return "".join((*kept, text[position:]))
