"""Consolidation by itself: after a while of quiet, behind whoever asks, cut off."""

from __future__ import annotations

import threading

from tests.consolidate.sleeping import MORNING, Bed, Waits, rest
from tests.waiting import until
from vaultmind.consolidate.types import Request
from vaultmind.types import PERSON


def test_what_was_pending_at_a_start_is_done_too(bed: Bed) -> None:
    session = bed.talk(*MORNING)
    asleep = bed.asleep()
    assert asleep.standing()[0] == [("main", session)]
    asleep.start()
    rest(asleep)
    assert bed.meta(session).consolidated
    asleep.close()


def test_who_asks_goes_before_what_works_by_itself(bed: Bed) -> None:
    bed.talk("I like rye bread.")
    second = bed.talk("I keep bees.")
    thinker = Waits()
    asleep = bed.asleep(thinker)
    asleep.start()
    assert thinker.begun.wait(20)
    answers = []
    request = Request(session=second, agent="main")
    asking = threading.Thread(target=lambda: answers.append(asleep.run(request, PERSON)))
    asking.start()
    thinker.go_on.set()
    asking.join(20)
    assert [one.session for one in answers[0].sessions] == [second]
    rest(asleep)
    assert len(thinker.seen) == 2, "no session was read twice"
    asleep.close()


def test_a_model_that_does_not_answer_holds_up_no_close(bed: Bed) -> None:
    bed.talk("I like rye bread.")
    thinker = Waits()
    asleep = bed.asleep(thinker)
    asleep.start()
    assert thinker.begun.wait(20)
    asleep.close()
    thinker.go_on.set()
    until(lambda: not [one for one in threading.enumerate() if one.name == "asleep"])
    assert bed.facts() == []
