"""A replay's planner that knows what was done before: an episode for each earlier commit.

The commit's message was the task, its files were edited and committed, and it went well. Nothing
is known of the commit that is asked about, nor of what came after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from history import Commit, Step
from replay_rows import Planned, Room, Then

from vaultmind.episodes.store import Tables
from vaultmind.episodes.types import Episode, Event, Offer, TaskMark
from vaultmind.planner.earlier import Earlier
from vaultmind.planner.plan import Planner
from vaultmind.planner.sources import Sources
from vaultmind.planner.task import understand
from vaultmind.planner.types import Plan
from vaultmind.types import Caller
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import VaultPaths

AGENT, SOURCE = "past", "past"


class All:
    """Shows every episode to everybody."""

    def shows(self, path: str, caller: Caller) -> bool:
        """Tell that a note is shown."""
        return True

    def hides(self, agent: str, record: str, *names: str) -> bool:
        """Tell that nothing is forgotten."""
        return False

    def clean(self, text: str) -> str:
        """Return a text as it is."""
        return text


class Memory:
    """The episodes of the commits before a step."""

    def __init__(self, file: Path, clock: Then, commits: Sequence[Commit]) -> None:
        self.tables = Tables(file)
        self.earlier = Earlier(lambda: self.tables, All(), VaultPaths(Path("/nowhere")), clock)
        self._commits = commits
        self._known = 0
        self.offers: dict[str, Offer] = {}
        """What a plan offered for a commit that was asked about, by the commit."""

    def follow(self, step: Step) -> None:
        """Know the commits before a step's, and none from it on."""
        while self._known < len(self._commits):
            commit = self._commits[self._known]
            if commit.sha == step.commit.sha:
                break
            offer = self.offers.get(commit.sha)
            self.tables.put(
                episode_of(commit, self._known), offers=(offer,) if offer is not None else ()
            )
            self._known += 1

    def close(self) -> None:
        """Let go of the tables."""
        self.tables.close()


class Recalling(Planned):
    """The planner without a model, with the episodes of the earlier commits."""

    name = "planner+episodes"

    def __init__(self, room: Room, budget: int, memory: Memory) -> None:
        super().__init__(room, budget)
        self._memory = memory

    def plan(self, step: Step) -> Plan:
        """Return the plan of a step's task."""
        self._memory.follow(step)
        plan = super().plan(step)
        if plan.offer is not None:
            self._memory.offers[step.commit.sha] = plan.offer
        return plan

    def _made(self, sources: Sources, clock: Then) -> Planner:
        return Planner(sources, clock, earlier=self._memory.earlier)


def episode_of(commit: Commit, number: int) -> Episode:
    """Return the episode in which a commit was made."""
    when = datetime.fromtimestamp(commit.seconds, UTC).isoformat()
    task = understand(commit.message, SOURCE)
    events = [Event("edit", when, path, change="modified", how="hook") for path in commit.changed]
    events += [Event("edit", when, path, change="added", how="hook") for path in commit.born]
    events.append(Event("commit", when, text=one_line(commit.subject), commit=commit.sha))
    return Episode(
        f"{when[:10]}_{number:06d}",
        AGENT,
        SOURCE,
        TaskMark(
            one_line(commit.message),
            task.predicted,
            task.task_fingerprint,
            task.risk,
            task.references,
        ),
        when,
        state="ended",
        ended=when,
        outcome="success",
        events=tuple(events),
    )
