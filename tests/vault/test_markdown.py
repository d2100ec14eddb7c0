"""Notes as data: what Obsidian would see in them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmind.vault.markdown import blanked, parse_canvas, parse_note

# --- properties ---------------------------------------------------------------------------


@pytest.mark.parametrize("yaml", [
    "a: " + "[" * 30000,
    "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]",
    "a: !!python/object/apply:os.system [ls]",
    "a: " + "x" * 300_000,
    "? [a, b]\n: c",
    "a: \x01",
])  # fmt: skip
def test_hostile_front_matter_is_survived(yaml: str) -> None:
    assert parse_note(f"---\n{yaml}\n---\nbody").body_start in (0, len(yaml) + 9)


def test_tags_come_in_every_form() -> None:
    note = parse_note("---\ntags:\n- a/b\n- '#c'\ntag: d e, A/B\n---\n#f #C")
    assert note.tags == ("a/b", "c", "d", "e", "f")
    assert parse_note("---\ntags: null\n---\n").tags == ()


# --- blocks -------------------------------------------------------------------------------


def test_a_comment_within_a_line_ends_in_its_paragraph() -> None:
    assert parse_note("100%% sure\n\n50%% off").tree.comments == ()
    assert parse_note("a %%b\nc%% d").tree.comments == ((2, 9),)


def test_a_fence_ends_with_the_quotation_or_list_that_holds_it() -> None:
    note = parse_note("> ```\n> code #no\n\n#a\n\n- ```\n  code #no\n\n#b\n")
    assert note.tags == ("a", "b")


# --- any text -----------------------------------------------------------------------------

PIECES = st.sampled_from([
    "# Head", "## Two ##", "Text", "Text #tag", "===", "---", "- item", "  - inner", "1. one",
    "2. two", "> quote", "> ```", "```", "````", "~~~", "    code", "\ttab", "%%", "a %% b",
    "%%c%%", "`code`", "`", "``", "[[L", "x]]", "^id", "x ^id", "k:: v", "- [ ] t", "> [!x] y",
    "* * *", "", "  ", "#", "-", "+ plus", "é🍞", "</x>",
])  # fmt: skip


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=14), st.sampled_from(["\n", "\r\n", "\r"]))
def test_every_span_of_any_note_lies_in_it(lines: list[str], newline: str) -> None:
    text = newline.join(lines)
    note = parse_note(text)
    spans = [*note.tree.comments, *note.tree.code, *note.tree.items]
    for part in (note.headings, note.blocks, note.tree.units):
        spans += [(one.start, one.end) for one in part]
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    starts = [unit.start for unit in note.tree.units]
    assert starts == sorted(starts)
    ends = [unit.end for unit in note.tree.units]
    assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))
    plain = blanked(text, (*note.tree.code, *note.tree.comments))
    assert len(plain) == len(text)


# --- canvas -------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "cards", "faults"), [
    ("", 0, 0),
    ("{}", 0, 0),
    ("{", 0, 1),
    ("[]", 0, 1),
    ('{"nodes": 7}', 0, 1),
    ('{"nodes": [1, {"id": 5, "text": "kept"}]}', 0, 1),
    ('{"nodes": [{"id": 5, "text": "kept"}]}', 1, 0),
    ("[" * 100_000, 0, 1),
])  # fmt: skip
def test_a_broken_canvas_is_a_fault_and_an_empty_one_is_fine(
    text: str, cards: int, faults: int
) -> None:
    texts, found = parse_canvas(text)
    assert (len(texts), len(found)) == (cards, faults)
