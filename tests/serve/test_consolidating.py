"""`consolidate`, `consolidation` and `dropped`: whose they are, what they take and say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve.vaults import config_of, write_vault
from vaultmind.app import App, open_app
from vaultmind.consolidate.types import SessionDone, Settled, SummaryDone
from vaultmind.errors import BadArgument, NotAllowed, NotFound
from vaultmind.serve.operations import Call, answer, run_operation
from vaultmind.serve.ops.consolidation import Consolidation
from vaultmind.serve.show import show
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
    for op in ("consolidate", "consolidation", "dropped"):
        with pytest.raises(NotAllowed, match="for the person"):
            ask(app, op, MAIN)


@pytest.mark.parametrize(
    ("args", "error", "part"),
    [
        ({"session": "yesterday"}, BadArgument, "the id of a session"),
        ({"session": "../2026-02-20_001"}, BadArgument, "the id of a session"),
        ({"session": "2026-01-01_001"}, NotFound, "2026-01-01_001"),
        ({"again": "L3_001"}, BadArgument, "L1_001"),
        ({"again": "L1_099"}, NotFound, "L1_099"),
        ({"agent": "nobody"}, NotFound, "nobody"),
        ({"session": "2026-01-01_001", "again": "L1_001"}, BadArgument, "without `session`"),
    ],
)
def test_what_is_not_there_is_said_in_words(
    app: App, args: dict[str, str], error: type[Exception], part: str
) -> None:
    with pytest.raises(error, match=part):
        ask(app, "consolidate", **args)


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


def test_all_of_an_answer_is_said_in_words_too() -> None:
    facts = (
        Settled("CORE", "Lives in Bristol", ("m1",), outcome="written"),
        Settled("DELETE", "Has a cat", ("m2",), outcome="not_found"),
    )
    summary = SummaryDone("main", "L1", "L1_001", "a/L1_001.md", ("x",), 9, "…", notes=("odd",))
    done = Consolidation(
        "", (SessionDone("main", "2026-02-20_001", facts),), (summary,), ("a note",)
    )
    for said in ("Lives in Bristol", "Has a cat", "not_found", "a/L1_001.md", "! odd", "! a note"):
        assert said in show(done)


def test_what_was_dropped_is_told_newest_last_with_where_it_was_said(app: App) -> None:
    assert "Nothing was dropped yet" in answer(app, ANNA, "dropped", {}, "cli").words
    session = talk(app, "Maybe I should buy a boat?", "I live in Bristol.")
    ask(app, "consolidate")
    [one] = ask(app, "dropped", agent="main")["lines"]
    where = ("main", session, True)
    assert (one["agent"], one["session"], one["evidence"].endswith("^m1")) == where
    assert one["words"] == f"“{one['after']}”: {one['reason']} ({session})"
    assert ask(app, "dropped", agent="jaskier")["notes"][0].startswith("None fits")
    assert one["words"] in answer(app, ANNA, "dropped", {}, "cli").words
