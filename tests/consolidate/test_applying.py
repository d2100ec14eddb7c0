"""How facts come into memory: as the level allows, with their evidence, never a second time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.consolidate.sleeping import Bed, fact
from vaultmind.consolidate.applying import REMOVED, SECOND_HAND, Applying
from vaultmind.consolidate.facts.types import Candidate
from vaultmind.consolidate.types import Settled
from vaultmind.memory.brain import parse_brain
from vaultmind.types import Caller, Message

MAIN = Caller("agent", "main")


def _apply(bed: Bed, session: str, *facts: Candidate, **more: Any) -> tuple[Settled, ...]:
    said = bed.log.read("main", session).messages
    named = [(one.message.id or one.message.block, one.message) for one in said]
    messages = {id.partition(":")[0]: message for id, message in named}
    applying = Applying(bed.gate, bed.reader, bed.clock)
    return applying.apply("main", session, facts, messages, MAIN, **more)


def _outcomes(settled: tuple[Settled, ...]) -> list[str]:
    return [one.outcome for one in settled]


def test_a_fact_stands_in_its_section_with_the_latest_message_as_evidence(bed: Bed) -> None:
    session = bed.talk("I like rye bread.", "And yes, I really like rye bread.")
    (done,) = _apply(bed, session, fact("Likes rye bread", "PREFERENCE", "s0", "s1"))
    (written,) = parse_brain(bed.brain()).all()
    assert (done.outcome, done.section, done.block) == ("written", "preferences", written.block)
    assert written.section == "preferences" and written.how == "extracted"
    assert written.evidence is not None and written.evidence.block == "m2"


def test_an_update_takes_the_place_of_the_old_fact_and_a_delete_is_suggested(bed: Bed) -> None:
    first = bed.talk("I live in Gdańsk. My cat is called Tola.")
    _apply(bed, first, fact("Lives in Gdańsk"), fact("Has a cat called Tola"))
    gdansk, tola = parse_brain(bed.brain()).all()
    later = bed.talk("I live in Kraków now. Forget that my cat is called Tola.")
    moved = fact("Lives in Kraków", "UPDATE", replaces=gdansk.text, block=gdansk.block)
    gone = fact(tola.text, "DELETE", block=tola.block)
    done = _apply(bed, later, moved, gone)
    assert _outcomes(done) == ["written", "suggested"] and done[0].replaces == "Lives in Gdańsk"
    assert bed.facts() == ["Lives in Kraków", "Has a cat called Tola"]


def test_a_block_that_says_something_else_by_now_is_not_replaced(bed: Bed) -> None:
    first = bed.talk("I live in Gdańsk.")
    _apply(bed, first, fact("Lives in Gdańsk"))
    (known,) = parse_brain(bed.brain()).all()
    bed.put(bed.paths.brain("main"), bed.brain().replace("Lives in Gdańsk", "Keeps nine bees"))
    later = bed.talk("I live in Kraków now.")
    _apply(bed, later, fact("Lives in Kraków", "UPDATE", replaces=known.text, block=known.block))
    assert "Keeps nine bees" in bed.facts()


def test_a_line_that_a_person_typed_is_neither_replaced_nor_taken_away(bed: Bed) -> None:
    typed = "# Brain\n\n## User\n\n- Lives in Gdańsk\n- Has a cat called Tola\n"
    bed.put(bed.paths.brain("main"), typed)
    session = bed.talk("I live in Kraków now. Forget that my cat is called Tola.")
    moved = fact("Lives in Kraków", "UPDATE", replaces="Lives in Gdańsk")
    done = _apply(bed, session, moved, fact("Has a cat called Tola", "DELETE"))
    assert _outcomes(done) == ["suggested", "suggested"] and bed.brain() == typed
    assert "Kraków" in bed.suggestions()


def test_what_is_in_doubt_waits_for_the_person(bed: Bed) -> None:
    session = bed.talk("I like rye bread.")
    (done,) = _apply(bed, session, fact("Likes rye bread", doubt="a later message touches it"))
    assert (done.outcome, bed.facts()) == ("suggested", []) and "later" in done.reason


@pytest.mark.parametrize(
    ("how", "outcomes"),
    [
        ("captured", ["written", "written", "written"]),
        ("cli", ["written", "written", "written"]),
        ("reported", ["written", "suggested", "written"]),
    ],
)
def test_what_only_an_agent_reports_is_added_unless_it_is_sensitive(
    bed: Bed, how: str, outcomes: list[str]
) -> None:
    first = bed.talk("I live in Gdańsk.")
    _apply(bed, first, fact("Lives in Gdańsk"))
    session = bed.talk("I like rye, I am allergic to nuts, I live in Kraków.", how=how)
    moved = fact("Lives in Kraków", "UPDATE", replaces="Lives in Gdańsk")
    done = _apply(bed, session, fact("Likes rye"), fact("Is allergic to nuts"), moved)
    assert _outcomes(done) == outcomes
    assert [one.reason == SECOND_HAND for one in done] == [one == "suggested" for one in outcomes]


def test_a_fact_without_a_message_that_says_it_is_suggested_at_most(bed: Bed) -> None:
    session = bed.talk("I like rye bread.")
    (done,) = _apply(bed, session, fact("Likes rye bread", "CORE", "s9"))
    assert (done.outcome, bed.facts()) == ("suggested", [])


@pytest.mark.parametrize(("level", "outcome"), [(0, "denied"), (1, "suggested"), (2, "written")])
def test_the_agents_level_binds_what_is_taken_from_its_conversations(
    bed: Bed, level: int, outcome: str
) -> None:
    session = bed.talk("I like rye bread.")
    bed.put(bed.paths.identity("main"), f"---\nautonomy: {level}\n---\n# Main\n")
    (done,) = _apply(bed, session, fact("Likes rye bread"))
    assert done.outcome == outcome and ("Likes rye bread" in bed.facts()) == (outcome == "written")


def test_what_a_session_left_once_is_not_written_again_though_a_hand_took_it_out(bed: Bed) -> None:
    session = bed.talk("I like rye bread.")
    _apply(bed, session, fact("Likes rye bread"))
    bed.put(bed.paths.brain("main"), "# Brain\n")
    (done,) = _apply(bed, session, fact("likes Rye bread."))
    assert (done.outcome, done.reason, bed.facts()) == ("unchanged", REMOVED, [])
    other = bed.talk("I like rye bread, as I said.")
    assert _outcomes(_apply(bed, other, fact("Likes rye bread"))) == ["written"]


def test_a_dry_run_tells_the_same_and_writes_nothing(bed: Bed) -> None:
    session = bed.talk("I like rye bread. I live in Kraków.")
    facts = [fact("Likes rye bread"), fact("Lives in Kraków", doubt="perhaps")]
    before = bed.bytes()
    dry = _outcomes(_apply(bed, session, *facts, dry_run=True))
    assert bed.bytes() == before
    assert dry == _outcomes(_apply(bed, session, *facts)) == ["written", "suggested"]


def test_one_fact_that_cannot_be_written_does_not_keep_out_the_others(bed: Bed) -> None:
    session = bed.talk("I like rye bread.")
    done = _apply(bed, session, fact(" "), fact("Likes rye bread"))
    assert _outcomes(done) == ["denied", "written"] and done[0].reason


def test_evidence_without_an_own_id_is_named_by_its_block(bed: Bed) -> None:
    session = bed.log.log("main", Message("user", "I like rye bread.", "")).session
    bed.log.end("main")
    assert _outcomes(_apply(bed, session, fact("Likes rye bread", "CORE", "m1"))) == ["written"]
    assert "#^m1|" in bed.brain()


def test_a_fact_is_as_fresh_as_the_message_that_says_it(bed: Bed) -> None:
    session = bed.talk("I like rye bread.")
    said = bed.log.read("main", session).messages[0].message
    old = replace(said, time="2016-05-04T10:00:00+02:00")
    ahead = replace(said, time="2999-01-01T10:00:00+02:00")
    applying = Applying(bed.gate, bed.reader, bed.clock)
    applying.apply("main", session, (fact("Likes rye bread"),), {"s0": old}, MAIN)
    applying.apply("main", session, (fact("Keeps bees"),), {"s0": ahead}, MAIN)
    bread, bees = parse_brain(bed.brain()).all()
    assert (bread.written, bees.written) == ("2016-05-04", bed.clock().date().isoformat())
