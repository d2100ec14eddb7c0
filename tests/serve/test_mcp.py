"""MCP through the real client, in both protocol eras, over a real vault."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from mcp import Client

from tests.serve.vaults import ORDER, open_vault
from vaultmind import tokens
from vaultmind.app import App
from vaultmind.serve import mcp
from vaultmind.serve.op import Call, run_operation
from vaultmind.types import Caller

MAIN = Caller("agent", "main", "test")
MAX_SCHEMA_TOKENS = 2700  # of eleven tools, memory_settle among them


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with open_vault(tmp_path_factory.mktemp("mcp")) as opened:
        yield opened


def with_client(app: App, use: Callable[[Client], Awaitable[Any]], caller: Caller = MAIN) -> Any:
    async def session() -> Any:
        async with Client(mcp.build_server(lambda: app, lambda context: caller)) as client:
            return await use(client)

    return asyncio.run(session())


def call(app: App, tool: str, arguments: dict[str, Any], caller: Caller = MAIN) -> Any:
    return with_client(app, lambda client: client.call_tool(tool, arguments), caller)


def data(app: App, tool: str, arguments: dict[str, Any], caller: Caller = MAIN) -> Any:
    """Return what a program of an agent is answered: a model reads words alone of some tools."""
    return run_operation(app, Call(caller), tool, arguments, "http")


def text_of(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


def test_all_schemas_together_cost_less_than_2700_tokens() -> None:
    listed = [
        tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in mcp.tools()
    ]
    assert tokens.count(json.dumps(listed, ensure_ascii=False)) < MAX_SCHEMA_TOKENS


def test_orders_in_a_note_stay_inside_the_fence(app: App) -> None:
    result = call(app, "memory_search", {"query": "pancakes recipe"})
    body = data(app, "memory_search", {"query": "pancakes recipe"})
    for answer in (text_of(result), json.dumps(body)):
        outside = re.sub(r"<<recalled (\w{8}).*?<<end \1>>", "", answer, flags=re.DOTALL)
        assert ORDER in answer
        assert ORDER not in outside


def test_a_full_memory_still_begins_within_800_tokens_fences_included(app: App) -> None:
    facts = "".join(f"- Fact {n} about the garden, the boat and the tomatoes\n" for n in range(90))
    story = "We talked about the boat for a long while and agreed on nothing. " * 60
    for name, text in (("brain", f"## User\n\n{facts}"), ("active_context", story)):
        path = app.paths.root / f"VaultMind/agents/crowded/memory/{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    result = call(app, "context_start", {}, Caller("agent", "crowded", "test"))
    assert 600 < tokens.count(text_of(result)) <= 800
    assert "left out" in text_of(result).lower()
