"""`init`, `index`, `reindex`, `import`, `status`, `doctor`: the vault as a whole."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

from tests.cli.program import environment, run
from tests.machine import Machine

CLIENT = {"name": "test", "version": "1"}


def test_a_check_of_a_copy_reads_every_note_first(tmp_path: Path) -> None:
    copy = Machine(tmp_path / "copy", tmp_path / "check")
    copy.furnish({f"Daily/{number}.md": f"# Day {number}\n\nRain.\n" for number in range(150)})
    (copy.vault / "Daily/99z.md").write_bytes(bytes(range(256)) * 40)
    checks = copy.run("doctor", "--in-process")["checks"]
    told = {one["name"]: one for one in checks}
    assert told["index"]["result"] == "warn" and "Index ready" in told["index"]["what"]
    assert "Daily/99z.md" in told["index"]["what"]


def test_what_claude_and_chatgpt_keep_of_somebody_is_suggested_and_nothing_more(
    machine: Machine, tmp_path: Path
) -> None:
    memory = "**Work context**\n\nAnna runs a bakery called Zeppelin. She prefers short answers."
    claude = tmp_path / "memories.json"
    claude.write_text(
        json.dumps([{"conversations_memory": memory, "project_memories": {}}]), "utf-8"
    )
    about = {"about_user_message": "I bake in Gdynia.", "about_model_message": "Use metric units."}
    chatgpt = tmp_path / "export.zip"
    with zipfile.ZipFile(chatgpt, "w") as archive:
        archive.writestr("conversations.json", "[]")
        archive.writestr("user.json", json.dumps({"id": "u", "custom_instructions": about}))
    for path, words in ((claude, "Zeppelin"), (chatgpt, "Gdynia"), (claude, "Zeppelin")):
        done = run(machine, "import", str(path), "--json")
        assert (done.code, done.json["suggested"], done.json["sessions"]) == (0, 2, 0)
        waiting = (machine.vault / "VaultMind/Suggestions.md").read_text("utf-8")
        assert waiting.count(words) == 1 and "Work context" not in waiting
    brain = machine.vault / "VaultMind/agents/main/memory/brain.md"
    assert not brain.exists() or "Zeppelin" not in brain.read_text("utf-8")


def test_a_bundle_starts_this_installation_for_the_vault_that_is_chosen(
    machine: Machine, tmp_path: Path
) -> None:
    made = run(
        machine, "bundle", "vaultmind.mcpb", cwd=tmp_path, VAULTMIND_VAULT=str(machine.vault)
    )
    assert made.code == 0 and "vaultmind.mcpb" in made.out
    with zipfile.ZipFile(tmp_path / "vaultmind.mcpb") as bundle:
        bundle.extractall(tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text("utf-8"))
    start = manifest["server"]["mcp_config"]
    chosen = {"${__dirname}": str(tmp_path), "${user_config.vault}": str(machine.vault)}
    chosen["${user_config.agent}"] = manifest["user_config"]["agent"]["default"]
    command = [start["command"], *start["args"]]
    for name, value in chosen.items():
        command = [one.replace(name, value) for one in command]
    ask = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": ask}
    env, words = environment(machine), f"{json.dumps(asked)}\n".encode()
    told = subprocess.check_output(command, input=words, env=env, timeout=90)
    assert json.loads(told)["result"]["serverInfo"]["name"] == "vaultmind"


def test_the_style_for_obsidian_is_added_when_asked_for_and_left_alone_then(
    machine: Machine,
) -> None:
    style = machine.vault / ".obsidian/snippets/vaultmind.css"
    assert not style.exists()
    machine.run("init", "--snippet")
    assert 'data-callout="user"' in style.read_text("utf-8")
    style.write_text("mine", "utf-8")
    machine.run("init", "--snippet")
    assert style.read_text("utf-8") == "mine"
