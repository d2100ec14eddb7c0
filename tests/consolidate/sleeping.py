"""A vault whose conversations end and are consolidated, with every real part but the model."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.memory.conftest import NOW, House
from tests.waiting import until
from vaultmind.config.settings import ConsolidationConfig, LevelsConfig
from vaultmind.consolidate.extract import extract
from vaultmind.consolidate.levels import Levels, of_session, of_sources
from vaultmind.consolidate.types import Candidate, Extraction, Resources
from vaultmind.consolidate.worker import Consolidation
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.forget.hiding import Tombstones
from vaultmind.session.log import SessionLog
from vaultmind.types import Fact, Message
from vaultmind.vault.files import VaultReader
from vaultmind.vault.transcript import SessionMeta, parse_meta

DEVICE = "test"
MORNING = (
    "My name is Anna and I live in Gdańsk.",
    "I always drink my coffee black, without sugar.",
    "How are you?",
)
EVENING = (
    "I am working on the garden shed project this month.",
    "Actually, I don't live in Gdańsk any more, I moved to Kraków.",
)


class ByRules:
    """In a `Thinker`'s place: the built-in rules alone."""

    def extract(
        self, messages: Sequence[Message], brain: Sequence[Fact], *, language: str, max_facts: int
    ) -> Extraction:
        """Return what the rules find."""
        found = extract(messages, brain, max_facts=max_facts)
        return replace(found, summary=of_session(messages, language).text)


class Says:
    """In a `Thinker`'s place: says what it is told to, by a model; an error is raised."""

    def __init__(self, *facts: Candidate, **more: Any) -> None:
        self.answer = Extraction(facts, **{"by": "a model", **more})
        self.error: Exception | None = None
        self.meanwhile: Callable[[], object] = lambda: None
        self.seen: list[tuple[str, ...]] = []

    def extract(self, messages: Sequence[Message], *brain: Any, **more: Any) -> Extraction:
        """Return the answer."""
        self.seen.append(tuple(one.text for one in messages))
        self.meanwhile()
        if self.error is not None:
            raise self.error
        return self.answer


class Waits(Says):
    """Says it once it may: for tests of what goes on meanwhile."""

    def __init__(self, *facts: Candidate) -> None:
        super().__init__(*facts)
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.meanwhile = self._wait

    def _wait(self) -> None:
        self.begun.set()
        assert self.go_on.wait(20)


def rest(asleep: Consolidation) -> None:
    """Wait until nothing is left to do by itself."""
    until(lambda: not asleep.standing()[0])


class Bed(House):
    """A house with conversations in it."""

    def __init__(self, root: Path, level: int = 2) -> None:
        super().__init__(root, level, random.Random(5))
        self.put(self.paths.identity("main"), "---\nlanguage: en\n---\n# Main\n")
        self.reader = VaultReader(self.paths, 8_000_000)
        self.hides = Tombstones(self.paths).hides
        self.now = NOW
        self.log = self.session_log(self.gate)

    def session_log(self, gate: Any, told: Any = None) -> SessionLog:
        """Return what writes conversations down."""
        return SessionLog(gate, self.reader, self.clock, 30, told or (lambda *which: None))

    def clock(self) -> datetime:
        """Return the time, which is set by hand."""
        return self.now

    def talk(self, *texts: str, agent: str = "main", ends: bool = True, **more: Any) -> str:
        """Have a conversation, a message a text, and end it; return its id."""
        self.now += timedelta(minutes=40)
        said = [Message("user", text, "", id=f"s{at}", **more) for at, text in enumerate(texts)]
        session = self.log.log(agent, *said).session
        if ends:
            self.log.end(agent)
        return session

    def asleep(
        self, thinker: Any = None, gate: Any = None, levels: int = 5, **settings: Any
    ) -> Consolidation:
        """Return what consolidates, as after a start."""
        resources = Resources(
            gate or self.gate, self.reader, self.hides, self.log.heads, self.clock, DEVICE
        )
        summaries = Levels(resources, of_sources, LevelsConfig(l1_sessions=levels))
        minds = thinker or ByRules(), summaries
        config = ConsolidationConfig(**{"delay_seconds": 0.0, **settings})
        return Consolidation(resources, lambda: minds, config, end_idle=self.log.end_idle)

    # --- what there is -------------------------------------------------------------------

    def meta(self, session: str, agent: str = "main") -> SessionMeta:
        """Return a session's front matter."""
        return parse_meta(self.text(self.paths.session(agent, session)))

    def text(self, relative: str) -> str:
        """Return a file's text; empty where there is none."""
        path = self.file(relative)
        return path.read_text("utf-8") if path.is_file() else ""

    def active(self, agent: str = "main") -> str:
        """Return the active context."""
        return self.text(self.paths.active_context(agent))

    def facts(self, agent: str = "main") -> list[str]:
        """Return the facts of a brain."""
        return [fact.text for fact in parse_brain(self.text(self.paths.brain(agent))).all()]

    def suggestions(self) -> str:
        """Return Suggestions.md."""
        return self.text(self.paths.suggestions)

    def bytes(self) -> dict[str, bytes]:
        """Return every file of the memory folder."""
        folder = self.paths.root / self.paths.memory_dir
        return {str(one): one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()}


def fact(text: str, category: Any = "CORE", *evidence: str, **more: Any) -> Candidate:
    """Return a fact that a conversation's first message says, or those named."""
    return replace(Candidate(category, text, evidence or ("s0",)), **more)
