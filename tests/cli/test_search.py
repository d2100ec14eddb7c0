"""`search` and `fetch`: what they find, how they say it, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import run
from tests.machine import Machine
from vaultmind.cli import made
from vaultmind.cli.options import Settings

HIT = {"id", "path", "anchor", "kind", "agent", "title", "text", "score", "parts", "lang", "time",
       "session", "message", "speaker", "truncated", "why", "before", "after", "also"}  # fmt: skip
STATE = {"fault_count", "phase", "files", "indexed", "chunks", "vectors", "embedder", "embeddable",
         "sends_to", "loading", "faults", "notes"}  # fmt: skip


def test_many_queries_in_one_process(machine: Machine, tmp_path: Path) -> None:
    asked = [{"id": f"q{n}", "query": "plum"} for n in range(60)]
    asked += [{"id": 7, "query": "поезд"}, {"id": "none", "query": "xyzzyplugh"}]
    path = tmp_path / "queries.jsonl"
    path.write_text("\n".join(json.dumps(one, ensure_ascii=False) for one in asked), "utf-8")
    done = run(machine, "search", "--queries", str(path))
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert [answer["id"] for answer in answers] == [one["id"] for one in asked]
    assert answers[60]["hits"][0]["path"] == "Дневник/Поездка.md"
    assert set(answers[0]["hits"][0]) == HIT
    assert answers[-1]["hits"] == []
    assert done.code == 0


@pytest.mark.parametrize(
    ("missing", "phase", "waits"),
    [(4000, "ready", 1), (3, "ready", 2), (4000, "indexing", 2), (3, "indexing", 3)],
)
def test_a_question_waits_for_text_and_never_long_for_vectors(
    missing: int, phase: str, waits: int
) -> None:
    asked: list[dict[str, Any]] = []

    class Indexing:
        def call(self, op: str, args: dict[str, Any], report: object) -> dict[str, Any]:
            asked.append(args)
            counts = {"embeddable": 5000, "vectors": 5000 - missing}
            return {"phase": phase, "embedder": "use", **counts}

    settings = Settings()
    settings.backend = Indexing()  # type: ignore[assignment]
    made.wait_for_index(settings, patient=False)
    assert asked[0] == {"vectors": False, "timeout_seconds": made.CHANGES_SECONDS}
    assert ({"vectors": False} in asked) is (phase == "indexing") and len(asked) == waits
