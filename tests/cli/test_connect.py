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
from vaultmind.config import Flags, load_config

JSON_CLIENTS = [name for name, one in clients.CLIENTS.items() if one.path.endswith(".json")]
COMMANDS = ["Bash(vaultmind *)", "Bash(*/bin/vaultmind *)", "Bash(* -m vaultmind *)"]


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


def said(
    vault: Path, name: str = "claude-code hooks", agent: str = "main"
) -> list[tuple[str, str]]:
    checks = check_clients(load_config(Flags(vault=str(vault), agent=agent)))
    return [(one["result"], one["what"]) for one in checks if one["name"] == name]


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
    missing = f"{path} starts a program that is missing (/gone/vaultmind)."
    assert said(vault, client)[0] == ("fail", missing)
    path.write_text(well, "utf-8")

    assert run(vault, client, "--remove") == 0
    assert "vaultmind" in servers(client)
    for agent in ("main", "jaskier"):
        assert run(vault, client, "--remove", "--write", "--agent", agent) == 0
    assert path.read_text("utf-8") == f"{text}\n"


def test_mcp_json_is_the_snippet_that_connect_writes(vault: Path) -> None:
    run(vault, "cursor", "--write")
    shipped = content(Path(__file__).parents[2] / "mcp.json")["mcpServers"]
    written = servers("cursor")
    assert list(shipped) == list(written)
    ours, theirs = shipped["vaultmind"]["args"], written["vaultmind"]["args"]
    assert ours[0] == "mcp" and ours[1::2] == theirs[-6:-2][::2]


def test_rules_and_hooks_name_a_vault_of_odd_letters_and_come_out_again(
    vault: Path, tmp_path: Path
) -> None:
    for _ in range(2):
        assert run(vault, "claude-code", "--write", "--hooks", "--agent", "jaskier") == 0
    named = str(vault).replace("[2]", r"\[2\]")
    files = [f"Edit(/{named}/VaultMind/**)", f"Edit(/{tmp_path}/state/**)",
             f"Edit(/{tmp_path}/mine.toml)", f"Edit(/{tmp_path}/links/**)"]  # fmt: skip
    assert content(settings())["permissions"]["deny"] == [*files, *COMMANDS]
    hooks = content(settings())["hooks"]
    assert set(hooks) == set(EVENTS) and all(len(groups) == 1 for groups in hooks.values())
    words = shlex.split(hooks["Stop"][0]["hooks"][0]["command"])
    at = ["--vault", str(vault), "--agent", "jaskier", "--state-dir", f"{tmp_path}/state"]
    assert words[words.index("hook") :] == ["hook", "claude-code", "Stop", *at]
    assert words[:2] == ["env", f"VAULTMIND_CONFIG={tmp_path}/mine.toml"]
    assert not said(vault), "it is another agent's"
    assert not said(vault, agent="jaskier")
    del (torn := content(settings()))["hooks"]["Stop"]
    settings().write_text(json.dumps(torn), "utf-8")
    assert "no hook for Stop" in said(vault, agent="jaskier")[0][1]
    assert run(vault, "claude-code", "--remove", "--write", "--agent", "jaskier") == 0
    assert content(settings()) == {}
