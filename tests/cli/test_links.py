"""`link`, `unlink`, `links`, and searching in what is linked: over the daemon, as a person does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.machine import Machine, fingerprint
from vaultmind.errors import VaultMindError
from vaultmind.serve.operations import find

CODE = '''def add_to_cart(item):
    """Put an item into the cart."""
    return item
'''


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("code").resolve() / "shop"
    (root / "src").mkdir(parents=True)
    (root / "src/cart.py").write_text(CODE)
    (root / "app.js").write_text("var a=1;" * 1000)
    (root / "READ.md").write_text("# Shop\n\nSells numbats.\n")
    (root / ".env").write_text("TOKEN=walrus\n")
    (root / ".gitignore").write_text("local/\n")
    (root / "local").mkdir()
    (root / "local/notes.md").write_text("# Local\n\nwalrus\n")
    return root


@pytest.fixture(scope="module")
def linked(machine: Machine, shop: Path) -> Iterator[Machine]:
    machine.run("link", str(shop), "--as", "shop")
    machine.run("links", "--wait")
    yield machine
    machine.run("unlink", "shop")


def test_what_is_ignored_or_secret_is_never_shown(linked: Machine) -> None:
    assert linked.run("search", "--source", "shop", "walrus", ok=(5,))["hits"] == []
    for path in (".env", "local/notes.md", "../shop/src/cart.py", "/etc/passwd"):
        assert linked.run("fetch", "--source", "shop", path, ok=(1, 5))["error"]


def test_not_a_byte_of_a_linked_folder_is_changed(linked: Machine, shop: Path) -> None:
    before = fingerprint(shop, but="")
    linked.run("search", "--source", "shop", "cart")
    linked.run("status")
    assert fingerprint(shop, but="") == before


@pytest.mark.parametrize("name", ["link", "unlink", "links"])
def test_linking_is_the_persons_alone(name: str) -> None:
    operation = find(name, "cli")
    assert operation.persons
    for surface in ("mcp", "http"):
        with pytest.raises(VaultMindError, match="no operation"):
            find(name, surface)  # type: ignore[arg-type]
