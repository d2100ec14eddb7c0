"""Measuring: the candidates of a task with their features."""

from __future__ import annotations

import math
from collections.abc import Mapping

from vaultmind.planner.candidates.candidates import Asked, candidates
from vaultmind.planner.candidates.pool import Candidate
from vaultmind.planner.ranking.features import About, features_of, scope_of
from vaultmind.planner.sources.freshness import indexed_rows
from vaultmind.planner.task import risk_of_path

SECONDS_A_DAY = 86_400.0


def measured(asked: Asked) -> list[tuple[Candidate, Mapping[str, float]]]:
    """Return every candidate with its features. Ages are whole days: a plan lasts a day."""
    pool = candidates(asked)
    structure, understood = asked.source.structure, asked.understood
    graph = structure.graph if structure else None
    scope = scope_of(asked.request.task)
    now = asked.now.timestamp()
    rows = indexed_rows(asked.source, [*pool])
    ages = {row.path: (now - row.stat.mtime_ns / 1e9) // SECONDS_A_DAY for row in rows}
    done = []
    for path, one in pool.items():
        record = structure.record(path) if structure else None
        is_code = record is not None and record.shape == "code"
        about = About(
            understood.predicted,
            understood.risk,
            record,
            scope,
            ages.get(path, math.inf),
            risk_of_path(path),
            bool(is_code and graph and any(edge.kind == "tests" for edge in graph.into(path))),
            asked.known.names.stuff,
        )
        done.append((one, features_of(one, about)))
    return done
