"""index/results: a budget shared among hits, passages around what is asked, messages in talk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.index.vault import Vault
from vaultmind import tokens
from vaultmind.index.results import LEAST_TOKENS, passage, shares, sought
from vaultmind.types import PERSON, Hit, Message, SearchRequest
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

TALK = "VaultMind/agents/main/memory/sessions/2026-02-20_001.md"
SAID = ("The heron came.", "It stood in the reeds.", "Then a storm broke.", "The boat sank.")


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    made = Vault(tmp_path)
    text = render_header(SessionMeta("2026-02-20_001", "main", "2026-02-20T10:00:00+01:00"))
    for number, words in enumerate(SAID, 1):
        time = f"2026-02-20T10:{number:02}:00+01:00"
        text += render_message(
            Message("user", words, time, f"D1:{number}", "Anna", block=f"m{number}")
        )
    made.put(TALK, text)
    yield made
    made.close()


def hits(vault: Vault, query: str, **wanted: object) -> list[Hit]:
    found = vault.search(SearchRequest(query, **wanted), PERSON).hits  # type: ignore[arg-type]
    return sorted(found, key=lambda hit: hit.time)


def test_a_message_is_shown_between_those_beside_it_and_none_twice_or_forgotten(
    vault: Vault,
) -> None:
    (hit,) = hits(vault, "storm", per_note=1)
    assert (hit.before, hit.after) == ("Anna: It stood in the reeds.", "Anna: The boat sank.")
    first, second = hits(vault, "reeds storm", per_note=2)
    assert (first.before, first.after) == ("Anna: The heron came.", "")
    assert (second.before, second.after) == ("", "Anna: The boat sank.")
    vault.hidden.names.add(("main", "2026-02-20_001", "m4"))
    assert hits(vault, "storm", per_note=1)[0].after == ""
    assert hits(vault, "storm", per_note=1, apart=True)[0].before == ""


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=30), st.integers(1, 5000))
def test_a_budget_is_shared_well(costs: list[int], most: int) -> None:
    given_ = shares(costs, most)
    assert 1 <= len(given_) <= len(costs)
    assert sum(given_) <= most
    assert all(0 < got <= cost for got, cost in zip(given_, costs, strict=False))
    if sum(costs) <= most:
        assert given_ == costs
    if len(given_) > 1:
        assert all(got >= min(cost, LEAST_TOKENS) for got, cost in zip(given_, costs, strict=False))


@given(
    st.text(max_size=400)
    | st.lists(st.sampled_from(["heron ", "x", "żółw. ", "\n", "苍鹭", "🪿 "])).map("".join),
    st.sampled_from(["heron", "żółwie", "", "苍鹭"]),
    st.integers(1, 60),
)
@example(text="0. 0:0000:0:HERON:00000000000A0:HERON", query="heron", most=16)
def test_no_passage_exceeds_its_budget_or_is_made_up(text: str, query: str, most: int) -> None:
    shown = passage(text, sought(query, ["en"]), "en", most)
    assert tokens.count(shown) <= most
    assert shown == text or shown.removeprefix("… ").removesuffix("…").rstrip() in text


def test_a_passage_stands_around_what_is_asked() -> None:
    filler = " ".join(f"On day {n} nothing else was written down." for n in range(30))
    text = f"{filler} The heron built its nest on the chimney. {filler}"
    shown = passage(text, sought("Where do herons nest?", ["en"]), "en", 40)
    assert shown.startswith("… ") and "on the chimney." in shown and shown.endswith(" …")
    assert passage(text, sought("pelican", ["en"]), "en", 40).startswith("On day 0")
