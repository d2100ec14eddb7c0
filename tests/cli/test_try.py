"""`vaultmind minion try`: what a model would take from a session, and nothing is written."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from tests.fakes import QueueGenerator
from vaultmind.config import MinionConfig
from vaultmind.consolidate.types import SessionDone
from vaultmind.minion.choice import Minion
from vaultmind.minion.spending import Spending
from vaultmind.serve.ops import consolidation
from vaultmind.types import PERSON, Prompt

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.serve.call import Call


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
    assert found.sessions[0].by == "done"
    assert minion.spent_today() > 11.0
