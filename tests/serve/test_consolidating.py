"""`consolidate`, `consolidation` and `dropped`: whose they are, what they take and say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve.vaults import config_of, write_vault
from vaultmind.app import App, open_app
from vaultmind.serve.operations import Call, run_operation
from vaultmind.types import PERSON, Caller, Message

ANNA = Call(PERSON)
MAIN = Call(Caller("agent", "main"))


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """An app over a small vault whose index is not needed, and so is not loaded."""
    write_vault(tmp_path / "vault")
    opened = open_app(config_of(tmp_path))
    yield opened
    opened.close()


def talk(app: App, *texts: str, agent: str = "main") -> str:
    for text in texts:
        app.sessions.log(agent, Message("user", text, "", how="captured"))
    return app.sessions.end(agent)


def ask(app: App, op: str, call: Call = ANNA, **args: Any) -> Any:
    return run_operation(app, call, op, args)


def test_an_agents_recap_stays_when_its_conversation_is_consolidated(app: App) -> None:
    said = ({"text": "The project now is the bread oven: Tomek lays the bricks in May."},)
    recap = "Tomek lays the bricks of the bread oven in May."
    run_operation(
        app, MAIN, "session_log", {"messages": list(said), "end": True, "recap": recap}, "mcp"
    )
    before = app.reader.read(app.paths.active_context("main")).text
    [done] = ask(app, "consolidate")["sessions"]
    assert recap in before and done["notes"] == []
    assert app.reader.read(app.paths.active_context("main")).text == before


def test_a_dry_run_shows_and_counts_what_waits_for_a_better_reader(app: App) -> None:
    talk(app, "I'm allergic to peanuts.", "Not anymore, she moved to Gdańsk in February.")
    body = ask(app, "consolidate", dry_run=True)
    assert "1 candidate left to an agent or a model" in body["message"]
    dropped = {one["reason"]: one["fact"] for one in body["sessions"][0]["dropped"]}
    assert "Gdańsk" in dropped["unclear alone"]


def test_a_reported_fact_that_waits_is_not_put_up_a_second_time(app: App) -> None:
    said = {"text": "No shellfish for me, I'm allergic to shellfish."}
    fact = {"text": "The user has a shellfish allergy.", "quote": "I'm allergic to shellfish"}
    args = {"messages": [said], "end": True, "facts": [fact]}
    told = run_operation(app, MAIN, "session_log", args, "mcp")
    assert told["facts"][0]["outcome"] == "suggested"
    ask(app, "consolidate")
    waiting = app.reader.read(app.paths.suggestions).text
    assert waiting.count("hellfish") == 1
    brain = app.paths.brain("main")
    assert not app.reader.exists(brain) or "hellfish" not in app.reader.read(brain).text
