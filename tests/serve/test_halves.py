"""Half letters: a JavaScript client that cuts an emoji in two is answered like any other."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.serve.vaults import open_vault
from vaultmind.serve import mcp
from vaultmind.serve.call import whole_json
from vaultmind.serve.lines import Lines
from vaultmind.types import Caller

HALF = "\ud83d"
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_search", {"query": f"sourdough {HALF} bread"}),
    ("context_build", {"messages": [f"sourdough {HALF} bread"], "budget": 500}),
    ("session_log", {"messages": [{"role": "user", "text": f"half {HALF} an oven", "id": "h1"}]}),
)


@pytest.mark.parametrize(
    ("raw", "meant"),
    [
        (rb'"a \ud83d b"', "a \ufffd b"),
        (rb'"\uD83D\uDE00"', "\U0001f600"),
        (rb'"\ude00\ud83d"', "\ufffd\ufffd"),
        (rb'"\ud83d\ud83d\ude00"', "\ufffd\U0001f600"),
        (rb'"\\ud83d"', "\\ud83d"),
        (rb'"\\\ud83d"', "\\\ufffd"),
        (rb'"\u017c \n"', "\u017c \n"),
        (rb'"\ud83d', None),
    ],
)
def test_half_a_letter_becomes_one_that_can_be_kept(raw: bytes, meant: str | None) -> None:
    made = whole_json(raw)
    assert len(made) == len(raw)
    if meant is not None:
        assert json.loads(made) == meant


def test_a_call_with_half_a_letter_is_answered_over_mcp_and_so_is_the_next(tmp_path: Path) -> None:
    with open_vault(tmp_path) as app:
        answers = asyncio.run(_spoken(app, [*CALLS, ("memory_status", {})]))
        (session,) = app.config.vault.rglob("main/memory/sessions/*.md")
    assert [one["result"]["isError"] for one in answers] == [False] * 4
    assert "half � an oven" in session.read_text("utf-8")


async def _spoken(app: Any, calls: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Call tools over one raw connection, as a client writes them; return the answers."""
    found: list[dict[str, Any]] = []
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        caller = Caller("agent", "main", "test")
        lines = Lines(reader, writer)
        await mcp.serve_connection(app, lambda name: caller, lines)
        await lines.close()
        ended.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
        hello["clientInfo"] = {"name": "t", "version": "1"}
        _write(writer, {"id": 0, "method": "initialize", "params": hello})
        await asyncio.wait_for(reader.readline(), 10)
        _write(writer, {"method": "notifications/initialized"})
        for number, (name, arguments) in enumerate(calls, 1):
            params = {"name": name, "arguments": arguments}
            _write(writer, {"id": number, "method": "tools/call", "params": params})
            found.append(json.loads(await asyncio.wait_for(reader.readline(), 10)))
        writer.close()
        await writer.wait_closed()
        await asyncio.wait_for(ended.wait(), 10)
    return found


def _write(writer: asyncio.StreamWriter, message: dict[str, Any]) -> None:
    writer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
