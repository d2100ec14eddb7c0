"""The doctor sees what was changed, cut off, removed or doubled in the audit, and says where."""

from __future__ import annotations

import json
from pathlib import Path

from tests.serve.vaults import open_vault
from vaultmind.app import App
from vaultmind.memory.audit import heads
from vaultmind.memory.audit.lines import AuditLine
from vaultmind.memory.audit.reading import Logged, Wanted, newest_first
from vaultmind.serve.memory.audits import examine
from vaultmind.serve.operations import Call, run_operation
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
        written(app)
        ((result, what, mend),) = examine(app, PERSON)
        assert (result, mend) == ("ok", "") and "chained as they were written" in what


def test_a_text_that_was_changed_is_named_by_file_and_line(tmp_path: Path) -> None:
    with open_vault(tmp_path) as app:
        path = written(app)
        lines = path.read_text("utf-8").splitlines(keepends=True)
        at = next(n for n, line in enumerate(lines) if "number 2" in line)
        lines[at] = lines[at].replace("number 2", "number 7")
        path.write_text("".join(lines), "utf-8")
        assert f"{path.name}, line {at + 1}: its text `after` was changed" in found(app)
        assert [one[0] for one in examine(app, PERSON)] == ["fail"], "tampering is no remark"
        del lines[at]
        path.write_text("".join(lines), "utf-8")
        assert f"{path.name}, line {at + 1}: a line before it was changed" in found(app)


def test_lines_cut_off_the_end_show_after_a_restart(tmp_path: Path) -> None:
    with open_vault(tmp_path) as app:
        path = written(app)
        whole = path.read_text("utf-8")
    with open_vault(tmp_path) as app:
        assert found(app) == ""
        path.write_text("".join(whole.splitlines(keepends=True)[:-1]), "utf-8")
        assert "lines at its end are missing" in found(app)
        path.write_text(whole, "utf-8")
        assert found(app) == ""


def test_a_file_that_is_gone_is_missed_until_a_new_one_begins(tmp_path: Path) -> None:
    with open_vault(tmp_path) as app:
        path = written(app)
        path.unlink()
        assert f"{path.name} is missing" in found(app)
        told = run_operation(app, Call(PERSON), "log", {})["message"]
        assert path.name in told and "missing" in told and "ever changed" not in told
    with open_vault(tmp_path) as app:
        app.requests.remember(PERSON, "main", "Plays chess")
        assert found(app) == ""


def test_an_unknown_last_line_is_no_fault(tmp_path: Path) -> None:
    with open_vault(tmp_path) as app:
        written(app)
        kept = app.config.state_dir / heads.FILE
        assert set(json.loads(kept.read_text("utf-8"))) == set(app.heads.all()) != set()
    for broken in ("{}", "[", "[1]"):
        kept.write_text(broken, "utf-8")
        with open_vault(tmp_path) as app:
            assert found(app) == ""


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
        for path in identity.parent.glob("memory/audit-*.jsonl"):
            path.write_text("", "utf-8")
        assert "jaskier" in found(app)
        told = examine(app, Caller("agent", "main", "test"))
        assert not any("jaskier" in what for _, what, _ in told)


def test_of_two_changes_in_one_second_the_later_is_undone(tmp_path: Path) -> None:
    with open_vault(tmp_path) as app:
        for round_, agent in enumerate(("amy", "zoe", "amy", "zoe")):
            app.requests.remember(PERSON, agent, f"Owns red book number {round_}")
            last = newest_first(app.paths, Wanted(app.paths.agent_names()))
            assert next(last).line.agent == agent


def test_the_log_says_what_an_undo_met_and_how_much_was_hidden() -> None:
    undo = AuditLine("", "person", "cli", "main", "undo", "unchanged", reason="“Tea” is gone.")
    assert tell(Logged(undo, "")) == "unchanged: undo: “Tea” is gone."
    hide = AuditLine("", "person", "cli", "main", "hide", "written", reason="1 message")
    assert tell(Logged(hide, "")) == "hid from recall: 1 message"
