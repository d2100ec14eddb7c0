"""`vaultmind minion try`: what a model would take from a session, and nothing is written."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from tests.cli.program import run
from tests.fakes import QueueGenerator
from tests.machine import Machine
from vaultmind.config import MinionConfig
from vaultmind.consolidate.types import SessionDone
from vaultmind.minion.choice import Minion
from vaultmind.minion.spending import Spending
from vaultmind.serve.ops import consolidation
from vaultmind.types import PERSON, Prompt

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.serve.call import Call

SAID = "I'm vegetarian, have been since school."


def test_a_session_is_read_and_left_as_it_was(machine: Machine) -> None:
    machine.run("session", "log", SAID)
    machine.run("session", "end")
    memory = machine.vault / "VaultMind/agents/main/memory"
    before = {path: path.read_bytes() for path in memory.rglob("*.md")}
    found = machine.run("minion", "try")
    (done,) = found["sessions"]
    assert done["by"] == "extractive" and found["took_ms"] > 0
    assert any("vegetarian" in fact["fact"] for fact in done["facts"])
    assert {path: path.read_bytes() for path in memory.rglob("*.md")} == before
    shown = run(machine, "minion", "try", done["session"])
    assert "vegetarian" in shown.out and "nothing was written" in shown.out


def test_what_is_no_session_or_no_model_is_said(machine: Machine) -> None:
    assert "2026-02-20_001" in run(machine, "minion", "try", "yesterday").err
    machine.run("session", "log", SAID)
    machine.run("session", "end")
    assert "There is no model file" in run(machine, "minion", "try", "--model", "gone.gguf").out


def test_a_try_goes_beyond_the_days_seconds_and_is_counted_into_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = MinionConfig(model="small", daily_seconds=10.0)
    model = QueueGenerator("done")
    minion = Minion(config, tmp_path, open_generator=lambda _: model)
    Spending(tmp_path, 10.0, lambda: datetime.now().astimezone()).add(11.0)
    monkeypatch.setattr(consolidation, "known_agent", lambda *_: "main")

    def tried(agent: str, session: str, models: Minion) -> SessionDone:
        done = models.run("extraction", lambda one: one.generate(Prompt(())).text)
        return SessionDone(agent, session, by=done.value or "")

    app = SimpleNamespace(
        minion=minion,
        config=SimpleNamespace(minion=config),
        consolidation=SimpleNamespace(tried=tried),
        thinker_with=lambda models: models,
    )
    call = cast("Call", SimpleNamespace(caller=PERSON))
    found = consolidation.minion_try(cast("App", app), call, session="2026-02-20_001")
    assert found.done.sessions[0].by == "done"
    assert minion.spent_today() > 11.0
