"""`connect claude-code` forbids what goes past the gate, shows it, and takes exactly that back."""

from __future__ import annotations

import difflib
import json
from pathlib import Path, PureWindowsPath
from typing import Any

import pytest

from vaultmind.cli.connect import clients, denials
from vaultmind.cli.connect.jsontext import with_items, without_items
from vaultmind.cli.main import main
from vaultmind.config import Flags, load_config

COMMANDS = ["Bash(vaultmind *)", "Bash(*/bin/vaultmind *)", "Bash(* -m vaultmind *)"]
FORMATS = {
    "a list": '{\n  "permissions": {\n    "deny": [\n      "Read(.env)"\n    ]\n  }\n}\n',
    "on one line": '{\n\t"permissions": {"deny": ["Read(.env)", "Bash(rm *)"]},\n\t"a": 1.50\n}\n',
    "an empty list": '{"permissions": {"allow": ["Bash(ls *)"], "deny": []}}',
    "only allowed": '{\n    "permissions": {\n        "allow": ["x"]\n    }\n}',
    "no permissions": '{\r\n  "model": "x"\r\n}\r\n',
    "empty": "{}\n",
    "ours by hand": '{"permissions": {"deny": ["Bash(vaultmind *)"]}}\n',
}


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "My vault [2]"
    (folder / ".obsidian").mkdir(parents=True)
    monkeypatch.setenv("VAULTMIND_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("VAULTMIND_CONFIG", str(tmp_path / "mine.toml"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return folder


def run(vault: Path, *flags: str, client: str = "claude-code") -> int:
    return main(["connect", client, "--vault", str(vault), *flags])


def settings(text: str | None = None) -> Path:
    path = Path(".claude/settings.local.json").absolute()
    if text is not None:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
    return path


def denied() -> list[str]:
    content: dict[str, Any] = json.loads(settings().read_text("utf-8"))
    return list(content["permissions"]["deny"])


def expected(vault: Path, tmp_path: Path) -> list[str]:
    named = str(vault).replace("[2]", r"\[2\]")
    files = (f"Edit(/{named}/VaultMind/**)", f"Edit(/{tmp_path}/state/**)")
    mine = (f"Edit(/{tmp_path}/mine.toml)", f"Edit(/{tmp_path}/links/**)")
    return [*files, *mine, *COMMANDS]


def test_memory_state_configuration_and_command_line_are_forbidden(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(vault) == 0
    assert not settings().exists(), "shown, not written"
    shown = capsys.readouterr().out
    assert all(f'+      "{rule.replace(chr(92), chr(92) * 2)}"' in shown
               for rule in expected(vault, tmp_path))  # fmt: skip
    assert run(vault, "--write") == 0
    assert denied() == expected(vault, tmp_path)
    assert run(vault, "--write") == 0
    assert denied() == expected(vault, tmp_path), "once"


@pytest.mark.parametrize("before", FORMATS.values(), ids=FORMATS)
def test_what_else_is_in_the_settings_stays_byte_for_byte(vault: Path, before: str) -> None:
    settings(before)
    assert run(vault, "--write") == 0
    after = settings().read_bytes().decode()
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    taken = [tag for tag, *_ in matcher.get_opcodes() if tag in ("delete", "replace")]
    assert not taken, "only put in, nothing taken away"
    assert run(vault, "--remove", "--write") == 0
    assert settings().read_bytes().decode() == before


def test_what_was_changed_meanwhile_stays_when_the_rules_go(vault: Path) -> None:
    settings(FORMATS["a list"])
    run(vault, "--write")
    text = settings().read_text("utf-8")
    settings(text.replace('"Read(.env)"', '"Read(.env)",\n      "Read(key)"'))
    assert run(vault, "--remove", "--write") == 0
    assert denied() == ["Read(.env)", "Read(key)"]
    assert settings().read_text("utf-8").count("\n") == FORMATS["a list"].count("\n") + 1


def test_a_file_made_for_the_rules_alone_goes_with_them(vault: Path) -> None:
    run(vault, "--write")
    assert run(vault, "--remove", "--write") == 0
    assert not settings().parent.exists() and not (Path.home() / ".claude.json").exists()


def test_the_rules_stay_as_long_as_another_agent_or_vault_is_connected(
    vault: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    (other / ".obsidian").mkdir(parents=True)
    run(vault, "--write")
    run(vault, "--write", "--agent", "jaskier")
    run(vault, "--remove", "--write")
    assert denied() == expected(vault, tmp_path)
    run(other, "--write", "--agent", "dexter")
    run(vault, "--remove", "--write", "--agent", "jaskier")
    left = denied()
    assert expected(vault, tmp_path)[0] not in left
    assert {*left} == {*expected(other, tmp_path)}
    run(other, "--remove", "--write", "--agent", "dexter")
    assert not settings().exists()


def test_the_rule_for_a_former_configuration_goes_with_the_rest(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(FORMATS["a list"])
    run(vault, "--write")
    monkeypatch.delenv("VAULTMIND_CONFIG")
    monkeypatch.setenv("VAULTMIND_STATE_DIR", str(tmp_path / "other state"))
    assert run(vault, "--remove", "--write") == 0
    assert settings().read_bytes().decode() == FORMATS["a list"]


def test_a_configuration_that_takes_another_s_place_takes_its_rule_s_too(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(vault, "--write")
    monkeypatch.setenv("VAULTMIND_CONFIG", str(tmp_path / "new.toml"))
    run(vault, "--write")
    assert f"Edit(/{tmp_path}/mine.toml)" not in denied()
    assert f"Edit(/{tmp_path}/new.toml)" in denied() and set(COMMANDS) <= set(denied())
    assert run(vault, "--remove", "--write") == 0
    assert not settings().exists()


@pytest.mark.parametrize(
    "text", ['{"a": 1,} // x', '{"permissions": {"deny": "x"}}', '{"permissions": []}']
)
def test_broken_settings_stop_it_before_anything_is_written(
    vault: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings(text)
    assert run(vault, "--write") == 2
    assert settings().read_text("utf-8") == text and not (Path.home() / ".claude.json").exists()
    assert "Bash(vaultmind *)" in capsys.readouterr().err


def test_as_json_it_says_what_was_denied_and_where(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(vault, "--write", "--json")
    rules = json.loads(capsys.readouterr().out)["rules"]
    assert set(rules) == {"path", "changed", "backup", "content", "deny"}
    assert (rules["path"], rules["changed"]) == (str(settings()), True)
    assert rules["deny"] == expected(vault, tmp_path)


def test_claude_desktop_has_no_rules_and_that_is_said(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "desktop.json")
    run(vault, "--write", "--file", file, client="claude-desktop")
    assert "no deny rules" in capsys.readouterr().err
    run(vault, "--write", "--json", "--file", file, client="claude-desktop")
    assert json.loads(capsys.readouterr().out)["rules"] is None
    assert not settings().exists()


def test_the_doctor_says_where_a_connection_has_no_rules(vault: Path) -> None:
    run(vault, "--write")
    config = load_config(Flags(vault=str(vault)))
    checks = clients.check_clients(config)
    assert [one["result"] for one in checks if one["name"].startswith("claude-code")] == ["ok"]
    settings().unlink()
    (rules,) = [one for one in clients.check_clients(config) if one["name"] == "claude-code rules"]
    assert rules["result"] == "warn" and "connect claude-code --write" in rules["mend"]
    home = Path.home() / ".claude" / "settings.json"
    home.parent.mkdir(parents=True)
    wanted = [*denials.own_rules(config), *denials.common_rules(config)]
    home.write_text(json.dumps({"permissions": {"deny": wanted}}), "utf-8")
    assert len([one for one in clients.check_clients(config) if "code" in one["name"]]) == 1


def test_a_drive_of_windows_is_named_as_claude_code_matches_it() -> None:
    path = PureWindowsPath("C:/Users/Ann/Vault")
    assert denials._edit(path, "/**") == "Edit(//c/Users/Ann/Vault/**)"  # type: ignore[arg-type]


def test_items_go_into_an_array_and_out_of_it_and_nothing_else_moves() -> None:
    way = ("a", "b")
    assert with_items('{"a": {"b": ["x"]}}', way, ["x", "y"]) == '{"a": {"b": ["x", "y"]}}'
    text = '{"a": {"b": ["x",  1, "y" , "z"]}}'
    assert without_items(text, way, {"x", "z"}) == '{"a": {"b": [1, "y"]}}'
    assert without_items(text, ("a", "c"), {"x"}) == text
    with pytest.raises(ValueError, match="array"):
        with_items('{"a": {"b": 3}}', way, ["x"])


def test_what_stood_in_the_settings_that_teams_share_moves_to_the_persons_own(vault: Path) -> None:
    team = '{\n  "permissions": {\n    "deny": [\n      "Read(.env)"\n    ]\n  }\n}\n'
    assert run(vault, "--hooks", "--write") == 0
    ours = json.loads(settings().read_text("utf-8"))
    shared = settings().with_name("settings.json")
    both = {"permissions": {"deny": ["Read(.env)", *denied()]}, "hooks": ours["hooks"]}
    shared.write_text(json.dumps(both, indent=2), "utf-8")
    settings().unlink()
    assert run(vault, "--write") == 0
    assert json.loads(settings().read_text("utf-8")) == ours
    assert json.loads(shared.read_text("utf-8")) == json.loads(team)
    shared.write_text(json.dumps(both, indent=2), "utf-8")
    assert run(vault, "--remove", "--write") == 0
    assert not settings().exists() and json.loads(shared.read_text("utf-8")) == json.loads(team)


def test_the_server_stands_with_the_persons_own_and_leaves_the_file_that_teams_share(
    vault: Path,
) -> None:
    own, team = Path.home() / ".claude.json", Path(".mcp.json")
    own.parent.mkdir(exist_ok=True)
    other = {"userID": "x", "projects": {"/elsewhere": {"mcpServers": {"a": {"command": "b"}}}}}
    own.write_text(json.dumps(other, indent=2), "utf-8")
    team.write_text('{"mcpServers": {"x": {"command": "y"}}}\n', "utf-8")
    assert run(vault, "--file", ".mcp.json", "--write") == 0
    assert str(vault) in team.read_text("utf-8"), "shared only where it is asked for"
    assert run(vault, "--write") == 0
    assert team.read_text("utf-8") == '{"mcpServers": {"x": {"command": "y"}}}\n'
    content = json.loads(own.read_text("utf-8"))
    (entry,) = content["projects"].pop(str(Path.cwd()))["mcpServers"].values()
    assert content == other and str(vault) in entry["args"]
    config = load_config(Flags(vault=str(vault)))
    assert "ok" in [one["result"] for one in clients.check_clients(config)
                    if one["name"] == "claude-code"]  # fmt: skip
    assert run(vault, "--remove", "--write") == 0
    assert json.loads(own.read_text("utf-8")) == other
