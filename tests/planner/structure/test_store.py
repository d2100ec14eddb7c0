"""What is kept between runs comes back as it was; what is damaged is made anew."""

from __future__ import annotations

from pathlib import Path

from vaultmind.planner.structure.records import Definition, FileRecord, Heading, Link, Task
from vaultmind.planner.structure.store import Kept, Store
from vaultmind.vault.files import FileStat

RECORD = FileRecord(
    path="src/cart.py",
    sha="ab",
    shape="code",
    language="python",
    title="cart.py",
    lines=10,
    tokens=80,
    abstract="A cart – z koszykiem.",
    entry=True,
    headings=(Heading("Use", 2, 3),),
    definitions=(
        Definition("Cart.add", "method", 3, 5, "def add(self)", "Adds.", True, ("Base",)),
    ),
    links=(Link("import", "shop.tax", 1, ("rate", "Tax")),),
    uses=("rate",),
    properties=(("status", "new"),),
    tags=("a/b",),
    tasks=(Task("later", 4), Task("done", 5, done=True)),
    fault="",
)
KEPT = Kept(RECORD, FileStat(1, 2, 3), "blob", 7.5)


def test_a_damaged_file_is_made_anew(tmp_path: Path) -> None:
    file = tmp_path / "structure.db"
    file.write_bytes(b"this is no database" * 500)
    store = Store(file)
    assert store.load() == {}
    store.put({"src/cart.py": KEPT})
    assert store.load() == {"src/cart.py": KEPT}
    assert store.fault == ""
    store.close()


def test_a_folder_that_cannot_be_written_is_said_and_done_without(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    store = Store(blocked / "below" / "structure.db")
    store.put({"src/cart.py": KEPT})
    assert store.load() == {}
    assert "not kept" in store.fault
    store.close()
