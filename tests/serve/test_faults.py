"""A broken or hostile file is that file's fault: everything else goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.serve.vaults import open_vault
from vaultmind.serve.op import Call, run_operation
from vaultmind.types import PERSON, MemoryWrite

DEEP = 20_000
NESTED = {
    "brackets": "a: " + "[" * DEEP + "]" * DEEP,
    "dashes": "- " * DEEP,
    "indents": "".join(f"{' ' * i}a:\n" for i in range(340)),
}


@pytest.mark.parametrize("nested", NESTED)
def test_a_front_matter_nested_thousands_deep_stops_nobody(tmp_path: Path, nested: str) -> None:
    front = f"---\n{NESTED[nested]}\n---\n"
    with open_vault(tmp_path) as app:
        paths = app.paths
        session = paths.session("main", "2026-02-20_001")
        for path in (paths.identity("main"), paths.brain("main"), session, "deep.md"):
            file = app.config.vault / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{front}\n- Knits\n", "utf-8")
        app.sessions.ask(MemoryWrite("remember", "main", PERSON, "Plays chess"))
        for operation in ("memory_status", "memory_show", "context_start", "doctor"):
            run_operation(app, Call(PERSON), operation, {})
        shown = run_operation(app, Call(PERSON), "memory_show", {})
        assert "Knits" in str(shown["sections"]) and "Plays chess" in str(shown["sections"])
