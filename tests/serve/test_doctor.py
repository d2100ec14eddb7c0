"""The doctor names each fault and how to mend it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.serve.vaults import open_vault
from vaultmind.app import App
from vaultmind.serve.op import Call, run_operation
from vaultmind.types import PERSON


def checks(app: App) -> dict[str, Any]:
    body = run_operation(app, Call(PERSON), "doctor", {})
    return {check["name"]: check for check in body["checks"]}


def test_every_fault_is_named_and_has_a_way_to_mend_it(tmp_path: Path) -> None:
    with open_vault(tmp_path) as app:
        vault = app.config.vault
        (vault / "Notes" / "Latin.md").write_bytes(b"caf\xe9 \xff\xfe")
        brain = vault / app.paths.brain("main")
        copy = brain.with_name("brain.sync-conflict-20260220-101010-ABCDEFG.md")
        copy.write_text("- x\n", "utf-8")
        brain.write_text("<<<<<<< ours\n- a\n=======\n- b\n>>>>>>> theirs\n", "utf-8")
        identity = vault / app.paths.identity("jaskier")
        identity.write_text("---\nautonomy: boss\n---\n", "utf-8")
        app.config.state_dir.chmod(0o755)
        audit = brain.with_name("audit-x.sync-conflict-20260220-101010-ABCDEFG.jsonl")
        audit.write_text("", "utf-8")
        episode = vault / app.paths.episode("main", "2026-02-20_001")
        undated = episode.with_name("2026-02-20_002.md")
        models = vault / app.config.memory_dir / "models"
        notes = ((episode, b"\xff\xfe\x00"), (undated, b"# Fix it\n"))
        for path, torn in (*notes, (models / "active.json", b"{")):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(torn)
        run_operation(app, Call(PERSON), "refresh", {})
        body = run_operation(app, Call(PERSON), "doctor", {})
        faulty = [check for check in body["checks"] if check["result"] != "ok"]
        text = "\n".join(f"{check['name']}: {check['what']}" for check in faulty)
        names = (
            "Latin.md",
            copy.name,
            f"{audit.name} is a sync program's copy",
            "agents/main/memory/brain.md",
            "agents/jaskier/identity.md",
            "state folder",
        )
        for fault in (*names, "episodes/2026-02-20_001.md", "models/active.json"):
            assert fault in text
        assert "episodes/2026-02-20_002.md: its front matter is missing" in text
        told = run_operation(app, Call(PERSON), "episodes", {})["episodes"]
        assert ["front matter" in one["fault"] for one in told] == [False, True]
