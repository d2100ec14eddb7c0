"""Languages that are a data file each: what is read of them, and that every query fits."""

from __future__ import annotations

import re
import warnings
from importlib.resources import files

import pytest

from vaultmind.planner.structure.code import code_spans, language_of, read_code
from vaultmind.planner.structure.code.grammar import _query
from vaultmind.planner.structure.code.languages import Language, installed, languages

SAMPLES = {
    "cart.rs": """//! Carts.
use crate::core::{Base, util::{self, helper as h}};
pub mod inner;
/// A cart.
#[derive(Debug,
  Clone)]
pub struct Cart<T> { a: T }
pub trait Sum: Display { fn total(&self) -> i32; }
impl<T> Cart<T> where T: Copy {
    /// Adds.
    pub fn add(&self) -> i32 { 1 }
    fn hidden() {}
}
""",
    "cart.go": """// Package cart is carts.
package cart

import (
	"fmt"
	m "example.org/shop/core"
)

// Cart is a cart.
type Cart struct {
	*m.Base
	Items []int
}
type Sum interface { Total() int }

// Add adds.
func (c *Cart) Add(x int) (int, error) { return 1, nil }
func hidden() {}
""",
    "Cart.java": """package com.shop;
import com.shop.core.Base;
import com.shop.x.*;
/** A cart. */
@Entity(name = "x")
public class Cart<T> extends Base<T> implements Sum {
    /** Adds. */
    @Override
    public int add(T item) { return 1; }
    private void hidden() {}
}
interface Sum { int total(); }
""",
    "Cart.kt": """package com.shop
import com.shop.core.Base
import com.shop.x.*
/** A cart. */
data class Cart(val a: Int) : Base(a), Sum {
    /** Adds. */
    fun add(x: Int): Int = 1
    private fun hidden() {}
}
interface Sum {
    fun total(): Int
}
""",
    "cart.c": """#include "core.h"
/** A cart. */
struct Cart { int a; };
/* Adds. */
int add(struct Cart *c) { return 1; }
static void hidden(void) {}
""",
    "cart.cpp": """#include "core.hpp"
namespace shop {
/// A cart.
template <typename T>
class Cart : public Base<T> {
public:
  /// Adds.
  int add(const T& x) const { return 1; }
};
int Cart<int>::size() { return 1; }
}
""",
    "Cart.cs": """using Shop.Core;
namespace Shop {
    /// <summary>A cart.</summary>
    [Serializable]
    public class Cart : Base, ISum {
        /// <summary>Adds.</summary>
        public int Add(int x) { return 1; }
        private void Hidden() { }
    }
}
""",
    "cart.rb": """# frozen_string_literal: true
require_relative "core"
module Shop
  # A cart.
  class Cart < Core::Base
    # Adds.
    def add(item, n = 1)
      1
    end
  end
end
""",
}
EXPECTED = {
    "cart.rs": ("Cart", "Cart.add", "crate::core::util::helper", ()),
    "cart.go": ("Cart", "Cart.Add", "example.org/shop/core", ("m.Base",)),
    "Cart.java": ("Cart", "Cart.add", "com.shop.core.Base", ("Base", "Sum")),
    "Cart.kt": ("Cart", "Cart.add", "com.shop.core.Base", ("Base", "Sum")),
    "cart.c": ("Cart", "add", "core.h", ()),
    "cart.cpp": ("shop.Cart", "shop.Cart.add", "core.hpp", ("Base",)),
    "Cart.cs": ("Shop.Cart", "Shop.Cart.Add", "Shop.Core", ("Base", "ISum")),
    "cart.rb": ("Shop.Cart", "Shop.Cart.add", "./core", ("Core::Base",)),
}
GRAMMARS = [name for name, one in languages().items() if one.grammar]


@pytest.mark.parametrize("name", GRAMMARS)
def test_the_queries_of_every_language_fit_its_grammar(name: str) -> None:
    assert installed(languages()[name]), f"the extra `code` lacks the grammar of {name}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _query(name) is not None


@pytest.mark.parametrize("path", SAMPLES)
def test_classes_functions_imports_and_bases_are_read(path: str) -> None:
    facts = read_code(path, SAMPLES[path], language_of(path))
    assert facts.faults == ()
    owner, member, module, bases = EXPECTED[path]
    found = {one.name: one for one in facts.definitions}
    assert found[owner].summary.startswith(("A cart.", "Cart is a cart."))
    assert found[owner].bases == bases and found[owner].public
    assert found[member].summary in ("Adds.", "Add adds.")
    assert found[member].kind == ("function" if member == "add" else "method")
    assert "{" not in found[member].signature and "add" in found[member].signature.lower()
    assert module in {one.name for one in facts.links if one.kind == "import"}
    hidden = [one for one in facts.definitions if one.name.lower().endswith("hidden")]
    assert not any(one.public for one in hidden)


@pytest.mark.parametrize("path", SAMPLES)
def test_they_are_cut_without_losing_a_line(path: str) -> None:
    text = SAMPLES[path] * 8
    covered = {
        row
        for one in code_spans(path, text, language_of(path))
        for row in range(one.first_line, one.last_line + 1)
    }
    assert {row for row, line in enumerate(text.split("\n"), 1) if line.strip()} <= covered


def test_a_header_in_cpp_is_read_as_cpp() -> None:
    facts = read_code("cart.h", "namespace shop {\nclass Cart {\n};\n}\n", "c")
    assert {one.name for one in facts.definitions} == {"shop", "shop.Cart"}


def test_a_data_file_says_nothing_that_is_not_known() -> None:
    import tomllib

    known = {*Language.__dataclass_fields__, "like"}
    folder = files("vaultmind.planner.structure.code").joinpath("languages")
    for file in folder.iterdir():
        if file.name.endswith(".toml") and file.name != "plain.toml":
            assert tomllib.loads(file.read_text("utf-8")).keys() <= known, file.name


def test_no_query_asks_tree_sitter_for_text() -> None:
    for one in languages().values():
        asked = " ".join(one.queries.values())
        assert "?" not in re.sub(r"[)\]_a-z\"]\?", "", asked), one.name
        assert "-eq?" not in asked and "#eq?" not in asked and "of?" not in asked, one.name


def test_without_the_extra_files_are_told_apart_and_the_fault_says_what_to_install() -> None:
    import subprocess
    import sys

    script = (
        "import sys\n"
        "class Gone:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.startswith('tree_sitter'): raise ModuleNotFoundError(name)\n"
        "import importlib.util\n"
        "real = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *a: "
        "None if name.startswith('tree_sitter') else real(name, *a)\n"
        "sys.meta_path.insert(0, Gone())\n"
        "from vaultmind.planner.structure.code import *\n"
        "facts = read_code('tests/a.py', 'def f(): ...', language_of('tests/a.py'))\n"
        "print(facts.definitions, facts.test, facts.faults, any(grammars().values()))\n"
        "print(code_spans('a.py', 'def f(): ...\\n\\nx = 1', 'python'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert "() True" in done.stdout and "vaultmind-mcp[code]" in done.stdout
    assert "Span(first_line=1, last_line=3, name='')" in done.stdout
    assert done.stdout.split("\n")[0].endswith("False")
