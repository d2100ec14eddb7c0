"""Packing: the forms of a file, each what it says it is; as good a choice as can be, in budget."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from vaultmind import tokens
from vaultmind.planner.candidates import Candidate, Form, Spot
from vaultmind.planner.pack import SIZES, forms_of, pack
from vaultmind.planner.types import FileRecord, Part, Piece

TEXT = '"""The cart."""\n\n' + "\n\n".join(
    f'def step_{n}(cart):\n    """Do step {n}."""\n    return cart.with_step({n})'
    for n in range(60)
)
DEFINED = tuple(
    Part(f"step_{n}", "function", 3 + 4 * n, 5 + 4 * n, f"step_{n}(cart)") for n in range(60)
)
RECORD = FileRecord(
    "cart.py", "sha", "code", "python", "cart", tokens.count(TEXT), "The cart.", parts=DEFINED
)
FORMS = st.builds(lambda gain, cost: Form((), cost, gain), st.floats(0.0, 1.0), st.integers(1, 60))
FILES = st.lists(st.lists(FORMS, max_size=3), max_size=6)


def page(text: str = TEXT, record: FileRecord = RECORD) -> Candidate:
    return Candidate("cart.py", text=text, record=record)


def forms(
    one: Candidate, *spots: Spot, told: dict[str, float] | None = None
) -> list[tuple[Piece, ...]]:
    one.spots = spots
    made = forms_of(one, told or {}, SIZES["compact"])
    assert all(sum(piece.tokens for piece in form.pieces) == form.tokens for form in made)
    return [form.pieces for form in made]


def code(text: str, *defined: tuple[str, int, int]) -> Candidate:
    parts = tuple(Part(name, "function", *lines, name) for name, *lines in defined)
    record = replace(RECORD, title="cart.py", abstract="", parts=parts)
    return page(text, record)


def laid(forms: list[Form], relevance: float = 1.0) -> Candidate:
    shortest_first = tuple(sorted(forms, key=lambda one: one.tokens))
    return Candidate("cart.py", relevance=relevance, forms=shortest_first)


@given(FILES, st.integers(0, 150))
def test_a_choice_is_within_its_budget(files: list[list[Form]], budget: int) -> None:
    some = [laid(forms, 0.9**at) for at, forms in enumerate(files)]
    chosen, efficiency = pack(some, budget, 0.0006)
    taken = [some[at].forms[one] for at, one in enumerate(chosen) if one >= 0]
    assert sum(one.tokens for one in taken) <= budget and 0.0 <= efficiency <= 1.0
    assert pack(some, budget, 0.0006) == (chosen, efficiency)


def test_the_best_file_gets_its_content_before_the_tenth_gets_its_name() -> None:
    some = [laid([Form((), 30, 0.55), Form((), 240, 0.9)], 0.9**at) for at in range(10)]
    chosen, _ = pack(some, 300, 0.0006)
    assert chosen[0] == 1 and chosen[-1] == -1
    everything, share = pack(some, 3000, 0.0006)
    assert everything == [1] * 10 and share > 0.99


def test_a_definition_that_shares_a_word_goes_before_imports_and_heads() -> None:
    text = "import refresh\n\n# Anew.\n@once\ndef refresh():\n    pass\n\ndef b():\n    go()\n"
    head, made = Spot(0, text.index("\n\n"), "", 1.0), code(text, ("refresh", 5, 6), ("b", 8, 9))
    shown = [[(p.part, p.text) for p in form] for form in forms(made, head, told={"refresh": 1.0})]
    assert [("#refresh", "# Anew.\n@once\ndef refresh():\n    pass")] in shown
    assert [("", "import refresh")] in [
        [(p.part, p.text) for p in form] for form in forms(made, head)
    ]


def test_a_definition_within_a_place_that_is_cut_stands_by_itself() -> None:
    lines = [f"    step({n}, of='many', for_='a long time')" for n in range(60)]
    text = "\n".join(["class Cart:", *lines, "    def total(self):", "        return 1", ""])
    made = code(text, ("Cart", 1, 63), ("Cart.total", 62, 63))
    found = forms(made, Spot(0, len(text), "#Cart", 0.9), told={"total": 1.0})
    assert ["#Cart.total"] in [[piece.part for piece in form] for form in found]
