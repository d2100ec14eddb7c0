"""The gates that a release passes: nothing stale (G1), eight agents at once (G5), no models (G6).

G2, how long a plan may take, is a benchmark: benchmarks/planner_speed.py.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.machine import Machine, fingerprint
from tests.serve.test_http import ask
from vaultmind.serve.surfaces import tokens_file

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from planner_storm import Shown, judged, marks_in, storm
from storm_writer import Written, text_of

AGENTS = [f"agent{number}" for number in range(8)]
PLANS = 4
ANSWERS = 12
NOTES = {
    "Notes/Oven.md": "# Oven\n\nThe bread oven must be 230 degrees hot.\n\n## Wood\n\nBirch.\n",
    "Notes/Bread.md": "# Bread\n\nBake it in the [[Oven]] for an hour.\n",
    "Notes/Bike.md": "# Bike\n\nThe bike has a flat tyre.\n",
}
CODE = {
    "shop/oven.py": '"""The oven."""\n\n\ndef heat(oven):\n    """Make the oven hot."""\n',
    "shop/cart.py": "from shop.oven import heat\n\n\ndef pay(cart):\n    return heat(cart)\n",
    "tests/test_oven.py": "from shop.oven import heat\n\n\ndef test_heat():\n    heat(1)\n",
}
TASK = "how hot must the oven be?"


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A vault and a linked folder, without an embedder; the model's server is not there."""
    folder = tmp_path_factory.mktemp("gates")
    machine = Machine(folder / "vault", folder / "state")
    agents = {f"VaultMind/agents/{one}/identity.md": "---\nautonomy: 2\n---\n" for one in AGENTS}
    for root, files in ((machine.vault, NOTES | agents), (folder / "code", CODE)):
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    machine.state.mkdir()
    settings = (
        "[daemon]\nhttp = true\nhttp_port = 0\n"
        '[minion]\nmodel = "http://127.0.0.1:9/v1#gone"\n[consolidation]\nauto = false\n'
    )
    (machine.state / "none.toml").write_text(settings, "utf-8")
    machine.begin()
    machine.run("index")
    machine.run("link", str(folder / "code"), "--as", "shop")
    machine.run("explore", "shop")
    yield machine
    machine.stop()


def test_g1_in_a_storm_of_edits_no_plan_shows_what_the_disk_does_not_hold(tmp_path: Path) -> None:
    asked = iter(range(ANSWERS))
    result = storm(tmp_path, 24, 1, lambda: next(asked, None) is None)
    assert result.answers == ANSWERS
    assert result.lines > ANSWERS and result.edits > ANSWERS
    assert result.stale == []


def test_g1_a_stale_line_would_be_noticed() -> None:
    versions = {("notes", 3): [Written("notes", 3, 1, 0, 0), Written("notes", 3, 2, 10, 11),
                               Written("notes", 3, 0, 20, 21)]}  # fmt: skip
    shown = marks_in(text_of("notes", 3, 1, code=False).splitlines()[0])

    def at(asked: float, given: float) -> list[str]:
        return judged([Shown(asked, given, shown, "plan")], versions).stale

    assert at(5, 6) == at(10.5, 12) == at(9, 30) == []
    assert len(at(12, 13)) == len(at(22, 23)) == 1, "it was replaced before it was asked"
    unknown = Shown(1, 2, (("notes", 3, 9),), "plan")
    assert len(judged([unknown], versions).stale) == 1


def test_g5_eight_agents_in_processes_of_their_own_lose_no_plan_and_damage_nothing(
    machine: Machine,
) -> None:
    before = fingerprint(machine.vault)
    script = Path(__file__).with_name("agent_process.py")
    running = [
        subprocess.Popen(
            [sys.executable, str(script), str(machine.vault), agent, str(PLANS)],
            env=machine.env | {"PYTHONPATH": str(Path.cwd())},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for agent in AGENTS
    ]  # fmt: skip
    answers: dict[str, list[dict[str, Any]]] = {}
    for process in running:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for agent, process in zip(AGENTS, running, strict=True):
        said, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        answers[agent] = [json.loads(line) for line in said.splitlines()]
    saved = [one["saved"] for some in answers.values() for one in some]
    assert len(set(saved)) == len(AGENTS) * PLANS and all(saved)
    for agent, some in answers.items():
        assert [bool(one["context"]["files"]) for one in some] == [True] * PLANS
        kept = sorted((machine.vault / f"VaultMind/agents/{agent}/memory/plans").glob("*.md"))
        assert [str(path.relative_to(machine.vault)) for path in kept] == sorted(
            one["saved"] for one in some
        )
        for number, one in enumerate(some):
            note = (machine.vault / one["saved"]).read_text("utf-8")
            assert f"{agent} asks for the {number}. time" in note
    assert fingerprint(machine.vault) == before
    assert machine.run("status")["planning"]["plans"] >= len(saved)
    _are_sound(machine)


def _are_sound(machine: Machine) -> None:
    """Look through every database of the daemon; it goes on running."""
    found = list(machine.config.state_dir.rglob("*.db"))
    assert {path.name for path in found} >= {"index.db", "structure.db"}
    for path in found:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",), path
        finally:
            connection.close()


def test_g6_without_vectors_and_without_a_model_every_surface_answers(machine: Machine) -> None:
    status = machine.run("status")
    assert not status["index"]["embedder"]
    port = status["daemon"]["http_port"]
    token = tokens_file.token_of(machine.config.state_dir, "main")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    for source, first in (("shop", "shop/oven.py"), ("", "Notes/Oven.md")):
        asked = {"task": TASK, "project_root": source, "ml_mode": "full"}
        words = ("plan", *filter(None, [source]), "--task", TASK, "--ml-mode", "full")
        code, over_http = ask(port, "/v1/plan-context", asked, headers)
        assert code == 200
        told = asyncio.run(_by_mcp(machine, asked))
        assert f"{first}: " in told
        answers = [over_http, machine.run(*words)]
        for one in answers:
            assert one["context"]["files"][0] == first
            assert one["rerank"] == "fallback" and one["notes"], "it says what is missing"
        off = [machine.run(*words[:-1], "off") for _ in range(2)]
        for one in off:
            one.pop("took_ms")
        assert off[0] == off[1], "the same question has the same answer"
    assert machine.run("explore", "shop", "--query-type", "bugfix")["text"]
    assert machine.run("delta", "shop") and machine.run("refresh", "shop")
    assert machine.run("search", "oven", "--source", "shop")["hits"]


async def _by_mcp(machine: Machine, arguments: dict[str, Any]) -> str:
    async with machine.client() as client:
        result = await client.call_tool("context_plan", arguments)
        assert not result.is_error
        return str(result.content[0].text)
