"""memory/gate/repair: a kill between two files loses no fact and leaves nothing half forgotten."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.memory.conftest import MAIN, House
from vaultmind.errors import NotFound, WriteConflict
from vaultmind.memory.audit.chain import verify
from vaultmind.memory.audit.lines import AuditLine, read_audit
from vaultmind.memory.audit.reading import Wanted, history
from vaultmind.memory.changes import Ask
from vaultmind.memory.forget.tombstones import Tombstones
from vaultmind.memory.gate.brains import Brains
from vaultmind.memory.gate.writing import Writing
from vaultmind.memory.last import last_written
from vaultmind.types import PERSON, MessageRef
from vaultmind.vault.files import VaultReader
from vaultmind.vault.writer import VaultWriter

REF = MessageRef("main", "2026-02-20_001", "m7", "D1:3")
BRAIN = "VaultMind/agents/main/memory/brain.md"
ARCHIVE = "VaultMind/agents/main/memory/brain_archive.md"


@pytest.fixture
def wired(house: House) -> House:
    house.gate._writing = Writing(replace(house.gate._writing._means, ledger=house.gate._ledger))
    house.indexer.messages = [(REF, "I live in Kraków")]
    return house


def log(house: House) -> list[tuple[str, str, str, str]]:
    """Return what the log shows."""
    told = history(house.paths, Wanted(("main",)))[0]
    shown = [one.line for one in told]
    assert shown == list(read_audit(house.paths, "main")), "both readings agree"
    return [(line.op, line.outcome, line.before, line.after) for line in shown]


def newest(house: House, op: str) -> AuditLine:
    return [line for line in read_audit(house.paths, "main") if line.op == op][-1]


def raw(house: House) -> list[str]:
    return house.file(house.paths.audit("main", "test")).read_text("utf-8").splitlines()


def hides(house: House) -> bool:
    return Tombstones(house.paths).hides(REF.agent, REF.session, REF.block)


def killed(house: House, ask: str, after_edit: bool, **more: object) -> None:
    """Ask for something and be killed right before or right after the brain's edit."""

    class Killed(BaseException):
        pass

    real = VaultWriter._try

    def once(self: VaultWriter, path: object, relative: str, change: object) -> object:
        if relative != BRAIN:
            return real(self, path, relative, change)  # type: ignore[arg-type]
        if after_edit:
            real(self, path, relative, change)  # type: ignore[arg-type]
        else:
            change(self._settled(path, relative))  # type: ignore
        raise Killed

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        patch.setattr(VaultWriter, "_try", once)
        old, _, new = ask.partition(" -> ")
        house.replace(old, new, **more) if new else house.forget(old, **more)


def test_a_forgetting_that_was_killed_after_the_edit_is_completed(wired: House) -> None:
    wired.remember("Lives in Kraków", evidence=REF)
    killed(wired, "Lives in Kraków", after_edit=True, reason="asked to")
    assert not hides(wired) and "Kraków" not in wired.brain()
    assert log(wired)[-1] == ("forget", "begun", "Lives in Kraków", "")
    wired.remember("Plays chess")
    assert hides(wired)
    assert log(wired)[1:] == [
        ("forget", "written", "Lives in Kraków", ""),
        ("remember", "written", "", "Plays chess"),
    ]
    line = newest(wired, "forget")
    assert (line.caller, line.client, line.valid_until != "") == ("person", PERSON.client, True)
    assert line.reason == "completed after it was cut short · asked to"
    assert verify(raw(wired)).faults == ()
    assert wired.gate.undo("main", line.id, PERSON).outcome == "written"
    assert "Lives in Kraków" in wired.brain() and not hides(wired)


def test_a_forgetting_that_was_killed_before_the_edit_was_not_made(wired: House) -> None:
    wired.remember("Lives in Kraków", evidence=REF)
    before = wired.brain()
    killed(wired, "Lives in Kraków", after_edit=False)
    wired.gate._writing.complete("main")
    assert wired.brain() == before and not hides(wired)
    assert log(wired)[-1][:3] == ("forget", "unchanged", "Lives in Kraków")
    count = len(raw(wired))
    wired.gate._writing.complete("main")
    assert len(raw(wired)) == count, "once is enough"


@pytest.mark.parametrize("old", [BRAIN, ARCHIVE], ids=["in the brain", "in the archive"])
@pytest.mark.parametrize("after_edit", [True, False], ids=["after", "before"])
def test_a_correction_that_was_killed_leaves_its_line(
    wired: House, old: str, after_edit: bool
) -> None:
    wired.remember("Plays chess")
    wired.put(old, f"{wired.brain() if old == BRAIN else ''}\n- Lives in Kraków\n")
    killed(wired, "Lives in Kraków -> Lives in Gdańsk", after_edit=after_edit, caller=MAIN)
    wired.gate._writing.complete("main")
    outcome = "written" if after_edit else "unchanged"
    assert log(wired)[-1] == ("replace", outcome, "Lives in Kraków", "Lives in Gdańsk")
    assert newest(wired, "replace").caller == "main"
    assert ("Gdańsk" in wired.brain()) is after_edit
    says = wired.file(old).read_text("utf-8")
    assert ("Kraków" in says) is not after_edit
    if after_edit:
        undone = wired.gate.undo("main", newest(wired, "replace").id, PERSON)
        assert undone.outcome == "written" and "Lives in Kraków" in wired.brain()


def test_what_was_begun_shows_nowhere_once_it_ended(wired: House) -> None:
    wired.remember("Likes tea")
    wired.replace("Likes tea", "Likes rum")
    wired.remember("Plays chess")
    wired.forget("Plays chess")
    assert [one[:2] for one in log(wired)] == [
        ("remember", "written"),
        ("replace", "written"),
        ("remember", "written"),
        ("forget", "written"),
    ]
    assert sum('"begun"' in line for line in raw(wired)) == 2
    assert verify(raw(wired)).faults == ()
    wired.gate.undo("main", "", PERSON)
    assert "Plays chess" in wired.brain()


def test_a_begun_change_is_no_change_to_undo_nor_the_fact_meant_by_that(wired: House) -> None:
    wired.remember("Likes tea")
    wired.remember("Lives in Kraków")
    killed(wired, "Lives in Kraków", after_edit=False)
    fact = last_written(VaultReader(wired.paths, 0), "main")
    assert fact is not None and fact.text == "Lives in Kraków"
    begun = newest(wired, "forget")
    with pytest.raises(NotFound):  # an undo completes what was cut short before it looks
        wired.gate.undo("main", begun.id, PERSON)
    assert wired.gate.undo("main", "", PERSON).before == "Lives in Kraków"


def test_a_write_that_fails_after_it_was_begun_is_closed_by_the_next(
    wired: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    wired.remember("Lives in Kraków")
    real = Brains._edit

    def failing(self: Brains, ask: Ask, change: object) -> object:
        change(VaultReader(wired.paths, 0).read(ask.path))  # type: ignore[operator]
        raise WriteConflict("busy")

    monkeypatch.setattr(Brains, "_edit", failing)
    with pytest.raises(WriteConflict):
        wired.forget("Lives in Kraków")
    monkeypatch.setattr(Brains, "_edit", real)
    assert wired.forget("Lives in Kraków").outcome == "written"
    assert [one[:2] for one in log(wired)] == [
        ("remember", "written"),
        ("forget", "unchanged"),
        ("forget", "written"),
    ]


def test_another_devices_change_is_its_own_to_complete(wired: House) -> None:
    wired.remember("Lives in Kraków", evidence=REF)
    killed(wired, "Lives in Kraków", after_edit=True)
    mine = wired.file(wired.paths.audit("main", "test"))
    mine.rename(wired.file(wired.paths.audit("main", "laptop")))
    wired.gate._writing.complete("main")
    assert not mine.exists() and not hides(wired)
