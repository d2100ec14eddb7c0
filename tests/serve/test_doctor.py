"""The doctor names each fault and how to mend it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.serve.vaults import open_vault
from vaultmind.app import App
from vaultmind.serve import doctor
from vaultmind.serve.operations import Call, run_operation
from vaultmind.serve.requests import NoArgs
from vaultmind.types import PERSON, Progress


def checks(app: App) -> dict[str, Any]:
    body = run_operation(app, Call(PERSON), "doctor", {})
    return {check["name"]: check for check in body["checks"]}


def test_a_sound_vault_has_no_warning(tmp_path: Path) -> None:
    with open_vault(tmp_path) as app:
        found = checks(app)
        assert {check["result"] for check in found.values()} == {"ok"}
        assert {"vault", "memory folder", "state folder", "index", "embedder"} <= set(found)
        assert "2 facts" in found["agent main"]["what"]
        assert ".env" in found["secrets"]["what"]


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
        app.index.refresh(["Notes/Latin.md"])
        body = run_operation(app, Call(PERSON), "doctor", {})
        faulty = [check for check in body["checks"] if check["result"] != "ok"]
        text = "\n".join(f"{check['name']}: {check['what']}" for check in faulty)
        assert all(check["mend"] for check in faulty)
        for fault in ("Latin.md", "sync-conflict", "agent main", "agent jaskier", "state folder"):
            assert fault in text


def test_the_doctor_reports_how_far_it_is_and_speaks_plainly(tmp_path: Path) -> None:
    told: list[Progress] = []
    with open_vault(tmp_path) as app:
        result = doctor.examine(app, Call(PERSON, told.append), NoArgs())
    assert told[-1].done == told[-1].total
    assert "vault" in doctor.words(result)
