"""The structure of a source follows its index, never shows what is old, and holds no memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.planner.structure.shelf import NOW, Shelf
from tests.waiting import until
from vaultmind.errors import VaultNotFound
from vaultmind.planner.structure.structure import Structure


def test_records_follow_the_index_file_by_file(vault: Shelf) -> None:
    vault.write("A.md", "# One\n")
    vault.write("B.md", "# Two\n[[A]]\n")
    for number in range(5):
        vault.write(f"Rest/{number}.md", "# As ever\n")
    structure = vault.structure()
    assert {"A.md", "B.md"} < set(structure.records())
    vault.write("A.md", "# Another\n")
    (vault.folder / "B.md").unlink()
    vault.write("C.md", "# Three\n")
    vault.settle()
    assert structure.settle(10) == "partial"
    assert "B.md" not in structure.records()
    assert "C.md" in structure.records()
    record = structure.record("A.md")
    assert record is not None
    assert record.headings[0].text == "Another"


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


def test_a_structure_is_kept_between_runs(vault: Shelf) -> None:
    vault.write("A.md", "# One\n")
    vault.structure().close()
    (vault.state / "read").write_text("")
    again = vault.structure()
    assert again.settle(0) == "hit"
    kept = again.kept("A.md")
    assert kept is not None
    assert kept.record.headings[0].text == "One"


def test_a_damaged_database_is_made_anew_from_the_files(vault: Shelf) -> None:
    vault.write("A.md", "# One\n")
    vault.structure().close()
    (vault.state / "structure.db").write_bytes(b"damaged" * 4000)
    for suffix in ("-wal", "-shm"):
        (vault.state / f"structure.db{suffix}").unlink(missing_ok=True)
    assert set(vault.structure().records()) == {"A.md"}


def test_the_background_reads_what_comes(vault: Shelf) -> None:
    vault.write("A.md", "# One\n")
    vault.sync.reconcile()
    structure = Structure(
        "shelf", vault.state / "structure.db", vault, vault.reader, clock=lambda: NOW
    )
    vault.opened.append(structure)
    structure.start()
    until(lambda: structure.record("A.md") is not None)
    vault.write("B.md", "# Two\n")
    vault.sync.reconcile()
    until(lambda: structure.record("B.md") is not None)


def test_before_the_time_is_up_there_is_part_of_it(vault: Shelf) -> None:
    for number in range(50):
        vault.write(f"{number}.md", "# Note\n")
    vault.sync.reconcile()
    structure = Structure(
        "shelf", vault.state / "structure.db", vault, vault.reader, clock=lambda: NOW
    )
    vault.opened.append(structure)
    assert structure.settle(0) == "partial"
    assert structure.progress.total == 50
    assert structure.settle(10) == "rebuilt"
    assert structure.progress.done == 50


def test_what_the_index_has_not_seen_yet_is_read_from_disk(vault: Shelf) -> None:
    vault.write("A.md", "# One\n")
    vault.write("B.md", "# Two\n")
    structure = vault.structure()
    assert structure.verify(["A.md", "B.md"])
    vault.write("A.md", "# Edited a moment ago\n")
    (vault.folder / "B.md").unlink()
    assert not structure.verify(["A.md", "B.md"])
    record = structure.record("A.md")
    assert record is not None
    assert record.headings[0].text == "Edited a moment ago"
    assert structure.record("B.md") is None
    assert vault.marked == ["A.md", "B.md"]


def test_a_source_that_is_gone_keeps_what_was_known_and_says_so(folder: Shelf) -> None:
    folder.write("a.py", "def one(): ...\n")
    structure = folder.structure()
    folder.folder.rename(folder.folder.with_name("unplugged"))
    with pytest.raises(VaultNotFound):
        structure.verify(["a.py"])
    assert structure.record("a.py") is not None


def test_the_memory_folder_is_no_part_of_it(vault: Shelf) -> None:
    brain = "VaultMind/agents/dexter/memory/brain.md"
    vault.write(brain, "## user\n- Her [[Secret project]] #secret\n")
    vault.write("VaultMind/agents/dexter/memory/sessions/2026-02-20_001.md", "---\nid: x\n---\n")
    vault.write("A.md", "# One\n")
    structure = vault.structure()
    assert vault.rows([brain])
    assert set(structure.records()) == {"A.md"}
    structure.reread([brain])
    assert set(structure.records()) == {"A.md"}


def test_an_excluded_file_is_gone_as_soon_as_the_rules_say_so(vault: Shelf) -> None:
    vault.write("Private/A.md", "# One\n")
    structure = vault.structure()
    assert structure.verify(["Private/A.md"])
    vault.write(".obsidian/app.json", '{"userIgnoreFilters": ["Private/"]}')
    vault.sync._rules = None  # as the next comparison begins
    assert not structure.verify(["Private/A.md"])
    assert structure.record("Private/A.md") is None


def test_a_link_to_outside_is_never_read(folder: Shelf, tmp_path: Path) -> None:
    secret = tmp_path / "outside.py"
    secret.write_text("def outside_secret(): ...\n")
    folder.write("a.py", "def one(): ...\n")
    structure = folder.structure()
    (folder.folder / "a.py").unlink()
    (folder.folder / "a.py").symlink_to(secret)
    structure.verify(["a.py"])
    assert structure.record("a.py") is None
    structure.reread(["../outside.py", "a.py"])
    assert "outside_secret" not in repr(structure.records())


def test_large_and_minified_files_are_named_and_not_looked_into(folder: Shelf) -> None:
    folder.write("big.py", "x = 1\n" * 180_000)
    folder.write("script.min.py", "def a(): ...\n")
    folder.write("bundle.js", "var a=1;" * 1000)
    structure = folder.structure()
    records = structure.records()
    for path in ("script.min.py", "bundle.js", "big.py"):
        assert records[path].definitions == ()
        assert "not looked into" in records[path].fault or "limit" in records[path].fault


def test_each_layer_sees_only_what_concerns_it(vault: Shelf) -> None:
    vault.write("A.md", "# One\n\nThe first paragraph.\n\nThe second.\n\n- [ ] task\n")
    structure = vault.structure()

    def changed_by(text: str) -> set[str]:
        layers = ("L0", "L1", "L2", "L3", "L4", "L5", "L6")
        before = structure.stamp(*layers)
        vault.write("A.md", text)
        vault.settle()
        structure.settle(10)
        pairs = zip(layers, before, structure.stamp(*layers), strict=True)
        return {layer for layer, old, new in pairs if old != new}

    body = "# One\n\nThe first paragraph.\n\nThe second, and more of it.\n\n- [ ] task\n"
    assert changed_by(body) == {"L6"}
    assert changed_by(body.replace("- [ ]", "- [x]")) == {"L5", "L6"}
    assert changed_by(body.replace("# One", "# Two")) == {"L1", "L5", "L6"}
    assert changed_by(body.replace("# One", "# Two") + "[[B]]\n") == {"L2", "L6"}


def test_the_graph_follows_a_change(vault: Shelf) -> None:
    vault.write("A.md", "# One\n")
    vault.write("B.md", "[[A]]\n")
    structure = vault.structure()
    assert [one.source for one in structure.graph.into("A.md")] == ["B.md"]
    vault.write("C.md", "[[A]]\n")
    vault.settle()
    structure.settle(10)
    assert {one.source for one in structure.graph.into("A.md")} == {"B.md", "C.md"}


def test_two_changes_within_one_stamp_are_told_apart_by_what_the_index_read(vault: Shelf) -> None:
    vault.write("A.md", "# One\n", 1_700_000_000)
    structure = vault.structure()
    with vault.database.write() as connection:  # the index read it once more, and other bytes
        connection.execute("UPDATE files SET sha = 'another'")
        vault.database.touch("A.md")
    assert structure.settle(10) != "hit"
    assert structure.settle(10) == "hit"


def test_what_left_while_a_damaged_index_was_made_anew_is_dropped(vault: Shelf) -> None:
    vault.write("A.md", "# One\n")
    vault.write("B.md", "# Two\n")
    structure = vault.structure()
    (vault.folder / "B.md").unlink()
    vault.database.renew("damaged")
    vault.settle()
    structure.settle(10)
    assert list(structure.records()) == ["A.md"]
