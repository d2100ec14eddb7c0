"""When the old part of a conversation is folded, and what stays whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.session.summary.talks import message, talk
from vaultmind.session.summary import Window, due, unfolded
from vaultmind.tokens import count


def ids(messages: object) -> list[str]:
    return [one.id for one in messages]  # type: ignore[attr-defined]


def test_nothing_is_due_until_six_messages_have_left_the_window() -> None:
    window = Window(messages=20)
    assert due(talk(25), "", window) == ()
    assert ids(due(talk(26), "", window)) == [f"t:{n}" for n in range(1, 7)]


def test_folding_goes_on_after_the_last_folded_message() -> None:
    assert due(talk(31), "t:6", Window()) == ()
    assert ids(due(talk(32), "t:6", Window())) == [f"t:{n}" for n in range(7, 13)]


def test_what_was_not_folded_in_time_is_folded_in_sixes() -> None:
    assert len(due(talk(51), "", Window())) == 30


def test_a_window_beyond_seventy_percent_of_its_budget_keeps_its_last_four_messages() -> None:
    long = [message(n, "A sentence about the orchard by the river. " * 5) for n in range(1, 9)]
    budget = sum(count(one.text) for one in long)
    assert ids(due(long, "", Window(max_tokens=budget))) == ["t:1", "t:2", "t:3", "t:4"]
    assert due(long, "", Window(max_tokens=2 * budget)) == ()
    assert due(long, "t:4", Window(max_tokens=10)) == ()


def test_a_message_without_an_id_is_known_by_its_block() -> None:
    assert ids(unfolded(talk(9), "m6")) == ["t:7", "t:8", "t:9"]
    assert len(unfolded(talk(9), "gone")) == 9


@given(st.integers(0, 90), st.integers(0, 40), st.integers(0, 3000))
def test_every_message_is_folded_once_and_in_order(length: int, size: int, budget: int) -> None:
    window, upto, folded = Window(messages=size, max_tokens=budget), "", []
    messages = talk(length)
    for present in range(1, length + 1):
        batch = due(messages[:present], upto, window)
        folded += batch
        upto = batch[-1].id if batch else upto
    assert folded == messages[: len(folded)]
    assert len(messages) - len(folded) <= max(size + window.every, window.keep)
