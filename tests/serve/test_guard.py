"""What HTTP lets through: loopback, a known token, a body of bearable size."""

from __future__ import annotations

import asyncio
import json
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from vaultmind.errors import ConfigError
from vaultmind.serve import guard
from vaultmind.serve.guard import CALLER, MAX_BODY_BYTES, Guard

TOKEN = "a-token-that-is-long-enough"
GOOD = {"host": "127.0.0.1:8765", "authorization": f"Bearer {TOKEN}"}


async def _echo(scope: Any, receive: Any, send: Any) -> None:
    body = (await receive())["body"]
    reply = {"agent": scope[CALLER].agent, "length": len(body)}
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": json.dumps(reply).encode()})


def ask(headers: Iterable[tuple[str, str]], body: Iterable[bytes] = (b"",)) -> tuple[int, Any]:
    sent: list[Any] = []
    chunks = list(body)

    async def receive() -> Any:
        chunk = chunks.pop(0)
        return {"type": "http.request", "body": chunk, "more_body": bool(chunks)}

    async def send(message: Any) -> None:
        sent.append(message)

    raw = [(name.encode(), value.encode()) for name, value in headers]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": raw}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, guard.TOKENS)
        path.touch(mode=0o600)
        path.write_text(json.dumps({"main": TOKEN}), "utf-8")
        asyncio.run(Guard(_echo, Path(folder))(scope, receive, send))
    return sent[0]["status"], json.loads(sent[1]["body"])


def test_a_known_token_names_the_agent() -> None:
    assert ask(GOOD.items(), (b"ab", b"c")) == (200, {"agent": "main", "length": 3})


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"host": "localhost@evil.example"}, 421),
        ({"host": ""}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "http://localhost.evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": "Bearer "}, 401),
        ({"authorization": f"Basic {TOKEN}"}, 401),
        ({"authorization": TOKEN}, 401),
        ({"content-length": str(MAX_BODY_BYTES + 1)}, 413),
        ({"content-length": "many"}, 400),
    ],
)
def test_everything_else_is_refused_in_words(changed: dict[str, str], status: int) -> None:
    got, body = ask((GOOD | changed).items())
    assert got == status
    assert body["error"]["message"]


def test_a_missing_or_doubled_host_is_refused() -> None:
    token = ("authorization", GOOD["authorization"])
    assert ask([token])[0] == 421
    assert ask([*GOOD.items(), ("host", "evil.example")])[0] == 421


def test_a_body_over_the_limit_is_refused_though_its_length_was_not_told() -> None:
    half = b"x" * (MAX_BODY_BYTES // 2 + 1)
    assert ask(GOOD.items(), (half, half))[0] == 413


def test_only_the_owner_can_read_the_tokens(tmp_path: Path) -> None:
    guard.token_of(tmp_path, "main")
    path = tmp_path / guard.TOKENS
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        guard.agent_of(tmp_path, "x")


@pytest.mark.parametrize("text", ["", "[]", '{"main": 5}', '{"main": "short"}', '{"../x": "y"}'])
def test_a_broken_token_file_lets_nobody_in(tmp_path: Path, text: str) -> None:
    path = tmp_path / guard.TOKENS
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(ConfigError):
        guard.agent_of(tmp_path, "")


def test_a_token_in_the_persons_name_is_nobodys(tmp_path: Path) -> None:
    token = "t" * 64
    path = tmp_path / guard.TOKENS
    path.write_text(json.dumps({"person": token, "main": "m" * 64}), "utf-8")
    path.chmod(0o600)
    assert guard.agent_of(tmp_path, token) == ""
    assert guard.agent_of(tmp_path, "m" * 64) == "main"
