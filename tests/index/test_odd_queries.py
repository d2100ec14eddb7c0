"""A search answers any query, in a moment, and never with an error of the database."""

import time
from collections.abc import Iterator

import pytest

from tests.index.vault import Vault
from vaultmind.types import PERSON, SearchRequest


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    made = Vault(tmp_path_factory.mktemp("odd"))
    made.put("bread.md", "The sourdough bread recipe needs a hot oven and twelve hours of rest.\n")
    made.put("chleb.md", "Przepis na chleb żytni na zakwasie: piekarnik 230 stopni.\n")
    made.put("emoji.md", "Party 🎉 on Saturday, bring 🍞 and cheese.\n")
    made.put("hebrew.md", "שלום עולם, המתכון ללחם נמצא כאן.\n")
    made.put("tokyo.md", "東京都に住んでいます。\n")
    yield made
    made.close()


@pytest.mark.parametrize(
    "query", ["", "\t\n", "\0", "-", "?!", '"', "()", "\ud800", "\u200d\u200c", "\u202e"]
)
def test_a_query_without_words_says_so(vault: Vault, query: str) -> None:
    assert vault.search(SearchRequest(query), PERSON).answer == "no_query"


@pytest.mark.parametrize("piece", ["sourdough ", "x", "а́ ", "1-", "\0", "/a"])
def test_a_megabyte_is_answered_in_a_moment(vault: Vault, piece: str) -> None:
    started = time.process_time()
    vault.search(SearchRequest(piece * (1_000_000 // len(piece))), PERSON)
    assert time.process_time() - started < 5.0


def test_ten_thousand_words_find_the_one_that_tells(vault: Vault) -> None:
    query = "sourdough " + " ".join(f"filler{n}" for n in range(10_000))
    (best, *_) = vault.search(SearchRequest(query, max_tokens=5_000), PERSON).hits
    assert best.path == "bread.md"
