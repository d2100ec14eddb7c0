"""index/search/places: whatever was found, in any order, a page is the same for all who ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmind.index.results import Place, Ranked, places
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
    ranked = [Ranked(one, 1 - at / 100, {}, tuple) for at, one in enumerate(order)]
    return places(ranked, request, around)


def page(order: Sequence[Chunk], request: SearchRequest) -> list[tuple[list[str], list[str]]]:
    """Return what a page holds: the ids of each place, and of its copies."""
    whole = found(order, request)[request.offset : request.offset + request.limit]
    return [
        ([one.chunk.id for one in place.run], [one.id for one in place.also]) for place in whole
    ]


@settings(max_examples=30)
@given(st.permutations(CHUNKS), st.integers(1, 5), st.integers(0, 12))
def test_a_page_is_the_same_by_itself(order: list[Chunk], limit: int, offset: int) -> None:
    request = SearchRequest("x", limit=limit, per_note=100)
    alone = page(order, replace(request, offset=offset))
    every = [run for at in range(30) for run, _ in page(order, replace(request, offset=at))[:1]]
    assert [run for run, _ in alone] == every[offset : offset + limit]
