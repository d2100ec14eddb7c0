"""Several talks of one agent never mix; many messages are one write; segments; what is newest."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.session.samples import Files
from vaultmind.session.log import SessionLog
from vaultmind.types import Message
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.transcript import SessionMeta, render_header, render_message, render_segment

NOON = datetime(2026, 2, 20, 12, 0, 0, tzinfo=UTC)
WINDOW_1, WINDOW_2 = "claude-code:1111", "claude-code:2222"


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now

    def passes(self, **how_much: float) -> None:
        self.now += timedelta(**how_much)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(files: Files, reader: VaultReader, paths: VaultPaths, clock: Clock) -> SessionLog:
    return SessionLog(files, reader, clock, 30)


def _said(text: str, id: str = "", time: str = "") -> Message:
    return Message("user", text, time, id=id)


def _texts(log: SessionLog, session: str) -> list[str]:
    return [placed.message.text for placed in log.read("main", session).messages]


# --- conversations ----------------------------------------------------------------------------


def test_an_id_without_a_named_conversation_counts_with_its_words(log: SessionLog) -> None:
    """An agent may count from 1 again; a call that is repeated says the same words."""
    recap = [_said("We bake on Fridays.", "1")]
    first = log.log("main", *recap)
    log.end("main")
    assert log.log("main", *recap).refs == first.refs
    other = log.log("main", _said("Another talk.", "1"))
    assert (len(other.new), other.session) == (1, "2026-02-20_002")


# --- many messages ----------------------------------------------------------------------------


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(cut=st.integers(0, 600), data=st.data())
def test_many_messages_torn_anywhere_are_whole_after_a_repeat(
    cut: int, data: st.DataObject, files: Files, reader: VaultReader, paths: VaultPaths
) -> None:
    texts = data.draw(st.lists(st.sampled_from(["zażółć\n2", "a", "> q", "%% x", "^m2"]),
                               min_size=1, max_size=4))  # fmt: skip
    told = [_said(text, f"id{n}") for n, text in enumerate(texts)]
    blocked = [
        Message("user", m.text, NOON.isoformat(), m.id, block=f"m{n + 2}")
        for n, m in enumerate(told)
    ]
    head = render_header(SessionMeta("2026-02-20_001", "main", started=NOON.isoformat()))
    head += render_message(Message("user", "first", NOON.isoformat(), "f", block="m1"))
    added = render_segment(2, NOON.isoformat()) + "".join(map(render_message, blocked))
    file = paths.root / paths.session("main", "2026-02-20_001")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(head.encode() + added.encode()[:cut])
    log = SessionLog(files, reader, lambda: NOON, 30)
    logged = log.log("main", *told, new_segment=True)
    log.log("main", _said("next"))
    transcript = log.read("main", logged.session)
    whole = [m.message for m in transcript.messages if m.message.block]
    assert [one.text for one in whole] == ["first", *texts, "next"]
    assert len({one.block for one in whole}) == len(texts) + 2
    assert transcript.segment == 2


# --- segments ---------------------------------------------------------------------------------


def test_a_segment_begins_once_however_often_it_is_asked_for(log: SessionLog) -> None:
    assert log.log("main", new_segment=True).session == ""
    log.log("main", _said("one"))
    assert [log.log("main", new_segment=True).segment for _ in range(3)] == [2, 2, 2]
    ref = log.log("main", _said("two"))
    logged = log.log("main", _said("three", "3"), _said("four", "4"), new_segment=True)
    repeated = log.log("main", _said("three", "3"), _said("four", "4"), new_segment=True)
    assert (logged.segment, repeated.segment, repeated.new) == (3, 3, ())
    transcript = log.read("main", ref.session)
    assert [m.segment for m in transcript.messages] == [1, 2, 3, 3]
    log.end("main")
    assert log.read("main", ref.session).meta.segments == 3


# --- time -------------------------------------------------------------------------------------


def test_a_clock_that_goes_back_neither_splits_nor_keeps_a_session_for_ever(
    log: SessionLog, clock: Clock
) -> None:
    clock.passes(days=400)
    wrong = log.log("main", _said("the clock is wrong")).session
    clock.now = NOON
    assert log.log("main", _said("the clock was set back")).session == wrong
    assert log.log("main", _said("and the daemon started anew")).session == wrong
    clock.passes(minutes=31)
    later = [log.log("main", _said(f"later {n}")).session for n in range(3)]
    assert later == ["2026-02-20_001"] * 3, "one new session, though an older id is newest"


def test_a_session_with_broken_front_matter_hurts_nothing(
    log: SessionLog, clock: Clock, paths: VaultPaths
) -> None:
    ref = log.log("main", _said("one"))
    file = paths.root / paths.session("main", ref.session)
    broken = file.read_text("utf-8").replace("topics: []", "topics: [: {")
    file.write_text(broken, "utf-8")
    clock.passes(hours=1)
    assert {log.log("main", _said(f"{n}")).session for n in range(3)} == {"2026-02-20_002"}
    clock.passes(hours=1)
    log.end_idle()
    assert log.read("main", "2026-02-20_002").meta.state == "ended"
    assert file.read_text("utf-8") == broken
