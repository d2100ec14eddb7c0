"""Summaries that a model writes: every sentence said by what it was written from, or left out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.consolidate.model.scripted import Models, talk
from vaultmind import tokens
from vaultmind.consolidate.levels.writer import Piece, Source
from vaultmind.errors import MinionFailed
from vaultmind.types import Message

TALK = talk(
    "We moved the launch of the bakery to 14 March",
    "a: Then the flour has to be ordered by Friday.",
    "Yes, Marta orders the flour, I call the printer about the menu",
)


def summary(*said: tuple[str, list[int]]) -> str:
    return json.dumps({"sentences": [{"text": text, "from": numbers} for text, numbers in said]})


def level(*said: tuple[str, list[int]]) -> str:
    return json.dumps({"paragraphs": [{"text": text, "from": numbers} for text, numbers in said]})


def source(day: int, *texts: str) -> Source:
    pieces = tuple(
        Piece(one.block, one.text, "Anna" if one.role == "user" else "", one.role)
        for one in talk(*texts)
    )
    return Source(f"2026-03-0{day}_001", f"2026-03-0{day}T10:00:00+01:00", pieces)


def test_a_conversation_is_summed_up_with_the_messages_it_comes_from(tmp_path: Path) -> None:
    models = Models(
        tmp_path,
        summary(
            ("The launch of the bakery is on 14 March.", [1]),
            ("Marta orders the flour by Friday.", [2, 3]),
        ),
    )
    told = models.writer.session(TALK, "en")
    assert told.text == (
        "The launch of the bakery is on 14 March. Marta orders the flour by Friday."
    )
    assert told.paragraphs[0].sources == ("c1", "c2", "c3")
    assert (told.by, told.again, told.notes) == ("queue", False, ())


def test_a_sentence_that_nobody_said_is_left_out_and_told(tmp_path: Path) -> None:
    models = Models(
        tmp_path,
        summary(
            ("The launch of the bakery is on 14 March.", [1]),
            ("The launch is on 21 March.", [1]),
            ("Marta orders the flour.", [3]),
        ),
    )
    told = models.writer.session(TALK, "en")
    assert "21" not in told.text and "Marta" in told.text
    assert told.notes == ("1 sentence of the model left out: nobody said the number 21.",)


@pytest.mark.parametrize(
    ("replies", "again"),
    [
        ((summary(("They flew to Paris in 2031.", [1])),), True),
        ((summary(),), True),
        (("nonsense", "nonsense"), True),
        ((MinionFailed("crash", "It crashed."),), True),
    ],
)
def test_where_too_little_is_left_the_built_in_writer_does_it(
    tmp_path: Path, replies: Sequence[str | MinionFailed], again: bool
) -> None:
    told = Models(tmp_path, *replies).writer.session(TALK, "en")
    assert (told.by, told.again) == ("extractive", again)
    assert "14 March" in told.text and "Paris" not in told.text
    assert told.notes


def test_without_a_model_for_summaries_nobody_is_asked(tmp_path: Path) -> None:
    models = Models(tmp_path, summary="extractive")
    told = models.writer.session(TALK, "en")
    assert (told.by, told.again, told.notes) == ("extractive", False, ())
    assert not models.model.asked


def test_what_is_read_in_windows_is_summed_up_again_with_all_its_sources(tmp_path: Path) -> None:
    said = [
        Message("user", f"Number {at}: we painted the northern wall of the harbour house today",
                "", id=f"c{at}", block=f"m{at}")
        for at in range(1, 121)
    ]  # fmt: skip
    painted = "We painted the northern wall of the harbour house."
    models = Models(tmp_path, *[summary((painted, [1, 30, 60, 90, 110]), ("We painted.", []))] * 40)
    models.model.context_tokens = 1024
    told = models.writer.session(said, "en")
    shown = "\n".join(prompt.turns[0].text for prompt in models.model.asked)
    assert all(f"[{at}] user: Number {at}:" in shown for at in range(1, 121))
    assert told.by == "queue"
    assert len(told.paragraphs[0].text.split(". ")) <= 5
    assert set(told.paragraphs[0].sources) <= {one.id for one in said}


# --- several sessions ---------------------------------------------------------------------

SESSIONS = (
    source(1, "We open a bakery in Leeds", "a: Lovely.", "Marta bakes, I do the books"),
    source(2, "The oven costs 4,200 pounds", "a: That is a lot.", "We decided to lease it"),
    source(3, "The launch is on 14 March", "a: Noted.", "The menu goes to the printer"),
)
NOTES = (
    summary(("A bakery opens in Leeds.", [1]), ("Marta bakes.", [3])),
    summary(("The oven costs 4,200 pounds.", [1]), ("They decided to lease the oven.", [3])),
    summary(("The launch is on 14 March.", [1])),
)
PARAGRAPHS: tuple[tuple[str, list[int]], ...] = (
    ("A bakery opens in Leeds. Marta bakes.", [1, 2]),
    ("The oven costs 4,200 pounds. They decided to lease it.", [3, 4]),
    ("The launch is on 14 March.", [5]),
)


def written(tmp_path: Path, *replies: str, max_tokens: int = 400, **config: Any) -> Any:
    models = Models(tmp_path, *replies, **config)
    return models, models.writer.level("L1", SESSIONS, "en", max_tokens)


def test_several_sessions_become_paragraphs_that_name_their_messages(tmp_path: Path) -> None:
    models, told = written(tmp_path, *NOTES, level(*PARAGRAPHS))
    assert [one.text for one in told.paragraphs] == [text for text, _ in PARAGRAPHS]
    assert told.paragraphs[0].sources == ("2026-03-01_001#m1", "2026-03-01_001#m3")
    assert told.paragraphs[2].sources == ("2026-03-03_001#m1",)
    assert (told.by, told.notes) == ("queue", ())
    assert "(2026-03-02) The oven costs 4,200 pounds." in models.asked(3)


def test_numbers_names_and_decisions_of_a_paragraph_stand_in_what_it_names(tmp_path: Path) -> None:
    _, told = written(
        tmp_path,
        *NOTES,
        level(
            ("A bakery opens in Leeds. It opens in Berlin.", [1]),
            ("The oven costs 9,900 pounds. The oven costs 4,200 pounds.", [3]),
            ("The launch is on 14 March. They decided to move the launch.", [5]),
        ),
    )
    assert told.by == "queue"
    assert not any(word in told.text for word in ("Berlin", "9,900", "move"))
    assert "3 sentences of the model left out" in told.notes[0]


def test_where_too_few_paragraphs_are_left_the_built_in_writer_does_it(tmp_path: Path) -> None:
    _, told = written(tmp_path, *NOTES, level(("They flew to Paris in 2031.", [1])))
    assert (told.by, told.again) == ("extractive", True)
    assert "Paris" not in told.text and told.paragraphs


def test_a_summary_is_never_longer_than_it_may_be(tmp_path: Path) -> None:
    _, told = written(tmp_path, *NOTES, level(*PARAGRAPHS), max_tokens=24)
    assert told.by == "queue"
    assert 0 < tokens.count(told.text) <= 24


def test_summaries_of_summaries_name_the_paragraphs_they_come_from(tmp_path: Path) -> None:
    sources = [
        Source(f"L1_00{at}", f"2026-0{at}-01", (Piece("^a", f"{text} 14 March."), Piece("", text)))
        for at, text in enumerate(("The bakery opened in Leeds on", "Marta left the bakery on"), 1)
    ]
    models = Models(
        tmp_path,
        level(
            ("The bakery opened in Leeds on 14 March.", [1]),
            ("Marta left the bakery on 14 March.", [3, 4]),
        ),
    )
    told = models.writer.level("L2", sources, "en", 300)
    assert len(models.model.asked) == 1, "paragraphs are notes already"
    assert [one.sources for one in told.paragraphs] == [("L1_001#^a",), ("L1_002#^a", "L1_002")]


def test_what_was_not_to_be_kept_is_not_shown_to_the_writer_either(tmp_path: Path) -> None:
    secret = source(
        4, "My password is hunter22", "Don't remember this: I work at Nordwind", "I swim"
    )
    models = Models(tmp_path, *[summary(("I swim.", [1]))] * 2, level(("I swim.", [1])))
    models.writer.level("L1", [secret], "en", 300)
    shown = "\n".join(prompt.turns[0].text for prompt in models.model.asked)
    assert "I swim" in shown and "hunter22" not in shown and "Nordwind" not in shown


def test_russian_sessions_are_summed_up_in_russian(tmp_path: Path) -> None:
    said = source(1, "Мы открываем пекарню в Туле 14 марта", "a: Прекрасно.", "Марта печёт хлеб")
    models = Models(
        tmp_path,
        summary(("Пекарня в Туле открывается 14 марта.", [1])),
        level(("Пекарня в Туле открывается 14 марта.", [1])),
    )
    told = models.writer.level("L1", [said], "en", 300)
    assert models.asked().startswith("Ниже — то, что было сказано")
    assert (told.by, told.text) == ("queue", "Пекарня в Туле открывается 14 марта.")
