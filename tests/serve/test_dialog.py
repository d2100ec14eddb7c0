"""The client's dialog, answered by a real MCP client in both eras: it may say no, seldom yes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitRequestParams, ElicitResult, ErrorData

from tests.serve.test_http import served
from tests.serve.vaults import config_of, write_vault
from vaultmind.app import App, open_app
from vaultmind.config import MemoryConfig
from vaultmind.serve.surfaces import mcp
from vaultmind.serve.surfaces.dialog import Dialogs, Question, Reply, chosen
from vaultmind.serve.surfaces.tokens_file import token_of
from vaultmind.types import Caller

ERAS = ("auto", "legacy")
MAIN = Caller("agent", "main", "test")
Replies = Callable[[ElicitRequestParams], ElicitResult | ErrorData]


class Desk:
    """An app whose agent may only suggest, and a person in front of a client."""

    def __init__(self, folder: Path, dialog: str) -> None:
        write_vault(folder / "vault")
        identity = folder / "vault/VaultMind/agents/main/identity.md"
        identity.write_text("---\nautonomy: 1\n---\n# Main\n", "utf-8")
        config = replace(config_of(folder), memory=MemoryConfig(dialog=dialog))
        self.app: App = open_app(config)
        self.brain = folder / "vault/VaultMind/agents/main/memory/brain.md"
        self.file = folder / "vault/VaultMind/Suggestions.md"
        self.asked: list[ElicitRequestParams] = []

    def call(self, era: str, replies: Replies | None, **arguments: str) -> Any:
        """Call memory_update; the person replies in the client's dialog, if it has one."""

        async def show(context: Any, params: ElicitRequestParams) -> ElicitResult | ErrorData:
            self.asked.append(params)
            assert replies is not None
            return replies(params)

        async def session() -> Any:
            server = mcp.build_server(self.app, lambda context: MAIN, Dialogs(5))
            callback = show if replies else None
            async with Client(server, mode=era, elicitation_callback=callback) as client:
                return await client.call_tool("memory_update", arguments)

        return asyncio.run(session())

    def remember(self, era: str, replies: Replies | None, text: str) -> Any:
        return self.call(era, replies, op="remember", text=text)


@pytest.fixture
def desk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Desk]:
    desk = Desk(tmp_path, getattr(request, "param", "reject"))
    yield desk
    desk.app.close()


def says(choice: str) -> Replies:
    return lambda params: ElicitResult(action="accept", content={"answer": choice})


def does(action: Any) -> Replies:
    return lambda params: ElicitResult(action=action)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("reply", [says("reject"), does("decline")])
def test_the_dialog_may_reject(desk: Desk, era: str, reply: Replies) -> None:
    result = desk.remember(era, reply, "Likes tea")
    assert result.structured_content["outcome"] == "denied"
    assert "the person rejected it just now" in result.content[0].text
    assert "rejected · **main**" in desk.file.read_text("utf-8")
    (asked,) = desk.asked
    assert "main would like to remember:\n“Likes tea”" in asked.message
    assert asked.requested_schema["properties"]["answer"]["enum"] == ["wait", "reject"]
    again = desk.remember(era, reply, "Likes tea")
    assert again.structured_content["outcome"] == "denied" and len(desk.asked) == 1


@pytest.mark.parametrize("era", ERAS)
def test_what_a_person_said_in_their_words_is_asked_about_too(desk: Desk, era: str) -> None:
    desk.remember(era, does("cancel"), "Owns a kite")
    result = desk.call(era, says("reject"), utterance="Remember that I like rye bread.")
    assert result.structured_content["outcome"] == "denied", result
    assert "rye bread" in desk.asked[-1].message and len(desk.asked) == 2
    waits = [one.suggestion.text for one in desk.app.gate.queue.listed()]
    assert waits == ["Owns a kite"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "reply",
    [
        says("accept"),
        says("wait"),
        says("nonsense"),
        lambda params: ElicitResult(action="accept", content={}),
        does("accept"),
        does("cancel"),
    ],
)
def test_what_is_no_clear_no_leaves_it_waiting_and_a_yes_counts_for_nothing(
    desk: Desk, era: str, reply: Replies
) -> None:
    result = desk.remember(era, reply, "Likes tea")
    assert result.structured_content["outcome"] == "suggested"
    assert desk.app.gate.queue.waiting() == 1 and "tea" not in desk.brain.read_text("utf-8")
    desk.remember(era, reply, "Likes tea")
    assert len(desk.asked) <= 2, "each is asked about once by one server"


@pytest.mark.parametrize("language", ["pl", "ru"])
def test_the_person_is_asked_in_the_agents_language(desk: Desk, language: str) -> None:
    desk.file.parent.joinpath("agents/main/identity.md").write_text(
        f"---\nautonomy: 1\nlanguage: {language}\n---\n", "utf-8"
    )
    desk.remember("auto", does("cancel"), "Likes tea")
    words = {"pl": ("main chce zapamiętać", "Niech czeka"), "ru": ("main хочет запомнить", "Пусть")}
    (asked,) = desk.asked
    assert words[language][0] in asked.message
    assert words[language][1] in str(asked.requested_schema)


def test_a_client_that_fails_to_ask_leaves_it_waiting(desk: Desk) -> None:
    broken: Replies = lambda params: ErrorData(code=-32603, message="no window")  # noqa: E731
    result = desk.remember("legacy", broken, "Likes tea")
    assert result.structured_content["outcome"] == "suggested"
    assert desk.app.gate.queue.waiting() == 1


@pytest.mark.parametrize("era", ERAS)
def test_a_client_without_a_dialog_is_not_asked(desk: Desk, era: str) -> None:
    result = desk.remember(era, None, "Likes tea")
    assert result.structured_content["outcome"] == "suggested" and not desk.asked


@pytest.mark.parametrize("desk", ["off"], indirect=True)
@pytest.mark.parametrize("era", ERAS)
def test_it_can_be_switched_off(desk: Desk, era: str) -> None:
    desk.remember(era, says("reject"), "Likes tea")
    assert not desk.asked and desk.app.gate.queue.waiting() == 1


@pytest.mark.parametrize("desk", ["accept"], indirect=True)
@pytest.mark.parametrize("era", ERAS)
def test_where_the_person_configured_it_the_dialog_may_accept(desk: Desk, era: str) -> None:
    result = desk.remember(era, says("accept"), "Likes tea")
    assert result.structured_content["outcome"] == "written"
    assert "Likes tea" in desk.brain.read_text("utf-8") and desk.app.gate.queue.waiting() == 0
    assert desk.asked[0].requested_schema["properties"]["answer"]["default"] == "wait"
    desk.remember(era, says("wait"), "Likes rum")
    assert desk.app.gate.queue.waiting() == 1


@pytest.mark.parametrize("desk", ["accept"], indirect=True)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "arguments",
    [
        {"op": "remember", "text": "Has diabetes"},
        {"op": "replace", "old": "Is called Anna", "text": "Earns a salary of 9000"},
        {"op": "forget", "text": "Prefers short answers"},
        {"op": "remember", "text": "Plays the lute", "agent": "dexter"},
    ],
    ids=["sensitive", "sensitive correction", "forgetting", "another agent"],
)
def test_it_never_accepts_what_only_the_note_or_the_command_line_may(
    desk: Desk, era: str, arguments: dict[str, str]
) -> None:
    path = desk.brain.parents[2] / "dexter/identity.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("---\nautonomy: 2\n---\n", "utf-8")
    before = desk.brain.read_text("utf-8")
    result = desk.call(era, says("accept"), **arguments)
    assert result.structured_content["outcome"] == "suggested", result
    (asked,) = desk.asked
    assert asked.requested_schema["properties"]["answer"]["enum"] == ["wait", "reject"]
    assert desk.brain.read_text("utf-8") == before and desk.app.gate.queue.waiting() == 1
    assert not (path.parent / "memory/brain.md").exists()


@pytest.mark.parametrize("desk", ["accept"], indirect=True)
@pytest.mark.parametrize("era", ERAS)
def test_a_yes_to_words_that_were_changed_meanwhile_writes_nothing(desk: Desk, era: str) -> None:
    def edits(params: ElicitRequestParams) -> ElicitResult:
        text = desk.file.read_text("utf-8")
        desk.file.write_text(text.replace("Likes tea", "Likes tea and 3 dogs"), "utf-8")
        return ElicitResult(action="accept", content={"answer": "accept"})

    result = desk.remember(era, edits, "Likes tea")
    assert result.structured_content["outcome"] == "suggested"
    assert "tea" not in desk.brain.read_text("utf-8") and desk.app.gate.queue.waiting() == 1


def test_nobody_answers_in_time_and_it_waits(desk: Desk) -> None:
    async def never(context: Any, params: ElicitRequestParams) -> ElicitResult:
        await anyio.sleep_forever()
        raise AssertionError

    async def session() -> Any:
        server = mcp.build_server(desk.app, lambda context: MAIN, Dialogs(0.2))
        async with Client(server, mode="legacy", elicitation_callback=never) as client:
            arguments = {"op": "remember", "text": "Likes tea"}
            return await client.call_tool("memory_update", arguments)

    result = asyncio.run(session())
    assert result.structured_content["outcome"] == "suggested"
    assert desk.app.gate.queue.waiting() == 1


@pytest.mark.parametrize(("era", "outcome"), [("auto", "denied"), ("legacy", "suggested")])
def test_over_http_the_newer_era_can_ask_and_the_older_leaves_it_waiting(
    desk: Desk, era: str, outcome: str
) -> None:
    async def no(context: Any, params: ElicitRequestParams) -> ElicitResult:
        return ElicitResult(action="decline")

    async def session(port: int) -> Any:
        token = token_of(desk.app.config.state_dir, "main")
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=20) as http:
            transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
            async with Client(transport, mode=era, elicitation_callback=no) as client:
                arguments = {"op": "remember", "text": "Likes tea"}
                return await client.call_tool("memory_update", arguments)

    with served(desk.app) as port:
        result = asyncio.run(session(port))
    assert result.structured_content["outcome"] == outcome


def test_a_reply_that_belongs_to_no_question_or_to_anothers_does_nothing(desk: Desk) -> None:
    dialogs = Dialogs()
    question: Any = object()
    answer: Any = object()
    token = dialogs.hold(MAIN, question, answer)
    assert dialogs.resume(MAIN, "") is None and dialogs.resume(MAIN, "guessed") is None
    assert dialogs.resume(replace(MAIN, agent="jaskier"), token) is None
    token = dialogs.hold(MAIN, question, answer)
    assert dialogs.resume(MAIN, token) == (question, answer)
    assert dialogs.resume(MAIN, token) is None, "once"


def test_only_a_question_that_offered_a_yes_can_be_answered_with_it() -> None:
    question = Question.__new__(Question)
    object.__setattr__(question, "may_accept", False)
    assert chosen(question, Reply("accept", {"answer": "accept"})) == "wait"
    object.__setattr__(question, "may_accept", True)
    assert chosen(question, Reply("accept", {"answer": "accept"})) == "accept"
