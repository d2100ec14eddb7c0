"""A session of several days shows their dates, and is read back as what was written."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from vaultmind.session.imports.days import DAY_BYTES, callouts
from vaultmind.session.records.store import iso
from vaultmind.types import Message
from vaultmind.vault.transcript import (
    SessionMeta,
    completion,
    parse_session,
    render_header,
    render_message,
)

HEADER = render_header(SessionMeta("2026-02-20_001", "main", "2026-02-20T10:00:00+01:00"))
TEXTS = st.one_of(
    st.text("aż🙂 #>-^m1\n", min_size=1),
    st.sampled_from(["### 2026-02-21", "## Segment 2", "> [!user] 10:00:00", "^m1", "---"]),
).filter(lambda text: text.strip())
MESSAGES = st.lists(
    st.builds(
        lambda hours, text, number: (hours, text, number),
        st.integers(0, 200),
        TEXTS,
        st.integers(0, 10**6),
    ),
    min_size=1,
    max_size=12,
)


def _messages(drawn: list[tuple[int, str, int]]) -> list[Message]:
    start = datetime.fromisoformat("2026-02-20T10:00:00+01:00")
    return [
        Message("user", text, iso(start + timedelta(hours=hours)), id=f"{number}-{at}")
        for at, (hours, text, number) in enumerate(drawn)
    ]


def _said(text: str) -> list[tuple[str, str, str, str]]:
    read = parse_session(text)
    assert (read.segment, read.topics, read.faults) == (1, (), ())
    assert {one.segment for one in read.messages} <= {1}
    return [(m.id, m.text, m.time, m.block) for m in (one.message for one in read.messages)]


@given(MESSAGES, st.sampled_from(["\n", "\r\n"]), st.data())
def test_dates_between_messages_change_nothing_that_is_read(
    drawn: list[tuple[int, str, int]], newline: str, data: st.DataObject
) -> None:
    messages = _messages(drawn)
    header = HEADER.replace("\n", newline)
    plain = header + "".join(
        render_message(Message(m.role, m.text, m.time, m.id, block=f"m{n}"), newline)
        for n, m in enumerate(messages, 1)
    )
    whole = header + callouts(messages, 1, newline)
    assert _said(whole) == _said(plain)
    assert completion(whole, parse_session(whole), newline) == ""
    at = data.draw(st.integers(1, len(messages)))
    grown = header + callouts(messages[:at], 1, newline)
    grown += callouts(messages[at:], at + 1, newline, messages[at - 1].time)
    assert _said(grown) == _said(plain)
    assert len(whole.encode()) <= len(plain.encode()) + DAY_BYTES * len(messages)


def test_a_date_stands_where_a_day_begins_and_only_then() -> None:
    first, later, next_day = _messages([(0, "one", 1), (1, "two", 2), (24, "three", 3)])
    assert "###" not in callouts([first, later], 1)
    lines = callouts([first, later, next_day], 1).splitlines()
    assert [line for line in lines if line.startswith("#")] == ["### 2026-02-20", "### 2026-02-21"]
    assert callouts([next_day], 3, before=later.time).startswith("### 2026-02-21\n\n> [!user]")
    assert "###" not in callouts([later], 2, before=first.time)
    assert "###" not in callouts([Message("user", "timeless", "")], 2, before=first.time)
