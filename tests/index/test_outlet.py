"""index/outlet: one filter decides what leaves the vault."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.index.vault import Vault
from vaultmind.types import PERSON, Caller, Chunk

AGENT = Caller("agent", "main")
MEMORY = "VaultMind/agents/main/memory"


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    made = Vault(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize(
    "path",
    ["Note.md", "A/b.canvas", f"{MEMORY}/brain.md", "VaultMind/agents/main/identity.md"],
)
def test_what_is_indexed_and_who_an_agent_is_are_shown(vault: Vault, path: str) -> None:
    assert vault.outlet.shows(path, AGENT)
    assert vault.outlet.shows(path, PERSON)


@pytest.mark.parametrize(
    "path",
    [
        "VaultMind/Suggestions.md",
        "VaultMind/README.md",
        f"{MEMORY}/audit-laptop.jsonl",
        f"{MEMORY}/tombstones-laptop.jsonl",
        f"{MEMORY}/brain.damaged-20260220.md",
        f"{MEMORY}/sessions/2026-02-20_001.sync-conflict-20260221-101010-ABCDEFG.md",
        ".obsidian/app.md",
        ".trash/old.md",
        "secrets/keys.md",
        "x/.env",
        "../outside.md",
    ],
)
def test_what_is_never_indexed_is_never_shown(vault: Vault, path: str) -> None:
    assert not vault.outlet.shows(path, PERSON)


@pytest.mark.parametrize("name", ["D1:1", "m1"])
def test_a_forgotten_message_is_hidden_by_its_id_and_by_its_block(vault: Vault, name: str) -> None:
    path = f"{MEMORY}/sessions/2026-02-20_001.md"
    chunk = Chunk(
        *("id", path, "message", "main", "#^m1", "", "text", 0, 4),
        session="2026-02-20_001",
        message="D1:1",
    )
    assert vault.outlet.shows_chunk(chunk, AGENT)
    vault.hidden.names.add(("main", "2026-02-20_001", name))
    assert not vault.outlet.shows_chunk(chunk, AGENT)


def test_secrets_are_masked_and_prose_is_not(vault: Vault) -> None:
    assert "AKIA" not in vault.outlet.clean("key AKIAIOSFODNN7EXAMPLE in a note")
    assert vault.outlet.clean("The password game was fun.") == "The password game was fun."
