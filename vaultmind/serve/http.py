"""HTTP on loopback: /v1/<operation>, and /mcp; off unless asked for."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from vaultmind.errors import BadArgument, NotFound
from vaultmind.serve import metrics, operations
from vaultmind.serve.call import Call, problem, readable, whole_json
from vaultmind.serve.guard import CALLER, Guard, token_of
from vaultmind.serve.lines import THREADS, run_in_thread
from vaultmind.serve.mcp import http_manager

if TYPE_CHECKING:
    from vaultmind.app import App

LOOPBACK = "127.0.0.1"
GRACE_SECONDS = 2
"""How long requests under way may take once the server is told to stop."""


class _Mcp:
    """MCP as an ASGI application of its own; a plain function would be taken for a handler."""

    def __init__(self, handle: ASGIApp) -> None:
        self.handle = handle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.handle(scope, receive, send)


def http_app(app: App) -> ASGIApp:
    """Return the guarded ASGI application; its lifespan must be run."""
    manager = http_manager(app)
    limiter = anyio.CapacityLimiter(THREADS)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    def route(path: str, name: str, work: Callable[[Call, object], Response], *ways: str) -> Route:
        """Return a route whose work runs in a thread; every failure is said in words."""

        async def endpoint(request: Request) -> Response:
            try:
                args, call = await _arguments(request), Call(request.scope[CALLER])
                return await run_in_thread(lambda report: work(call, args), limiter)
            except Exception as error:  # a surface: every failure is said in words
                failed = readable(error, name)
                return JSONResponse({"error": problem(failed, name)}, status_code=failed.status)

        return Route(path, endpoint, methods=list(ways))

    def operate(name: str, more: Mapping[str, Any]) -> Callable[[Call, object], Response]:
        def work(call: Call, args: object) -> Response:
            told = {**args, **more} if isinstance(args, dict) else args
            return JSONResponse(operations.run_operation(app, call, name, told, "http"))

        return work

    def measured(call: Call, args: object) -> Response:
        return Response(metrics.exposition(app, call.caller), media_type=metrics.CONTENT_TYPE)

    routes = [route(metrics.ROUTE, "metrics", measured, "GET")]
    for one in operations.of("http"):
        needs = any(default is ... for _, default in one.parameters.values())
        ways = ["POST"] if one.writes or needs else ["POST", "GET"]
        for path, more in {one.name: {}, **one.also}.items():
            routes.append(route(f"/v1/{path}", one.name, operate(one.name, more), *ways))
    routes.append(Route("/mcp", endpoint=_Mcp(manager.handle_request)))
    refusals: dict[Any, Any] = {HTTPException: _no_route}
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


async def _arguments(request: Request) -> object:
    if request.method != "POST":
        return {}
    body = await request.body()
    try:
        return json.loads(whole_json(body)) if body else {}
    except (ValueError, RecursionError) as error:
        raise BadArgument("body", body[:80], f"JSON ({error})") from error


async def _no_route(request: Request, error: Exception) -> Response:
    """Answer a request for which there is no route: another path, or another method."""
    hint = f"There are /v1/NAME, for each operation, {metrics.ROUTE} and /mcp."
    failed = NotFound(f"No route {request.method} {request.url.path[:80]}.", hint=hint)
    status = getattr(error, "status_code", failed.status)
    return JSONResponse({"error": problem(failed, "http")}, status_code=status)
