"""`plan`: what a person sees of it, what a script gets, and what is saved and listed."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import environment, run, run_on_terminal
from tests.machine import Machine
from vaultmind import tokens
from vaultmind.cli.output.tables import plan_words
from vaultmind.cli.planning.plan import show_plan

TASK = "write about the bread oven: how hot must it be?"
LONG = "A long line about the oven, with flour and yeast.\n\n" * 60
NOTES = {
    "Notes/Oven.md": "# Oven\n\nThe bread oven needs 230 degrees.\n\n## Wood\n\nBirch is best.\n",
    "Notes/Piec i chleb.md": f"# Piec\n\nOven, po polsku.\n\n{LONG}",
    "Notes/Bike.md": "# Bike\n\nThe bike has a flat tyre.\n",
}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """One vault and one daemon for all tests of this module."""
    folder = tmp_path_factory.mktemp("plan")
    machine = Machine(folder / "My vault", folder / "state")
    machine.furnish(NOTES)
    machine.begin()
    machine.run("init")
    yield machine
    machine.stop()


def test_the_view_shows_the_budget_each_file_and_how_to_see_more(machine: Machine) -> None:
    shown = run(machine, "plan", "--task", TASK, "--token-budget", "600")
    answer = machine.run("plan", "--task", TASK, "--token-budget", "600")
    assert shown.code == 0 and shown.err == ""
    used = answer["budget_report"]["estimated_used"]
    assert f"{used:,} of 600 tokens" in shown.out and f"{answer['intent']['confidence']:.0%} sure"
    for path in answer["context"]["files"]:
        assert path in shown.out
    assert "The bread oven needs 230" not in shown.out, "the view shows reasons, not texts"
    assert "--trace" in shown.out and "--text" in shown.out


def test_a_trace_shows_every_reason_and_all_that_was_left_out(machine: Machine) -> None:
    words = ("plan", "--task", TASK, "--token-budget", "150")
    shown = " ".join(run(machine, *words, "--trace").out.split())
    answer = machine.run(*words)
    for line in answer["decision_trace"]:
        assert " ".join(line.split()) in shown
    for one in answer["dropped_candidates"]:
        assert one["file"] in shown and one["reason"] in shown


def test_the_text_alone_goes_into_a_pipe(machine: Machine) -> None:
    words = ("plan", "--task", TASK, "--token-budget", "400")
    done = run(machine, *words, "--text")
    answer = machine.run(*words)
    assert done.out.strip() == answer["context"]["text"].strip()
    assert tokens.count(answer["context"]["text"]) <= 400


def test_a_task_can_be_read_from_stdin(machine: Machine) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "vaultmind", "plan", "--task", "-", "--json"],
        env=environment(machine),
        cwd=machine.vault,
        input=TASK,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Notes/Oven.md" in done.stdout


@pytest.mark.parametrize("columns", [50, 100])
def test_on_a_terminal_no_line_is_wider_than_it(machine: Machine, columns: int) -> None:
    words = ("plan", "--task", TASK, "--token-budget", "300", "--trace")
    shown = run_on_terminal(machine, *words, columns=columns)
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown)
    too_long = [line for line in plain.splitlines() if len(line.rstrip()) > columns]
    assert not [line for line in too_long if " " in line.strip()], too_long


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("plan",), 2, "--task"),
        (("plan", "--task", ""), 2, "'task'"),
        (("plan", "ghost", "--task", "x"), 5, "ghost"),
        (("plan", "/etc", "--task", "x"), 5, "/etc"),
        (("plan", "--task", "x", "--token-budget", "1"), 2, "100 to 100000"),
        (("plan", "--task", "x", "--ml-mode", "slow"), 2, "'off', 'fast', 'full'"),
        (("plan", "--task", "x", "--query-type", "fix"), 2, "bugfix"),
    ],
)
def test_what_is_wrong_is_said_with_its_exit_code(
    machine: Machine, words: tuple[str, ...], code: int, said: str
) -> None:
    done = run(machine, *words)
    assert done.code == code and said in done.err and "Traceback" not in done.err


def test_saved_plans_are_listed_with_their_size(machine: Machine) -> None:
    assert "No plan was saved yet" in run(machine, "plan", "--list").out
    saved = machine.run("plan", "--task", TASK, "--save", "--session-id", "window 3")["saved"]
    assert run(machine, "plan", "--task", TASK, "--save").out.count("saved as") == 1
    listed = machine.run("plan", "--list")
    assert len(listed["plans"]) == 2 and listed["max_tokens"] == 2000
    assert saved in {one["path"] for one in listed["plans"]}
    assert listed["bytes"] == sum((machine.vault / p["path"]).stat().st_size
                                  for p in listed["plans"])  # fmt: skip
    shown = run(machine, "plan", "--list").out
    assert saved in shown and TASK in shown and "2 saved plans" in shown and "2,000 tokens" in shown
    assert "window 3" in (machine.vault / saved).read_text("utf-8")


def test_a_source_is_named_by_its_path_wherever_one_stands(
    machine: Machine, tmp_path: Path
) -> None:
    here = run(machine, "plan", ".", "--task", TASK, "--json")
    assert here.json["source"] == machine.run("plan", "--task", TASK)["source"]
    gone = run(machine, "plan", "./elsewhere", "--task", TASK, "--json")
    assert gone.code == 5 and str(machine.vault / "elsewhere") in gone.out


def test_the_status_tells_how_planning_goes(machine: Machine) -> None:
    machine.run("plan", "--task", TASK)
    (row,) = [one for one in run(machine, "status").out.splitlines() if one.startswith("plans")]
    assert re.search(r"\d+ made · [\d,]+ ms, p95 [\d,]+ ms · [\d,]+ tokens each", row)
    told = plan_words(
        {
            "plans": 40,
            "plan_context_p50_ms": 31.2,
            "plan_context_p95_ms": 120.0,
            "context_tokens_median": 2400,
            "rerank_invocation_rate": 0.5,
            "fallback_rate_ml_unavailable": 0.25,
        }
    )
    assert told.endswith("2,400 tokens each · a model was asked for 50%, in vain 25%")


def answer_of(**values: Any) -> dict[str, Any]:
    piece = {"file": "src/a.py", "part": "Cart.add", "first_line": 3, "last_line": 9}
    piece |= {"tokens": 90, "layer": "L3", "relevance": 1.0, "freshness": "STALE", "why": "named"}
    usual: dict[str, Any] = {
        "cache_status": "hit",
        "freshness": "stale",
        "intent": {"predicted": "bugfix", "confidence": 0.9, "risk": "high", "reasons": []},
        "budget_report": {"token_budget": 200, "estimated_used": 90, "efficiency_score": 0.7},
        "context": {"layers": ["L3"], "files": ["src/a.py"], "text": "x", "pieces": [piece]},
        "decision_trace": ["src/a.py: named"],
        "dropped_candidates": [{"file": f"docs/{n}.md", "reason": "too far"} for n in range(12)],
        "earlier": [
            {"episode": "main/2026-03-04_001", "text": "- 2026-03-04, main, success: the cart"}
        ],
        "notes": ["The model gave no answer within 500 ms."],
        "source": "shop",
        "rerank": "used",
        "model": "tiny",
        "saved": "",
        "took_ms": 31.4,
    }
    return usual | values


def test_what_is_stale_left_out_missing_and_reranked_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_plan(answer_of())
    shown = capsys.readouterr().out
    for words in ("Cart.add (3–9)", "changed meanwhile", "high risk", "too far:", "docs/7.md",
                  "and 4 more", "within 500 ms", "reranked by tiny", "31 ms",
                  "Earlier work", "success: the cart", "main/2026-03-04_001"):  # fmt: skip
        assert words in shown
    assert "docs/8.md" not in shown
    show_plan(answer_of(), trace=True)
    shown = capsys.readouterr().out
    assert "docs/11.md" in shown and "– src/a.py: named" in shown and "--trace" not in shown


def test_a_plan_of_nothing_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    nothing = {"layers": [], "files": [], "text": "", "pieces": []}
    show_plan(answer_of(context=nothing, dropped_candidates=[], notes=[], earlier=[]))
    shown = capsys.readouterr().out
    assert "Nothing was found that belongs to this task." in shown and "Earlier" not in shown
