"""`consolidate`, `consolidation` and `dropped`: whose they are, what they take and say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve.vaults import config_of, write_vault
from vaultmind.app import App, open_app
from vaultmind.errors import NotAllowed
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


def test_no_agent_may_consolidate_pause_or_read_what_was_dropped(app: App) -> None:
    for op in ("consolidate", "consolidation", "log"):
        with pytest.raises(NotAllowed, match="for the person"):
            ask(app, op, MAIN)


def test_a_session_that_is_named_alone_is_the_configured_agents(app: App) -> None:
    session, other = talk(app, "I live in Bristol."), talk(app, "My cat is called Momo.")
    body = ask(app, "consolidate", session=session)
    assert [(one["session"], one["agent"]) for one in body["sessions"]] == [(session, "main")]
    waiting = ask(app, "consolidation")["queue"]
    assert waiting == [f"{other} (main)"]


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
