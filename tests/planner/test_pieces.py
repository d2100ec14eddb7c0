"""Pieces: the forms of a file, from a line to the whole of it, each what it says it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vaultmind import tokens
from vaultmind.planner.candidates import Spot
from vaultmind.planner.pages import Page
from vaultmind.planner.pieces import SIZES, EarlierUse, Worth, forms_of, rendered
from vaultmind.planner.types import Definition, FileRecord, Heading
from vaultmind.vault.files import FileStat

TEXT = '"""The cart."""\n\n' + "\n\n".join(
    f'def step_{n}(cart):\n    """Do step {n}."""\n    return cart.with_step({n})'
    for n in range(60)
)
LINES = TEXT.splitlines()
RECORD = FileRecord(
    "cart.py",
    "sha",
    "code",
    "python",
    "cart",
    len(LINES),
    tokens.count(TEXT),
    abstract="The cart.",
    definitions=tuple(
        Definition(f"step_{n}", "function", 3 + 4 * n, 5 + 4 * n, f"step_{n}(cart)")
        for n in range(60)
    ),
)


def page(text: str = TEXT, *, indexed: bool = True, guarded: bool = False) -> Page:
    record = RECORD if text == TEXT and not guarded else None
    return Page("cart.py", text, "sha", FileStat(1, 1, 1), record, indexed, not indexed, guarded)


def worth(*spots: Spot, telling: frozenset[str] = frozenset()) -> Worth:
    return Worth(1.0, 1.0, 0.0, (), spots, telling)


def spot(name: str, score: float = 1.0, text: str = "") -> Spot:
    start = TEXT.index(f"def {name}(")
    return Spot(start, TEXT.index("\n\n", start), f"#{name}", score, text)


def plain(text: str) -> str:
    return text


def test_a_place_is_cut_at_a_whole_line_where_it_is_too_long() -> None:
    whole = Spot(0, len(TEXT), "", 1.0)
    forms = forms_of(page(), worth(whole), "compact", plain)

    longest = max((p for form in forms for p in form.pieces), key=lambda p: p.tokens)
    assert longest.tokens <= SIZES["compact"].spot_tokens + 20
    assert longest.text.splitlines() == LINES[: longest.last_line]


def used(*parts: str, words: str = "") -> Worth:
    earlier = EarlierUse(frozenset(parts), frozenset(words.split()))
    return replace(worth(), earlier=earlier)


def shown(worth: Worth) -> list[str]:
    """Return the parts of the longest form."""
    return [piece.part for piece in forms_of(page(), worth, "compact", plain)[-1].pieces]


def test_where_nobody_told_what_changed_the_parts_that_say_the_task_are_shown() -> None:
    assert shown(used(words="17")) == ["#step_17"]
    head = replace(used(words="17"), spots=(Spot(0, 16, "", 1.0),))
    assert shown(head) == ["", "#step_17"]


def test_a_definition_that_was_found_stands_though_others_say_the_task_too() -> None:
    assert shown(replace(used(words="17"), spots=(spot("step_7"),))) == ["#step_7"]


def test_where_nothing_leads_into_a_file_its_head_is_shown() -> None:
    assert shown(used(words="zebra")) == ["outline"]
    assert shown(used()) == ["outline"]


def test_of_a_note_that_earlier_work_used_the_section_is_shown() -> None:
    text = "# Oven\n\nOf clay.\n\n## Door\n\nOf oak, 25 cm.\n\n## Roof\n\n" + "Of straw. " * 400
    headings = (Heading("Oven", 1, 1), Heading("Door", 2, 5), Heading("Roof", 2, 9))
    record = FileRecord("Oven.md", "sha", "note", "markdown", "Oven", 12, 900, headings=headings)
    note = replace(page(text), path="Oven.md", record=record)
    for one in (used("Door"), used(words="oak")):
        last = forms_of(note, one, "compact", plain)[-1].pieces
        assert [piece.text for piece in last] == ["## Door\n\nOf oak, 25 cm."]


def test_of_an_agents_memory_only_what_was_found_is_shown() -> None:
    one = spot("step_7", text="Prefers short answers")
    forms = forms_of(page(guarded=True), worth(one), "verbose", plain)

    assert [[piece.text for piece in form.pieces] for form in forms] == [["Prefers short answers"]]


def test_a_longer_form_of_a_file_is_worth_more_where_tokens_cost_nothing() -> None:
    small = "one\ntwo\nthree\n"
    forms = forms_of(page(small), worth(Spot(0, 3, "", 1.0)), "verbose", plain)

    values = [form.offer.value for form in forms]
    assert values == sorted(values)


def code(text: str, *defined: tuple[str, int, int]) -> Page:
    definitions = tuple(Definition(name, "function", *lines, name) for name, *lines in defined)
    title = "cart.py"
    record = FileRecord("cart.py", "sha", "code", "python", title, 9, 9, definitions=definitions)
    return Page("cart.py", text, "sha", FileStat(1, 1, 1), record, True, False, False)


def places(page: Page, *spots: Spot, **told: float) -> list[list[tuple[str, int, int]]]:
    known = Worth(1.0, 1.0, 0.0, (), spots, frozenset(), told)
    return [
        [(one.part, one.first_line, one.last_line) for one in form.pieces]
        for form in forms_of(page, known, "compact", plain)
        if form.pieces[0].layer == "L3" and form.pieces[0].part
    ]


def test_a_definition_that_shares_a_word_goes_before_imports_and_heads() -> None:
    text = "import refresh\n\n# Anew.\n@once\ndef refresh():\n    pass\n\ndef b():\n    go()\n"
    head = Spot(0, text.index("\n\n"), "", 1.0)
    page = code(text, ("refresh", 5, 6), ("b", 8, 9))

    assert places(page, head, refresh=1.0) == [[("#refresh", 3, 6)]]
    assert places(page, head, other=1.0) == []
    alone = forms_of(page, Worth(1.0, 1.0, 0.0, (), (head,), frozenset()), "compact", plain)
    assert any(piece.text == "import refresh" for form in alone for piece in form.pieces)


def test_a_definition_within_a_place_that_is_cut_stands_by_itself() -> None:
    lines = [f"    step({n}, of='many', for_='a long time')" for n in range(60)]
    text = "\n".join(["class Cart:", *lines, "    def total(self):", "        return 1", ""])
    page = code(text, ("Cart", 1, 63), ("Cart.total", 62, 63))

    found = places(page, Spot(0, len(text), "#Cart", 0.9), total=1.0)
    assert found[0] == [("#Cart.total", 62, 63)]


@pytest.mark.parametrize("text", ["", "\n", "  \n\t\n"])
def test_of_an_empty_file_there_is_no_form(text: str) -> None:
    assert forms_of(page(text), worth(Spot(0, len(text), "", 1.0)), "verbose", plain) == ()


def test_a_line_says_what_is_defined_and_never_repeats_the_name_of_the_file() -> None:
    def line(page: Page) -> str:
        return rendered(forms_of(page, worth(), "compact", plain)[0].pieces)

    assert line(code("def a(): ...\n", ("a", 1, 1), ("a.b", 1, 1))) == "cart.py: a"
    assert line(code("x = 1\n")) == "cart.py"
    assert line(page()) == "cart.py: The cart."


def test_an_outline_shows_the_line_that_names_a_class_and_not_its_decorator() -> None:
    page = code("@once\n@twice\ndef refresh():\n    pass\n", ("refresh", 1, 4))
    forms = forms_of(page, worth(), "compact", plain)
    assert any(piece.text == "3: def refresh():" for form in forms for piece in form.pieces)
