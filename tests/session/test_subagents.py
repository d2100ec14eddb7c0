"""Runs of scheduled sub-agents: the last completed ones are shown, without what was forgotten."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import HashEmbedder
from vaultmind.app import open_app
from vaultmind.config import Config
from vaultmind.memory.wording import default_identity
from vaultmind.serve.op import Call, run_operation
from vaultmind.types import Caller

MAIN = Caller("agent", "main")


def said(role: str, content: Any, **more: object) -> dict[str, object]:
    return {"role": role, "content": content, **more}


def put(root: Path, name: str, *lines: object) -> None:
    path = root / "VaultMind/conversations/scheduler_daily" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [one if isinstance(one, str) else json.dumps(one) for one in lines]
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")


@pytest.mark.parametrize("task", ["bakup", "daily"])
def test_a_context_shows_them_without_what_was_forgotten(tmp_path: Path, task: str) -> None:
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    identity = vault / "VaultMind/agents/main/identity.md"
    identity.parent.mkdir(parents=True)
    identity.write_text(default_identity("main", "en"), "utf-8")
    put(vault, "0.jsonl", said("user", "Is it cold?"), said("assistant", "Very cold."),
        said("user", "Report on the kayak"), said("assistant", "", tool_calls="look"))  # fmt: skip
    put(vault, "1.jsonl", "{torn", [1], said("robot", "x"),
        said("tool", [{"text": "locker: the kayak locker opens with ZANZIBAR"}]),
        said("assistant", "The locker of the kayak opens with ZANZIBAR at the lake."),
        said("user", "And the weather?"), said("assistant", "It rains."),
        said("user", "Unfinished business"))  # fmt: skip
    app = open_app(Config(vault=vault, state_dir=tmp_path / "state"), embedder=HashEmbedder())

    def ask(name: str, **args: Any) -> dict[str, Any]:
        return run_operation(app, Call(MAIN), name, args)

    try:
        shown = ask("context_build", task=task, messages=["go"], budget=1000)
        if task == "bakup":
            assert "There are no completed runs of the task 'bakup'." in str(shown)
            return
        for words in ("Very cold.", "Report on the kayak", "[look]", "ZANZIBAR", "It rains."):
            assert words in str(shown)
        assert "Unfinished" not in str(shown) and "robot" not in str(shown)
        ask("memory_update", op="forget", text="kayak locker ZANZIBAR")
        shown = ask("context_build", task=task, messages=["go"], budget=1000)
        assert "ZANZIBAR" not in str(shown) and "It rains." in str(shown)
    finally:
        app.close()
