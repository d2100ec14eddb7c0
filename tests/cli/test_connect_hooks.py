"""`connect claude-code --hooks` puts our hooks in, beside a person's own, and takes them out."""

from __future__ import annotations

import difflib
import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from vaultmind.cli.connect import clients
from vaultmind.cli.main import main
from vaultmind.client.hook import AFTER_FAILURE, STARTING
from vaultmind.client.hook import EVENTS as KNOWN
from vaultmind.config import Flags, load_config
from vaultmind.session.capture import errands

EVENTS = tuple(event for event in KNOWN if event != AFTER_FAILURE)
"""What is hooked where no Claude Code is found that surely knows of tools that failed."""
OTHER = {"hooks": [{"type": "command", "command": "./lint.sh"}]}
FORMATS = {
    "none": None,
    "empty": "{}\n",
    "rules": '{\n  "permissions": {\n    "deny": [\n      "Read(.env)"\n    ]\n  }\n}\n',
    "others": json.dumps({"hooks": {"Stop": [OTHER], "PreToolUse": [OTHER]}}, indent=4) + "\n",
    "on one line": '{"hooks": {"Stop": [{"hooks": []}]}, "a": 1.50}',
    "empty lists": '{\n\t"hooks": {\n\t\t"Stop": [],\n\t\t"SessionEnd": [ ]\n\t}\n}\n',
    "CRLF": '{\r\n  "hooks": {\r\n    "Stop": [\r\n      {"hooks": []}\r\n    ]\r\n  }\r\n}\r\n',
}


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "My 'own' vault"
    (folder / ".obsidian").mkdir(parents=True)
    monkeypatch.setenv("VAULTMIND_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("VAULTMIND_CONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return folder


def run(vault: Path, *flags: str, client: str = "claude-code") -> int:
    return main(["connect", client, "--vault", str(vault), *flags])


def settings() -> Path:
    return Path(".claude/settings.local.json").absolute()


def write(text: str) -> None:
    settings().parent.mkdir(exist_ok=True)
    settings().write_bytes(text.encode())


def hooks() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(settings().read_text("utf-8"))
    return dict(content.get("hooks", {}))


def ours(agent: str = "main") -> dict[str, list[str]]:
    """Return the words of our commands by event."""
    words = {
        event: [shlex.split(one["command"]) for group in groups for one in group["hooks"]]
        for event, groups in hooks().items()
    }
    return {
        event: command
        for event, commands in words.items()
        for command in commands
        if "hook" in command and agent in command
    }


def test_every_event_gets_a_command_that_names_vault_agent_and_state(
    vault: Path, tmp_path: Path
) -> None:
    assert run(vault, "--hooks", "--agent", "jaskier", "--write") == 0
    found = ours("jaskier")
    assert set(found) == set(EVENTS)
    for event, words in found.items():
        at = words.index("hook")
        named = ["--vault", str(vault), "--agent", "jaskier", "--state-dir", f"{tmp_path}/state"]
        assert words[at:] == ["hook", "claude-code", event, *named]
        assert Path(words[0]).is_absolute()
    assert json.loads(settings().read_text("utf-8"))["permissions"]["deny"]


def test_a_plan_is_asked_for_before_sub_agents_alone(vault: Path) -> None:
    others = {"matcher": "Bash", **OTHER}
    write(json.dumps({"hooks": {"PreToolUse": [others]}}))
    assert run(vault, "--hooks", "--write") == 0
    first, group = hooks()["PreToolUse"]
    assert first == others and group["matcher"] == "Task|Agent"
    assert all("matcher" not in one for one in hooks()["Stop"])
    assert run(vault, "--hooks", "--remove", "--write") == 0
    assert hooks() == {"PreToolUse": [others]}


def test_tools_are_heard_of_after_their_use_those_alone_that_say_something(vault: Path) -> None:
    assert run(vault, "--hooks", "--write") == 0
    (group,) = hooks()["PostToolUse"]
    assert group["matcher"].split("|") == [
        "Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "Grep", "Glob", "Bash", "Task",
        "Agent",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "knows"),
    [
        ("2.1.20 (Claude Code)", True),
        ("2.2.0", True),
        ("2.0.76 (Claude Code)", False),
        ("x", False),
    ],
)
def test_of_failed_tools_is_heard_where_claude_code_knows_that_event(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, knows: bool
) -> None:
    program = tmp_path / "bin/claude"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{said}'\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    write('{"hooks": {}, "a": 1.50}')
    assert run(vault, "--hooks", "--write") == 0
    found = hooks()
    assert (AFTER_FAILURE in found) == knows, "an unknown event costs the whole settings file"
    assert not knows or found[AFTER_FAILURE][0]["matcher"] == "Bash"
    assert run(vault, "--remove", "--write") == 0
    assert settings().read_text("utf-8") == '{"hooks": {}, "a": 1.50}'


def test_hooks_of_an_earlier_version_are_told_of_and_taken_the_place_of(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(vault, "--hooks", "--write")
    earlier = json.loads(settings().read_text("utf-8"))
    del earlier["hooks"]["PostToolUse"]
    settings().write_text(json.dumps(earlier), "utf-8")
    config = load_config(Flags(vault=str(vault)))
    (check,) = [one for one in clients.check_clients(config) if one["name"] == "claude-code hooks"]
    assert check["result"] == "warn" and "none for PostToolUse" in check["what"]
    run(vault, "--hooks", "--write")
    assert set(ours()) == set(EVENTS) and all(len(groups) == 1 for groups in hooks().values())
    checks = clients.check_clients(config)
    assert [one["result"] for one in checks if one["name"] == "claude-code hooks"] == ["ok"]


def test_the_state_folder_is_named_even_where_nobody_named_it(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VAULTMIND_STATE_DIR")
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    config = load_config(Flags(vault=str(vault)))
    assert run(vault, "--hooks", "--write") == 0
    assert ours()["Stop"][-2:] == ["--state-dir", str(config.state_dir.parent)]


def test_the_doctor_tells_of_what_waits_and_what_failed(vault: Path, tmp_path: Path) -> None:
    config = load_config(Flags(vault=str(vault)))
    run(vault, "--hooks", "--write")
    errand = {"agent": "main", "session_id": "a", "transcript_path": "/t.jsonl", "end": False}
    errands.leave(str(config.state_dir), errand)
    log = config.state_dir / "hooks.log"
    log.write_text("2026-11-22 Stop of main: x\n2026-11-22 Stop of main: TooLate: y\n", "utf-8")
    told = [one for one in clients.check_clients(config) if one["name"] == "claude-code hooks"]
    assert [one["result"] for one in told] == ["ok", "warn", "warn"]
    assert "1 conversation " in told[1]["what"]
    assert "2 failures" in told[2]["what"] and "TooLate: y" in told[2]["what"]


def test_a_late_plan_is_no_failure(vault: Path, tmp_path: Path) -> None:
    config = load_config(Flags(vault=str(vault)))
    run(vault, "--hooks", "--write")
    log = config.state_dir / "hooks.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    late = "2026-11-22 PreToolUse of main: TooLate: it took too long\n"
    log.write_text(late * 3, "utf-8")
    told = [one for one in clients.check_clients(config) if one["name"] == "claude-code hooks"]
    assert [one["result"] for one in told] == ["ok", "ok"]
    assert "3 plans came too late" in told[1]["what"]
    log.write_text(f"{late}2026-11-22 PreToolUse of main: ValueError: x\n{late}", "utf-8")
    told = [one for one in clients.check_clients(config) if one["name"] == "claude-code hooks"]
    assert "1 failure in" in told[2]["what"] and "ValueError: x" in told[2]["what"]


def test_a_hook_that_came_while_the_daemon_was_starting_is_no_failure(vault: Path) -> None:
    config = load_config(Flags(vault=str(vault)))
    run(vault, "--hooks", "--write")
    log = config.state_dir / "hooks.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    early = f"2026-11-22 Stop of main: TooLate: it took too long ({STARTING})\n"
    plan = f"2026-11-22 PreToolUse of main: TooLate: it took too long ({STARTING})\n"
    log.write_text(early * 2 + plan, "utf-8")
    told = [one for one in clients.check_clients(config) if one["name"] == "claude-code hooks"]
    assert [one["result"] for one in told] == ["ok", "ok", "ok"]
    assert "1 plan came too late" in told[1]["what"]
    assert "2 hooks came while the daemon was starting" in told[2]["what"]


def test_the_doctor_tells_of_hooks_that_name_another_state_folder(
    vault: Path, tmp_path: Path
) -> None:
    run(vault, "--hooks", "--write", "--state-dir", str(tmp_path / "former"))
    config = load_config(Flags(vault=str(vault)))
    (told,) = [one for one in clients.check_clients(config) if one["name"] == "claude-code hooks"]
    assert told["result"] == "fail" and "former" in told["what"]


def test_a_configuration_file_that_was_named_goes_along(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULTMIND_CONFIG", str(tmp_path / "mine.toml"))
    assert run(vault, "--hooks", "--write") == 0
    assert ours()["Stop"][:2] == ["env", f"VAULTMIND_CONFIG={tmp_path}/mine.toml"]


def test_without_write_it_is_only_shown(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(vault, "--hooks") == 0
    shown = capsys.readouterr().out
    assert "UserPromptSubmit" in shown and f"make {settings()}" in shown
    assert not settings().exists()
    settings().parent.mkdir(parents=True, exist_ok=True)
    settings().write_text("{}", "utf-8")
    assert run(vault, "--hooks") == 0
    assert f"change {settings()}" in capsys.readouterr().out


def test_what_is_shown_is_led_in_once(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(vault, "--hooks")
    out = " ".join(capsys.readouterr().out.split())
    assert out.count("o that") == 1 and "approve in your place; and our hooks" in out
    run(vault, "--write")
    capsys.readouterr()
    run(vault, "--hooks")
    out = capsys.readouterr().out
    assert out.count("So that") == 1 and "So that conversations there are written down" in out


def test_an_agent_that_is_not_made_yet_is_said_to_be_none(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(vault, "--hooks", "--agent", "helper", "--write")
    assert "agents new helper --vault" in capsys.readouterr().err
    assert main(["init", "--vault", str(vault), "--in-process"]) == 0
    capsys.readouterr()
    run(vault, "--hooks", "--write")
    assert "no agent" not in capsys.readouterr().err


def test_without_hooks_none_are_put_in_and_those_there_stay(vault: Path) -> None:
    assert run(vault, "--write") == 0
    assert not hooks()
    assert run(vault, "--write", "--hooks") == 0
    assert run(vault, "--write") == 0
    assert set(ours()) == set(EVENTS)


@pytest.mark.parametrize("before", FORMATS.values(), ids=FORMATS)
def test_what_else_is_in_the_settings_stays_and_removal_undoes_it_byte_for_byte(
    vault: Path, before: str | None
) -> None:
    if before is not None:
        write(before)
    assert run(vault, "--hooks", "--write") == 0
    after = settings().read_bytes().decode()
    matcher = difflib.SequenceMatcher(None, before or "", after, autojunk=False)
    taken = [
        (before or "")[a:b] for tag, a, b, *_ in matcher.get_opcodes() if tag in ("delete",
                                                                                  "replace")
    ]  # fmt: skip
    assert not "".join(taken).strip(), "only put in, nothing taken away"
    assert set(ours()) == set(EVENTS)
    assert run(vault, "--remove", "--write") == 0
    if before is None:
        assert not settings().parent.exists()
    else:
        assert settings().read_bytes().decode() == before


def test_once_is_enough_and_a_moved_state_folder_takes_the_place_of_the_old(
    vault: Path, tmp_path: Path
) -> None:
    run(vault, "--hooks", "--write")
    first = settings().read_bytes()
    run(vault, "--hooks", "--write")
    assert settings().read_bytes() == first
    run(vault, "--hooks", "--write", "--state-dir", str(tmp_path / "elsewhere"))
    assert all(len(groups) == 1 for groups in hooks().values())
    assert ours()["Stop"][-1] == f"{tmp_path}/elsewhere"


def test_two_agents_have_hooks_side_by_side_and_one_goes_alone(vault: Path) -> None:
    run(vault, "--hooks", "--write")
    run(vault, "--hooks", "--write", "--agent", "jaskier")
    assert set(ours("jaskier")) == set(ours()) == set(EVENTS)
    run(vault, "--remove", "--write", "--agent", "jaskier")
    assert not ours("jaskier") and set(ours()) == set(EVENTS)


def test_hooks_go_alone_where_only_they_are_named(vault: Path) -> None:
    run(vault, "--write")
    before = settings().read_bytes()
    run(vault, "--hooks", "--write")
    assert run(vault, "--remove", "--hooks", "--write") == 0
    assert settings().read_bytes() == before
    assert (Path.home() / ".claude.json").exists()
    run(vault, "--hooks", "--write")
    assert run(vault, "--remove", "--write") == 0
    assert not settings().exists() and not (Path.home() / ".claude.json").exists()


def test_what_was_changed_meanwhile_stays_when_the_hooks_go(vault: Path) -> None:
    write(FORMATS["others"] or "")
    run(vault, "--hooks", "--write")
    settings().write_text(settings().read_text("utf-8").replace("./lint.sh", "./test.sh"), "utf-8")
    assert run(vault, "--remove", "--write") == 0
    assert settings().read_text("utf-8") == (FORMATS["others"] or "").replace("lint", "test")


@pytest.mark.parametrize("text", ['{"hooks": []}', '{"hooks": {"Stop": "x"}}', '{"hooks": {},} //'])
def test_broken_settings_stop_it_before_anything_is_written(
    vault: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(text)
    assert run(vault, "--hooks", "--write") == 2
    assert settings().read_text("utf-8") == text and not (Path.home() / ".claude.json").exists()
    assert "UserPromptSubmit" in capsys.readouterr().err


def test_claude_desktop_has_no_hooks_and_that_is_said(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(vault, "--hooks", client="claude-desktop") == 2
    assert "only claude-code has hooks" in capsys.readouterr().err


def test_as_json_it_says_which_commands(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(vault, "--hooks", "--json")
    assert set(json.loads(capsys.readouterr().out)["hooks"]) == set(EVENTS)
    run(vault, "--json")
    assert json.loads(capsys.readouterr().out)["hooks"] == {}


def test_the_doctor_says_for_whom_conversations_are_kept_and_what_is_not_there(
    vault: Path,
) -> None:
    config = load_config(Flags(vault=str(vault)))
    names = [one["name"] for one in clients.check_clients(config)]
    assert "claude-code hooks" not in names
    run(vault, "--hooks", "--write", "--agent", "jaskier")
    (check,) = [one for one in clients.check_clients(config) if one["name"] == "claude-code hooks"]
    assert (check["result"], "jaskier" in check["what"]) == ("ok", True)
    program = ours("jaskier")["Stop"][0]
    settings().write_text(settings().read_text("utf-8").replace(program, "/gone/vaultmind"))
    (check,) = [one for one in clients.check_clients(config) if one["name"] == "claude-code hooks"]
    assert (check["result"], "/gone/vaultmind" in check["what"]) == ("fail", True)
