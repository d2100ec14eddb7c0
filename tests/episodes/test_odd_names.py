"""A file's odd name costs an episode that file and nothing else; odd figures cost nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.episodes.talking import Talk, linked_project, told, watching_app
from tests.episodes.test_watching import a_talk
from vaultmind.app import App
from vaultmind.episodes.notes.keeping import can_keep, kept_event
from vaultmind.episodes.notes.lines import event_of, line_of
from vaultmind.episodes.types import Event
from vaultmind.errors import WriteFailed
from vaultmind.session.capture import uses

NOW = "2026-11-22T10:00:03+01:00"


@pytest.mark.parametrize("path", ["log 10:30.py", "aa:b/c.py", "notes/C:/x.md", "12:00"])
@pytest.mark.parametrize("links", [False, True])
def test_a_colon_in_a_name_is_legal(path: str, links: bool) -> None:
    event = kept_event(Event("edit", NOW, path, change="modified"), NOW)
    again = event_of(line_of(event, links=links))
    assert again is not None and again.path == path


@pytest.mark.parametrize(
    "path", ["C:/x", "c:x", "C:\\x", "https://example.org/x", "file:///x", "a\u202ec.py", "a\nb"]
)
def test_what_no_line_can_hold_or_is_elsewhere_cannot_be_kept(path: str) -> None:
    assert not can_keep(Event("read", NOW, path))
    assert can_keep(Event("read", NOW, "src/a.py"))


# --- through the hooks ---------------------------------------------------------------------


TASK = "Fix the refresh of the JWT token in the auth module"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with watching_app(tmp_path_factory.mktemp("odd")) as opened:
        yield opened


@pytest.fixture
def talk(app: App, tmp_path: Path) -> Iterator[Talk]:
    with linked_project(app, tmp_path / "shop") as folder:
        yield a_talk(app, folder, tmp_path)


@pytest.mark.parametrize("odd", ["log 10:30.py", "a\u202ec.py", "two\nlines.py"])
def test_an_odd_name_costs_a_turn_only_that_file(talk: Talk, odd: str) -> None:
    talk.asks(TASK)
    talk.reads("src/auth.py")
    for name in ("src/cart.py", odd):
        (talk.cwd / name).write_text("z = 1\n", "utf-8")
    talk.stops()
    talk.asks("And commit the token refresh in the auth module now")
    talk.edits("src/auth.py")
    commit = talk.commits("Refresh once (#12)")
    talk.stops()
    talk.ends()
    one = talk.episode()
    assert one.state == "ended"
    assert ("delta", "src/cart.py") in told(one, "delta")
    committed = {event.path for event in one.events if event.commit == commit}
    assert {"src/auth.py", "src/cart.py"} <= committed
    assert ("log 10:30.py" in committed) is (odd == "log 10:30.py")


def test_a_conversation_ends_whatever_could_not_be_written_before(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk.asks(TASK)
    talk.reads("src/auth.py")
    (talk.cwd / "src/cart.py").write_text("z = 1\n", "utf-8")
    assert talk.app.watching.wait(30)

    def refuse(*args: object) -> None:
        raise WriteFailed("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(talk.app.episodes.recorder, "add", refuse)
        talk.ends()
        assert talk.app.watching.wait(30)
    assert talk.episode().state == "ended"


def test_commits_that_could_not_be_written_are_taken_at_the_next_look(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk.asks(TASK)
    talk.edits("src/auth.py")
    assert talk.app.watching.wait(30)
    add: Callable[..., Any] = talk.app.episodes.recorder.add

    def refuse(name: str, events: list[Event], *more: Any) -> Any:
        if any(one.kind == "commit" for one in events):
            raise WriteFailed("the disk is full")
        return add(name, events, *more)

    with monkeypatch.context() as patched:
        patched.setattr(talk.app.episodes.recorder, "add", refuse)
        commit = talk.commits("Refresh once (#12)")
        assert talk.app.watching.wait(30)
    talk.ends()
    assert commit in {event.commit for event in talk.episode().events}


@pytest.mark.parametrize(
    "took", ["Infinity", "-Infinity", "NaN", "1" + "0" * 400, "1e300", "-5", '"1"', "null"]
)
def test_a_figure_that_none_is_costs_no_use(took: str) -> None:
    given = json.loads(
        '{"session_id": "s", "tool_name": "Read", "tool_input": {"file_path": "/a.py"}, '
        f'"duration_ms": {took}}}'
    )
    use = uses.reduced(given, "PostToolUse")
    assert use is not None and use["reads"] == ["/a.py"] and "took" not in use


@pytest.mark.parametrize("took", [float("inf"), float("nan"), 1e300, -1.0])
def test_whoever_says_so_to_the_daemon_loses_no_use_either(talk: Talk, took: float) -> None:
    from vaultmind.episodes.watching.seen import Use

    talk.asks(TASK)
    now = talk.app.clock().isoformat(timespec="seconds")
    use = replace(Use(now, str(talk.cwd)), edits=(str(talk.cwd / "src/auth.py"),), took=took)
    talk.app.watching.used(talk.caller, talk.session, use)
    assert told(talk.episode()) == [("edit", "src/auth.py")]


def test_a_use_of_no_conversation_is_left_nowhere() -> None:
    given = {"tool_name": "Read", "tool_input": {"file_path": "/a.py"}}
    assert uses.reduced(given, "PostToolUse") is None
