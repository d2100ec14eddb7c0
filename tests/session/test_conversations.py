"""Several talks of one agent never mix; many messages are one write; segments; what is newest."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.session.samples import Files
from vaultmind.errors import BadArgument, NotAllowed
from vaultmind.session.lifecycle.lifecycle import SessionLog
from vaultmind.session.records.store import iso
from vaultmind.session.voice.said import last_exchange
from vaultmind.types import Message
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.transcript import (
    SessionMeta,
    parse_session,
    render_header,
    render_message,
    render_segment,
)

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
    return SessionLog(files, reader, paths, clock, 30)


@pytest.fixture
def again(files: Files, reader: VaultReader, paths: VaultPaths, clock: Clock) -> SessionLog:
    """Return the log of a process that starts later."""
    return SessionLog(files, reader, paths, clock, 30)


def _said(text: str, id: str = "", time: str = "") -> Message:
    return Message("user", text, time, id=id)


def _texts(log: SessionLog, session: str) -> list[str]:
    return [placed.message.text for placed in log.read("main", session).messages]


# --- conversations ----------------------------------------------------------------------------


def test_two_windows_of_one_agent_never_mix(log: SessionLog, again: SessionLog) -> None:
    first = log.log("main", _said("one a"), conversation=WINDOW_1)
    second = log.log("main", _said("two a"), conversation=WINDOW_2)
    neither = log.log("main", _said("none a"))
    for sessions in (log, again):
        for ref, name in ((first, WINDOW_1), (second, WINDOW_2), (neither, "")):
            assert sessions.open_session("main", name) == ref.session
            assert sessions.log("main", _said("b"), conversation=name).session == ref.session
    assert len({first.session, second.session, neither.session}) == 3
    assert _texts(log, first.session) == ["one a", "b", "b"]
    assert log.read("main", second.session).meta.conversation == WINDOW_2
    assert "conversation" not in _file(log, neither.session)


def test_an_end_is_of_its_conversation_alone(log: SessionLog) -> None:
    first = log.log("main", _said("one"), conversation=WINDOW_1).session
    second = log.log("main", _said("two"), conversation=WINDOW_2).session
    assert log.end("main") == ""
    assert log.end("main", conversation=WINDOW_1) == first
    assert log.open_session("main", WINDOW_1) == ""
    assert log.open_session("main", WINDOW_2) == second
    assert log.end("main", session=second) == second
    assert log.end("main", session=second) == ""


def test_a_transcript_read_again_from_its_start_writes_nothing_twice(
    log: SessionLog, again: SessionLog, clock: Clock
) -> None:
    """Over the end of a session, a pause and a restart: ids count in the whole conversation."""
    told = [_said(f"said {n}", f"id-{n}", iso(NOON + timedelta(minutes=n))) for n in range(3)]
    first = log.log_many("main", told, conversation=WINDOW_1)
    log.end("main", conversation=WINDOW_1)
    clock.passes(hours=2)
    told.append(_said("said 3", "id-3", iso(clock.now)))
    for sessions, new in ((log, 1), (again, 0)):
        logged = sessions.log_many("main", told, conversation=WINDOW_1)
        assert logged.new == new
        assert [ref.session for ref in logged.refs[:3]] == [first.session] * 3
    assert len(log.sessions("main")) == 2


def test_an_id_without_a_named_conversation_counts_with_its_words(log: SessionLog) -> None:
    """An agent may count from 1 again; a call that is repeated says the same words."""
    recap = [_said("We bake on Fridays.", "1")]
    first = log.log_many("main", recap)
    log.end("main")
    assert log.log_many("main", recap).refs == first.refs
    other = log.log_many("main", [_said("Another talk.", "1")])
    assert (other.new, other.session) == (1, "2026-02-20_002")


def test_an_agent_that_may_only_read_has_nothing_written_for_it(
    log: SessionLog, files: Files, paths: VaultPaths
) -> None:
    ref = log.log("main", _said("before it was lowered"))
    files.read_only.add("main")
    before = _file(log, ref.session)
    with pytest.raises(NotAllowed, match="autonomy 0"):
        log.log("main", _said("one"))
    with pytest.raises(NotAllowed):
        log.end("main")
    assert log.end_idle(now=NOON + timedelta(days=1)) == ()
    assert _file(log, ref.session) == before
    assert not (paths.root / paths.active_context("main")).exists()


# --- many messages ----------------------------------------------------------------------------


def test_many_messages_are_one_append(log: SessionLog, files: Files) -> None:
    appended: list[str] = []
    append = files.append
    files.append = lambda relative, text: (appended.append(text), append(relative, text))[1]  # type: ignore[method-assign]
    log.log("main", _said("said 0", "0"))
    logged = log.log_many("main", [_said(f"said {n}", str(n)) for n in (0, 1, 2, 2, 3)])
    assert (logged.new, len(logged.refs), len(appended)) == (3, 5, 1)
    assert [ref.block for ref in logged.refs] == ["m1", "m2", "m3", "m3", "m4"]
    assert _texts(log, logged.session) == ["said 0", "said 1", "said 2", "said 3"]


def test_a_silence_between_messages_parts_sessions(log: SessionLog) -> None:
    times = [iso(NOON + timedelta(minutes=n)) for n in (0, 10, 50, 60, 120)]
    logged = log.log_many("main", [_said(f"at {n}", "", time) for n, time in enumerate(times)])
    assert [ref.session[-1] for ref in logged.refs] == ["1", "1", "2", "2", "3"]
    metas = [log.read("main", session).meta for session in log.sessions("main")]
    assert [meta.state for meta in metas] == ["ended", "ended", "open"]
    assert [meta.ended for meta in metas] == [times[1], times[3], ""]


def test_a_message_larger_than_a_session_is_cut_and_says_so(
    files: Files, paths: VaultPaths, clock: Clock
) -> None:
    reader = VaultReader(paths, max_bytes=50_000)
    log = SessionLog(files, reader, paths, clock, 30)
    logged = log.log_many("main", [_said("zażółć 🙂\n" * 20_000, "big"), _said("after", "b")])
    assert logged.new == 2
    for session in log.sessions("main"):
        reader.read(paths.session("main", session))
    text = log.read("main", logged.refs[0].session).messages[0].message.text
    assert text.endswith(" …") and len(text.encode()) > 25_000
    assert _texts(log, logged.refs[1].session)[-1] == "after"


def test_a_session_that_is_full_is_followed_by_another(
    files: Files, paths: VaultPaths, clock: Clock
) -> None:
    reader = VaultReader(paths, max_bytes=20_000)
    log = SessionLog(files, reader, paths, clock, 30)
    refs = [log.log("main", _said("x" * 4_000, str(n))) for n in range(12)]
    many = log.log_many("main", [_said("y" * 4_000, f"y{n}") for n in range(12)])
    sessions = log.sessions("main")
    assert len(sessions) > 4
    texts = [text for session in sessions for text in _texts(log, session)]
    assert texts == ["x" * 4_000] * 12 + ["y" * 4_000] * 12
    assert len({(r.session, r.block) for r in (*refs, *many.refs)}) == 24
    assert [log.read("main", one).meta.state for one in sessions[:-1]] == ["ended"] * (
        len(sessions) - 1
    )


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
    log = SessionLog(files, reader, paths, lambda: NOON, 30)
    logged = log.log_many("main", told, new_segment=True)
    log.log("main", _said("next"))
    transcript = log.read("main", logged.session)
    assert [m.message.text for m in transcript.messages] == ["first", *texts, "next"]
    assert len({m.message.block for m in transcript.messages}) == len(texts) + 2
    assert transcript.segment == 2
    assert not transcript.faults


# --- segments ---------------------------------------------------------------------------------


def test_a_segment_begins_once_however_often_it_is_asked_for(log: SessionLog) -> None:
    assert log.new_segment("main").session == ""
    log.log("main", _said("one"))
    assert [log.new_segment("main").segment for _ in range(3)] == [2, 2, 2]
    ref = log.log("main", _said("two"))
    logged = log.log_many("main", [_said("three", "3"), _said("four", "4")], new_segment=True)
    repeated = log.log_many("main", [_said("three", "3"), _said("four", "4")], new_segment=True)
    assert (logged.segment, repeated.segment, repeated.new) == (3, 3, 0)
    transcript = log.read("main", ref.session)
    assert [m.segment for m in transcript.messages] == [1, 2, 3, 3]
    log.end("main")
    assert log.read("main", ref.session).meta.segments == 3


def test_a_segment_begins_in_a_file_with_crlf_and_a_byte_order_mark(
    log: SessionLog, paths: VaultPaths
) -> None:
    ref = log.log("main", _said("one"))
    file = paths.root / paths.session("main", ref.session)
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    log.new_segment("main")
    log.log("main", _said("two"))
    log.end("main")
    raw = file.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf---\r\n")
    assert b"\n" not in raw.replace(b"\r\n", b"")
    assert [m.segment for m in parse_session(raw.decode("utf-8-sig")).messages] == [1, 2]


# --- time -------------------------------------------------------------------------------------


def test_a_clock_that_goes_back_neither_splits_nor_keeps_a_session_for_ever(
    log: SessionLog, again: SessionLog, clock: Clock
) -> None:
    clock.passes(days=400)
    wrong = log.log("main", _said("the clock is wrong")).session
    clock.now = NOON
    assert log.log("main", _said("the clock was set back")).session == wrong
    assert again.log("main", _said("and the daemon started anew")).session == wrong
    clock.passes(minutes=31)
    later = [log.log("main", _said(f"later {n}")).session for n in range(3)]
    assert later == ["2026-02-20_001"] * 3, "one new session, though an older id is newest"


def test_a_session_left_open_in_the_future_is_ended(
    log: SessionLog, clock: Clock, paths: VaultPaths
) -> None:
    clock.passes(days=400)
    ref = log.log("main", _said("the clock is wrong"))
    clock.now = NOON
    assert log.end_idle() == (paths.session("main", ref.session),)
    assert log.log("main", _said("now")).session == "2026-02-20_001"


def test_a_message_told_late_does_not_make_the_session_older(
    log: SessionLog, again: SessionLog, clock: Clock
) -> None:
    first = log.log("main", _said("now"))
    clock.passes(minutes=20)
    log.log("main", _said("later"))
    log.log_many("main", [_said("told late", "", iso(NOON))], now=clock.now)
    clock.passes(minutes=20)
    assert log.open_session("main") == again.open_session("main") == first.session


def test_a_time_that_is_none_is_named(log: SessionLog) -> None:
    with pytest.raises(BadArgument, match="time"):
        log.log("main", _said("one", time="yesterday"))


def test_silent_sessions_of_all_agents_are_ended_at_once(
    log: SessionLog, again: SessionLog, clock: Clock, paths: VaultPaths
) -> None:
    idle = {log.log(agent, _said("one"), conversation=talk).session: (agent, talk)
            for agent in ("main", "jaskier") for talk in ("", WINDOW_1)}  # fmt: skip
    clock.passes(minutes=20)
    log.log("main", _said("still here"))
    clock.passes(minutes=15)
    ended = again.end_idle()
    assert len(ended) == 3 and len(idle) == 2
    assert again.open_session("main") and not again.open_session("main", WINDOW_1)
    assert again.end_idle() == ()


def test_a_session_with_broken_front_matter_hurts_nothing(
    log: SessionLog, again: SessionLog, clock: Clock, paths: VaultPaths
) -> None:
    ref = log.log("main", _said("one"))
    file = paths.root / paths.session("main", ref.session)
    broken = file.read_text("utf-8").replace("topics: []", "topics: [: {")
    file.write_text(broken, "utf-8")
    clock.passes(hours=1)
    assert {log.log("main", _said(f"{n}")).session for n in range(3)} == {"2026-02-20_002"}
    clock.passes(hours=1)
    assert again.end_idle() == (paths.session("main", "2026-02-20_002"),)
    assert file.read_text("utf-8") == broken


# --- the newest -------------------------------------------------------------------------------


def test_the_latest_session_is_the_newest_in_which_something_was_said(
    log: SessionLog, files: Files, paths: VaultPaths, clock: Clock
) -> None:
    assert log.latest("main") == ""
    meta = SessionMeta("2023-05-01_001", "main", started="2023-05-01T10:00:00+00:00", source="x")
    body = render_message(Message("user", "imported", "2023-05-01T10:00:00+00:00", block="m1"))
    files.append(paths.session("main", meta.id), render_header(meta) + body)
    assert log.latest("main") == meta.id
    asked = Message("user", "remember the bread", "", asked="remember", how="cli")
    own = log.log("main", asked).session
    assert log.latest("main") == meta.id, "words of a request are no conversation"
    log.log("main", _said("now we talk"))
    assert log.latest("main") == own
    clock.passes(days=1)
    newer = log.log("main", _said("the next day")).session
    assert log.latest("main") == newer
    (paths.root / paths.session("main", newer)).unlink()
    assert log.latest("main") == own


def test_a_session_of_a_day_to_come_is_not_the_latest_unless_it_is_the_only_one(
    log: SessionLog, clock: Clock
) -> None:
    clock.passes(days=400)
    ahead = log.log("main", _said("From a clock that was wrong.")).session
    log.end("main")
    clock.passes(days=-400)
    assert log.latest("main") == ahead
    now = log.log("main", _said("Said today.")).session
    assert log.latest("main") == now
    log.end("main")
    assert log.latest("main") == now
    clock.passes(days=401)
    assert log.latest("main") == ahead


def test_a_front_matter_of_any_length_is_read(log: SessionLog, paths: VaultPaths) -> None:
    ref = log.log("main", _said("one"), conversation=WINDOW_1)
    file = paths.root / paths.session("main", ref.session)
    long = "note: " + "my own property " * 3000
    file.write_text(file.read_text("utf-8").replace("state: open", f"{long}\nstate: open"), "utf-8")
    assert log.open_session("main", WINDOW_1) == ref.session
    assert log.latest("main") == ref.session


def _file(log: SessionLog, session: str) -> str:
    return log._reader.read(log._paths.session("main", session)).text


def test_off_the_record_means_what_was_said_last_in_the_same_window(
    log: SessionLog, reader: VaultReader, clock: Clock
) -> None:
    one = log.log("main", _said("a secret plan", "a"), conversation=WINDOW_1)
    log.log("main", _said("another window", "b"), conversation=WINDOW_2)
    asked = log.log("main", _said("don't keep that", "c"), conversation=WINDOW_1)
    assert last_exchange(reader, "main", asked).messages == (one,)
    clock.passes(minutes=1)
    two = log.log("main", _said("a later word", "d"), conversation=WINDOW_1)
    assert last_exchange(reader, "main", None).messages == (two,), "spoken in last, not begun last"
    log.end("main", conversation=WINDOW_1)
    assert last_exchange(reader, "main", None).messages == ()


@pytest.mark.parametrize("cut", ["all", "id", "agent"])
def test_a_session_without_its_front_matter_takes_no_other_talk_s_words(
    log: SessionLog, again: SessionLog, paths: VaultPaths, cut: str
) -> None:
    first = log.log("main", _said("The lighthouse is red.", "a1"), conversation=WINDOW_1).session
    path = paths.root / paths.session("main", first)
    text = path.read_text("utf-8")
    lines = text[text.index("> [!") :] if cut == "all" else text.replace(f"{cut}: ", f"{cut}x: ", 1)
    path.write_text(lines, "utf-8")
    for sessions in (log, again):
        assert first not in (sessions.open_session("main"), sessions.open_session("main", WINDOW_1))
        assert sessions.log("main", _said("Another talk.", "b1")).session != first
        assert (
            sessions.log("main", _said("Its lamp.", "a2"), conversation=WINDOW_1).session != first
        )
    assert path.read_text("utf-8") == lines
