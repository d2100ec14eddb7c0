"""What the gate does with facts that contradict, are too many, or hold what is private."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.memory.conftest import MAIN, NOW, House
from vaultmind.memory.audit.chain import verify
from vaultmind.memory.audit.lines import AuditLine, read_audit
from vaultmind.memory.audit.undo import plan_undo
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.gate.gate import Gate, GateSettings
from vaultmind.memory.limits import brain_tokens
from vaultmind.redact import use_patterns
from vaultmind.types import PERSON, Caller, Fact, MessageRef

M7 = MessageRef("main", "2026-02-20_001", "m7")


def facts(house: House, relative: str) -> tuple[Fact, ...]:
    path = house.file(relative)
    return parse_brain(path.read_text("utf-8")).all() if path.exists() else ()


def brain(house: House) -> list[str]:
    return [one.text for one in facts(house, house.paths.brain("main"))]


def archive(house: House) -> list[str]:
    return [one.text for one in facts(house, house.paths.archive("main"))]


def audit(house: House, op: str = "") -> list[AuditLine]:
    return [line for line in read_audit(house.paths, "main") if op in ("", line.op)]


def stored(house: House) -> str:
    files = [path for path in house.paths.root.rglob("*") if path.is_file()]
    return "\n".join(path.read_text("utf-8") for path in files)


def fill(house: House, count: int = 60) -> None:
    for number in range(count):
        house.remember(f"Fact {number:02} is one of the many small things the user once said")


def test_a_contradicting_fact_replaces_the_old_one_and_the_audit_keeps_both(house: House) -> None:
    house.remember("Likes tea")
    old = house.remember("Lives in Kraków", evidence=M7)
    outcome = house.remember("Moved to Gdańsk", caller=MAIN)
    assert outcome.outcome == "written"
    assert outcome.before == "Lives in Kraków" and outcome.block != old.block
    archive = house.file(house.paths.archive("main")).read_text()
    assert f"%% ^{old.block}" in archive and "until 2026-02-20" in archive
    assert sorted(brain(house)) == ["Likes tea", "Moved to Gdańsk"]
    (line,) = audit(house, "replace")
    assert (line.before, line.after) == ("Lives in Kraków", "Moved to Gdańsk")
    assert line.valid_until == NOW.isoformat(timespec="milliseconds")
    assert not house.file(house.paths.tombstones("main", "test")).exists()


def test_an_undo_brings_the_replaced_fact_back(house: House) -> None:
    house.remember("Lives in Kraków")
    house.remember("Moved to Gdańsk", caller=MAIN)
    house.gate.undo("main", "", PERSON)
    assert brain(house) == ["Lives in Kraków"]


def test_a_fact_that_says_more_is_never_lost_to_an_agents_write(house: House) -> None:
    house.remember("Lives in Gdańsk with two cats")
    outcome = house.remember("Moved to Berlin", caller=MAIN)
    assert outcome.outcome == "suggested"
    assert "two cats" in outcome.message
    assert brain(house) == ["Lives in Gdańsk with two cats"]
    assert "Moved to Berlin" in house.file(house.paths.suggestions).read_text("utf-8")
    whole = "Lives in Berlin with two cats"
    assert house.remember(whole, caller=MAIN).outcome == "written"
    assert brain(house) == [whole]


def test_what_was_extracted_never_replaces_a_line_that_a_person_typed(house: House) -> None:
    house.put(house.paths.brain("main"), "## User\n\n- Lives in Kraków\n")
    outcome = house.remember("Moved to Gdańsk", caller=MAIN, how="extracted")
    assert outcome.outcome == "suggested"
    assert brain(house) == ["Lives in Kraków"]
    assert house.remember("Moved to Gdańsk", caller=MAIN).outcome == "written"
    assert brain(house) == ["Moved to Gdańsk"]


def test_too_much_for_the_brain_moves_to_the_archive_and_the_audit_shows_it(house: House) -> None:
    fill(house)
    text = house.brain()
    assert 300 <= brain_tokens(text) <= 500
    assert len(brain(house)) + len(archive(house)) == 60
    assert len({*brain(house), *archive(house)}) == 60
    moved = audit(house, "archive")
    assert {line.after for line in moved} == set(archive(house))
    assert all(line.path == house.paths.archive("main") and line.block for line in moved)
    raw = house.file(house.paths.audit("main", "test")).read_text("utf-8").splitlines()
    assert not verify(raw).faults


def test_what_was_written_just_now_is_not_what_moves(house: House) -> None:
    for number in range(60):
        text = f"Fact {number:02} is one of the many small things the user once said"
        assert house.remember(text, section="current").outcome == "written"
        assert text in brain(house)


def test_what_is_said_again_and_again_stays_in_the_brain(house: House) -> None:
    house.remember("Sings in a choir")
    for _ in range(5):
        assert house.remember("sings in a choir!").outcome == "unchanged"
    fill(house)
    assert "Sings in a choir" in brain(house)


def test_an_archive_that_can_take_nothing_stops_no_write(house: House) -> None:
    house.put(house.paths.archive("main"), "<<<<<<< a\n- x\n=======\n>>>>>>> b\n")
    fill(house, 40)
    assert len(brain(house)) == 40


@pytest.fixture
def own() -> Iterator[None]:
    use_patterns([r"(?i)project falcon"])
    yield
    use_patterns(())


def test_what_is_private_reaches_no_file_and_the_answer_says_so(house: House) -> None:
    outcome = house.remember("Likes tea <private>and zebras</private>", caller=MAIN)
    assert outcome.outcome == "written"
    assert outcome.redacted == ("private passage",)
    assert "private passage" in outcome.message
    nothing = house.remember("<Private>zebras", caller=MAIN)
    assert nothing.outcome == "denied"
    house.remember("Has a dog", caller=MAIN, reason="<private>zebra</private>")
    house.replace("Likes tea", "Likes <private>zebras</private> coffee", caller=MAIN)
    assert "zebra" not in stored(house)


def test_a_suggestion_holds_nothing_private_either(tmp_path: Path) -> None:
    house = House(tmp_path, level=1)
    outcome = house.remember("Likes tea <private>and zebras</private>", caller=MAIN)
    assert outcome.outcome == "suggested"
    assert "Likes tea" in stored(house)
    assert "zebra" not in stored(house)


def test_the_persons_own_patterns_hold_at_the_gate(house: House, own: None) -> None:
    outcome = house.remember("Works on Project Falcon on Mondays")
    assert outcome.redacted == ("own pattern",)
    assert "alcon" not in stored(house)


def test_caution_makes_a_sensitive_fact_wait_and_no_other(tmp_path: Path) -> None:
    house = House(tmp_path)
    settings = GateSettings("test", random.Random(7), caution=True)
    house.gate = Gate(house.paths, settings, (), house.indexer, house.authority, lambda: NOW)
    assert house.remember("Likes tea", caller=MAIN).outcome == "written"
    outcome = house.remember("Was diagnosed with diabetes", caller=MAIN)
    assert outcome.outcome == "suggested"
    assert "health" in outcome.reason
    assert house.remember("Was diagnosed with diabetes").outcome == "written"
    assert house.forget("Was diagnosed with diabetes", caller=MAIN).outcome == "written"


TYPED = "# Main\n\n## User\n\n- Wifi at home: password: hunter2x9, on channel 6\n- Has a dog\n"


@pytest.mark.parametrize("caller", [MAIN, PERSON])
def test_no_correction_destroys_a_secret_that_the_person_typed(
    house: House, caller: Caller
) -> None:
    house.put(house.paths.brain("main"), TYPED)
    old = "Wifi at home: password: hunter2x9, on channel 6"
    outcome = house.replace(old, old.replace("6", "11"), caller=caller)
    assert outcome.outcome == "not_found"
    assert "not kept; edit it there" in outcome.message
    assert house.paths.brain("main") in outcome.message
    assert "hunter2x9" not in str(outcome)
    assert house.brain() == TYPED


def test_a_new_fact_takes_no_place_of_one_that_holds_a_secret(house: House) -> None:
    typed = "# Main\n\n## User\n\n- Lives in Kraków, door code password: hunter2x9\n"
    house.put(house.paths.brain("main"), typed)
    outcome = house.remember("Moved to Gdańsk", caller=PERSON, how="said")
    assert outcome.outcome == "written"
    assert "hunter2x9" in house.brain() and "Moved to Gdańsk" in house.brain()
    assert "hunter2x9" not in str(outcome) + str(house.remember("Moved to Sopot", caller=MAIN))


def test_forgetting_a_secret_says_that_undo_cannot_bring_it_back(house: House) -> None:
    house.put(house.paths.brain("main"), TYPED)
    outcome = house.forget("Wifi at home", caller=PERSON)
    assert outcome.outcome == "written"
    assert "undo cannot bring that back" in outcome.message
    plan = plan_undo(read_audit(house.paths, "main"), ())
    assert "kept nowhere" in plan.conflict and not plan.way
    assert "hunter2x9" not in str(outcome) + stored(house)
    assert "undo cannot" not in house.forget("Has a dog", caller=PERSON).message


PRIVATE = "# Main\n\n- Is Anna\n- Likes <private>gin\n- Owes zebras\n- and</private> tea\n- Rows\n"


@pytest.mark.parametrize("words", ["Owes zebras", "zebras", "Likes gin", "Likes", "gin"])
def test_no_bullet_between_private_tags_is_quoted_or_cut_in_half(house: House, words: str) -> None:
    house.put(house.paths.brain("main"), PRIVATE)
    for outcome in (
        house.forget(words, caller=PERSON),
        house.replace(words, "Likes milk", caller=PERSON),
    ):
        told = str(outcome).replace(words, "")
        assert "zebra" not in told and "gin" not in told
    assert house.brain() == PRIVATE
    assert "zebra" not in str(house.remember(words, caller=PERSON)).replace(words, "")


def test_a_fact_beside_a_private_passage_is_forgotten_and_corrected_as_ever(house: House) -> None:
    house.put(house.paths.brain("main"), PRIVATE)
    assert house.forget("Rows", caller=PERSON).outcome == "written"
    assert house.replace("Is Anna", "Is Hanna", caller=PERSON).outcome == "written"
    assert "<private>gin\n- Owes zebras\n- and</private> tea\n" in house.brain()
