"""Nobody waits long for the summary of a long conversation: it is made in the background."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from tests.session.summary.talks import talk
from tests.session.talk.room import WINDOW, Room
from tests.session.talk.test_folding import in_file
from tests.session.talk.test_wired import house
from tests.waiting import until
from vaultmind.session.context.parts import BuildRequest
from vaultmind.session.talk import folding, talks
from vaultmind.types import PERSON


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Let no fold come past its 20th batch before the event is set."""
    go, fold, batches = threading.Event(), folding.fold, [0]

    def held(*rest: object, **named: object) -> object:
        batches[0] += 1
        if batches[0] > 20:
            assert go.wait(30)
        return fold(*rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(folding, "fold", held)
    return go


def test_what_is_closed_in_the_middle_of_a_long_fold_is_gone_on_with(
    room: Room, slow: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(talks, "ASKER_SECONDS", 0.0)
    room.write(talk(800))
    assert room.talks.fold(room.view(), WINDOW).behind
    until(lambda: room.view().rolling.messages == 120)
    closing = threading.Thread(target=room.talks.close)
    closing.start()
    until(room.talks._stopping.is_set)
    slow.set()
    closing.join(30)
    assert 120 < in_file(room).messages < 780
    assert room.fold(room.again()).rolling.messages == 780


def test_the_notes_of_a_context_say_how_far_the_summary_is(
    tmp_path: Path, slow: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(talks, "ASKER_SECONDS", 0.0)
    with house(tmp_path, None) as app:
        app.sessions.log_many("main", talk(800))
        built = app.builder.build(BuildRequest("main", pending=("And the larch?",)), PERSON)
        (note,) = (one for one in built.notes if "summary" in one)
        assert re.fullmatch(r"The summary covers \d+ of \d+ messages so far\.", note)
        slow.set()
        assert app.talks.settle(30)
        built = app.builder.build(BuildRequest("main", pending=("And the larch?",)), PERSON)
        assert not any("summary" in one for one in built.notes)
