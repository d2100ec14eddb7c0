"""Features: each from 0 to 1, pure, and growing with what speaks for a file."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.planner.candidates import Candidate
from vaultmind.planner.features import (
    About,
    f_structural_relevance,
    features_of,
    scope_of,
    sort_of,
)
from vaultmind.planner.types import TASK_KINDS, FileRecord, Shape

SEEDS = (
    "f_structural_relevance",
    "f_semantic_score",
    "f_affinity_score",
    "f_recency_score",
    "f_risk_score",
    "f_test_proximity",
    "f_token_cost",
)


def record(
    path: str, shape: Shape = "code", *, test: bool = False, tokens: int = 100
) -> FileRecord:
    return FileRecord(path, "sha", shape, "", path, 10, tokens, test=test)


CODE, NOTE = record("shop/cart.py"), record("Oven.md", "note")


def about(one: FileRecord | None = CODE, **known: object) -> About:
    return About("bugfix", "low", one, **known)  # type: ignore[arg-type]


@given(
    st.dictionaries(
        st.sampled_from(["meaning", "affinity", "path", "test", "used", "words"]), st.floats(0, 1)
    ),
    st.sampled_from(TASK_KINDS),
    st.sampled_from(["low", "medium", "high"]),
    st.sampled_from([None, CODE, NOTE]),
    st.floats(-5, 1e6) | st.just(math.inf),
)
def test_every_feature_is_from_0_to_1(
    signals: dict[str, float], kind: str, risk: str, one: FileRecord | None, age: float
) -> None:
    what = About(kind, risk, one, frozenset({"cart"}), age, 0.9, has_tests=True)  # type: ignore[arg-type]
    features = features_of(Candidate("shop/cart.py", signals), what)
    assert set(SEEDS) <= features.keys()
    assert all(0.0 <= value <= 1.0 for value in features.values())


def test_a_file_that_the_structure_tells_of_fits_better() -> None:
    told = Candidate("shop/cart.py", {"definitions": 1.0})
    assert f_structural_relevance(told, about()) > f_structural_relevance(
        Candidate("shop/cart.py"), about()
    )


@pytest.mark.parametrize(
    ("task", "place"),
    [
        ("fix(cart): a total of two lines", {"cart"}),
        ("net/http: close idle connections", {"net", "http"}),
        ("docs: the new commands", {"doc"}),
        ("fix: a total", set()),
        ("A total of two lines: why?", set()),
        ("https://example.org is down", set()),
    ],
)
def test_the_place_before_a_colon_is_told_from_the_kind(task: str, place: set[str]) -> None:
    assert scope_of(task) == place


@pytest.mark.parametrize("path", ["History.md", "News.md", "Change.md", "Work/Changelog.md"])
def test_a_note_is_no_changelog(path: str) -> None:
    assert sort_of(path, "notes") == "is_document"
    told = features_of(Candidate(path), about(NOTE, of="notes"))
    assert "is_changelog" not in told
