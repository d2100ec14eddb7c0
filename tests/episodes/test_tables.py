"""episodes/tables: what notes say, to be counted; made anew from them whatever happens."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.episodes.worked import NOW, TODAY, Folder, episode, event, iso, opened, worked
from vaultmind.episodes.tables import reading
from vaultmind.episodes.tables.database import ASIDE, steps_there_are
from vaultmind.episodes.tables.retrying import Retrying, retried
from vaultmind.episodes.tables.rows import Completeness, ModelRow
from vaultmind.episodes.store import Tables
from vaultmind.episodes.types import Offer
from vaultmind.errors import IndexUnavailable

READ, EDIT = event("read", "src/auth.py"), event("edit", "src/token.py", at=5)
DECIDED = event("decision", at=6, text="Keep the queue")


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[Tables]:
    with opened(tmp_path / "state" / "episodes.db") as opened_:
        yield opened_


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "vault")


def everything(path: Path) -> list[str]:
    """Return all that the tables hold, but for the numbers of rows."""
    with sqlite3.connect(path) as connection:
        names = dict(connection.execute("SELECT id, episode FROM episodes").fetchall())
        held = []
        for (table,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name != 'counters'"
        ).fetchall():
            rows = connection.execute(f"SELECT * FROM {table}")
            columns = [one[0] for one in rows.description]
            for row in rows:
                values = dict(zip(columns, row, strict=True))
                values.pop("id", None)
                if "episode_id" in values:
                    values["episode_id"] = names[values["episode_id"]]
                held.append(f"{table} {values}")
    connection.close()
    return sorted(held)


# --- following the notes -------------------------------------------------------------------


def test_deleted_tables_come_back_whole_from_the_notes(tmp_path: Path, folder: Folder) -> None:
    offer = Offer("f-jwt", iso(), "code-1", {"src/auth.py": {"f_affinity_score": 0.5}}, ("a.py",))
    folder.put(episode(READ, EDIT, DECIDED, rationale="It works", issues=("#12",)), offer)
    folder.put(worked(READ, EDIT, id="2026-11-20_001", days=2, outcome="failed"))
    path = tmp_path / "state" / "episodes.db"
    with opened(path) as first:
        assert first.follow(folder.files) == 2
    before = everything(path)
    shutil.rmtree(path.parent)
    with opened(path) as second:
        assert second.follow(folder.files) == 2
    assert everything(path) == before


def test_what_did_not_change_is_not_opened_again(tables: Tables, folder: Folder) -> None:
    folder.put(episode(READ))
    assert tables.follow(folder.files) == 1
    folder.files.opened = lambda name: pytest.fail(f"{name} was opened")  # type: ignore[method-assign]
    assert tables.follow(folder.files) == 0


def test_what_a_sync_only_touched_keeps_its_rows(tables: Tables, folder: Folder) -> None:
    note = folder.put(episode(READ, EDIT))
    tables.follow(folder.files)
    before, version = everything(tables.path), tables.version
    os.utime(note, (1, 1))
    assert tables.follow(folder.files) == 1
    stamped = [line for line in everything(tables.path) if line not in before]
    assert [line.split()[0] for line in stamped] == ["notes"] and tables.version == version


def test_a_hand_edit_counts(tables: Tables, folder: Folder) -> None:
    note = folder.put(episode(READ, EDIT, outcome="unknown"))
    tables.follow(folder.files)
    note.write_text(note.read_text("utf-8").replace("outcome: unknown", "outcome: failed"), "utf-8")
    assert tables.follow(folder.files) == 1
    assert tables.find([f"main/{TODAY}"])[f"main/{TODAY}"].outcome == "failed"


def test_a_deleted_note_leaves_nothing(tables: Tables, folder: Folder) -> None:
    note = folder.put(episode(READ, EDIT, DECIDED, issues=("#12",)), Offer("f-jwt", iso(), "w"))
    tables.follow(folder.files)
    note.unlink()
    assert tables.follow(folder.files) == 1
    assert [line for line in everything(tables.path) if not line.startswith("migrations")] == []


def test_offers_that_go_without_the_note_are_seen(tables: Tables, folder: Folder) -> None:
    name = f"main/{TODAY}"
    folder.put(episode(READ), Offer("f-jwt", iso(), "w", {}, ("a.py", "b.py"), 90, 900, 12.5))
    tables.follow(folder.files)
    (offer,) = tables.offers([name])[name]
    assert (offer.chosen, offer.tokens, offer.whole_tokens) == (("a.py", "b.py"), 90, 900)
    assert (offer.time, offer.took_ms) == (iso(), 12.5)
    (folder.paths.root / folder.files.offers_path(name)).unlink()
    tables.follow(folder.files)
    assert tables.offers([name]) == {}


def test_a_note_that_cannot_be_read_is_told_and_the_others_are_taken(
    tables: Tables, folder: Folder
) -> None:
    bad = folder.put(episode(READ, id="2026-11-21_001"))
    bad.write_bytes(b"\xff\xfe\x00binary")
    folder.put(episode(READ))
    tables.follow(folder.files)
    assert [row.name for row in tables.episodes()] == [f"main/{TODAY}"]
    assert "not UTF-8" in tables.stats().unreadable["main/2026-11-21_001"]
    assert tables.follow(folder.files) == 0


@pytest.mark.parametrize(
    ("was", "wrong"),
    [('"tokens":0', '"tokens":99999999999999999999'), ('"tokens":0', f'"tokens":1{"0" * 400}'),
     ('"tokens":0', '"tokens":1e300'), ('["a.py"]', '["\\ud800.py"]')],
)  # fmt: skip
def test_an_offer_that_cannot_be_kept_stops_nothing(
    tables: Tables, folder: Folder, was: str, wrong: str
) -> None:
    offer = Offer("f-jwt", iso(), "code-1", {"src/auth.py": {"f": 0.5}}, ("a.py",))
    for id in ("2026-11-20_001", "2026-11-21_001"):
        folder.put(worked(EDIT, id=id), offer)
    path = folder.paths.root / folder.files.offers_path("main/2026-11-20_001")
    path.write_text(path.read_text("utf-8").replace(was, wrong), "utf-8")
    assert tables.follow(folder.files) == 2
    assert (tables.stats().episodes, tables.faulty()) == (2, {})


def test_whatever_one_note_holds_the_others_are_taken_and_nothing_of_it_stays(
    tables: Tables, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = worked(EDIT, id="2026-11-20_001"), worked(EDIT, id="2026-11-21_001")
    for one in (first, second):
        folder.put(one)
    tables.follow(folder.files)
    folder.put(replace(first, task=replace(first.task, text="none of it")))
    folder.put(replace(second, task=replace(second.task, text="something else")))
    odd = Offer("f", iso(), "code-1", {}, tokens=2**80)
    of = {first.name: (odd,), second.name: ()}
    monkeypatch.setattr(folder.files, "offers", of.__getitem__)
    assert tables.follow(folder.files) == 2
    assert [one.task for one in tables.tasks("shop")] == ["something else"]
    assert "cannot be kept" in tables.faulty()[first.name]


def test_a_time_at_the_edge_of_all_years_is_none_that_could_not_be_said(
    tables: Tables, folder: Folder
) -> None:
    for number, time in enumerate(("0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59+00:00"), 1):
        folder.put(replace(worked(EDIT, id=f"2026-11-2{number}_001"), started=time, ended=time))
    tables.follow(folder.files)
    found = tables.find(["main/2026-11-21_001", "main/2026-11-22_001"])
    assert [one.ended[:4] for one in found.values()] == ["0001", ""]


def test_a_secret_that_a_person_typed_into_a_note_is_not_in_the_tables(
    tables: Tables, folder: Folder
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    note = folder.put(episode(READ, EDIT, event("decision", at=9, text="use TOKENHERE")))
    note.write_text(note.read_text("utf-8").replace("TOKENHERE", secret), "utf-8")
    tables.follow(folder.files)
    assert secret not in "".join(everything(tables.path))
    assert tables.told([f"main/{TODAY}"])[f"main/{TODAY}"].decisions[0].text.startswith("use ")


def test_nothing_of_a_dropped_episode_is_left_in_the_file_after_a_scrub(
    tmp_path: Path, tables: Tables
) -> None:
    tables.put(episode(EDIT, event("decision", text="Zanzibar is the codename")))
    tables.drop(f"main/{TODAY}")
    assert tables.scrub() == ""
    for file in (tmp_path / "state").iterdir():
        assert b"Zanzibar" not in file.read_bytes()


# --- what is asked -------------------------------------------------------------------------


def test_an_episode_that_runs_is_no_earlier_work(tables: Tables) -> None:
    tables.put(episode(READ, EDIT, state="running", outcome="unknown", ended=""))
    assert tables.tasks("shop") == ()
    assert tables.affinity("f-jwt") == ()
    tables.put(episode(READ, EDIT))
    assert [row.episode for row in tables.tasks("shop")] == [f"main/{TODAY}"]
    assert [row.path for row in tables.affinity("f-jwt")] == ["src/token.py", "src/auth.py"]


def test_an_episode_that_was_over_and_then_ran_again_is_counted_no_more_once_it_is_gone(
    tables: Tables,
) -> None:
    over = worked(EDIT)
    tables.put(over)
    version = tables.tasks_since("shop", None).version
    assert tables.deeds("shop", [over.name])
    tables.put(replace(over, state="running", ended="", outcome="unknown"))
    tables.drop(over.name)
    assert tables.deeds("shop", [over.name]) == []
    news = tables.tasks_since("shop", version)
    assert news.is_whole and news.rows == ()


def test_tasks_come_newest_first_and_of_their_source_alone(tables: Tables) -> None:
    tables.put(episode(READ, id="2026-11-01_001", days=21))
    tables.put(episode(READ))
    tables.put(episode(READ, id="2026-11-22_002", source="notes"))
    assert [row.episode for row in tables.tasks("shop")] == [
        f"main/{TODAY}",
        "main/2026-11-01_001",
    ]


def test_the_version_moves_with_the_tasks_and_stands_still_while_work_goes_on(
    tmp_path: Path, tables: Tables
) -> None:
    running = episode(READ, state="running", ended="", outcome="unknown")
    before = tables.version
    tables.put(running)
    tables.put(replace(running, events=(*running.events, EDIT)))
    assert tables.version == before
    with opened(tables.path) as other:  # as another process would
        other.put(episode(READ, EDIT))
    ended = tables.version
    assert ended != before and len(tables.tasks("shop")) == 1
    tables.drop(f"main/{TODAY}")
    assert tables.version != ended and tables.tasks("shop") == ()


def test_a_running_episode_that_grew_is_only_added_to(tables: Tables) -> None:
    one = episode(READ, state="running", ended="", outcome="unknown")
    tables.put(one)
    with sqlite3.connect(tables.path) as connection:
        first = connection.execute("SELECT id FROM episode_events").fetchall()
    tables.put(replace(one, events=(*one.events, replace(EDIT, block="e2"))))
    with connection:
        assert connection.execute("SELECT id FROM episode_events").fetchall()[:1] == first
    connection.close()
    assert [row.kind for row in tables.events([one.name])[one.name]] == ["read", "edit"]


def test_touched_files_say_what_was_done_with_each(tables: Tables) -> None:
    added = event("edit", "src/new.py", at=1, change="added")
    again = event("edit", "src/new.py", at=2, change="modified")
    hit = event("hit", "docs/jwt.md", at=3)
    tables.put(episode(READ, added, again, hit, event("commit", at=9, commit="abc1234def")))
    files = {one.path: one for one in tables.touched([f"main/{TODAY}"])[f"main/{TODAY}"]}
    assert (files["src/new.py"].edits, files["src/new.py"].change) == (2, "added")
    assert files["src/new.py"].committed and not files["src/auth.py"].committed
    assert (files["docs/jwt.md"].hits, files["docs/jwt.md"].reads) == (1, 0)


def test_what_is_told_of_an_episode_names_the_lines_that_say_it(tables: Tables) -> None:
    tables.put(
        episode(
            READ,
            EDIT,
            event("edit", "src/auth.py", at=7, change="removed"),
            event("decision", "src/auth.py", at=8, text="The old client is gone"),
            event("commit", at=9, commit="abc1234def5678", text="Refresh once (#12)"),
            rationale="All tests pass",
        )
    )
    told = tables.told([f"main/{TODAY}", "main/2020-01-01_001"])[f"main/{TODAY}"]
    assert [(one.text, one.block, one.path) for one in told.decisions] == [
        ("The old client is gone", "e4", "src/auth.py")
    ]
    assert told.changed == (("src/auth.py", "removed"), ("src/token.py", "modified"))
    assert (told.rationale, told.outcome) == ("All tests pass", "success")


def test_episodes_that_name_an_issue_are_found_by_it(tables: Tables) -> None:
    tables.put(episode(EDIT, issues=("PROJ-77",)))
    tables.put(episode(EDIT, event("commit", commit="a" * 40, text="Fix #5"), id="2026-11-22_002"))
    assert tables.naming("shop", ["PROJ-77", "#404"]) == (f"main/{TODAY}",)
    assert tables.naming("shop", ["#5"]) == ("main/2026-11-22_002",)
    assert tables.naming("notes", ["#5"]) == tables.naming("shop", []) == ()


def test_no_agent_s_work_on_an_issue_is_crowded_out_by_another_s(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST_NAMING", 2)
    tables.put(episode(EDIT, id="2026-11-20_001", days=2, issues=("#5",)))
    for number in range(3):
        one = episode(EDIT, id=f"2026-11-21_00{number}", days=1, agent="geralt", issues=("#5",))
        tables.put(one)
    assert tables.naming("shop", ["#5"]) == (
        "geralt/2026-11-21_002",
        "geralt/2026-11-21_001",
        "main/2026-11-20_001",
    )


def test_episodes_are_listed_by_source_agent_and_time(tables: Tables) -> None:
    tables.put(episode(READ))
    tables.put(episode(READ, id="2026-11-02_001", days=20, agent="geralt"))
    names = [f"main/{TODAY}", "geralt/2026-11-02_001"]
    assert [row.name for row in tables.episodes()] == names
    assert [row.name for row in tables.episodes(agent="geralt")] == names[1:]
    assert [row.name for row in tables.episodes(since=NOW - timedelta(days=3))] == names[:1]
    assert [row.name for row in tables.episodes(limit=1)] == names[:1]
    assert tables.episodes(source="elsewhere") == tables.episodes(state="running") == ()
    assert tables.episodes()[0].started == iso()


def test_a_chain_is_whole_with_task_reads_work_and_outcome(tables: Tables) -> None:
    tables.put(episode(READ, EDIT))
    tables.put(episode(READ, DECIDED, id="2026-11-22_002", outcome="failed"))
    tables.put(episode(READ, EDIT, id="2026-11-22_003", outcome="unknown"))
    tables.put(episode(EDIT, id="2026-11-22_004"))
    tables.put(episode(READ, id="2026-11-22_005"))
    tables.put(episode(READ, id="2026-11-22_006", state="running"))
    tables.put(episode(EDIT, id="2026-08-01_001", state="shrunk"))
    found = tables.completeness()
    assert found == Completeness(2, 5, 0, 1, 1, 1) and found.share == 0.4
    assert tables.completeness(NOW + timedelta(days=1)).share == 0.0


def test_status_says_how_much_there_is(tables: Tables) -> None:
    tables.put(episode(READ, EDIT), offers=[Offer("f-jwt", iso(), "w")])
    tables.put(episode(READ, id="2026-11-22_002", source="notes", outcome="failed"))
    stats = tables.stats()
    assert (stats.episodes, stats.ended, stats.events, stats.offers) == (2, 2, 3, 1)
    assert stats.outcomes == {"failed": 1, "success": 1} and stats.sources["notes"] == 1
    assert stats.bytes > 0 and stats.renewed == ""


def test_models_are_those_of_the_registry_and_one_of_a_kind_is_active(tables: Tables) -> None:
    tables.put_models(
        [ModelRow("a", "planner", "1", "{}", 5), ModelRow("b", "ranker", "1", "{}", 6)]
    )
    tables.put_models([ModelRow("c", "planner", "2", "{}", 7, True)])
    assert [(one.id, one.active) for one in tables.models()] == [("c", True)]
    two = [ModelRow(id_, "planner", "1", "{}", 5, True) for id_ in "ab"]
    with pytest.raises(IndexUnavailable):
        tables.put_models(two)
    assert [one.id for one in tables.models()] == ["c"]


# --- the file ------------------------------------------------------------------------------


def test_a_damaged_file_is_set_aside_and_filled_again(tmp_path: Path, folder: Folder) -> None:
    folder.put(episode(READ, EDIT))
    path = tmp_path / "state" / "episodes.db"
    path.parent.mkdir()
    path.write_bytes(b"this is no database" * 500)
    with opened(path) as tables:
        assert tables.renewed
        tables.follow(folder.files)
        assert len(tables.tasks("shop")) == 1
    assert Path(f"{path}{ASIDE}").read_bytes().startswith(b"this is no database")


def test_damage_that_shows_while_it_is_used_is_mended(tmp_path: Path, folder: Folder) -> None:
    for day in range(1, 20):
        folder.put(episode(READ, EDIT, DECIDED, id=f"2026-11-{day:02}_001"))
    path = tmp_path / "state" / "episodes.db"
    with opened(path) as tables:
        tables.follow(folder.files)
        tables.scrub()
        version = tables.version
        size = path.stat().st_size
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xa5" * (size - 4096))
        tables.follow(folder.files)
        tables.follow(folder.files)
        assert len(tables.episodes()) == 19
        assert tables.renewed and tables.version != version


@pytest.mark.parametrize("left", [0, 1, 99, 5000])
def test_a_file_that_is_cut_off_in_use_is_told_from_a_busy_one(
    tmp_path: Path, folder: Folder, left: int
) -> None:
    folder.put(episode(READ, EDIT))
    with opened(tmp_path / "episodes.db", give_up_after=0.05) as tables:
        tables.follow(folder.files)
        tables.scrub()
        version = tables.version
        os.truncate(tables.path, left)
        tables.follow(folder.files)
        assert len(tables.episodes()) == 1
        assert tables.renewed and tables.version != version
        assert Path(f"{tables.path}{ASIDE}").stat().st_size == left


def test_a_file_of_a_later_version_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "episodes.db"
    with opened(path) as tables:
        tables.put(episode(READ))
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO migrations VALUES ('0999_later')")
    connection.close()
    with opened(path) as tables:
        assert "0999_later" in tables.renewed and tables.episodes() == ()


def test_each_step_of_the_schema_is_applied_once_and_a_half_one_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "episodes.db"
    names = [name for name, _ in steps_there_are()]
    assert names == sorted(names) and names[0] == "0001_episodes"
    with sqlite3.connect(path) as connection:  # an older file, of before the last step
        connection.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY)")
        for name, statements in list(steps_there_are())[:-1]:
            connection.execute("INSERT INTO migrations VALUES (?)", (name,))
            for statement in statements:
                connection.execute(statement)
    connection.close()
    with opened(path) as tables:
        assert not tables.renewed
        tables.put_models([ModelRow("a", "planner", "1", "{}", 5)])
    with sqlite3.connect(path) as connection:
        assert [name for (name,) in connection.execute("SELECT name FROM migrations")] == names
    connection.close()


@pytest.mark.parametrize("done", [0, 1, 2, 3])
def test_a_file_whose_tables_are_not_those_of_its_steps_is_set_aside(
    tmp_path: Path, folder: Folder, done: int
) -> None:
    """As one that a step made before it was edited."""
    folder.put(episode(READ, EDIT))
    path = tmp_path / "episodes.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY)")
        connection.execute("CREATE TABLE notes (episode TEXT PRIMARY KEY, stamp TEXT)")
        for name, statements in list(steps_there_are())[:done]:
            connection.execute("INSERT INTO migrations VALUES (?)", (name,))
            for statement in statements:
                if "CREATE TABLE notes" not in statement and "counters" not in statement:
                    connection.execute(statement)
    connection.close()
    with opened(path) as tables:
        assert tables.renewed
        tables.follow(folder.files)
        assert len(tables.tasks("shop")) == 1 and tables.version
    with opened(path) as tables:
        assert not tables.renewed and len(tables.tasks("shop")) == 1


def test_a_state_folder_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file is in the way")
    with (
        pytest.raises(IndexUnavailable, match=r"episodes\.db"),
        opened(tmp_path / "state" / "episodes.db"),
    ):
        pass


def test_closed_tables_say_so(tmp_path: Path) -> None:
    with opened(tmp_path / "episodes.db") as tables:
        pass
    with pytest.raises(IndexUnavailable, match="closed"):
        tables.tasks("shop")


# --- busy ----------------------------------------------------------------------------------


def test_a_busy_file_is_tried_again_until_it_is_free(tmp_path: Path) -> None:
    path = tmp_path / "episodes.db"
    pauses: list[float] = []
    with opened(path, rng=random.Random(1), sleep=pauses.append) as tables:
        holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        holder.execute("BEGIN IMMEDIATE")
        freed = threading.Timer(0.4, lambda: holder.execute("COMMIT"))
        freed.start()
        tables.put(episode(READ))
        freed.join()
        holder.close()
        assert pauses and len(tables.episodes()) == 1


def test_pauses_grow_by_chance_and_end() -> None:
    clock, spans = [0.0], []
    busy = sqlite3.OperationalError("database is locked")
    busy.sqlite_errorcode = sqlite3.SQLITE_BUSY

    class Longest(random.Random):
        def uniform(self, a: float, b: float) -> float:
            spans.append(b)
            return b

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    def work() -> None:
        raise busy

    how = Retrying(0.01, 0.1, 1.0, Longest(), lambda: clock[0], sleep)
    with pytest.raises(IndexUnavailable, match="1 s"):
        retried(work, how)
    assert spans[:5] == [0.01, 0.02, 0.04, 0.08, 0.1] and set(spans[4:]) == {0.1}


def test_what_is_not_busy_is_not_tried_again() -> None:
    tries = []

    def work() -> None:
        tries.append(1)
        raise sqlite3.OperationalError("disk I/O error")

    with pytest.raises(sqlite3.OperationalError):
        retried(work)
    assert len(tries) == 1
