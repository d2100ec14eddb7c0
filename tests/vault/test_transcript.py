"""The session format keeps any content, and forgives a person who edits it in Obsidian."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vaultmind.types import ROLES, Message
from vaultmind.vault.nesting import safe
from vaultmind.vault.transcript import (
    SessionMeta,
    Transcript,
    completion,
    count_messages,
    next_block,
    parse_session,
    render_header,
    render_message,
    render_segment,
)

TIME = "2026-02-20T10:00:03+01:00"
META = SessionMeta("2026-02-20_001", "main", started=TIME)
HEADER = render_header(META)

# Text biased towards what could break out of a callout.
_MARKS = (
    "%%",
    "%\\%",
    "\\",
    "%",
    "^m3",
    "\\^m3",
    " ^m12",
    "^",
    "m3",
    "> ",
    ">",
    "```",
    "---",
    "$$",
)
_HEADERS = ("> [!user] 10:00:03 %%{}%%", "[!user]", "## Segment 2", "<!--")
_CONTROLS = (
    "\n",
    "\r\n",
    "\r",
    "\x00",
    "\u2028",
    "\u0085",
    "\x1b",
    "\u202e",
    "\ufeff",
    "\ud800",
    "\t",
)
_awkward = st.sampled_from((*_MARKS, *_HEADERS, *_CONTROLS, "שלום", " ", "日本", "ż"))
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
contents = st.lists(_awkward | st.text(max_size=8), max_size=12).map("".join)
messages = st.builds(
    Message,
    role=st.sampled_from(ROLES),
    text=contents,
    time=st.just(TIME),
    id=contents.map(safe),
    speaker=contents.map(lambda name: safe(name).strip()),
    how=st.sampled_from(["captured", "reported", "cli"]),
    asked=st.sampled_from(["", "remember", "replace", "forget"]),
)


def _file(*messages: Message, newline: str = "\n") -> str:
    placed = [
        render_message(_with_block(message, number), newline)
        for number, message in enumerate(messages, 1)
    ]
    return render_header(META, newline) + "".join(placed)


def _with_block(message: Message, number: int) -> Message:
    return Message(
        role=message.role,
        text=message.text,
        time=message.time,
        id=message.id,
        speaker=message.speaker,
        how=message.how,
        block=f"m{number}",
        asked=message.asked,
    )


def _user(text: str, **more: str) -> Message:
    return Message("user", text, TIME, **more)  # type: ignore[arg-type]


@patient
@given(st.lists(messages, max_size=4), st.sampled_from(["\n", "\r\n"]))
def test_any_content_comes_back_the_same(written: list[Message], newline: str) -> None:
    text = _file(*written, newline=newline)
    transcript = parse_session(text)

    assert not transcript.faults
    assert transcript.meta == META
    assert count_messages(text) == sum(not message.asked for message in written)
    for number, (placed, message) in enumerate(zip(transcript.messages, written, strict=True), 1):
        wanted = _with_block(message, number)
        assert placed.message.text == safe(wanted.text)
        assert placed.message == Message(**{**_fields(wanted), "text": safe(wanted.text)})
    text.encode()  # no half surrogate is left


def _fields(message: Message) -> dict[str, str]:
    return {name: getattr(message, name) for name in Message.__slots__}


@patient
@given(st.lists(messages, max_size=4), st.sampled_from(["\n", "\r\n"]))
def test_offsets_cover_the_callout_and_its_content(written: list[Message], newline: str) -> None:
    text = _file(*written, newline=newline)
    for placed in parse_session(text).messages:
        whole = text[placed.start : placed.end]
        assert whole.startswith(f"> [!{placed.message.role}]")
        assert whole.endswith(f"^{placed.message.block}")
        quoted = text[placed.text_start : placed.text_end]
        assert bool(quoted) == bool(placed.message.text)
        assert all(
            line.startswith(">") for line in quoted.replace("\r\n", "\n").split("\n") if line
        )


@patient
@given(contents, contents, contents, contents)
def test_the_front_matter_comes_back_the_same(
    topic: str, other: str, source: str, summary: str
) -> None:
    meta = SessionMeta(
        id="2026-02-20_001",
        agent="main",
        started=TIME,
        ended=TIME,
        state="ended",
        segments=3,
        topics=(safe(topic), safe(other)),
        summarised_in=safe(summary).strip(),
        source=safe(source),
    )
    assert parse_session(render_header(meta)).meta == meta


@patient
@given(st.text())
def test_no_file_makes_reading_fail(text: str) -> None:
    for prefix in ("", HEADER, HEADER + "> [!user] 10:00\n", "---\n"):
        assert isinstance(parse_session(prefix + text), Transcript)


@patient
@given(st.lists(messages, min_size=1, max_size=3), st.data())
def test_a_torn_end_is_completed_and_the_next_message_stands(
    written: list[Message], data: st.DataObject
) -> None:
    text = _file(*written)
    whole = _file(*written[:-1])
    torn = text[: data.draw(st.integers(len(whole), len(text)))]

    transcript = parse_session(torn)
    mended = torn + completion(torn, transcript)
    again = parse_session(mended)
    block = next_block(again.messages)
    last = parse_session(mended + render_message(_with_block(_user("next"), int(block[1:]))))

    assert last.messages[-1].message.text == "next"
    assert last.messages[-1].message.block == block
    kept = [placed.message for placed in last.messages[: len(written) - 1]]
    assert kept == [placed.message for placed in parse_session(whole).messages]
    assert all(placed.message.block for placed in last.messages)
    assert completion(text, parse_session(text)) == ""


def test_a_message_reads_well_in_obsidian() -> None:
    message = Message(
        "user", "Remember that\n\nI prefer short answers.", TIME, "D1:3", "Anna", block="m1"
    )
    assert render_message(message) == (
        '> [!user] 10:00:03 · Anna %%{"id":"D1:3","time":"2026-02-20T10:00:03+01:00",'
        '"how":"captured"}%%\n> Remember that\n>\n> I prefer short answers.\n\n^m1\n\n'
    )


def test_a_message_that_quotes_a_session_file_stays_one_message() -> None:
    inner = _file(_user("inside", id="x", speaker="Eve"))
    outer = parse_session(_file(_user(inner), _user("after"))).messages
    assert [placed.message.text for placed in outer] == [inner, "after"]


def test_a_lost_block_id_takes_nothing_from_the_message() -> None:
    text = _file(_user("one", id="a"), _user("two", id="b")).replace("^m1\n", "")
    first, second = parse_session(text).messages
    assert (first.message.text, first.message.id, first.message.block) == ("one", "a", "")
    assert second.message.block == "m2"
    assert next_block((first, second)) == "m3"


def test_prose_that_a_person_adds_belongs_to_no_message() -> None:
    text = _file(_user("one"), _user("two"))
    text = text.replace("^m1\n", "^m1\n\nMy own remark.\n\n> a quote\n\n## A heading\n- [ ] todo\n")
    transcript = parse_session(text)
    assert [placed.message.text for placed in transcript.messages] == ["one", "two"]
    assert [placed.segment for placed in transcript.messages] == [1, 1]
    assert not transcript.faults


def test_two_callouts_a_person_joined_stay_two_messages() -> None:
    text = _file(_user("one"), _user("two")).replace("\n\n^m1\n\n", "\n")
    assert [placed.message.text for placed in parse_session(text).messages] == ["one", "two"]


def test_a_message_without_its_comment_keeps_words_name_and_clock() -> None:
    text = HEADER + "> [!assistant]+ 11:02 · Claude\n> Hello\n\n^m1\n"
    (placed,) = parse_session(text).messages
    assert placed.message == Message(
        "assistant", "Hello", "2026-02-20T11:02:00+01:00", "", "Claude", block="m1"
    )


def test_a_renamed_speaker_is_believed() -> None:
    text = _file(_user("one", speaker="Anna [x]")).replace("· Anna x", "· Ania")
    assert parse_session(text).messages[0].message.speaker == "Ania"


def test_a_broken_comment_is_reported_and_the_words_kept() -> None:
    text = HEADER + "> [!user] 10:00:03 %%{oops}%%\n> Hello\n\n^m1\n"
    transcript = parse_session(text)
    assert transcript.messages[0].message.text == "Hello"
    assert "line 12" in transcript.faults[0]


def test_a_copied_block_id_counts_once() -> None:
    text = _file(_user("one"), _user("two")).replace("^m2", "^m1")
    transcript = parse_session(text)
    assert [placed.message.block for placed in transcript.messages] == ["m1", ""]
    assert "^m1 stands twice" in transcript.faults[0]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_bom_is_read_over(newline: str) -> None:
    transcript = parse_session("\ufeff" + _file(_user("one"), newline=newline))
    assert transcript.meta == META
    assert transcript.messages[0].message.text == "one"


def test_broken_front_matter_still_names_the_session() -> None:
    text = _file(_user("one")).replace("topics: []", "topics: [oops")
    transcript = parse_session(text)
    assert transcript.meta.id == META.id
    assert transcript.messages[0].message.text == "one"
    assert transcript.faults


def test_properties_as_obsidian_writes_them_are_read() -> None:
    text = '---\nid: 2026-02-20_001\nagent: main\nstate: ended\ntopics:\n  - a\n  - "b: c"\n---\n'
    meta = parse_session(text).meta
    assert (meta.state, meta.topics, meta.segments) == ("ended", ("a", "b: c"), 1)


def test_segments_begin_at_their_headings() -> None:
    one, two = (render_message(_with_block(_user(text), n)) for n, text in ((1, "a"), (2, "b")))
    text = HEADER + one + render_segment(2, TIME) + two
    assert [placed.segment for placed in parse_session(text).messages] == [1, 2]
    bare = text.replace(render_segment(2, TIME), "## Segment 2\n\n")
    assert [placed.segment for placed in parse_session(bare).messages] == [1, 2]
