"""HTTP on loopback: /v1/<operation>, /v1/metrics and /mcp; off unless asked for."""

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
from starlette.types import ASGIApp

from vaultmind import __version__
from vaultmind.errors import BadArgument, NotFound
from vaultmind.serve import op
from vaultmind.serve.call import Call, problem, readable, whole_json
from vaultmind.serve.guard import CALLER, Guard, token_of
from vaultmind.serve.lines import THREADS, run_in_thread
from vaultmind.serve.mcp import over_http

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.types import Caller

LOOPBACK = "127.0.0.1"
GRACE_SECONDS = 2
"""How long requests under way may take once the server is told to stop."""
METRICS = "/v1/metrics"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PLANNING = (
    *("plan_context_p50_ms", "plan_context_p95_ms", "context_tokens_median"),
    *("rerank_invocation_rate", "fallback_rate_ml_unavailable"),
)
"""Of the last thousand plans since the start; without any, of those of the last 30 days."""
EPISODES = (
    *("first_pass_success_rate", "affinity_hit_rate", "causal_trace_completeness"),
    *("hit_share", "saved_share"),
)
"""Of episodes of the last 30 days."""


def http_app(app: App) -> ASGIApp:
    """Return the guarded ASGI application; its lifespan must be run."""
    mcp = over_http(app)
    limiter = anyio.CapacityLimiter(THREADS)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with mcp.session_manager.run():
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
            return JSONResponse(op.run_operation(app, call, name, told, "http"))

        return work

    def measured(call: Call, args: object) -> Response:
        return Response(exposition(app, call.caller), media_type=CONTENT_TYPE)

    routes = [route(METRICS, "metrics", measured, "GET")]
    for one in op.of("http"):
        needs = any(default is ... for _, default in one.parameters.values())
        ways = ["POST"] if one.writes or needs else ["POST", "GET"]
        for path, more in {one.name: {}, **one.also}.items():
            routes.append(route(f"/v1/{path}", one.name, operate(one.name, more), *ways))
    routes.append(Route("/mcp", endpoint=mcp))
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
    hint = f"There are /v1/NAME, for each operation, {METRICS} and /mcp."
    failed = NotFound(f"No route {request.method} {request.url.path[:80]}.", hint=hint)
    status = getattr(error, "status_code", failed.status)
    return JSONResponse({"error": problem(failed, "http")}, status_code=status)


# --- what Prometheus reads ------------------------------------------------------------------


def exposition(app: App, caller: Caller) -> str:
    """Return every metric that a caller may see, in Prometheus' text format.

    Episodes are those of agents that the caller may read. One of which there is nothing to tell
    yet is left out; what ends in `_total` only grows, from the daemon's start.
    """
    kept, now = app.gain(app.index.outlet.readable_agents(caller)), app.planner.figures
    found: dict[str, float | None] = {_name("info", version=__version__): 1}
    found["plans_total"] = now.plans
    found |= {name: getattr(now if now.plans else kept, name) for name in PLANNING}
    found |= {name: getattr(kept, name) for name in EPISODES}
    for outcome, number in (*kept.outcomes.items(), ("running", kept.running)):
        found[_name("episodes", outcome=outcome)] = number
    for (operation, outcome), done in app.operated.counts().items():
        labels = {"operation": operation, "outcome": outcome}
        found[_name("operations_total", **labels)] = done.times
        found[_name("operation_seconds_total", **labels)] = done.seconds
    for source in app.sources.states():
        if source.index:
            for name in ("files", "chunks", "vectors"):
                found[_name(f"index_{name}", source=source.name)] = getattr(source.index, name)
            found[_name("index_ready", source=source.name)] = source.index.phase == "ready"
    lines = (f"vaultmind_{name} {float(one)}\n" for name, one in found.items() if one is not None)
    return "".join(sorted(lines))  # the samples of one metric stand together


def _name(name: str, **labels: str) -> str:
    """Return a metric's name with its labels, quoted as the format wants it."""
    each = (f"{label}={json.dumps(one, ensure_ascii=False)}" for label, one in labels.items())
    return f"{name}{{{','.join(each)}}}"
