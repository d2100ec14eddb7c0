"""A replay's planner that learns: every so many commits it is trained on those before.

It sees what `planner+episodes` sees. What its plans offered, and what the commits then changed, are
its lessons; new weights rank only once their trial is passed, as in `vaultmind model train`. With
`--later-half` only commits are counted before which it could learn from as many.
"""

from __future__ import annotations

import sys
from datetime import datetime

from history import Step
from replay_earlier import Memory, Recalling, episode_of
from replay_rows import Room, Then

from vaultmind.learn.planning import Heard, plan_lessons, proposed
from vaultmind.planner.plan import Planner
from vaultmind.planner.scorer import Stuff, Weights, built_in
from vaultmind.planner.sources import Sources
from vaultmind.planner.types import Plan

LEAST_LESSONS = 20
"""As `learning.min_lessons`."""
EVERY = 10
"""Commits that are asked about from one training to the next."""


class Trained(Recalling):
    """The planner with the episodes of the earlier commits, trained on them."""

    name = "planner+trained"

    def __init__(self, room: Room, budget: int, memory: Memory) -> None:
        super().__init__(room, budget, memory)
        self._heard: list[tuple[int, Heard]] = []
        self._weights: dict[Stuff, Weights] = {}
        self._seen: dict[Stuff, datetime] = {}
        """Until when the weights in use know all lessons, those of their trial too."""
        self.trials: list[str] = []
        """What came of each training, in words."""

    def plan(self, step: Step) -> Plan:
        """Return the plan of a step's task, after what its turn is to be learnt."""
        if len(self._heard) % EVERY == 0:
            self._learn(step)
        plan = super().plan(step)
        if plan.offer is not None:
            episode = episode_of(step.commit, len(self._heard))
            self._heard.append((step.commit.seconds, Heard(episode, (plan.offer,))))
        return plan

    def _made(self, sources: Sources, clock: Then) -> Planner:
        return Planner(sources, clock, weights=self._in_use, earlier=self._memory.earlier)

    def _in_use(self, of: Stuff) -> Weights:
        return self._weights.get(of) or built_in(of)

    def _learn(self, step: Step) -> None:
        """Learn from the commits before a step's, and from none of its own time."""
        before = [one for seconds, one in self._heard if seconds < step.commit.seconds]
        found = plan_lessons(before, step.now)
        for of in ("code", "notes"):
            lessons = [one for one in found if one.of == of]
            if len(lessons) < LEAST_LESSONS:
                continue
            active = self._in_use(of)
            made, _, told = proposed(lessons, active, self._seen.get(of))
            self.trials.append(f"{len(lessons)} lessons of {of}: {told.why}")
            print(self.trials[-1], file=sys.stderr, flush=True)
            if told.better:
                name = f"{of}-{len(self.trials)}"
                self._weights[of] = Weights(name, made.weights, active.words)
                self._seen[of] = lessons[-1].time
