"""What "that" means: the facts that were written or shown last while speaking to an agent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from vaultmind.memory.audit import last_written
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.match import same_fact
from vaultmind.ports import Clock
from vaultmind.redact import blank_private, mask
from vaultmind.session.files import read_text
from vaultmind.types import Fact
from vaultmind.vault.files import VaultReader


@dataclass(frozen=True, slots=True)
class Touch:
    """Facts of one agent's memory that were written, found or shown together."""

    agent: str
    """Whose memory."""
    facts: tuple[Fact, ...]
    """None where what was touched last is gone."""
    at: datetime
    written: bool = False


@dataclass(frozen=True, slots=True)
class That:
    """The one fact that is meant; or none, and those that it may be."""

    agent: str
    fact: Fact | None = None
    choices: tuple[str, ...] = ()


class Touched:
    """The last touches by who was spoken to. Any thread; a restart falls back on the audit."""

    def __init__(self, reader: VaultReader, clock: Clock, idle_minutes: float) -> None:
        self._reader = reader
        self._clock = clock
        self._recent = timedelta(minutes=idle_minutes)
        self._lock = threading.Lock()
        self._shown: dict[str, Touch] = {}
        self._written: dict[str, Touch] = {}

    def note(
        self, spoken_to: str, agent: str, facts: Sequence[Fact], *, written: bool = False
    ) -> None:
        """Keep what was touched; no facts after a forget, which leaves nothing to mean."""
        touch = Touch(agent, tuple(facts), self._clock(), written)
        with self._lock:
            self._shown[spoken_to] = touch
            if written:
                self._written[spoken_to] = touch

    def that(self, spoken_to: str, target: str, sees: Callable[[str], bool]) -> That:
        """Return what "that" means: one fact touched last, else the one written last.

        What was touched in an agent's memory that the speaker no longer `sees` is none. Of
        several that were shown together the one that was just written is meant, if it is among
        them; else none.
        """
        with self._lock:
            shown, written = self._shown.get(spoken_to), self._written.get(spoken_to)
        shown, written = (one if one and sees(one.agent) else None for one in (shown, written))
        if shown is None or not self._is_recent(shown.at):
            since = self._clock() - self._recent
            text = read_text(self._reader, self._reader.paths.brain(target))[0]
            facts = parse_brain(text).all() if sees(target) else ()
            return That(target, last_written(self._reader.paths, target, facts, since))
        standing = self._standing(shown)
        if len(shown.facts) <= 1:
            return That(shown.agent, next(iter(standing), None))
        if written and written.agent == shown.agent and self._is_recent(written.at):
            last = self._standing(written)
            if len(last) == 1 and any(same_fact(last[0].text, one.text) for one in standing):
                return That(shown.agent, last[0])
        return That(shown.agent, None, tuple(mask(fact.text).text for fact in standing))

    def _is_recent(self, at: datetime) -> bool:
        return self._clock() - at <= self._recent

    def _standing(self, touch: Touch) -> list[Fact]:
        """Return those of the facts that still stand, as they are now: none that is private.

        A secret within one stays in it, so that it is named by its own words; what it is told as
        is masked.
        """
        text = read_text(self._reader, self._reader.paths.brain(touch.agent))[0]
        shown = {fact.text for fact in parse_brain(mask(text).text).all()}
        now = [(fact, mask(fact.text).text) for fact in parse_brain(blank_private(text)).all()]
        return [
            fact
            for fact, told in now
            for known in touch.facts
            if told in shown
            and ((known.block and fact.block == known.block) or known.text in (told, fact.text))
        ]
