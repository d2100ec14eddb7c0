"""A graph that is changed step by step is the graph that would be made anew."""

from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.planner.structure.test_graph import own_records, record
from vaultmind.planner.structure.graph import Graph
from vaultmind.planner.structure.records import FileRecord

PATHS = (
    "shop/__init__.py", "shop/cart.py", "shop/tax.py", "cart.py", "tests/test_cart.py",
    "web/index.ts", "web/cart.ts", "web/cart.spec.ts", "web/cart/index.ts", "Cart.md", "a/Cart.md",
    "Start.md", "J.java", "JTest.java", "x/J.java", "tsconfig.json",
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
    "java": ("class J extends K {}", "class K { J j; }", ""),
    "json": ('{"compilerOptions": {"paths": {"~/*": ["./*"]}}}', "{}"),
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
    made, records = Graph.of({}), dict[str, FileRecord]()
    for step in steps:
        changed = dict(step)
        made = made.with_changed(changed)
        records = {**records, **{p: r for p, r in changed.items() if r is not None}}
        records = {p: r for p, r in records.items() if changed.get(p, r) is not None}
        anew = Graph.of(records)
        for path in PATHS:
            assert made.out(path) == anew.out(path)
            assert made.into(path) == anew.into(path)


def test_an_older_graph_stays_as_it_was() -> None:
    first = Graph.of({path: record(path, "") for path in ("a.py", "b.py")})
    second = first.with_changed({"a.py": record("a.py", "import b\n")})
    third = second.with_changed({"b.py": None})
    assert (len(first.out("a.py")), len(second.out("a.py")), len(third.out("a.py"))) == (0, 1, 0)
    fourth = first.with_changed({"a.py": record("a.py", "import b\n")})
    assert fourth.out("a.py") == second.out("a.py")


def test_one_file_of_many_is_changed_without_resolving_the_others() -> None:
    records = own_records()
    made = Graph.of(records)
    path = "vaultmind/types.py"
    text = "from vaultmind.errors import X\nclass New: ...\n"
    changed = record(path, text)
    begun = time.process_time()
    after = made.with_changed({path: changed})
    took = time.process_time() - begun
    assert {edge.target for edge in after.out(path)} == {"vaultmind/errors.py"}
    assert took < 2  # of hundreds of importers; a fresh graph of 5k files takes longer
