"""episodes/affinity: success counts, failure counts against, time fades, a few say nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.episodes.worked import NOW, event, opened, worked
from vaultmind.episodes.affinity import AffinitySettings, Sample, used, weight_of
from vaultmind.episodes.tables.tables import Tables
from vaultmind.episodes.types import RESULTS, Episode

SETTINGS = AffinitySettings()
EDITED = Sample(1.0, 0.0, "success", read=True, edited=True)
EDIT, READ = event("edit", "src/token.py"), event("read", "src/auth.py")

SAMPLES = st.builds(
    Sample,
    st.floats(0.0, 1.0),
    st.floats(0.0, 5000.0),
    st.sampled_from(RESULTS),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.floats(0.0, 1.0),
)


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[Tables]:
    with opened(tmp_path / "episodes.db") as opened_:
        yield opened_


def weight(*samples: Sample) -> float:
    return weight_of(samples, SETTINGS)


def test_success_counts_most_then_what_was_committed_then_partial_and_unknown() -> None:
    ranked = [
        EDITED,
        EDITED._replace(outcome="unknown", committed=True),
        EDITED._replace(outcome="partial"),
        EDITED._replace(outcome="unknown"),
    ]
    weights = [weight(one) for one in ranked]
    assert weights == sorted(weights, reverse=True) and len(set(weights)) == 4
    assert weight(EDITED._replace(outcome="failed")) == 0.0


def test_what_failed_counts_against_a_file() -> None:
    assert weight(EDITED, EDITED._replace(outcome="failed")) < weight(EDITED)


def test_a_change_counts_for_more_than_a_look() -> None:
    assert weight(EDITED) > weight(EDITED._replace(edited=False)) > 0.0


def test_what_was_done_long_ago_fades_to_half_and_then_to_nothing() -> None:
    old = EDITED._replace(age_days=60.0)
    assert weight(EDITED) > weight(old) > weight(old._replace(age_days=600.0))
    assert weight(old, old) == weight(EDITED)


def test_below_the_minimum_of_samples_nothing_is_said() -> None:
    doubtful = EDITED._replace(alike=0.9, outcome="unknown")
    assert weight(doubtful) == 0.0 < weight(doubtful, doubtful)
    read = EDITED._replace(alike=0.9, edited=False)
    assert weight(read) == 0.0 < weight(read, read)


def test_one_sample_is_enough_where_it_is_sure() -> None:
    assert weight(EDITED._replace(outcome="unknown")) > 0.0, "of the very same task"
    similar = EDITED._replace(alike=0.4)
    assert weight(similar) > 0.0, "what succeeded"
    assert weight(similar._replace(outcome="unknown", committed=True)) > 0.0
    assert weight_of([similar], AffinitySettings(min_samples_sure=2)) == 0.0


def test_similar_tasks_count_by_how_alike_they_are() -> None:
    near, far = EDITED._replace(alike=0.8), EDITED._replace(alike=0.3)
    assert weight(EDITED, EDITED) > weight(near, near) > weight(far, far) > 0.0


@settings(max_examples=40)
@given(st.lists(SAMPLES, max_size=12))
def test_a_weight_is_from_0_to_1(samples: list[Sample]) -> None:
    assert 0.0 <= weight_of(samples, SETTINGS) <= 1.0


@settings(max_examples=40)
@given(st.lists(SAMPLES, min_size=2, max_size=8))
def test_one_more_success_never_takes_weight_away(samples: list[Sample]) -> None:
    before = weight_of(samples, SETTINGS)
    assert weight_of([*samples, EDITED], SETTINGS) >= before


# --- over the tables -----------------------------------------------------------------------


def test_files_of_alike_work_come_heaviest_first_with_their_links(tables: Tables) -> None:
    commit = event("commit", commit="abc1234", text="Refresh once (#12)")
    tables.put(worked(READ, EDIT, commit, id="2026-11-20_001", days=2))
    tables.put(worked(READ, EDIT, id="2026-11-21_001", days=1))
    alike = {"main/2026-11-20_001": 0.8, "main/2026-11-21_001": 0.7}
    found = used(tables, "shop", alike, NOW)
    assert list(found) == ["src/token.py", "src/auth.py"]
    token, auth = found.values()
    assert token.samples == 2 and token.weight > auth.weight > 0.0
    assert (token.reads, auth.edits) == (0.0, 0.0)
    assert token.edits == pytest.approx(0.8 * 0.5 ** (2 / 60) + 0.7 * 0.5 ** (1 / 60), abs=1e-3)
    assert [link.commit for link in token.links] == ["", "abc1234"], "the latest first"
    assert token.causal > 0.5 and auth.causal == 0.0
    assert token.last == "2026-11-21T12:00:01+01:00"


def test_only_the_episodes_that_are_named_count(tables: Tables) -> None:
    tables.put(worked(EDIT, id="2026-11-20_001", days=2))
    tables.put(worked(EDIT, id="2026-11-21_001", days=1, agent="geralt"))
    tables.put(worked(EDIT, id="2026-11-21_002", days=1, source="notes"))
    assert used(tables, "shop", {}, NOW) == {}
    found = used(tables, "shop", {"main/2026-11-20_001": 1.0, "main/2026-11-21_002": 1.0}, NOW)
    assert found["src/token.py"].samples == 1


def test_what_was_only_found_is_not_used(tables: Tables) -> None:
    tables.put(worked(event("hit", "docs/jwt.md"), EDIT, id="2026-11-20_001"))
    assert list(used(tables, "shop", {"main/2026-11-20_001": 1.0}, NOW)) == ["src/token.py"]


def test_failed_work_is_no_reason_to_change_the_file_again(tables: Tables) -> None:
    tables.put(worked(EDIT, id="2026-11-20_001", outcome="failed"))
    one = used(tables, "shop", {"main/2026-11-20_001": 1.0}, NOW)["src/token.py"]
    assert (one.weight, one.causal, one.samples) == (0.0, 0.0, 1)


# --- the counts of a fingerprint -----------------------------------------------------------


def test_counts_of_a_task_follow_its_episodes_one_by_one(tables: Tables) -> None:
    first = worked(READ, EDIT, id="2026-11-20_001", days=2)
    tables.put(first)
    tables.put(worked(EDIT, id="2026-11-21_001", days=1, outcome="failed"))
    (token, auth) = tables.affinity("f-jwt")
    assert (token.path, token.reads, token.edits, token.success_edits) == ("src/token.py", 0, 2, 1)
    assert (auth.reads, auth.edits) == (1, 0) and token.weight > auth.weight
    newest = token.last_seen
    tables.put(replace(first, outcome="partial"))
    assert tables.affinity("f-jwt")[0].success_edits == 0
    tables.drop("main/2026-11-21_001")
    (token, _) = sorted(tables.affinity("f-jwt"), key=lambda one: one.path, reverse=True)
    assert token.edits == 1 and token.last_seen < newest
    tables.drop(first.name)
    assert tables.affinity("f-jwt") == ()


@given(
    st.lists(
        st.tuples(
            st.integers(1, 4),  # which episode
            st.sampled_from(["put", "put", "drop", "run"]),
            st.lists(st.tuples(st.sampled_from(["read", "edit"]), st.sampled_from("abc"))),
            st.sampled_from(RESULTS),
            st.sampled_from(["f1", "f2"]),
            st.integers(0, 50),
        ),
        max_size=12,
    )
)
@settings(max_examples=10)
def test_counts_kept_up_to_date_are_those_counted_anew(steps: list[Any]) -> None:
    held: dict[str, Episode] = {}
    with TemporaryDirectory() as folder, opened(Path(folder) / "one.db") as tables:
        for number, what, done, outcome, fingerprint, days in steps:
            one = worked(
                *(event(kind, path) for kind, path in done),
                id=f"2026-11-20_{number:03}",
                days=days,
                outcome=outcome,
                fingerprint=fingerprint,
                state="running" if what == "run" else "ended",
            )
            held.pop(one.name, None)
            if what == "drop":
                tables.drop(one.name)
            else:
                held[one.name] = one
                tables.put(one)
        with opened(Path(folder) / "two.db") as anew:
            for one in held.values():
                anew.put(one)
            for fingerprint in ("f1", "f2"):
                assert tables.affinity(fingerprint) == anew.affinity(fingerprint)


def test_an_episode_without_a_fingerprint_counts_for_no_task(tables: Tables) -> None:
    tables.put(worked(EDIT, fingerprint=""))
    assert tables.affinity("") == ()
