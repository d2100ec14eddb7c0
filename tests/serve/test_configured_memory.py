"""What the configuration says of memory holds in the app: sizes, caution, own patterns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.serve.vaults import config_of, write_vault
from vaultmind.app import App, open_app
from vaultmind.config import MemoryConfig, RedactConfig
from vaultmind.memory.moves import brain_tokens
from vaultmind.redact import use_patterns
from vaultmind.serve import operations
from vaultmind.serve.call import Call
from vaultmind.types import Caller

MAIN = Caller("agent", "main", "claude-desktop")


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    write_vault(tmp_path / "vault")
    memory = MemoryConfig(brain_max_tokens=200, brain_target_tokens=100, caution=True)
    redact = RedactConfig(patterns=(r"(?i)\bproject falcon\b",))
    app = open_app(replace(config_of(tmp_path), memory=memory, redact=redact))
    yield app
    app.close()
    use_patterns(())


def update(app: App, **args: str) -> dict[str, Any]:
    return operations.answer(app, Call(MAIN), "memory_update", args, "mcp").json


def stored(app: App) -> str:
    memory = app.config.vault / "VaultMind"
    return "\n".join(path.read_text("utf-8") for path in memory.rglob("*") if path.is_file())


def test_a_brain_keeps_its_configured_size(app: App) -> None:
    for number in range(30):
        update(app, op="remember", text=f"Keeps thing {number} on the shelf by the door")
    brain = app.reader.read(app.paths.brain("main")).text
    assert 100 <= brain_tokens(brain) <= 200
    archive = app.reader.read(app.paths.archive("main")).text
    assert brain.count("- Keeps thing") + archive.count("- Keeps thing") == 30


def test_private_and_own_patterns_are_in_no_file_of_the_memory(app: App) -> None:
    done = update(
        app,
        op="remember",
        text="Leads Project Falcon <private>and owes zebras</private>",
        words="Remember: I lead Project Falcon <private>and I owe zebras",
    )
    assert done["outcome"] == "written"
    assert set(done["redacted"]) == {"own pattern", "private passage"}
    update(app, utterance="Remember that I like tea <private>and zebras</private>.")
    assert "tea" in app.reader.read(app.paths.brain("main")).text
    assert "alcon" not in stored(app)
    assert "zebra" not in stored(app)
