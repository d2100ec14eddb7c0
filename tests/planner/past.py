"""Work that was done before, for the tests of what plans say of it."""

from __future__ import annotations

import shutil

from tests.planner.planned import MAIN, OTHER, Planned
from vaultmind.episodes.types import Episode, Event, TaskMark
from vaultmind.planner.task import understand
from vaultmind.types import Caller


class Past:
    """What was done before, written down as agents do it."""

    def __init__(self, planned: Planned) -> None:
        self.planned = planned
        self.recorder = planned.app.episodes

    def work(
        self,
        task: str,
        *paths: str,
        caller: Caller = MAIN,
        decided: str = "",
        because: str = "",
        session: str = "",
        symbol: str = "",
    ) -> Episode:
        """Have an agent do a task: it edits some files, decides something and ends."""
        told = understand(task, "shop")
        mark = TaskMark(task, told.predicted, told.task_fingerprint, told.risk)
        begun = self.recorder.start(mark, "shop", caller, session=session or f"s {task}")
        events = [Event("edit", "", path, symbol, change="modified", how="hook") for path in paths]
        events += [Event("decision", "", text=decided)] if decided else []
        self.recorder.add(begun.name, events, caller)
        return self.recorder.judge(begun.name, "success", because, caller, ends=True)

    def known(self) -> None:
        """Have everything known to plans."""
        self.planned.app.episodes.settle()
        assert self.planned.source().settle(200) != "partial"

    def say_of(self, agent: str, front: str) -> None:
        """Write what the person says of an agent."""
        path = self.planned.vault / f"VaultMind/agents/{agent}/identity.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\n{front}\n---\nSomebody.\n", "utf-8")

    def forget(self) -> None:
        """Have nothing of it left."""
        for caller in (MAIN, OTHER):
            self.say_of(caller.agent, "autonomy: 2")
            for one in self.recorder.running(caller.agent):
                self.recorder.judge(one.name, "unknown", "", caller, ends=True)
            folder = f"VaultMind/agents/{caller.agent}/episodes"
            shutil.rmtree(self.planned.vault / folder, ignore_errors=True)
        self.planned.app.episodes.settle()
