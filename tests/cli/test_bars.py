"""Progress: a bar on a terminal for what takes long, a few words in a pipe, else nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.program import environment, on_terminal
from tests.machine import Machine
from vaultmind.cli.output.bars import Words
from vaultmind.types import Progress

SEW = """
from vaultmind.cli.output.bars import Bars
from vaultmind.types import Progress
bars = Bars(due={due})
for done in range(3):
    bars.report(Progress(done, 3, "sewing"))
bars.report(Progress(1, 2, "ironing"))
bars.close()
print("dressed")
"""


def test_long_work_shows_a_bar_for_each_kind_of_step(machine: Machine) -> None:
    shown = on_terminal(machine, [sys.executable, "-c", SEW.format(due="0.0")], columns=80)
    assert "sewing" in shown and "3/3" in shown, "what is over is full"
    assert "ironing" in shown and "1/2" in shown
    assert shown.rstrip().endswith("dressed")


def test_short_work_shows_none(machine: Machine) -> None:
    due = "float('inf')"
    shown = on_terminal(machine, [sys.executable, "-c", SEW.format(due=due)], columns=80)
    assert shown.strip() == "dressed"


def test_a_pipe_gets_no_bar(machine: Machine) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "vaultmind", "reindex"],
        env=environment(machine),
        cwd=machine.vault,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "━" not in done.stderr and "\x1b" not in done.stderr, "words at most"
    assert done.stdout.startswith("✓ ready")


def test_whoever_waits_at_a_pipe_is_told_in_words_but_seldom(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = [0.0]
    words = Words(lambda: now[0])
    for second in range(10):
        now[0] = float(second)
        words.report(Progress(second * 400, 4000, "summarising the conversation"))
    now[0] = 60.0
    words.report(Progress(4000, 4000, "summarising the conversation"))
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines() == [
        "summarising the conversation: 800 of 4,000",
        "summarising the conversation: 2,800 of 4,000",
    ]
