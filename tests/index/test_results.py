"""index/search/results: places joined, copies once, messages in their talk, a budget, pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.index.vault import Vault
from vaultmind.index.db import chunks_beside
from vaultmind.index.results import LEAST_TOKENS, Answered, Ranked, answer, shares
from vaultmind.types import PERSON, Chunk, Message, Role, SearchRequest
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

TALK = "VaultMind/agents/main/memory/sessions/2026-02-20_001.md"
BRAIN = "VaultMind/agents/main/memory/brain.md"


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    made = Vault(tmp_path)
    yield made
    made.close()


def chunks(vault: Vault, path: str) -> list[Chunk]:
    """Return the chunks of a file, in order."""
    with vault.database.read() as connection:
        found = []
        for name in vault.ids(path):
            near = chunks_beside(connection, name)
            found.append(next(one for one in near if one.id == name))
    return found


def answered(vault: Vault, ranked: Sequence[Chunk], **wanted: object) -> Answered:
    """Return what becomes of chunks that were found in this order."""
    request = SearchRequest("heron", **wanted)  # type: ignore[arg-type]

    def beside(chunk: Chunk) -> Sequence[Chunk]:
        with vault.database.read() as connection:
            return chunks_beside(connection, chunk.id)

    def shows(chunk: Chunk) -> bool:
        return vault.outlet.shown_to(PERSON)(chunk)

    scored = [Ranked(one, 1.0 - at / 100, {}, tuple) for at, one in enumerate(ranked)]
    return answer(scored, request, beside, shows)


def talk(*said: tuple[Role, str]) -> str:
    text = render_header(SessionMeta("2026-02-20_001", "main", "2026-02-20T10:00:00+01:00"))
    for number, (role, words) in enumerate(said, 1):
        time = f"2026-02-20T10:{number:02}:00+01:00"
        speaker = "Anna" if role == "user" else ""
        text += render_message(
            Message(role, words, time, f"D1:{number}", speaker, block=f"m{number}")
        )
    return text


# --- places -------------------------------------------------------------------------------


# --- messages in their talk ---------------------------------------------------------------


def test_neighbours_obey_the_filters_and_are_not_shown_twice(vault: Vault) -> None:
    vault.put(TALK, talk(*(("user", f"The heron number {n}.") for n in range(5))))
    every = chunks(vault, TALK)
    first, second = answered(vault, every[1:3]).hits
    assert (first.before, first.after) == ("Anna: The heron number 0.", "")
    assert (second.before, second.after) == ("", "Anna: The heron number 3.")
    (hit,) = answered(vault, every[1:2], running=TALK, since="m3").hits
    assert (bool(hit.before), hit.after) == (True, "")
    (hit,) = answered(vault, every[1:2], before="2026-02-19").hits
    assert (hit.before, hit.after) == ("", "")


# --- the budget ---------------------------------------------------------------------------


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=30), st.integers(1, 5000))
def test_a_budget_is_shared_well(costs: list[int], most: int) -> None:
    given_ = shares(costs, most)
    assert 1 <= len(given_) <= len(costs)
    assert sum(given_) <= most
    assert all(0 < got <= cost for got, cost in zip(given_, costs, strict=False))
    if sum(costs) <= most:
        assert given_ == costs
    if len(given_) > 1:
        assert all(
            got >= min(cost, LEAST_TOKENS) for got, cost in zip(given_[:-1], costs, strict=False)
        )


# --- pages --------------------------------------------------------------------------------
