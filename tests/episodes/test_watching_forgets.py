"""What was asked is forgotten with all else that says it: by hooks, after restarts, everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.episodes.talking import Talk, linked, make_project, without_vectors
from tests.serve.vaults import write_vault
from tests.session.transcripts import Script
from vaultmind.app import App, open_app
from vaultmind.types import PERSON, Caller, MemoryWrite, Message

FACT = "My divorce lawyer is called Zanzibarquux"
PROMPT = f"Fix the refresh of the JWT token in the oven note. {FACT}."
WORD = "Zanzibarquux"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    write_vault(tmp_path / "vault")
    yield from opened(tmp_path)


def opened(folder: Path) -> Iterator[App]:
    app = open_app(without_vectors(folder))
    app.start()
    try:
        assert app.index.wait_ready(30)
        app.init("main", "en", PERSON)
        yield app
    finally:
        app.close()


@pytest.fixture
def shop(app: App, tmp_path: Path) -> Path:
    return linked(app, make_project(tmp_path / "shop", with_git=False))


def a_talk(app: App, tmp_path: Path, session: str = "talk-1") -> Talk:
    """Return a conversation in the vault, whose prompt stands in the host's transcript first."""
    return Talk(app, app.paths.root, Script(tmp_path / f"p/{session}.jsonl", session))


def asks(talk: Talk, words: str) -> None:
    """Ask as a host does that has written the prompt down before it tells of it."""
    talk.script.user(words)
    talk.tell("UserPromptSubmit", prompt=words)
    talk.app.watching.wait(10)
    talk.app.index.refresh([])


def reads(talk: Talk, path: Path) -> None:
    talk.uses("Read", {"file_path": str(path)}, {"type": "text", "file": {"content": "x"}})


def holding(app: App, word: str = WORD) -> list[str]:
    """Return the files of the vault and the state that hold a word."""
    assert app.watching.wait(30)
    app.episodes.settle()
    roots = (app.paths.root, app.config.state_dir)
    every = (path for root in roots for path in root.rglob("*") if path.is_file())
    return [str(path) for path in every if word.lower().encode() in path.read_bytes().lower()]


def erase(app: App) -> None:
    erased = app.gate.erasing.erase(FACT, PERSON, app.erasing)
    assert erased.outcome == "erased", erased


def forget(app: App) -> None:
    assert app.gate.write(MemoryWrite("forget", "main", PERSON, FACT)).outcome == "written"


def vault_note(app: App) -> Path:
    every = app.paths.root.rglob("*.md")
    return next(path for path in sorted(every) if app.config.memory_dir not in path.parts)


def test_an_erased_prompt_is_no_task_of_another_episode_of_its_conversation(
    app: App, shop: Path, tmp_path: Path
) -> None:
    talk = a_talk(app, tmp_path)
    asks(talk, PROMPT)
    reads(talk, vault_note(app))
    talk.stops()
    assert [one.task.text for one in talk.episodes()] == [PROMPT]
    erase(app)
    assert not holding(app)
    reads(talk, shop / "src/auth.py")
    assert not holding(app)
    asks(talk, "Tidy the cart of the shop and its totals")
    reads(talk, shop / "src/cart.py")
    assert [one.task.text for one in talk.episodes() if one.source == "shop"] == [
        "Tidy the cart of the shop and its totals"
    ], "its next prompt is a task again"


def test_after_a_forgetting_the_next_prompt_of_that_agent_is_a_task_again(
    app: App, shop: Path, tmp_path: Path
) -> None:
    app.init("dexter", "en", PERSON)
    app.gate.write(MemoryWrite("remember", "main", PERSON, FACT))
    talk, dexters = a_talk(app, tmp_path), a_talk(app, tmp_path, "talk-2")
    dexters.caller = Caller("agent", "dexter", "claude-code")
    asks(talk, PROMPT)
    asks(dexters, PROMPT)
    forget(app)
    reads(talk, shop / "src/auth.py")
    reads(dexters, shop / "src/auth.py")
    assert not talk.episodes()
    assert [one.task.text for one in dexters.episodes()] == [PROMPT], "another agent's memory"


def in_a_brain(app: App, agent: str) -> None:
    app.init(agent, "en", PERSON)
    app.gate.write(MemoryWrite("remember", agent, PERSON, FACT))


def in_another_talk(app: App, agent: str) -> None:
    message = Message("user", FACT, app.clock().isoformat(timespec="seconds"), id="m-1")
    app.sessions.log("main", message, conversation="mcp:1")
    app.index.refresh([])


@pytest.mark.parametrize(
    ("said", "agent", "gone"),
    [
        (in_a_brain, "dexter", erase),
        (in_another_talk, "main", forget),
    ],
)
def test_a_prompt_that_no_session_had_is_not_read_again_after_it_was_erased_and_a_restart(
    tmp_path: Path, said: Callable[[App, str], None], agent: str, gone: Callable[[App], None]
) -> None:
    write_vault(tmp_path / "vault")
    first = opened(tmp_path)
    app = next(first)
    shop = linked(app, make_project(tmp_path / "shop", with_git=False))
    said(app, agent)
    talk = a_talk(app, tmp_path)
    talk.script.user(PROMPT)
    gone(app)
    first.close()
    again = opened(tmp_path)
    app = next(again)
    resumed = Talk(app, talk.cwd, talk.script)
    reads(resumed, shop / "src/auth.py")
    assert not resumed.episodes()
    assert gone is forget or not holding(app)
    resumed.script = Script(tmp_path / "p/talk-1.jsonl", "talk-1", app.clock())
    resumed.script.user("Tidy the cart of the shop and its totals")
    reads(resumed, shop / "src/auth.py")
    assert [one.task.text for one in resumed.episodes()] == [
        "Tidy the cart of the shop and its totals"
    ]
    again.close()
