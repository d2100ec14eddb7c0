"""episodes/affinity: success counts, failure counts against, time fades, a few say nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.episodes.worked import NOW, event, opened, worked
from vaultmind.episodes.affinity import (
    AffinitySettings,
    Sample,
    credit_of,
    deeds_of,
    used,
    weighed,
)
from vaultmind.episodes.tables import holding
from vaultmind.episodes.tables.rows import TaskRow
from vaultmind.episodes.store import Tables
from vaultmind.episodes.types import RESULTS, Episode, Result, Used

SETTINGS = AffinitySettings()
PATH = "src/token.py"
EDIT, READ = event("edit", "src/token.py"), event("read", "src/auth.py")


class Did(NamedTuple):
    """What one episode did with one file."""

    alike: float
    age_days: float
    outcome: Result
    edited: bool = True
    committed: bool = False
    causal: float = 0.0

    @property
    def last_at(self) -> int:
        return int(NOW.timestamp() - self.age_days * 86_400)


EDITED = Did(1.0, 0.0, "success")
DID = st.builds(
    Did,
    st.one_of(st.floats(0.0, 1.0), st.just(1.0)),
    st.one_of(st.floats(-5.0, 5000.0), st.just(3.0)),
    st.sampled_from(RESULTS),
    st.booleans(),
    st.booleans(),
    st.floats(0.0, 1.0),
)


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[Tables]:
    with opened(tmp_path / "episodes.db") as opened_:
        yield opened_


def weights(works: Sequence[Mapping[str, Did]], most: int = 100) -> dict[str, Used]:
    """Return the weights of files, by what episodes did with each."""
    deeds, alike = [], {}
    for number, work in enumerate(works):
        first = next(iter(work.values()), EDITED)
        samples = [
            Sample(path, did.last_at, did.edited, did.committed, did.causal)
            for path, did in work.items()
        ]
        deeds.append(deeds_of(number, f"main/{number}", "shop", first.outcome, samples))
        alike[f"main/{number}"] = first.alike
    return weighed(deeds, alike, NOW, SETTINGS, most)


def weight(*did: Did) -> float:
    """Return the weight of one file, each time used by another episode."""
    found = weights([{PATH: one} for one in did])
    return found[PATH].weight if found else 0.0


def test_success_counts_most_then_what_was_committed_then_partial_and_unknown() -> None:
    ranked = [
        EDITED,
        EDITED._replace(outcome="unknown", committed=True),
        EDITED._replace(outcome="partial"),
        EDITED._replace(outcome="unknown"),
    ]
    told = [weight(one) for one in ranked]
    assert told == sorted(told, reverse=True) and len(set(told)) == 4
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


def test_similar_tasks_count_by_how_alike_they_are() -> None:
    near, far = EDITED._replace(alike=0.8), EDITED._replace(alike=0.3)
    assert weight(EDITED, EDITED) > weight(near, near) > weight(far, far) > 0.0


@settings(max_examples=40)
@given(st.lists(DID, max_size=12))
def test_a_weight_is_from_0_to_1(did: list[Did]) -> None:
    assert 0.0 <= weight(*did) <= 1.0


@settings(max_examples=40)
@given(st.lists(DID, min_size=2, max_size=8))
def test_one_more_success_never_takes_weight_away(did: list[Did]) -> None:
    assert weight(*did, EDITED) >= weight(*did)


def plainly(works: Sequence[Mapping[str, Did]], most: int) -> list[tuple[str, float, float]]:
    """Return path, weight and certainty of the heaviest files, one sample after another."""
    found = []
    for path in sorted({path for work in works for path in work}):
        worth = against = edits = 0.0
        doubt, samples, is_sure = 1.0, 0, False
        for work in works:
            if path not in work:
                continue
            did, first = work[path], next(iter(work.values()))
            age_days = max(0.0, NOW.timestamp() - did.last_at) / 86_400
            counts = first.alike * 0.5 ** (age_days / SETTINGS.half_life_days)
            credit = credit_of(first.outcome, did.committed)
            samples += 1
            is_sure |= first.alike >= 1.0 or (did.edited and credit >= 0.7)
            if did.edited:
                edits += counts
                doubt *= 1.0 - did.causal * counts * credit
            else:
                counts *= 0.3
            worth += counts * credit
            against += counts * 0.5 * (first.outcome == "failed")
        least = SETTINGS.min_samples_sure if is_sure else SETTINGS.min_samples
        weight = round(max(0.0, worth - against) / (worth + against + 0.5), 4)
        if samples >= least and weight > 0.0:
            found.append((-weight, doubt, -edits, path))
    return [(path, -weight, round(1 - doubt, 4)) for weight, doubt, _, path in sorted(found)[:most]]


@settings(max_examples=40)
@given(
    st.lists(st.dictionaries(st.sampled_from("abcdefghij"), DID, max_size=10), max_size=12),
    st.integers(1, 12),
)
def test_counted_at_once_it_is_as_counted_one_after_another(
    works: list[dict[str, Did]], most: int
) -> None:
    found = weights(works, most)
    assert [(one.path, one.weight, one.causal) for one in found.values()] == plainly(works, most)
    for path, one in found.items():
        assert [(deed.episode, deed.changed) for deed in one.by] == [
            (f"main/{number}", work[path].edited)
            for number, work in enumerate(works)
            if path in work
        ]


# --- over the tables -----------------------------------------------------------------------


def test_files_of_alike_work_come_heaviest_first_with_who_used_them(tables: Tables) -> None:
    commit = event("commit", commit="abc1234", text="Refresh once (#12)")
    tables.put(worked(READ, EDIT, commit, id="2026-11-20_001", days=2))
    tables.put(worked(READ, EDIT, id="2026-11-21_001", days=1))
    alike = {"main/2026-11-20_001": 0.8, "main/2026-11-21_001": 0.7}
    found = used(tables, "shop", alike, NOW)
    assert list(found) == ["src/token.py", "src/auth.py"]
    token, auth = found.values()
    assert token.weight > auth.weight > 0.0 and token.causal > 0.5 > auth.causal == 0.0
    assert [(one.episode, one.changed, one.commit) for one in token.by] == [
        ("main/2026-11-20_001", True, "abc1234"),
        ("main/2026-11-21_001", True, ""),
    ]
    first, second = token.by
    assert first.linked_at < second.linked_at and not any(one.changed for one in auth.by)


def test_only_the_episodes_that_are_named_count(tables: Tables) -> None:
    tables.put(worked(EDIT, id="2026-11-20_001", days=2))
    tables.put(worked(EDIT, id="2026-11-21_001", days=1, agent="geralt"))
    tables.put(worked(EDIT, id="2026-11-21_002", days=1, source="notes"))
    assert used(tables, "shop", {}, NOW) == {}
    found = used(tables, "shop", {"main/2026-11-20_001": 1.0, "main/2026-11-21_002": 1.0}, NOW)
    assert [one.episode for one in found["src/token.py"].by] == ["main/2026-11-20_001"]


def test_what_was_only_found_is_not_used(tables: Tables) -> None:
    tables.put(worked(event("hit", "docs/jwt.md"), EDIT, id="2026-11-20_001"))
    assert list(used(tables, "shop", {"main/2026-11-20_001": 1.0}, NOW)) == ["src/token.py"]


def test_failed_work_is_no_reason_to_change_the_file_again(tables: Tables) -> None:
    tables.put(worked(EDIT, id="2026-11-20_001", outcome="failed"))
    assert used(tables, "shop", {"main/2026-11-20_001": 1.0}, NOW) == {}


def files(tables: Tables, *names: str) -> list[str]:
    """Return the files for which some episodes speak, as a plan would ask."""
    return sorted(used(tables, "shop", dict.fromkeys(names, 1.0), NOW))


ONE, TWO = "main/2026-11-20_001", "main/2026-11-21_001"


def test_what_changed_in_an_episode_that_is_over_counts_at_once(tmp_path: Path) -> None:
    path = tmp_path / "episodes.db"
    with opened(path) as tables, opened(path) as others:
        tables.put(worked(EDIT, id="2026-11-20_001"))
        tables.put(worked(READ, id="2026-11-21_001"))
        assert files(tables, ONE, TWO) == ["src/auth.py", "src/token.py"]
        for number, writer in enumerate((tables, others)):
            other = event("edit", f"src/other{number}.py")
            writer.put(worked(other, id="2026-11-20_001"))
            assert files(tables, ONE, TWO) == ["src/auth.py", f"src/other{number}.py"]
        others.put(worked(EDIT, id="2026-11-20_001", outcome="failed"))
        assert files(tables, ONE) == []
        others.put(worked(EDIT, id="2026-11-20_001", source="notes"))
        assert files(tables, ONE) == []


def test_what_is_dropped_is_gone_at_once_whoever_drops_it(tmp_path: Path) -> None:
    path = tmp_path / "episodes.db"
    with opened(path) as tables, opened(path) as others:
        for writer in (tables, others):
            tables.put(worked(EDIT, id="2026-11-20_001"))
            tables.put(worked(READ, id="2026-11-21_001"))
            assert files(tables, ONE, TWO) == ["src/auth.py", "src/token.py"]
            writer.drop(ONE)
            assert files(tables, ONE, TWO) == ["src/auth.py"]


def test_what_runs_again_counts_no_more_until_it_is_over(tables: Tables) -> None:
    tables.put(worked(EDIT, id="2026-11-20_001"))
    assert files(tables, ONE) == ["src/token.py"]
    for state, found in (("running", []), ("ended", ["src/auth.py"])):
        tables.put(worked(READ, id="2026-11-20_001", state=state))
        assert files(tables, ONE) == found


def test_an_event_in_an_episode_that_runs_has_nothing_read_again(tables: Tables) -> None:
    tables.put(worked(EDIT, id="2026-11-20_001"))
    assert files(tables, ONE) == ["src/token.py"]
    tables.put(worked(READ, id="2026-11-21_001", state="running"))
    with mock.patch.object(holding, "deeds", side_effect=AssertionError("read again")):
        assert files(tables, ONE) == ["src/token.py"]


def test_no_more_is_held_than_there_is_room_for(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holding, "MOST_ROWS", 3)
    names = [f"main/2026-11-20_{number:03}" for number in range(6)]
    for name in names:
        tables.put(worked(READ, EDIT, id=name.removeprefix("main/")))
        assert files(tables, name) == ["src/auth.py", "src/token.py"]
    assert files(tables, *names) == ["src/auth.py", "src/token.py"]
    assert sum(len(one.paths) for one in tables._holding._held.values()) <= 3


@given(
    st.lists(
        st.tuples(
            st.booleans(),  # whether another process does it
            st.integers(1, 4),  # which episode
            st.sampled_from(["put", "put", "drop", "run"]),
            st.lists(
                st.tuples(st.sampled_from(["read", "edit", "commit"]), st.sampled_from("abc"))
            ),
            st.sampled_from(RESULTS),
        ),
        max_size=12,
    )
)
@settings(max_examples=6)
def test_what_is_held_is_always_what_the_tables_say(steps: list[Any]) -> None:
    names = [f"main/2026-11-20_{number:03}" for number in range(1, 5)]
    with (
        TemporaryDirectory() as folder,
        opened(Path(folder) / "one.db") as tables,
        opened(tables.path) as others,
    ):
        seen = None
        tasks: dict[str, TaskRow] = {}
        for elsewhere, number, what, done, outcome in steps:
            writer = others if elsewhere else tables
            if what == "drop":
                writer.drop(names[number - 1])
            else:
                events = (event(kind, path, commit="a" * 8) for kind, path in done)
                state = "running" if what == "run" else "ended"
                id_ = names[number - 1].removeprefix("main/")
                writer.put(worked(*events, id=id_, outcome=outcome, state=state))
            with opened(tables.path) as anew:
                assert tables.deeds("shop", names) == anew.deeds("shop", names)
            news = tables.tasks_since("shop", seen)
            old = {} if news.is_whole else tasks
            tasks = {name: row for name, row in old.items() if name not in news.gone}
            tasks |= {row.episode: row for row in news.rows}
            seen = news.version
            assert tasks == {row.episode: row for row in tables.tasks("shop")}


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
