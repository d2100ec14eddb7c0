"""Auto-RAG: when to look back, what to show of it, and what it costs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmind.session.recall.autorag import (
    AutoRagSettings,
    Request,
    Room,
    Situation,
    recall,
    why_not,
)
from vaultmind.session.recall.segment import SegmentIndex, SegmentMessage
from vaultmind.tokens import count

FILLER = (
    "Yesterday it rained for hours and we stayed at home",
    "My sister bought a new bicycle in Gdynia",
    "We painted the fence green, it looks fine",
    "The train was late again, thanks to the snow",
)
OVEN = "The oven costs four hundred euros and comes on Thursday"
LONG = Situation(messages=60, tokens=6000, window_messages=20, window_tokens=2600)


def talk(*texts: str, filler: int = 5) -> SegmentIndex:
    index = SegmentIndex()
    for number, text in enumerate((*FILLER * filler, *texts, *FILLER * filler)):
        role = "assistant" if number % 2 else "user"
        index.add(
            SegmentMessage(
                f"m{number}", role, text, count(text), link=f"[[#^m{number}]]", lang="en"
            )
        )
    return index


def ask(text: str, room: Room | None = None, **more: object) -> Request:
    return Request((text,), 1, frozenset(), room or Room(400, 3), **more)  # type: ignore[arg-type]


def test_skipped_when_the_segment_fits_the_window() -> None:
    short = Situation(messages=20, tokens=2600, window_messages=20, window_tokens=2600)
    assert "fits" in why_not(AutoRagSettings(), short)


def test_skipped_for_a_subagent() -> None:
    assert "sub-agent" in why_not(AutoRagSettings(), Situation(60, 6000, 20, 2600, subagent=True))


def test_skipped_when_switched_off() -> None:
    assert why_not(AutoRagSettings(enabled=False), LONG) == "switched off"


def test_a_message_that_is_too_long_is_cut_with_a_mark_and_not_listed_as_whole() -> None:
    long = "The oven " + "and the bricks around it, one by one, " * 200
    block = recall(talk(long), ask("oven bricks", Room(100, 3)))
    assert block.cut == ("m20",)
    assert "m20" not in block.messages
    assert "…" in block.text
    assert block.tokens <= 100


def test_the_beginning_is_brought_when_it_is_asked_for() -> None:
    block = recall(talk(OVEN), ask("What did I say at the beginning?"))
    assert block.trigger.kind == "start"
    assert "m0" in block.messages


EARLY = (
    "Hi there!",
    "Hello, how are you today?",
    "Before we start: Marta is in charge of the move.",
    "Good, the lorry comes at nine.",
)


@pytest.mark.parametrize("most", [3, None])
@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("at the beginning of the conversation, who is in charge?", {2}),
        ("At the start, who had to sign the lease?", {2, 3}),  # nobody: what was said is shown
    ],
)
def test_asked_about_the_beginning_it_shows_what_answers_and_no_filler(
    query: str, shown: set[int], most: int | None
) -> None:
    index = SegmentIndex()
    for number, text in enumerate((*EARLY, *("Ok.", "Thanks!") * 10, "Ola is in charge now.")):
        index.add(SegmentMessage(f"m{number}", "user", text, count(text), lang="en"))
    block = recall(index, ask(query, Room(400, most)))
    assert set(block.messages) == {f"m{number}" for number in shown}


@settings(max_examples=60)
@given(st.lists(st.text(max_size=200), max_size=12), st.text(max_size=60), st.integers(0, 120))
def test_the_budget_is_never_exceeded(texts: list[str], query: str, room: int) -> None:
    index = SegmentIndex()
    for number, text in enumerate(texts):
        index.add(SegmentMessage(str(number), "user", text, count(text)))
    for most in (3, None):
        assert recall(index, ask(query, Room(room, most))).tokens <= room


def test_messages_of_several_days_stand_under_their_dates_within_the_room() -> None:
    index = SegmentIndex()
    for number in range(60):
        text = f"The oven is {number} degrees hot" if number % 20 == 7 else FILLER[number % 4]
        day = f"2026-02-{20 + number // 20}"
        link = f"[[#^m{number}]]"
        index.add(SegmentMessage(f"m{number}", "user", text, count(text), link=link, day=day))
    block = recall(index, ask("How hot is the oven?", Room(400, 3)))
    assert [line for line in block.text.split("\n") if "—" in line] == [
        "— 2026-02-20 —",
        "— 2026-02-21 —",
        "— 2026-02-22 —",
    ]
    for tokens in range(20, 90):
        assert recall(index, ask("How hot is the oven?", Room(tokens, None))).tokens <= tokens + 1
    alone = recall(index, ask("How hot is the oven?", Room(400, 1)))
    assert "—" not in alone.text


DEADLINE = "What is the deadline of Project Heron?"


def test_an_old_question_gives_its_place_to_its_answer() -> None:
    index = talk(DEADLINE, "They want all of it in April", "Yesterday was warm", DEADLINE, "ok")
    block = recall(index, ask("when is the deadline of project heron?"))
    assert "in April" in block.text
    assert DEADLINE not in block.text
    assert block.best < 0.7, "lasting memory is still asked"


def test_it_says_which_limit_leaves_out_what_was_found() -> None:
    texts = [f"Oven part {number}: the hinge of it is {number} cm" for number in range(30)]
    index = talk(*texts)
    assert recall(index, ask("oven hinge", Room(400, 3))).full == "top_k"
    assert recall(index, ask("oven hinge", Room(60, 30))).full == "tokens"
    assert recall(index, ask("oven hinge", Room(60, None))).full == "tokens"
    assert recall(index, ask("oven hinge", Room(2, None))).full == "tokens"
