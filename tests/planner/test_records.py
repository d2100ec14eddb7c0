"""What is read from a note: without private passages and secrets, with the lines it stands on."""

from __future__ import annotations

from tests.planner.shelf import record
from vaultmind.planner.types import Link, Part, Task

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
    found = record("Projects/Oven.md", OVEN, "en")
    assert (found.title, found.shape, found.language) == ("The oven", "note", "en")
    assert found.parts == (Part("The oven", "h1", 6, 9), Part("Tasks", "h2", 10, 12))
    assert found.links == (
        Link("link", "Firing schedule"),
        Link("embed", "plan.png"),
    )
    assert found.properties == (("title", "The oven"), ("status", "building"))
    assert found.tags == ("projects/oven", "house")
    assert found.tasks == (Task("Buy the thermometer"), Task("Dig", done=True))
    assert found.abstract == "Brick, not clay. See the schedule and plan.png."
