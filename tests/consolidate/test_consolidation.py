"""What ended conversations leave: asked for, by itself, dry, again; what goes wrong is told."""

from __future__ import annotations

from typing import Any

import pytest

from tests.consolidate.sleeping import MORNING, Bed, Says, fact, rest
from vaultmind.consolidate.settle import KEPT
from vaultmind.consolidate.types import Consolidated, Request
from vaultmind.consolidate.worker import Consolidation
from vaultmind.errors import MinionFailed, NotFound
from vaultmind.types import PERSON, Message, MessageRef, Progress
from vaultmind.vault.edits import set_property
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
    assert asleep.standing().queue == ()
    assert bed.facts() == [] and not bed.meta(meta.id).consolidated
    assert [one.session for one in _run(asleep).sessions] == [meta.id]
    assert bed.facts() == ["Likes rye bread"] and bed.meta(meta.id).consolidated
    asleep.close()


def test_another_devices_sessions_are_left_to_it(bed: Bed) -> None:
    session = bed.talk(*MORNING)
    path = bed.paths.session("main", session)
    bed.put(path, set_property(bed.text(path), "device", "other"))
    asleep = bed.asleep()
    assert asleep.standing().queue == ()
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
    with pytest.raises(NotFound, match="L1_001"):
        _run(asleep, again="L1_001", agent="main")
    session = bed.talk(*MORNING, ends=False)
    assert "not over yet" in _run(asleep, session=session).notes[0]
    bed.log.end("main")
    assert len(_run(asleep, session=session).sessions) == 1
    assert "--again" in _run(asleep, session=session).notes[0]


def test_a_summary_is_made_again_under_its_number(bed: Bed) -> None:
    bed.talk(*MORNING)
    bed.talk(*SHED)
    asleep = bed.asleep(levels=2)
    (summary,) = _run(asleep).summaries
    bed.file(summary.path).unlink()
    assert _run(asleep).summaries == [], "it does not come back by itself"
    again = _run(asleep, again=summary.id).summaries
    assert [one.id for one in again] == [summary.id] and bed.text(summary.path)


def test_what_is_forgotten_while_a_model_thinks_is_not_written(bed: Bed) -> None:
    session = bed.talk("I keep bees.", "I like rye bread.")
    thinker = Says(fact("Keeps bees"), fact("Likes rye bread", "CORE", "s1"), summary="Bees.")
    hidden = iter([f"m{number}" for number in (1, 3, 4)])

    def forget() -> None:
        bed.gate.hide("main", [MessageRef("main", session, next(hidden))], PERSON)
        more = bed.text(bed.paths.session("main", session))
        bed.put(bed.paths.session("main", session), f"{more}\n> [!user] 10:00\n> And so on.\n")

    thinker.meanwhile = forget
    (done,) = _run(bed.asleep(thinker)).sessions
    assert [one.fact for one in done.facts] == ["Likes rye bread"] and done.summary == ""
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


def test_many_sessions_tell_how_far_it_is(bed: Bed) -> None:
    for number in range(3):
        bed.talk(f"Hello for the time number {number}.")
    steps: list[Progress] = []
    bed.asleep(Says()).run(Request(), PERSON, steps.append)
    assert [(one.done, one.total) for one in steps if one.what == "sessions"] == [
        (number, 3) for number in range(4)
    ]


# --- the active context -----------------------------------------------------------------------


def _asleep(bed: Bed, thinker: Says) -> Consolidation:
    """Return a consolidation that hears of the ends of sessions."""
    asleep = bed.asleep(thinker, auto=False)
    bed.log = bed.session_log(bed.gate, told=asleep.ended)
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
    assert asleep.standing().queue == () and bed.facts() == []
    bed.put(path, bed.text(path).replace("tags: [unclosed\n", "", 1))
    (mended,) = _run(asleep).sessions
    assert mended.session == session and bed.meta(session).consolidated


def test_a_summary_that_could_not_be_written_is_told_in_words(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(4):
        bed.talk(f"We decided to rebuild shed {at} from larch for {at + 4},200 euros.")
    asleep = bed.asleep(Says(), levels=5)
    _run(asleep)
    asleep = bed.asleep(Says(), levels=2)
    with monkeypatch.context() as patched:
        patched.setattr(bed.gate, "save", lambda *_, **__: None)
        (note,) = _run(asleep).notes
    assert note == (
        "The summaries of main were not made: VaultMind/agents/main/memory/summaries/L1/L1_001.md, "
        "or what it is made of, was changed meanwhile. They are tried again at the next run."
    )
    made = _run(asleep).summaries
    assert [one.id for one in made] == ["L1_001", "L1_002"]
