"""Many processes write the tables at once: nothing is refused, nothing is lost or damaged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "contention.py"


def test_writes_of_many_processes_succeed_though_the_file_is_held_and_one_is_killed() -> None:
    command = [sys.executable, SCRIPT, "--processes=6", "--writes=25", "--hold-ms=200", "--json"]
    done = subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    found = json.loads(done.stdout)
    assert found["writes"] == 150 and found["share"] >= 0.999
    assert found["tried_again"] > 0, "they did not contend"
    assert found["is_whole"] and found["lost"] == 0
