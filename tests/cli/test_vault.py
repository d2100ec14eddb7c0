"""`init`, `index`, `reindex`, `import`, `status`, `doctor`: the vault as a whole."""

from __future__ import annotations

from pathlib import Path

from tests.machine import Machine


def test_a_check_of_a_copy_reads_every_note_first(tmp_path: Path) -> None:
    copy = Machine(tmp_path / "copy", tmp_path / "check")
    copy.furnish({f"Daily/{number}.md": f"# Day {number}\n\nRain.\n" for number in range(150)})
    (copy.vault / "Daily/99z.md").write_bytes(bytes(range(256)) * 40)
    checks = copy.run("doctor", "--in-process")["checks"]
    told = {one["name"]: one for one in checks}
    assert told["index"]["result"] == "warn" and "Index ready" in told["index"]["what"]
    assert "Daily/99z.md" in told["index"]["what"]
