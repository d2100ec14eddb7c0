"""`search` and `fetch`: what they find, how they say it, and with which exit code."""

from __future__ import annotations

import json
import threading
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


class Indexing:
    """Keeps what a command waits for; its index lacks some vectors, and may never be done."""

    def __init__(self, missing: int, phase: str = "ready", *, busy: bool = False) -> None:
        self.waits: list[dict[str, Any]] = []
        self.busy = busy
        counts: dict[str, Any] = {"embeddable": 5000, "vectors": 5000 - missing}
        self.state = counts | {"phase": phase, "embedder": "use"}

    def call(self, op: str, args: dict[str, Any], report: object) -> dict[str, Any]:
        self.waits.append(args)
        if self.busy:
            threading.Event().wait(args["timeout_seconds"])
        return self.state


@pytest.mark.parametrize(
    ("missing", "phase", "waits"),
    [(4000, "ready", 1), (3, "ready", 2), (4000, "indexing", 2), (3, "indexing", 3)],
)
def test_a_question_waits_for_text_and_never_long_for_vectors(
    missing: int, phase: str, waits: int
) -> None:
    backend, settings = Indexing(missing, phase), Settings()
    settings._backend = backend  # type: ignore[assignment]
    made.wait_for_index(settings, patient=False)
    assert backend.waits[0] == {"vectors": False, "timeout_seconds": made.CHANGES_SECONDS}
    assert ({"vectors": False} in backend.waits) is (phase == "indexing")
    assert len(backend.waits) == waits
    assert all(one.get("timeout_seconds", 0) <= 3 for one in backend.waits)


def test_a_question_does_not_wait_for_a_vault_that_changes_all_the_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(made, "CHANGES_SECONDS", 0.01)
    for json_wanted in (False, True):
        backend, settings = Indexing(0, busy=True), Settings()
        settings._backend = backend  # type: ignore[assignment]
        settings.values["json"] = json_wanted
        made.wait_for_index(settings, patient=False)
        assert [one["timeout_seconds"] for one in backend.waits] == [0.01]
        assert ("may be missing" in capsys.readouterr().err) is not json_wanted
