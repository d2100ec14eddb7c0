"""memory/audit and tombstones: all devices' files count, and damage in one hides nothing else."""

from __future__ import annotations

from pathlib import Path

from tests.memory.conftest import unchained
from vaultmind.memory.audit.lines import AuditLine, read_audit
from vaultmind.memory.forget.tombstones import Tombstones, render_tombstones
from vaultmind.types import MessageRef
from vaultmind.vault.paths import VaultPaths


def line(time: str, after: str) -> AuditLine:
    return AuditLine(time, "main", "c", "main", "remember", "written", after=after)


def test_the_audit_of_two_devices_reads_as_one(tmp_path: Path) -> None:
    paths = VaultPaths(tmp_path)
    folder = tmp_path / paths.memory("main")
    folder.mkdir(parents=True)
    one = unchained(line("2026-02-20T10:00:00+01:00", "a\u2028b\n"))
    two = unchained(line("2026-02-20T11:00:00+01:00", "c"))
    (folder / "audit-one.jsonl").write_text(one + '{"torn": ', "utf-8")
    (folder / "audit-two.jsonl").write_text("not json\n[]\n" + two, "utf-8")
    (folder / "audit-two (conflict).jsonl").write_text(two, "utf-8")
    assert [found.after for found in read_audit(paths, "main")] == ["a\u2028b\n", "c"]
    assert read_audit(paths, "nobody") == ()


def test_tombstones_of_another_device_hide_as_soon_as_they_arrive(tmp_path: Path) -> None:
    paths = VaultPaths(tmp_path)
    tombstones = Tombstones(paths)
    assert not tombstones.hides("main", "2026-02-20_001", "m7")
    folder = tmp_path / paths.memory("main")
    folder.mkdir(parents=True)
    ref = MessageRef("main", "2026-02-20_001", "m7", "D1:3")
    (folder / "tombstones-phone.jsonl").write_text(render_tombstones([ref], "2026") + "torn{")
    assert tombstones.hides("main", "2026-02-20_001", "m7")
    assert tombstones.hides("main", "2026-02-20_001", "D1:3")
    assert not tombstones.hides("main", "2026-02-20_002", "m7")
    assert not tombstones.hides("main", "2026-02-20_001", "")
    assert not tombstones.hides("jaskier", "2026-02-20_001", "m7")
    assert not tombstones.hides("../x", "2026-02-20_001", "m7")
    (folder / "tombstones-phone.jsonl").unlink()
    assert not tombstones.hides("main", "2026-02-20_001", "m7")
