"""The demo on the real program, with the real embedder: every step does what it says."""

from __future__ import annotations

from pathlib import Path

from tests.cli.program import run
from tests.machine import Machine

FOUND = ("Brick dome, not clay", "Józef mówił do zegarków", "поссорились на вокзале",
         "is called Gerald", "watering can\n   strong match")  # fmt: skip


def test_the_whole_story_goes_well(tmp_path: Path) -> None:
    machine = Machine(tmp_path, tmp_path / "state", embedder="use")
    done = run(machine, "demo", "--clean", TMPDIR=str(tmp_path))
    assert done.code == 0 and done.out.endswith("✓ Every step went well.\n"), done.out
    assert [one for one in FOUND if one not in done.out] == []
    after = done.out.partition("Forgotten")[2].partition("\n")[2]
    assert "Gerald" not in after
    assert not [*tmp_path.glob("vaultmind-demo-*")], "--clean leaves nothing"
