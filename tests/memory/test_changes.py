"""memory/changes: a new fact takes the place of what it contradicts; an archived one comes back."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from vaultmind.memory.brain import add_fact, new_brain, parse_brain, render_fact
from vaultmind.memory.changes import Ask, Step, correct, drop, remember
from vaultmind.types import PERSON, Caller, Fact, MemoryWrite, MessageRef, Section
from vaultmind.vault.paths import VaultPaths

PATHS = VaultPaths(Path("/vault"))
REF = MessageRef("main", "2026-02-20_001", "m7")
MAIN = Caller("agent", "main", "claude-desktop")


def fact(text: str, block: str, section: Section = "user") -> Fact:
    return Fact(text, section, block, REF, "2026-01-05", "said")


def brain_of(*facts: Fact, typed: str = "") -> str:
    text = new_brain("main", "en")
    for one in facts:
        text = add_fact(text, render_fact(one, PATHS), one.section or "user", "en")
    return text + typed


def ask(text: str, *, how: str = "said", old: str = "", section: Section | None = None) -> Ask:
    op = "replace" if old else "remember"
    write = MemoryWrite(op, "main", MAIN, text, old, section, REF, how)  # type: ignore[arg-type]
    return Ask(write, (old or text,), "2026-03-01", "en", PATHS, random.Random(3))


def texts(text: str | None) -> list[str]:
    assert text is not None
    return [one.text for one in parse_brain(text).all()]


HOME = fact("Lives in Kraków", "home")
TEA = fact("Likes tea", "teaa", "preferences")


def test_a_contradicting_fact_takes_the_old_ones_place_and_section() -> None:
    text = brain_of(HOME, fact("Has two children", "kids"), TEA)
    step = remember(text, ask("Moved to Gdańsk"))
    assert step.text is not None
    assert texts(step.text) == ["Moved to Gdańsk", "Has two children", "Likes tea"]
    placed = parse_brain(step.text).all()[0]
    assert (placed.section, placed.written) == ("user", "2026-03-01")
    assert placed.block != "home", "the old fact keeps its id in the archive"
    assert step.outcome.outcome == "written"
    assert step.outcome.before == "Lives in Kraków"
    assert step.gone == (HOME,)
    assert not step.doubt
    assert "in place of “Lives in Kraków”" in step.outcome.message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Lives in Kraków", "Moved to Gdańsk"),
        ("Mieszka w Krakowie", "Przeprowadziła się do Gdańska"),
        ("Живёт в Туле", "Переехала в Казань"),
        ("Prefers short answers", "Prefers long, detailed answers"),
        ("Pije kawę", "Nie pije już kawy"),
        ("Работает в Сбере", "Теперь работает в Яндексе"),
    ],
)
def test_never_both_side_by_side_and_never_both_lost(old: str, new: str) -> None:
    step = remember(brain_of(fact(old, "oldd")), ask(new))
    assert texts(step.text) == [new]
    assert step.outcome.before == old


def test_what_refines_or_has_nothing_to_do_with_it_stays() -> None:
    text = brain_of(HOME, TEA)
    step = remember(text, ask("Lives in Kraków, in the Podgórze district"))
    assert texts(step.text)[:2] == ["Lives in Kraków", "Lives in Kraków, in the Podgórze district"]
    step = remember(text, ask("Sister lives in Gdańsk"))
    assert "Lives in Kraków" in texts(step.text)
    assert not step.outcome.before


def test_a_numbered_row_of_facts_contradicts_none_of_its_own() -> None:
    text: str | None = brain_of()
    for number in range(12):
        text = remember(text, ask(f"Fact {number} of many things about the user")).text
    for number in range(12):
        text = remember(text, ask(f"Item number {number} is red")).text
    assert len(texts(text)) == 24


def test_two_contradicted_facts_both_give_way_and_both_stand_in_the_audit() -> None:
    text = brain_of(HOME, TEA, fact("Mieszka w Opolu", "opol"))
    step = remember(text, ask("Moved to Gdańsk"))
    assert texts(step.text) == ["Moved to Gdańsk", "Likes tea"]
    assert step.outcome.before == "Lives in Kraków; Mieszka w Opolu"
    assert step.gone == (HOME, fact("Mieszka w Opolu", "opol"))


def test_an_archived_fact_that_is_contradicted_does_not_stay_true() -> None:
    archive = brain_of(HOME)
    step = remember(brain_of(TEA), ask("Moved to Gdańsk"), archive)
    assert step.gone == (HOME,)
    assert step.outcome.before == "Lives in Kraków"
    assert sorted(texts(step.text)) == ["Likes tea", "Moved to Gdańsk"]
    assert texts(drop(archive, step.gone, ended=False)) == []


def test_an_old_fact_that_says_more_is_left_to_the_person() -> None:
    home = fact("Lives in Gdańsk with two cats", "cats")
    step = remember(brain_of(home), ask("Moved to Berlin"))
    assert "two cats" in step.doubt
    assert "^cats" in step.doubt
    assert "said more" in step.outcome.message
    step = remember(brain_of(home), ask("Lives in Berlin with two cats"))
    assert not step.doubt
    assert texts(step.text) == ["Lives in Berlin with two cats"]


def test_lines_below_an_old_fact_are_more_than_it_says() -> None:
    typed = "\n- Lives in Gdańsk\n  - near the old harbour\n"
    step = remember(brain_of(typed=typed), ask("Moved to Berlin"))
    assert "the lines below it" in step.doubt


def test_a_line_that_a_person_typed_gives_way_to_their_own_words_only() -> None:
    text = brain_of(typed="\n* [x] Lives in Kraków\n")
    step = remember(text, ask("Moved to Gdańsk"))
    assert step.text is not None
    assert not step.doubt
    assert "\n* [x] Moved to Gdańsk %%2026-03-01 said" in step.text
    step = remember(text, ask("Moved to Gdańsk", how="extracted"))
    assert "typed by the person" in step.doubt


def test_a_section_that_was_asked_for_is_where_the_new_fact_goes() -> None:
    step = remember(brain_of(HOME, TEA), ask("Moved to Gdańsk", section="current"))
    assert step.text is not None
    found = {one.text: one for one in parse_brain(step.text).all()}
    assert found["Moved to Gdańsk"].section == "current"
    assert "Lives in Kraków" not in found


def test_remembering_an_archived_fact_brings_it_back_with_source_and_id() -> None:
    archive = brain_of(HOME, typed="\nprose of mine\n")
    step = remember(brain_of(TEA), ask("lives in krakow."), archive)
    assert step.text is not None
    assert HOME in parse_brain(step.text).all()
    assert step.gone == (HOME,)
    assert "back from the archive" in step.outcome.message
    assert texts(drop(archive, step.gone, ended=False)) == []


def test_an_archived_fact_comes_back_by_its_id() -> None:
    step = remember(brain_of(TEA), ask("^home"), brain_of(HOME))
    assert HOME in parse_brain(step.text or "").all()
    assert remember(brain_of(HOME), ask("^home"), "").outcome.outcome == "unchanged"
    nothing = remember(brain_of(TEA), ask("^gone"), brain_of(HOME))
    assert nothing.outcome.outcome == "not_found"
    assert nothing.text is None


def test_a_line_that_a_person_typed_into_the_archive_stays_theirs() -> None:
    step = remember(brain_of(TEA), ask("Lives in Kraków"), "# Main\n\n- Lives in Kraków\n")
    assert sorted(texts(step.text)) == ["Likes tea", "Lives in Kraków"]
    assert step.gone == ()


def test_a_correction_takes_along_what_else_it_contradicts() -> None:
    text = brain_of(fact("Works from home", "work"), HOME, TEA)
    step = correct(text, "", ask("Lives in Gdańsk", old="^work"))
    assert texts(step.text) == ["Lives in Gdańsk", "Likes tea"]
    assert step.outcome.before == "Works from home; Lives in Kraków"
    assert step.outcome.block == "work"


def test_a_correction_never_takes_along_a_fact_that_says_more() -> None:
    text = brain_of(fact("Works from home", "work"), fact("Lives in Kraków with a dog", "dogg"))
    step = correct(text, "", ask("Lives in Gdańsk", old="^work"))
    assert texts(step.text) == ["Lives in Gdańsk", "Lives in Kraków with a dog"]
    assert "correct it too" in step.outcome.message


def test_every_try_of_a_contradiction_reads_the_text_anew() -> None:
    asked = ask("Moved to Gdańsk")
    steps: list[Step] = [remember(brain_of(HOME), asked), remember(brain_of(TEA), asked)]
    assert steps[0].outcome.before == "Lives in Kraków"
    assert steps[1].outcome.before == ""
    person = replace(asked, write=replace(asked.write, caller=PERSON))
    assert texts(remember(None, person).text) == ["Moved to Gdańsk"]
