"""gate.undo: on real files, under a person's hands, there and back again."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.memory.conftest import MAIN, House
from vaultmind.errors import NotFound
from vaultmind.memory.audit.chain import verify
from vaultmind.memory.audit.lines import AuditLine, read_audit
from vaultmind.memory.forget.tombstones import Tombstones
from vaultmind.memory.gate.gate import Gate, GateSettings
from vaultmind.memory.gate.overflow import Sizes
from vaultmind.types import PERSON, MessageRef, Outcome
from vaultmind.vault.files import Change, FileText
from vaultmind.vault.writer import VaultWriter

BORN = "Was born in a village near Lublin where the grandparents had an orchard of old pear trees"
REF = MessageRef("main", "2026-02-20_001", "m7", "D1:3")
TYPED = "# Main\n\nMy own words.\n\n## Preferences\n\n- [x] typed by hand\n- Drinks black coffee\n"


def undo(house: House, line_id: str = "", **more: bool) -> Outcome:
    return house.gate.undo("main", line_id, PERSON, **more)


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


def test_a_remembered_fact_is_taken_out_and_can_be_had_again(house: House) -> None:
    house.put(house.paths.brain("main"), TYPED)
    house.remember("Lives in Kraków", evidence=REF)
    with_fact, made = said(house), last(house)
    done = undo(house)
    assert done.outcome == "written" and "taken out" in done.message
    assert "Kraków" not in house.brain() and not hides(house)
    assert (last(house).op, last(house).undoes, last(house).before) == (
        "forget", made.id, "Lives in Kraków",
    )  # fmt: skip
    again = undo(house, last(house).id)
    assert again.outcome == "written" and said(house) == with_fact
    assert last(house).undoes and last(house).evidence.endswith("#^m7")


def test_a_correction_goes_back_to_the_same_place_with_its_source(house: House) -> None:
    house.put(house.paths.brain("main"), TYPED)
    house.remember("Lives in Kraków", evidence=REF, section="user")
    before = house.brain()
    house.replace("Lives in Kraków", "Lives in Gdańsk")
    assert undo(house).message.startswith("“Lives in Gdańsk” is “Lives in Kraków” again")
    assert house.brain() == before


def test_what_a_person_typed_comes_back_to_its_line(house: House) -> None:
    house.put(house.paths.brain("main"), TYPED)
    block = house.replace("Drinks black coffee", "Drinks green tea").block
    undo(house)
    assert house.brain() == TYPED.replace("black coffee", f"black coffee ^{block}")


def test_a_contradicted_fact_comes_back_in_its_place(house: House) -> None:
    house.remember("Lives in Kraków", evidence=REF, section="user")
    before = house.brain()
    replaced = house.remember("Lives in Gdańsk")
    assert replaced.before == "Lives in Kraków" and last(house).op == "replace"
    assert undo(house).fact == "Lives in Kraków"
    assert house.brain() == before


def test_a_forgotten_fact_comes_back_and_its_messages_are_shown(house: House) -> None:
    house.indexer.messages = [(REF, "I live in Kraków")]
    house.remember("Lives in Kraków", evidence=REF)
    before = said(house)
    house.forget("Lives in Kraków")
    assert hides(house) and "Kraków" not in house.brain()
    done = undo(house)
    assert "1 message is shown again" in done.message
    assert said(house) == before and not hides(house)
    undo(house, last(house).id)
    assert hides(house) and "Kraków" not in house.brain(), "forgotten once more"
    undo(house, last(house).id)
    assert not hides(house) and said(house) == before


@pytest.mark.parametrize("after", [False, True], ids=["before the brain", "after the brain"])
def test_a_kill_in_an_undo_leaves_no_message_hidden_for_good(
    house: House, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    house.indexer.messages = [(REF, "I live in Kraków")]
    house.remember("Lives in Kraków", evidence=REF)
    before = said(house)
    house.forget("Lives in Kraków")
    with monkeypatch.context() as patch:
        real = house.gate._edit

        def killed(relative: str, change: Change) -> FileText | None:
            if after:
                real(relative, change)
            raise KeyboardInterrupt

        patch.setattr(house.gate, "_edit", killed)
        with pytest.raises(KeyboardInterrupt):
            undo(house)
    undo(house)
    assert said(house) == before and not hides(house)


def test_an_undo_that_a_hand_edit_stops_leaves_its_messages_hidden(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.indexer.messages = [(REF, "I live in Kraków")]
    house.remember("Lives in Kraków", evidence=REF)
    house.forget("Lives in Kraków")
    real = house.gate._edit

    def edited(relative: str, change: Change) -> FileText | None:
        house.put(house.paths.brain("main"), "## User\n\n- Lives in Kraków\n")
        return real(relative, change)

    monkeypatch.setattr(house.gate, "_edit", edited)
    done = undo(house)
    assert done.outcome == "unchanged" and "again already" in done.message
    assert hides(house)


def test_what_another_forgetting_hid_stays_hidden(house: House) -> None:
    house.indexer.messages = [(REF, "I live in Kraków. My cat is called Filemon.")]
    house.remember("Lives in Kraków", evidence=REF)
    house.remember("My cat is called Filemon", evidence=REF)
    house.forget("Lives in Kraków")
    first = last(house, "forget")
    house.forget("My cat is called Filemon")
    done = undo(house, first.id)
    assert "Kraków" in house.brain() and hides(house)
    assert "still hidden" in done.message
    undo(house, last(house, "forget").id)
    assert not hides(house)


def test_messages_that_were_hidden_alone_are_shown_again(house: House) -> None:
    house.gate.hide("main", [REF], PERSON)
    assert hides(house)
    with pytest.raises(NotFound):
        undo(house)
    assert undo(house, last(house).id).outcome == "written"
    assert not hides(house)
    undo(house, last(house).id)
    assert hides(house)


def test_a_conflict_explains_itself_and_changes_nothing(house: House) -> None:
    block = house.remember("Lives in Kraków").block
    path = house.paths.brain("main")
    made = last(house)
    for edited, words in (
        (house.brain().replace("Kraków", "Opole"), "“Lives in Opole” now"),
        (house.brain().replace(f"^{block}", f"^{block}\n    - a line of mine"), "stand under"),
        (house.brain().replace("- Lives in Kraków", "Lives in Kraków"), "not in the memory"),
        (f"<<<<<<< a\n{house.brain()}\n>>>>>>> b\n", "not in the memory"),
    ):
        house.put(path, edited)
        for dry_run in (True, False):
            done = undo(house, made.id, dry_run=dry_run)
            assert done.outcome == "unchanged" and words in done.message, done.message
        assert house.brain() == edited
        assert (last(house).op, last(house).outcome) == ("undo", "unchanged")


def test_a_dry_run_tells_and_does_nothing(house: House) -> None:
    house.indexer.messages = [(REF, "I live in Kraków")]
    house.remember("Lives in Kraków", evidence=REF)
    house.forget("Lives in Kraków")
    before, told = house.brain(), lines(house)
    done = undo(house, dry_run=True)
    assert "“Lives in Kraków” is back" in done.message and "1 message" in done.message
    assert (house.brain(), lines(house), hides(house)) == (before, told, True)


def test_a_hand_edit_during_an_undo_is_kept(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan is made again on the text that is written over, and what it finds there counts."""
    house.remember("Lives in Kraków")
    path, edit = house.file(house.paths.brain("main")), VaultWriter.edit
    edits = ["My own line.\n", ""]

    def meanwhile(writer: VaultWriter, relative: str, change: object, *tries: int) -> object:
        def first(file: FileText | None) -> str | None:
            new = change(file)  # type: ignore[operator]
            if edits and new is not None:
                path.write_text((file.text if file else "") + edits.pop(0), "utf-8")
            return new  # type: ignore[no-any-return]

        return edit(writer, relative, first, *tries)

    monkeypatch.setattr(VaultWriter, "edit", meanwhile)
    assert undo(house).outcome == "written"
    assert "My own line." in house.brain() and "Kraków" not in house.brain()


def test_an_agent_undoes_nothing(house: House) -> None:
    house.remember("Lives in Kraków", caller=MAIN)
    done = house.gate.undo("main", "", MAIN)
    assert done.outcome == "denied" and "Kraków" in house.brain()
    assert (last(house).op, last(house).outcome, last(house).caller) == ("undo", "denied", "main")


def test_one_undo_after_another_goes_back_in_time(house: House) -> None:
    house.remember("Lives in Kraków")
    empty_of_it = undo(house)
    assert empty_of_it.outcome == "written"
    house.remember("Plays chess")
    house.replace("Plays chess", "Plays go")
    house.forget("Plays go")
    assert [undo(house).fact for _ in range(3)] == ["Plays go", "Plays chess", "Plays chess"]
    with pytest.raises(NotFound):
        undo(house)
    with pytest.raises(NotFound):
        undo(house, "00000000")
    assert verify(audit(house).split("\n")).faults == ()


def test_an_id_may_be_shortened(house: House) -> None:
    for number in range(40):
        house.remember(f"Fact number {number} of a long list")
    ids = [line.id for line in lines(house)]
    assert undo(house, ids[7][:6]).fact == "Fact number 7 of a long list"
    with pytest.raises(NotFound):
        undo(house, ids[8][:3])


@pytest.fixture
def small(house: House) -> House:
    """A brain of 60 tokens at most."""
    settings = replace(GateSettings("test"), sizes=Sizes(60, 40))
    house.gate = Gate(house.paths, settings, (), house.indexer, house.authority, house.gate._clock)
    return house


def test_what_was_moved_to_the_archive_comes_back_from_it(small: House) -> None:
    for text in ("Plays chess", "Reads Lem", "Has a red bicycle", "Sings in a choir"):
        small.remember(text, section="current")
        small.remember(f"{text} and writes about it every single Sunday", section="user")
    moved = last(small, "archive")
    archive = small.file(small.paths.archive("main"))
    assert moved.after in archive.read_text("utf-8")
    done = undo(small, moved.id)
    assert "back from the archive" in done.message
    assert f"^{moved.block}" in small.brain()
    assert f"^{moved.block}" not in archive.read_text("utf-8")
    back = next(line for line in reversed(lines(small)) if line.op == "restore")
    undo(small, back.id)
    assert f"^{moved.block}" not in small.brain()
    assert archive.read_text("utf-8").count(f"^{moved.block}") == 1


def test_undoes_and_writes_at_once_leave_every_fact_once_and_the_chain_whole(house: House) -> None:
    made = [house.remember(f"Owns book number {number}") for number in range(12)]
    ids = [line.id for line in lines(house)]

    def take_back(line_id: str) -> None:
        undo(house, line_id)

    def write(number: int) -> None:
        house.remember(f"Owns record number {number}", caller=MAIN)

    threads = [threading.Thread(target=take_back, args=(one,)) for one in (*ids, *ids[:4])]
    threads += [threading.Thread(target=write, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one.outcome == "written" for one in made)
    assert "book" not in house.brain() and house.brain().count("record number") == 12
    assert verify(audit(house).split("\n")).faults == ()
    assert sum(bool(line.undoes) for line in lines(house)) == 12


def test_another_devices_change_is_undone_here(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    laptop = House(tmp_path / "vault")
    laptop.remember("Lives in Kraków", evidence=REF)
    laptop.forget("Lives in Kraków")
    phone = House(tmp_path / "vault")
    phone.gate = Gate(
        phone.paths, GateSettings("phone"), (), phone.indexer, phone.authority, phone.gate._clock
    )
    assert phone.gate.undo("main", "", PERSON).fact == "Lives in Kraków"
    assert not hides(laptop) and "Kraków" in laptop.brain()
    assert phone.file(phone.paths.audit("main", "phone")).is_file()


def test_words_that_were_changed_in_the_audit_are_not_brought_back(house: House) -> None:
    house.remember("Lives in Kraków")
    house.forget("Lives in Kraków")
    path = house.file(house.paths.audit("main", "test"))
    path.write_text(audit(house).replace("Lives in Kraków", "Owes me a house"), "utf-8")
    done = undo(house)
    assert done.outcome == "unchanged" and "changed by hand" in done.message
    assert "house" not in house.brain()


def test_a_summary_sentence_that_a_forgetting_hid_is_shown_again(house: House) -> None:
    path = f"{house.paths.memory('main')}/summaries/L1/L1_001.md"
    house.put(path, "# L1\n\n- Anna lives in Kraków.\n\n- Anna plays chess.\n")
    house.remember("Anna lives in Kraków")
    house.forget("Anna lives in Kraków")
    tombstones, summary = Tombstones(house.paths), path.removesuffix(".md")
    assert {record for record, _ in tombstones.hidden("main")} == {summary, "/"}
    assert last(house, "forget").hidden[0].startswith(f"{summary}#^")
    undo(house)
    assert tombstones.hidden("main") == frozenset()


def test_an_undo_brings_back_what_the_change_moved_to_the_archive(small: House) -> None:
    for text in ("Plays chess", "Reads Lem", "Has a red bicycle", "Sings in a choir"):
        small.remember(f"{text} on Sundays", section="preferences")
    before = {line.partition(" %%")[0] for line in said(small)}
    done = small.remember(BORN, section="user")
    assert done.archived and "undoing this brings back what moved" in done.message
    told = undo(small, dry_run=True)
    assert told.restored == done.archived and last(small).op == "archive"
    back = undo(small)
    assert back.restored == done.archived
    assert f"{done.archived} fact" in back.message and "had moved to the archive" in back.message
    assert {line.partition(" %%")[0] for line in said(small)} >= before
    assert "Lublin" not in small.brain()
    archive = small.file(small.paths.archive("main")).read_text("utf-8")
    assert "on Sundays" not in archive
    assert "Sings in a choir" in undo(small).message  # the next one goes back one change more


def test_a_change_done_once_more_moves_again_and_one_undo_takes_all_back(small: House) -> None:
    for text in ("Plays chess", "Reads Lem", "Has a red bicycle", "Sings in a choir"):
        small.remember(f"{text} on Sundays", section="preferences")
    moved = small.remember(BORN, section="user")
    assert moved.archived
    undo(small)
    undone = [line for line in lines(small) if line.op == "forget"][-1]
    again = undo(small, undone.id)
    assert again.outcome == "written" and again.archived == moved.archived
    assert undo(small).restored == moved.archived
    for text in ("Plays chess", "Reads Lem", "Has a red bicycle", "Sings in a choir"):
        assert text in small.brain()


def test_what_was_forgotten_in_the_archive_meanwhile_does_not_come_back(small: House) -> None:
    for text in ("Plays chess", "Reads Lem", "Has a red bicycle", "Sings in a choir"):
        small.remember(f"{text} on Sundays", section="preferences")
    done = small.remember(BORN, section="user")
    moved, made = last(small, "archive"), last(small, "remember")
    small.forget(moved.after)
    back = undo(small, made.id)
    assert back.outcome == "written" and back.restored == done.archived - 1
    assert "1 fact is not: changed or gone since" in back.message
    assert moved.after not in small.brain()
