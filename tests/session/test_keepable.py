"""What of a message may be kept: no half of a secret, no id that is one."""

from __future__ import annotations

import pytest

from vaultmind.session.records.keepable import beginning, keepable_id

TOKEN = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


@pytest.mark.parametrize("before", range(160, 201, 5))
def test_a_secret_at_the_cut_is_not_kept_in_part(before: int) -> None:
    kept = beginning(f"{'x ' * (before // 2)}{TOKEN} and so on", 200)
    assert "ghp_" not in kept and len(kept) <= 200


def test_a_private_passage_that_ends_after_the_cut_is_not_kept() -> None:
    kept = beginning(f"{'x ' * 80}<private>my salary is {'9' * 60}</private> done", 200)
    assert "salary" not in kept


def test_a_short_text_is_kept_as_it_is() -> None:
    assert beginning("  12 passed  ", 200) == "12 passed"


@pytest.mark.parametrize("given", [TOKEN, "<private>", "a <private>b</private>"])
def test_an_id_that_holds_a_secret_becomes_a_hash(given: str) -> None:
    kept = keepable_id(given)
    assert kept != given and kept == keepable_id(given) and kept.isalnum()


def test_other_ids_stay() -> None:
    assert keepable_id("toolu_01/2") == "toolu_01/2"
    assert keepable_id("") == ""
