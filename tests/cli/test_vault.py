"""`init`, `index`, `reindex`, `import`, `status`, `doctor`: the vault as a whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import run
from tests.machine import Machine, fingerprint

STATE = {"fault_count", "phase", "files", "indexed", "chunks", "vectors", "embedder", "embeddable",
         "sends_to", "loading", "faults", "notes"}  # fmt: skip


def talk(folder: Path, count: int) -> Path:
    lines = [
        {"session": "s", "time": f"2026-01-05T10:0{n}:00+01:00", "role": "user",
         "content": f"Line {n} of it", "id": f"D1:{n}"}
        for n in range(count)
    ]  # fmt: skip
    path = folder / "talk.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return path


def test_init_twice_makes_nothing_and_says_what_was_there(machine: Machine) -> None:
    before = fingerprint(machine.vault)
    made = machine.run("init")
    assert set(made) == {"vault", "state_dir", "created", "existing"}
    assert made["created"] == []
    assert made["existing"] == ["VaultMind/README.md", "VaultMind/Suggestions.md",
                                "VaultMind/agents/main/identity.md"]  # fmt: skip
    words = run(machine, "init").out
    assert "was there" in words and "vaultmind connect claude-desktop --write" in words
    assert fingerprint(machine.vault) == before


def test_init_speaks_the_agents_language(machine: Machine) -> None:
    machine.run("init", "--agent", "poeta", "--language", "pl")
    machine.run("remember", "Lubi rymy", "--agent", "poeta", "--section", "preferences")
    assert "## Preferencje" in machine.brain("poeta").read_text("utf-8")


@pytest.mark.parametrize("command", ["index", "reindex"])
def test_the_index_is_complete_when_the_command_ends(machine: Machine, command: str) -> None:
    state = machine.run(command)
    assert set(state) == STATE
    assert state["phase"] == "ready"
    assert state["indexed"] == state["files"] > 0


def test_the_same_import_twice_changes_nothing(machine: Machine, tmp_path: Path) -> None:
    first = machine.run("import", str(talk(tmp_path, 2)))
    assert (first["messages"], first["skipped"], first["sessions"]) == (2, 0, 1)
    assert set(first) == {"sessions", "messages", "skipped", "faults", "left_out", "redacted",
                          "session_ids", "new_agent"}  # fmt: skip
    again = machine.run("import", str(talk(tmp_path, 2)))
    assert (again["messages"], again["skipped"]) == (0, 2)
    grown = run(machine, "import", str(talk(tmp_path, 3)))
    assert "1 message in 1 session" in grown.out
    assert "2 were there already" in grown.out


def test_a_file_that_is_no_export_is_a_usage_error(machine: Machine, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary", "utf-8")
    assert "JSON Lines" in machine.run("import", str(path), ok=(2,))["error"]["message"]
    assert machine.run("import", str(tmp_path / "none"), ok=(2,))["error"]["type"] == "UsageError"


def test_a_relative_path_is_meant_from_where_the_person_stands(
    machine: Machine, tmp_path: Path
) -> None:
    talk(tmp_path, 1)
    arguments = ("import", "talk.jsonl", "--vault", str(machine.vault))
    assert run(machine, *arguments, cwd=tmp_path).code == 0


def test_status_tells_of_the_index_and_the_daemon(machine: Machine) -> None:
    status = machine.run("status")
    keys = "version pid vault memory_folder state_folder agent agents index warnings waiting"
    assert set(status) == {
        *keys.split(),
        "waiting_words",
        "consolidation",
        "planning",
        "sources",
        "gain",
        "models",
        "episodes",
        "daemon",
    }
    assert set(status["consolidation"]) == {
        *(
            "waiting",
            "paused",
            "running",
            "last_time",
            "dropped",
            "seconds_today",
            "words",
            "asked_for",
        )
    }
    assert set(status["index"]) == STATE
    assert status["daemon"]["running"] and status["daemon"]["clients"] == 0
    words = run(machine, "status").out
    assert f"pid {status['daemon']['pid']}" in words and " MB" in words
    assert str(machine.state) in words


def test_status_names_faulty_files(machine: Machine) -> None:
    bad = machine.vault / "Broken.md"
    bad.write_bytes(b"\xff\xfe\x00 not text \xff")
    machine.run("index")
    try:
        assert "Broken.md" in run(machine, "status").out
        assert "Broken.md" in run(machine, "doctor").out
    finally:
        bad.unlink()


def test_the_doctor_finds_a_sound_vault_well(machine: Machine) -> None:
    checks = machine.run("doctor")["checks"]
    assert {frozenset(check) for check in checks} == {frozenset({"name", "result", "what", "mend"})}
    assert {check["result"] for check in checks} <= {"ok", "warn"}
    assert "clients" in {check["name"] for check in checks}


def test_a_check_of_a_copy_reads_every_note_first(tmp_path: Path) -> None:
    copy = Machine(tmp_path / "copy", tmp_path / "check")
    copy.furnish({f"Daily/{number}.md": f"# Day {number}\n\nRain.\n" for number in range(150)})
    (copy.vault / "Daily/99z.md").write_bytes(bytes(range(256)) * 40)
    checks = copy.run("doctor", "--in-process")["checks"]
    told = {one["name"]: one for one in checks}
    assert told["index"]["result"] == "ok", told["index"]
    assert any("Daily/99z.md" in one["what"] for one in checks)


def test_the_doctor_sees_a_client_that_starts_what_is_gone(machine: Machine) -> None:
    file = machine.state / ".config/Claude/claude_desktop_config.json"
    file.parent.mkdir(parents=True)
    args = ["mcp", "--vault", str(machine.vault)]
    entry = {"command": str(machine.state / "gone/vaultmind"), "args": args}
    file.write_text(json.dumps({"mcpServers": {"vaultmind": entry}}), "utf-8")
    try:
        done = run(machine, "doctor", XDG_CONFIG_HOME=str(machine.state / ".config"))
        assert done.code == 1
        assert "gone/vaultmind" in done.out
        assert "vaultmind connect claude-desktop --write" in done.out
    finally:
        file.unlink()


def test_without_a_daemon_the_command_does_it_itself(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "vault", tmp_path / "state")
    (machine.vault / ".obsidian").mkdir(parents=True)
    (machine.vault / "Tea.md").write_text("Rooibos after nine.", "utf-8")
    assert machine.run("search", "rooibos", "--in-process")["hits"]
    assert not machine.run("daemon", "status", ok=(1,))["running"]


def test_an_empty_vault_is_no_error(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "vault", tmp_path / "state")
    machine.vault.mkdir()
    try:
        assert machine.run("index")["files"] == 0
        assert machine.run("search", "anything", ok=(5,))["hits"] == []
        assert "vaultmind remember" in run(machine, "show", "--vault", str(machine.vault)).out
    finally:
        machine.stop()
