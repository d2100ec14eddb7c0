"""`episode`, `feedback` and `purge`: as a person or a script runs them, over the daemon."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Done, run
from tests.machine import Machine

TASK = "bug: the plum tree's note names the wrong gate"
EPISODE = {"new", "judged", "message", "episode", "agent", "source", "path", "session_id", "state",
           "task", "intent", "task_fingerprint", "started", "ended", "outcome", "note",
           "event_count"}  # fmt: skip


@pytest.fixture
def begun(machine: Machine) -> Iterator[dict[str, Any]]:
    """Return an episode that runs; it is over afterwards."""
    answer = machine.run("episode", "start", "--task", TASK, "--session", "s1")
    yield answer
    machine.run("episode", "end", "--episode", answer["episode"])


def told(machine: Machine, *words: str) -> Done:
    done = run(machine, *words)
    assert done.code == 0, done.err
    return done


def test_an_episode_is_kept_from_start_to_end(machine: Machine) -> None:
    words = ("--task", TASK, "--query-type", "research", "--token-budget", "900")
    start = told(machine, "episode", "start", *words)
    assert "has begun" in start.out and "VaultMind/agents/main/episodes/" in start.out
    told(machine, "episode", "event", "read", "Garden.md", "Projects/Oven.md", "--symbol", "Heat")
    told(machine, "episode", "event", "edit", "Garden.md", "--change", "modified")
    told(machine, "episode", "event", "decision", "--text", "The gate is by the plum tree")
    told(machine, "episode", "event", "run", "--text", "make check", "--failed")
    told(machine, "episode", "event", "commit", "--commit", "3f9a01bc", "--text", "Mend it")
    end = told(machine, "episode", "end", "--outcome", "success", "--note", "Seen with own eyes")
    assert "has ended: success" in end.out
    one = machine.run("episode", "show")
    assert (one["intent"], one["token_budget"], one["note"]) == (
        "research",
        900,
        "Seen with own eyes",
    )
    kinds = [event["kind"] for event in one["events"]]
    assert kinds == ["read", "read", "edit", "decision", "run", "commit", "feedback"]
    shown = told(machine, "episode", "show", one["episode"]).out
    for words_ in ("The gate is by the plum tree", "Projects/Oven.md Heat", "3f9a01bc", "success"):
        assert words_ in shown
    assert "person" in shown


def test_the_task_can_be_piped_and_a_source_is_named_by_its_path(machine: Machine) -> None:
    found = run(machine, "episode", "start", "--task", "-", "--json")
    assert found.code == 2 and "'task'" in found.out
    begun = machine.run("episode", "start", str(machine.vault), "--task", TASK)
    assert begun["source"] == machine.vault.name
    machine.run("episode", "end")


def test_names_in_json_are_stable(machine: Machine, begun: dict[str, Any]) -> None:
    assert set(begun) == EPISODE
    one = machine.run("episode", "show", begun["episode"])
    assert set(one) == EPISODE - {"new", "judged", "message"} | {
        "risk", "issues", "client", "device", "token_budget", "token_used", "latency_ms",
        "hidden", "events",
    }  # fmt: skip
    listed = machine.run("episode", "list")
    assert set(listed) == {"episodes", "total"}
    assert {"episode", "task", "note", "event_count", "fault"} < set(listed["episodes"][-1])


def test_a_list_shows_each_in_a_line_with_what_came_of_it(
    machine: Machine, begun: dict[str, Any]
) -> None:
    machine.run("episode", "event", "edit", "Garden.md")
    shown = told(machine, "episode", "list", "--source", "vault").out
    (line,) = [one for one in shown.splitlines() if begun["episode"] in one]
    assert "running" in line and TASK in line
    one = told(machine, "episode", "list", "--limit", "1", "--agent", "main").out
    assert begun["episode"] in one


def test_the_persons_feedback_corrects_an_outcome(machine: Machine) -> None:
    begun = machine.run("episode", "start", "--task", TASK, "--session", "s9")
    machine.run("episode", "end", "--session", "s9", "--outcome", "success")
    said = told(machine, "feedback", "--session", "s9", "--outcome", "failed", "--note", "No")
    assert f"{begun['episode']}: failed" in said.out
    one = machine.run("episode", "show", begun["episode"])
    assert (one["outcome"], one["note"], one["events"][-1]["how"]) == ("failed", "No", "person")


def test_a_hit_is_judged_by_the_same_command(machine: Machine) -> None:
    machine.run("index")
    (hit, *_) = machine.run("search", "plum tree", "--kind", "note")["hits"]
    judged = machine.run("feedback", "--query", "plum tree", "--hit", hit["id"], "--useful")
    (one,) = judged["feedback"]
    assert (one["path"], one["verdict"]) == ("Garden.md", "useful")
    wrong = told(machine, "feedback", "--query", "plum tree", "--hit", hit["id"], "--wrong")
    assert "Garden.md" in wrong.out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("episode", "start"), 2, "'task'"),
        (("episode", "event", "sing"), 2, "sing"),
        (("episode", "event", "read"), 2, "events[0].path"),
        (("episode", "event", "read", "/etc/passwd"), 2, "relative to its root"),
        (("episode", "end", "--outcome", "fine"), 2, "success"),
        (("episode", "show", "2020-01-01_001"), 5, "no episode"),
        (("episode", "end", "--session", "nobody"), 5, "no episode that runs"),
        (("feedback",), 2, "'outcome'"),
        (("feedback", "--hit", "x"), 2, "'verdict'"),
        (("feedback", "--outcome", "failed", "--hit", "x", "--useful"), 2, "'outcome'"),
        (("feedback", "--episode", "main/2020-01-01_001", "--outcome", "failed"), 5, "no episode"),
    ],
)
def test_what_cannot_be_done_is_said(
    machine: Machine, begun: dict[str, Any], words: tuple[str, ...], code: int, said: str
) -> None:
    done = run(machine, *words)
    assert done.code == code and said in done.err, done


def test_the_status_tells_of_what_runs(machine: Machine, begun: dict[str, Any]) -> None:
    status = machine.run("status")["episodes"]
    assert status["running"] == [begun["episode"]] and status["kept"] >= 1
    assert f"running: {begun['episode']}" in told(machine, "status").out


def test_a_vault_without_episodes_says_so(tmp_path: Path) -> None:
    other = Machine(tmp_path / "vault", tmp_path / "state")
    other.furnish({"A.md": "# A\n"})
    shown = run(other, "episode", "list", "--in-process")
    assert "No episode is kept yet" in shown.out
    assert run(other, "episode", "show", "--in-process").code == 5


def test_a_purge_is_only_shown_until_it_is_wanted(machine: Machine) -> None:
    begun = machine.run("episode", "start", "--task", TASK)
    machine.run("episode", "event", "read", "Projects/Oven.md")
    machine.run("episode", "end", "--outcome", "success")
    assert "no episode kept in full ended 90 days ago" in told(machine, "purge").out
    note = machine.vault / begun["path"]
    before = note.read_bytes()
    shown = told(machine, "purge", "--days", "0").out
    assert "--yes" in shown
    assert "lessons" in shown and "vaultmind gain" in shown and begun["episode"] in shown
    assert note.read_bytes() == before
    assert machine.run("purge", "--days", "0")["done"] is False
    done = machine.run("purge", "--days", "0", "--yes")
    assert done["done"] and done["count"] >= 1
    assert note.read_bytes() != before
    assert machine.run("episode", "show", begun["episode"])["outcome"] == "success"
    assert "Shrunk" in told(machine, "episode", "show", begun["episode"]).out
    assert run(machine, "purge", "--days", "-1").code == 2
