"""Only what was added to a session's file is read again, and the outcome is the same."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.session.summary.talks import message, talk
from vaultmind.errors import UnreadableNote
from vaultmind.session.talk.reading import Reading
from vaultmind.types import Message
from vaultmind.vault.files import FileStat
from vaultmind.vault.transcript import (
    SessionMeta,
    parse_session,
    render_header,
    render_message,
    render_segment,
)

STAMP = FileStat(1, 1, 1)
META = SessionMeta("2026-03-01_001", "main", started="2026-03-01T00:00:00+01:00")


def take(reading: Reading, text: str) -> int:
    return reading.take("session.md", text.encode(), STAMP)


def file_of(messages: list[Message], newline: str = "\n") -> str:
    return render_header(META, newline) + "".join(render_message(m, newline) for m in messages)


def state(reading: Reading) -> tuple[list[Message], list[int], int, list[int], int]:
    starts = list(reading._starts)
    return reading.messages, list(reading.segments), reading.segment, starts, reading.headed()


def fresh(text: str) -> Reading:
    reading = Reading()
    take(reading, text)
    return reading


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_what_was_appended_is_parsed_alone(newline: str, bom: str) -> None:
    said = talk(200, "ru")
    said[30] = message(31, "Zażółć 🎉 שלום\n\n> quoted\n## no heading\n```\n> [!user] no\n```")
    reading, text = Reading(), bom + file_of(said[:100], newline)
    take(reading, text)
    assert reading.parsed == 100
    for number in range(100, 200):
        text += render_message(said[number], newline)
        assert take(reading, text) == number
    assert reading.messages == said
    assert reading.parsed == 400  # each new one, and the last two of before beside it
    assert state(reading) == state(fresh(text))


def test_a_heading_put_in_near_the_end_is_read_without_the_rest() -> None:
    said = talk(300)
    reading, text = Reading(), file_of(said)
    take(reading, text)
    at = parse_session(text).messages[295].start
    text = f"{text[:at]}## dough, flour\n\n{text[at:]}"
    assert take(reading, text) == 300
    assert reading.parsed == 307
    assert reading.headed() == 295
    assert state(reading) == state(fresh(text))


def test_an_edit_anywhere_is_seen() -> None:
    said = talk(50)
    reading, text = Reading(), file_of(said)
    take(reading, text)
    words = next(one.text for one in said[10:] if len(one.text) > 40)
    edited = text.replace(words, "The person wrote another thing here.", 1)
    changed = take(reading, edited)
    assert changed == next(n for n, one in enumerate(said) if one.text == words)
    assert state(reading) == state(fresh(edited))
    assert take(reading, text) == changed
    assert reading.messages == said


def test_a_new_segment_runs_before_anything_is_said_in_it() -> None:
    reading, text = Reading(), file_of(talk(12))
    take(reading, text)
    assert (reading.segment, reading.first_of_segment()) == (1, 0)
    text += render_segment(2, "2026-03-01T10:00:00+01:00")
    take(reading, text)
    assert (reading.segment, reading.first_of_segment()) == (2, 12)
    text += render_message(message(13, "Another matter."))
    take(reading, text)
    assert (reading.segments[-1], reading.first_of_segment()) == (2, 12)


def test_a_torn_end_is_read_again_when_it_is_whole() -> None:
    said = talk(20)
    whole = file_of(said).encode()
    reading = Reading()
    for size in range(len(whole) - 130, len(whole) + 1):
        reading.take("session.md", whole[:size], STAMP)
    assert reading.messages == said
    assert state(reading) == state(fresh(whole.decode()))


def test_a_private_passage_over_several_messages_is_not_read() -> None:
    said = [message(1, "Hello there."), message(2, "<private>"), message(3, "My code is 4711.")]
    text = render_header(META) + "".join(render_message(one) for one in said)
    reading = fresh(text)
    assert "4711" not in "".join(one.text for one in reading.messages)
    text += render_message(message(4, "</private>")) + render_message(message(5, "For everybody."))
    take(reading, text)
    assert "4711" not in "".join(one.text for one in reading.messages)
    assert reading.messages[-1].text == "For everybody."


def test_a_secret_that_a_person_typed_into_the_file_is_masked() -> None:
    reading = fresh(file_of([message(1, "The key is AKIAIOSFODNN7EXAMPLE, keep it.")]))
    assert "AKIAIOSFODNN7EXAMPLE" not in reading.messages[0].text


def test_what_is_no_text_leaves_what_was_read() -> None:
    reading, text = Reading(), file_of(talk(5))
    take(reading, text)
    with pytest.raises(UnreadableNote):
        reading.take("session.md", text.encode() + b"\xff\xfe more", STAMP)
    assert len(reading.messages) == 5
    assert take(reading, text + render_message(message(6, "Six."))) == 5
    assert len(reading.messages) == 6


PIECES = st.sampled_from(
    [
        '## Segment 2 %%{"segment":2}%%\n\n',
        "## dough, flour\n\n",
        "A person's own line.\n",
        "> [!note] Not a message\n> of theirs\n\n",
        "> [!user] Typed by hand\n> Hello.\n\n",
        "> a quotation\n",
        "^m3\n\n",
        "\n",
        "%% a comment",
        "<private>",
        "ć🎉",
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    changes=st.lists(
        st.tuples(st.sampled_from(["add", "put", "cut", "tail"]), st.integers(0, 10_000), PIECES),
        max_size=8,
    ),
    seed=st.integers(0, 5),
)
def test_reading_on_gives_what_reading_anew_gives(
    changes: list[tuple[str, int, str]], seed: int
) -> None:
    rng = random.Random(seed)
    said = talk(40, seed=seed)
    text = file_of(said[:6])
    reading, number = Reading(), 6
    take(reading, text)
    for kind, where, piece in changes:
        at = len(text) - where % min(len(text), 700) if where % 3 else where % len(text)
        if kind == "add":
            text += "".join(render_message(one) for one in said[number : number + where % 4])
            number = min(39, number + where % 4)
        elif kind == "put":
            at = text.find("\n", at) + 1
            text = text[:at] + piece + text[at:]
        elif kind == "cut":
            text = text[:at] + text[at + rng.randrange(60) :]
        else:
            text += piece
        take(reading, text)
        assert state(reading) == state(fresh(text))
