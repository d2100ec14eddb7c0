"""memory/gate/overflow: what is too much moves to the archive on a real disk, and comes back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from vaultmind.errors import DamagedMemory, WriteConflict
from vaultmind.memory.brain import add_fact, new_brain, parse_brain, render_fact
from vaultmind.memory.gate.overflow import Overflow, Sizes
from vaultmind.memory.limits import brain_tokens
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


def test_an_overfull_brain_gives_to_the_archive_and_nothing_vanishes(desk: Desk) -> None:
    before = desk.facts()
    moved = desk.overflow.shrink("main")
    assert moved
    assert 300 <= brain_tokens(desk.brain()) <= 500
    assert desk.facts() == before
    assert set(moved) == set(parse_brain(desk.archive()).all())
    assert desk.overflow.shrink("main") == ()


def test_the_archive_is_written_before_the_brain(desk: Desk) -> None:
    desk.overflow.shrink("main")
    assert desk.edits == [desk.paths.archive("main"), desk.paths.brain("main")]


def test_a_brain_under_its_limit_is_not_touched(tmp_path: Path) -> None:
    desk = Desk(tmp_path, facts=5)
    assert desk.overflow.shrink("main") == ()
    assert not desk.edits
    assert desk.overflow.shrink("nobody") == ()


def test_what_was_written_just_now_stays(desk: Desk) -> None:
    gone = {one.block for one in desk.overflow.shrink("main")}
    desk.put(desk.paths.brain("main"), brain_of([fact(i) for i in range(50)]))
    desk.put(desk.paths.archive("main"), "")
    assert not gone & {one.block for one in desk.overflow.shrink("main", keep=gone)}


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


def test_a_line_that_a_person_deletes_in_the_middle_of_it_is_gone_from_both(desk: Desk) -> None:
    real, done = desk.edit, []
    victim = Desk.facts(desk)[0]
    line = f"- {render_fact(victim, desk.paths)}\n"
    assert line in desk.brain()

    def edit(relative: str, change: Change) -> FileText | None:
        if relative == desk.paths.brain("main") and not done:
            done.append(1)
            desk.put(relative, desk.brain().replace(line, "").replace("Fact 49", "Fakt 49"))
        return real(relative, change)

    overflow = Overflow(desk.paths, VaultReader(desk.paths, 0), edit, lambda: NOW, Sizes())
    assert victim not in overflow.shrink("main")
    texts = [one.text for one in desk.facts()]
    assert len(texts) == len(set(texts)) == 49
    assert victim.text not in texts
    assert sum(text.startswith("Fakt 49") for text in texts) == 1
    assert not any(text.startswith("Fact 49") for text in texts)
    assert brain_tokens(desk.brain()) <= 500


def test_a_brain_that_never_stands_still_ends_in_an_error_and_loses_nothing(desk: Desk) -> None:
    real = desk.edit

    def edit(relative: str, change: Change) -> FileText | None:
        if relative == desk.paths.brain("main"):
            desk.put(relative, desk.brain() + "\nmore prose of mine\n")
        return real(relative, change)

    overflow = Overflow(desk.paths, VaultReader(desk.paths, 0), edit, lambda: NOW, Sizes())
    before = desk.facts()
    with pytest.raises(WriteConflict, match="kept changing"):
        overflow.shrink("main")
    assert desk.facts() == before
    assert not parse_brain(desk.archive()).facts


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = [{tests!r}, {root!r}]
from test_overflow import Desk, NOW, Sizes, VaultReader, Overflow
desk = Desk(Path({vault!r}))
def edit(relative, change):
    if relative == desk.paths.brain("main"):
        os.kill(os.getpid(), signal.SIGKILL)
    return desk.edit(relative, change)
Overflow(desk.paths, VaultReader(desk.paths, 0), edit, lambda: NOW, Sizes()).shrink("main")
"""


def test_a_kill_between_the_two_files_leaves_a_fact_twice_and_the_next_move_mends_it(
    tmp_path: Path,
) -> None:
    here = Path(__file__)
    code = KILLED.format(
        tests=str(here.parent), root=str(here.parent.parent.parent), vault=str(tmp_path)
    )
    killed = subprocess.run([sys.executable, "-c", code], check=False, env=dict(os.environ))
    assert killed.returncode == -signal.SIGKILL
    twice = [one.text for one in parse_brain((tmp_path / VaultPaths(tmp_path).archive("main"))
                                             .read_text("utf-8")).all()]  # fmt: skip
    assert twice
    desk = Desk(tmp_path)
    texts = [one.text for one in desk.facts()]
    assert len(set(texts)) == 50
    assert len(texts) == 50 + len(twice)
    desk.overflow.shrink("main")
    assert sorted(one.text for one in desk.facts()) == sorted(set(texts))


def test_a_small_brain_is_mended_too(tmp_path: Path) -> None:
    desk = Desk(tmp_path, facts=3)
    desk.put(desk.paths.archive("main"), brain_of([fact(1), fact(7)]) + "\n- Typed by hand\n")
    assert desk.overflow.shrink("main") == ()
    assert [one.text for one in parse_brain(desk.archive()).all()] == [
        fact(7).text,
        "Typed by hand",
    ]


def test_a_line_of_the_persons_own_in_the_archive_is_never_mended_away(tmp_path: Path) -> None:
    desk = Desk(tmp_path, facts=3)
    own = f"# Main\n\n- {fact(1).text}\n"
    desk.put(desk.paths.archive("main"), own)
    desk.overflow.shrink("main")
    assert desk.archive() == own


def test_an_archived_fact_comes_back_whole_and_leaves_the_archive(desk: Desk) -> None:
    before = desk.facts()
    one = desk.overflow.shrink("main")[0]
    desk.edits.clear()
    assert desk.overflow.restore("main", one.block) == one
    assert desk.edits == [desk.paths.brain("main"), desk.paths.archive("main")]
    assert one in parse_brain(desk.brain()).all()
    assert desk.facts() == before
    assert desk.overflow.restore("main", one.block) is None
    assert desk.overflow.restore("main", "none") is None
    desk.overflow.shrink("main", keep=[one.block])
    assert one in parse_brain(desk.brain()).all()


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


def test_one_new_fact_moves_a_few_and_not_many(tmp_path: Path) -> None:
    desk = Desk(tmp_path, facts=0)
    number = 0
    while brain_tokens(desk.brain()) <= Sizes().max_tokens:
        number += 1
        desk.put(desk.paths.brain("main"), brain_of([fact(i) for i in range(number)]))
    assert 1 <= len(desk.overflow.shrink("main")) <= 3
    desk.put(desk.paths.brain("main"), add_fact(desk.brain(), render_fact(fact(99), desk.paths),
                                                "user", "en"))  # fmt: skip
    assert desk.overflow.shrink("main") == ()
