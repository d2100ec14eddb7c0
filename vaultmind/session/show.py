"""What an agent knows about its person: facts by section, counts, and where the files are."""

from __future__ import annotations

from dataclasses import dataclass

from vaultmind.errors import NotFound, UnreadableNote
from vaultmind.memory.audit import REPORTED
from vaultmind.memory.brain import MEND, WRITING_WAITS, Brain, fault, parse_brain
from vaultmind.memory.wording import heading
from vaultmind.redact import mask
from vaultmind.session.files import Shows, read_text, session_ids
from vaultmind.types import SECTIONS, Caller, Fact, Section
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import agent_name
from vaultmind.vault.transcript import count_messages


@dataclass(frozen=True, slots=True)
class ShownSection:
    """The facts of one section; `section` is None for a heading of the person's own."""

    section: Section | None
    heading: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Counts:
    """How much there is."""

    facts: int
    archived: int
    """Facts in brain_archive.md."""
    sessions: int
    l1: int
    """Summaries of sessions."""
    l2: int
    """Summaries of summaries."""


@dataclass(frozen=True, slots=True)
class LastSession:
    """The newest session."""

    id: str
    messages: int
    path: str


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything about one agent's memory at a glance."""

    agent: str
    sections: tuple[ShownSection, ...]
    counts: Counts
    last_session: LastSession | None
    files: tuple[str, ...]
    """Vault-relative paths of what there is, for a person to open."""
    notes: tuple[str, ...] = ()
    """What could not be read, in words."""
    new: tuple[Fact, ...] = ()
    """What an agent reported on the last day on which anything was written."""


def show(reader: VaultReader, agent: str, caller: Caller, *, shows: Shows) -> Shown:
    """Return what an agent knows. Files that `shows` hides from the caller count as missing."""
    agent, paths, notes = agent_name(agent), reader.paths, list[str]()

    def parsed(path: str) -> Brain:
        text, reason = read_text(reader, path) if shows(path, caller) else ("", "")
        brain = parse_brain(mask(text).text)
        if damage := reason or brain.damaged:
            notes.append(f"{path} is damaged: {damage}. {WRITING_WAITS} {MEND}")
        elif broken := fault(text):
            notes.append(f"{path}: {broken}. {MEND}")
        return brain

    brain, archive = parsed(paths.brain(agent)), parsed(paths.archive(agent))
    seen = [one for one in session_ids(paths, agent) if shows(paths.session(agent, one), caller)]
    last: LastSession | None = None
    if seen:
        path = paths.session(agent, seen[-1])
        try:
            last = LastSession(seen[-1], count_messages(reader.read(path).text), path)
        except (NotFound, UnreadableNote) as error:
            notes.append(str(error))
    summaries = paths.root / paths.memory(agent) / "summaries"
    l1, l2 = (len(list((summaries / level).glob("*.md"))) for level in ("L1", "L2"))
    counts = Counts(len(brain.facts), len(archive.facts), len(seen), l1, l2)
    files = (
        paths.identity(agent), paths.brain(agent), paths.archive(agent),
        paths.active_context(agent), paths.sessions(agent), paths.episodes(agent),
    )  # fmt: skip
    there = tuple(path for path in files if (paths.root / path).exists() and shows(path, caller))
    facts = brain.all()
    last_day = max((fact.written for fact in facts), default="")
    new = tuple(one for one in facts if one.how == REPORTED and one.written == last_day)
    return Shown(agent, _by_section(brain), counts, last, there, tuple(notes), new)


def _by_section(brain: Brain) -> tuple[ShownSection, ...]:
    """Return the facts by section in their fixed order, then those under other headings."""
    own: dict[str, list[Fact]] = {}
    for placed in brain.facts:
        if placed.fact.section is None:
            above = [one.title for one in brain.headings if one.start < placed.start]
            own.setdefault(above[-1] if above else "", []).append(placed.fact)
    ours = ((one, tuple(fact for fact in brain.all() if fact.section == one)) for one in SECTIONS)
    return (
        *(
            ShownSection(one, heading(one, brain.language or "en"), some)
            for one, some in ours
            if some
        ),
        *(ShownSection(None, title, tuple(some)) for title, some in own.items()),
    )
