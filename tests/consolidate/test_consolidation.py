"""What ended conversations leave: asked for, by itself, dry, again; what goes wrong is told."""

from __future__ import annotations

from typing import Any

import pytest

from tests.consolidate.sleeping import MORNING, Bed, Says, fact, rest
from vaultmind.consolidate.settle import KEPT
from vaultmind.consolidate.types import Consolidated, Request
from vaultmind.consolidate.worker import Consolidation
from vaultmind.errors import MinionFailed, NotFound
from vaultmind.types import PERSON, Message, MessageRef
from vaultmind.vault.properties import set_property
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

SHED = (
    "The garden shed leaks and we should rebuild it before winter.",
    "We decided to rebuild the shed from larch for 4,200 euros.",
    "Which colour should the door have?",
    "I will order the larch boards on Friday.",
)


def _run(asleep: Consolidation, **asked: Any) -> Consolidated:
    return asleep.run(Request(**asked), PERSON)


def test_imported_sessions_wait_until_they_are_asked_for(bed: Bed) -> None:
    noon = "2026-01-02T12:00:00+00:00"
    meta = SessionMeta("2026-01-02_001", "main", noon, noon, "ended", source="Rye")
    said = render_message(Message("user", "I like rye bread.", noon, "s0", block="m1"))
    bed.put(bed.paths.session("main", meta.id), render_header(meta) + said)
    asleep = bed.asleep(Says(fact("Likes rye bread")))
    asleep.start()
    rest(asleep)
    assert asleep.standing()[0] == []
    assert bed.facts() == [] and not bed.meta(meta.id).consolidated
    assert [one.session for one in _run(asleep).sessions] == [meta.id]
    assert bed.facts() == ["Likes rye bread"] and bed.meta(meta.id).consolidated
    asleep.close()


def test_another_devices_sessions_are_left_to_it(bed: Bed) -> None:
    session = bed.talk(*MORNING)
    path = bed.paths.session("main", session)
    bed.put(path, set_property(bed.text(path), "device", "other"))
    asleep = bed.asleep()
    assert asleep.standing()[0] == []
    assert _run(asleep) == Consolidated()
    assert "another device" in _run(asleep, session=session).notes[0]
    assert bed.facts() == []


def test_an_agent_that_may_only_read_gets_nothing_written(bed: Bed) -> None:
    bed.talk(*MORNING)
    bed.put(bed.paths.identity("main"), "---\nautonomy: 0\n---\n# Main\n")
    before = bed.bytes()
    done = _run(bed.asleep())
    assert not done.sessions and "autonomy 0" in done.notes[0]
    assert bed.bytes() == before


def test_what_is_not_there_is_named_and_what_is_not_due_is_said(bed: Bed) -> None:
    asleep = bed.asleep()
    with pytest.raises(NotFound, match="2026-02-20_009"):
        _run(asleep, session="2026-02-20_009", agent="main")
    session = bed.talk(*MORNING, ends=False)
    assert "not over yet" in _run(asleep, session=session).notes[0]
    bed.log.end("main")
    assert len(_run(asleep, session=session).sessions) == 1
    assert "--again" in _run(asleep, session=session).notes[0]


def test_what_is_forgotten_while_a_model_thinks_is_not_written(bed: Bed) -> None:
    session = bed.talk("I keep bees.", "I like rye bread.")
    thinker = Says(fact("Keeps bees"), fact("Likes rye bread", "CORE", "s1"), summary="Bees.")
    hidden = [MessageRef("main", session, "m1")]
    thinker.meanwhile = lambda: bed.gate.hide("main", hidden, PERSON)
    asleep = bed.asleep(thinker)
    (done,) = _run(asleep).sessions
    assert done.pending and not done.facts and bed.facts() == []
    thinker.answer = Says(fact("Likes rye bread", "CORE", "s1")).answer
    assert not _run(asleep).sessions[0].pending
    assert thinker.seen == [("I keep bees.", "I like rye bread."), ("I like rye bread.",)]
    assert bed.facts() == ["Likes rye bread"]


def test_a_failure_leaves_the_session_marked_and_the_others_are_done(bed: Bed) -> None:
    first = bed.talk("I like rye bread.")
    second = bed.talk("I keep bees.")
    thinker = Says()

    def fail_at_the_first() -> None:
        thinker.error = MinionFailed("crashed", "It fell.") if len(thinker.seen) == 1 else None

    thinker.meanwhile = fail_at_the_first
    done = _run(bed.asleep(thinker))
    assert [one.pending for one in done.sessions] == [True, False]
    assert "It fell." in done.sessions[0].notes[0]
    assert (bed.meta(first).pending, bed.meta(second).pending) == ("extraction", "")


def test_what_a_model_should_have_done_is_tried_three_times(bed: Bed) -> None:
    session = bed.talk("I like rye bread.")
    thinker = Says(fact("Likes rye bread"), again=True, by="extractive")
    asleep = bed.asleep(thinker)
    pending = [_run(asleep).sessions[0].pending for _ in range(3)]
    assert pending == [True, True, False]
    assert bed.facts() == ["Likes rye bread"] and bed.meta(session).consolidated


# --- the active context -----------------------------------------------------------------------


def _asleep(bed: Bed, thinker: Says) -> Consolidation:
    """Return a consolidation that hears of the ends of sessions."""
    asleep = bed.asleep(thinker, auto=False)
    bed.log = bed.session_log(bed.gate, told=lambda *_: asleep.start())
    return asleep


def test_what_a_person_wrote_into_it_meanwhile_stays(bed: Bed) -> None:
    asleep = _asleep(bed, Says(summary="Anna wants the shed rebuilt."))
    bed.talk(*SHED)
    path = bed.paths.active_context("main")
    mine = bed.text(path).replace("larch", "oak")
    bed.put(path, mine)
    (done,) = _run(asleep).sessions
    assert bed.text(path) == mine and KEPT in done.notes


def test_a_session_with_broken_properties_is_named_and_read_once_they_are_mended(bed: Bed) -> None:
    session = bed.talk("I like rye bread.")
    path = bed.paths.session("main", session)
    bed.put(path, bed.text(path).replace("state: ended", "state: ended\ntags: [unclosed", 1))
    asleep = bed.asleep(Says(fact("Likes rye bread")))
    done = _run(asleep)
    assert not done.sessions and "are broken" in done.notes[0] and session in done.notes[0]
    assert asleep.standing()[0] == [] and bed.facts() == []
    bed.put(path, bed.text(path).replace("tags: [unclosed\n", "", 1))
    (mended,) = _run(asleep).sessions
    assert mended.session == session and bed.meta(session).consolidated
