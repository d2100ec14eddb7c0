"""An agent hidden from another is, to that other, not there: on every way out, in every word."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from tests.serve.vaults import open_vault, write_vault
from vaultmind.app import App
from vaultmind.errors import VaultMindError
from vaultmind.serve import http, mcp
from vaultmind.serve.op import Call, answer, find, of
from vaultmind.types import PERSON, Caller, SearchRequest

MAIN, DEXTER, JASKIER = (Caller("agent", name) for name in ("main", "dexter", "jaskier"))
BRAIN = "VaultMind/agents/dexter/memory/brain.md"
SECRET = "submarine"
TODAY = date.today().isoformat()
SESSION = (
    "---\nid: 2026-02-20_001\nagent: dexter\nstarted: 2026-02-20T10:00:00+01:00\n---\n\n"
    '> [!user] 10:00:03 · Anna %%{"id":"m1","time":"2026-02-20T10:00:03+01:00",'
    '"how":"captured"}%%\n'
    f"> My {SECRET} has a periscope.\n\n^m1\n"
)
FILES = {
    "VaultMind/agents/dexter/identity.md": (
        "---\nautonomy: 2\npermissions:\n  hidden_from: [main]\n---\nYou are Dexter.\n"
    ),
    BRAIN: f"# Brain\n\n## User\n\n- Builds a {SECRET} ^d1\n",
    "VaultMind/agents/dexter/memory/active_context.md": f"Talked about the {SECRET}.\n",
    "VaultMind/agents/dexter/memory/sessions/2026-02-20_001.md": SESSION,
    "VaultMind/agents/dexter/memory/summaries/L1/L1_001.md": "---\nx: [\n---\nTorn.\n",
    "VaultMind/agents/dexter/episodes/2026-02-20_001.md": (
        "---\nepisode: 1\nsource: vault\nstate: ended\noutcome: partial\nsession: d1\n"
        f"started: {TODAY}T00:00:00+01:00\nended: {TODAY}T00:01:00+01:00\n---\n"
        f"# Build the periscope of the {SECRET}\n\nA {SECRET} in vault, by dexter. ^task\n\n"
        "## What was done\n\n"
        f"- 10:00:03 decided: the {SECRET} has a brass periscope ^e1\n"
    ),
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("hidden")
    for name, text in FILES.items():
        path = write_vault(folder / "vault") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    with open_vault(folder) as opened:
        yield opened


def said(app: App, caller: Caller, name: str, args: dict[str, Any]) -> str:
    """Return everything an operation answers, as data and in words, or its error."""
    try:
        found = answer(app, Call(caller), name, args, "http")
    except VaultMindError as error:
        return f"{type(error).__name__}: {error}"
    return f"{json.dumps(found.json, ensure_ascii=False)}\n{found.words}"


WITHOUT_NAME = {
    "memory_search": [{"query": SECRET}, {"query": SECRET, "agent": "*"},
                      {"source": "vault", "query": SECRET}],
    "memory_show": [{}],
    "context_start": [{}],
    "context_build": [{"messages": [f"what of the {SECRET}?"]}, {}],
    "session_log": [{"messages": [{"text": "hello"}]}, {"session": "2026-02-20_001", "end": True}],
    "memory_status": [{}],
    "memory_settle": [{}, {"session": "2026-02-20_001"}],
    "memory_fetch": [{"id": "brain"}, {"id": "identity.md"}, {"source": "vault", "id": "brain"},
                     {"source": "x", "id": "y"}],
    "memory_update": [{"op": "forget", "text": f"Builds a {SECRET}"}],
    "context_plan": [{"task": "build the periscope"}, {"task": "ask Dexter", "project_root": "x"}],
    "explore": [{"wait_seconds": 5, "layers": [f"L{n}" for n in range(7)], "detail": "verbose"}],
    "refresh": [{"wait_seconds": 5}],
    "episode": [{"action": "start", "task": "build a boat"},
                {"action": "event", "session_id": "d1", "events": ["read a.md"]},
                {"action": "event", "events": ["decision of wood"]},
                {"action": "end", "session_id": "d1"}, {"action": "end", "outcome": "success"},
                {"action": "feedback", "session_id": "d1", "outcome": "failed"},
                {"action": "feedback", "hits": ["useful Oven.md"]}],
    "related": [{"note": "Notes/Oven.md"}, {"note": "brain"}],
    "model_status": [{}],
    "model_train": [{"wait_seconds": 5}],
    "model_activate": [{"model": "code-1"}],
    "model_rollback": [{"kind": "planner"}],
    "index": [{"timeout_seconds": 5}, {"anew": True}],
    "doctor": [{}],
}  # fmt: skip
NAMED: list[tuple[str, dict[str, Any]]] = [
    ("memory_search", {"query": "x", "folder": "VaultMind/agents/NAME"}),
    ("memory_search", {"source": "vault", "query": "x", "folder": "VaultMind/agents/NAME"}),
    ("memory_fetch", {"id": "VaultMind/agents/NAME/memory/brain.md"}),
    ("memory_fetch", {"source": "vault", "id": "VaultMind/agents/NAME/memory/brain.md"}),
    ("memory_fetch", {"id": "VaultMind/agents/NAME/identity.md"}),
    ("memory_fetch", {"id": "VaultMind/agents/NAME/memory/sessions/2026-02-20_001.md#^m1"}),
    ("related", {"note": "VaultMind/agents/NAME/memory/brain.md"}),
    ("memory_update", {"op": "remember", "text": "Has a dog", "agent": "NAME"}),
    ("memory_update", {"op": "replace", "text": "a", "old": f"a {SECRET}", "agent": "NAME"}),
    ("memory_update", {"utterance": "What does Dexter know about me?", "agent": "NAME"}),
    ("episode", {"action": "event", "episode": "NAME/2026-02-20_001", "events": ["read a.md"]}),
    ("episode", {"action": "end", "episode": "NAME/2026-02-20_001"}),
    ("episode", {"action": "feedback", "episode": "NAME/2026-02-20_001", "outcome": "failed"}),
    *((name, args[0] | {"agent": "NAME"}) for name, args in WITHOUT_NAME.items()
      if "agent" in find(name).parameters),
]  # fmt: skip
"""Calls that name it: by its folder, its notes, and the argument of each operation."""


def test_every_operation_that_agents_may_call_is_looked_at_here() -> None:
    assert {one.name for one in of("http")} == {*WITHOUT_NAME}


@pytest.mark.parametrize("name", WITHOUT_NAME)
def test_no_answer_names_a_hidden_agent_or_says_what_it_knows(app: App, name: str) -> None:
    for args in WITHOUT_NAME[name]:
        told = said(app, MAIN, name, args).lower().replace(json.dumps(SECRET), "")
        told = told.replace("“periscope”", "")  # a plan's reason repeats a word of its task
        assert "dexter" not in told and "periscope" not in told
        assert f"builds a {SECRET}" not in told.replace(f"“builds a {SECRET}”", "")


@pytest.mark.parametrize(("name", "args"), NAMED)
def test_asked_for_by_name_it_is_answered_for_as_one_that_does_not_exist(
    app: App, name: str, args: dict[str, Any]
) -> None:
    raw = json.dumps(args)
    hidden, none = (
        said(app, MAIN, name, json.loads(raw.replace("NAME", who))).replace(who, "NAME")
        for who in ("dexter", "nobody")
    )
    assert hidden == none and "Error" not in hidden
    assert hidden.startswith(("NotFound", "BadArgument"))
    assert not (app.config.vault / "VaultMind/agents/nobody").exists()


def test_its_chunk_ids_and_resources_lead_nowhere(app: App) -> None:
    found = app.index.search(SearchRequest(SECRET), PERSON).hits
    ids = [hit.id for hit in found if hit.agent == "dexter"]
    assert ids
    for id_ in ids:
        assert said(app, MAIN, "memory_fetch", {"id": id_}).startswith("NotFound")
        assert SECRET in said(app, JASKIER, "memory_fetch", {"id": id_})
    told = []
    for who in ("dexter", "nobody"):
        with pytest.raises(VaultMindError) as error:
            mcp.read_note(app, MAIN, f"note:///{BRAIN.replace('dexter', who)}")
        told.append(str(error.value).replace(who, "NAME"))
    assert told[0] == told[1]


def test_its_episodes_are_in_no_figure(app: App) -> None:
    app.episodes.settle()
    counted = 'vaultmind_episodes{outcome="partial"}'
    assert counted in http.exposition(app, JASKIER)
    assert counted not in http.exposition(app, MAIN)
