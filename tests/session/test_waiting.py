"""What waits for an answer stands once, however far the answer has come."""

from __future__ import annotations

from vaultmind.session.window import waiting
from vaultmind.types import Message, Role

ASKED = "Where is grandfather's kayak moored?"


def talk(*said: tuple[Role, str]) -> tuple[Message, ...]:
    return tuple(
        Message(role, text, "", id=f"k{number}") for number, (role, text) in enumerate(said, 1)
    )


OPENING: tuple[tuple[Role, str], ...] = (("user", "Hello there."), ("assistant", "Hi."))
LOOKING: tuple[tuple[Role, str], ...] = (
    ("assistant", "Let me look."),
    *(("tool", f"hit {number}") for number in range(30)),
)


def test_a_word_that_is_said_again_and_again_is_new_once_it_was_answered() -> None:
    messages = talk(*OPENING, ("user", "yes"), ("assistant", "Done. The next one?"))
    assert waiting(messages, ("yes",)).keys == ()
    assert waiting(messages[:3], ("yes",)).keys == ("k3",)


def test_where_none_is_named_only_what_nothing_follows_waits() -> None:
    messages = talk(*OPENING, ("user", ASKED), *LOOKING)
    assert waiting(messages, ()).texts == ()
    assert waiting(messages[:3], ()).texts == (ASKED,)
