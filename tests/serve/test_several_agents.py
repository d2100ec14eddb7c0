"""Several agents: one reads and writes another's memory as that one and the person permit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve.vaults import open_vault
from vaultmind.app import App
from vaultmind.serve.operations import Call, run_operation
from vaultmind.types import PERSON, Caller

MAIN = Caller("agent", "main", "claude")
LETS_WRITE = "autonomy: 2\npermissions:\n  write:\n    main: [brain]\n"
TELL = "Tell Jaskier that the concert is on Friday"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    with open_vault(tmp_path) as opened:
        identify(opened, "autonomy: 2\n")
        allow(opened)
        yield opened


def identify(app: App, front: str) -> None:
    path = app.config.vault / app.paths.identity("jaskier")
    path.write_text(f"---\n{front}---\nA bard.\n", "utf-8")


def allow(app: App) -> Any:
    mark = run(app, "agent_show", {"name": "jaskier"}, PERSON)["mark"]
    return run(app, "agent_allow", {"name": "jaskier", "seen": mark}, PERSON)["allowed"]


def run(app: App, name: str, args: dict[str, Any], caller: Caller = MAIN) -> Any:
    return run_operation(app, Call(caller), name, args)


def brain(app: App, agent: str = "jaskier") -> str:
    return (app.config.vault / app.paths.brain(agent)).read_text("utf-8")


def audit(app: App) -> list[dict[str, Any]]:
    (file,) = (app.config.vault / app.paths.memory("jaskier")).glob("audit-*.jsonl")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_told_without_leave_it_waits_in_the_others_queue(app: App) -> None:
    before = brain(app)
    done = run(app, "memory_update", {"utterance": TELL})
    assert (done["outcome"], done["agent"]) == ("suggested", "jaskier")
    assert brain(app) == before and "concert" not in brain(app, "main")
    agents = {one["name"]: one for one in run(app, "agents", {}, PERSON)["agents"]}
    assert (agents["jaskier"]["suggestions"], agents["main"]["suggestions"]) == (1, 0)


def test_told_with_leave_it_is_written_and_the_audit_names_both(app: App) -> None:
    identify(app, LETS_WRITE)
    assert run(app, "memory_update", {"utterance": TELL})["outcome"] == "suggested"
    assert allow(app) == ["main writing to brain"]
    said = "Tell Jaskier that the lute needs new strings"
    assert run(app, "memory_update", {"utterance": said})["outcome"] == "written"
    assert "lute needs new strings" in brain(app)
    line = audit(app)[-1]
    assert (line["caller"], line["agent"], line["client"]) == ("main", "jaskier", "claude")
    assert line["outcome"] == "written" and "/main/" in line["evidence"]
