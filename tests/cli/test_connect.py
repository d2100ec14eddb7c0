"""`connect` shows before it writes, keeps what else is there, and can be undone."""

from __future__ import annotations

import difflib
import json
from pathlib import Path

import pytest

from vaultmind.cli.connect import clients
from vaultmind.cli.main import main
from vaultmind.config import Flags, load_config


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
    named = ["--vault", str(vault), "--agent", "main", "--state-dir", str(tmp_path / "state")]
    assert entry["args"][-6:] == named
    assert entry["env"] == {"VAULTMIND_CONFIG": str(tmp_path / "none.toml")}
    assert Path(entry["command"]).is_absolute()
    assert '    "theme": "dunkel ü"' in file.read_text("utf-8"), "indentation and letters are kept"


def test_a_backup_holds_what_was_there(vault: Path, tmp_path: Path) -> None:
    file = tmp_path / "desktop.json"
    file.write_text('{"a": 1}\n', "utf-8")
    run(vault, file, "--write")
    (backup,) = tmp_path.glob("desktop.json.vaultmind-backup-*")
    assert backup.read_text("utf-8") == '{"a": 1}\n'


FORMATS = {
    "two spaces": '{\n  "mcpServers": {\n    "x": {\n      "command": "y"\n    }\n  }\n}\n',
    "four spaces": '{\n    "mcpServers": {\n        "x": {"command": "y"}\n    }\n}',
    "tabs": '{\n\t"mcpServers": {},\n\t"a": 1.50\n}\n',
    "one line": '{"a":1,"mcpServers":{"x":{"command":"y"}}}',
    "no servers": '{\n   "theme" : "dark"\n}\n',
    "CRLF": '{\r\n  "a": 1\r\n}\r\n',
    "BOM": '\ufeff{"a": 1}\n',
    "empty object": "{}\n",
    "empty file": "",
    "odd": '{ "mcpServers" : { "x" : {"args": ["}", "{"]} } , "a":null}   ',
}


@pytest.mark.parametrize("before", FORMATS.values(), ids=FORMATS)
def test_remove_undoes_it_byte_for_byte(vault: Path, tmp_path: Path, before: str) -> None:
    file = tmp_path / "desktop.json"
    file.write_bytes(before.encode())
    run(vault, file, "--write")
    assert "vaultmind" in json.loads(file.read_text("utf-8-sig"))["mcpServers"]
    assert run(vault, file, "--remove", "--write") == 0
    assert file.read_bytes() == before.encode()


@pytest.mark.parametrize("before", FORMATS.values(), ids=FORMATS)
def test_every_other_byte_of_the_file_stays(vault: Path, tmp_path: Path, before: str) -> None:
    file = tmp_path / "desktop.json"
    file.write_bytes(before.encode())
    run(vault, file, "--write")
    written = file.read_bytes().decode()
    matcher = difflib.SequenceMatcher(None, before, written, autojunk=False)
    taken = [tag for tag, *_ in matcher.get_opcodes() if tag in ("delete", "replace")]
    assert not taken, "only put in, nothing taken away"
    assert ("\r\n" in before) == ("\r\n" in written)
    assert written.count("\r\n") in (0, written.count("\n"))


def test_remove_keeps_what_was_changed_meanwhile(vault: Path, tmp_path: Path) -> None:
    file = tmp_path / "desktop.json"
    file.write_text('{\n    "a": 1\n}\n', "utf-8")
    run(vault, file, "--write")
    file.write_text(file.read_text("utf-8").replace('"a": 1', '"a": 2'), "utf-8")
    assert run(vault, file, "--remove", "--write") == 0
    assert file.read_text("utf-8") == '{\n    "a": 2\n}\n'


def test_remove_alone_only_shows(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "desktop.json"
    run(vault, file, "--write")
    written = file.read_bytes()
    capsys.readouterr()
    assert run(vault, file, "--remove") == 0
    assert file.read_bytes() == written
    assert "Add --write" in capsys.readouterr().out


def test_a_file_made_for_our_entry_alone_goes_with_it(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "new" / "desktop.json"
    run(vault, file, "--write")
    run(vault, file, "--write", "--agent", "jaskier")
    run(vault, file, "--remove", "--write")
    assert set(json.loads(file.read_text())["mcpServers"]) == {"vaultmind-jaskier"}
    capsys.readouterr()
    run(vault, file, "--remove", "--write", "--agent", "jaskier")
    assert not file.exists()
    told = capsys.readouterr().out
    assert "gone" in told and "appear" not in told


def test_no_state_folder_is_named_that_nobody_named(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load_config(Flags(vault=str(vault)))
    bare = clients.server_entry(config, env={})
    assert "--state-dir" not in bare["args"] and "env" not in bare
    flag = clients.server_entry(config, "somewhere", env={})
    assert flag["args"][-2:] == ["--state-dir", str(config.state_dir.parent)]


def test_a_second_agent_gets_an_entry_of_its_own(vault: Path, tmp_path: Path) -> None:
    file = tmp_path / "desktop.json"
    run(vault, file, "--write")
    run(vault, file, "--write", "--agent", "jaskier")
    assert set(json.loads(file.read_text())["mcpServers"]) == {"vaultmind", "vaultmind-jaskier"}


@pytest.mark.parametrize("text", ['{"a": 1,} // mine', "[1]", '{"mcpServers": 3}'])
def test_a_broken_file_is_left_alone_and_the_entry_shown(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    file = tmp_path / "desktop.json"
    file.write_text(text, "utf-8")
    assert run(vault, file, "--write") == 2
    assert file.read_text("utf-8") == text
    told = capsys.readouterr().err
    assert json.loads(told[told.index("\n{") :])["mcpServers"]["vaultmind"]["command"]
    assert run(vault, file, "--remove", "--write") == 2
    assert "by hand" in capsys.readouterr().err


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
    assert ours["args"][0] == "mcp" and ours["args"][1::2] == theirs["args"][-6:-2][::2]
