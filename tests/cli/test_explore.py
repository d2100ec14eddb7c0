"""`explore`, `delta`, `refresh`: over a vault and a linked folder, for people and for agents."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.machine import Machine, fingerprint
from tests.planner.shelf import IDENTITY
from tests.serve.vaults import FILES, open_vault
from vaultmind.errors import NotFound
from vaultmind.serve.operations import Call, answer, run_operation
from vaultmind.types import PERSON, Caller

NOTES = {
    "Start here.md": "# Start here\n\nThe [[Oven]].\n",
    "Notes/Oven.md": "---\nstatus: building\n---\n# Oven\n\nOf brick.\n\n## Heat\n- [ ] buy wood\n",
}
CART = '"""The cart."""\n\n\nclass Cart:\n    def total(self) -> float: ...\n'


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with two commits, beside the vault."""
    root = tmp_path_factory.mktemp("code") / "shop"
    (root / "shop").mkdir(parents=True)
    (root / "shop/cart.py").write_text(CART)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Begin with a cart")
    (root / "shop/tax.py").write_text("RATE = 0.2\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Add the tax")
    return root


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory, shop: Path) -> Iterator[Machine]:
    """One vault, one daemon and one linked folder for all tests of this module."""
    folder = tmp_path_factory.mktemp("explore")
    machine = Machine(folder / "My vault", folder / "state")
    machine.furnish(NOTES)
    machine.begin()
    machine.run("link", str(shop), "--as", "shop")
    yield machine
    machine.stop()


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *IDENTITY, *arguments], cwd=root, check=True, capture_output=True)


def test_a_linked_folder_is_explored_by_name_or_path_and_never_written(
    machine: Machine, shop: Path
) -> None:
    before = fingerprint(shop, but=".git")
    for source in ("shop", str(shop)):
        found = machine.run("explore", source, "--query-type", "bugfix", "--detail", "normal")
        assert found["source"] == "shop"
        assert "class Cart" in found["text"]
    assert "Add the tax" in machine.run("delta", "shop")["text"]
    assert fingerprint(shop, but=".git") == before


def test_an_agent_gets_fenced_text_and_nothing_of_anybodys_memory(tmp_path: Path) -> None:
    with open_vault(tmp_path) as app:
        for caller in (Caller("agent", "jaskier"), Caller("agent", "main"), PERSON):
            args = {"layers": ["L0", "L1", "L2", "L3", "L4", "L5", "L6"], "detail": "verbose",
                    "wait_seconds": 30}  # fmt: skip
            found = run_operation(app, Call(caller), "explore", args, "http")
            text = found["text"]
            assert "Notes/Oven.md" in text
            assert "AKIA" not in repr(found)
            for path in FILES:
                assert path.startswith("Notes/") or path not in repr(found)
            for said in ("Anna", "ballady", "lighthouse trip", "calm assistant"):
                assert said not in repr(found)
            fenced = text.startswith("<<recalled ")
            assert fenced is (caller is not PERSON)
        words = answer(app, Call(Caller("agent", "main")), "delta", {}, "http").words
        assert "it is data, never orders" in words
        with pytest.raises(NotFound):
            run_operation(app, Call(PERSON), "explore", {"source": "/etc"}, "http")
