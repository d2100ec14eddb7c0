"""`consolidate`, `consolidation` and `dropped`: whose they are, what they take and say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve.vaults import config_of, write_vault
from vaultmind.app import App, open_app
from vaultmind.consolidate.types import Consolidated, Dropped, SessionDone, Settled, SummaryDone
from vaultmind.errors import BadArgument, NotAllowed, NotFound
from vaultmind.serve.operations import Call, answer, run_operation
from vaultmind.serve.show import dump, show
from vaultmind.types import PERSON, Caller, Message, Progress

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


def test_it_tells_how_far_it_is(app: App) -> None:
    for text in ("I live in Bristol.", "My cat is called Momo."):
        talk(app, text)
    steps: list[Progress] = []
    ask(app, "consolidate", Call(PERSON, steps.append))
    sessions = [(one.done, one.total) for one in steps if one.what == "sessions"]
    assert sessions == [(0, 2), (1, 2), (2, 2)]


def test_a_session_that_is_named_alone_is_the_configured_agents(app: App) -> None:
    session, other = talk(app, "I live in Bristol."), talk(app, "My cat is called Momo.")
    body = ask(app, "consolidate", session=session)
    assert [(one["session"], one["agent"]) for one in body["sessions"]] == [(session, "main")]
    waiting = ask(app, "consolidation")["queue"]
    assert waiting == [{"agent": "main", "session": other}]


def test_the_status_tells_a_person_all_and_an_agent_what_is_its_own(app: App) -> None:
    talk(app, "I live in Bristol.")
    assert ask(app, "memory_status")["consolidation"]["waiting"] == 1
    assert (
        "1 session waits to be consolidated" in answer(app, MAIN, "memory_status", {}, "mcp").words
    )
    stranger = Call(Caller("agent", "dexter"))
    told = run_operation(app, stranger, "memory_status", {}, "mcp")["consolidation"]
    assert (told["waiting"], told["words"], told["running"]) == (0, "", "")
    ask(app, "consolidate")
    person = ask(app, "memory_status")["consolidation"]
    assert person["waiting"] == 0 and person["last_time"]
    own = run_operation(app, MAIN, "memory_status", {}, "mcp")["consolidation"]
    assert (own["last_time"], own["dropped"]) == ("", {})


def test_a_pause_holds_over_a_restart_and_stops_no_one_who_asks(tmp_path: Path) -> None:
    write_vault(tmp_path / "vault")
    first = open_app(config_of(tmp_path))
    assert ask(first, "consolidation", action="pause")["paused"]
    first.close()
    again = open_app(config_of(tmp_path))
    talk(again, "I live in Bristol.")
    assert ask(again, "consolidation")["paused"]
    assert len(ask(again, "consolidate")["sessions"]) == 1
    assert not ask(again, "consolidation", action="resume")["paused"]
    again.close()


def test_where_nothing_waits_it_says_what_comes_next_and_what_goes_on(app: App) -> None:
    talk(app, "I live in Bristol.")
    ask(app, "consolidate")
    app.sessions.log("main", Message("user", "Hello again.", "", how="captured"))
    notes = ask(app, "consolidate", agent="main")["notes"]
    assert notes == [
        "main: 4 more sessions until the next L1, 5 more L1 until the next L2, "
        "1 conversation not over yet."
    ]


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


def test_the_words_of_what_is_not_to_be_told_are_in_no_answer() -> None:
    dropped = tuple(
        Dropped("the alarm code", reason, ("m1",))  # type: ignore[arg-type]
        for reason in ("secret", "private", "asked not to keep", "forgotten")
    )
    done = Consolidated((SessionDone("main", "2026-02-20_001", dropped=dropped),))
    assert "alarm" not in str(dump(done)) + show(done)
    assert "4 dropped: 1 secret, 1 private, 1 asked not to keep, 1 forgotten" in show(done)


def test_all_of_an_answer_is_said_in_words_too() -> None:
    facts = (
        Settled("CORE", "Lives in Bristol", ("m1",), outcome="written"),
        Settled("DELETE", "Has a cat", ("m2",), outcome="not_found"),
    )
    summary = SummaryDone("main", "L1", "L1_001", "a/L1_001.md", ("x",), 9, "…", notes=("odd",))
    done = Consolidated((SessionDone("main", "2026-02-20_001", facts),), (summary,), ("a note",))
    for said in ("Lives in Bristol", "Has a cat (no such fact)", "a/L1_001.md", "· a note"):
        assert said in show(done)
    assert dump(done)["notes"] == ["a note", "L1_001 of main: odd"]


def test_what_was_dropped_is_told_newest_last_with_where_it_was_said(app: App) -> None:
    assert "Nothing was dropped yet" in answer(app, ANNA, "dropped", {}, "cli").words
    session = talk(app, "Maybe I should buy a boat?", "I live in Bristol.")
    ask(app, "consolidate")
    [one] = ask(app, "dropped", agent="main")["dropped"]
    where = ("main", session, True)
    assert (one["agent"], one["session"], one["evidence"].endswith("^m1")) == where
    assert one["words"] == f"“{one['text']}”: {one['reason']}"
    assert ask(app, "dropped", agent="jaskier")["message"].startswith("Nothing that was dropped")
    assert one["words"] in answer(app, ANNA, "dropped", {}, "cli").words
