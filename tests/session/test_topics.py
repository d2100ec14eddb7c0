"""Topics change by meaning, not by one odd message; labels are words that were said."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes import HashEmbedder
from vaultmind.session.summary import TopicMark
from vaultmind.session.summary.labels import label_of
from vaultmind.session.talk.topics import KEPT_STEMS, Running, Step, heading, hear, mark_of
from vaultmind.types import Message
from vaultmind.vault.transcript import (
    SessionMeta,
    parse_session,
    render_header,
    render_message,
    render_segment,
)

SUBJECTS = {
    "en": (
        [
            "sourdough",
            "starter",
            "flour",
            "oven",
            "crust",
            "loaf",
            "yeast",
            "dough",
            "kneading",
            "bakery",
        ],
        [
            "sailboat",
            "rigging",
            "harbour",
            "mast",
            "anchor",
            "regatta",
            "keel",
            "current",
            "lighthouse",
            "skipper",
        ],
    ),
    "pl": (
        [
            "zakwas",
            "mąka",
            "piekarnik",
            "skórka",
            "bochenek",
            "drożdże",
            "ciasto",
            "piekarnia",
            "formowanie",
            "żyto",
        ],
        [
            "żaglówka",
            "takielunek",
            "przystań",
            "maszt",
            "kotwica",
            "regaty",
            "kil",
            "prąd",
            "latarnia",
            "szyper",
        ],
    ),
    "ru": (
        [
            "закваска",
            "мука",
            "печь",
            "корочка",
            "буханка",
            "дрожжи",
            "тесто",
            "пекарня",
            "замес",
            "рожь",
        ],
        [
            "парусник",
            "оснастка",
            "гавань",
            "мачта",
            "якорь",
            "регата",
            "киль",
            "течение",
            "маяк",
            "шкипер",
        ],
    ),
}


def said(number: int, text: str, time: str = "") -> Message:
    role = "user" if number % 2 else "assistant"
    return Message(role, text, time, id=f"t:{number}", block=f"m{number}")


def about(words: Sequence[str], length: int, first: int = 1, seed: int = 3) -> list[Message]:
    rng = random.Random(seed)
    return [said(first + n, " ".join(rng.sample(words, 5)) + ".") for n in range(length)]


def steps(
    messages: Sequence[Message], language: str = "en", *, vectors: bool = False
) -> list[Step]:
    embedder, running, found = HashEmbedder(2048), Running(), []
    for message in messages:
        vector = embedder.embed_query(message.text) if vectors else None
        step = hear(running, message, language, vector)
        running = step.running
        found.append(step)
    return found


def changes(found: Sequence[Step]) -> list[int]:
    return [number for number, step in enumerate(found, 1) if step.began is not None]


@pytest.mark.parametrize("vectors", [False, True], ids=["words", "vectors"])
@pytest.mark.parametrize("language", SUBJECTS)
def test_another_subject_is_a_new_topic(language: str, vectors: bool) -> None:
    bread, boats = SUBJECTS[language]
    found = steps([*about(bread, 14), *about(boats, 10, 15)], language, vectors=vectors)
    assert changes(found) == [16]
    began = found[15].began
    assert began is not None
    assert (began.source, began.at) == ("m15", 15)


def test_one_odd_message_changes_nothing() -> None:
    bread, boats = SUBJECTS["en"]
    talk = [*about(bread, 14), *about(boats, 1, 15), *about(bread, 14, 16, seed=4)]
    assert changes(steps(talk)) == []
    assert changes(steps(talk, vectors=True)) == []


@pytest.mark.parametrize("vectors", [False, True], ids=["words", "vectors"])
@pytest.mark.parametrize("language", SUBJECTS)
def test_one_subject_stays_one_topic(language: str, vectors: bool) -> None:
    for subject in SUBJECTS[language]:
        assert changes(steps(about(subject, 60), language, vectors=vectors)) == []


def test_small_talk_tools_and_requests_do_not_count() -> None:
    bread, boats = SUBJECTS["en"]
    noise = [
        said(15, "Ok."),
        said(16, "Thanks!"),
        replace(said(17, " ".join(boats)), role="tool"),
        replace(said(18, " ".join(boats)), asked="remember"),
        replace(said(19, " ".join(boats)), erased=True),
    ]
    assert changes(steps([*about(bread, 14), *noise, *about(bread, 6, 20)])) == []


def test_a_topic_is_labelled_with_its_own_words() -> None:
    bread, boats = SUBJECTS["en"]
    found = steps([*about(bread, 14), *about(boats, 10, 15), *about(bread, 10, 25)])
    ended = [step.ended for step in found if step.ended]
    assert set(ended[0].label.split(", ")) <= set(bread)
    assert set(ended[1].label.split(", ")) <= set(boats)
    assert ended[1].source == "m15"
    running = found[-1].running
    assert set(mark_of(running.topic, running.before).label.split(", ")) <= set(bread)


def test_the_name_of_a_speaker_is_no_label() -> None:
    bread = [replace(m, text=f"Ola, {m.text}", speaker="Ola") for m in about(SUBJECTS["en"][0], 9)]
    running = steps(bread)[-1].running
    assert "Ola" not in mark_of(running.topic, running.before).label


def test_a_pause_counts_only_where_nothing_can_be_told_from_words() -> None:
    bread = SUBJECTS["en"][0]
    talk = [
        replace(m, time=f"2026-03-01T10:{n:02d}:00+01:00") for n, m in enumerate(about(bread, 9))
    ]
    after = "2026-03-01T10:45:00+01:00"
    assert changes(steps([*talk, said(10, "So, well.", after)])) == [10]
    soon = "2026-03-01T10:30:00+01:00"
    assert changes(steps([*talk, said(10, "So, well.", soon)])) == []
    assert changes(steps([*talk, said(10, talk[0].text, after)])) == []


def test_times_that_cannot_be_compared_are_no_pause() -> None:
    talk = [
        said(1, "Flour and yeast make bread dough.", "2026-03-01T10:00:00"),
        said(2, "Ok.", "?"),
    ]
    assert changes(steps([*talk, said(3, "Hm.", "2026-03-01T12:00:00+01:00")])) == []


def test_vectors_may_come_and_go() -> None:
    bread, boats = SUBJECTS["en"]
    embedder, running, turned = HashEmbedder(2048), Running(), []
    for number, message in enumerate([*about(bread, 16), *about(boats, 12, 17)], 1):
        vector = embedder.embed_query(message.text) if number % 3 else None
        step = hear(running, message, "en", vector)
        running = step.running
        turned += [number] if step.began else []
    assert len(turned) == 1
    assert turned[0] in (18, 19, 20)


def test_what_is_kept_does_not_grow_with_the_conversation() -> None:
    rng = random.Random(5)
    words = ["".join(rng.choices("bcdfgklmnprst", k=7)) for _ in range(3000)]
    running = steps([said(n, " ".join(rng.sample(words, 12))) for n in range(1, 200)])[-1].running
    kept = [running.before, running.topic.counts, running.topic.near, running.topic.forms]
    assert max(map(len, kept)) <= KEPT_STEMS


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=60), st.sampled_from(["\n", "\r\n"]))
def test_a_heading_never_becomes_a_segment_or_part_of_a_message(label: str, newline: str) -> None:
    meta = SessionMeta("2026-03-01_001", "main", started="2026-03-01T10:00:00+01:00")
    messages = [replace(m, time="2026-03-01T10:00:00+01:00") for m in about(SUBJECTS["en"][0], 3)]
    title = heading(TopicMark(label, "m2", 2), newline)
    text = render_header(meta, newline) + render_message(messages[0], newline) + title
    text += render_message(messages[1], newline) + render_segment(2, "x", newline) + title
    read = parse_session(text + render_message(messages[2], newline))
    assert [placed.message for placed in read.messages] == messages
    assert [placed.segment for placed in read.messages] == [1, 1, 2]
    assert read.faults == ()


def test_a_heading_that_looks_like_a_segment_is_none() -> None:
    assert heading(TopicMark("Segment 7 begins")) == "## Segment 7 begins\n\n"
    read = parse_session(heading(TopicMark("Segment 7")) + render_message(about(["a"] * 9, 1)[0]))
    assert read.messages[0].segment == 1


def test_words_of_another_language_that_say_nothing_are_no_label() -> None:
    texts = ["Kiedy deploy the parser, 20 ms", "kiedy the parser is fast, 30 ms"]
    assert label_of(texts, "en") == "parser, deploy, fast"
