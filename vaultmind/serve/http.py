"""HTTP on loopback: /v1/<operation>, and /mcp; off unless asked for."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from vaultmind import errors
from vaultmind.errors import BadArgument, NotFound
from vaultmind.serve import metrics, operations
from vaultmind.serve.call import Call, problem
from vaultmind.serve.guard import CALLER, Guard, token_of
from vaultmind.serve.lines import THREADS, run_in_thread
from vaultmind.serve.mcp import http_manager
from vaultmind.serve.op import Operation

if TYPE_CHECKING:
    from vaultmind.app import App

LOOPBACK = "127.0.0.1"
GRACE_SECONDS = 2
"""How long requests under way may take once the server is told to stop."""
STATUS = {
    "BadArgument": 400,
    "PathRefused": 403,
    "NotFound": 404,
    "WriteConflict": 409,
    "IndexUnavailable": 503,
    "VaultLocked": 503,
    "DaemonUnavailable": 503,
}
"""Of our errors; of any other of ours it is 422."""


def http_app(app: App) -> ASGIApp:
    """Return the guarded ASGI application; its lifespan must be run."""
    manager = http_manager(app)
    limiter = anyio.CapacityLimiter(THREADS)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    routes = [
        _route(app, one, name, limiter)
        for one in operations.of("http")
        for name in filter(None, (one.name, one.also))
    ]

    def measured(request: Request, args: object) -> Response:
        text = metrics.exposition(app, request.scope[CALLER])
        return Response(text, headers={"content-type": metrics.CONTENT_TYPE})

    routes.append(Route(metrics.ROUTE, _endpoint(measured, "metrics", limiter), methods=["GET"]))
    routes.append(Route("/mcp", endpoint=_Mcp(manager.handle_request)))
    refusals = {404: _no_route, 405: _no_method}
    site = Starlette(routes=routes, lifespan=lifespan, exception_handlers=refusals)
    token_of(app.config.state_dir, app.config.agent)
    return Guard(site, app.config.state_dir)


async def serve_http(app: App, started: Callable[[int], None]) -> None:
    """Serve HTTP on loopback until cancelled; calls `started` with the port once it answers.

    Raises OSError when the port is taken.
    """
    listener = socket.create_server((LOOPBACK, app.config.daemon.http_port), backlog=64)
    config = uvicorn.Config(
        http_app(app),
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    server = uvicorn.Server(config)
    server.capture_signals = contextlib.nullcontext  # type: ignore[assignment, method-assign]
    with listener:
        started(listener.getsockname()[1])  # who connects already waits in its queue
        serving = asyncio.create_task(server.serve([listener]))
        try:
            await asyncio.shield(serving)
        except asyncio.CancelledError:
            server.should_exit = True
            with anyio.CancelScope(shield=True):
                await serving
            raise


class _Mcp:
    """MCP as an ASGI application of its own; a plain function would be taken for a handler."""

    def __init__(self, handle: ASGIApp) -> None:
        self.handle = handle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.handle(scope, receive, send)


def _route(app: App, operation: Operation, name: str, limiter: anyio.CapacityLimiter) -> Route:
    def work(request: Request, args: object) -> Response:
        call = Call(request.scope[CALLER])
        return JSONResponse(operations.run_operation(app, call, operation.name, args, "http"))

    needs = any(default is ... for _, default in operation.parameters.values())
    methods = ["POST"] if operation.writes or needs else ["POST", "GET"]
    return Route(f"/v1/{name}", _endpoint(work, operation.name, limiter), methods=methods)


def _endpoint(
    work: Callable[[Request, object], Response], name: str, limiter: anyio.CapacityLimiter
) -> Callable[[Request], Awaitable[Response]]:
    """Return what runs work in a thread; every failure is said in words."""

    async def endpoint(request: Request) -> Response:
        try:
            args = await _arguments(request)
            return await run_in_thread(lambda report: work(request, args), limiter)
        except Exception as error:  # a surface: every failure is said in words
            return _failure(error, name)

    return endpoint


async def _arguments(request: Request) -> object:
    if request.method != "POST":
        return {}
    body = await request.body()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and kind != "application/json":
        raise BadArgument("Content-Type", kind, "application/json")
    try:
        return json.loads(body) if body else {}
    except (ValueError, RecursionError) as error:
        raise BadArgument("body", body[:80], f"JSON ({error})") from error


def _failure(error: Exception, name: str) -> JSONResponse:
    usual = 422 if isinstance(error, errors.VaultMindError) else 500
    status = STATUS.get(type(error).__name__, usual)
    return JSONResponse({"error": problem(error, name)}, status_code=status)


async def _no_route(request: Request, error: Exception) -> JSONResponse:
    known = ", ".join(f"/v1/{one.also or one.name}" for one in operations.of("http"))
    return _failure(
        NotFound(f"No route {request.url.path[:80]}.", hint=f"{known}, {metrics.ROUTE}, /mcp."),
        "http",
    )


async def _no_method(request: Request, error: Exception) -> JSONResponse:
    body = {"type": "BadMethod", "message": f"{request.method} is not answered here.", "hint": ""}
    return JSONResponse({"error": body}, status_code=405)
