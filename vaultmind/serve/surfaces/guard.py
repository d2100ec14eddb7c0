"""What stands before every HTTP route: Host, Origin, bearer token, size of the body."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vaultmind.errors import ConfigError
from vaultmind.serve.calls.halves import whole_json
from vaultmind.types import Caller
from vaultmind.vault.session_meta import PIPE

CALLER = "vaultmind.caller"
"""Where a request's scope holds who calls."""
MAX_BODY_BYTES = 1_000_000
SESSION_HEADER = "mcp-session-id"
_LOOPBACK = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?", re.IGNORECASE)
_ORIGIN = re.compile(r"https?://(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?", re.IGNORECASE)


class Guard:
    """Lets a request through to `app` only with a loopback Host and Origin, and a known token.

    `agent_of` names whose token it is. The body is read before the app sees the request.
    """

    def __init__(self, app: ASGIApp, agent_of: Callable[[str], str]) -> None:
        self.app = app
        self.agent_of = agent_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or refuse it in words."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = Headers(scope=scope)
        refusal = _refusal(headers)
        if refusal is None:
            refusal = self._admit(scope, headers)
        if refusal is not None:
            await refuse(send, *refusal)
            return
        body = await _read_body(receive)
        if body is None:
            await refuse(send, 413, "TooLarge", f"The body has more than {MAX_BODY_BYTES} bytes.")
            return
        await self.app(scope, _replay(whole_json(body), receive), send)

    def _admit(self, scope: Scope, headers: Headers) -> tuple[int, str, str] | None:
        """Put the caller into the scope, or return why not."""
        kind, _, token = headers.get("authorization", "").partition(" ")
        try:
            agent = self.agent_of(token.strip()) if kind.lower() == "bearer" and token else ""
        except (ConfigError, OSError) as error:
            return 503, type(error).__name__, str(error)
        if not agent:
            return 401, "Unauthorized", "A known bearer token is needed; see http-tokens.json."
        scope[CALLER] = Caller("agent", agent, "http", conversation=_conversation(headers))
        return None


async def refuse(send: Send, status: int, kind: str, message: str) -> None:
    """Answer with an error as JSON."""
    body = json.dumps({"error": {"type": kind, "message": message, "hint": ""}}).encode()
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    if status == 401:  # noqa: PLR2004
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _conversation(headers: Headers) -> str:
    """Return the conversation that a client tells apart by its MCP session, if it names one.

    By a digest: who knows a session's id may be taken for its client.
    """
    session = headers.get(SESSION_HEADER, "").strip()
    digest = hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()
    return f"{PIPE}{digest[:16]}" if session else ""


def _refusal(headers: Headers) -> tuple[int, str, str] | None:
    hosts, origins = headers.getlist("host"), headers.getlist("origin")
    if len(hosts) != 1 or not _LOOPBACK.fullmatch(hosts[0]):
        return 421, "BadHost", "Only requests to this machine's loopback name are answered."
    if any(not _ORIGIN.fullmatch(origin) for origin in origins):
        return 403, "BadOrigin", "Requests from web pages of other hosts are refused."
    if headers.getlist("sec-fetch-site") not in ([], ["same-origin"], ["none"]):
        return 403, "BadOrigin", "Requests from web pages of other hosts are refused."
    length = headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit():
        return 400, "BadLength", "Content-Length is no number."
    if int(length) > MAX_BODY_BYTES:
        return 413, "TooLarge", f"The body has more than {MAX_BODY_BYTES} bytes."
    return None


async def _read_body(receive: Receive) -> bytes | None:
    """Return the whole body; None once it is over the limit."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return bytes(body)
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    left: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return left.pop() if left else await receive()

    return again
