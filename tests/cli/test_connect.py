"""`connect` shows before it writes, keeps what else is there, and can be undone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vaultmind.cli import clients
from vaultmind.cli.main import main


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "vault"
    (folder / ".obsidian").mkdir(parents=True)
    monkeypatch.setenv("VAULTMIND_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("VAULTMIND_CONFIG", str(tmp_path / "none.toml"))
    return folder


def run(vault: Path, file: Path, *flags: str) -> int:
    return main(["connect", "claude-desktop", "--vault", str(vault), "--file", str(file), *flags])


def test_without_write_nothing_is_written(vault: Path, tmp_path: Path) -> None:
    file = tmp_path / "desktop.json"
    assert run(vault, file) == 0
    assert not file.exists()


def test_what_else_is_in_the_file_stays(vault: Path, tmp_path: Path) -> None:
    file = tmp_path / "desktop.json"
    other = {"theme": "dunkel ü", "mcpServers": {"other": {"command": "x"}}, "last": [1, 2]}
    file.write_text(json.dumps(other, indent=4, ensure_ascii=False), "utf-8")
    assert run(vault, file, "--write") == 0
    content = json.loads(file.read_text("utf-8"))
    entry = content["mcpServers"].pop("vaultmind")
    assert content == other
    assert entry["args"][-4:] == ["--vault", str(vault), "--agent", "main"]
    assert Path(entry["command"]).is_absolute()
    assert '    "theme": "dunkel ü"' in file.read_text("utf-8"), "indentation and letters are kept"


def test_a_backup_holds_what_was_there(vault: Path, tmp_path: Path) -> None:
    file = tmp_path / "desktop.json"
    file.write_text('{"a": 1}\n', "utf-8")
    run(vault, file, "--write")
    (backup,) = tmp_path.glob("desktop.json.vaultmind-backup-*")
    assert backup.read_text("utf-8") == '{"a": 1}\n'


def test_remove_undoes_it(vault: Path, tmp_path: Path) -> None:
    file = tmp_path / "desktop.json"
    before = '{\n  "a": 1,\n  "mcpServers": {\n    "x": {\n      "command": "y"\n    }\n  }\n}\n'
    file.write_text(before, "utf-8")
    run(vault, file, "--write")
    assert run(vault, file, "--remove") == 0
    assert file.read_text("utf-8") == before


def test_a_second_agent_gets_an_entry_of_its_own(vault: Path, tmp_path: Path) -> None:
    file = tmp_path / "desktop.json"
    run(vault, file, "--write")
    run(vault, file, "--write", "--agent", "jaskier")
    assert set(json.loads(file.read_text())["mcpServers"]) == {"vaultmind", "vaultmind-jaskier"}


def test_a_broken_file_is_left_alone(vault: Path, tmp_path: Path) -> None:
    file = tmp_path / "desktop.json"
    file.write_text('{"a": 1,} // mine', "utf-8")
    assert run(vault, file, "--write") == 2
    assert file.read_text("utf-8") == '{"a": 1,} // mine'


def test_a_linked_file_stays_a_link(vault: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}", "utf-8")
    file = tmp_path / "desktop.json"
    file.symlink_to(real)
    run(vault, file, "--write")
    assert file.is_symlink()
    assert "vaultmind" in real.read_text("utf-8")


@pytest.mark.parametrize(
    ("platform", "tail"),
    [
        ("darwin", "Library/Application Support/Claude/claude_desktop_config.json"),
        ("linux", ".config/Claude/claude_desktop_config.json"),
    ],
)
def test_each_system_has_its_place(tmp_path: Path, platform: str, tail: str) -> None:
    assert clients.desktop_config({"HOME": str(tmp_path)}, platform) == tmp_path / tail


def test_mcp_json_is_the_snippet_that_connect_writes(vault: Path, tmp_path: Path) -> None:
    file = tmp_path / "desktop.json"
    run(vault, file, "--write")
    shipped = json.loads((Path(__file__).parents[2] / "mcp.json").read_text("utf-8"))
    written = json.loads(file.read_text("utf-8"))
    assert list(shipped["mcpServers"]) == list(written["mcpServers"])
    ours, theirs = shipped["mcpServers"]["vaultmind"], written["mcpServers"]["vaultmind"]
    assert ours["args"][0] == "mcp" and ours["args"][1::2] == theirs["args"][-4:][::2]
