"""index/notes: what is indexed of a file, in pieces with ids that stay."""

from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from vaultmind.index.notes import Chunked, chunk_file, place_of, split
from vaultmind.vault.files import FileStat, FileText
from vaultmind.vault.paths import VaultPaths

PATHS = VaultPaths(Path("/vault"))
LONG = "The clay needs a night of rest before it is worked again by hand. " * 12


def chunked(path: str, text: str) -> Chunked:
    place = place_of(path, PATHS)
    assert place is not None
    file = FileText(path, text, "", FileStat(1, 1, len(text)), False, "\n")
    return chunk_file(path, file, place)


def test_a_long_note_is_cut_by_heading_and_each_piece_says_where_it_is() -> None:
    text = f"# Oven\n## Clay\n{LONG}\n## Door\n{LONG}\n"
    found = chunked("Oven.md", text).chunks
    assert {chunk.anchor for chunk in found} == {"#Clay", "#Door"}
    assert {chunk.title for chunk in found} == {"Oven › Clay", "Oven › Door"}
    assert all(len(chunk.text) <= 900 for chunk in found)


def test_a_daily_note_speaks_from_its_day_and_the_cards_of_a_canvas_are_chunks() -> None:
    assert chunked("Daily/2026-02-20.md", "Rain.\n").chunks[0].time == "2026-02-20"
    text = '{"nodes": [{"id": "1", "type": "text", "text": "Buy clay"}], "edges": []}'
    assert [chunk.text for chunk in chunked("Plan.canvas", text).chunks] == ["Buy clay"]


@given(st.text(alphabet="ab. \n#`-\r\u3042", max_size=400), st.integers(5, 60))
def test_pieces_cover_all_words_in_order_without_overlap(text: str, target: int) -> None:
    spans = split(text, (0, len(text)), target)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    kept = "".join(text[start:end] for start, end in spans)
    assert "".join(kept.split()) == "".join(text.split())


@given(st.text(alphabet="ab \n#-%`[]:\r^|>", max_size=300))
def test_any_note_gives_chunks_inside_its_text(text: str) -> None:
    for chunk in chunked("a.md", text).chunks:
        assert 0 <= chunk.start <= chunk.end <= len(text)
        assert chunk.text.strip()
