"""The sliding summary: nothing invented, nothing lost that matters."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.session.talks import message
from vaultmind.session.active import active_context
from vaultmind.session.files import plain_text
from vaultmind.session.sentences import KINDS, unmarked
from vaultmind.session.summary import (
    Line,
    Rolling,
    fold,
    ordered,
    parse_rolling,
    rendered,
    tokens_of,
)
from vaultmind.tokens import count
from vaultmind.vault.oneline import one_line
from vaultmind.vault.parts import bullets


def texts(rolling: Rolling, kind: str = "") -> list[str]:
    return [line.text for line in rolling.lines if kind in ("", line.kind)]


@pytest.mark.parametrize(
    "paste",
    ["a,b," * 60_000, "Word. " * 40_000, "- item 7\n" * 40_000, "x" * 200_000, "`" * 90_000],
)
def test_a_huge_paste_is_cut_not_read_forever(paste: str) -> None:
    rolling = fold(Rolling(), [message(1, paste), message(2, "We decided to sell 3 goats.")])
    assert texts(rolling, "decision") == ["We decided to sell 3 goats."]
    assert tokens_of(rolling) <= 500


WORDS = st.text(max_size=80).map(one_line).filter(bool)


@st.composite
def rollings(draw: st.DrawFn) -> Rolling:
    said = draw(st.lists(st.tuples(WORDS, st.sampled_from(KINDS)), max_size=8))
    lines = tuple(
        Line(text, kind, f"m{at}-1", f"m{at}", at, round(at / 7, 3), draw(st.text(max_size=5)))
        for at, (text, kind) in enumerate(said, 1)
    )
    return Rolling(
        "2026-03-01_001", "main", "pl", "2026-03-01T10:00:00+01:00", "t:9", 9, ordered(lines)
    )


@settings(max_examples=120, deadline=None)
@given(rollings())
def test_what_was_written_is_read_back(rolling: Rolling) -> None:
    read = parse_rolling(rendered(rolling))
    assert read.lines == rolling.lines
    assert (read.session, read.agent, read.language) == ("2026-03-01_001", "main", "pl")
    assert (read.updated, read.upto, read.messages) == (rolling.updated, "t:9", 9)


TALK = [
    message(1, "The garden shed leaks again and we should rebuild it before winter."),
    message(2, "We decided to rebuild the shed from larch, for 4,200 euros at most."),
    message(3, "It is still open who digs the drain behind the shed."),
    message(4, "I will order the larch boards on Friday."),
    message(5, "Which colour should the door have?"),
    message(6, "I'm not sure, I'll ask Marta."),
]


def test_a_session_leaves_what_was_decided_what_is_open_and_what_it_was_about() -> None:
    text = plain_text(active_context(TALK))
    for heading in ("Decisions", "Open questions"):
        assert f"## {heading}\n" in text
    for said in TALK[:5]:
        assert f"- {said.text}" in text


@settings(max_examples=80, deadline=None)
@given(st.lists(st.text(max_size=160), min_size=1, max_size=10), st.integers(20, 300))
def test_it_is_within_budget_and_made_of_what_was_said(said: list[str], budget: int) -> None:
    messages = [message(n, text) for n, text in enumerate(said, 1)]
    text = active_context(messages, max_tokens=budget)
    assert count(plain_text(text)) <= budget
    words = " ".join(one_line(one.text) for one in messages)
    for bullet in bullets(text):
        if bullet.block:
            assert unmarked(bullet.text) in words
