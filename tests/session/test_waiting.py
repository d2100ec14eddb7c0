"""What waits for an answer stands once, however far the answer has come."""

from __future__ import annotations

import pytest

from vaultmind.session.context.waiting import waiting
from vaultmind.types import Message, Role

ASKED = "Where is grandfather's kayak moored?"
MORE = "And one more thing: the salt?"


def talk(*said: tuple[Role, str]) -> tuple[Message, ...]:
    return tuple(
        Message(role, text, "", id=f"k{number}") for number, (role, text) in enumerate(said, 1)
    )


OPENING: tuple[tuple[Role, str], ...] = (("user", "Hello there."), ("assistant", "Hi."))
LOOKING: tuple[tuple[Role, str], ...] = (
    ("assistant", "Let me look."),
    *(("tool", f"hit {number}") for number in range(30)),
)


@pytest.mark.parametrize("interim", [(), LOOKING[:1], LOOKING])
def test_what_is_being_answered_already_is_known_as_what_waits(
    interim: tuple[tuple[Role, str], ...],
) -> None:
    messages = talk(*OPENING, ("user", ASKED), *interim)
    found = waiting(messages, (ASKED,))
    assert found.keys == ("k3",)
    assert tuple(found.before) == messages[:2] + messages[3:]


def test_two_that_came_in_the_middle_of_an_answer_are_both_known() -> None:
    messages = talk(*OPENING, ("user", f"  {ASKED} "), *LOOKING[:2], ("user", MORE), LOOKING[2])
    found = waiting(messages, (ASKED, MORE))
    assert found.keys == ("k3", "k6")
    assert [one.id for one in found.before] == ["k1", "k2", "k4", "k5", "k7"]


def test_an_earlier_turn_is_not_looked_at() -> None:
    messages = talk(("user", ASKED), ("assistant", "At pier 17."), ("user", MORE), *LOOKING)
    found = waiting(messages, (ASKED,))
    assert (found.keys, found.before) == ((), messages)
    assert waiting(messages, (MORE,)).keys == ("k3",)


def test_a_word_that_is_said_again_and_again_is_new_once_it_was_answered() -> None:
    messages = talk(*OPENING, ("user", "yes"), ("assistant", "Done. The next one?"))
    assert waiting(messages, ("yes",)).keys == ()
    assert waiting(messages[:3], ("yes",)).keys == ("k3",)


def test_where_none_is_named_only_what_nothing_follows_waits() -> None:
    messages = talk(*OPENING, ("user", ASKED), *LOOKING)
    assert waiting(messages, ()).texts == ()
    assert waiting(messages[:3], ()).texts == (ASKED,)
