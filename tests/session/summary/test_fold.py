"""The sliding summary: nothing invented, nothing that matters lost, no larger for a longer talk."""

from __future__ import annotations

import pytest

from tests.session.summary.talks import DECISIONS, folded, message, talk
from vaultmind.session.summary import Rolling, TopicMark, fold, shown, tokens_of, visible

LANGUAGES = ("en", "pl", "ru")


def texts(rolling: Rolling, kind: str = "") -> list[str]:
    return [line.text for line in rolling.lines if kind in ("", line.kind)]


def test_hidden_messages_are_not_shown() -> None:
    rolling = folded(talk(12))
    assert DECISIONS["en"][0] not in shown(visible(rolling, {"m2"}.__contains__))
    assert DECISIONS["en"][1] in shown(visible(rolling, {"m2"}.__contains__))


def test_less_room_shows_the_most_important_lines() -> None:
    rolling = folded(talk(200))
    small = shown(rolling, 90)
    assert all(one in small for one in DECISIONS["en"])
    assert shown(rolling, 1) == ""


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
