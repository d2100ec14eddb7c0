"""Names: which files are called what a task speaks of; tables that change with the records."""

from __future__ import annotations

from vaultmind.planner.names import Names
from vaultmind.planner.types import Definition, FileRecord, Shape
from vaultmind.planner.words import stems_of


def record(path: str, *names: str, shape: Shape = "code", title: str = "") -> FileRecord:
    definitions = tuple(Definition(name, "function", 1, 2, name) for name in names)
    return FileRecord(path, path, shape, "", title, 9, 9, definitions=definitions)


RECORDS = {
    one.path: one
    for one in (
        record("shop/cart.py", "Cart.total", "add_line"),
        record("shop/orders.py", "place", "total"),
        record("web/cart.ts", "renderCart"),
        record("docs/index.md", shape="text"),
        record("web/index.ts", "main"),
    )
}
NAMES = Names().with_records(RECORDS)


def test_a_path_is_found_whole_by_its_end_and_within_a_longer_one() -> None:
    assert NAMES.named(["shop/cart.py"]) == {"shop/cart.py": 1.0}
    assert NAMES.named(["orders.py"]) == {"shop/orders.py": 1.0}
    assert NAMES.named(["/home/anna/x/shop/cart.py"]) == {"shop/cart.py": 1.0}
    assert NAMES.named(["other/cart.py", "nothing.py"]) == {}


def test_a_file_whose_whole_name_is_said_has_all_of_it() -> None:
    words = frozenset(stems_of("a cart with orders"))
    assert NAMES.whole("shop/cart.py", words) == 1.0
    assert NAMES.whole("web/index.ts", frozenset(stems_of("index"))) == 0.0


def test_tables_follow_the_records_and_are_those_that_would_be_made_anew() -> None:
    changed = {
        **RECORDS,
        "shop/orders.py": record("shop/orders.py", "page"),
        "new/basket.py": record("new/basket.py", "Basket"),
    }
    del changed["web/cart.ts"]
    step, anew = NAMES.with_records(changed), Names().with_records(changed)

    for names in (step, anew):
        assert names.defined(["total"]) == {"shop/cart.py": 1.0}
        assert names.named(["cart.ts"]) == {}
        assert set(names.like_path("cart basket", 9)) == {"shop/cart.py", "new/basket.py"}
        assert names.folders["web"] == {"web/index.ts"}
    assert step.like_definitions("page of the basket", 9) == anew.like_definitions(
        "page of the basket", 9
    )
    assert NAMES.defined(["renderCart"]) == {"web/cart.ts": 1.0}, "the old one stays as it was"


def test_nothing_changed_is_the_same_tables() -> None:
    assert NAMES.with_records(dict(RECORDS)) is NAMES


def test_of_a_path_that_is_not_there_the_innermost_folder_is_near() -> None:
    assert set(NAMES.near(["shop/numbers.py"])) == {"shop/cart.py", "shop/orders.py"}
    assert set(NAMES.near(["web/new/deep/numbers.ts"])) == {"web/cart.ts", "web/index.ts"}
    assert NAMES.near(["numbers.py", "elsewhere/numbers.py"]) == {}
    assert all(0.0 < value <= 1.0 for value in NAMES.near(["shop/numbers.py"]).values())


def test_a_path_names_a_file_or_what_lies_in_a_folder() -> None:
    assert [*NAMES.at("orders.py")] == ["shop/orders.py"]
    assert sorted(NAMES.at("shop/")) == ["shop/cart.py", "shop/orders.py"]
    assert [*NAMES.at("shop/numbers.py")] == []
