"""The sources: what may be linked, how it is found, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.fakes import OpenToAll
from vaultmind.config import Config, IndexConfig
from vaultmind.config.links import Link, links_file
from vaultmind.errors import BadArgument, NotFound
from vaultmind.index.folder import VaultFolder
from vaultmind.index.index import Index
from vaultmind.index.outlet import Outlet
from vaultmind.memory.forget.hiding import Tombstones
from vaultmind.planner.sources import Sources, folder_indexes
from vaultmind.vault.paths import VaultPaths


def now() -> datetime:
    return datetime.now(UTC)


class Desk:
    """A vault, a project beside it, and the sources that are opened over them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.vault = self.home / "Documents/Notes"
        self.shop = self.home / "code/shop"
        for path in (self.vault, self.shop, self.home / ".ssh", self.home / "code/other"):
            path.mkdir(parents=True)
        (self.vault / "Ferry.md").write_text("# Ferry\n\nIt leaves at seven.\n")
        (self.shop / "cart.py").write_text("def add_to_cart(item):\n    return item\n")
        (self.home / "code/other/readme.md").write_text("# Other\n\nquokka\n")
        self.paths = VaultPaths(self.vault)
        self.closing: list[Callable[[], None]] = []
        self.config = Config(
            self.vault,
            folder / "state/0123",
            config_folder=folder / "config",
            index=IndexConfig(embedder="none", debounce_ms=10),
        )

    @property
    def links(self) -> Path:
        return links_file(self.config.state_dir, self.config.config_folder)

    def open(self, *, start: bool = True) -> Sources:
        outlet = Outlet(VaultFolder(self.paths), Tombstones(self.paths), OpenToAll())
        index = Index(self.config, outlet, clock=now, embedder=lambda: None)
        opens = folder_indexes(self.config, outlet, lambda: None, now)
        sources = Sources(self.config, index, opens, now, self.home)
        if start:
            index.start()
            sources.start()
        self.closing = [sources.close, index.close]
        return sources

    def close(self) -> None:
        for close in self.closing:
            close()
        self.closing = []

    def states(self) -> list[str]:
        folder = self.config.state_dir / "sources"
        return sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path.resolve())
    yield desk
    desk.close()


NOT_LINKED = """/: everything, {home}: everything, {home}/..: everything, {vault}: is the vault,
    {vault}/Projects: inside the vault, {home}/Documents: the vault is inside it,
    {home}/around: the vault is inside it, {home}/.ssh: keys, {home}/.ssh/deep: keys, /etc: system,
    /proc/self: system, {state}: state, {home}/code/shop/cart.py: not a, code/shop: absolute"""


@pytest.mark.parametrize("case", NOT_LINKED.split(","))
def test_what_is_too_much_is_not_linked(desk: Desk, case: str) -> None:
    (desk.vault / "Projects").mkdir()
    (desk.home / ".ssh/deep").mkdir()
    (desk.home / "around").symlink_to(desk.home / "Documents")  # another way to the vault
    (desk.folder / "state").mkdir(exist_ok=True)
    sources = desk.open(start=False)
    path, why = case.strip().split(": ")
    named = path.format(home=desk.home, vault=desk.vault, state=desk.folder / "state")
    with pytest.raises(BadArgument, match=why):
        sources.link(named)
    assert sources.links() == ()
    assert not desk.links.exists()


def test_one_folder_has_one_name_and_a_name_one_folder(desk: Desk) -> None:
    sources = desk.open(start=False)
    sources.link(str(desk.shop))
    (desk.home / "alias").symlink_to(desk.shop)
    for path in (desk.shop, desk.home / "alias", desk.shop / "../shop"):
        with pytest.raises(BadArgument, match="already linked as shop"):
            sources.link(str(path), "another")
    for name in ("shop", "SHOP", "vault", "notes"):
        with pytest.raises(BadArgument, match="taken"):
            sources.link(str(desk.home / "code/other"), name)
    for name in ("../x", "a b", "-x", "x" * 41, "ключ"):
        with pytest.raises(BadArgument, match="name"):
            sources.link(str(desk.home / "code/other"), name)
    assert sources.link(str(desk.home / "code/other"), "Mine").name == "mine"


def test_unlinking_drops_the_index_and_touches_nothing_else(desk: Desk) -> None:
    sources = desk.open()
    sources.link(str(desk.shop)).index.wait_ready(20)
    assert len(desk.states()) == 1
    before = {path: path.stat().st_mtime_ns for path in desk.shop.rglob("*")}
    assert sources.unlink("shop") == Link("shop", desk.shop)
    assert desk.states() == [] and sources.links() == ()
    assert {path: path.stat().st_mtime_ns for path in desk.shop.rglob("*")} == before
    with pytest.raises(NotFound, match="linked: nothing"):
        sources.unlink("shop")
    assert sources.link(str(desk.shop)).index.wait_ready(20)
    assert sources.unlink(str(desk.shop)).name == "shop"
