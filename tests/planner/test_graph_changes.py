"""A graph that is changed step by step is the graph that would be made anew."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.planner.shelf import record
from vaultmind.planner.graph import Graph
from vaultmind.planner.types import FileRecord

PATHS = (
    "shop/__init__.py", "shop/cart.py", "shop/tax.py", "cart.py", "tests/test_cart.py",
    "web/index.ts", "web/cart.ts", "web/cart.spec.ts", "web/cart/index.ts", "Cart.md", "a/Cart.md",
    "Start.md",
)  # fmt: skip
TEXTS = {
    "py": (
        "class Cart: ...\n",
        "from shop.cart import Cart\nclass Sub(Cart): ...\n",
        "from shop import Cart, tax\nfrom cart import *\nclass Two(Cart): ...\n",
        "from . import tax\nfrom .tax import Cart\n",
        "",
    ),
    "ts": (
        "export class Cart {}\n",
        "export * from './cart';\nexport { J } from './index';\n",
        "import { Cart } from './cart';\nclass B extends Cart {}\n",
        "import { Cart } from '~/web';\nimport x from './cart/index';\n",
        "",
    ),
    "md": ("[[Cart]] [[Start]]", "[[a/Cart]] ![[shop/cart.py]]", ""),
}


@st.composite
def change(draw: st.DrawFn) -> tuple[str, FileRecord | None]:
    path = draw(st.sampled_from(PATHS))
    text = draw(st.sampled_from((None, *TEXTS[path.rpartition(".")[2]])))
    return path, None if text is None else record(path, text)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(change(), min_size=1, max_size=4), min_size=1, max_size=6))
def test_changes_lead_to_the_graph_that_would_be_made_anew(
    steps: list[list[tuple[str, FileRecord | None]]],
) -> None:
    made, records = Graph(), dict[str, FileRecord]()
    for step in steps:
        changed = dict(step)
        made.update(changed)
        records = {**records, **{p: r for p, r in changed.items() if r is not None}}
        records = {p: r for p, r in records.items() if changed.get(p, r) is not None}
        anew = Graph(records)
        for path in PATHS:
            assert made.out(path) == anew.out(path)
            assert made.into(path) == anew.into(path)
