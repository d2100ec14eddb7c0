"""Figures of episodes: what counts, what does not, and of nothing there is no share."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from tests.episodes.worked import event, opened, worked
from vaultmind.episodes.gains import AFFINITY, Work, figures_of, gain_of, monday
from vaultmind.episodes.types import Offer
from vaultmind.episodes.works import works

AT = datetime(2026, 11, 18, 10, 0, tzinfo=UTC)
SECOND = int(AT.timestamp())


def offer(*chosen: str, seconds: int = 0, **more: object) -> Offer:
    moment = (AT + timedelta(seconds=seconds)).isoformat()
    known: dict[str, object] = {"tokens": 1000, "whole_tokens": 8000, "took_ms": 40.0}
    return Offer("f", moment, "code", chosen=chosen, **(known | {"cache": "hit"} | more))  # type: ignore[arg-type]


def work(*offers: Offer, used: tuple[str, ...] = (), **more: object) -> Work:
    known: dict[str, object] = {"outcome": "success", "used": dict.fromkeys(used, SECOND + 5)}
    return Work("shop", AT, offers=offers, **(known | more))  # type: ignore[arg-type]


def test_tokens_are_compared_with_those_of_the_whole_files() -> None:
    figures = figures_of([work(offer("a.py"), offer("b.py", tokens=3000, whole_tokens=4000))])
    assert (figures.offered_tokens, figures.whole_tokens) == (4000, 12000)
    assert figures.saved_share == round(8 / 12, 4)
    assert figures.context_tokens_median == 1000


def test_a_plan_that_took_more_than_its_files_saved_nothing() -> None:
    assert figures_of([work(offer("a.py", tokens=9000))]).saved_share == 0


def test_what_was_opened_before_the_plan_is_no_hit() -> None:
    early = Work("shop", AT, used={"a.py": SECOND + 5, "b.py": SECOND - 60})
    assert figures_of([replace(early, offers=(offer("a.py", "b.py"),))]).hit_share == 0.5


def test_hits_are_not_counted_where_no_work_was_seen_or_it_goes_on() -> None:
    blind, running = work(offer("a.py")), work(offer("a.py"), used=("b.py",), state="running")
    assert figures_of([blind, running]).hit_share is None
    assert figures_of([blind, work(offer("a.py"), used=("a.py",))]).hit_share == 1


def test_one_plan_must_hold_all_that_was_changed() -> None:
    changed = frozenset({"a.py", "b.py"})
    halves = work(offer("a.py"), offer("b.py"), changed=changed)
    whole = work(offer("a.py", "b.py", "c.py"), changed=changed)
    failed = work(offer("a.py"), changed=changed, outcome="failed")
    unplanned = work(changed=changed)
    assert figures_of([halves, whole, failed, unplanned]).first_pass_success_rate == 0.5


def test_a_plan_that_was_made_after_the_work_began_is_no_first_pass() -> None:
    changed = {"changed": frozenset({"a.py"}), "changed_at": SECOND + 5}
    whole, other, late = offer("a.py"), offer("b.py"), offer("a.py", seconds=1200)
    assert figures_of([work(late, **changed)]).first_pass_success_rate is None
    assert figures_of([work(other, late, **changed)]).first_pass_success_rate == 0
    assert figures_of([work(whole, late, **changed)]).first_pass_success_rate == 1
    assert figures_of([work(late, **changed | {"changed_at": 0})]).first_pass_success_rate == 1


def test_when_the_work_began_is_told_by_what_was_changed(tmp_path: Path) -> None:
    read, made = event("read", "a.py"), event("edit", "new.py", change="added")
    edits = (event("edit", "b.py", change="modified"), event("edit", "a.py", change="modified"))
    with opened(tmp_path / "episodes.db") as tables:
        done = worked(read, made, *edits, *edits)
        began = int(datetime.fromisoformat(done.started).timestamp())
        late = replace(
            offer("a.py", "b.py"), time=datetime.fromtimestamp(began + 99, UTC).isoformat()
        )
        tables.put(done, offers=(late,))
        (one,) = works(tables, {"main"}, AT - timedelta(days=30))
    assert one.changed == {"a.py", "b.py"} and one.changed_at == began + 2
    assert one.offers and not one.planned


def test_affinity_hits_are_of_plans_that_offered_a_file_for_it() -> None:
    spoken = {"a.py": {AFFINITY: 0.6}, "left out.py": {AFFINITY: 0.9}}
    led, plain = offer("a.py", "b.py", files=spoken), offer("b.py", files={"b.py": {AFFINITY: 0}})
    assert figures_of([work(led, plain, used=("a.py",))]).affinity_hit_rate == 1
    assert figures_of([work(led, plain, used=("b.py",))]).affinity_hit_rate == 0
    assert figures_of([work(plain, used=("b.py",))]).affinity_hit_rate is None


def test_a_chain_is_whole_with_task_reads_work_and_an_outcome() -> None:
    lacking = [
        work(used=("a.py",), is_told=False),
        work(used=("a.py",), has_read=False),
        work(used=("a.py",), outcome="unknown"),
    ]
    left_out = [work(state="running"), work(state="shrunk", is_told=False)]
    figures = figures_of([work(used=("a.py",)), *lacking, *left_out])
    assert figures.causal_trace_completeness == 0.25
    assert figures.outcomes == {"success": 4, "unknown": 1} and figures.running == 1


def test_models_that_were_asked_in_vain_are_counted() -> None:
    asked = [offer("a.py", rerank=how) for how in ("none", "none", "used", "fallback")]
    figures = figures_of([work(*asked)])
    assert (figures.rerank_invocation_rate, figures.fallbacks) == (0.5, 1)
    assert figures.fallback_rate_ml_unavailable == 0.5


def test_of_nothing_there_is_no_share() -> None:
    figures = figures_of([])
    shares = (figures.saved_share, figures.hit_share, figures.plan_context_p95_ms)
    assert shares == (None, None, None) and figures.context_tokens_median is None


def test_times_are_those_of_half_and_of_nearly_all_plans() -> None:
    figures = figures_of([work(*(offer("a.py", took_ms=float(ms)) for ms in range(1, 101)))])
    assert (figures.plan_context_p50_ms, figures.plan_context_p95_ms) == (50, 95)


def test_a_week_begins_on_monday_where_the_person_is() -> None:
    there = timezone(timedelta(hours=9))
    late_sunday = Work("shop", datetime(2026, 11, 15, 20, 0, tzinfo=UTC), outcome="success")
    until = datetime(2026, 11, 18, 12, 0, tzinfo=there)
    gain = gain_of([late_sunday], until - timedelta(days=30), until)
    assert [one.week for one in gain.weeks] == ["2026-11-16"]
    assert monday(until.date()).isoformat() == "2026-11-16"


def test_weeks_are_those_of_the_person_over_a_change_of_clocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        summer = Work("shop", datetime.fromisoformat("2026-10-19T00:30:00+02:00"))
        until = datetime.fromisoformat("2026-11-18T12:00:00+01:00")
        gain = gain_of([summer], until - timedelta(days=60), until)
        assert gain.weeks[0].week == gain.parts[0].week == "2026-10-19"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_weeks_without_an_episode_are_there_and_what_is_older_is_not() -> None:
    done = [
        Work("shop", AT - timedelta(days=21)),
        Work("shop", AT - timedelta(days=60)),
        Work("vault", AT, offers=(offer("a.md"),)),
    ]
    gain = gain_of(done, AT - timedelta(days=30), AT)
    assert [one.figures.episodes for one in gain.weeks] == [1, 0, 0, 1]
    assert [one.source for one in gain.sources] == ["vault", "shop"]
    assert [(one.source, one.week) for one in gain.parts] == [
        ("vault", "2026-11-16"),
        ("shop", "2026-10-26"),
    ]
