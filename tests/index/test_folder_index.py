"""The index of a linked folder: real threads, real file events, real files."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.fakes import OpenToAll
from tests.index.vault import Hidden
from tests.waiting import until
from vaultmind.config import Config, IndexConfig
from vaultmind.config.settings import RedactConfig
from vaultmind.errors import VaultNotFound
from vaultmind.index.index import Index
from vaultmind.index.linked import LinkedFolder
from vaultmind.index.outlet import Outlet
from vaultmind.planner.records import code_spans
from vaultmind.redact import use_patterns
from vaultmind.types import PERSON, Caller, SearchRequest

AGENT = Caller("agent", "claude")
CART = '''class Cart:
    """What a customer wants to buy."""

    def add(self, item):
        """Put an item into the cart."""
        self.items.append(item)
'''


class Shop:
    """A linked folder on disk and the index that follows it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "shop"
        self.state = folder / "state"
        self.write("src/cart.py", CART)
        self.write("README.md", "# Shop\n\nA shop for ferry tickets.\n")
        self.write(".gitignore", "build/\n*.log\n")
        self.write(".git/HEAD", "ref: refs/heads/main\n")
        self.opened: list[Index] = []

    def open(self, *patterns: str, **keys: object) -> Index:
        named: dict[str, object] = {"embedder": "none", "debounce_ms": 10, "max_file_mb": 1.0}
        indexing = IndexConfig(**{**named, **keys})  # type: ignore[arg-type]
        config = Config(self.root, self.state, index=indexing, redact=RedactConfig(patterns))
        ground = LinkedFolder(self.root, (), code_spans)
        outlet = Outlet(ground, Hidden(), OpenToAll())
        index = Index(config, outlet, clock=lambda: datetime.now(UTC), embedder=lambda: None)
        self.opened.append(index)
        index.start()
        return index

    def ready(self, *patterns: str, **keys: object) -> Index:
        index = self.open(*patterns, **keys)
        assert index.wait_ready(20)
        return index

    def write(self, path: str, text: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    shop = Shop(tmp_path.resolve())
    yield shop
    for index in shop.opened:
        index.close()


def found(index: Index, query: str, caller: Caller = PERSON) -> set[str]:
    return {hit.path for hit in index.search(SearchRequest(query, limit=50), caller).hits}


def files(index: Index) -> set[str]:
    rows = index._database
    with rows.read() as connection:
        held = connection.execute("SELECT path FROM files WHERE severity != 'skipped'").fetchall()
    return {path for (path,) in held}


def test_code_and_documents_are_found_by_person_and_agent(shop: Shop) -> None:
    index = shop.ready()
    assert found(index, "put an item into the cart") == {"src/cart.py"}
    assert found(index, "ferry tickets", AGENT) == {"README.md"}
    hit = index.search(SearchRequest("customer wants to buy"), AGENT).hits[0]
    assert hit.anchor == "#Cart"
    assert index.fetch(hit.id, AGENT).text.startswith("class Cart")
    assert "ferry" in index.fetch("README.md#Shop", AGENT).text


def test_changes_are_followed_as_they_come(shop: Shop) -> None:
    index = shop.ready(reconcile_minutes=60)
    shop.write("src/new/deep/order.py", "def order():\n    return 'capybara'\n")
    until(lambda: found(index, "capybara") == {"src/new/deep/order.py"})
    shop.write("src/new/deep/order.py", "def order():\n    return 'wombat'\n")
    until(lambda: "src/new/deep/order.py" in found(index, "wombat"))
    (shop.root / "src/new").rename(shop.root / "src/old")
    until(lambda: "src/old/deep/order.py" in files(index))
    shop.write("src/old/deep/late.py", "kiwi = 1\n")
    until(lambda: "src/old/deep/late.py" in files(index))
    shutil.rmtree(shop.root / "src/old")
    until(lambda: files(index) == {"src/cart.py", "README.md"})


def test_a_gitignore_that_is_edited_counts_at_once(shop: Shop) -> None:
    shop.write("build/made.py", "quokka = 1\n")
    shop.write("drafts/idea.py", "numbat = 1\n")
    index = shop.ready(reconcile_minutes=60)
    assert found(index, "quokka numbat") == {"drafts/idea.py"}
    shop.write(".gitignore", "drafts/\n")
    until(lambda: files(index) == {"src/cart.py", "README.md", "build/made.py"})
    shop.write("build/more.py", "bilby = 1\n")  # in a folder that was not watched before
    until(lambda: "build/more.py" in files(index))
    shop.write("src/.gitignore", "cart.py\n")
    until(lambda: "src/cart.py" not in files(index))


def test_a_folder_that_is_gone_keeps_its_index_and_comes_back(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vaultmind.index.index._RETRY_SECONDS", 0.1)
    index = shop.ready(reconcile_minutes=0.005)
    away = tmp_path / "unplugged"
    shop.root.rename(away)
    until(lambda: "does not exist" in " ".join(index.state().notes))
    assert found(index, "ferry tickets") == set()  # never what cannot be checked
    assert files(index) == {"src/cart.py", "README.md"}
    (away / "README.md").write_text("# Shop\n\nIt sells axolotls now.\n")
    away.rename(shop.root)
    until(lambda: found(index, "axolotls") == {"README.md"})
    until(lambda: "does not exist" not in " ".join(index.state().notes))
    shop.write("src/late.py", "dugong = 1\n")
    until(lambda: found(index, "dugong") == {"src/late.py"})


def test_an_empty_mount_point_or_a_link_elsewhere_is_not_the_folder(
    shop: Shop, tmp_path: Path
) -> None:
    index = shop.ready(watch=False)
    shop.root.rename(tmp_path / "unplugged")
    shop.root.mkdir()
    with pytest.raises(VaultNotFound, match="empty"):
        index.refresh(["README.md"])
    assert files(index) == {"src/cart.py", "README.md"}
    shop.root.rmdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other/README.md").write_text("# Other\n\nnarwhal\n")
    shop.root.symlink_to(tmp_path / "other")
    with pytest.raises(VaultNotFound, match="symbolic link"):
        index.refresh(["README.md"])
    assert found(index, "narwhal") == set()


def test_the_index_holds_no_secret_and_is_made_anew_for_other_patterns(shop: Shop) -> None:
    shop.write("README.md", "The password of project Falcon is hunter2xyz.\n")
    index = shop.ready()
    (hit,) = index.search(SearchRequest("password hunter2xyz"), PERSON).hits
    assert hit.text == "The password of project Falcon is ‹password›."
    index.close()
    assert not any(b"hunter2xyz" in one.read_bytes() for one in shop.state.glob("index.db*"))
    use_patterns(["Falcon"])
    try:
        (hit,) = shop.ready("Falcon").search(SearchRequest("password"), PERSON).hits
    finally:
        use_patterns(())
    assert "Falcon" not in hit.text
