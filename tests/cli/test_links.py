"""`link`, `unlink`, `links`, and searching in what is linked: over the daemon, as a person does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import run
from tests.machine import Machine, fingerprint, text_of
from tests.waiting import until
from vaultmind.errors import NotAllowed, VaultMindError
from vaultmind.serve.operations import find
from vaultmind.types import Caller

CODE = '''def add_to_cart(item):
    """Put an item into the cart."""
    return item
'''
NAMES = {"name", "root", "kind", "there", "phase", "files", "chunks", "vectors", "words", "notes",
         "faults", "fault_count"}  # fmt: skip


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


def test_waiting_for_the_links_waits_for_the_vault_too(tmp_path: Path) -> None:
    fresh = Machine(tmp_path / "vault", tmp_path / "state")
    fresh.furnish({f"Daily/{number}.md": f"# Day {number}\n\nRain.\n" for number in range(150)})
    (vault,) = fresh.run("links", "--wait", "--in-process")["sources"]
    assert (vault["kind"], vault["phase"]) == ("vault", "ready"), vault["words"]


def test_links_says_which_files_could_not_be_taken_and_why(linked: Machine) -> None:
    (shop,) = [one for one in linked.run("links")["sources"] if one["name"] == "shop"]
    assert shop["fault_count"] == 1
    assert shop["faults"][0]["path"] == "app.js" and "minified" in shop["faults"][0]["reason"]
    shown = run(linked, "links").out
    assert "1 file could not be taken whole." in shown and "app.js: minified" in shown


def test_a_folder_below_a_linked_one_is_planned_over_as_it(linked: Machine, shop: Path) -> None:
    task = ("--task", "put an item into the cart", "--json")
    done = run(linked, "plan", ".", "--vault", str(linked.vault), *task, cwd=shop / "src")
    assert done.code == 0, done.err
    assert json.loads(done.out)["source"] == "shop"
    assert json.loads(run(linked, "plan", ".", *task, cwd=shop / "src").out)["source"] == "shop"


def test_the_vaults_own_search_finds_nothing_of_it(linked: Machine) -> None:
    assert linked.run("search", "add_to_cart", ok=(0, 5))["hits"] == []


def test_what_is_ignored_or_secret_is_never_shown(linked: Machine) -> None:
    assert linked.run("search", "--source", "shop", "walrus", ok=(5,))["hits"] == []
    for path in (".env", "local/notes.md", "../shop/src/cart.py", "/etc/passwd"):
        assert linked.run("fetch", "--source", "shop", path, ok=(1, 5))["error"]


def test_not_a_byte_of_a_linked_folder_is_changed(linked: Machine, shop: Path) -> None:
    before = fingerprint(shop, but="")
    linked.run("search", "--source", "shop", "cart")
    linked.run("status")
    assert fingerprint(shop, but="") == before


def test_errors_say_what_there_is(linked: Machine, shop: Path) -> None:
    unknown = run(linked, "search", "--source", "shp", "cart")
    assert unknown.code == 5
    assert "there are: My vault, shop" in unknown.err
    again = run(linked, "link", str(shop))
    assert again.code == 2
    assert "linked already, as shop" in again.err
    around = run(linked, "link", "..")
    assert "the vault lies in it" in around.err
    assert run(linked, "unlink", "nothing").code == 5


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


def test_an_agent_cannot_link_over_the_local_socket_either() -> None:
    from vaultmind.serve.operations import Call, run_operation

    with pytest.raises(NotAllowed):
        run_operation(None, Call(Caller("agent", "main")), "link", {"path": "/tmp"})  # type: ignore[arg-type]


def test_an_agent_is_told_of_sources_without_folders(linked: Machine, shop: Path) -> None:
    async def ask() -> Any:
        async with linked.client() as client:
            return await client.call_tool("memory_status", {})

    told = asyncio.run(ask())
    assert "Linked: shop" in text_of(told)
    assert str(shop) not in text_of(told)
    assert str(shop) not in str(told.structured_content)


def test_links_outlive_a_crash(linked: Machine) -> None:
    pid = linked.pid()
    linked.kill()
    until(lambda: linked.pid() != pid)
    linked.begin()
    assert linked.run("search", "--source", "shop", "put an item into the cart")["hits"]
    assert len(linked.run("links")["sources"]) == 2
