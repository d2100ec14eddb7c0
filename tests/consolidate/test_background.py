"""Consolidation by itself: after a while of quiet, behind whoever asks, paused, cut off."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from tests.consolidate.sleeping import MORNING, Bed, Says, Waits, fact
from tests.fakes import HashEmbedder
from tests.serve.vaults import config_of, write_vault
from tests.waiting import until
from vaultmind.app import open_app
from vaultmind.config.settings import ConsolidationConfig
from vaultmind.consolidate.background import Background
from vaultmind.consolidate.consolidation import CUT_OFF, Consolidation
from vaultmind.consolidate.types import Request
from vaultmind.types import PERSON, Message


def _following(bed: Bed, asleep: Consolidation) -> Consolidation:
    bed.log = bed.session_log(bed.gate, told=asleep.ended)
    return asleep


def test_what_has_ended_is_consolidated_by_itself(bed: Bed) -> None:
    asleep = _following(bed, bed.asleep())
    session = bed.talk(*MORNING)
    assert asleep.settle(20)
    assert bed.meta(session).consolidated and len(bed.facts()) == 2
    standing = asleep.standing()
    assert standing.last is not None and standing.last.sessions[0].session == session
    assert (standing.queue, standing.running, bool(standing.last_time)) == ((), "", True)
    asleep.close()
    after = bed.asleep().standing()  # a restart forgets neither when that was nor what it cost
    assert (after.last_time, after.dropped) == (standing.last_time, standing.dropped)


def test_what_was_pending_at_a_start_is_done_too(bed: Bed) -> None:
    session = bed.talk(*MORNING)
    asleep = bed.asleep()
    assert asleep.standing().queue == (("main", session),)
    asleep.start()
    assert asleep.settle(20) and bed.meta(session).consolidated
    asleep.close()


def test_a_pause_holds_over_a_restart_and_only_for_what_works_by_itself(bed: Bed) -> None:
    bed.asleep().pause()
    asleep = _following(bed, bed.asleep(Says()))
    session = bed.talk("I like rye bread.")
    assert asleep.settle(20) and asleep.standing().paused
    assert not bed.meta(session).consolidated
    assert len(asleep.run(Request(), PERSON).sessions) == 1
    later = bed.talk("I keep bees.")
    asleep.resume()
    assert asleep.settle(20) and bed.meta(later).consolidated
    asleep.close()


def test_nothing_is_done_by_itself_where_that_is_off(bed: Bed) -> None:
    asleep = _following(bed, bed.asleep(auto=False))
    session = bed.talk(*MORNING)
    asleep.start()
    assert asleep.settle(1) and asleep.standing().queue == (("main", session),)
    assert not [one for one in threading.enumerate() if one.name == "asleep"]


def test_it_waits_until_nothing_has_ended_for_a_while() -> None:
    done: list[float] = []
    background = Background(lambda: done.append(time.monotonic()), lambda: None, 0.2)
    background.wake()
    began = time.monotonic()
    while time.monotonic() - began < 0.3:
        background.wake()
    last = time.monotonic()
    until(lambda: done)
    assert len(done) == 1 and done[0] - last >= 0.15
    background.close()


def test_who_asks_goes_before_what_works_by_itself(bed: Bed) -> None:
    first, second = bed.talk("I like rye bread."), bed.talk("I keep bees.")
    thinker = Waits()
    asleep = bed.asleep(thinker)
    asleep.start()
    assert thinker.begun.wait(20)
    answers = []
    request = Request(session=second, agent="main")
    asking = threading.Thread(target=lambda: answers.append(asleep.run(request, PERSON)))
    asking.start()
    until(lambda: asleep._turns._asking)
    assert asleep.standing().running == f"{first} of main"
    thinker.go_on.set()
    asking.join(20)
    assert [one.session for one in answers[0].sessions] == [second]
    assert asleep.settle(20) and len(thinker.seen) == 2, "no session was read twice"
    asleep.close()


def test_a_close_cuts_off_what_is_being_done_and_it_is_pending_still(bed: Bed) -> None:
    session = bed.talk("I like rye bread.")
    thinker = Waits(fact("Likes rye bread"))
    asleep = bed.asleep(thinker)
    asleep.start()
    assert thinker.begun.wait(20)
    asleep.stop()
    thinker.go_on.set()
    asleep.close()
    assert not [one for one in threading.enumerate() if one.name == "asleep"]
    assert (bed.meta(session).pending, bed.facts()) == ("extraction", [])
    assert asleep.run(Request(), PERSON).notes == (CUT_OFF,)
    again = bed.asleep(Says(fact("Likes rye bread")))
    again.run(Request(), PERSON)
    assert bed.facts() == ["Likes rye bread"] and bed.meta(session).consolidated


def test_a_model_that_does_not_answer_holds_up_no_close(bed: Bed) -> None:
    bed.talk("I like rye bread.")
    thinker = Waits()
    asleep = bed.asleep(thinker)
    asleep.start()
    assert thinker.begun.wait(20)
    began = time.monotonic()
    asleep.close()
    assert time.monotonic() - began < 4
    thinker.go_on.set()
    until(lambda: not [one for one in threading.enumerate() if one.name == "asleep"])
    assert bed.facts() == []


def test_two_who_ask_at_once_take_turns_and_write_everything_once(bed: Bed) -> None:
    sessions = [bed.talk(f"I like bread number {number}.") for number in range(4)]
    asleep = bed.asleep(levels=2)
    answers = []
    asking = [
        threading.Thread(target=lambda: answers.append(asleep.run(Request(), PERSON)))
        for _ in range(4)
    ]
    for one in asking:
        one.start()
    for one in asking:
        one.join(30)
    done = [one.session for answer in answers for one in answer.sessions]
    assert sorted(done) == sessions
    summaries = [one.id for answer in answers for one in answer.summaries]
    assert sorted(summaries) == ["L1_001", "L1_002"]


def test_an_app_consolidates_what_ends_in_it_and_what_a_stop_left(tmp_path: Path) -> None:
    write_vault(tmp_path / "vault")
    config = config_of(tmp_path)
    object.__setattr__(config, "consolidation", ConsolidationConfig(delay_seconds=0.0))
    app = open_app(config, embedder=HashEmbedder())
    app.sessions.log("main", Message("user", "I always take the night train to Vienna.", ""))
    session = app.sessions.end("main")
    app.close()
    app = open_app(config, embedder=HashEmbedder())
    app.start()
    try:
        assert app.consolidation.settle(30)
        assert app.sessions.read("main", session).meta.consolidated
        brain = (tmp_path / "vault/VaultMind/agents/main/memory/brain.md").read_text("utf-8")
        assert "night train to Vienna" in brain
    finally:
        app.close()
