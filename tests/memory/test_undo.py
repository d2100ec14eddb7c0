"""memory/undo: a change goes back as it was, or says what came between; nothing is guessed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vaultmind.errors import BadArgument, NotFound
from vaultmind.memory.audit.lines import AuditLine, ref_text
from vaultmind.memory.audit.undo import Undo, plan_undo, undone
from vaultmind.types import PERSON, Fact, MessageRef

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
    assert plan.write is None and plan.conflict
    return plan.conflict


def test_a_remembered_fact_is_taken_out_and_no_message_hidden() -> None:
    plan = plan_undo([MADE], [TEA])
    assert plan.write and plan.conflict == ""
    assert (plan.write.op, plan.write.text, plan.write.caller) == ("forget", "^k3f9", PERSON)
    assert (plan.expected, plan.hides, plan.lift) == ("Likes tea", False, ())


def test_a_corrected_fact_gets_its_old_words_and_their_source_back() -> None:
    plan = plan_undo([MADE, CHANGED], [RUM])
    assert plan.write and plan.line == CHANGED
    assert (plan.write.op, plan.write.old, plan.write.text) == ("replace", "^k3f9", "Likes tea")
    assert (plan.write.evidence, plan.expected) == (REF, "Likes rum")


def test_a_forgotten_fact_returns_with_section_block_source_and_messages() -> None:
    plan = plan_undo([MADE, FORGOTTEN], [])
    assert plan.write
    assert (plan.write.op, plan.write.text, plan.write.section) == ("remember", "Likes tea", "user")
    assert (plan.block, plan.lift, plan.write.evidence) == ("k3f9", (REF,), REF)
    other = Fact("Plays chess", "user", "k3f9")
    assert plan_undo([MADE, FORGOTTEN], [other]).block == "", "the id is another's now"


def test_what_changed_since_is_a_conflict_that_is_explained() -> None:
    said = conflict(plan_undo([MADE], [replace(TEA, text="Likes green tea")]))
    assert "“Likes tea”" in said and "“Likes green tea”" in said
    assert "not in the memory any more" in conflict(plan_undo([MADE], []))
    assert "not in the memory any more" in conflict(plan_undo([replace(MADE, block="")], [TEA]))
    again = Fact("likes TEA", "user", "zzzz")
    assert "already" in conflict(plan_undo([MADE, FORGOTTEN], [again]))
    assert "already" in conflict(plan_undo([CHANGED], [RUM, again]))


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
    with pytest.raises(NotFound):
        plan_undo([denied, saved], [])
    with pytest.raises(NotFound):
        plan_undo([MADE], [TEA], "9999")
    with pytest.raises(NotFound):
        plan_undo([MADE], [TEA], "aaa")
    with pytest.raises(BadArgument):
        plan_undo([MADE, replace(MADE, id="aaaa2222")], [TEA], "aaaa")


def test_one_undo_after_another_goes_back_in_time_and_an_undo_can_be_undone() -> None:
    back = replace(CHANGED, before="Likes rum", after="Likes tea", undoes="bbbb2222", id="dddd4444")
    lines = [MADE, CHANGED, back]
    assert plan_undo(lines, [TEA]).line == MADE
    assert "already" in conflict(plan_undo(lines, [TEA], "bbbb2222"))
    again = plan_undo(lines, [TEA], "dddd4444")
    assert again.write and again.write.text == "Likes rum"
    redone = replace(CHANGED, undoes="dddd4444", id="eeee5555")
    assert undone([*lines, redone]) == {"dddd4444": "eeee5555"}
    assert plan_undo([*lines, redone], [RUM], "bbbb2222").write
