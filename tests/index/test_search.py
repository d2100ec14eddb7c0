"""index/search/search: fused, filtered, fresh from disk, within a budget, and honest when empty."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.index.vault import Vault
from vaultmind import tokens
from vaultmind.types import PERSON, Caller, Hit, Message, SearchRequest
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

MAIN = Caller("agent", "main")
TIME = "2026-02-20T10:00:00+01:00"


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    made = Vault(tmp_path)
    yield made
    made.close()


def session(*said: str, agent: str = "main") -> str:
    text = render_header(SessionMeta("2026-02-20_001", agent, TIME))
    for number, one in enumerate(said, 1):
        text += render_message(
            Message("user", one, TIME, f"D1:{number}", "Anna", block=f"m{number}")
        )
    return text


def session_path(agent: str = "main") -> str:
    return f"VaultMind/agents/{agent}/memory/sessions/2026-02-20_001.md"


def brain_path(agent: str = "main") -> str:
    return f"VaultMind/agents/{agent}/memory/brain.md"


def hits(vault: Vault, query: str, caller: Caller = PERSON, **wanted: object) -> tuple[Hit, ...]:
    return vault.search(SearchRequest(query, **wanted), caller).hits  # type: ignore[arg-type]


def paths(found: tuple[Hit, ...]) -> list[str]:
    return [hit.path for hit in found]


def test_the_answer_keeps_its_budget_and_says_what_it_left_out(vault: Vault) -> None:
    for number in range(6):
        vault.put(f"{number}.md", f"The heron {number} " + "stands in the river. " * 60 + "\n")
    response = vault.search(SearchRequest("heron", max_tokens=290), PERSON)
    assert sum(tokens.count(hit.text) for hit in response.hits) <= 290
    assert response.omitted == 6 - len(response.hits) > 0
    assert vault.search(SearchRequest("heron", max_tokens=50), PERSON).hits[0].truncated


def test_vectors_obey_the_filters(vault: Vault) -> None:
    vault.put("Daily/2026-02-20.md", "Rain all day.\n")
    vault.put("b.md", "Snow all day.\n")
    vault.embed({"b.md": [1.0, 0.0], "Daily/2026-02-20.md": [0.6, 0.8]})
    vault.vectors.vector = np.array([1.0, 0.0], dtype=np.float32)
    assert paths(hits(vault, "weather")) == ["b.md", "Daily/2026-02-20.md"]
    assert paths(hits(vault, "weather", folder="Daily")) == ["Daily/2026-02-20.md"]
    assert paths(hits(vault, "weather", before="2026-02-20")) == ["Daily/2026-02-20.md"]
    assert hits(vault, "weather", MAIN, kinds=("fact", "message")) == ()


def test_what_says_the_same_is_one_hit_that_names_its_copies(vault: Vault) -> None:
    for path in ("a.md", "Copy/a.md"):
        vault.put(path, "The heron stands in the river.\n")
    vault.put("b.md", "The heron stands in the lake.\n")
    first, second = hits(vault, "heron stands river")
    assert {first.path, *first.also} == {"a.md", "Copy/a.md"}
    assert (second.path, second.also) == ("b.md", ())
