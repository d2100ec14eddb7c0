"""What is written when a conversation ends: never empty, never invented, never too long."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.session.summary.talks import message
from vaultmind.session.files import plain_text
from vaultmind.session.summary import Rolling, active_context
from vaultmind.session.summary.sentences import unmarked
from vaultmind.tokens import count
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


def test_every_sentence_has_an_id_by_which_it_is_hidden() -> None:
    blocks = {part.block for part in parts(active_context(TALK, Rolling()))}
    assert {"m2-1", "m3-1", "m4-1", "m5-1"} <= blocks
