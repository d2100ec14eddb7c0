"""The doctor names each fault and how to mend it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.episodes.worked import NOW, Folder, episode, event, iso
from tests.serve.vaults import config_of, open_vault, write_vault
from vaultmind.app import App
from vaultmind.cli.options import InProcess
from vaultmind.episodes.types import Offer, TaskMark
from vaultmind.serve.operations import Call, run_operation
from vaultmind.types import PERSON, Message


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
        episode = vault / app.paths.episode("main", "2026-02-20_001")
        undated = episode.with_name("2026-02-20_002.md")
        models = vault / app.config.memory_dir / "models"
        notes = ((episode, b"\xff\xfe\x00"), (undated, b"# Fix it\n"))
        for path, torn in (*notes, (models / "active.json", b"{")):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(torn)
        app.index.refresh(["Notes/Latin.md"])
        body = run_operation(app, Call(PERSON), "doctor", {})
        faulty = [check for check in body["checks"] if check["result"] != "ok"]
        text = "\n".join(f"{check['name']}: {check['what']}" for check in faulty)
        names = (
            "Latin.md",
            "sync-conflict",
            "agents/main/memory/brain.md",
            "agents/jaskier/identity.md",
            "state folder",
        )
        for fault in (*names, "episodes/2026-02-20_001.md", "models/active.json"):
            assert fault in text
        assert "episodes/2026-02-20_002.md: its front matter is missing" in text
        told = run_operation(app, Call(PERSON), "episodes", {})["episodes"]
        assert ["front matter" in one["fault"] for one in told] == [False, True]


def test_a_look_at_a_vault_without_a_daemon_leaves_it_as_it_is(tmp_path: Path) -> None:
    """Nothing is shrunk, closed, ended or settled, though all of that is due."""
    write_vault(tmp_path / "vault")
    config = config_of(tmp_path)
    config = replace(config, index=replace(config.index, embedder="none"))
    app = App(config, lambda: NOW - timedelta(days=300), None)
    Folder(config.vault).put(
        episode(event("read", "a.py"), days=300, id="2026-01-26_001"),
        Offer("f-jwt", iso(300), "w", {"a.py": {"words": 0.5}}),
    )
    running = app.episodes.recorder.start(TaskMark("Fix it"), "vault", PERSON, session="s")
    app.sessions.log("main", Message("user", "I always take the night train to Vienna.", ""))
    app.start(tends=False)
    app.close()
    note = config.vault / app.paths.episode("main", running.id)
    note.write_text(f"{note.read_text('utf-8')}- 10:00:00 read `half", "utf-8")
    before = bytes_of(config.vault)
    assert any(name.endswith(".offers.jsonl") for name in before)
    backend = InProcess(config)
    try:
        looked = backend.call("doctor", {})["checks"]
        backend.call("purge", {})
        backend.call("episodes", {})
    finally:
        backend.close()
    assert bytes_of(config.vault) == before
    assert {one["name"]: one["result"] for one in looked}["episodes"] == "ok"


def bytes_of(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
