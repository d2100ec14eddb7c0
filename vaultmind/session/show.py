"""What an agent knows about its person: facts by section, and where the files are."""

from __future__ import annotations

from dataclasses import dataclass

from vaultmind.memory.brain import Brain, parse_brain
from vaultmind.memory.wording import heading
from vaultmind.redact import mask
from vaultmind.session.files import Shows, read_brain
from vaultmind.types import SECTIONS, Caller, Fact, Section
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import agent_name


@dataclass(frozen=True, slots=True)
class ShownSection:
    """The facts of one section; `section` is None for a heading of the person's own."""

    section: Section | None
    heading: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything about one agent's memory at a glance."""

    agent: str
    sections: tuple[ShownSection, ...]
    files: tuple[str, ...]
    """Vault-relative paths of what there is, for a person to open."""
    notes: tuple[str, ...] = ()
    """What could not be read, in words."""


def show(reader: VaultReader, agent: str, caller: Caller, *, shows: Shows) -> Shown:
    """Return what an agent knows. Files that `shows` hides from the caller count as missing."""
    agent, paths = agent_name(agent), reader.paths
    path = paths.brain(agent)
    text, wrong = read_brain(reader, path) if shows(path, caller) else ("", "")
    files = (
        paths.identity(agent), paths.brain(agent), paths.archive(agent),
        paths.active_context(agent), paths.sessions(agent), paths.episodes(agent),
    )  # fmt: skip
    there = tuple(path for path in files if (paths.root / path).exists() and shows(path, caller))
    sections = _by_section(parse_brain(mask(text).text))
    return Shown(agent, sections, there, (wrong,) if wrong else ())


def _by_section(brain: Brain) -> tuple[ShownSection, ...]:
    """Return the facts by section in their fixed order, then those under other headings."""
    own: dict[str, list[Fact]] = {}
    for placed in brain.facts:
        if placed.fact.section is None:
            above = [one.title for one in brain.headings if one.start < placed.start]
            own.setdefault(above[-1] if above else "", []).append(placed.fact)
    ours = {one: tuple(fact for fact in brain.all() if fact.section == one) for one in SECTIONS}
    language = brain.language or "en"
    shown = [ShownSection(one, heading(one, language), some) for one, some in ours.items() if some]
    return (*shown, *(ShownSection(None, title, tuple(some)) for title, some in own.items()))
