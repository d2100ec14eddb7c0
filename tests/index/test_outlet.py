"""index/outlet: one filter decides what leaves the vault."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.index.vault import Vault
from vaultmind.errors import NotFound
from vaultmind.types import PERSON, Caller, Chunk, SearchRequest

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


GRAZES = "grazes on the plain at dawn. " * 40
SECTIONS = "".join(f"## Part {n}\n\nzebra {n} {GRAZES}\n\n" for n in range(5))
OVER_SECTIONS = f"# Diary\n\nTea.\n\n<private>\n{SECTIONS}</private>\n\n## Last\n\nA heron flew.\n"


def test_a_private_passage_over_several_sections_is_found_and_fetched_by_nobody(
    vault: Vault,
) -> None:
    vault.put("Diary.md", OVER_SECTIONS)
    for query in ("zebra", "grazes on the plain", "heron"):
        found = str(vault.search(SearchRequest(query), AGENT).hits)
        assert "zebra" not in found and "grazes" not in found
    assert "heron" in str(vault.search(SearchRequest("heron"), AGENT).hits)
    for part in ("Diary.md", "Diary.md#Diary"):
        assert "zebra" not in vault.fetch(part, AGENT).text
    assert "A heron flew." in vault.fetch("Diary.md", AGENT).text
    assert "A heron flew." in vault.fetch("Diary.md#Last", AGENT).text
    with pytest.raises(NotFound):
        vault.fetch("Diary.md#Part 2", AGENT)


def test_bullets_of_a_brain_between_private_tags_are_found_by_nobody(vault: Vault) -> None:
    brain = (
        "# Main\n\n- Is Anna\n- Likes <private>gin\n- Owes zebras\n- and</private> tea\n- Rows\n"
    )
    vault.put(f"{MEMORY}/brain.md", brain)
    for query in ("zebras", "gin", "Anna likes tea"):
        found = str(vault.search(SearchRequest(query), AGENT).hits)
        assert "zebra" not in found and "gin" not in found
    assert "Anna" in str(vault.search(SearchRequest("Anna"), AGENT).hits)
    assert "Rows" in str(vault.search(SearchRequest("Rows"), AGENT).hits)


def test_a_private_passage_over_the_cards_of_a_canvas_is_found_by_nobody(vault: Vault) -> None:
    texts = ("A heron <private>", "zebra grazes", "gin</private> and tea")
    nodes = [{"id": str(n), "type": "text", "text": text} for n, text in enumerate(texts)]
    vault.put("Map.canvas", json.dumps({"nodes": nodes, "edges": []}))
    for query in ("zebra", "heron", "tea"):
        found = str(vault.search(SearchRequest(query), AGENT).hits)
        assert "grazes" not in found and "gin" not in found
    assert "heron" in str(vault.search(SearchRequest("heron"), AGENT).hits)
