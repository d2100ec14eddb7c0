"""Notes as data: what Obsidian would see in them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from vaultmind.vault.canvas import parse_canvas
from vaultmind.vault.markdown import Note, parse_note
from vaultmind.vault.properties import front_matter
from vaultmind.vault.structure import blanked, structure_of

# --- properties ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("2026-02-20", "2026-02-20"),
        ("2026-02-20T10:00:03+01:00", "2026-02-20T10:00:03+01:00"),
        ("12:30", "12:30"),
        ("[[Note]]", "[[Note]]"),
        ("[[Folder/Note#Part|shown, so]]", "[[Folder/Note#Part|shown, so]]"),
        ('"[[Note]]"', "[[Note]]"),
        ("[a, '[[B]]']", ["a", "[[B]]"]),
        ("[[A], [B]]", [["A"], ["B"]]),
        ("yes", "yes"),
        ("true", True),
        ("0123", "0123"),
        ("1_000", "1_000"),
        ("42", 42),
        ("-1.5", -1.5),
        ("1e5", "1e5"),
        ("", None),
        ("null", None),
        ("!!timestamp 2026-02-20", "2026-02-20"),
        ("{a: {b: c}}", {"a": {"b": "c"}}),
    ],
)
def test_a_property_is_what_was_typed(typed: str, read: object) -> None:
    for newline in ("\n", "\r\n"):
        found = front_matter(f"---{newline}key: {typed}{newline}---{newline}body")
        assert found is not None and found.fault == ""
        assert found.properties == {"key": read}


@pytest.mark.parametrize(
    "text",
    [
        "---\nbody",
        "body\n---\na: b\n---\n",
        "---\n\nJust a rule above and below\n\n---\nbody",
        "---\n- a list\n---\n",
        " ---\na: b\n---\n",
        "----\na: b\n----\n",
        "",
    ],
)
def test_what_is_no_front_matter_is_body(text: str) -> None:
    note = parse_note(text)
    assert (note.properties, note.body_start, note.faults) == ({}, 0, ())


@pytest.mark.parametrize(
    "yaml",
    ["a: [b\ntitle: T", "title: T\n\tx: y", "title: T\na: b: c", "title: T\na: &x 1\nb: *x"],
)
def test_broken_front_matter_is_a_fault_and_the_rest_is_read(yaml: str) -> None:
    note = parse_note(f"---\n{yaml}\n---\n# Head\n#tag")
    assert len(note.faults) == 1 and "broken front matter" in note.faults[0]
    assert note.title_property == "T" and note.headings[0].text == "Head" and note.tags == ("tag",)


@pytest.mark.parametrize(
    "yaml",
    [
        "a: " + "[" * 30000,
        "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]",
        "a: !!python/object/apply:os.system [ls]",
        "a: " + "x" * 300_000,
        "? [a, b]\n: c",
        "a: \x01",
    ],
)
def test_hostile_front_matter_is_survived(yaml: str) -> None:
    assert parse_note(f"---\n{yaml}\n---\nbody").body_start in (0, len(yaml) + 9)


def test_aliases_and_tags_come_in_every_form() -> None:
    note = parse_note("---\nAliases: Piec, Oven\ntags:\n- a/b\n- '#c'\ntag: d e, A/B\n---\n#f #C")
    assert note.aliases == ("Piec", "Oven") and note.tags == ("a/b", "c", "d", "e", "f")
    assert parse_note("---\naliases: [x, 7]\ntags: null\n---\n").aliases == ("x", "7")


@settings(max_examples=300)
@given(st.text(st.sampled_from("ab: \n\r-[]{}#&*!|>'\"%@`,?~0\t\ufeff\x85"), max_size=60))
def test_no_front_matter_raises(yaml: str) -> None:
    parse_note(f"---\n{yaml}\n---\nbody")


# --- blocks -------------------------------------------------------------------------------

NOTE = """---
title: Oven
---
# Title

Text with #tag/nested, [[Note#Head|alias]], ![[img.png]] and [a](b%20c.md#sec).
`no #code [[no]]` (#paren) [u](http://x/#no) a#no #123 #1a

Setext
======

- item one ^i1
  - nested [[#^b1]] ^i2
- [ ] task due:: tomorrow
- [x] done

> [!note]- A title
> # not a heading

^m1

%%
hidden #no
```
# hidden
%%
## After #1

```py
# code %% #no
```

    indented #no

rating:: 5
a %%inline #no%% b (key:: value) ^p1
100%% unclosed #yes
"""


@pytest.fixture(params=["\n", "\r\n"], ids=["lf", "crlf"])
def text(request: pytest.FixtureRequest) -> str:
    return NOTE.replace("\n", str(request.param))


@pytest.fixture
def note(text: str) -> Note:
    return parse_note(text)


def test_headings(note: Note, text: str) -> None:
    assert [(one.level, one.text) for one in note.headings] == [
        (1, "Title"),
        (1, "Setext"),
        (2, "After #1"),
    ]
    shown = [text[one.start : one.end].replace("\r", "") for one in note.headings]
    assert shown == ["# Title", "Setext\n======", "## After #1"]


def test_tags_are_not_taken_from_code_comments_or_addresses(note: Note) -> None:
    assert note.tags == ("tag/nested", "paren", "1a", "yes")


def test_links(note: Note, text: str) -> None:
    found = [(one.target, one.heading, one.block, one.alias, one.embed) for one in note.links]
    assert found == [
        ("Note", "Head", "", "alias", False),
        ("img.png", "", "", "", True),
        ("b c.md", "sec", "", "a", False),
        ("", "", "b1", "", False),
    ]
    assert text[note.links[0].start : note.links[0].end] == "[[Note#Head|alias]]"


def test_a_link_in_a_table_has_its_bar_escaped() -> None:
    assert parse_note("| [[A\\|b]] | x |").links[0].alias == "b"


def test_block_ids_name_the_block_they_stand_in_or_follow(note: Note, text: str) -> None:
    named = {one.id: text[one.start : one.end].replace("\r", "") for one in note.blocks}
    assert named == {
        "i1": "- item one",
        "i2": "- nested [[#^b1]]",
        "m1": "> [!note]- A title\n> # not a heading",
        "p1": "rating:: 5\na %%inline #no%% b (key:: value)",
    }
    assert all(text[one.mark :].startswith(f"^{one.id}") for one in note.blocks)


def test_fields_tasks_and_callouts(note: Note, text: str) -> None:
    assert [(one.key, one.value) for one in note.fields] == [
        ("task due", "tomorrow"),
        ("rating", "5"),
        ("key", "value"),
    ]
    tasks = [(one.text, one.done) for one in note.tasks]
    assert tasks == [("task due:: tomorrow", False), ("done", True)]
    assert [(one.kind, one.title) for one in note.callouts] == [("note", "A title")]


def test_comments_and_code_are_spans(note: Note, text: str) -> None:
    comments = [text[start:end] for start, end in note.comments]
    assert [one.split() for one in comments] == [
        ["%%", "hidden", "#no", "```", "#", "hidden", "%%"],
        ["%%inline", "#no%%"],
    ]
    code = [text[start:end].strip() for start, end in note.code]
    assert [one.split()[0] for one in code] == ["`no", "```py", "indented"]


def test_a_comment_that_opens_a_line_and_never_closes_hides_the_rest() -> None:
    note = parse_note("a\n\n%%\nsecret #x\n\n# Hidden\n")
    assert note.comments == ((3, 26),) and not note.tags and not note.headings


def test_a_comment_within_a_line_ends_in_its_paragraph() -> None:
    assert parse_note("100%% sure\n\n50%% off").comments == ()
    assert parse_note("a %%b\nc%% d").comments == ((2, 9),)


def test_a_fence_ends_with_the_quotation_or_list_that_holds_it() -> None:
    note = parse_note("> ```\n> code #no\n\n#a\n\n- ```\n  code #no\n\n#b\n")
    assert note.tags == ("a", "b")


# --- any text -----------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        "# Head",
        "## Two ##",
        "Text",
        "Text #tag",
        "===",
        "---",
        "- item",
        "  - inner",
        "1. one",
        "2. two",
        "> quote",
        "> ```",
        "```",
        "````",
        "~~~",
        "    code",
        "\ttab",
        "%%",
        "a %% b",
        "%%c%%",
        "`code`",
        "`",
        "``",
        "[[L",
        "x]]",
        "^id",
        "x ^id",
        "k:: v",
        "- [ ] t",
        "> [!x] y",
        "* * *",
        "",
        "  ",
        "#",
        "-",
        "+ plus",
        "é🍞",
        "</x>",
    ]
)


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=14), st.sampled_from(["\n", "\r\n", "\r"]))
def test_every_span_of_any_note_lies_in_it(lines: list[str], newline: str) -> None:
    text = newline.join(lines)
    note = parse_note(text)
    spans = [*note.comments, *note.code, *note.items]
    for part in (note.headings, note.links, note.blocks, note.tasks, note.callouts, note.units):
        spans += [(one.start, one.end) for one in part]
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    starts = [unit.start for unit in note.units]
    assert starts == sorted(starts)
    ends = [unit.end for unit in note.units]
    assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))
    plain = blanked(text, (*note.code, *note.comments))
    assert len(plain) == len(text)


OUTLINE = st.sampled_from(
    [
        "# Head",
        "## Two ##",
        "#no",
        "Text",
        "more text",
        "===",
        "---",
        "- item",
        "1. one",
        "7. seven",
        "> quote",
        "```",
        "````",
        "~~~",
        "    code",
        "* * *",
        "",
        "> ```",
        "***",
    ]
)


@settings(max_examples=600, derandomize=True)
@given(st.lists(OUTLINE, max_size=12))
def test_the_outline_is_the_one_commonmark_sees(lines: list[str]) -> None:
    text = "\n".join(lines)
    tokens = MarkdownIt("commonmark").parse(text)
    wanted = [
        (token.map[0], int(token.tag[1]))
        for token in tokens
        if token.type == "heading_open" and token.level == 0 and token.map
    ]
    fences = [
        token.map[0] for token in tokens if token.type == "fence" and token.level == 0 and token.map
    ]
    found = structure_of(text)
    headings = [
        (text.count("\n", 0, unit.start), unit.level)
        for unit in found.units
        if unit.kind == "heading"
    ]
    code = [
        text.count("\n", 0, start)
        for start, end in found.code
        if text[start:end].lstrip().startswith(("```", "~~~"))
    ]
    assert headings == wanted
    assert code == fences or set(fences) <= set(code)


@pytest.mark.parametrize(
    "piece",
    [
        "a `b` c %%d%% [[e]] #f ",
        "`" * 3 + "x",
        "[[",
        "[a](",
        "# " + " " * 50,
        "key:: " + " " * 50,
        "> " * 20 + "\n",
        "- " * 20 + "\n",
        "\n- a ^b\n",
        "%%",
        "%% a\n",
        "(k:: ",
        "| a | b |\n",
    ],
)
def test_a_large_note_of_any_kind_is_read_in_time(piece: str) -> None:
    """A bound far above the usual 0.3 s a megabyte: it catches what grows with the square."""
    text = piece * (300_000 // len(piece))
    begun = time.perf_counter()
    parse_note(text)
    assert time.perf_counter() - begun < 8


# --- canvas -------------------------------------------------------------------------------


def test_a_canvas_gives_its_cards_and_what_joins_them() -> None:
    canvas = parse_canvas(
        '{"nodes":[{"id":"1","type":"text","text":"See [[Oven]]"},'
        '{"id":"2","type":"file","file":"a/b.md","subpath":"#x"},'
        '{"id":"3","type":"group","label":"Plan"},{"id":"4","type":"link","url":"https://x"}],'
        '"edges":[{"fromNode":"1","toNode":"2"},{"fromNode":"1","toNode":"3"}]}'
    )
    assert canvas.faults == ()
    assert [node.text for node in canvas.nodes] == ["See [[Oven]]", "", "Plan", ""]
    assert canvas.nodes[0].links[0].target == "Oven" and canvas.nodes[0].joined == ("2", "3")
    assert (canvas.nodes[1].file, canvas.nodes[1].subpath) == ("a/b.md", "#x")


@pytest.mark.parametrize(
    ("text", "cards"),
    [
        ("{", 0),
        ("[]", 0),
        ('{"nodes": 7}', 0),
        ('{"nodes": [1, {"id": 5, "text": "kept"}]}', 1),
        ("[" * 100_000, 0),
    ],
)
def test_a_broken_canvas_is_a_fault(text: str, cards: int) -> None:
    canvas = parse_canvas(text)
    assert len(canvas.nodes) == cards and len(canvas.faults) == 1


def test_an_empty_canvas_is_fine() -> None:
    assert parse_canvas("").faults == () and parse_canvas("{}").faults == ()
