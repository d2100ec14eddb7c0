"""memory/brain: single lines change, every other byte stays, no text escapes its line."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.memory.brain import (
    add_fact,
    damage,
    new_brain,
    parse_brain,
    remove_fact,
    render_fact,
    replace_fact,
)
from vaultmind.memory.sections import pick, section_of
from vaultmind.types import SECTIONS, Fact, MessageRef, Section
from vaultmind.vault.oneline import escape, one_line, unescape
from vaultmind.vault.paths import VaultPaths

PATHS = VaultPaths(Path("/vault"))
REF = MessageRef("main", "2026-02-20_001", "m7")
FACT = Fact("Likes tea", "preferences", "k3f9", REF, "2026-02-20", "said")
LINE = render_fact(FACT, PATHS)

MARKDOWN = st.text(alphabet="ab1 \\%^[]!|<$#->+*`~.)(\n\r\t\u202e\u2028_=&{}:'\"", max_size=40)
TEXTS = MARKDOWN | st.text(max_size=40)
LINES = st.sampled_from(
    [
        "# Mine", "## User", "## Preferences", "## Ustalenia", "## Текущее", "## Allergies",
        "- a fact", "- another %%2026-01-01 said%% ^ab12", "  - nested", "* [ ] task", "1. one",
        "prose", "  indented", "", "> quote", "```", "%%", "%% note %%", "---", "| a | b |",
        "- 5%% of it", "<!-- html -->", "- ", "text with %% open",
    ]
)  # fmt: skip
NEWLINES = st.sampled_from(["\n", "\r\n"])
BRAINS = st.builds(
    lambda lines, newline: newline.join(lines), st.lists(LINES, max_size=14), NEWLINES
)


def kept(before: str, after: str) -> bool:
    """Tell whether every line of `before` stands in `after`, in order."""
    rest = iter(after.replace("\r\n", "\n").split("\n"))
    return all(line in rest for line in before.replace("\r\n", "\n").split("\n") if line)


@given(TEXTS)
def test_a_text_escaped_to_a_line_comes_back_as_it_was(text: str) -> None:
    assert unescape(escape(text)) == one_line(text)


@given(TEXTS)
def test_no_text_is_more_than_the_one_fact_it_says(text: str) -> None:
    line = render_fact(Fact(text, None, "k3f9", REF, "2026-02-20", "said"), PATHS)
    brain = parse_brain(f"## User\n- before\n- {line}\n- after\n")
    said = one_line(text)
    if said:
        assert [fact.text for fact in brain.all()] == ["before", said, "after"]
        assert brain.facts[1].fact == Fact(said, "user", "k3f9", REF, "2026-02-20", "said")
    assert len(brain.headings) == 1


@given(BRAINS, st.sampled_from(SECTIONS))
def test_adding_a_fact_keeps_every_line_and_removing_it_gives_the_same_facts(
    text: str, section: Section
) -> None:
    new = add_fact(text, LINE, section, "en")
    before, after = parse_brain(text), parse_brain(new)
    assert kept(text, new)
    assert len(after.facts) == len(before.facts) + 1
    added = next(one for one in after.facts if one.fact.block == "k3f9")
    assert (added.fact.text, added.fact.section) == ("Likes tea", section)
    if "\r\n" in text:
        assert "\n" not in new.replace("\r\n", "")
    gone = parse_brain(remove_fact(new, added))
    assert [one.text for one in gone.all()] == [one.text for one in before.all()]


@given(BRAINS, st.randoms())
def test_an_edit_changes_only_its_own_span(text: str, rng: random.Random) -> None:
    facts = parse_brain(text).facts
    if not facts:
        return
    one = rng.choice(facts)
    anew = replace_fact(text, one, LINE)
    assert anew.startswith(text[: one.text_start]) and anew.endswith(text[one.end :])
    gone = remove_fact(text, one)
    assert gone.startswith(text[: one.start])
    assert text.endswith(gone[one.start :])


@given(TEXTS)
def test_any_text_can_be_read(text: str) -> None:
    for one in parse_brain(text).facts:
        assert 0 <= one.start < one.text_start <= one.end <= one.tree_end <= len(text)


def test_a_new_line_goes_after_the_last_bullet_of_its_section_and_what_belongs_to_it() -> None:
    text = "## User\n- a\n  more\nlazy\n\n  a paragraph of it\n\nprose\n## Other\n- b"
    new = add_fact(text, LINE, "user", "en")
    assert new == text.replace("of it\n", f"of it\n- {LINE}\n")


def test_prose_below_a_heading_does_not_become_part_of_the_new_fact() -> None:
    new = add_fact("## User\nAnna bakes.", LINE, "user", "en")
    assert new == f"## User\n\n- {LINE}\n\nAnna bakes."


def test_a_section_that_is_missing_gets_its_heading_in_the_language_of_the_others() -> None:
    new = add_fact("## Ustalenia\n- Zawsze krótko\n", LINE, "preferences", "en")
    assert new.endswith(f"- Zawsze krótko\n\n## Preferencje\n\n- {LINE}\n")


def test_a_persons_open_comment_does_not_swallow_a_new_fact() -> None:
    new = add_fact("## User\n- a\n%%\nopen\n", LINE, "preferences", "en")
    assert "Likes tea" in [fact.text for fact in parse_brain(new).all()]


def test_a_fact_typed_by_a_person_has_no_provenance() -> None:
    (fact,) = parse_brain("## About me\n- [x] Likes tea %%really%%\n").all()
    assert fact == Fact("Likes tea", "user")


def test_a_new_brain_has_four_sections_and_no_facts() -> None:
    for language in ("en", "pl", "ru", "de"):
        brain = parse_brain(new_brain("main", language))
        assert tuple(one.section for one in brain.headings[1:]) == SECTIONS
        assert brain.facts == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- fine\n", ""),
        ("---\n\n- a rule above\n", ""),
        ("- <<<<<<< in a line\n>>>>>>>\n", ""),
        ("<<<<<<< HEAD\r\na\r\n=======\r\nb\r\n>>>>>>> x\r\n", "merge markers"),
        ("---\na: [\nb: {\n---\n", ""),
        ("a\0b", "line 1 is not UTF-8"),
    ],
)
def test_damage_is_told_from_what_a_person_may_write(text: str, said: str) -> None:
    assert said in damage(text) and bool(said) == bool(damage(text))


@pytest.mark.parametrize(
    ("title", "section"),
    [
        ("Użytkownik", "user"), ("👤 User:", "user"), ("PREFERENCJE", "preferences"),
        ("Решения", "decisions"), ("Biezace", "current"), ("Договорённости", "decisions"),
        ("Allergies", None), ("", None),
    ],
)  # fmt: skip
def test_a_heading_is_known_in_every_language(title: str, section: Section | None) -> None:
    assert section_of(title) == section


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("My name is Anna", "user"), ("Pracuje w banku", "user"), ("Живёт в Кракове", "user"),
        ("I prefer short answers", "preferences"), ("Woli herbatę", "preferences"),
        ("Любит чай", "preferences"), ("Never use em dashes", "decisions"),
        ("Zawsze odpowiadaj po polsku", "decisions"), ("Всегда пиши кратко", "decisions"),
        ("Is working on the oven", "current"), ("Pracuje nad przekładem", "current"),
        ("Сейчас работает над проектом", "current"),
    ],
)  # fmt: skip
def test_a_new_fact_finds_its_section(text: str, section: Section) -> None:
    assert pick(text) == section


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_last_fact_of_a_section_leaves_one_empty_line(newline: str) -> None:
    text = "# Main\n\n## User\n\n- Likes tea\n\n## Preferences\n\n- Short answers\n"
    text = text.replace("\n", newline)
    gone = remove_fact(text, parse_brain(text).facts[0])
    assert gone == text.replace(f"- Likes tea{newline}{newline}", "")
