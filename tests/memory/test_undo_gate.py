"""gate.undo: on real files, under a person's hands, there and back again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.memory.conftest import NOW, House, read_audit
from vaultmind.memory.audit import AuditLine
from vaultmind.memory.forget.hiding import Tombstones, render_tombstones
from vaultmind.memory.gate import Gate, GateSettings
from vaultmind.types import PERSON, MessageRef, Outcome

REF = MessageRef("main", "2026-02-20_001", "m7", "D1:3")
TYPED = "# Main\n\nMy own words.\n\n## Preferences\n\n- [x] typed by hand\n- Drinks black coffee\n"


def undo(house: House, line_id: str = "") -> Outcome:
    return house.gate.undo("main", line_id or last(house).id, PERSON)


def lines(house: House) -> tuple[AuditLine, ...]:
    return read_audit(house.paths, "main")


def audit(house: House) -> str:
    return house.file(house.paths.audit("main", "test")).read_text("utf-8")


def last(house: House, op: str = "") -> AuditLine:
    return [line for line in lines(house) if not op or line.op == op][-1]


def said(house: House) -> list[str]:
    """Return the brain's lines; blank ones do not count."""
    return [line for line in house.brain().splitlines() if line.strip()]


def hides(house: House, ref: MessageRef = REF) -> bool:
    return Tombstones(house.paths).hides(ref.agent, ref.session, ref.block)


def test_what_a_person_typed_comes_back_to_its_line(house: House) -> None:
    house.put(house.paths.brain("main"), TYPED)
    house.replace("Drinks black coffee", "Drinks green tea")
    undo(house)
    assert house.brain() == TYPED


def test_a_conflict_explains_itself_and_changes_nothing(house: House) -> None:
    block = house.remember("Lives in Kraków").block
    path = house.paths.brain("main")
    made = last(house)
    for edited, words in (
        (house.brain().replace("Kraków", "Opole"), "“Lives in Opole” now"),
        (
            house.brain().replace(f"^{block}", f"^{block}\n    - a line of mine"),
            "are now under",
        ),
        (house.brain().replace("- Lives in Kraków", "Lives in Kraków"), "no longer in memory"),
        (f"<<<<<<< a\n{house.brain()}\n>>>>>>> b\n", "is damaged: it contains merge markers"),
    ):
        house.put(path, edited)
        done = undo(house, made.id)
        assert done.outcome == "unchanged" and words in done.message, done.message
        assert house.brain() == edited
        assert (last(house).op, last(house).outcome) == ("undo", "unchanged")


@pytest.fixture
def small(house: House) -> House:
    """A brain of 60 tokens at most."""
    settings = replace(GateSettings("test"), sizes=(60, 40))
    house.gate = Gate(house.paths, settings, (), house.indexer, house.authority, lambda: NOW)
    return house


def test_what_moved_to_keep_the_brain_small_comes_back_with_an_undo(small: House) -> None:
    done = small.remember("Plays chess")
    for text in ("Plays chess", "Reads Lem", "Has a red bicycle", "Sings in a choir"):
        small.remember(text, section="current")
        done = small.remember(f"{text} and writes about it every single Sunday", section="user")
        if done.archived:
            break
    assert "moved to" in done.message and "to keep the brain small" in done.message
    moved = last(small)
    line = next(move.line for move in moved.moves if not move.came)
    archive = small.file(small.paths.archive("main"))
    assert line in archive.read_text("utf-8") and line not in small.brain()
    assert undo(small, moved.id).outcome == "written"
    assert line in small.brain() and line not in archive.read_text("utf-8")
    undo(small, last(small).id)
    assert line not in small.brain() and archive.read_text("utf-8").count(line) == 1


def test_a_lift_shows_by_every_name_what_any_device_or_copy_of_its_file_hid(house: House) -> None:
    summary = "VaultMind/agents/main/memory/summaries/L1/L1_001"
    part, folder = MessageRef("main", summary, "p3"), house.paths.memory("main")
    names = "tombstones-phone", "tombstones-phone.sync-conflict-20260220-100000-ABCDEF"
    for name, refs in zip(names, ([part], [REF]), strict=True):
        text = render_tombstones(refs, "2026-02-20T10:00:01+01:00")
        house.put(f"{folder}/{name}.jsonl", text)
    assert hides(house) and hides(house, part)
    by_block = replace(REF, id="")
    assert house.gate.hiding.show([by_block]) == (by_block,)
    assert not hides(house) and not hides(house, replace(REF, block="D1:3")) and hides(house, part)
    assert house.gate.hiding.show([part, REF]) == (part,), "the other is not hidden any more"
    assert not hides(house, part)
