"""`link`, `unlink`, `links`, and searching in what is linked: over the daemon, as a person does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import run
from tests.machine import Machine, fingerprint
from vaultmind.errors import VaultMindError
from vaultmind.serve.operations import find

CODE = '''def add_to_cart(item):
    """Put an item into the cart."""
    return item
'''
NAMES = {"name", "root", "kind", "there", "phase", "files", "words", "notes"}


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


def test_a_folder_is_linked_searched_and_listed(linked: Machine, shop: Path) -> None:
    sources = linked.run("links")["sources"]
    assert [one["name"] for one in sources] == ["My vault", "shop"]
    assert all(set(one) == NAMES for one in sources)
    assert sources[1]["phase"] == "ready"
    answer = linked.run("search", "--source", "shop", "put an item into the cart")
    assert [hit["path"] for hit in answer["hits"]] == ["src/cart.py"]
    assert answer["hits"][0]["anchor"] == "#add_to_cart"
    assert answer["hits"][0]["kind"] == "code"
    assert linked.run("search", "--source", "shop", "numbats")["hits"][0]["kind"] == "note"
    by_path = linked.run("search", "--source", str(shop), "cart", "--limit", "1", "--explain")
    assert by_path["hits"]
    many = linked.run("search", "--source", "shop", "cart numbats", "--explain")["hits"]
    ranks = [hit["parts"]["rank"] for hit in many]
    assert ranks == sorted(ranks, reverse=True) and len(ranks) > 1
    assert "session" not in str([hit["why"] for hit in many])
    fetched = linked.run("fetch", "--source", "shop", answer["hits"][0]["id"])
    assert fetched["text"].startswith("def add_to_cart") and fetched["kind"] == "code"
    shown = run(linked, "status").out
    assert "Linked: shop: ready" in shown
    assert str(shop) in run(linked, "links").out


def test_what_is_ignored_or_secret_is_never_shown(linked: Machine) -> None:
    assert linked.run("search", "--source", "shop", "walrus", ok=(5,))["hits"] == []
    for path in (".env", "local/notes.md", "../shop/src/cart.py", "/etc/passwd"):
        assert linked.run("fetch", "--source", "shop", path, ok=(1, 5))["error"]


def test_not_a_byte_of_a_linked_folder_is_changed(linked: Machine, shop: Path) -> None:
    before = fingerprint(shop, but="")
    linked.run("search", "--source", "shop", "cart")
    linked.run("status")
    assert fingerprint(shop, but="") == before


def test_a_link_is_given_relative_to_where_one_stands(
    machine: Machine, tmp_path: Path, shop: Path
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("# A\n\nnumbat\n")
    done = run(machine, "link", "docs", "--vault", str(machine.vault), cwd=tmp_path)
    assert done.code == 0, done.err
    assert "is linked as docs" in done.out and "vaultmind plan docs --task" in done.out
    assert machine.run("search", "--source", "docs", "numbat")["hits"]
    (tmp_path / "docs").rename(tmp_path / "away")
    gone = run(machine, "links", "--wait")
    assert gone.code == 1
    assert "gone" in gone.out
    checks = machine.run("doctor", ok=(0, 1))["checks"]
    mends = {one["mend"] for one in checks if one["name"] == "linked folder"}
    assert "Bring it back, or: vaultmind unlink docs" in mends
    assert run(machine, "unlink", str(tmp_path / "docs")).code == 0
    assert "docs" not in run(machine, "links").out


@pytest.mark.parametrize("name", ["link", "unlink", "links"])
def test_linking_is_the_persons_alone(name: str) -> None:
    operation = find(name, "cli")
    assert operation.persons
    for surface in ("mcp", "http"):
        with pytest.raises(VaultMindError, match="no operation"):
            find(name, surface)  # type: ignore[arg-type]
