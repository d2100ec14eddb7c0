"""Runs of sub-agents: what was forgotten or excluded is not shown of them either."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import HashEmbedder
from vaultmind.app import App, open_app
from vaultmind.config import Config
from vaultmind.memory.wording import default_identity
from vaultmind.serve.operations import Call, run_operation
from vaultmind.types import Caller

FACT = "The kayak locker opens with ZANZIBAR"
RUNS = "VaultMind/conversations/scheduler_daily"
LINES = (
    {"role": "user", "content": "Report on the kayak"},
    {"role": "tool", "content": [{"text": "locker: the kayak locker opens with ZANZIBAR"}]},
    {"role": "assistant", "content": "The locker of the kayak opens with ZANZIBAR at the lake."},
    {"role": "user", "content": "And the weather?"},
    {"role": "assistant", "content": "It rains."},
)


def opened(folder: Path, **more: Any) -> App:
    vault = folder / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    for agent in ("main", "jaskier"):
        path = vault / f"VaultMind/agents/{agent}/identity.md"
        path.parent.mkdir(parents=True)
        path.write_text(default_identity(agent, "en"), "utf-8")
    runs = vault / RUNS
    runs.mkdir(parents=True)
    (runs / "1.jsonl").write_text("\n".join(map(json.dumps, LINES)) + "\n", "utf-8")
    return open_app(
        Config(vault=vault, state_dir=folder / "state", **more), embedder=HashEmbedder()
    )


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = opened(tmp_path)
    yield app
    app.close()


def ask(app: App, name: str, caller: Caller, **args: Any) -> dict[str, Any]:
    return run_operation(app, Call(caller), name, args)


def history(app: App, agent: str = "main") -> str:
    caller = Caller("agent", agent)
    built = ask(app, "context_build", caller, task="daily", messages=["go"], budget=1000)
    return "\n".join(part["text"] for part in built["parts"] if part["name"] == "history")


def test_what_no_fact_says_is_hidden_in_the_runs_too(app: App) -> None:
    ask(app, "memory_update", Caller("agent", "main"), op="forget", text="kayak locker ZANZIBAR")
    assert "ZANZIBAR" not in history(app)
