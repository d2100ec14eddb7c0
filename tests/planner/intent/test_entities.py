"""What a task names: files, code, references, quotes, also in a pasted traceback."""

from __future__ import annotations

import pytest

from vaultmind.planner.intent.entities import MAX_EACH, entities_of

PYTHON = """Fails since today:

Traceback (most recent call last):
  File "/srv/app/shop/cart.py", line 88, in total
    return self._round(amount)
  File "C:\\app\\shop\\money.py", line 7, in <module>
shop.errors.RoundingError: no currency
"""
NODE = """TypeError: Cannot read properties of undefined (reading 'id')
    at CartService.total (src/cart/cart.service.ts:41:17)
    at async handler (/app/dist/server.js:10:3)
"""
JAVA = """java.lang.NullPointerException: null
\tat com.shop.ReportBuilder.render(ReportBuilder.java:52)
"""
RUST = "thread 'main' panicked at src/index/store.rs:120:9: index out of bounds"
GO = "panic: runtime error\n\tinternal/proxy/dial.go:77 +0x1d"


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        (
            "rename src/shop/cart.py and ./docs/setup.md, please",
            ["src/shop/cart.py", "docs/setup.md"],
        ),
        ("look at cart.py:88:3, README and Makefile.", ["cart.py", "README", "Makefile"]),
        ("split `utils/strings.ts`", ["utils/strings.ts"]),
        ("types for src/legacy/*.js: convert", ["src/legacy/"]),
        ("merge [[Projects/Shop]] and [[Cart#Totals|the cart]]", ["Projects/Shop", "Cart"]),
        ("everything under docs/adr/", ["docs/adr/"]),
        ("zobacz src/płatności.py", ["src/płatności.py"]),
        ("win\\path\\to\\file.cs fails", ["win/path/to/file.cs"]),
        (PYTHON, ["/srv/app/shop/cart.py", "C:/app/shop/money.py"]),
        (NODE, ["src/cart/cart.service.ts", "/app/dist/server.js"]),
        (JAVA, ["ReportBuilder.java"]),
        (RUST, ["src/index/store.rs"]),
        (GO, ["internal/proxy/dial.go"]),
        ("and/or, 24/7, he/she, 1.2.3, e.g. this, v2.0, 3/4 of it", []),
        ("see https://example.com/a/b.html?x=1", []),
        ("Node.js and Vue.js or ASP.NET", []),
    ],
)
def test_files_are_named_as_they_are_written(text: str, paths: list[str]) -> None:
    assert list(entities_of(text).paths) == paths


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("make parse_config and parseConfig one", ["parse_config", "parseConfig"]),
        ("`resolve` is too deep", ["resolve"]),
        ("deadlock in close()", ["close"]),
        ("std::vector or Gate.write, a --dry-run flag", ["std::vector", "Gate.write", "--dry-run"]),
        ("the HTTPServer and the cart", ["HTTPServer"]),
        (PYTHON, ["total", "shop.errors.RoundingError", "_round"]),
        (NODE, ["TypeError", "CartService.total"]),
        (JAVA, ["java.lang.NullPointerException", "com.shop.ReportBuilder.render"]),
        ("Plain words of a task. Nothing else, i.e. none", []),
    ],
)
def test_code_is_named_as_it_is_written(text: str, names: list[str]) -> None:
    found = entities_of(text).identifiers
    assert [name for name in names if name not in found] == []
    assert names or not found


def test_issues_tickets_and_commits_are_references() -> None:
    text = "follow-up to a3f9c21 and #12: PROJ-77, GH-5, CVE-2024-1234; not UTF-8, facade, 1234567"
    found = entities_of(text).references
    assert found == ("a3f9c21", "#12", "PROJ-77", "GH-5", "CVE-2024-1234")


def test_of_a_thousand_names_some_are_kept() -> None:
    text = " ".join(f"src/m{n}.py call_{n}() #{n} `word {n}`" for n in range(1000))
    found = entities_of(text)
    assert len(found.paths) == len(found.references) == MAX_EACH
    assert found.paths[0] == "src/m0.py"
