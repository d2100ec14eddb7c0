"""index/fulltext: people's questions find the right chunk, and none fails."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.index.vault import Vault
from vaultmind.index.columns import Where
from vaultmind.index.db import chunks_of
from vaultmind.types import Caller, SearchRequest

MAIN = Caller("agent", "main")

NOTES = {
    "bread.md": "The sourdough bread recipe needs a hot oven and twelve hours of rest.",
    "chleb.md": "Przepis na chleb żytni na zakwasie: piekarnik 230 stopni, ciasto rośnie noc.",
    "lodowka.md": "Ania kupiła nową lodówkę w sklepie na rogu, stara jest na strychu.",
    "khleb.md": "Рецепт хлеба на закваске: духовка 230 градусов, тесто стоит всю ночь.",
    "brot.md": "Sauerteigbrot backen wir jeden Sonntag im Holzofen hinter dem Haus.",
    "code.md": "Call `parse_note_text` from vaultmind/index/reading.py since v1.5.9 (HTMLParser).",
    "tokyo.md": "東京都に住んでいます。週末は京都へ行きます。",
    "database.md": "We decided to use PostgreSQL as the database of the shop, not MongoDB.",
    "wrong.md": "Nothing of interest stands here, only a line about the weather in spring.",
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    made = Vault(tmp_path_factory.mktemp("text"))
    for path, text in NOTES.items():
        made.put(path, text + "\n")
    yield made
    made.close()


def first(vault: Vault, query: str, where: Where | None = None) -> str:
    rowids = vault.finder.saying(query, where or Where(), 1)
    with vault.database.read() as connection:
        return next((chunk.path for chunk in chunks_of(connection, rowids).values()), "")


def test_filters_come_before_ranking(vault: Vault) -> None:
    assert first(vault, "recipe sourdough", Where(kinds=("fact",))) == ""
    assert first(vault, "recipe sourdough", Where(folder="Nowhere")) == ""
    assert first(vault, "recipe sourdough", Where(agents=())) == "bread.md"


@given(st.text(max_size=120))
def test_no_query_is_an_error(vault: Vault, query: str) -> None:
    vault.search(SearchRequest(query), MAIN)


@pytest.mark.parametrize("query", ["", "\t\n", "\0", "-", "?!", '"', "\ud800", "\u200d\u200c"])
def test_a_query_without_words_says_so(vault: Vault, query: str) -> None:
    assert vault.search(SearchRequest(query), MAIN).answer == "no_query"


@pytest.mark.parametrize("piece", ["sourdough ", "x", "а́ ", "1-", "\0", "/a", "filler{} "])
def test_a_megabyte_is_answered_by_the_words_that_tell(vault: Vault, piece: str) -> None:
    many = "".join(piece.format(n) for n in range(1_000_000 // len(piece)))
    found = vault.search(SearchRequest(f"{many} sourdough bread", max_tokens=5_000), MAIN)
    assert found.hits[0].path == "bread.md"


def test_what_was_removed_is_not_found_and_what_came_is(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    vault.put("a.md", "The heron stands in the river.\n")
    assert first(vault, "heron") == "a.md"
    vault.put("a.md", "The crane stands in the river.\n")
    vault.put("b.md", "A kingfisher came by.\n")
    assert first(vault, "heron") == ""
    assert first(vault, "kingfisher") == "b.md"
    assert first(vault, "kingfihser") == "b.md"
    vault.database.journal.everything()
    assert first(vault, "crane") == "a.md"
    vault.database.close()


def test_tags_and_dates_filter(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    vault.put("Daily/2026-02-20.md", "Rain and bread. #House/Oven\n")
    vault.put("Daily/2026-03-01.md", "Rain and snow. #garden\n")
    assert first(vault, "rain", Where(tag="House")) == "Daily/2026-02-20.md"
    assert first(vault, "rain", Where(tag="house/oven")) == "Daily/2026-02-20.md"
    assert first(vault, "rain", Where(tag="hous")) == ""
    assert first(vault, "rain", Where(after="2026-02-21")) == "Daily/2026-03-01.md"
    assert first(vault, "rain", Where(before="2026-02-20")) == "Daily/2026-02-20.md"
    vault.database.close()
