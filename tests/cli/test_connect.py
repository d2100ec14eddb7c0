"""`connect` shows before it writes, keeps what else is there, and can be undone."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from vaultmind.cli import connect as clients
from vaultmind.cli.connect import check_clients
from vaultmind.cli.main import main
from vaultmind.client.hook import EVENTS
from vaultmind.config import Config, Flags, load_config

JSON_CLIENTS = [name for name, one in clients.CLIENTS.items() if one.path.endswith(".json")]
COMMANDS = ["Bash(vaultmind *)", "Bash(*/bin/vaultmind *)", "Bash(* -m vaultmind *)"]
LINT = {"hooks": [{"type": "command", "command": "./lint.sh"}]}


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "My 'own' vault [2]"
    (folder / ".obsidian").mkdir(parents=True)
    for name, value in (("VAULTMIND_STATE_DIR", "state"), ("VAULTMIND_CONFIG", "mine.toml"),
                        ("HOME", "home"), ("PATH", "bin")):  # fmt: skip
        monkeypatch.setenv(name, str(tmp_path / value))
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return folder


def run(vault: Path, client: str, *flags: str) -> int:
    return main(["connect", client, "--vault", str(vault), *flags])


def file_of(client: str) -> Path:
    return clients.config_file(clients.CLIENTS[client])


def settings() -> Path:
    return Path(".claude/settings.local.json").absolute()


def content(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def servers(client: str) -> dict[str, Any]:
    path = file_of(client)
    found = content(path)
    for key in clients.CLIENTS[client].way(path):
        found = found[key]
    return dict(found)


def config(vault: Path) -> Config:
    return load_config(Flags(vault=str(vault)))


def said(vault: Path, name: str = "claude-code hooks") -> list[tuple[str, str]]:
    return [(one["result"], one["what"]) for one in check_clients(config(vault))
            if one["name"] == name]  # fmt: skip


@pytest.mark.parametrize("client", JSON_CLIENTS)
def test_each_client_gets_our_server_and_keeps_what_else_is_there(
    vault: Path, tmp_path: Path, client: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, kind = file_of(client), clients.CLIENTS[client]
    path.parent.mkdir(parents=True, exist_ok=True)
    before: dict[str, Any] = {"theme": "dunkel ü", "last": [1, 2]}
    at: Any = before
    for key in kind.way(path):
        at = at.setdefault(key, {})
    at["other"] = {"command": "x"}
    text = json.dumps(before, indent=4, ensure_ascii=False)
    path.write_text(text, "utf-8")

    assert run(vault, client) == 0
    assert path.read_text("utf-8") == text, "shown, not written"
    assert "Add --write" in capsys.readouterr().out

    assert run(vault, client, "--write") == 0
    assert run(vault, client, "--write", "--agent", "jaskier") == 0
    found = servers(client)
    entry = found["vaultmind"]
    named = ["--vault", str(vault), "--agent", "main", "--state-dir", str(tmp_path / "state")]
    assert entry["args"][-6:] == named and Path(entry["command"]).is_absolute()
    assert entry["env"] == {"VAULTMIND_CONFIG": str(tmp_path / "mine.toml")}
    assert {name: entry[name] for name in kind.more} == dict(kind.more)
    assert set(found) == {"other", "vaultmind", "vaultmind-jaskier"}
    assert '    "theme": "dunkel ü"' in path.read_text("utf-8"), "indentation and letters are kept"
    backups = sorted(path.parent.glob(f"{path.name}.vaultmind-backup-*"))
    assert backups[0].read_text("utf-8") == text
    assert said(vault, client)[0][0] == "ok"
    well = path.read_text("utf-8")
    path.write_text(well.replace(entry["command"], "/gone/vaultmind"), "utf-8")
    assert said(vault, client)[0] == ("fail", f"{path} starts what is not there (/gone/vaultmind).")
    path.write_text(well, "utf-8")

    assert run(vault, client, "--remove") == 0
    assert "vaultmind" in servers(client)
    for agent in ("main", "jaskier"):
        assert run(vault, client, "--remove", "--write", "--agent", agent) == 0
    assert path.read_text("utf-8") == f"{text}\n"


@pytest.mark.parametrize("text", ['{"a": 1,} // mine', "[1]", '{"mcpServers": 3}'])
def test_a_broken_file_is_left_alone_and_the_entry_shown(
    vault: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    file_of("cursor").parent.mkdir(parents=True)
    file_of("cursor").write_text(text, "utf-8")
    assert run(vault, "cursor", "--write") == 2
    assert file_of("cursor").read_text("utf-8") == text
    told = capsys.readouterr().err
    assert json.loads(told[told.index("\n{") :])["mcpServers"]["vaultmind"]["command"]
    assert run(vault, "cursor", "--remove", "--write") == 2
    assert "by hand" in capsys.readouterr().err


def test_mcp_json_is_the_snippet_that_connect_writes(vault: Path) -> None:
    run(vault, "cursor", "--write")
    shipped = content(Path(__file__).parents[2] / "mcp.json")["mcpServers"]
    written = servers("cursor")
    assert list(shipped) == list(written)
    ours, theirs = shipped["vaultmind"]["args"], written["vaultmind"]["args"]
    assert ours[0] == "mcp" and ours[1::2] == theirs[-6:-2][::2]


def test_claude_code_may_not_go_past_the_gate(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings().parent.mkdir()
    settings().write_text('{"permissions": {"deny": ["Read(.env)"]}}', "utf-8")
    assert run(vault, "claude-code", "--write", "--json") == 0
    rules = json.loads(capsys.readouterr().out)["rules"]
    named = str(vault).replace("[2]", r"\[2\]")
    files = [f"Edit(/{named}/VaultMind/**)", f"Edit(/{tmp_path}/state/**)",
             f"Edit(/{tmp_path}/mine.toml)", f"Edit(/{tmp_path}/links/**)"]  # fmt: skip
    assert rules["deny"] == [*files, *COMMANDS]
    assert content(settings())["permissions"]["deny"] == ["Read(.env)", *files, *COMMANDS]
    assert run(vault, "claude-desktop") == 0
    assert "no deny rules" in capsys.readouterr().err
    assert run(vault, "claude-code", "--write", "--agent", "jaskier") == 0
    before = content(settings())
    assert run(vault, "claude-code", "--remove", "--write") == 0
    assert content(settings()) == before, "they stay while anything of ours is connected"
    assert run(vault, "claude-code", "--remove", "--write", "--agent", "jaskier") == 0
    assert content(settings()) == {"permissions": {"deny": ["Read(.env)"]}}


def test_hooks_stand_beside_a_persons_own_for_each_agent_and_go_alone(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings().parent.mkdir()
    settings().write_text(json.dumps({"hooks": {"Stop": [LINT], "PreToolUse": [LINT]}}), "utf-8")
    run(vault, "claude-code", "--write")
    before = content(settings())
    for agent in ("main", "jaskier", "main"):
        assert run(vault, "claude-code", "--hooks", "--write", "--agent", agent) == 0
    hooks = content(settings())["hooks"]
    assert set(hooks) == set(EVENTS) and [len(hooks[name]) for name in ("Stop", "SessionEnd")] == [
        3,
        2,
    ]
    assert hooks["PreToolUse"][0] == LINT and hooks["PreToolUse"][1]["matcher"] == "Task|Agent"
    assert "Bash" in hooks["PostToolUse"][0]["matcher"].split("|")
    words = shlex.split(hooks["Stop"][1]["hooks"][0]["command"])
    named = ["--vault", str(vault), "--agent", "jaskier", "--state-dir", f"{tmp_path}/state"]
    assert words[words.index("hook") :] == ["hook", "claude-code", "Stop", *named]
    assert words[:2] == ["env", f"VAULTMIND_CONFIG={tmp_path}/mine.toml"]
    run(vault, "claude-code", "--write")
    assert content(settings())["hooks"] == hooks, "without --hooks those there stay"
    assert not said(vault)
    del (torn := content(settings()))["hooks"]["Stop"]
    settings().write_text(json.dumps(torn), "utf-8")
    assert "no hook for Stop" in said(vault)[0][1]
    settings().write_text(json.dumps({**torn, "hooks": hooks}), "utf-8")
    for agent in ("main", "jaskier"):
        run(vault, "claude-code", "--remove", "--hooks", "--write", "--agent", agent)
    assert content(settings()) == before
    assert run(vault, "cursor", "--hooks") == 2
    assert "only claude-code has hooks" in capsys.readouterr().err


def test_git_does_not_see_the_settings_of_one_person(vault: Path) -> None:
    git = Path(".git/info")
    git.mkdir(parents=True)
    (git / "exclude").write_text("*.tmp\n", "utf-8")
    for _ in range(2):
        assert run(vault, "claude-code", "--write", "--hooks") == 0
    assert (git / "exclude").read_text("utf-8") == "*.tmp\n.claude/settings.local.json*\n"
