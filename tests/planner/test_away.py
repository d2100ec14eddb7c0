"""Plans and searches where a source is away, is another folder, or has a damaged index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.planner.planned import Planned
from vaultmind.errors import IndexUnavailable, VaultNotFound
from vaultmind.types import PERSON, SearchRequest

TASK = "bug: the jwt token is not refreshing on 401"


@pytest.fixture
def planned(tmp_path: Path) -> Iterator[Planned]:
    found = Planned(tmp_path)
    yield found
    found.close()


def damage(database: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        file = Path(f"{database}{suffix}")
        with file.open("r+b") as opened:  # as long as before: the last one is mapped into memory
            opened.write(b"\x5a" * file.stat().st_size)


def test_a_source_that_is_gone_is_said_at_once(planned: Planned, tmp_path: Path) -> None:
    assert planned.plan(TASK).context.files
    planned.shop.rename(tmp_path / "away")
    with pytest.raises(VaultNotFound, match="does not exist"):
        planned.plan(TASK)
    (tmp_path / "away").rename(planned.shop)
    assert planned.plan(TASK).context.files


@pytest.mark.parametrize("name", ["shop", "vault"])
def test_a_damaged_index_is_told_and_plans_go_on(planned: Planned, name: str) -> None:
    index = planned.source(name).index
    wanted = ("jwt token", TASK) if name == "shop" else ("oven of clay", "mend the clay oven")
    assert index.search(SearchRequest(wanted[0]), PERSON).hits
    damage(index._database.path)
    plan = planned.plan(wanted[1], project_root=name)
    assert plan.context.files  # by names, links and history
    assert "damaged" in " ".join(plan.notes)
    with pytest.raises(IndexUnavailable, match="damaged"):
        index.search(SearchRequest(wanted[0]), PERSON)
