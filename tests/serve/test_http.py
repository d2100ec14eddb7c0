"""HTTP on loopback over a real socket: the table's routes, and MCP, behind one guard."""

from __future__ import annotations

import asyncio
import http.client
import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.machine import TWO_NOTES, Machine
from tests.waiting import until
from vaultmind.client import launch
from vaultmind.errors import ConfigError
from vaultmind.serve import guard


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    folder = tmp_path_factory.mktemp("http")
    http = {"VAULTMIND_DAEMON_HTTP": "true", "VAULTMIND_DAEMON_HTTP_PORT": "0"}
    made = Machine(folder / "vault", folder / "state", **http)
    made.furnish(TWO_NOTES)
    made.begin()
    yield made
    made.close()


@pytest.fixture(scope="module")
def port(machine: Machine) -> int:
    until(lambda: launch.status(machine.config)["http_port"])
    return int(launch.status(machine.config)["http_port"])


def headers_of(machine: Machine, agent: str = "main") -> dict[str, str]:
    token = guard.token_of(machine.config.state_dir, agent)
    return {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}


def ask(
    port: int,
    path: str,
    body: Any = None,
    headers: dict[str, str] | None = None,
    method: str = "POST",
) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        sent = body if body is None else json.dumps(body).encode()
        connection.request(method, path, sent, headers or {})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


REFUSED: tuple[tuple[dict[str, str], int], ...] = (
    ({"Host": "evil.example"}, 421),
    ({"Host": "127.0.0.1.evil.example"}, 421),
    ({"Host": "localhost@evil.example"}, 421),
    ({"Host": ""}, 421),
    ({"Origin": "https://evil.example"}, 403),
    ({"Origin": "http://localhost.evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Authorization": "Bearer wrong"}, 401),
    ({"Authorization": "Bearer "}, 401),
    ({"Authorization": "Basic TOKEN"}, 401),
    ({"Authorization": ""}, 401),
    ({"Content-Length": str(guard.MAX_BODY_BYTES + 1)}, 413),
)


@pytest.mark.parametrize(("changed", "status"), REFUSED)
def test_the_guard_lets_nothing_else_through_in_words(
    machine: Machine, port: int, changed: dict[str, str], status: int
) -> None:
    for path in ("/v1/memory_status", "/mcp", "/v1/nothing"):
        got, body = ask(port, path, None, headers_of(machine) | changed)
        assert got == status and body["error"]["message"]


def test_a_body_that_does_not_say_how_long_it_is_is_refused(machine: Machine, port: int) -> None:
    chunked = headers_of(machine) | {"Transfer-Encoding": "chunked"}
    # The head alone: the answer comes before the body, and who still sends gets a broken pipe.
    assert ask(port, "/v1/memory_search", None, chunked)[0] == 411


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


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_mcp_is_served_in_both_eras_as_the_tokens_agent(
    machine: Machine, port: int, era: str
) -> None:
    async def session() -> Any:
        headers = {"Authorization": headers_of(machine, "jaskier")["Authorization"]}
        async with httpx2.AsyncClient(headers=headers) as web:
            transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=web)
            async with Client(transport, mode=era) as client:
                return await client.call_tool("memory_show", {})

    result = asyncio.run(session())
    assert not result.is_error
    assert "What jaskier knows" in result.content[0].text
