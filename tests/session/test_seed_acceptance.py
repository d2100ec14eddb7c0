"""What the document on auto-RAG and sub-agents in the context asks for, a test each.

Over the real parts: session files, conversations in memory, summaries, the builder as it is wired.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import HashEmbedder
from tests.session.building import FILLER, OVEN, text_of
from vaultmind.app import App, open_app
from vaultmind.config import AutoRagConfig, Config, ContextConfig
from vaultmind.session.parts import BuildRequest, BuiltContext
from vaultmind.types import PERSON, Caller, Message, MessageRef, Role

MAIN = Caller("agent", "main")
START = datetime.fromisoformat("2026-02-20T10:00:00+01:00")
WINDOW = 6


class Room:
    """A vault whose agent has talked."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.said = 0

    def say(self, *texts: str, role: Role | None = None, **more: Any) -> list[MessageRef]:
        """Write messages down; the user and the assistant take turns."""
        messages = []
        for text in texts:
            self.said += 1
            who: Role = role or ("user" if self.said % 2 else "assistant")
            time = (START + timedelta(seconds=20 * self.said)).isoformat()
            messages.append(Message(who, text, time, f"id{self.said}", **more))
        return list(self.app.sessions.log_many("main", messages).refs)

    def chat(self, number: int) -> None:
        """Write so many messages of small moment down."""
        self.say(*(f"{FILLER[n % len(FILLER)]}, day {n}" for n in range(number)))

    def build(self, *pending: str, **request: Any) -> BuiltContext:
        """Build a context as the surfaces do."""
        return self.app.builder.build(BuildRequest("main", pending=pending, **request), MAIN)

    def run(self, name: str, *lines: object, task: str = "daily") -> None:
        """Write a file of a task's runs, as a host does."""
        file = self.app.paths.root / f"VaultMind/conversations/scheduler_{task}/{name}"
        file.parent.mkdir(parents=True, exist_ok=True)
        texts = (one if isinstance(one, str) else json.dumps(one) for one in lines)
        file.write_text("".join(f"{text}\n" for text in texts), "utf-8")


Open = Callable[..., Room]


@pytest.fixture
def open_room(tmp_path: Path) -> Iterator[Open]:
    """Return what opens a vault with a window of six messages."""
    apps: list[App] = []
    (tmp_path / "vault").mkdir()

    def opened(rag: AutoRagConfig | None = None, *, running: bool = False) -> Room:
        config = Config(
            vault=(tmp_path / "vault").resolve(),
            state_dir=tmp_path / "state",
            context=ContextConfig(sliding_window=WINDOW),
            auto_rag=rag or AutoRagConfig(),
        )
        app = open_app(config, clock=lambda: START, embedder=HashEmbedder())
        apps.append(app)
        if running:
            app.start()
        app.init("main", "en", PERSON)
        return Room(app)

    yield opened
    for app in apps:
        app.close()


@pytest.fixture
def room(open_room: Open) -> Room:
    """Return a vault with the defaults."""
    return open_room()


def _line(role: str, content: str, **more: object) -> dict[str, object]:
    return {"role": role, "type": "text", "content": content, **more}


def _run(number: int) -> tuple[dict[str, object], dict[str, object]]:
    return _line("user", f"do {number}"), _line("assistant", f"did {number}")


# --- a sub-agent's context -----------------------------------------------------------------


def test_a_subagent_s_context_includes_what_its_runs_said(room: Room) -> None:
    room.run("2026-02-19.jsonl", *_run(1), *_run(2))
    text = text_of(room.build("Now", task="daily"), "history")
    assert text.index("user: do 1") < text.index("assistant: did 1") < text.index("user: do 2")


# --- messages and their vectors ------------------------------------------------------------


def test_a_message_of_the_user_is_saved_with_a_place_of_its_own(room: Room) -> None:
    (ref,) = room.say(OVEN, role="user")
    assert (ref.block, ref.id) == ("m1", "id1")
    (again,) = room.app.sessions.log_many(
        "main", [Message("user", OVEN, START.isoformat(), "id1")], now=START
    ).refs
    assert again == ref
