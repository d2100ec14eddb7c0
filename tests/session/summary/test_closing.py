"""What is written when a conversation ends: never empty, never invented, never too long."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.session.summary.talks import DECISIONS, folded, message, talk
from vaultmind.session.records.reading import plain_text
from vaultmind.session.summary import Rolling, TopicMark, active_context
from vaultmind.session.summary.sentences import unmarked
from vaultmind.tokens import count
from vaultmind.types import Message
from vaultmind.vault.bullets import bullets
from vaultmind.vault.oneline import one_line
from vaultmind.vault.parts import parts

TALK = [
    message(1, "The garden shed leaks again and we should rebuild it before winter."),
    message(2, "We decided to rebuild the shed from larch, for 4,200 euros at most."),
    message(3, "It is still open who digs the drain behind the shed."),
    message(4, "I will order the larch boards on Friday."),
    message(5, "Which colour should the door have?"),
    message(6, "I'm not sure, I'll ask Marta."),
]


def test_it_says_what_it_was_about_what_was_decided_what_is_open_and_what_is_next() -> None:
    text = plain_text(active_context(TALK, Rolling()))
    for heading in ("What it was about", "Decisions", "Open questions", "Next steps"):
        assert f"## {heading}\n" in text
    for said in (TALK[1], TALK[2], TALK[3], TALK[4]):
        assert f"- {said.text}" in text
    assert text.splitlines()[1] == "- shed, larch, rebuild"


@pytest.mark.parametrize("language", ["en", "pl", "ru"])
@pytest.mark.parametrize("length", [12, 100, 600])
def test_a_long_conversation_is_told_within_its_budget(language: str, length: int) -> None:
    messages = talk(length, language)
    rolling = folded(messages[:-20], language)
    text = plain_text(active_context(messages, rolling))
    assert 0 < count(text) <= 300
    assert DECISIONS[language][0] in text


def test_the_window_alone_is_enough_beside_the_summary() -> None:
    messages = talk(60)
    rolling = folded(messages[:-20])
    assert active_context(messages[-20:], rolling) == active_context(messages, rolling)


def test_topics_of_the_conversation_come_first() -> None:
    rolling = Rolling(topics=(TopicMark("roof, tiles"), TopicMark("garden, shed")))
    assert "- roof, tiles · garden, shed\n" in active_context(TALK, rolling)


@pytest.mark.parametrize("said", ["hi", "Ok.", "Thanks!", "?", "🙂"])
def test_a_tiny_conversation_is_told_honestly(said: str) -> None:
    text = active_context([message(1, said)], Rolling())
    assert text.startswith("A short conversation (messages: 1)")
    assert text.endswith(f"- {said}")


def test_nothing_said_is_nothing_told() -> None:
    quiet = [
        Message("user", "We decided to go.", "", asked="remember"),
        Message("assistant", "", ""),
        Message("tool", "We decided to stay.", ""),
        Message("user", "We decided to leave.", "", erased=True),
    ]
    assert active_context([], Rolling()) == ""
    assert active_context(quiet, Rolling()) == ""


@settings(max_examples=80, deadline=None)
@given(st.lists(st.text(max_size=160), min_size=1, max_size=10), st.integers(20, 300))
def test_it_is_within_budget_and_made_of_what_was_said(said: list[str], budget: int) -> None:
    messages = [message(n, text) for n, text in enumerate(said, 1)]
    text = active_context(messages, Rolling(), budget)
    assert count(plain_text(text)) <= budget
    words = " ".join(one_line(one.text) for one in messages)
    for bullet in bullets(text):
        if bullet.block:
            assert unmarked(bullet.text) in words


def test_what_is_said_to_be_open_is_told_with_what_was_asked() -> None:
    said = [
        *TALK[:2],
        message(7, "Who will sign the contract with Helvetia? That is still open."),
        message(8, "Understood, I keep that in mind."),
    ]
    text = plain_text(active_context(said, Rolling()))
    assert "- Who will sign the contract with Helvetia? That is still open.\n" in f"{text}\n"


def test_an_open_question_stays_until_it_is_answered() -> None:
    asked = message(7, "The open question is who signs the contract with Helvetia.")
    other = message(8, "The contract with Helvetia is about 14 lorries.")
    answer = message(9, "Marta signs the contract with Helvetia.")
    assert asked.text in plain_text(active_context([*TALK, asked, other], Rolling()))
    assert asked.text not in plain_text(active_context([*TALK, asked, other, answer], Rolling()))


def test_room_that_is_left_is_filled_with_what_is_open() -> None:
    rooms = ("attic", "cellar", "kitchen", "garage", "hall", "study")
    said = [message(n, f"It is still open who paints the {one}.") for n, one in enumerate(rooms, 1)]
    text = plain_text(active_context(said, Rolling()))
    assert all(one.text in text for one in said)


def test_every_sentence_has_an_id_by_which_it_is_hidden() -> None:
    blocks = {part.block for part in parts(active_context(TALK, Rolling()))}
    assert {"m2-1", "m3-1", "m4-1", "m5-1"} <= blocks


@pytest.mark.parametrize(
    "musing",
    [
        "I was thinking maybe I should buy a Tesla some day, not sure.",
        "Może kiedyś trzeba by kupić Teslę, muszę się zastanowić.",
        "Может быть, когда-нибудь надо купить Теслу.",
    ],
)
def test_a_musing_is_no_step(musing: str) -> None:
    text = plain_text(active_context([*TALK, message(7, musing)], Rolling()))
    assert musing not in text.partition("## Next steps")[2]
