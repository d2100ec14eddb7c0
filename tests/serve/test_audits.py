"""The doctor counts the audit's lines and names copies of its files; the log says what happened."""

from __future__ import annotations

from pathlib import Path

from tests.serve.vaults import open_vault
from vaultmind.app import App
from vaultmind.serve.operations import Call, run_operation
from vaultmind.types import PERSON, MemoryWrite


def written(app: App) -> Path:
    """Write five facts and return the audit file."""
    for number in range(5):
        app.requests.ask(MemoryWrite("remember", "main", PERSON, f"Owns red book number {number}"))
    (path,) = app.config.vault.glob("VaultMind/agents/main/memory/audit-*.jsonl")
    return path


def found(app: App) -> str:
    checks = run_operation(app, Call(PERSON), "doctor", {})["checks"]
    return "\n".join(one["what"] for one in checks if one["mend"])


def test_what_a_sync_program_copied_is_reported(tmp_path: Path) -> None:
    with open_vault(tmp_path) as app:
        path = written(app)
        copy = path.with_name(f"{path.stem}.sync-conflict-20260220-101010-ABCDEFG.jsonl")
        copy.write_bytes(path.read_bytes())
        assert f"{copy.name} is a copy" in found(app)
