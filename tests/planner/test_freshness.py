"""Pages: a file as it stands on disk now, and whether it still does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.planner.planned import Planned
from vaultmind.planner.candidates import Asked, candidates
from vaultmind.planner.names import Known
from vaultmind.planner.pack import Ranked, decide, lay
from vaultmind.planner.pages import read_page, state_of
from vaultmind.planner.task import understand
from vaultmind.planner.types import PlanRequest
from vaultmind.types import PERSON

CART = "shop/cart.py"


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planned]:
    made = Planned(tmp_path_factory.mktemp("pages"))
    yield made
    made.close()


def edited(root: Path, text: str = "") -> None:
    path = root / CART
    path.write_text(f"{path.read_text('utf-8')}\n# {text or 'edited'}\n", "utf-8")


def asked(planned: Planned, *, strict: bool = True) -> tuple[Asked, list[Ranked]]:
    source = planned.source()
    known = Known(source)
    known.settle(30)
    request = PlanRequest("shop", CART, strict=strict)
    what = Asked(
        request, understand(CART, "shop"), source, PERSON, datetime(2026, 3, 4, tzinfo=UTC), known
    )
    one = candidates(what)[CART]
    return what, [Ranked(one, 1.0)]


def test_a_file_that_is_gone_or_leads_out_is_no_page(planned: Planned) -> None:
    assert read_page(planned.source(), "shop/nothing.py", "") is None
    assert read_page(planned.source(), "../vault/Oven.md", "") is None


def test_a_change_after_the_reading_is_stale_and_a_deletion_too(planned: Planned) -> None:
    source = planned.source()
    page = read_page(source, CART, "")
    assert page is not None
    assert state_of(source, page) == "FRESH"
    edited(planned.shop)
    assert state_of(source, page) == "STALE"
    assert state_of(source, replace(page, path="shop/nothing.py")) == "STALE"
    assert state_of(source, replace(page, path="../vault/Oven.md")) == "DIRTY"


def test_without_strict_it_is_shown_as_stale(planned: Planned) -> None:
    planned.settle()
    what, ranked = asked(planned, strict=False)
    read = lay(what, ranked)
    edited(planned.shop)

    done = decide(what, read)
    assert done.context.files == (CART,)
    assert done.freshness == "stale"
    assert {piece.freshness for piece in done.context.pieces} == {"STALE"}
