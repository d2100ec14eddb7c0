"""What of a source leads where."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.planner.shelf import record
from vaultmind.planner.graph import Graph
from vaultmind.planner.types import FileRecord


def graph(files: Mapping[str, str]) -> Graph:
    return Graph({path: record(path, text) for path, text in files.items()})


def targets(made: Graph, path: str, kind: str = "import") -> list[str]:
    return [target for how, target in made.out(path) if how == kind]


def test_scripts_are_found_by_ending_index_alias_and_compiled_name() -> None:
    made = graph(
        {
            "src/core/index.ts": "export { Money } from './money.js';\n",
            "src/core/money.ts": "export class Money {}\n",
            "src/app/cart.tsx": "",
            "src/lib/index.js": "export * from './tax';\nexport { default as Box } from './Box';",
            "src/lib/tax.js": "export const rate = 1;\n",
            "src/lib/Box.vue": "",
            "src/main.ts": "import { Money } from '@/core';\nimport Cart from '@app/cart';\n"
            "import { rate } from './lib';\nimport x from 'lodash/fp';\n"
            "const fs = require('fs');\nimport './lib/tax.js?raw';",
        }
    )
    core = ["src/core/index.ts", "src/core/money.ts"]
    others = ["src/app/cart.tsx", "src/lib/index.js", "src/lib/tax.js"]
    assert targets(made, "src/main.ts") == core + others
    assert targets(made, "src/lib/index.js") == ["src/lib/tax.js", "src/lib/Box.vue"]


def test_other_languages_are_found_by_their_own_rules() -> None:
    made = graph(
        {
            "core/money.go": "package core\ntype Money struct{}\n",
            "core/other.go": "package core\nfunc Other() {}\n",
            "cart/cart.go": 'package cart\nimport "example.org/shop/core"\n'
            "type C struct { core.Money }",
            "src/lib.rs": "pub mod money;\nuse crate::money::{Money, rates::Rate};\n",
            "src/money/rates.rs": "pub struct Rate;\n",
            "j/src/com/shop/Base.java": "package com.shop;\npublic class Base {}\n",
            "j/src/com/shop/x/Cart.java": "import com.shop.Base;\nclass Cart extends Base {}\n",
            "c/inc/shop/cart.h": "int add(void);\n",
            "c/src/cart.c": '#include "shop/cart.h"\n#include <stdio.h>\n',
            "cs/Money.cs": "namespace Shop.Core { public class Money {} }",
            "cs/Cart.cs": "using Shop.Core;\nclass Cart : Money {}",
            "rb/lib/shop/money.rb": "module Shop\n  class Money; end\nend\n",
            "rb/lib/shop.rb": "require 'shop/money'\nrequire_relative 'shop/tax'\n",
        }
    )
    expected = {
        "cart/cart.go": ["core/money.go"],
        "src/lib.rs": ["src/money/rates.rs"],
        "j/src/com/shop/x/Cart.java": ["j/src/com/shop/Base.java"],
        "c/src/cart.c": ["c/inc/shop/cart.h"],
        "cs/Cart.cs": ["cs/Money.cs"],
        "rb/lib/shop.rb": ["rb/lib/shop/money.rb"],
    }
    assert {path: targets(made, path) for path in expected} == expected


def test_wikilinks_are_found_as_obsidian_finds_them() -> None:
    made = graph(
        {
            "Start.md": "[[cart]] and ![[Pay|money]]\n[[Shop/Cart#Sums]] [[none]] [[Start]]",
            "Shop/Cart.md": "[[Pay]] [text](../Deep/Notes/Pay.md) [[pic.png]]",
            "Shop/Pay.md": "",
            "Deep/Notes/Pay.md": "",
            "Deep/pic.png.md": "",
        }
    )
    assert targets(made, "Start.md", "link") == ["Shop/Cart.md"]
    assert targets(made, "Start.md", "embed") == ["Shop/Pay.md"]
    cart = ["Shop/Pay.md", "Deep/Notes/Pay.md", "Deep/pic.png.md"]
    assert targets(made, "Shop/Cart.md", "link") == cart
    assert [source for _, source in made.into("Shop/Pay.md")] == ["Shop/Cart.md", "Start.md"]


def test_tests_lead_to_what_they_import_use_and_are_named_like() -> None:
    made = graph(
        {
            "shop/__init__.py": "from shop.cart import Cart\n",
            "shop/cart.py": "class Cart: ...\n",
            "shop/tax.py": "",
            "other/cart.py": "",
            "tests/shop/test_cart.py": "from shop import Cart\n",
            "tests/test_all.py": "import shop.cart\nimport shop.tax\nfrom tests.fakes import x\n",
            "tests/shop/test_tax.py": "import runpy\n",
            "tests/fakes.py": "x = 1\n",
            "tests/parts/tax.py": "import shop.tax\n",
            "src/com/Money.java": "package com;\nclass Money {}\n",
            "test/com/MoneyTest.java": "package com;\nclass MoneyTest { Money m; }\n",
            "test/com/SumsTest.java": "package com;\nclass SumsTest { Money m; }\n",
            "web/cart.ts": "export const a = 1;\n",
            "web/cart.spec.ts": "import { a } from './cart';\n",
        }
    )
    assert made.tests_of("shop/cart.py") == ["tests/shop/test_cart.py", "tests/test_all.py"]
    tests = made.tests_of("shop/tax.py")
    assert tests[0] == "tests/shop/test_tax.py"
    assert {*tests[1:]} == {"tests/parts/tax.py", "tests/test_all.py"}
    assert targets(made, "tests/shop/test_cart.py", "tests")[0] == "shop/cart.py"
    java = ["test/com/MoneyTest.java", "test/com/SumsTest.java"]
    assert made.tests_of("src/com/Money.java") == java
    assert made.tests_of("web/cart.ts") == ["web/cart.spec.ts"]
    assert made.tests_of("tests/fakes.py") == []


PATHS = (
    "shop/__init__.py", "shop/cart.py", "shop/tax.py", "cart.py", "tests/test_cart.py",
    "web/index.ts", "web/cart.ts", "web/cart.spec.ts", "web/cart/index.ts", "Cart.md", "a/Cart.md",
    "Start.md",
)  # fmt: skip
TEXTS = {
    "py": (
        "class Cart: ...\nfrom . import tax\nfrom .tax import Cart\n",
        "from shop import Cart, tax\nfrom cart import *\nclass Two(Cart): ...\n",
        "from shop.cart import Cart\n",
    ),
    "ts": (
        "export * from './cart';\nexport { J } from './index';\n",
        "import { Cart } from '~/web';\nimport x from './cart/index';\n",
        "export class Cart {}\n",
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
