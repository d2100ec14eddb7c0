"""memory/audit/undo: a change goes back, or says what came between; nothing is guessed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vaultmind.errors import BadArgument, NotFound
from vaultmind.memory.audit import AuditLine, Undo, plan_undo, ref_text
from vaultmind.types import Fact, MessageRef

REF = MessageRef("main", "2026-02-20_001", "m7")
EVIDENCE = "VaultMind/agents/main/memory/sessions/2026-02-20_001#^m7"
MADE = AuditLine(
    "2026-02-20T10:00:00+01:00", "main", "c", "main", "remember", "written", "user",
    after="Likes tea", evidence=EVIDENCE, block="k3f9", id="aaaa1111",
)  # fmt: skip
CHANGED = replace(
    MADE, op="replace", before="Likes tea", after="Likes rum", id="bbbb2222", evidence=""
)
FORGOTTEN = replace(
    MADE, op="forget", before="Likes tea", after="", id="cccc3333", hidden=(ref_text(REF),)
)
TEA = Fact("Likes tea", "user", "k3f9")
RUM = replace(TEA, text="Likes rum")


def conflict(plan: Undo) -> str:
    assert plan.way == "" and plan.conflict
    return plan.conflict


def test_a_corrected_fact_gets_its_old_words_and_their_source_back() -> None:
    plan = plan_undo([MADE, CHANGED], [RUM])
    assert (plan.way, plan.line) == ("put_back", CHANGED)
    assert plan.facts == (replace(TEA, evidence=REF, written="2026-02-20", how="said"),)


def test_what_hid_messages_alone_shows_them_again() -> None:
    unsaid = replace(FORGOTTEN, before="", block="", id="9999aaaa")
    skipped = replace(unsaid, op="hide", id="8888bbbb")
    for line in (unsaid, skipped):
        plan = plan_undo([line], [], line.id)
        assert (plan.way, plan.lift, plan.facts) == ("show", (REF,), ())
    shown = AuditLine(MADE.time, "person", "cli", "main", "show", "written", undoes="8888bbbb",
                      id="7777cccc")  # fmt: skip
    plan = plan_undo([skipped, shown], [], shown.id)
    assert (plan.way, plan.hide) == ("hide", (REF,))


def test_what_changed_since_is_a_conflict_that_is_explained() -> None:
    said = conflict(plan_undo([MADE], [replace(TEA, text="Likes green tea")]))
    assert "“Likes tea”" in said and "“Likes green tea”" in said
    assert "not in the memory any more" in conflict(plan_undo([MADE], []))
    assert "not in the memory any more" in conflict(plan_undo([replace(MADE, block="")], [TEA]))
    again = Fact("likes TEA", "user", "zzzz")
    assert "already" in conflict(plan_undo([MADE, FORGOTTEN], [again]))
    assert "already" in conflict(plan_undo([CHANGED], [RUM, again]))


def test_what_came_back_into_a_contradiction_is_a_conflict() -> None:
    home = replace(MADE, after="Lives in Kraków")
    gone = replace(FORGOTTEN, before="Lives in Kraków")
    now = Fact("Lives in Gdańsk", "user", "zzzz")
    assert "says otherwise" in conflict(plan_undo([home, gone], [now]))


def test_words_that_were_changed_in_the_log_are_not_written() -> None:
    assert "changed by hand" in conflict(plan_undo([replace(FORGOTTEN, altered=True)], []))


def test_an_erasure_cannot_be_undone_and_says_so() -> None:
    erasure = replace(MADE, op="erase", id="dddd4444")
    assert "erasure cannot be undone" in conflict(plan_undo([MADE, erasure], [TEA]))
    erased = replace(FORGOTTEN, before="", erased=True)
    assert "erased" in conflict(plan_undo([erased], [], erased.id))


def test_only_changes_of_facts_that_happened_can_be_undone() -> None:
    denied = replace(MADE, outcome="denied", id="eeee5555")
    saved = replace(MADE, op="save", id="ffff6666")
    assert "denied" in conflict(plan_undo([denied], [], "eeee"))
    assert "save" in conflict(plan_undo([saved], [], "ffff6666"))
    ranks = replace(MADE, op="model", id="abab7777")
    assert "`vaultmind model rollback`" in conflict(plan_undo([ranks], [], "abab7777"))
    with pytest.raises(NotFound):
        plan_undo([denied, saved, ranks], [])
    with pytest.raises(NotFound):
        plan_undo([MADE], [TEA], "9999")
    with pytest.raises(NotFound):
        plan_undo([MADE], [TEA], "aaa")
    with pytest.raises(BadArgument):
        plan_undo([MADE, replace(MADE, id="aaaa2222")], [TEA], "aaaa")


def test_a_forgetting_that_is_done_again_hides_again() -> None:
    back = replace(MADE, undoes=FORGOTTEN.id, id="dddd4444")
    plan = plan_undo([MADE, FORGOTTEN, back], [TEA], back.id)
    assert (plan.way, plan.hide) == ("take_out", (REF,))
