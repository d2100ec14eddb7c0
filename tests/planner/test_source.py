"""The source of a source follows its index, never shows what is old, and holds no memory."""

from __future__ import annotations

import os

from tests.planner.shelf import Shelf


def test_what_has_not_changed_is_a_hit_and_costs_nothing(vault: Shelf) -> None:
    vault.write("A.md", "# One\n")
    source = vault.source()
    known = source.record("A.md")
    assert source.settle(0) == "hit"
    os.utime(vault.folder / "A.md", (1, 1))  # touched, not changed
    vault.settle()
    assert source.settle(10) == "rebuilt"
    assert source.record("A.md") == known
    assert source.verify(["A.md"])


def test_an_excluded_file_is_gone_as_soon_as_the_rules_say_so(vault: Shelf) -> None:
    vault.write("Private/A.md", "# One\n")
    source = vault.source()
    assert source.verify(["Private/A.md"])
    vault.write(".obsidian/app.json", '{"userIgnoreFilters": ["Private/"]}')
    vault.ground.rules = vault.ground.new_rules()  # as the next comparison begins
    assert not source.verify(["Private/A.md"])
    assert source.record("Private/A.md") is None


def test_records_come_back_after_a_restart(vault: Shelf) -> None:
    vault.write("A.md", "---\nstatus: new\n---\n# One\n\nSee [[B]]. #tag\n\n- [x] done\n")
    assert vault.source().records() == vault.source("again").records() != {}
