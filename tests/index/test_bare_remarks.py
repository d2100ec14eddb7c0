"""A remark of one word in an episode is found by that word, and not by what is merely near it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.index.vault import Vault
from vaultmind.types import PERSON, SearchRequest

PATH = "VaultMind/agents/main/episodes/2026-11-22_001.md"
NOTE = """---
episode: 1
outcome: success
state: ended
started: 2026-11-22T10:00:00+01:00
ended: 2026-11-22T11:00:00+01:00
---

# Paint the shed

A task, by main. ^task

## What was done

## Outcome

**success** %%{{"outcome":"success"}}%% ^outcome

{why} ^why
"""


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    made = Vault(tmp_path)
    yield made
    made.close()


def found(vault: Vault, query: str, why: str) -> list[str]:
    """Return the anchors of the hits of a question to which the remark is said to be near."""
    vault.put(PATH, NOTE.format(why=why))
    with vault.database.read() as connection:
        chunks = connection.execute("SELECT id FROM chunks WHERE anchor = '#^why'")
        vault.vectors.near = [(row[0], 0.6) for row in chunks]
    answer = vault.search(SearchRequest(query), PERSON)
    return [hit.anchor for hit in answer.hits]


def test_one_word_is_no_hit_for_a_question_that_shares_no_word(vault: Vault) -> None:
    assert found(vault, "fences length", "kept") == []
    assert found(vault, "kept", "kept") == ["#^why"]


def test_a_remark_that_says_something_is_found_by_meaning(vault: Vault) -> None:
    assert found(vault, "fences length", "The boards were cut too short") == ["#^why"]
