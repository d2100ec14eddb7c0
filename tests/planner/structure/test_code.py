"""What is read from a file of Python, JavaScript or TypeScript."""

from __future__ import annotations

import gc
import sys
import threading
import time

import pytest

from vaultmind.planner.structure.code import CodeFacts, code_spans, grammars, language_of, read_code
from vaultmind.planner.structure.code.grammar import parse
from vaultmind.planner.structure.code.languages import language
from vaultmind.planner.structure.records import Definition, Link

PYTHON = '''"""Carts 🛒 and what is in them.

More of it.
"""
from __future__ import annotations
import os, json as js
import shop.money.rates as rates
from . import basket
from ..core import Base, Money as Coins
from shop.tax import *

__all__ = ["Cart", "total"]
LIMIT: int = 5  # the most
# TODO: rounding 🪙 is wrong


@dataclass(frozen=True,
           slots=True)
class Cart(rates.Table, Coins, metaclass=Meta):
    """A cart 🛒 of things."""

    class State(StrEnum):
        """Where it is."""
        OPEN = "open"

        @property
        async def closed(self, at: int = 3,  # when
                         *, by: str = "me") -> dict[str, int]:
            """Tell whether it is closed."""
            def local(): ...
            return local()

    @overload
    def add(self, item: int) -> int: ...
    @overload
    def add(self, item: str) -> str: ...
    def add(self, item): return item
    def _sum(self): return 0


def total(cart: Cart) -> int:
    return cart.add(js.dumps(os.name))


def unlisted(): ...
'''

TYPESCRIPT = """/**
 * @file Carts and what is in them.
 */
import React, { useState as use } from 'react';
import type { Item } from "./types";
import * as api from '@/api';
import Base from './base';
import './side.css';
export { rate, tax as vat } from './money';
export { default as Button } from './Button';
export * from './all';

/** A cart. */
@Component({ selector: 'cart' })
export class Cart<T> extends Base<T> implements Sum, api.Other {
  private secret(): void {}
  #hidden() {}
  async add(item: Item, n = 1): Promise<void> {}
  handler = (e: Event) => {};
}

// Draws it.
export default function App({ cart }: Props): JSX.Element {
  function inner() {}
  return <Cart><Row/></Cart>;
}
export const useCart = <T,>(x: T) => { return use(x); };
export const Row = React.memo((p) => { return null; });
const local = async function (a) {};
interface Sum extends A, B<C> { add(x: number): void }
export type Options = { a: number };
export enum State { Open }
export const LIMIT = 5;
declare module "foo" { export function declared(a: string): void; }
function over(a: string): void;
function over(a: any) {}
"""

COMMON_JS = """#!/usr/bin/env node
'use strict';
// Runs the shop.

const Store = require('./store');
const { open, close: shut } = require('../doors');
module.exports.go = function (a) { return 1; };
exports.stop = (b) => b;
Store.prototype.run = function () {};
function listed() {}
function unlisted() {}
class Till extends Store.Base { count() {} }
module.exports = { Till, other: listed };
(function () { function inside() {} })();
const lazy = () => import('./lazy');
"""


def read(text: str, path: str = "shop/cart.py") -> CodeFacts:
    return read_code(path, text, language_of(path))


def named(facts: CodeFacts) -> dict[str, Definition]:
    return {one.name: one for one in facts.definitions}


def imports(facts: CodeFacts) -> dict[str, tuple[str, ...]]:
    return {one.name: one.names for one in facts.links if one.kind == "import"}


def test_definitions_of_python_nest_and_have_signatures_docs_and_lines() -> None:
    found = named(read(PYTHON))
    cart = found["Cart"]
    assert (cart.kind, cart.line, cart.last_line) == ("class", 17, 38)
    assert cart.signature == "class Cart(rates.Table, Coins, metaclass=Meta)"
    assert cart.summary == "A cart 🛒 of things."
    assert cart.bases == ("rates.Table", "Coins")
    closed = found["Cart.State.closed"]
    assert closed.kind == "method" and closed.summary == "Tell whether it is closed."
    assert closed.signature == (
        'async def closed(self, at: int = 3, *, by: str = "me") -> dict[str, int]'
    )
    assert found["Cart.State"].kind == "enum"
    assert found["LIMIT"].kind == "constant" and found["LIMIT"].signature == "LIMIT: int = 5"


def test_overloads_are_kept_each_with_its_lines() -> None:
    adds = [one for one in read(PYTHON).definitions if one.name == "Cart.add"]
    assert [one.signature for one in adds] == [
        "def add(self, item: int) -> int",
        "def add(self, item: str) -> str",
        "def add(self, item)",
    ]
    assert [one.line for one in adds] == [33, 35, 37]


def test_what_is_public_is_told_by_dunder_all_underscores_and_nesting() -> None:
    public = {name for name, one in named(read(PYTHON)).items() if one.public}
    assert public == {"Cart", "Cart.State", "Cart.State.closed", "Cart.add", "total"}


def test_imports_of_python_have_their_names_and_bases_their_own_name() -> None:
    facts = read(PYTHON)
    found = imports(facts)
    assert found["json"] == () and found["shop.money.rates"] == ()
    assert found["."] == ("basket",) and found["..core"] == ("Base", "Money")
    assert found["shop.tax"] == ("*",)
    bases = [one for one in facts.links if one.kind == "inherits"]
    assert Link("inherits", "shop.money.rates.Table", 17, ("Cart",)) in bases
    assert Link("inherits", "Money", 17, ("Cart",)) in bases


def test_an_abstract_things_to_do_and_uses_are_read() -> None:
    facts = read(PYTHON)
    assert facts.abstract == "Carts 🛒 and what is in them."
    assert [(one.text, one.line) for one in facts.tasks] == [("TODO: rounding 🪙 is wrong", 14)]
    assert {"dumps", "overload"} <= set(facts.uses)
    assert not {"Cart", "total", "return", "self", "rounding"} & set(facts.uses)


def test_definitions_of_typescript_and_jsx() -> None:
    found = named(read(TYPESCRIPT, "src/cart.tsx"))
    kinds = {name: one.kind for name, one in found.items()}
    assert kinds["Cart"] == "class" and kinds["Cart.add"] == "method"
    assert kinds["Cart.handler"] == "method" and kinds["App"] == "function"
    assert kinds["useCart"] == kinds["Row"] == kinds["local"] == "function"
    assert (kinds["Sum"], kinds["Options"], kinds["State"]) == ("interface", "type", "enum")
    assert kinds["LIMIT"] == "constant" and kinds["declared"] == "function"
    cart = found["Cart"]
    assert cart.summary == "A cart." and cart.bases == ("Base", "Sum", "api.Other")
    assert cart.signature == "class Cart<T> extends Base<T> implements Sum, api.Other"
    assert found["App"].signature == "function App({ cart }: Props): JSX.Element"
    assert found["App"].summary == "Draws it."


def test_what_typescript_exports_is_public() -> None:
    public = {name for name, one in named(read(TYPESCRIPT, "src/cart.tsx")).items() if one.public}
    assert {"Cart", "Cart.add", "App", "useCart", "Row", "Options", "State", "LIMIT"} <= public
    assert not {"Cart.secret", "Cart.#hidden", "App.inner", "local", "Sum", "over"} & public


def test_imports_of_typescript_with_types_defaults_and_handing_on() -> None:
    facts = read(TYPESCRIPT, "src/cart.tsx")
    found = imports(facts)
    assert found["react"] == ("React", "useState") and found["./types"] == ("Item",)
    assert found["@/api"] == ("*",) and found["./base"] == ("Base",)
    assert found["./side.css"] == () and found["./all"] == ("*",)
    assert set(found["./money"]) == {"rate", "tax", "vat"} and "Button" in found["./Button"]
    assert facts.abstract == "Carts and what is in them."


def test_common_js_exports_and_requires() -> None:
    facts = read(COMMON_JS, "bin/shop.js")
    public = {name for name, one in named(facts).items() if one.public}
    assert public == {"go", "stop", "listed", "Till", "Till.count"}
    assert imports(facts) == {
        "./store": ("Store",),
        "../doors": ("open", "close"),
        "./lazy": (),
    }
    assert {"Store.run", "inside", "unlisted"} <= named(facts).keys()
    assert facts.abstract == "Runs the shop."


def test_a_syntax_error_leaves_what_is_sound() -> None:
    text = "def first(a): return 1\n\ndef broken():\n    x = [1, 2\n    y = 3\n\nclass Last: pass\n"
    facts = read(text)
    assert {"first", "broken", "Last"} <= named(facts).keys()
    assert facts.faults and "line" in facts.faults[0]


@pytest.mark.parametrize(
    "broken",
    [
        "def broken(:\n    x = = 2",
        "def broken(a, b\n    return 1",
        "x = foo(1,",
        "for x in",
        "s = '''abc",
        "@",
        "class X",
    ],
)
def test_what_stands_below_a_broken_line_of_python_is_read(broken: str) -> None:
    rest = "class Last:\n    def one(self): ...\n\n\n@deco\ndef end(): ...\n"
    text = f"def first(a):\n    return 1\n\n{broken}\n\n{rest}"
    facts = read(text)
    assert {"first", "Last", "Last.one", "end"} <= named(facts).keys()
    assert named(facts)["end"].line == text.count("\n", 0, text.index("@deco")) + 1
    assert facts.faults


@pytest.mark.parametrize(
    "broken", ["function broken(a { return 1 }", "const x = {a: 1,", "foo(", "const", "class X {"]
)
def test_what_stands_below_a_broken_line_of_a_script_is_read(broken: str) -> None:
    rest = "class Last { one() {} }\n\nexport function end() {}\n"
    text = f"function first(a) {{ return 1 }}\n\n{broken}\n\n{rest}"
    assert {"first", "Last", "Last.one", "end"} <= named(read(text, "a.ts")).keys()


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_endings_and_a_byte_order_mark_move_no_line(ending: str, mark: str) -> None:
    plain = read(PYTHON)
    other = read(mark + PYTHON.replace("\n", ending))
    assert [(d.name, d.line, d.last_line, d.signature) for d in other.definitions] == [
        (d.name, d.line, d.last_line, d.signature) for d in plain.definitions
    ]
    assert other.abstract == plain.abstract and other.links == plain.links


def test_lone_surrogates_and_controls_raise_nothing() -> None:
    assert "f" in named(read("x = '\ud800'\x00\n\ndef f(): ...\n"))


@pytest.mark.parametrize(
    "text",
    [
        "(" * 200_000,
        "[{" * 100_000,
        "a(" * 100_000,
        "f(a)(" * 20_000,
        "try:\n" * 20_000,
        "/*" * 50_000,
        "class A:\n def f(self): pass\n" * 4_000,
    ],
)
@pytest.mark.parametrize("path", ["a.py", "a.tsx"])
def test_what_is_no_code_ends_soon_and_raises_nothing(text: str, path: str) -> None:
    begun = time.monotonic()
    read(text, path)
    assert time.monotonic() - begun < 20  # minutes without the limits


def test_functions_nested_deep_are_read_and_cut_without_recursion() -> None:
    text = "function f() {\n" * 1200 + "}\n" * 1200
    assert len(read(text, "deep.js").definitions) == 1200
    assert code_spans("deep.js", text, "javascript")


def test_what_is_too_long_or_minified_is_not_parsed_and_says_so() -> None:
    assert "over the limit" in read("x = 1\n" * 900_000).faults[0]
    minified = "var a=1;" * 5000
    assert read(minified, "app.js").faults == ("it is minified",)


def test_many_threads_read_at_once() -> None:
    expected = read(PYTHON), read(TYPESCRIPT, "src/cart.tsx")
    wrong: list[object] = []

    def work() -> None:
        for _ in range(15):
            if (read(PYTHON), read(TYPESCRIPT, "src/cart.tsx")) != expected:
                wrong.append("differs")

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_no_text_is_kept_once_it_is_read() -> None:
    parsed = parse(language("python"), PYTHON)
    assert parsed is not None and parsed.matches()
    data = parsed.data
    del parsed
    gc.collect()
    assert sys.getrefcount(data) <= 2  # ours, and the one of the call


@pytest.mark.parametrize(
    ("path", "first_line", "expected"),
    [
        ("a/b.py", "", "python"),
        ("a/b.d.ts", "", "typescript"),
        ("A.TSX", "", "tsx"),
        ("lib/x.mjs", "", "javascript"),
        ("Rakefile", "", "ruby"),
        ("bin/run", "#!/usr/bin/env python3.11", "python"),
        ("bin/run", "#!/bin/bash", ""),
        ("x.php", "", "php"),
        ("README", "", ""),
        ("notes.md", "", ""),
    ],
)
def test_the_language_is_told_by_name_or_first_line(
    path: str, first_line: str, expected: str
) -> None:
    assert language_of(path, first_line) == expected


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("tests/fakes.py", True),
        ("src/test_cart.py", True),
        ("src/contest.py", False),
        ("src/cart.spec.ts", True),
        ("src/__tests__/cart.tsx", True),
        ("pkg/cart_test.go", True),
        ("src/CartTest.java", True),
        ("spec/cart_spec.rb", True),
    ],
)
def test_tests_are_told_by_their_names_and_folders(path: str, test: bool) -> None:
    assert read("", path).test is test


@pytest.mark.parametrize(
    ("path", "entry"),
    [
        ("shop/__main__.py", True),
        ("src/index.ts", True),
        ("index.js", True),
        ("src/components/cart/index.ts", False),
        ("crates/a/src/lib.rs", True),
        ("shop/cart.py", False),
    ],
)
def test_where_one_begins_to_read_is_told_by_names(path: str, entry: bool) -> None:
    assert read("", path).entry is entry


def test_a_language_without_a_grammar_says_so() -> None:
    facts = read("<?php function f() {} ?>", "index.php")
    assert facts.definitions == () and facts.faults == ("no grammar for php is known",)


def test_all_grammars_of_the_extra_are_known() -> None:
    assert {"python", "javascript", "typescript", "tsx", "rust", "go"} <= grammars().keys()
    assert all(grammars().values())
