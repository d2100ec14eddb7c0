"""The tables: made from the notes, thrown away in doubt; and what is counted from them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.episodes.worked import NOW, Folder, episode, event, iso
from vaultmind.episodes.causal import issues_in, links_of, used
from vaultmind.episodes.gains import figures_of, gain_of, works
from vaultmind.episodes.store import Tables
from vaultmind.episodes.types import Episode, Offer, Result
from vaultmind.errors import IndexUnavailable

SHA = "abc1234" + "0" * 33
EDIT = event("edit", "src/token.py", at=5, change="modified")
READ = event("read", "src/auth.py", at=4, tokens=9)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "vault")


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[Tables]:
    opened = Tables(tmp_path / "episodes.db")
    yield opened
    opened.close()


def test_the_tables_follow_the_notes_and_come_back_from_them(
    tmp_path: Path, tables: Tables, folder: Folder
) -> None:
    one, two = episode(READ, EDIT, rationale="Why"), episode(READ, id="2026-11-22_002")
    note = folder.put(one, Offer("f", iso(), "code", {"a.py": {"f_affinity_score": 0.5, "x": 1.0}}))
    folder.put(two)
    assert tables.follow(folder.files) == []
    changes = tables.changes
    assert tables.follow(folder.files) == [] and tables.changes == changes
    assert tables.load([one.name, "main/none"]) == {one.name: one}
    ((_, (offer,)), _) = tables.since(NOW - timedelta(days=1), ["main"])
    assert dict(offer.files) == {"a.py": {"f_affinity_score": 0.5}}
    again = Tables(tmp_path / "anew.db")
    again.follow(folder.files)
    assert again.load([one.name, two.name]) == tables.load([one.name, two.name])
    again.close()
    before = tables.changes
    note.write_text(note.read_text("utf-8").replace("outcome: success", "outcome: failed", 1))
    tables.follow(folder.files)
    assert tables.changes > before
    assert tables.load([one.name])[one.name].outcome == "failed"
    note.unlink()
    before = tables.changes
    assert tables.follow(folder.files) == [one.name]
    assert tables.changes > before
    assert tables.names() == (two.name,)
    assert tables.scrub() == "" and b"token.py" not in (tmp_path / "episodes.db").read_bytes()


def test_a_note_that_cannot_be_read_is_told_and_the_others_are_taken(
    tables: Tables, folder: Folder
) -> None:
    folder.put(episode(READ))
    folder.put(episode(READ, id="2026-11-22_002")).write_bytes(b"\xff\xfe\x00broken")
    folder.put(episode(READ, id="2026-11-22_003", state="running", outcome="unknown"))
    linked = folder.put(episode(READ, id="2026-11-22_004"))
    linked.rename(linked.with_name("elsewhere.txt"))
    linked.symlink_to(linked.with_name("elsewhere.txt"))
    tables.follow(folder.files)
    assert tables.names() == ("main/2026-11-22_003", "main/2026-11-22_001")
    assert [*tables.faulty()] == ["main/2026-11-22_002"]
    assert [row.episode for row in tables.tasks("shop")] == ["main/2026-11-22_001"]
    assert tables.names(state="running", agent="main") == ("main/2026-11-22_003",)


def test_a_secret_that_a_person_typed_into_a_note_is_not_in_the_tables(
    tmp_path: Path, tables: Tables, folder: Folder
) -> None:
    token = "ghp_0123456789abcdefABCDEF0123456789abcd"
    folder.put(episode(READ, task=f"use {token}", rationale=f"for {token}"))
    tables.follow(folder.files)
    assert tables.load(tables.names())
    assert all(token.encode() not in file.read_bytes() for file in tmp_path.glob("episodes.db*"))


@pytest.mark.parametrize("damage", [b"no database at all" * 99, b"version"])
def test_a_file_that_cannot_be_used_is_begun_anew(
    tmp_path: Path, folder: Folder, damage: bytes
) -> None:
    folder.put(episode(READ))
    path = tmp_path / "other.db"
    if damage == b"version":
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE episodes (x)")
        other.close()
    else:
        path.write_bytes(damage)
    tables = Tables(path)
    tables.follow(folder.files)
    assert len(tables.names()) == 1
    tables.close()
    with pytest.raises(IndexUnavailable, match="closed"):
        tables.names()


def test_the_seeds_views_count_what_was_done_for_a_task(tmp_path: Path, tables: Tables) -> None:
    commit = event("commit", "src/token.py", commit=SHA, text="Refresh once (#12)")
    tables.put(episode(READ, EDIT, commit, issues=("#7",)))
    tables.put(episode(EDIT, id="2026-11-22_002", outcome="unknown"))
    tables.put(episode(EDIT, id="2026-11-22_003", state="running"))
    with sqlite3.connect(tmp_path / "episodes.db") as read:
        rows = read.execute(
            "SELECT file_path, reads, edits, success_edits, weight FROM task_file_affinity "
            "WHERE task_fingerprint = 'f-jwt' ORDER BY weight DESC"
        ).fetchall()
        issues = {one for (one,) in read.execute("SELECT issue_ref FROM causal_links")}
    read.close()
    assert rows == [("src/token.py", 0, 2, 1, 0.7222), ("src/auth.py", 1, 0, 0, 0.375)]
    assert issues == {"#12", "#7", ""}
    assert tables.naming("shop", ["#12"]) == ("main/2026-11-22_001",)


# --- affinity, links, figures ---------------------------------------------------------------


def weight(*some: Episode, alike: float = 1.0) -> float:
    """Return the weight of what some episodes edited."""
    found = used(some, {one.name: alike for one in some}, NOW)
    return found["src/token.py"].weight if "src/token.py" in found else 0.0


def done(number: int, outcome: Result = "success", days: float = 0.0, **more: str) -> Episode:
    events = [event("edit", "src/token.py", days=days)]
    events += [event("commit", "src/token.py", days=days, **more)] if more else []
    return episode(*events, id=f"2026-11-22_{number:03}", outcome=outcome)


def test_success_counts_most_failure_against_and_time_fades() -> None:
    good, said = done(1), done(2, "unknown", commit=SHA)
    told = [weight(one) for one in (good, said, done(3, "partial"), done(4, "unknown"))]
    assert told == [0.6667, 0.5833, 0.5, 0.375]
    assert weight(done(5, "failed")) == 0.0 < weight(good, done(5, "failed")) < weight(good)
    assert weight(done(6, days=60), done(7, days=60)) == weight(good)
    assert weight(done(8, "unknown"), alike=0.9) == 0.0, "one that is not sure says nothing"
    assert weight(done(8, "unknown"), done(9, "unknown"), alike=0.9) > 0.0
    looked = used([episode(READ)], {"main/2026-11-22_001": 1.0}, NOW)["src/auth.py"]
    assert (looked.weight, looked.causal, looked.by[0].changed) == (0.375, 0.0, False)


def test_a_change_is_linked_to_the_issue_the_commit_and_the_nearest_reason() -> None:
    commit = event("commit", "src/token.py", at=9, commit=SHA, text="Refresh once")
    short = event("commit", at=8, commit=SHA[:7])
    own = event("decision", "src/token.py", at=2, text="The lock was never freed")
    general = event("decision", at=2, text="In general")
    (link,) = links_of(episode(EDIT, short, commit, issues=("#12",)))
    assert (link.issue, link.commit, link.rationale) == ("#12", SHA, "Refresh once")
    (why,) = links_of(episode(EDIT, general, commit, rationale="Tests pass"))
    assert (why.rationale, why.block, why.confidence) == ("Tests pass", "e4", 0.8)
    (nearest,) = links_of(episode(EDIT, own, commit, rationale="Tests pass", issues=("#12",)))
    told = (nearest.rationale, nearest.block, nearest.confidence)
    assert told == ("The lock was never freed", "e2", 0.895)
    assert issues_in("Fix #12, PROJ-77, GH-9; UTF-8, a/b#4") == ("#12", "PROJ-77", "GH-9")


def test_figures_say_what_plans_saved_and_how_episodes_went(tables: Tables) -> None:
    plan = Offer("f", iso(seconds=1), "code", {"src/token.py": {"f_affinity_score": 0.4}},
                 ("src/token.py", "b.py"), 1000, 8000, 40.0, "fallback")  # fmt: skip
    late = Offer("f", iso(seconds=60), "code", {}, ("c.py",), 3000, 4000, 20.0)
    tables.put(episode(READ, EDIT, outcome="success"), [plan, late])
    tables.put(episode(READ, id="2026-11-22_002", outcome="unknown", source="vault"))
    tables.put(episode(READ, id="2026-11-22_003", state="running", outcome="unknown"))
    some = works(tables, ["main"], NOW - timedelta(days=1))
    figures = figures_of(some)
    assert (figures.episodes, figures.running, figures.plans) == (3, 1, 2)
    assert (figures.saved_share, figures.hit_share) == (0.6667, 0.3333)
    assert figures.fallback_rate_ml_unavailable == 1.0
    assert (figures.first_pass_success_rate, figures.affinity_hit_rate) == (1.0, 1.0)
    assert figures.causal_trace_completeness == 0.5
    assert (figures.plan_context_p50_ms, figures.context_tokens_median) == (20.0, 1000)
    assert dict(figures.outcomes) == {"success": 1, "unknown": 1}
    gain = gain_of(some, NOW - timedelta(days=1), NOW + timedelta(days=8))
    assert [part.source for part in gain.sources] == ["shop", "vault"]
    assert [part.week for part in gain.weeks] == ["2026-11-16"]
    assert works(tables, ["other"], NOW - timedelta(days=1)) == []
