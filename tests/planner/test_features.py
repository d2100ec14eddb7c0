"""Features: each from 0 to 1, pure, and growing with what speaks for a file."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.planner.candidates.pool import Candidate
from vaultmind.planner.ranking.features import (
    About,
    f_recency_score,
    f_risk_score,
    f_structural_relevance,
    f_test_proximity,
    f_token_cost,
    features_of,
    role_of,
    scope,
    scope_of,
    sort_of,
)
from vaultmind.planner.ranking.scorer import built_in
from vaultmind.planner.structure.records import FileRecord, Shape
from vaultmind.planner.types import TASK_KINDS

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


def test_a_bug_is_looked_for_in_code_and_a_text_in_notes() -> None:
    code, note = Candidate("shop/cart.py"), Candidate("Oven.md")
    bug, text = About("bugfix", "low", CODE), About("writing", "low", CODE)
    assert f_structural_relevance(code, bug) > f_structural_relevance(
        note, About("bugfix", "low", NOTE)
    )
    assert f_structural_relevance(code, text) < f_structural_relevance(
        note, About("writing", "low", NOTE)
    )


def test_a_file_that_the_structure_tells_of_fits_better() -> None:
    told = Candidate("shop/cart.py", {"definitions": 1.0})
    assert f_structural_relevance(told, about()) > f_structural_relevance(
        Candidate("shop/cart.py"), about()
    )


def test_what_changed_now_is_most_recent() -> None:
    assert f_recency_score(about(age_days=0.0)) == 1.0
    assert f_recency_score(about(age_days=30.0)) == pytest.approx(0.5)
    assert f_recency_score(about(age_days=math.inf)) == 0.0


def test_a_critical_file_counts_for_a_risky_task_most() -> None:
    low = f_risk_score(About("bugfix", "low", CODE, path_risk=0.8))
    assert low < f_risk_score(About("bugfix", "high", CODE, path_risk=0.8))


def test_a_test_of_a_strong_candidate_is_nearer_than_a_file_with_tests() -> None:
    near = f_test_proximity(Candidate("tests/test_cart.py", {"test": 0.9}), about())
    far = f_test_proximity(Candidate("shop/cart.py"), about(has_tests=True))
    assert near > far > f_test_proximity(Candidate("shop/cart.py"), about())


def test_a_larger_file_costs_more() -> None:
    sizes = [f_token_cost(about(record("a.py", tokens=tokens))) for tokens in (0, 50, 5000, 10**6)]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (0.0, 1.0)


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


def test_a_file_of_the_place_that_the_task_names_has_all_of_it() -> None:
    what = about(scope=frozenset({"cart"}))
    assert scope(Candidate("shop/cart/total.py"), what) == 1.0
    assert scope(Candidate("shop/orders.py"), what) == 0.0


def test_each_file_has_one_role() -> None:
    assert role_of("tests/test_cart.py", record("tests/test_cart.py", test=True)) == "test"
    assert role_of("shop/cart.py", CODE) == "code"
    assert role_of("Oven.md", None) == "note"
    assert role_of("README.rst", record("README.rst", "text")) == "document"
    assert role_of("uv.lock", record("uv.lock", "data")) == "data"


@pytest.mark.parametrize(
    ("path", "sort"),
    [
        ("CHANGES.rst", "is_changelog"),
        ("docs/versionhistory.rst", "is_changelog"),
        ("CHANGELOG", "is_changelog"),
        ("shop/history.py", ""),
        ("README.md", "is_document"),
        ("docs/api/cart.rst", "is_document"),
        ("pyproject.toml", "is_settings"),
        (".github/workflows/ci.yml", "is_settings"),
        (".gitignore", "is_settings"),
        (".hidden.py", ""),
        ("LICENSE", "is_document"),
        ("README", "is_document"),
        ("bin/deploy", ""),
        ("docs/News.md", "is_document"),
        ("packages/cart/CHANGELOG.md", "is_changelog"),
        ("changelog.d/12.feature.rst", "is_changelog"),
        ("shop/changelog/__init__.py", ""),
        ("Makefile", "is_settings"),
        ("shop/cart.py", ""),
        ("src/changes_of.py", ""),
    ],
)
def test_a_path_names_a_sort_of_file_that_counts_nothing_before_it_is_learnt(
    path: str, sort: str
) -> None:
    assert sort_of(path) == sort
    told = features_of(Candidate(path), about())
    assert {name for name in told if name.startswith("is_")} == {"is_test", *filter(None, [sort])}
    assert not sort or built_in("code").weights[sort] == built_in("notes").weights[sort] == 0


@pytest.mark.parametrize("path", ["History.md", "News.md", "Change.md", "Work/Changelog.md"])
def test_a_note_is_no_changelog(path: str) -> None:
    assert sort_of(path, "notes") == "is_document"
    told = features_of(Candidate(path), about(NOTE, of="notes"))
    assert "is_changelog" not in told
