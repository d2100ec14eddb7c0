"""The file: what we wrote comes back, what a person wrote stays, what is forgotten goes."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.session.summary.talks import DECISIONS, message, talk
from vaultmind.session.summary import (
    KINDS,
    Line,
    Rolling,
    TopicMark,
    fold,
    parse_rolling,
    render_rolling,
    rewritten,
    shown,
)
from vaultmind.session.summary.rolling import ordered
from vaultmind.vault.oneline import one_line

WORDS = st.text(max_size=80).map(one_line).filter(bool)


@st.composite
def rollings(draw: st.DrawFn) -> Rolling:
    said = draw(st.lists(st.tuples(WORDS, st.sampled_from(KINDS)), max_size=8))
    lines = tuple(
        Line(text, kind, f"m{at}-1", f"m{at}", at, round(at / 7, 3), draw(st.text(max_size=5)))
        for at, (text, kind) in enumerate(said, 1)
    )
    labels = draw(st.lists(WORDS, max_size=3))
    topics = tuple(TopicMark(label, f"m{at}", at) for at, label in enumerate(labels, 1))
    return Rolling(
        "2026-03-01_001",
        "main",
        "pl",
        "2026-03-01T10:00:00+01:00",
        "t:9",
        9,
        ordered(lines),
        topics,
    )


@settings(max_examples=120, deadline=None)
@given(rollings())
def test_what_was_written_is_read_back(rolling: Rolling) -> None:
    read = parse_rolling(render_rolling(rolling))
    lines = tuple(replace(one, speaker=one.speaker.strip()) for one in rolling.lines)
    assert (read.lines, read.topics, read.notes) == (lines, rolling.topics, ())
    assert (read.session, read.agent, read.language) == ("2026-03-01_001", "main", "pl")
    assert (read.updated, read.upto, read.messages) == (rolling.updated, "t:9", 9)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=400))
def test_whatever_stands_in_the_file_is_read_and_kept(text: str) -> None:
    rolling = parse_rolling(text)
    assert isinstance(shown(rolling), str)


def test_a_line_that_a_person_changed_stays_as_they_left_it() -> None:
    text = render_rolling(fold(Rolling(), [message(1, "The budget is 5,000 euros.")]))
    text = text.replace("5,000 euros", "7,000 euros")
    (line,) = parse_rolling(text).lines
    assert (line.text, line.own, line.source) == ("The budget is 7,000 euros.", True, "m1")
    for start in range(0, 120, 6):
        text = rewritten(text, fold(parse_rolling(text), talk(120)[start : start + 6], 80))
    assert "- The budget is 7,000 euros. %%" in text


def test_broken_front_matter_is_left_alone_and_the_lines_are_written() -> None:
    text = "---\nsession: [\nagent: x\n---\n\nmine\n"
    new = rewritten(text, fold(Rolling(), talk(6)))
    assert new.startswith(text)
    assert DECISIONS["en"][0] in new
