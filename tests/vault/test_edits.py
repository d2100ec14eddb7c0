"""Surgical edits: what is not meant stays as it is, to the byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.errors import BadArgument
from vaultmind.vault.edits import (
    PropertyValue,
    delete_lines,
    end_line,
    insert_line_after,
    insert_line_before,
    remove_property,
    replace_span,
    set_property,
    with_newlines,
)
from vaultmind.vault.properties import front_matter

TEXTS = st.text(st.sampled_from("ab \n\r-:#\"'[]żé🍞\u2028"), max_size=60)
LINES = st.lists(st.sampled_from(["a", "", "- b", "## c", " d "]), min_size=1, max_size=8)
ENDS = st.sampled_from(["\n", "\r\n"])
KEYS = st.sampled_from(["a", "state", "summarised_in", "two words", "ключ", "a.b"])
VALUES = st.one_of(
    st.booleans(),
    st.integers(-(10**15), 10**15),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
    st.lists(st.text(st.sampled_from("ab,[]#: '\"\\-|\n[[2026"), max_size=8), max_size=4),
)


@given(TEXTS, st.data())
def test_a_replaced_span_changes_nothing_else(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    new = replace_span(text, start, end, "NEW")
    assert new[:start] == text[:start] and new[start : start + 3] == "NEW"
    assert new[start + 3 :] == text[end:]
    assert replace_span(text, start, end, text[start:end]) == text


def test_a_span_outside_the_text_is_refused() -> None:
    with pytest.raises(BadArgument, match="span"):
        replace_span("abc", 2, 9, "")


@given(LINES, ENDS, st.booleans(), st.data())
def test_a_line_put_in_is_one_line_more_and_deleting_it_gives_the_text_back(
    lines: list[str], newline: str, ended: bool, data: st.DataObject
) -> None:
    text = newline.join(lines) + (newline if ended or len(lines) == 1 else "")
    at = data.draw(st.integers(0, max(0, len(text) - 1)))
    before = insert_line_before(text, at, "NEW")
    after = insert_line_after(text, at, "NEW")
    for new in (before, after):
        assert sorted(new.split(newline)) == sorted([*text.split(newline), "NEW"])
        assert new.endswith(newline) == text.endswith(newline)
    assert delete_lines(before, before.index("NEW")) == text
    if after.index("NEW") + 3 < len(after):
        assert delete_lines(after, after.index("NEW")) == text


def test_several_lines_take_the_texts_newline() -> None:
    assert insert_line_after("a\r\nb\r\n", 0, "x\ny") == "a\r\nx\r\ny\r\nb\r\n"
    assert insert_line_after("a", 0, "x") == "a\nx"
    assert insert_line_after("", 0, "x") == "x"
    assert delete_lines("a\nb\nc\n", 2, 4) == "a\nc\n"
    assert delete_lines("a\nb\nc\n", 0, 3) == "c\n"
    assert end_line("a\r\nb") == "a\r\nb\r\n" and end_line("a\n") == "a\n" and end_line("") == ""
    assert with_newlines("a\r\nb\nc\rd", "\r\n") == "a\r\nb\r\nc\r\nd"


# --- properties ---------------------------------------------------------------------------

PERSONS = (
    "---\r\n# mine\r\nstate:   'open'  # why\r\n"
    "topics:\r\n  - a\r\n  -   b\r\n\r\nz: {a: 1}\r\n---\r\nbody"
)


def test_a_property_set_changes_its_own_lines_alone() -> None:
    new = set_property(PERSONS, "state", "ended")
    assert new == PERSONS.replace("state:   'open'  # why", "state: ended")
    new = set_property(PERSONS, "topics", ["x", "w"])
    assert new == PERSONS.replace("topics:\r\n  - a\r\n  -   b\r\n", "topics: [x, w]\r\n")
    assert set_property(PERSONS, "n", 3) == PERSONS.replace("---\r\nbody", "n: 3\r\n---\r\nbody")
    assert remove_property(PERSONS, "topics") == PERSONS.replace(
        "topics:\r\n  - a\r\n  -   b\r\n", ""
    )
    assert remove_property(PERSONS, "none") == PERSONS


def test_front_matter_is_made_where_there_is_none() -> None:
    assert set_property("body\r\nx", "a", "b") == "---\r\na: b\r\n---\r\nbody\r\nx"
    rule = "---\n\nafter a rule\n\n---\n"
    assert set_property(rule, "a", 1) == f"---\na: 1\n---\n{rule}"


def test_nothing_is_guessed_about_broken_front_matter() -> None:
    with pytest.raises(BadArgument, match="front matter"):
        set_property("---\na: [b\nc: d\n---\n", "a", 1)
    for key in ("", "a:b", "a\nb", "- a", " a", "#a"):
        with pytest.raises(BadArgument, match="property"):
            set_property("", key, 1)


@given(KEYS, VALUES, TEXTS, ENDS)
def test_a_property_reads_back_as_it_was_set(
    key: str, value: PropertyValue, body: str, newline: str
) -> None:
    text = f"---{newline}other: [1, 2]{newline}---{newline}{body}"
    for start in (text, newline.join(["---", f"{key}:", "  - old", "x: y", "---", body])):
        new = set_property(start, key, value)
        found = front_matter(new)
        assert found is not None and found.fault == ""
        assert found.properties[key] == value
        assert new.endswith(body)
        assert set_property(new, key, value) == new
        others = {k: v for k, v in (front_matter(start) or found).properties.items() if k != key}
        assert others == {k: v for k, v in found.properties.items() if k != key}
