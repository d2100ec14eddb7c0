"""How facts come into memory: as the level allows, with their evidence, never a second time."""

from __future__ import annotations

from tests.consolidate.sleeping import Bed, fact
from vaultmind.consolidate.settle import bring_in
from vaultmind.consolidate.types import Candidate, Resources, Settled, Work
from vaultmind.types import Caller

MAIN = Caller("agent", "main")


def _apply(bed: Bed, session: str, *facts: Candidate, dry_run: bool = False) -> list[Settled]:
    said = (one.message for one in bed.log.read("main", session).messages)
    messages = {(one.id or one.block).partition(":")[0]: one for one in said}
    by = Resources(bed.gate, bed.reader, bed.hides, bed.log.heads, bed.clock, "test")
    return bring_in(Work(by, "main", session, MAIN, dry_run=dry_run), facts, (), messages)


def _outcomes(settled: list[Settled]) -> list[str]:
    return [one.outcome for one in settled]


def test_a_fact_without_a_message_that_says_it_is_suggested_at_most(bed: Bed) -> None:
    session = bed.talk("I like rye bread.")
    (done,) = _apply(bed, session, fact("Likes rye bread", "CORE", "s9"))
    assert (done.outcome, bed.facts()) == ("suggested", [])


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
