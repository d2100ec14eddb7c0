"""index/search/places: whatever was found, in any order, a page is the same for all who ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmind.index.search.places import MOST_JOINED, Place, Ranked, places
from vaultmind.types import Chunk, SearchRequest

FILES = "abc"
PARTS = 7


def chunk(path: str, part: int) -> Chunk:
    text = f"{path} part {part % 5} says {part}" if part else "The same stands in every file."
    at = 100 * part
    return Chunk(f"{path}{part}", f"{path}.md", "note", "", f"#{part}", path, text, at, at + 99)


CHUNKS = [chunk(path, part) for path in FILES for part in range(PARTS)]


def around(one: Chunk) -> Sequence[Chunk]:
    at = CHUNKS.index(one)
    return [other for other in CHUNKS[max(0, at - 2) : at + 3] if other.path == one.path]


def found(order: Sequence[Chunk], request: SearchRequest) -> list[Place]:
    ranked = [Ranked(one, 1 - at / 100) for at, one in enumerate(order)]
    return places(ranked, request, around)


def page(order: Sequence[Chunk], request: SearchRequest) -> list[tuple[list[str], list[str]]]:
    """Return what a page holds: the ids of each place, and of its copies."""
    whole = found(order, request)[request.offset : request.offset + request.limit]
    return [
        ([one.chunk.id for one in place.run], [one.id for one in place.also]) for place in whole
    ]


@given(st.permutations(CHUNKS), st.integers(1, 6), st.integers(1, 9))
def test_every_chunk_is_on_one_page(order: list[Chunk], limit: int, step: int) -> None:
    request = SearchRequest("x", limit=limit, per_note=100)
    seen: list[str] = []
    offset = 0
    while shown := page(order, replace(request, offset=offset))[:step]:
        for run, also in shown:
            seen += [*run, *also]
        offset += len(shown)
    copies = [one.id for one in CHUNKS if one.text.startswith("The same")]
    assert sorted(set(seen) | set(copies)) == sorted(one.id for one in CHUNKS)
    assert len(seen) == len(set(seen))


@settings(max_examples=30)
@given(st.permutations(CHUNKS), st.integers(1, 5), st.integers(0, 12))
def test_a_page_is_the_same_by_itself(order: list[Chunk], limit: int, offset: int) -> None:
    request = SearchRequest("x", limit=limit, per_note=100)
    alone = page(order, replace(request, offset=offset))
    every = [run for at in range(30) for run, _ in page(order, replace(request, offset=at))[:1]]
    assert [run for run, _ in alone] == every[offset : offset + limit]


@given(st.permutations(CHUNKS), st.integers(1, 5), st.integers(1, 4))
def test_places_are_runs_of_one_file_within_their_limits(
    order: list[Chunk], limit: int, per_note: int
) -> None:
    whole = found(order, SearchRequest("x", limit=limit, per_note=per_note))
    for place in whole:
        at = [CHUNKS.index(one.chunk) for one in place.run]
        assert at == list(range(at[0], at[0] + len(at))) and len(at) <= MOST_JOINED
        assert len({one.chunk.path for one in place.run}) == 1
        assert place.best in place.run and place.score == max(one.score for one in place.run)
    for path in FILES:
        assert sum(place.path == f"{path}.md" for place in whole) <= per_note
