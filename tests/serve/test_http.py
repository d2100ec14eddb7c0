"""HTTP on loopback over a real socket: the table's routes, and MCP, behind one guard."""

from __future__ import annotations

import asyncio
import http.client
import json
import stat
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.serve.vaults import open_vault
from vaultmind.app import App
from vaultmind.errors import ConfigError
from vaultmind.serve import guard
from vaultmind.serve.http import serve_http
from vaultmind.serve.operations import of


@contextmanager
def served(app: App) -> Iterator[int]:
    """Serve HTTP in a thread of its own and yield the port."""
    port: Future[int] = Future()
    loop = asyncio.new_event_loop()
    task: asyncio.Task[None] = loop.create_task(serve_http(app, port.set_result))

    def run() -> None:
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield port.result(10)
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(10)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with open_vault(tmp_path_factory.mktemp("http"), http_port=0) as opened:
        yield opened


@pytest.fixture(scope="module")
def port(app: App) -> Iterator[int]:
    with served(app) as number:
        yield number


def headers_of(app: App, agent: str = "main") -> dict[str, str]:
    token = guard.token_of(app.config.state_dir, agent)
    return {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}


def ask(
    port: int,
    path: str,
    body: Any = None,
    headers: dict[str, str] | None = None,
    method: str = "POST",
) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        sent = body if body is None or isinstance(body, tuple) else json.dumps(body).encode()
        connection.request(method, path, sent, headers or {})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def test_the_token_says_whose_memory_it_is(app: App, port: int) -> None:
    status, body = ask(port, "/v1/memory_show", {}, headers_of(app, "jaskier"))
    assert status == 200
    assert body["agent"] == "jaskier"
    assert "ballady" in body["facts"]


REFUSED: tuple[tuple[dict[str, str], int], ...] = (
    ({"Host": "evil.example"}, 421),
    ({"Host": "127.0.0.1.evil.example"}, 421),
    ({"Host": "localhost@evil.example"}, 421),
    ({"Host": ""}, 421),
    ({"Origin": "https://evil.example"}, 403),
    ({"Origin": "http://localhost.evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Sec-Fetch-Site": "cross-site"}, 403),
    ({"Authorization": "Bearer wrong"}, 401),
    ({"Authorization": "Bearer "}, 401),
    ({"Authorization": "Basic TOKEN"}, 401),
    ({"Authorization": ""}, 401),
    ({"Content-Length": str(guard.MAX_BODY_BYTES + 1)}, 413),
)


@pytest.mark.parametrize(("changed", "status"), REFUSED)
def test_the_guard_lets_nothing_else_through_in_words(
    app: App, port: int, changed: dict[str, str], status: int
) -> None:
    for path in ("/v1/memory_status", "/mcp", "/v1/nothing"):
        got, body = ask(port, path, None, headers_of(app) | changed)
        assert got == status and body["error"]["message"]


def test_a_body_over_the_limit_is_refused_though_its_length_was_not_told(
    app: App, port: int
) -> None:
    half = b"x" * (guard.MAX_BODY_BYTES // 2 + 1)
    assert ask(port, "/v1/memory_search", (half, half), headers_of(app))[0] == 413


@pytest.mark.parametrize("text", ["", "[]", '{"main": 5}', '{"../x": "y"}', '{"person": "t"}'])
def test_a_token_file_that_is_broken_or_open_to_others_lets_nobody_in(
    tmp_path: Path, text: str
) -> None:
    token, path = guard.token_of(tmp_path, "main"), tmp_path / guard.TOKENS
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert guard.agent_of(tmp_path, token) == "main" and not guard.agent_of(tmp_path, "x")
    path.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        guard.agent_of(tmp_path, token)
    path.chmod(0o600)
    path.write_text('{"main": ""}')
    assert not guard.agent_of(tmp_path, ""), "no token is nobody's"
    path.write_text(text)
    with pytest.raises(ConfigError):
        guard.agent_of(tmp_path, "")


def test_what_reads_other_files_is_no_route(app: App, port: int) -> None:
    assert "import_file" not in {one.name for one in of("http")}
    assert ask(port, "/v1/import_file", {"path": "/etc/passwd"}, headers_of(app))[0] == 404
    assert ask(port, "/v1/init", {}, headers_of(app))[0] == 404


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_mcp_is_served_in_both_eras_as_the_tokens_agent(app: App, port: int, era: str) -> None:
    async def session() -> Any:
        headers = {"Authorization": headers_of(app, "jaskier")["Authorization"]}
        async with httpx2.AsyncClient(headers=headers) as web:
            transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=web)
            async with Client(transport, mode=era) as client:
                return await client.call_tool("memory_show", {})

    result = asyncio.run(session())
    assert not result.is_error
    assert "What jaskier knows" in result.content[0].text


def test_a_clients_own_session_tells_its_conversations_apart(app: App, port: int) -> None:
    def log(**more: str) -> str:
        said = {"messages": [{"text": "hello"}]}
        return str(ask(port, "/v1/session_log", said, headers_of(app) | more)[1]["session"])

    names = {"a": "secret-a", "b": "secret-b"}
    first = {name: log(**{"Mcp-Session-Id": header}) for name, header in names.items()}
    assert len({*first.values(), log()}) == 3
    assert log(**{"Mcp-Session-Id": "secret-a"}) == first["a"]
    path = app.paths.root / app.paths.session(app.config.agent, first["a"])
    assert "secret-a" not in path.read_text("utf-8")
