"""The structure of a source follows its index, never shows what is old, and holds no memory."""

from __future__ import annotations

import os

from tests.planner.shelf import Shelf


def test_what_has_not_changed_is_a_hit_and_costs_nothing(vault: Shelf) -> None:
    vault.write("A.md", "# One\n")
    structure = vault.structure()
    version = structure.version
    assert structure.settle(0) == "hit"
    os.utime(vault.folder / "A.md", (1, 1))  # touched, not changed
    vault.settle()
    structure.settle(10)
    assert structure.version == version
    assert structure.verify(["A.md"])


def test_an_excluded_file_is_gone_as_soon_as_the_rules_say_so(vault: Shelf) -> None:
    vault.write("Private/A.md", "# One\n")
    structure = vault.structure()
    assert structure.verify(["Private/A.md"])
    vault.write(".obsidian/app.json", '{"userIgnoreFilters": ["Private/"]}')
    vault.sync._rules = None  # as the next comparison begins
    assert not structure.verify(["Private/A.md"])
    assert structure.record("Private/A.md") is None


def test_records_come_back_after_a_restart_and_a_damaged_file_is_made_anew(vault: Shelf) -> None:
    vault.write("A.md", "---\nstatus: new\n---\n# One\n\nSee [[B]]. #tag\n\n- [x] done\n")
    known = vault.structure().records()
    vault.opened.pop().close()
    again = vault.structure()
    assert again.records() == known
    again.close()
    (vault.state / "structure.db").write_bytes(b"this is no database" * 500)
    assert vault.structure().records() == known
