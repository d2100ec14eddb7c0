"""index/words/identifiers: what is more than words is found to the letter, however spaced."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.index.words.identifiers import WITHIN, exactness, identifiers, spaced


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("PROJ-77", "Ticket proj-77 waits."),
        ("#1234", "see (#1234)"),
        ("v1.2.3", "Release v1.2.3, signed"),
        ("1.2.3", "Release v1.2.3, signed"),
        ("`parse_note`", "calls parse_note()"),
        ("--no-cache", "start it with --no-cache"),
        ("std::vector", "a std::vector of"),
        ("docs/setup.md?", "in docs/setup.md."),
        ("anna@example.com", "<anna@example.com>"),
        ("C#", "the C# client"),
        ("HL-L2350DW", "Brother HL-L2350DW"),
    ],
)
def test_an_identifier_is_exact_whatever_stands_around_it(query: str, text: str) -> None:
    assert exactness(identifiers(query), text) == 1.0


@pytest.mark.parametrize(
    ("query", "text", "held"),
    [
        ("PROJ-77", "PROJ-770 is done", 0.0),
        ("PROJ-77", "of 77 projects", 0.0),
        ("1.2", "Release 1.2.3", WITHIN),
        ("1.2.3", "Release 2.1.2.3", 0.0),
        ("setup.md", "in docs/setup.md", WITHIN),
        ("--no-cache", "no cache of maps", 0.0),
        ("parse_note", "parse_note_text", WITHIN),
        ("example.com", "anna@example.com", WITHIN),
    ],
)
def test_a_part_of_a_longer_one_is_less_and_its_parts_are_nothing(
    query: str, text: str, held: float
) -> None:
    assert exactness(identifiers(query), text) == held


def test_an_identifier_counts_for_its_share_of_the_query() -> None:
    (found,) = identifiers("what became of bug #1234")
    assert found.share == pytest.approx(1 / 5)
    assert identifiers("what's new in the old town, Anna?") == ()


@pytest.mark.parametrize(
    ("query", "held", "tokens"),
    [
        ("601234567", ["601", "234", "567"], ("601", "234", "567")),
        ("+48 601 234 567", ["48601234567"], ("48601234567",)),
        ("601-234-567", ["601234567"], ("601234567",)),
        ("PL61 1090 1014", ["pl6110901014"], ("pl6110901014",)),
    ],
)
def test_a_long_number_is_the_same_however_it_is_spaced(
    query: str, held: list[str], tokens: tuple[str, ...]
) -> None:
    assert set(spaced(query, held.count, bool).values()) == {tokens}


def test_a_number_is_cut_as_it_stands_somewhere_the_rarest_way_first() -> None:
    counts = {"601": 1, "234": 2, "567": 1, "60": 1, "12": 90, "34": 50, "1234": 1}

    def count(token: str) -> int:
        return counts.get(token, 0)

    assert spaced("601234567", count, bool) == {"601234567": ("60", "1234", "567")}
    others = {"601234567": ("601", "234", "567")}
    assert spaced("601234567", count, lambda cut: "601" in cut) == others
    assert spaced("601234567", count, lambda _: False) == {}
    assert spaced("in 2026, 12 345", count, bool) == {}


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_query_and_text_have_an_exactness(query: str, text: str) -> None:
    assert 0.0 <= exactness(identifiers(query), text) <= 1.0
    spaced(query, lambda token: len(token) % 3, bool)


@pytest.mark.parametrize("query", ["1" * 20_000, "1-" * 10_000, "12 " * 6_000, "a_" * 10_000])
def test_a_long_query_takes_no_long_time(query: str) -> None:
    started = time.process_time()
    identifiers(query)
    spaced(query, lambda _: 1, lambda _: False)
    assert time.process_time() - started < 2.0
