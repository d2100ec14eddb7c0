"""The sliding summary: nothing invented, nothing that matters lost, no larger for a longer talk."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.session.summary.talks import DECISIONS, folded, message, talk
from vaultmind.session.summary import Line, Rolling, TopicMark, fold, shown, tokens_of, visible
from vaultmind.session.summary.sentences import sentences, unmarked
from vaultmind.types import Message
from vaultmind.vault.oneline import one_line

LANGUAGES = ("en", "pl", "ru")


def texts(rolling: Rolling, kind: str = "") -> list[str]:
    return [line.text for line in rolling.lines if kind in ("", line.kind)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_thousand_messages_are_no_larger_than_a_hundred_and_hold_the_first_decisions(
    language: str,
) -> None:
    short, long = folded(talk(100, language), language), folded(talk(1000, language), language)
    assert tokens_of(long) <= tokens_of(short) <= 500
    assert set(DECISIONS[language]) <= set(texts(short, "decision"))
    assert set(DECISIONS[language]) <= set(texts(long, "decision"))
    assert long.messages == 1000
    assert long.upto == "t:1000"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(max_size=200), min_size=1, max_size=12),
    st.sampled_from((40, 120, 500)),
    st.integers(1, 6),
)
def test_every_line_stands_in_the_message_it_names(
    said: list[str], max_tokens: int, every: int
) -> None:
    messages = [message(n, text) for n, text in enumerate(said, 1)]
    rolling = Rolling()
    for start in range(0, len(messages), every):
        rolling = fold(rolling, messages[start : start + every], max_tokens)
    by_block = {one.block: one_line(one.text) for one in messages}
    for line in rolling.lines:
        assert unmarked(line.text) in by_block[line.source]
    assert tokens_of(rolling) <= max_tokens


def test_a_long_sentence_is_cut_with_marks_around_what_it_says() -> None:
    long = "Since nobody on either side of the valley had ever thought about it before, " * 3
    rolling = fold(Rolling(), [message(1, f"{long}we decided that the bridge costs 7,400 euros.")])
    (line,) = rolling.lines
    assert line.text.startswith("… ")
    assert "7,400" in line.text
    assert unmarked(line.text) in long + "we decided that the bridge costs 7,400 euros."


def test_tools_requests_and_erased_messages_leave_nothing() -> None:
    decided = "We decided to sell the boat for 900 euros."
    hidden = [
        message(1, decided, "tool"),
        message(2, decided, "system"),
        Message("user", decided, "", block="m3", asked="remember"),
        Message("user", decided, "", block="m4", erased=True),
    ]
    rolling = fold(Rolling(), hidden)
    assert rolling.lines == ()
    assert rolling.messages == 4


def test_code_and_tables_are_not_summarised() -> None:
    code = "```python\nlimit = 42  # decided\n```\n"
    text = f"We decided on tabs.\n{code}| a | 17 |\n\n- and on 4 spaces"
    assert sentences(text) == ["We decided on tabs.", "and on 4 spaces"]


def test_abbreviations_and_small_letters_do_not_end_a_sentence() -> None:
    said = "Dr. Nowak comes at 8 a.m. on Monday. He brings np. Miód i sól. J. Kowalski too."
    assert sentences(said) == [
        "Dr. Nowak comes at 8 a.m. on Monday.",
        "He brings np. Miód i sól.",
        "J. Kowalski too.",
    ]


def test_small_talk_never_enters() -> None:
    said = [
        "Hello! How are you?",
        "Thanks, that sounds great!",
        "Ok.",
        "Dzięki, świetnie!",
        "Ага, понял.",
    ]
    assert fold(Rolling(), [message(n, text) for n, text in enumerate(said, 1)]).lines == ()


def test_a_question_that_was_answered_is_not_open() -> None:
    asked = message(1, "What does the new boiler cost with the chimney?")
    answered = fold(Rolling(), [asked, message(2, "It costs 8,000 with everything.")])
    assert texts(answered, "question") == []
    put_off = fold(Rolling(), [asked, message(2, "I don't know, let me check.")])
    assert texts(put_off, "question") == [asked.text]


def test_a_question_asked_last_is_answered_by_the_next_fold() -> None:
    asked = fold(Rolling(), [message(1, "Which colour of roof tiles do we want?")])
    assert texts(asked, "question") == ["Which colour of roof tiles do we want?"]
    assert texts(fold(asked, [message(2, "The dark red ones from Lindner.")]), "question") == []


@pytest.mark.parametrize(
    ("open_", "closed"),
    [
        ("It is still open who repairs the north fence.", "We decided that Ola repairs the fence."),
        ("Jeszcze nie ustaliliśmy, kto naprawi płot.", "Ustaliliśmy, że płot naprawi Ola."),
        ("Мы ещё не решили, кто починит забор.", "Решили, что забор починит Оля."),
    ],
)
def test_what_is_not_decided_is_a_question_until_it_is(open_: str, closed: str) -> None:
    language = {"I": "en", "J": "pl", "М": "ru"}[open_[0]]
    first = fold(Rolling(), [message(1, open_)], language=language)
    assert texts(first, "question") == [open_]
    later = [message(n, "The weather by the river is mild.") for n in range(2, 7)]
    after = fold(fold(first, later), [message(8, closed)], language=language)
    assert texts(after, "question") == []
    assert texts(after, "decision") == [closed]


def test_what_is_said_twice_stands_once() -> None:
    said = "We decided to plant 12 birches."
    rolling = fold(fold(Rolling(), [message(1, said)]), [message(2, said)])
    assert texts(rolling) == [said]


def test_a_number_that_changed_is_kept_beside_the_old_one() -> None:
    rolling = fold(Rolling(), [message(1, "We decided to plant 12 birches.")])
    rolling = fold(rolling, [message(2, "We decided to plant 15 birches.")])
    assert len(texts(rolling, "decision")) == 2


def test_a_persons_line_is_never_cut_or_dropped() -> None:
    own = Line("my own words " * 60, "other", own=True)
    rolling = Rolling(lines=(own,))
    for start in range(1, 60, 6):
        batch = [
            message(n, f"We decided that item {n} costs {n * 7} euros.")
            for n in range(start, start + 6)
        ]
        rolling = fold(rolling, batch, 120)
    assert own in rolling.lines


def test_block_ids_are_of_the_message_and_never_change() -> None:
    first = fold(Rolling(), [message(7, "Hm. We decided to rent 2 vans.")])
    assert [line.block for line in first.lines] == ["m7-2"]
    later = fold(first, talk(60)[9:])
    assert "m7-2" in {line.block for line in later.lines}
    assert len({line.block for line in later.lines}) == len(later.lines)


def test_hidden_messages_are_not_shown() -> None:
    rolling = folded(talk(12))
    assert DECISIONS["en"][0] not in shown(visible(rolling, {"m2"}.__contains__))
    assert DECISIONS["en"][1] in shown(visible(rolling, {"m2"}.__contains__))


def test_less_room_shows_the_most_important_lines() -> None:
    rolling = folded(talk(200))
    small = shown(rolling, 90)
    assert all(one in small for one in DECISIONS["en"])
    assert shown(rolling, 1) == ""


def test_who_said_it_can_be_shown() -> None:
    said = [
        message(1, "I moved to Gdynia in 2019.", speaker="Ola"),
        message(2, "I moved to Sopot in 2021.", speaker="Jan"),
    ]
    assert "- Jan: I moved to Sopot in 2021." in shown(fold(Rolling(), said), speakers=True)


def test_the_topic_history_keeps_the_newest_within_its_share() -> None:
    topics = [TopicMark(f"roof, tiles, nail{n}", f"m{n}", n) for n in range(40)]
    rolling = fold(Rolling(), talk(30), topics=topics)
    assert rolling.topics[-1].label == "roof, tiles, nail39"
    assert len(rolling.topics) <= 8
    assert tokens_of(rolling) <= 500


def test_a_language_without_cues_is_summarised_by_its_words() -> None:
    said = [
        "El molino viejo del río tiene una rueda de piedra.",
        "Mañana viene Lucía con 14 sacos de harina.",
    ]
    rolling = fold(Rolling(), [message(n, text) for n, text in enumerate(said, 1)], language="es")
    assert texts(rolling, "fact") == [said[1]]
    assert texts(rolling, "other") == [said[0]]


@pytest.mark.parametrize(
    "paste",
    ["a,b," * 60_000, "Word. " * 40_000, "- item 7\n" * 40_000, "x" * 200_000, "`" * 90_000],
)
def test_a_huge_paste_is_cut_not_read_forever(paste: str) -> None:
    rolling = fold(Rolling(), [message(1, paste), message(2, "We decided to sell 3 goats.")])
    assert texts(rolling, "decision") == ["We decided to sell 3 goats."]
    assert tokens_of(rolling) <= 500
