"""The layers say what is there now, from the cache where they can, and nothing hidden."""

from __future__ import annotations

import re

import pytest

from tests.planner.shelf import NOW, Shelf
from vaultmind.errors import BadArgument
from vaultmind.planner.layers import ROUTES, explore
from vaultmind.planner.source import Source
from vaultmind.planner.types import TASK_KINDS

CART = "from shop.tax import rate\n\n\nclass Cart:\n    def total(self): return rate() * 2\n"


def a_shop(folder: Shelf) -> Source:
    folder.write("README.md", "# Shop\n\nSells bread.\n\n## Use\n")
    folder.write("shop/__init__.py", "")
    folder.write("shop/cart.py", CART)
    folder.write("shop/tax.py", '"""Taxes."""\n\n\ndef rate() -> float:\n    return 0.2\n')
    folder.write("tests/test_cart.py", "from shop.cart import Cart\n\n\ndef test_total(): Cart()\n")
    folder.commit("Begin")
    return folder.source()


def a_vault(vault: Shelf) -> Source:
    vault.write("Start here.md", "# Start here\n\nThe [[Oven]] and the [[Bread]].\n")
    vault.write("Oven.md", "---\nstatus: building\ntags: [house]\n---\nOf brick.\n\n## Firing\n"
                "- [ ] buy wood\n- [x] dig\n", 1795000000)  # fmt: skip
    vault.write("Recipes/Bread.md", "---\nstatus: done\n---\nFlour. See [[Oven]]. #food\n",
                1794000000)  # fmt: skip
    return vault.source()


def test_a_vault_in_layers(vault: Shelf) -> None:
    source = a_vault(vault)
    text = explore(source, which=["L0", "L1", "L2", "L3", "L4", "L5", "L6"]).text
    for said in (
        "./ 3 files: 3 note", "- Start here.md", "Oven.md: ## Firing", "linked from Start here.md",
        "Oven.md: Of brick.", "status: building", "#house (1)", "- status (2): building, done",
        "1 open task, 1 done.", "- [ ] buy wood", "(2026-11-18)", "no git repository",
    ):  # fmt: skip
        assert said in text


def test_each_kind_of_task_has_its_layers_and_more_detail_says_more(folder: Shelf) -> None:
    source = a_shop(folder)
    assert set(ROUTES) == set(TASK_KINDS)
    for kind, route in ROUTES.items():
        compact = explore(source, kind)
        verbose = explore(source, kind, detail="verbose")
        assert compact.layers == route
        assert 0 < compact.tokens <= verbose.tokens


def test_what_the_index_has_not_seen_is_not_shown_as_it_was(vault: Shelf) -> None:
    source = a_vault(vault)
    assert "## Firing" in explore(source, which=["L1"]).text
    vault.write("Oven.md", "## Cold\n")
    (vault.folder / "Recipes/Bread.md").unlink()
    found = explore(source, which=["L1", "L3"])  # no event has come
    assert "## Firing" not in found.text
    assert "## Cold" in found.text
    assert "Bread.md" not in found.text
    assert found.freshness == "fresh"


def test_changes_since_a_revision_a_day_or_of_late(folder: Shelf) -> None:
    source = a_shop(folder)
    folder.write("shop/tax.py", "def rate(): return 0.3\n")
    folder.commit("More tax")
    folder.write("new.py", "X = 1\n")
    folder.settle()
    source.settle(10)

    def changed(since: str) -> dict[str, str]:
        text = explore(source, which=["L6"], since=since, now=NOW).text
        return dict(re.findall(r"(?m)^- (\S+) \((?:\d+ |not )?(\w+)", text))

    assert changed("HEAD~1") == {"new.py": "added", "shop/tax.py": "commit"}
    assert changed("main") == {"new.py": "added"}
    assert set(changed("2001-01-01")) == set(changed("")) > {"shop/cart.py", "new.py"}
    assert changed("2999-01-01T10:00") == {"new.py": "added"}
    with pytest.raises(BadArgument, match="no such revision"):
        changed("no-such-branch")
    with pytest.raises(BadArgument, match="since"):
        changed("--output=x")
