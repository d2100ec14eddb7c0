"""What an agent knows about its person: facts by section, counts, and where the files are."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from vaultmind.errors import NotFound, UnreadableNote
from vaultmind.memory.audit import REPORTED
from vaultmind.memory.brain import MEND, WRITING_WAITS, Brain, fault, parse_brain
from vaultmind.memory.sections import heading
from vaultmind.redact import mask
from vaultmind.session.files import Shows, read_text, session_ids
from vaultmind.types import SECTIONS, Caller, Fact, Section
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.paths import SESSION_ID, VaultPaths, agent_name
from vaultmind.vault.transcript import count_messages, parse_session

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
    agent = agent_name(agent)
    paths = reader.paths
    notes: list[str] = []
    brain = _brain(reader, paths.brain(agent), caller, shows, notes)
    archive = _brain(reader, paths.archive(agent), caller, shows, notes)
    seen = [s for s in session_ids(paths, agent) if shows(paths.session(agent, s), caller)]
    last, messages, requests = _sessions(reader, agent, seen, notes)
    counts = Counts(
        facts=len(brain.facts),
        archived=len(archive.facts),
        sessions=len(seen),
        messages=messages,
        l1=_summaries(reader, agent, "L1"),
        l2=_summaries(reader, agent, "L2"),
        requests=requests,
        episodes=_episodes(paths, agent, caller, shows),
    )
    mine = (paths.identity(agent), paths.brain(agent), paths.archive(agent))
    files = [*mine, paths.active_context(agent), paths.sessions(agent), paths.episodes(agent)]
    there = tuple(path for path in files if (paths.root / path).exists() and shows(path, caller))
    last_day = max((fact.written for fact in brain.all()), default="")
    new = tuple(one for one in brain.all() if one.how == REPORTED and one.written == last_day)
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
    language = brain.language or "en"
    facts = brain.all()
    shown = [
        ShownSection(section, heading(section, language), of_it)
        for section in SECTIONS
        if (of_it := tuple(fact for fact in facts if fact.section == section))
    ]
    for title, placed in _own_headings(brain).items():
        shown.append(ShownSection(None, title, tuple(placed)))
    return tuple(shown)


def _own_headings(brain: Brain) -> dict[str, list[Fact]]:
    """Return the facts under headings of the person's own, by the heading's words."""
    found: dict[str, list[Fact]] = {}
    for placed in brain.facts:
        if placed.fact.section is None:
            above = [h.title for h in brain.headings if h.start < placed.start]
            found.setdefault(above[-1] if above else "", []).append(placed.fact)
    return found


def _sessions(
    reader: VaultReader, agent: str, sessions: list[str], notes: list[str]
) -> tuple[LastSession | None, int, int]:
    """Return the newest session that can be read, and the messages and requests of all."""
    last: FileText | None = None
    messages = requests = 0
    for session in sessions:
        try:
            last = reader.read(reader.paths.session(agent, session))
        except (NotFound, UnreadableNote) as error:
            notes.append(str(error))
        else:
            messages += count_messages(last.text)
            requests += len(_REQUEST.findall(last.text))
    return (_last(last) if last else None), messages, requests


def _last(file: FileText) -> LastSession:
    transcript = parse_session(file.text)
    meta, size = transcript.meta, sum(not one.message.asked for one in transcript.messages)
    return LastSession(PurePosixPath(file.path).stem, meta.started, meta.ended, size, file.path)


def _episodes(paths: VaultPaths, agent: str, caller: Caller, shows: Shows) -> int:
    folder = paths.root / paths.episodes(agent)
    stems = (path.stem for path in folder.glob("*.md")) if folder.is_dir() else ()
    named = (stem for stem in stems if SESSION_ID.fullmatch(stem))
    return sum(shows(paths.episode(agent, stem), caller) for stem in named)


def _summaries(reader: VaultReader, agent: str, level: str) -> int:
    folder = reader.paths.root / reader.paths.memory(agent) / "summaries" / level
    if not folder.is_dir():
        return 0
    with os.scandir(folder) as entries:
        return sum(entry.name.endswith(".md") and entry.is_file() for entry in entries)
