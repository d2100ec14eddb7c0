"""A broken or hostile file is that file's fault: everything else goes on."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from tests.serve.vaults import open_vault
from vaultmind.serve.operations import Call, run_operation
from vaultmind.types import PERSON, Caller, MemoryWrite

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
        app.requests.ask(MemoryWrite("remember", "main", PERSON, "Plays chess"))
        for operation in ("memory_status", "memory_show", "context_start", "doctor"):
            run_operation(app, Call(PERSON), operation, {})
        shown = run_operation(app, Call(PERSON), "memory_show", {})
        assert "Knits" in str(shown["sections"]) and "Plays chess" in str(shown["sections"])


WORST = {
    "spaces": " " * 50_000 + "x",
    "many words": " ".join(f"w{i:05}q" for i in range(7_000)),
    "tags": " ".join(f"#t{i}" for i in range(8_000)),
}
PATIENCE = 20.0
"""Seconds that one answer may take on a machine at a tenth of its speed."""


@pytest.mark.parametrize("worst", WORST)
def test_texts_of_one_kind_hold_nobody_up(tmp_path: Path, worst: str) -> None:
    agent = Call(Caller("agent", "main", "test"))
    with open_vault(tmp_path) as app:
        (app.config.vault / "Worst.md").write_text(WORST[worst], "utf-8")

        def work() -> None:
            message = {"role": "user", "text": WORST[worst]}
            run_operation(app, agent, "session_log", {"messages": [message]})
            run_operation(app, agent, "context_build", {})
            app.index.refresh(["Worst.md"])
            run_operation(app, agent, "memory_fetch", {"id": "Worst.md"})

        worker = threading.Thread(target=work)
        worker.start()
        slowest, beats = 0.0, 0
        while worker.is_alive() or not beats:
            begun = time.perf_counter()
            run_operation(app, Call(PERSON), "memory_search", {"query": "bread oven"})
            slowest, beats = max(slowest, time.perf_counter() - begun), beats + 1
        worker.join()
        assert slowest < PATIENCE
