"""What stands before every HTTP route: Host, Origin, bearer token, size of the body.

The tokens, one an agent, are in a file that only its owner can read.
"""

from __future__ import annotations

import hmac
import json
import os
import re
import secrets
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from vaultmind.errors import BadArgument, ConfigError
from vaultmind.tables import keep_private
from vaultmind.types import Caller
from vaultmind.vault.paths import agent_name

CALLER = "vaultmind.caller"
"""Where a request's scope holds who calls."""
MAX_BODY_BYTES = 1_000_000
TOKENS = "http-tokens.json"
TOKEN_BYTES = 32
_OTHERS = 0o077
_LOOPBACK = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?", re.IGNORECASE)
_ORIGIN = re.compile(rf"https?://{_LOOPBACK.pattern}", re.IGNORECASE)


class Refused(Exception):
    """A request that is not answered: status, type and message."""


CLOSE = {"connection": "close", "www-authenticate": "Bearer"}
"""Headers of a refusal."""


def token_of(state_dir: Path, agent: str) -> str:
    """Return an agent's token, made and stored at the first use."""
    agent, path = agent_name(agent), state_dir / TOKENS
    tokens = _tokens(path)
    if agent not in tokens:
        tokens[agent] = secrets.token_urlsafe(TOKEN_BYTES)
        keep_private(path, tokens)
    return tokens[agent]


def agent_of(state_dir: Path, token: str) -> str:
    """Return whose token this is, empty when nobody's; compared in constant time."""
    given, known = token.encode("utf-8", "replace"), _tokens(state_dir / TOKENS)
    found = [name for name, own in known.items() if hmac.compare_digest(own.encode(), given)]
    return found[-1] if found and given else ""


def _tokens(path: Path) -> dict[str, str]:
    """Return the tokens by agent. Raises ConfigError for a file that others may read."""
    try:
        with path.open(encoding="utf-8") as file:
            if os.fstat(file.fileno()).st_mode & _OTHERS:
                raise ConfigError(f"{path} can be read by others.", hint=f"Run: chmod 600 {path}")
            return {agent_name(agent): token.strip() for agent, token in json.load(file).items()}
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError, BadArgument) as error:
        raise ConfigError(f"{path} cannot be used: {error}", hint="Remove it.") from error


class Guard:
    """Lets a request through to `app` only with a loopback Host and Origin, and a known token.

    A body says how long it is, so that none is read that is too large.
    """

    def __init__(self, app: ASGIApp, state_dir: Path) -> None:
        self.app = app
        self.state_dir = state_dir

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or refuse it in words."""
        try:
            if scope["type"] != "lifespan":
                headers = Headers(scope=scope)
                _check(headers)
                scope[CALLER] = self._caller(headers)
        except Refused as refusal:
            status, kind, message = refusal.args
            told = {"error": {"type": kind, "message": message, "hint": ""}}
            await JSONResponse(told, status, CLOSE)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _caller(self, headers: Headers) -> Caller:
        """Return who calls, by the bearer token."""
        kind, _, token = headers.get("authorization", "").strip().partition(" ")
        try:
            agent = agent_of(self.state_dir, token.strip()) if kind.lower() == "bearer" else ""
        except (ConfigError, OSError) as error:
            raise Refused(503, type(error).__name__, str(error)) from error
        if not agent:
            said = "A known bearer token is needed; see http-tokens.json."
            raise Refused(401, "Unauthorized", said)
        return Caller("agent", agent, "http")


def _check(headers: Headers) -> None:
    """Raise Refused for a request that comes from elsewhere, or for a body that is too large."""
    hosts, origins = headers.getlist("host"), headers.getlist("origin")
    if len(hosts) != 1 or not _LOOPBACK.fullmatch(hosts[0]):
        raise Refused(421, "BadHost", "Only requests to this machine's loopback name are answered.")
    if any(not _ORIGIN.fullmatch(origin) for origin in origins):
        raise Refused(403, "BadOrigin", "Requests from web pages of other hosts are refused.")
    if "transfer-encoding" in headers:
        raise Refused(411, "LengthRequired", "The body's Content-Length is needed.")
    if int(headers.get("content-length", "0")) > MAX_BODY_BYTES:
        raise Refused(413, "TooLarge", f"The body has more than {MAX_BODY_BYTES} bytes.")
