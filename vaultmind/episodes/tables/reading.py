"""Reading the tables of episodes. Called with a connection that sees one state of them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any

from vaultmind.episodes.tables.projecting import AFFINITY
from vaultmind.episodes.tables.rows import (
    AffinityRow,
    Completeness,
    Counters,
    Decision,
    EventRow,
    ModelRow,
    Row,
    Stats,
    TaskRow,
    Told,
    TouchedFile,
)
from vaultmind.episodes.types import CausalLink, Offer

_ROW = (
    "episode, agent, source, session_id, client, device, task_text, query_type, "
    "task_fingerprint, risk, issues, started_at, ended_at, state, outcome, rationale, "
    "token_budget, token_used, latency_ms, events, reads, edits, decisions"
)
_NAMED = "episodes e WHERE e.episode IN (SELECT value FROM json_each(?))"
"""CROSS JOIN keeps the order that is written: by name, then by the id that belongs to it."""
_THEIR = (
    "(SELECT id, episode, source, outcome FROM episodes "
    "WHERE episode IN (SELECT value FROM json_each(?))) e CROSS JOIN"
)
_OF = "episode_id IN (SELECT value FROM json_each(?))"
MOST_NAMING = 50
"""Episodes of an agent that name an issue, the newest."""


def tasks(connection: sqlite3.Connection, source: str, most: int) -> tuple[TaskRow, ...]:
    """Return the tasks of a source's episodes that are over, newest first."""
    rows = connection.execute(
        "SELECT episode, task_text, query_type, task_fingerprint, outcome, started_at, state, "
        "issues FROM episodes WHERE source = ? AND state != 'running' "
        "ORDER BY started_at DESC, id DESC LIMIT ?",
        (source, most),
    )
    return tuple(TaskRow(*(*row[:7], tuple(row[7].split()))) for row in rows)


def tasks_since(
    connection: sqlite3.Connection, source: str, since: int
) -> tuple[tuple[TaskRow, ...], frozenset[str]]:
    """Return the tasks of a source that changed since, newest first, and what is none of them."""
    rows = connection.execute(
        "SELECT episode, task_text, query_type, task_fingerprint, outcome, started_at, state, "
        "issues, source FROM episodes WHERE changed > ? ORDER BY started_at DESC, id DESC",
        (since,),
    ).fetchall()
    own = [row for row in rows if row[8] == source and row[6] != "running"]
    found = tuple(TaskRow(*(*row[:7], tuple(row[7].split()))) for row in own)
    return found, frozenset(row[0] for row in rows).difference(row[0] for row in own)


def naming(connection: sqlite3.Connection, source: str, issues: Sequence[str]) -> tuple[str, ...]:
    """Return the episodes that name one of some issues, newest first, of each agent some."""
    rows = connection.execute(
        "SELECT episode FROM (SELECT episode, started_at, id, row_number() OVER "
        "(PARTITION BY agent ORDER BY started_at DESC, id DESC) AS place FROM episodes "
        "WHERE state != 'running' AND id IN (SELECT episode_id FROM causal_links "
        "WHERE source = ? AND issue_ref IN (SELECT value FROM json_each(?)))) "
        "WHERE place <= ? ORDER BY started_at DESC, id DESC",
        (source, _json(issues), MOST_NAMING),
    )
    return tuple(name for (name,) in rows)


def touched(
    connection: sqlite3.Connection, names: Sequence[str]
) -> dict[str, tuple[TouchedFile, ...]]:
    """Return what some episodes did with files, by episode."""
    rows = connection.execute(
        "SELECT e.episode, f.file_path, f.reads, f.edits, f.hits, f.change_kind, f.committed, "
        f"f.causal, f.last_at FROM {_THEIR} episode_files f ON f.episode_id = e.id",
        (_json(names),),
    )
    found: dict[str, list[TouchedFile]] = {}
    for name, path, reads, edits, hits, change, committed, sure, last_at in rows:
        one = TouchedFile(path, reads, edits, hits, change, committed == 1, sure, last_at)
        found.setdefault(name, []).append(one)
    return {name: tuple(files) for name, files in found.items()}


def first_changes(
    connection: sqlite3.Connection, names: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Return when some episodes first changed each file, in seconds since 1970, by episode."""
    rows = connection.execute(
        f"SELECT e.episode, v.file_path, min(v.timestamp) FROM {_THEIR} episode_events v "
        "ON v.episode_id = e.id AND v.event_type IN ('edit', 'delta', 'commit') "
        "AND v.file_path != '' GROUP BY e.episode, v.file_path",
        (_json(names),),
    )
    found: dict[str, dict[str, int]] = {}
    for name, path, at in rows:
        found.setdefault(name, {})[path] = at
    return found


def causal(
    connection: sqlite3.Connection, source: str, names: Sequence[str], zone: tzinfo | None
) -> tuple[CausalLink, ...]:
    """Return the links of some episodes of a source, the latest first."""
    rows = connection.execute(
        "SELECT e.episode, l.change_path, l.change_kind, l.issue_ref, l.commit_sha, l.rationale, "
        f"l.timestamp, l.block, l.confidence FROM {_THEIR} causal_links l "
        "ON l.episode_id = e.id WHERE e.source = ? ORDER BY l.timestamp DESC, l.id",
        (_json(names), source),
    )
    return tuple(CausalLink(*(*row[:6], _iso(row[6], zone), *row[7:])) for row in rows)


def told(connection: sqlite3.Connection, names: Sequence[str]) -> dict[str, Told]:
    """Return what there is to tell of some episodes."""
    wanted = (_json(names),)
    rows = connection.execute(
        f"SELECT e.episode, e.id, e.rationale, e.outcome FROM {_NAMED}", wanted
    ).fetchall()
    ids = (json.dumps([id_ for _, id_, _, _ in rows]),)
    decisions = _grouped(
        connection,
        "SELECT episode_id, payload_json, file_path FROM episode_events "
        f"WHERE {_OF} AND event_type = 'decision' ORDER BY episode_id, ordinal",
        ids,
    )
    changed = _grouped(
        connection,
        f"SELECT episode_id, file_path, change_kind FROM episode_files WHERE {_OF} AND edits "
        "ORDER BY last_at DESC, file_path",
        ids,
    )
    return {
        name: Told(
            tuple(map(_decision, decisions.get(id_, ()))),
            tuple((path, change) for path, change in changed.get(id_, ())),
            rationale,
            outcome,
        )
        for name, id_, rationale, outcome in rows
    }


def changed_parts(
    connection: sqlite3.Connection, names: Sequence[str]
) -> list[tuple[str, str, str, str]]:
    """Return which parts of files some episodes told to have changed, the latest first.

    Each with its episode, its file, and the block of the line that says so.
    """
    rows = connection.execute(
        f"SELECT e.episode, v.file_path, v.symbol, v.payload_json FROM {_THEIR} episode_events v "
        "ON v.episode_id = e.id AND v.event_type IN ('edit', 'delta', 'commit') "
        "AND v.symbol != '' AND v.file_path != '' ORDER BY v.timestamp DESC, v.ordinal DESC",
        (_json(names),),
    )
    return [(name, path, part, _more(said).get("block", "")) for name, path, part, said in rows]


def affinity(connection: sqlite3.Connection, fingerprint: str) -> tuple[AffinityRow, ...]:
    """Return the counts of a fingerprint, heaviest first."""
    rows = connection.execute(
        "SELECT * FROM task_file_affinity WHERE task_fingerprint = ? "
        "ORDER BY weight DESC, last_seen DESC, file_path",
        (fingerprint,),
    )
    return tuple(AffinityRow(*row) for row in rows)


def episodes(
    connection: sqlite3.Connection,
    wanted: Mapping[str, str],
    after: float,
    most: int,
    zone: tzinfo | None,
) -> tuple[Row, ...]:
    """Return episodes with some values, those that began last first."""
    named = {key: value for key, value in wanted.items() if value}
    where = "".join(f" AND {key} = ?" for key in named)
    rows = connection.execute(
        f"SELECT {_ROW} FROM episodes WHERE started_at >= ?{where} "
        "ORDER BY started_at DESC, id DESC LIMIT ?",
        (after, *named.values(), most),
    )
    return tuple(_row(row, zone) for row in rows)


def ended_before(
    connection: sqlite3.Connection, before: float, zone: tzinfo | None
) -> tuple[Row, ...]:
    """Return the episodes in full that ended before a time, the oldest first."""
    rows = connection.execute(
        f"SELECT {_ROW} FROM episodes WHERE state = 'ended' AND ended_at < ? "
        "AND episode NOT IN (SELECT episode FROM notes WHERE fault != '') "
        "ORDER BY ended_at, episode",
        (before,),
    )
    return tuple(_row(row, zone) for row in rows)


def faulty(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the episodes whose note is faulty, and why."""
    query = "SELECT episode, fault FROM notes WHERE fault != '' ORDER BY episode"
    return dict(connection.execute(query).fetchall())


def find(
    connection: sqlite3.Connection, names: Sequence[str], zone: tzinfo | None
) -> dict[str, Row]:
    """Return the episodes of some names, by name."""
    rows = connection.execute(f"SELECT {_ROW} FROM {_NAMED}", (_json(names),))
    return {row[0]: _row(row, zone) for row in rows}


def events(
    connection: sqlite3.Connection, names: Sequence[str], zone: tzinfo | None
) -> dict[str, tuple[EventRow, ...]]:
    """Return the events of some episodes, by episode."""
    found = _grouped(
        connection,
        f"SELECT e.episode, v.event_type, v.file_path, v.payload_json, v.timestamp FROM {_THEIR} "
        "episode_events v ON v.episode_id = e.id ORDER BY v.episode_id, v.ordinal",
        (_json(names),),
    )
    return {
        name: tuple(
            EventRow(kind, path, _more(payload).get("change", ""), _iso(at, zone))
            for kind, path, payload, at in each
        )
        for name, each in found.items()
    }


def offers(
    connection: sqlite3.Connection, names: Sequence[str], zone: tzinfo | None
) -> dict[str, tuple[Offer, ...]]:
    """Return what plans offered in some episodes, by episode."""
    found = _grouped(
        connection,
        "SELECT e.episode, o.task_fingerprint, o.timestamp, o.weights, o.affinity_json, "
        f"o.chosen_json, o.tokens, o.whole_tokens, o.took_ms, o.rerank, o.cache FROM {_THEIR} "
        "offers o ON o.episode_id = e.id ORDER BY o.episode_id, o.id",
        (_json(names),),
    )
    return {
        name: tuple(
            Offer(
                fingerprint,
                _iso(at, zone),
                weights,
                {path: {AFFINITY: value} for path, value in json.loads(led).items()},
                tuple(json.loads(chosen)),
                *rest,
            )
            for fingerprint, at, weights, led, chosen, *rest in each
        )
        for name, each in found.items()
    }


def completeness(connection: sqlite3.Connection, after: float) -> Completeness:
    """Return how many of the episodes that ended since then tell their whole chain."""
    return Completeness(
        *connection.execute(
            "SELECT coalesce(sum(task_text != '' AND reads AND (edits OR decisions) "
            "AND outcome != 'unknown'), 0), count(*), coalesce(sum(task_text = ''), 0), "
            "coalesce(sum(reads = 0), 0), coalesce(sum(edits = 0 AND decisions = 0), 0), "
            "coalesce(sum(outcome = 'unknown'), 0) "
            "FROM episodes WHERE state = 'ended' AND started_at >= ?",
            (after,),
        ).fetchone()
    )


def models(connection: sqlite3.Connection) -> tuple[ModelRow, ...]:
    """Return the models there are, the newest first."""
    rows = connection.execute("SELECT * FROM model_registry ORDER BY created_at DESC, model_id")
    return tuple(ModelRow(*(*row[:5], bool(row[5]))) for row in rows)


def counters(connection: sqlite3.Connection) -> Counters:
    """Return how often what the tables answer became other."""
    held = dict(connection.execute("SELECT name, value FROM counters").fetchall())
    return Counters(held["tasks"], held["uses"], held["dropped"])


def stats(connection: sqlite3.Connection, renewed: str, bytes_: int) -> Stats:
    """Return how much there is."""

    def pairs(query: str) -> dict[str, Any]:
        return dict(connection.execute(query).fetchall())

    def count(query: str) -> int:
        return int(connection.execute(query).fetchone()[0])

    states = pairs("SELECT state, count(*) FROM episodes GROUP BY state")
    return Stats(
        sum(states.values()),
        states.get("running", 0),
        states.get("ended", 0),
        states.get("shrunk", 0),
        pairs(
            "SELECT outcome, count(*) FROM episodes WHERE state != 'running' "
            "GROUP BY outcome ORDER BY outcome"
        ),
        count("SELECT coalesce(sum(events), 0) FROM episodes"),
        count("SELECT count(*) FROM causal_links"),
        count("SELECT count(*) FROM offers"),
        pairs("SELECT source, count(*) FROM episodes GROUP BY source ORDER BY 2 DESC, 1"),
        faulty(connection),
        renewed,
        bytes_,
    )


def _row(row: Sequence[Any], zone: tzinfo | None) -> Row:
    issues = tuple(row[10].split())
    return Row(*(*row[:10], issues, _iso(row[11], zone), _iso(row[12], zone), *row[13:]))


def _decision(row: Sequence[str]) -> Decision:
    more = _more(row[0])
    return Decision(more.get("text", ""), more.get("block", ""), row[1])


def _more(payload: str) -> dict[str, Any]:
    return json.loads(payload) if payload else {}


def _grouped(
    connection: sqlite3.Connection, query: str, values: Iterable[str]
) -> dict[Any, list[tuple[Any, ...]]]:
    """Return the rows of a query by their first value."""
    found: dict[Any, list[tuple[Any, ...]]] = {}
    for key, *rest in _rows(connection, query, values):
        found.setdefault(key, []).append(tuple(rest))
    return found


def _rows(
    connection: sqlite3.Connection, query: str, values: Iterable[str]
) -> Iterator[tuple[Any, ...]]:
    yield from connection.execute(query, tuple(values))


def _json(names: Iterable[str]) -> str:
    return json.dumps(list(names), ensure_ascii=False)


def _iso(at: int | None, zone: tzinfo | None) -> str:
    """Return a time in a zone; nothing for none, nor for one that a zone moves out of all years."""
    try:
        return datetime.fromtimestamp(at, zone).isoformat(timespec="seconds") if at else ""
    except (ValueError, OverflowError, OSError):
        return ""
