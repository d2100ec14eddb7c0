"""session/voice/nearby: facts by their words, else by their meaning, and how sure that is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vaultmind.session.voice.nearby import offered, recalled
from vaultmind.types import Hit, Outcome

HIT = Hit("i", "brain.md", "#^a1b2", "fact", "main", "t", "as it was indexed", 0.6)


def test_what_no_words_name_is_offered_by_meaning_and_never_chosen() -> None:
    unknown = Outcome("not_found", "main", nearest=("Likes tea",))
    hits = [replace(HIT, text=text) for text in ("Likes tea", "Eats no nuts", "Is ill", "Is tall")]
    assert offered(unknown, hits).nearest == ("Likes tea", "Eats no nuts", "Is ill")
    assert offered(unknown, hits).outcome == "not_found"


BRAIN = """# Main - Brain

Marek fixes our roof every spring.

## User

- Basia mieszka teraz w Hamburgu %%2026-03-02 said%% ^hh12
- Basia lives in Berlin %%2026-02-20 said%% ^ba11

## Kids

| Name | Born |
|---|---|
| Zosia | 2019 |
| Tomek | 2021 |

## Cars

- The blue van
"""
ARCHIVE = "## Current\n\n- Celina ran the bakery %%2025-05-01 said%% ^cc11\n"
NOTE = replace(HIT, path="Garden.md", kind="note", anchor="", text="The well is nine metres deep")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("Marek", ("Marek fixes our roof every spring.",)),
        ("my kids", ("Name: Zosia, Born: 2019", "Name: Tomek, Born: 2021")),
        ("Zosia", ("Name: Zosia, Born: 2019",)),
        ("my cars", ("The blue van",)),
        ("Celina", ("Celina ran the bakery (said 2025-05-01)",)),
        ("Basia", ("Basia mieszka teraz w Hamburgu (said 2026-03-02)",)),
        ("the well", ("Garden.md: The well is nine metres deep",)),
    ],
)
def test_the_whole_memory_and_the_notes_are_looked_at_before_nothing_is_known(
    words: str, told: tuple[str, ...]
) -> None:
    known = recalled(BRAIN, ARCHIVE, words, lambda kind: [NOTE] if kind == "note" else [])
    assert (known.lines, known.names) == (told, ("known",))
    nothing = recalled("", "", words, lambda kind: [])
    assert (nothing.lines, nothing.names) == ((), ("nothing_known",))


def test_a_note_that_is_hardly_about_it_is_no_answer() -> None:
    known = recalled(BRAIN, ARCHIVE, "the choir", lambda kind: [replace(NOTE, score=0.3)])
    assert known.names == ("nothing_known",)
