"""What is kept for one agent names nothing of another's memory, and no secret in a file's name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.vaults import config_of
from tests.waiting import until
from vaultmind.app import App, open_app
from vaultmind.episodes.types import Event, Offer, TaskMark
from vaultmind.errors import NotAllowed
from vaultmind.learn.feedback import Shown
from vaultmind.serve.calls.call import Call
from vaultmind.serve.operations import run_operation
from vaultmind.types import PERSON, Caller, SearchRequest

MAIN, DEXTER = Caller("agent", "main"), Caller("agent", "dexter")
HIDDEN = "VaultMind/agents/dexter/episodes/2026-01-01_001.md"
TOKEN = "ghp_0123456789abcdefABCDEF0123456789abcd"
SECRET = f"Keys/{TOKEN}.md"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    vault = tmp_path / "vault"
    (vault / "Keys").mkdir(parents=True)
    (vault / ".obsidian").mkdir()
    (vault / "Oven.md").write_text("# Oven\n\nBake submarine bread.\n", "utf-8")
    (vault / SECRET).write_text("# Rack\n\nThe zebra server of submarine bread.\n", "utf-8")
    identity = vault / "VaultMind/agents/dexter/identity.md"
    identity.parent.mkdir(parents=True)
    hides = "---\nautonomy: 2\npermissions:\n  hidden_from: [main]\n---\nYou are dexter.\n"
    identity.write_text(hides, "utf-8")
    app = open_app(config_of(tmp_path))
    app.start()
    app.init("main", "en", PERSON)
    app.init("dexter", "en", PERSON)
    until(lambda: app.index.state().phase == "ready")
    yield app
    app.close()


def kept(app: App) -> str:
    """Return all that is kept for the agent, and the tables where nobody else has episodes."""
    folder = app.paths.root / app.paths.agents / "main"
    app.episodes.settle()
    texts = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    if not app.episodes.files.names("dexter"):
        texts += [path.read_bytes() for path in app.config.state_dir.glob("episodes.db*")]
    return b"\n".join(texts).decode("utf-8", "replace")


@pytest.mark.parametrize("caller", [MAIN, PERSON])
def test_events_on_another_agents_memory_are_left_out(app: App, caller: Caller) -> None:
    one = app.episodes.recorder.start(TaskMark("Bake bread"), "vault", MAIN, session="m1")
    events = [
        Event("read", "", HIDDEN),
        Event("edit", "", HIDDEN.replace("VaultMind", "./vaultmind").upper()),
        Event("decision", "", HIDDEN, text="Use steam"),
        Event("read", "", "VaultMind/agents/main/memory/brain.md"),
        Event("read", "", "Oven.md"),
    ]
    after = app.episodes.recorder.add(one.name, events, caller)
    assert [(each.kind, each.path) for each in after.events] == [
        ("decision", ""),
        ("read", "VaultMind/agents/main/memory/brain.md"),
        ("read", "Oven.md"),
    ]
    assert "dexter" not in kept(app).lower()


def test_offers_name_neither_another_agents_files_nor_a_secret(app: App) -> None:
    one = app.episodes.recorder.start(TaskMark("Bake bread"), "vault", MAIN, session="m1")
    files = {HIDDEN: {"f": 1.0}, SECRET: {"f": 0.9}, "Oven.md": {"f": 0.5}}
    app.episodes.recorder.offer(one.name, Offer("f", "t", "w", files, tuple(files)), PERSON)
    (offer,) = app.episodes.files.offers(one.name)
    assert (dict(offer.files), offer.chosen) == ({"Oven.md": {"f": 0.5}}, ("Oven.md",))
    assert "ghp_" not in kept(app)


def test_a_plan_of_the_persons_brings_no_file_of_a_hidden_agent_into_anothers_episode(
    app: App,
) -> None:
    recorder = app.episodes.recorder
    task = TaskMark("Bake submarine bread in the oven")
    dexters = recorder.start(task, "vault", DEXTER, session="d1")
    recorder.add(
        "d1", [Event("edit", "", "Oven.md"), Event("decision", "", text="Periscope crust")], DEXTER
    )
    recorder.end("d1", "success", "", DEXTER)
    app.index.refresh([app.episodes.files.path(dexters.name)])
    recorder.start(TaskMark("Bake bread"), "vault", MAIN, session="m1")
    assert app.planner.settle(app.sources.vault, 30), "of a source still read no offer is left"
    args = {"task": task.text, "session_id": "m1"}
    plan = run_operation(app, Call(PERSON), "context_plan", args)
    assert "dexter" in str(plan), "the person sees it"
    until(lambda: bool(app.episodes.files.offers("main/" + recorder.running("main")[0].id)))
    assert "planned" in kept(app) and "dexter" not in kept(app).lower()


def test_feedback_on_a_search_names_neither(app: App) -> None:
    told = app.search_feedback
    for one in (
        Shown("a1", HIDDEN, "#^task"),
        Shown("a2", SECRET, ""),
        Shown("a3", "Oven.md", f"#Login {TOKEN}"),
    ):
        with pytest.raises(NotAllowed, match="names no file"):
            told.judge(PERSON, "bread", one, "useful")
    assert told.judge(PERSON, "bread", Shown("a4", "Oven.md", ""), "useful").new
    query = "zebra server of submarine bread"
    hits = app.index.search(SearchRequest(query), PERSON).hits
    assert SECRET in {hit.path for hit in hits}
    told.asked(PERSON, query, hits)
    for hit in hits:
        told.fetched(PERSON, hit.id, hit.path, hit.anchor)
    assert "ghp_" not in kept(app)
