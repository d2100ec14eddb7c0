"""The demo on the real program, with the real embedder: every step does what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import run
from tests.machine import Machine
from vaultmind.cli.connect import program_words
from vaultmind.cli.demo import STORY


def test_the_closing_commands_run_from_any_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "vaultmind"
    program.touch(mode=0o755)
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "elsewhere"))
    assert program_words() == str(program)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program_words() == "vaultmind"


def test_the_whole_story_goes_well(tmp_path: Path) -> None:
    machine = Machine(tmp_path, tmp_path / "state", embedder="use")
    done = run(machine, "demo", "--clean", TMPDIR=str(tmp_path))
    assert done.code == 0 and done.out.count("✓") == len(STORY) + 1, done.out
    assert not [*tmp_path.glob("vaultmind-demo-*")], "--clean leaves nothing"
