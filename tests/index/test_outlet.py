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


@pytest.mark.parametrize("name", ["D1:1", "m1"])
def test_a_forgotten_message_is_hidden_by_its_id_and_by_its_block(vault: Vault, name: str) -> None:
    path = f"{MEMORY}/sessions/2026-02-20_001.md"
    chunk = Chunk(
        *("id", path, "message", "main", "#^m1", "", "text", 0, 4),
        session="2026-02-20_001",
        message="D1:1",
    )
    assert vault.outlet.shown_to(AGENT)(chunk)
    vault.hidden.names.add(("main", "2026-02-20_001", name))
    assert not vault.outlet.shown_to(AGENT)(chunk)


HIDDEN = "VaultMind/agents/dexter/memory/brain.md"


def test_an_agents_files_are_shown_to_those_only_whom_it_lets_read(vault: Vault) -> None:
    vault.put(HIDDEN, "# user\n- Saw a heron\n")
    vault.put(f"{MEMORY}/brain.md", "# user\n- Saw a heron\n")
    vault.rights.hidden.add(("main", "dexter"))
    assert not vault.outlet.shows(HIDDEN, AGENT)
    assert not vault.outlet.names(HIDDEN, AGENT)
    assert not vault.outlet.names("VaultMind/agents/dexter", AGENT)
    assert vault.outlet.readable_agents(AGENT) == ("main",)
    for caller in (PERSON, Caller("agent", "dexter"), Caller("agent", "jaskier")):
        assert vault.outlet.shows(HIDDEN, caller)
        assert vault.outlet.readable_agents(caller) == ("dexter", "main")


def test_the_memory_folder_under_another_spelling_is_not_shown(vault: Vault) -> None:
    """A link stands in for a system that ignores case: the same folder under another name."""
    vault.put(HIDDEN, "# user\n- Saw a heron\n")
    twin = vault.paths.root / "vaultmind"
    assert vault.outlet.shows("vaultmind/agents/x.md", AGENT), "a folder of the person's own"
    twin.symlink_to(vault.paths.root / "VaultMind")
    for path in ("vaultmind/Suggestions.md", HIDDEN.replace("VaultMind", "vaultmind")):
        assert not vault.outlet.shows(path, AGENT)
