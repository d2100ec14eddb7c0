"""What a host's hook tells is taken down once, and answered with what the host does not have."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import HashEmbedder
from tests.serve.vaults import config_of, write_vault
from tests.session.transcripts import Script, left_in
from tests.waiting import until
from vaultmind.app import App, open_app
from vaultmind.errors import BadArgument
from vaultmind.serve.op import Call, run_operation
from vaultmind.serve.ops import hooks as hooking
from vaultmind.session import spool
from vaultmind.types import PERSON, Caller
from vaultmind.vault.transcript import PlacedMessage, parse_meta

MAIN = Caller("agent", "main", "claude-code")


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path / "projects/p/5f1c-1.jsonl")


def tell(
    app: App, script: Script, event: str, caller: Caller = MAIN, **more: str
) -> dict[str, Any]:
    """Return the answer that a host was given."""
    args = {"event": event, "session_id": script.session_id, "transcript_path": str(script.path)}
    return run_operation(app, Call(caller), "hook", args | more)


def talk_about_bread(script: Script) -> list[str]:
    return [
        script.user("How hot must the bread oven be for a sourdough loaf?"),
        script.says("The bread oven needs 230 degrees for a sourdough loaf."),
        script.calls("Bash", "t1", command="ls"),
        script.result("t1", "Oven.md\n" * 100),
    ]


def messages(app: App, session: str, agent: str = "main") -> list[PlacedMessage]:
    return list(app.sessions.read(agent, session).messages)


def texts(app: App, session: str) -> list[str]:
    return [placed.message.text for placed in messages(app, session)]


def text_of(app: App, session: str, agent: str = "main") -> str:
    return (app.paths.root / app.paths.session(agent, session)).read_text("utf-8")


# --- taking down ---------------------------------------------------------------------------


def test_what_a_person_deleted_by_hand_does_not_come_back_after_a_restart(
    tmp_path: Path, script: Script
) -> None:
    write_vault(tmp_path / "vault")
    script.user("My affair is nobody's business.")
    for number in range(60):  # five minutes
        script.says(f"Answer number {number}.")
    with closing(open_app(config_of(tmp_path), embedder=HashEmbedder())) as app:
        session = tell(app, script, "Stop")["session"]
        file = app.paths.root / app.paths.session("main", session)
    placed = messages(app, session)[0]
    text = file.read_text("utf-8")
    file.write_text(text[: placed.start] + text[placed.end :].lstrip("\n"), "utf-8")
    script.user("After the restart.")
    with closing(open_app(config_of(tmp_path), embedder=HashEmbedder())) as app:
        told = tell(app, script, "Stop")
        assert (told["new"], told["session"]) == (1, session)
    assert texts(app, session)[0] == "Answer number 0."
    assert texts(app, session)[-1] == "After the restart."


def test_what_was_erased_or_forgotten_does_not_come_back(tmp_path: Path, script: Script) -> None:
    write_vault(tmp_path / "vault")
    talk_about_bread(script)
    app = open_app(config_of(tmp_path), embedder=HashEmbedder())
    session = tell(app, script, "Stop")["session"]
    found = run_operation(app, Call(PERSON), "erase", {"text": "sourdough"})
    run_operation(app, Call(PERSON), "erase", {"text": "sourdough", "seal": found["seal"]})
    app.close()
    app = open_app(config_of(tmp_path), embedder=HashEmbedder())
    try:
        assert tell(app, script, "Stop")["new"] == 0
        assert "sourdough" not in text_of(app, session)
    finally:
        app.close()


def test_a_forked_conversation_is_written_down_from_where_it_goes_on(
    app: App, script: Script, tmp_path: Path
) -> None:
    ids = talk_about_bread(script)
    tell(app, script, "Stop")
    fork = Script(tmp_path / "projects/p/fork.jsonl", "fork")
    fork.user("How hot must the bread oven be?", forkedFrom={"messageUuid": ids[0]})
    assert tell(app, fork, "Stop")["new"] == 0
    fork.user("And for a cake?")
    assert texts(app, tell(app, fork, "Stop")["session"]) == ["And for a cake?"]


def test_what_was_said_before_a_compaction_is_found_again(app: App, script: Script) -> None:
    talk_about_bread(script)
    tell(app, script, "Stop")
    assert app.index.wait_ready(20)
    mine = replace(MAIN, conversation=f"claude-code:{script.session_id}")

    def found() -> str:
        told = run_operation(app, Call(mine), "memory_search", {"query": "sourdough loaf 230"})
        return " ".join(hit["text"] for hit in told["hits"] if hit["kind"] == "message")

    assert "230 degrees" not in found(), "the host has it before it"
    script.compacts()
    tell(app, script, "Stop")
    assert "230 degrees" in found()


# --- what hooks left, and what is refused --------------------------------------------------


def leave(app: App, script: Script, *, source: str = "", end: bool = False) -> None:
    event = {"agent": "main", "session_id": script.session_id, "source": source, "end": end}
    spool.leave(str(app.config.state_dir), {**event, "transcript_path": str(script.path)})


def waiting(app: App) -> list[dict[str, Any]]:
    return left_in(app.config.state_dir)


def test_what_a_hook_left_is_made_up_for_with_the_next_one_and_its_start_is_given_then(
    app: App, script: Script, tmp_path: Path
) -> None:
    other = Script(tmp_path / "projects/p/other.jsonl", "other")
    for number in range(30):
        other.user(f"Sentence number {number} of a long talk.")
    leave(app, other, source="startup", end=True)
    leave(app, script, source="startup")
    told = tell(app, script, "UserPromptSubmit", prompt="Hello")
    assert "You are Main" in told["context"]
    assert "You are Main" not in tell(app, script, "UserPromptSubmit", prompt="Hello")["context"]
    until(lambda: not waiting(app))
    session = app.sessions.heads("main")[0].id
    assert len(messages(app, session)) == 30
    assert parse_meta(text_of(app, session)).state == "ended"


ODD = (
    {"agent": "../x", "session_id": "y", "transcript_path": "/etc/passwd", "source": ""},
    {"agent": "main", "session_id": "x", "transcript_path": "/tmp/\ud800.jsonl", "source": ""},
    {"agent": "main", "session_id": "x", "at": 1e300, "tool": "Read"},
    {},
)


def test_nothing_left_is_so_odd_that_it_keeps_the_others(app: App, script: Script) -> None:
    talk_about_bread(script)
    for one in ODD:
        spool.leave(str(app.config.state_dir), one)
    with (app.config.state_dir / spool.NAME).open("a") as file:
        file.write("{torn\n" + "[" * 90_000 + "\n")
    leave(app, script)
    hooking.catch_up_hooks(app)
    until(lambda: not waiting(app))
    assert app.sessions.heads("main")


def test_links_pipes_and_folders_are_refused_without_waiting(
    app: App, script: Script, tmp_path: Path
) -> None:
    link, pipe, folder = (tmp_path / f"{name}.jsonl" for name in ("link", "pipe", "folder"))
    link.symlink_to(script.path)
    os.mkfifo(pipe)
    folder.mkdir()
    for path in (link, pipe, folder):
        with pytest.raises(BadArgument, match="transcript_path"):
            tell(app, script, "Stop", transcript_path=str(path))
