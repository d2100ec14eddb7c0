"""What an agent knows about its person: facts by section, counts, and where the files are."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vaultmind.errors import NotFound, UnreadableNote
from vaultmind.memory.audit import REPORTED
from vaultmind.memory.brain import MEND, WRITING_WAITS, Brain, fault, parse_brain
from vaultmind.memory.wording import heading
from vaultmind.redact import mask
from vaultmind.session.files import Shows, read_text, session_ids
from vaultmind.types import SECTIONS, Caller, Fact, Section
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import SESSION_ID, agent_name
from vaultmind.vault.session_meta import parse_meta
from vaultmind.vault.transcript import count_messages

_REQUEST = re.compile(r'^> ?\[!(?:user|assistant)\][^%\n]*%%\{.*"asked":"', re.MULTILINE)


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
    messages: int
    l1: int
    """Summaries of sessions."""
    l2: int
    """Summaries of summaries."""
    requests: int = 0
    """Words that asked to remember or forget, kept as evidence beside the messages."""
    episodes: int = 0
    """Notes of what was done for a task."""


@dataclass(frozen=True, slots=True)
class LastSession:
    """The newest session."""

    id: str
    started: str
    ended: str
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
    brain, archive = (
        _brain(reader, path, caller, shows, notes)
        for path in (paths.brain(agent), paths.archive(agent))
    )
    seen = [one for one in session_ids(paths, agent) if shows(paths.session(agent, one), caller)]
    last: LastSession | None = None
    messages = requests = 0
    for session in seen:
        try:
            text = reader.read(paths.session(agent, session)).text
        except (NotFound, UnreadableNote) as error:
            notes.append(str(error))
            continue
        asked, said = len(_REQUEST.findall(text)), count_messages(text)
        messages, requests, meta = messages + said, requests + asked, parse_meta(text)
        path = paths.session(agent, session)
        last = LastSession(session, meta.started, meta.ended, said, path)
    summaries = paths.root / paths.memory(agent) / "summaries"
    episodes = (one.stem for one in (paths.root / paths.episodes(agent)).glob("*.md"))
    counts = Counts(
        facts=len(brain.facts),
        archived=len(archive.facts),
        sessions=len(seen),
        messages=messages,
        l1=len(list((summaries / "L1").glob("*.md"))),
        l2=len(list((summaries / "L2").glob("*.md"))),
        requests=requests,
        episodes=sum(
            bool(SESSION_ID.fullmatch(one)) and shows(paths.episode(agent, one), caller)
            for one in episodes
        ),
    )
    files = (
        paths.identity(agent), paths.brain(agent), paths.archive(agent),
        paths.active_context(agent), paths.sessions(agent), paths.episodes(agent),
    )  # fmt: skip
    there = tuple(path for path in files if (paths.root / path).exists() and shows(path, caller))
    facts = brain.all()
    last_day = max((fact.written for fact in facts), default="")
    new = tuple(one for one in facts if one.how == REPORTED and one.written == last_day)
    return Shown(agent, _by_section(brain), counts, last, there, tuple(notes), new)


def _brain(reader: VaultReader, path: str, caller: Caller, shows: Shows, notes: list[str]) -> Brain:
    text, reason = read_text(reader, path) if shows(path, caller) else ("", "")
    brain = parse_brain(mask(text).text)
    if reason or brain.damaged:
        notes.append(f"{path} is damaged: {reason or brain.damaged}. {WRITING_WAITS} {MEND}")
    elif broken := fault(text):
        notes.append(f"{path}: {broken}. {MEND}")
    return brain


def _by_section(brain: Brain) -> tuple[ShownSection, ...]:
    """Return the facts by section in their fixed order, then those under other headings."""
    facts, language = brain.all(), brain.language or "en"
    own: dict[str, list[Fact]] = {}
    for placed in brain.facts:
        if placed.fact.section is None:
            above = [one.title for one in brain.headings if one.start < placed.start]
            own.setdefault(above[-1] if above else "", []).append(placed.fact)
    ours = ((one, tuple(fact for fact in facts if fact.section == one)) for one in SECTIONS)
    return (
        *(ShownSection(one, heading(one, language), some) for one, some in ours if some),
        *(ShownSection(None, title, tuple(some)) for title, some in own.items()),
    )
