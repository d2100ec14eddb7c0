"""index/{search,results}: filtered, fresh from disk, within a budget; no query fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.index.vault import Vault
from vaultmind import tokens
from vaultmind.index.columns import Where
from vaultmind.index.db import chunks_of
from vaultmind.index.results import LEAST_TOKENS, passage, shares, sought
from vaultmind.index.search import Search
from vaultmind.types import PERSON, Caller, Hit, Message, SearchRequest
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

MAIN = Caller("agent", "main")
EVERYTHING = Where()
TALK = "VaultMind/agents/main/memory/sessions/2026-02-20_001.md"
SAID = ("The heron came.", "It stood in the reeds.", "Then a storm broke.", "The boat sank.")


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
    finder = vault.with_meaning("Snow all day.")
    vault.search = Search(finder, vault.outlet, vault, vault.state).search
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


@pytest.fixture
def talk(vault: Vault) -> Vault:
    text = render_header(SessionMeta("2026-02-20_001", "main", "2026-02-20T10:00:00+01:00"))
    for number, words in enumerate(SAID, 1):
        time = f"2026-02-20T10:{number:02}:00+01:00"
        text += render_message(
            Message("user", words, time, f"D1:{number}", "Anna", block=f"m{number}")
        )
    vault.put(TALK, text)
    return vault


def told(talk: Vault, query: str, **wanted: object) -> list[Hit]:
    return sorted(hits(talk, query, **wanted), key=lambda hit: hit.time)  # type: ignore[arg-type]


def test_a_message_is_shown_between_those_beside_it_and_none_twice_or_forgotten(
    talk: Vault,
) -> None:
    (hit,) = told(talk, "storm", per_note=1)
    assert (hit.before, hit.after) == ("Anna: It stood in the reeds.", "Anna: The boat sank.")
    assert (hit.title, hit.anchor) == ("2026-02-20 › Anna", "#^m3")
    first, second = told(talk, "reeds storm", per_note=2)
    assert (first.before, first.after) == ("Anna: The heron came.", "")
    assert (second.before, second.after) == ("", "Anna: The boat sank.")
    talk.hidden.names.add(("main", "2026-02-20_001", "m4"))
    assert told(talk, "storm", per_note=1)[0].after == ""
    assert told(talk, "storm", per_note=1, apart=True)[0].before == ""


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


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    made = Vault(tmp_path_factory.mktemp("text"))
    made.put("bread.md", "The sourdough bread recipe needs a hot oven and twelve hours of rest.\n")
    made.put("tokyo.md", "東京都に住んでいます。週末は京都へ行きます。\n")
    yield made
    made.close()


def first(vault: Vault, query: str, where: Where = EVERYTHING) -> str:
    rowids = vault.finder.saying(query, where, 1)
    with vault.database.read() as connection:
        return next((chunk.path for chunk in chunks_of(connection, rowids).values()), "")


@given(st.text(max_size=120))
def test_no_query_is_an_error(kept: Vault, query: str) -> None:
    kept.search(SearchRequest(query), MAIN)


@pytest.mark.parametrize("query", ["", "\t\n", "\0", "-", "?!", '"', "\ud800", "\u200d\u200c"])
def test_a_query_without_words_says_so(kept: Vault, query: str) -> None:
    assert kept.search(SearchRequest(query), MAIN).answer == "no_query"


@pytest.mark.parametrize("piece", ["sourdough ", "x", "а́ ", "1-", "\0", "/a", "filler{} "])
def test_a_megabyte_is_answered_by_the_words_that_tell(kept: Vault, piece: str) -> None:
    many = "".join(piece.format(n) for n in range(1_000_000 // len(piece)))
    found = kept.search(SearchRequest(f"{many} sourdough bread", max_tokens=5_000), MAIN)
    assert found.hits[0].path == "bread.md"


def test_what_was_removed_is_not_found_and_what_came_is(vault: Vault) -> None:
    vault.put("a.md", "The heron stands in the river.\n")
    assert first(vault, "heron") == "a.md"
    vault.put("a.md", "The crane stands in the river.\n")
    vault.put("b.md", "A kingfisher came by.\n")
    assert first(vault, "heron") == ""
    assert first(vault, "kingfisher") == "b.md"
    assert first(vault, "kingfihser") == "b.md"
    vault.database.journal.everything()
    assert first(vault, "crane") == "a.md"


def test_tags_and_dates_filter(vault: Vault) -> None:
    vault.put("Daily/2026-02-20.md", "Rain and bread. #House/Oven\n")
    vault.put("Daily/2026-03-01.md", "Rain and snow. #garden\n")
    assert first(vault, "rain", Where(tag="House")) == "Daily/2026-02-20.md"
    assert first(vault, "rain", Where(tag="house/oven")) == "Daily/2026-02-20.md"
    assert first(vault, "rain", Where(tag="hous")) == ""
    assert first(vault, "rain", Where(after="2026-02-21")) == "Daily/2026-03-01.md"
    assert first(vault, "rain", Where(before="2026-02-20")) == "Daily/2026-02-20.md"


def test_an_answer_that_the_filters_emptied_says_so(vault: Vault) -> None:
    vault.put("Daily/2026-02-20.md", "Rain and bread. #house\n")
    asked = SearchRequest("rain bread", tag="garden")
    assert "without them there are hits" in vault.search(asked, PERSON).message
    assert "filters" not in vault.search(replace(asked, query="axolotl"), PERSON).message
