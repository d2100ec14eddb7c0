"""The demo on the real program, with the real embedder: every step does what it says."""

from __future__ import annotations

from pathlib import Path

from tests.cli.program import run
from tests.machine import Machine
from vaultmind.cli.demo import STORY


def test_the_whole_story_goes_well(tmp_path: Path) -> None:
    machine = Machine(tmp_path, tmp_path / "state", embedder="use")
    done = run(machine, "demo", "--clean", TMPDIR=str(tmp_path))
    assert done.code == 0 and done.out.count("✓") == len(STORY) + 1, done.out
    assert not [*tmp_path.glob("vaultmind-demo-*")], "--clean leaves nothing"
