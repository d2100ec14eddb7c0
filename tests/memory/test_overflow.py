"""memory/gate/overflow: what is too much moves to the archive on a real disk, and comes back."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from vaultmind.memory.gate.overflow import Overflow, Sizes

from vaultmind.errors import DamagedMemory
from vaultmind.memory.brain import add_fact, new_brain, parse_brain, render_fact
from vaultmind.types import Fact, MessageRef
from vaultmind.vault.files import Change, FileText, VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.writer import VaultWriter

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
REF = MessageRef("main", "2026-02-20_001", "m7")


class Desk:
    """A vault with one overfull brain, and an `edit` that somebody may interrupt."""

    def __init__(self, root: Path, facts: int = 50) -> None:
        self.paths = VaultPaths(root)
        self.writer = VaultWriter(self.paths)
        self.edits: list[str] = []
        self.overflow = Overflow(
            self.paths, VaultReader(self.paths, 0), self.edit, lambda: NOW, Sizes()
        )
        self.put(self.paths.brain("main"), brain_of([fact(i) for i in range(facts)]))

    def edit(self, relative: str, change: Change) -> FileText | None:
        self.edits.append(relative)
        return self.writer.edit(relative, change)

    def put(self, relative: str, text: str) -> None:
        path = self.paths.root / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="")

    def brain(self) -> str:
        return (self.paths.root / self.paths.brain("main")).read_text("utf-8")

    def archive(self) -> str:
        path = self.paths.root / self.paths.archive("main")
        return path.read_text("utf-8") if path.exists() else ""

    def facts(self) -> list[Fact]:
        both = (*parse_brain(self.brain()).all(), *parse_brain(self.archive()).all())
        return sorted(both, key=lambda one: one.text)

    def audit(self, *lines: dict[str, str], device: str = "one") -> None:
        raw = "".join(json.dumps(line) + "\n" for line in lines)
        self.put(self.paths.audit("main", device), raw)


def fact(number: int, days: int = 10) -> Fact:
    written = (date(2026, 3, 1) - timedelta(days=days)).isoformat()
    text = f"Fact {number:02} about a thing that the user once said in passing"
    return Fact(text, "user", f"b{number:03}", REF, written, "said")


def brain_of(facts: list[Fact]) -> str:
    text = new_brain("main", "en")
    for one in facts:
        text = add_fact(text, render_fact(one, VaultPaths(Path("/"))), "user", "en")
    return text


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_brain_under_its_limit_is_not_touched(tmp_path: Path) -> None:
    desk = Desk(tmp_path, facts=5)
    assert desk.overflow.shrink("main") == ()
    assert not desk.edits
    assert desk.overflow.shrink("nobody") == ()


def test_what_was_said_again_or_brought_back_stays(desk: Desk) -> None:
    first = desk.overflow.shrink("main")[0]
    desk.put(desk.paths.brain("main"), brain_of([fact(i) for i in range(50)]))
    desk.put(desk.paths.archive("main"), "")
    said = {"time": "2026-02-27T10:00:00+01:00", "block": first.block, "outcome": "unchanged"}
    desk.audit({**said, "op": "remember"})
    assert first not in desk.overflow.shrink("main")
    desk.put(desk.paths.brain("main"), brain_of([fact(i) for i in range(50)]))
    desk.put(desk.paths.archive("main"), "")
    desk.audit({**said, "op": "forget"})  # the file changed: counted anew, and nothing counts
    assert first in desk.overflow.shrink("main")
    desk.put(desk.paths.brain("main"), brain_of([fact(i) for i in range(50)]))
    desk.put(desk.paths.archive("main"), "")
    desk.audit({**said, "op": "restore", "outcome": "written"}, device="two")
    assert first not in desk.overflow.shrink("main")


def test_what_came_back_once_is_not_the_first_to_go_again(desk: Desk) -> None:
    first = desk.overflow.shrink("main")[0]
    desk.put(desk.paths.brain("main"), brain_of([fact(i) for i in range(50)]))
    desk.put(desk.paths.archive("main"), "")
    wrote = {"op": "remember", "outcome": "written", "block": first.block}
    desk.audit({**wrote, "time": "2026-02-19"})
    assert first in desk.overflow.shrink("main")
    desk.put(desk.paths.brain("main"), brain_of([fact(i) for i in range(50)]))
    desk.put(desk.paths.archive("main"), "")
    desk.audit({**wrote, "time": "2026-02-19"}, {**wrote, "time": "2026-02-25"})
    assert first not in desk.overflow.shrink("main")


def test_an_audit_torn_by_a_crash_is_counted_as_far_as_it_reads(desk: Desk) -> None:
    torn = '{"op": "remember", "outcome": "unchanged", "block": "b0'
    desk.put(desk.paths.audit("main", "one"), f'"unchanged"\n{torn}\n[]\n')
    assert desk.overflow.shrink("main")


def test_a_fact_comes_back_into_a_brain_that_is_not_there(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    one = desk.overflow.shrink("main")[0]
    (tmp_path / desk.paths.brain("main")).unlink()
    assert desk.overflow.restore("main", one.block, "pl") == one
    assert "## Preferencje" in desk.brain()


def test_a_damaged_archive_takes_nothing_and_the_brain_stays(desk: Desk) -> None:
    before = desk.brain()
    desk.put(desk.paths.archive("main"), "<<<<<<< ours\n- a\n>>>>>>> theirs\n")
    with pytest.raises(DamagedMemory):
        desk.overflow.shrink("main")
    assert desk.brain() == before
