"""Episodes over the real daemon and in process: one contract, and who may write what."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.serve.vaults import open_vault
from vaultmind.app import App
from vaultmind.errors import BadArgument, PathRefused
from vaultmind.serve.call import Call
from vaultmind.serve.operations import run_operation
from vaultmind.types import PERSON, Caller

SCHEMAS = Path(__file__).parent.parent.parent / "docs/schemas"
RESPONSE = json.loads((SCHEMAS / "episode.response.json").read_text("utf-8"))
TASK = "bug: the bread oven gets too hot"
KEY = "AKIAIOSFODNN7EXAMPLE"
MAIN, JASKIER, DEXTER = (Caller("agent", one) for one in ("main", "jaskier", "dexter"))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with open_vault(tmp_path_factory.mktemp("app")) as app:
        hidden = app.config.vault / "VaultMind/agents/dexter/identity.md"
        hidden.parent.mkdir(parents=True)
        hidden.write_text("---\nautonomy: 2\npermissions:\n  hidden_from: [main]\n---\nDexter.\n")
        yield app


@pytest.fixture
def app(shared: App) -> Iterator[App]:
    """Return the app of this module; what a test left running is over afterwards."""
    yield shared
    for agent in shared.paths.agent_names():
        for one in shared.episodes.running(agent):
            shared.episodes.judge(one.name, "unknown", "", replace(PERSON, agent=agent), ends=True)


def tool(app: App, caller: Caller = MAIN, **arguments: Any) -> dict[str, Any]:
    return run_operation(app, Call(caller), "episode", arguments, "http")


def op(app: App, name: str, caller: Caller = PERSON, **arguments: Any) -> dict[str, Any]:
    return run_operation(app, Call(caller), name, arguments)


def note(app: App, answer: dict[str, Any]) -> str:
    return (app.config.vault / answer["path"]).read_text("utf-8")


def sound(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer that keeps the contract; fail with all that does not."""
    faults = [one.message for one in Draft202012Validator(RESPONSE).iter_errors(answer)]
    assert not faults, faults
    return answer


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"action": "sing"}, ("'action'", "start, event, end, feedback")),
        ({"action": "start"}, ("'task'", "is missing")),
        ({"action": "start", "task": "x", "outcome": "success"}, ("'outcome'", "end or feedback")),
        ({"action": "end", "task": "x"}, ("'task'", "only with start")),
        ({"action": "event", "hits": ["useful 1"]}, ("'hits'", "only with feedback")),
        ({"action": "event"}, ("'events'", "at least one")),
        ({"action": "event", "events": ["read Notes/Oven.md", "sang loud"]}, ("events[1]", "sang")),
        ({"action": "event", "events": ["read"]}, ("events[0]", "`read PATH`")),
        ({"action": "event", "events": ["read /etc/passwd"]}, ("events[0]", "relative")),
        ({"action": "event", "events": ["read ../../x"]}, ("../../x", "leaves")),
        ({"action": "feedback"}, ("'outcome'", "or hits")),
        ({"action": "feedback", "hits": ["nice 1"]}, ("hits[0]", "`useful ID`")),
    ],
)
def test_what_does_not_belong_is_refused_and_nothing_is_written(
    app: App, arguments: dict[str, Any], words: tuple[str, ...]
) -> None:
    begun = tool(app, action="start", task=TASK)
    before = note(app, begun)
    with pytest.raises((BadArgument, PathRefused)) as caught:
        tool(app, **arguments)
    assert all(word in str(caught.value) for word in words), caught.value
    assert note(app, begun) == before


# --- which episode ----------------------------------------------------------------------------


def test_several_that_run_are_named_and_a_session_finds_its_own(app: App) -> None:
    first = tool(app, action="start", task=TASK, session_id="s1")
    second = tool(app, action="start", task="write about birch wood", session_id="s2")
    with pytest.raises(BadArgument) as caught:
        tool(app, action="event", events=["read Notes/Oven.md"])
    assert first["episode"] in str(caught.value) and second["episode"] in str(caught.value)
    told = tool(app, action="event", session_id="s1", events=["read Notes/Oven.md"])
    assert told["episode"] == first["episode"]
    id = second["episode"].partition("/")[2]
    assert tool(app, action="end", episode=id)["episode"] == second["episode"]
    assert tool(app, action="end")["episode"] == first["episode"]


def test_secrets_and_private_passages_never_reach_the_note(app: App) -> None:
    private = "<private>the cellar</private>"
    begun = tool(app, action="start", task=f"fix the oven, key {KEY} {private}")
    tool(app, action="event", events=[f"decision use {KEY} {private}", f"run curl {KEY} ok"])
    ended = tool(app, action="end", outcome="failed", note=f"{KEY} was refused {private}")
    text = note(app, begun) + json.dumps(ended) + json.dumps(op(app, "episode_show"))
    assert "AKIA" not in text and "cellar" not in text
