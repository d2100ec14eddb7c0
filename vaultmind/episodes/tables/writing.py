"""Writing an episode's rows. Called inside a transaction; what is equal stays as it is."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vaultmind.episodes.affinity import counted_weight
from vaultmind.episodes.tables.projecting import FileCounts, Projected, affinities, safe, seconds

FORMAT = "2"
"""Raise it when the same note would give other rows: all notes are then read anew."""
_COLUMNS = (
    "agent, source, session_id, client, device, task_text, task_fingerprint, query_type, risk, "
    "issues, started_at, ended_at, state, outcome, rationale, token_budget, token_used, "
    "latency_ms, events, reads, edits, decisions"
)
_SET = ", ".join(f"{one} = excluded.{one}" for one in _COLUMNS.split(", "))
_EPISODE = (
    f"INSERT INTO episodes (episode, {_COLUMNS}) VALUES ({', '.join('?' * 23)}) "
    f"ON CONFLICT (episode) DO UPDATE SET {_SET} RETURNING id"
)
_COUNTED = (
    "INSERT INTO task_file_affinity VALUES (?, ?, ?, ?, ?, ?, 0.0) "
    "ON CONFLICT (task_fingerprint, file_path) DO UPDATE SET reads = reads + excluded.reads, "
    "edits = edits + excluded.edits, success_edits = success_edits + excluded.success_edits, "
    "last_seen = max(last_seen, excluded.last_seen) RETURNING reads, edits, success_edits"
)
_OF_TASK = "WHERE task_fingerprint = ? AND file_path = ?"
_Task = tuple[object, ...]
_PARTS = ("episode_events", "episode_files", "causal_links", "offers")


@dataclass(frozen=True, slots=True)
class Kept:
    """Which state of a note the rows are of."""

    name: str
    stamp: str = ""
    sha: str = ""
    fault: str = ""
    """Why it could not be read, or what its front matter lacks."""


@dataclass(frozen=True, slots=True)
class _Counts:
    """What an episode adds to the counts of its fingerprint, by path: reads, edits, successes."""

    fingerprint: str
    each: Mapping[str, tuple[int, int, int, int]]
    """With the time of the last of them."""


def stamped(stamp: str) -> str:
    """Return a stamp as it is kept: another one once rows are made otherwise."""
    return f"{FORMAT} {stamp}" if stamp else ""


def put(connection: sqlite3.Connection, row: Projected, kept: Kept) -> None:
    """Have the rows of an episode as its note says."""
    name = kept.name
    held = connection.execute("SELECT sha FROM notes WHERE episode = ?", (name,)).fetchone()
    found = connection.execute("SELECT id FROM episodes WHERE episode = ?", (name,)).fetchone()
    if found and held and kept.sha and held[0] == stamped(kept.sha):
        _offers(connection, found[0], row)
    else:
        before = _counts_held(connection, found[0]) if found else None
        was = _task(connection, name)
        (id_,) = connection.execute(_EPISODE, (name, *row.values)).fetchone()
        _events(connection, id_, row)
        _files(connection, id_, row)
        _links(connection, id_, row)
        _offers(connection, id_, row)
        _recount(connection, before, _counts_of(row))
        _tell(connection, id_, was, _task(connection, name))
    keep(connection, kept)


def keep(connection: sqlite3.Connection, kept: Kept) -> None:
    """Note which state of a note was taken."""
    connection.execute(
        "INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?)",
        (kept.name, stamped(kept.stamp), stamped(kept.sha), kept.fault),
    )


def drop(connection: sqlite3.Connection, name: str) -> None:
    """Remove an episode and all that came of it."""
    found = connection.execute("SELECT id FROM episodes WHERE episode = ?", (name,)).fetchone()
    if found:
        before = _counts_held(connection, found[0])
        if _was_ever_over(connection, found[0]):
            _grown(connection, "tasks")
            _grown(connection, "dropped")
        for table in _PARTS:
            connection.execute(f"DELETE FROM {table} WHERE episode_id = ?", found)
        connection.execute("DELETE FROM episodes WHERE id = ?", found)
        _recount(connection, before, None)
    connection.execute("DELETE FROM notes WHERE episode = ?", (name,))


def _task(connection: sqlite3.Connection, name: str) -> _Task | None:
    """Return what an episode that is over is compared by; None of one that runs."""
    found: _Task | None = connection.execute(
        "SELECT source, task_text, query_type, task_fingerprint, outcome, started_at, state, "
        "issues FROM episodes WHERE episode = ? AND state != 'running'",
        (name,),
    ).fetchone()
    return found


def _was_ever_over(connection: sqlite3.Connection, id_: int) -> bool:
    """Tell whether an episode is over or once was: somebody may hold what it did till then."""
    query = "SELECT state != 'running' OR changed > 0 FROM episodes WHERE id = ?"
    return bool(connection.execute(query, (id_,)).fetchone()[0])


def _tell(connection: sqlite3.Connection, id_: int, was: _Task | None, now: _Task | None) -> None:
    """Have those who keep in memory what is over know that it changed."""
    if was != now:
        _grown(connection, "tasks")
    if was or now:
        number = _grown(connection, "uses")
        connection.execute("UPDATE episodes SET changed = ? WHERE id = ?", (number, id_))


def _grown(connection: sqlite3.Connection, counter: str) -> int:
    """Return what a counter counts, one more now."""
    query = "UPDATE counters SET value = value + 1 WHERE name = ? RETURNING value"
    return int(connection.execute(query, (counter,)).fetchone()[0])


def _events(connection: sqlite3.Connection, id_: int, row: Projected) -> None:
    """Write the events from the first that is another: a running episode only grows."""
    held = connection.execute(
        "SELECT event_type, file_path, symbol, payload_json, timestamp FROM episode_events "
        "WHERE episode_id = ? ORDER BY ordinal",
        (id_,),
    ).fetchall()
    same = 0
    while same < min(len(held), len(row.events)) and held[same] == row.events[same]:
        same += 1
    if same < len(held):
        connection.execute(
            "DELETE FROM episode_events WHERE episode_id = ? AND ordinal >= ?", (id_, same)
        )
    connection.executemany(
        "INSERT INTO episode_events (episode_id, ordinal, event_type, file_path, symbol, "
        "payload_json, timestamp) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(id_, at, *row.events[at]) for at in range(same, len(row.events))],
    )


def _files(connection: sqlite3.Connection, id_: int, row: Projected) -> None:
    connection.execute("DELETE FROM episode_files WHERE episode_id = ?", (id_,))
    connection.executemany(
        "INSERT INTO episode_files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                id_, path, one.reads, one.edits, one.hits, one.change or "", int(one.committed),
                one.causal, one.last_at,
            )
            for path, one in row.files.items()
        ],
    )  # fmt: skip


def _links(connection: sqlite3.Connection, id_: int, row: Projected) -> None:
    connection.execute("DELETE FROM causal_links WHERE episode_id = ?", (id_,))
    reasons = {text: safe(text) for text in {one.rationale for one in row.links}}
    connection.executemany(
        "INSERT INTO causal_links (episode_id, source, issue_ref, commit_sha, change_path, "
        "change_kind, rationale, block, confidence, timestamp) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                id_, row.episode.source, one.issue, one.commit, one.path, one.change,
                reasons[one.rationale], one.block, one.confidence, seconds(one.time),
            )
            for one in row.links
        ],
    )  # fmt: skip


def _offers(connection: sqlite3.Connection, id_: int, row: Projected) -> None:
    if row.offers is None:
        return
    connection.execute("DELETE FROM offers WHERE episode_id = ?", (id_,))
    connection.executemany(
        "INSERT INTO offers (episode_id, timestamp, task_fingerprint, weights, chosen_json, "
        "affinity_json, tokens, whole_tokens, took_ms, rerank, cache) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                id_, seconds(one.time), one.fingerprint, one.weights, _json(one.chosen),
                _json(affinities(one)), one.tokens, one.whole_tokens, one.took_ms, one.rerank,
                one.cache,
            )
            for one in row.offers
        ],
    )  # fmt: skip


# --- counts of a fingerprint ---------------------------------------------------------------


def _counts_of(row: Projected) -> _Counts | None:
    one = row.episode
    if one.state == "running" or not one.task.fingerprint:
        return None
    files = ((path, it) for path, it in row.files.items() if it.reads or it.edits)
    won = one.outcome == "success"
    return _Counts(one.task.fingerprint, {path: _count(it, won) for path, it in files})


def _count(it: FileCounts, won: bool) -> tuple[int, int, int, int]:
    return int(it.reads > 0), int(it.edits > 0), int(it.edits > 0 and won), it.last_at


def _counts_held(connection: sqlite3.Connection, id_: int) -> _Counts | None:
    state, outcome, fingerprint = connection.execute(
        "SELECT state, outcome, task_fingerprint FROM episodes WHERE id = ?", (id_,)
    ).fetchone()
    if state == "running" or not fingerprint:
        return None
    rows = connection.execute(
        "SELECT file_path, reads, edits, last_at FROM episode_files "
        "WHERE episode_id = ? AND (reads OR edits)",
        (id_,),
    )
    each = {
        path: _count(FileCounts(reads, edits, last_at=at), outcome == "success")
        for path, reads, edits, at in rows.fetchall()
    }
    return _Counts(fingerprint, each)


def _recount(connection: sqlite3.Connection, before: _Counts | None, after: _Counts | None) -> None:
    """Take away what an episode counted, add what it counts now; what is equal is not touched."""
    old = {(before.fingerprint, path): it for path, it in before.each.items()} if before else {}
    new = {(after.fingerprint, path): it for path, it in after.each.items()} if after else {}
    for key in old.keys() | new.keys():
        was, now = old.get(key), new.get(key)
        if was == now:
            continue
        less, more = was or (0, 0, 0, 0), now or (0, 0, 0, 0)
        change = [more[at] - less[at] for at in range(3)]
        counts = connection.execute(_COUNTED, (*key, *change, more[3])).fetchone()
        if not any(counts[:2]):
            connection.execute(f"DELETE FROM task_file_affinity {_OF_TASK}", key)
            continue
        connection.execute(
            f"UPDATE task_file_affinity SET weight = ? {_OF_TASK}", (counted_weight(*counts), *key)
        )
        if more[3] < less[3]:
            _redate(connection, key)


def _redate(connection: sqlite3.Connection, key: tuple[str, str]) -> None:
    """Find anew when a file was last used: what said so is gone."""
    connection.execute(
        "UPDATE task_file_affinity SET last_seen = (SELECT coalesce(max(f.last_at), 0) "
        "FROM episodes e JOIN episode_files f ON f.episode_id = e.id "
        "WHERE e.task_fingerprint = ?1 AND f.file_path = ?2 AND e.state != 'running' "
        "AND (f.reads OR f.edits)) WHERE task_fingerprint = ?1 AND file_path = ?2",
        key,
    )


def _json(value: Iterable[object]) -> str:
    shown = value if isinstance(value, Mapping) else list(value)
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
