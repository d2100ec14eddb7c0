"""The doctor counts the audit's lines and names copies of its files; the log says what happened."""

from __future__ import annotations

from pathlib import Path

from tests.serve.vaults import open_vault
from vaultmind.app import App
from vaultmind.memory.audit import AuditLine, newest_first
from vaultmind.serve.memory.audits import examine
from vaultmind.serve.ops.changes import tell
from vaultmind.types import PERSON, Caller


def written(app: App) -> Path:
    """Write five facts and return the audit file."""
    for number in range(5):
        app.requests.remember(PERSON, "main", f"Owns red book number {number}")
    (path,) = app.config.vault.glob("VaultMind/agents/main/memory/audit-*.jsonl")
    return path


def found(app: App) -> str:
    return "\n".join(f"{result} {what}" for result, what, mend in examine(app, PERSON) if mend)


def test_a_sound_audit_is_counted(tmp_path: Path) -> None:
    with open_vault(tmp_path) as app:
        assert [one[0] for one in examine(app, PERSON)] == ["ok"]
        with written(app).open("a", encoding="utf-8") as file:
            file.write('{"torn')
        ((result, what, mend),) = examine(app, PERSON)
        assert (result, mend) == ("ok", "") and "1 of them torn by a crash" in what


def test_what_a_sync_program_copied_is_reported(tmp_path: Path) -> None:
    with open_vault(tmp_path) as app:
        path = written(app)
        copy = path.with_name(f"{path.stem}.sync-conflict-20260220-101010-ABCDEFG.jsonl")
        copy.write_bytes(path.read_bytes())
        assert f"{copy.name} is a copy" in found(app)


def test_an_agent_is_told_of_its_own_audit_and_of_those_it_may_read(tmp_path: Path) -> None:
    with open_vault(tmp_path) as app:
        app.requests.remember(PERSON, "jaskier", "Plays the lute")
        identity = tmp_path / "vault" / app.paths.identity("jaskier")
        identity.write_text("---\npermissions:\n  hidden_from: [main]\n---\n# Jaskier\n", "utf-8")
        for path in [*identity.parent.glob("memory/audit-*.jsonl")]:
            path.with_name(f"{path.stem} (copy).jsonl").write_text("", "utf-8")
        assert "jaskier" in found(app)
        told = examine(app, Caller("agent", "main", "test"))
        assert not any("jaskier" in what for _, what, _ in told)


def test_of_two_changes_in_one_second_the_later_is_undone(tmp_path: Path) -> None:
    with open_vault(tmp_path) as app:
        for round_, agent in enumerate(("amy", "zoe", "amy", "zoe")):
            app.requests.remember(PERSON, agent, f"Owns red book number {round_}")
            last = newest_first(app.paths, app.paths.agent_names())
            assert next(last).agent == agent


def test_the_log_says_what_an_undo_met_and_how_much_was_hidden() -> None:
    undo = AuditLine("", "person", "cli", "main", "undo", "unchanged", reason="“Tea” is gone.")
    assert tell(undo) == "unchanged: undo: “Tea” is gone."
    hide = AuditLine("", "person", "cli", "main", "hide", "written", reason="1 message")
    assert tell(hide) == "hid from recall: 1 message"
