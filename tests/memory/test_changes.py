"""memory/changes: a new fact takes the place of what it contradicts; an archived one comes back."""

from __future__ import annotations

import random
from datetime import date
from pathlib import Path

from vaultmind.memory.brain import add_fact, new_brain, parse_brain, render_fact
from vaultmind.memory.changes import Ask, Step, plan
from vaultmind.memory.limits import Weighing
from vaultmind.types import Caller, Fact, MemoryWrite, MessageRef, Section
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
    weighing = Weighing(PATHS, "main", date(2026, 3, 1))
    return Ask(write, (old or text,), weighing, random.Random(3))


def remember(text: str, asked: Ask, archive: str = "") -> Step:
    return plan(text, archive, asked)


def texts(text: str | None) -> list[str]:
    assert text is not None
    return [one.text for one in parse_brain(text).all()]


HOME = fact("Lives in Kraków", "home")
TEA = fact("Likes tea", "teaa", "preferences")


def test_an_archived_fact_that_is_contradicted_does_not_stay_true() -> None:
    archive = brain_of(HOME)
    step = remember(brain_of(TEA), ask("Moved to Gdańsk"), archive)
    assert step.gone == (HOME,)
    assert step.outcome.before == "Lives in Kraków"
    assert sorted(texts(step.brain)) == ["Likes tea", "Moved to Gdańsk"]
    assert "until 2026-03-01" in step.archive


def test_an_old_fact_that_says_more_is_left_to_the_person() -> None:
    home = fact("Lives in Gdańsk with two cats", "cats")
    step = remember(brain_of(home), ask("Moved to Berlin"))
    assert "two cats" in step.doubt
    assert "^cats" in step.doubt
    assert "said more" in step.outcome.message
    step = remember(brain_of(home), ask("Lives in Berlin with two cats"))
    assert not step.doubt
    assert texts(step.brain) == ["Lives in Berlin with two cats"]


def test_lines_below_an_old_fact_are_more_than_it_says() -> None:
    typed = "\n- Lives in Gdańsk\n  - near the old harbour\n"
    step = remember(brain_of(typed=typed), ask("Moved to Berlin"))
    assert "the lines below it" in step.doubt


def test_a_line_that_a_person_typed_gives_way_to_their_own_words_only() -> None:
    text = brain_of(typed="\n* [x] Lives in Kraków\n")
    step = remember(text, ask("Moved to Gdańsk"))
    assert step.brain is not None
    assert not step.doubt
    assert "\n* [x] Moved to Gdańsk %%2026-03-01 said" in step.brain
    step = remember(text, ask("Moved to Gdańsk", how="extracted"))
    assert "typed by the person" in step.doubt


def test_an_archived_fact_comes_back_by_its_id() -> None:
    step = remember(brain_of(TEA), ask("^home"), brain_of(HOME))
    assert HOME in parse_brain(step.brain or "").all()
    assert remember(brain_of(HOME), ask("^home"), "").outcome.outcome == "unchanged"
    nothing = remember(brain_of(TEA), ask("^gone"), brain_of(HOME))
    assert nothing.outcome.outcome == "not_found"
    assert nothing.brain is None


def test_a_line_that_a_person_typed_into_the_archive_stays_theirs() -> None:
    step = remember(brain_of(TEA), ask("Lives in Kraków"), "# Main\n\n- Lives in Kraków\n")
    assert sorted(texts(step.brain)) == ["Likes tea", "Lives in Kraków"]
    assert step.gone == ()


def test_a_correction_never_takes_along_a_fact_that_says_more() -> None:
    text = brain_of(fact("Works from home", "work"), fact("Lives in Kraków with a dog", "dogg"))
    step = remember(text, ask("Lives in Gdańsk", old="^work"))
    assert texts(step.brain) == ["Lives in Gdańsk", "Lives in Kraków with a dog"]
    assert "correct it too" in step.outcome.message
