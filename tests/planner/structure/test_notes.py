"""What is read from a note: without private passages and secrets, with the lines it stands on."""

from __future__ import annotations

from vaultmind.planner.structure.notes import (
    canvas_record,
    note_record,
    text_record,
)
from vaultmind.planner.structure.records import Heading, Link, Task

KEY = "sk-proj-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWprbG1ub3A"
OVEN = """---
title: The oven
status: building
tags: [projects/oven, house]
---
# The oven

Brick, not clay. See [[Firing schedule#Day 3|the schedule]] and ![[plan.png]].

## Tasks
- [ ] Buy the thermometer ^t1
- [x] Dig
"""


def test_a_note_gives_title_headings_links_properties_tags_and_tasks_with_their_lines() -> None:
    record = note_record("Projects/Oven.md", OVEN, "sha", "en")
    assert (record.title, record.shape, record.language) == ("The oven", "note", "en")
    assert record.headings == (Heading("The oven", 1, 6), Heading("Tasks", 2, 10))
    assert record.links == (
        Link("link", "Firing schedule", 8, ("Day 3",)),
        Link("embed", "plan.png", 8),
    )
    assert record.properties == (("title", "The oven"), ("status", "building"))
    assert record.tags == ("projects/oven", "house")
    assert record.tasks == (Task("Buy the thermometer", 11), Task("Dig", 12, done=True))
    assert record.abstract == "Brick, not clay. See the schedule and plan.png."
    assert record.lines == 12


def test_comments_and_code_hold_no_tasks_and_no_links() -> None:
    text = "%% [[Hidden]] %%\n\n```\n- [ ] not a task [[Nor a link]]\n```\n\nSeen.\n"
    record = note_record("Note.md", text, "sha", "en")
    assert record.tasks == ()
    assert record.links == ()
    assert record.abstract == "Seen."


def test_broken_front_matter_is_a_fault_and_the_rest_is_there() -> None:
    record = note_record("Note.md", "---\na: [1\nb: 2\n---\n# Still here\n", "sha", "en")
    assert "front matter" in record.fault
    assert record.headings[0].text == "Still here"


def test_a_canvas_gives_what_its_cards_link_to() -> None:
    text = '{"nodes":[{"id":"1","type":"text","text":"Bake [[Bread]]"}],"edges":[]}'
    record = canvas_record("Board.canvas", text, "sha", "en")
    assert record.links == (Link("link", "Bread", 1),)
    assert record.abstract == "Bake [[Bread]]"


def test_titles_underlined_are_headings_of_other_prose() -> None:
    record = text_record("README.rst", "Shop\n====\n\nSells bread.\n\nUse\n---\n", "sha")
    assert [(one.text, one.level, one.line) for one in record.headings] == [
        ("Shop", 1, 1),
        ("Use", 2, 6),
    ]
    assert (record.title, record.abstract, record.entry) == ("Shop", "Sells bread.", True)
