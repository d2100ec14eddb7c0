"""What the daemon does with one connection: greet it, then an MCP session or operations."""

from __future__ import annotations

import asyncio
import os
import re
import socket
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from vaultmind import __version__
from vaultmind.client import wire
from vaultmind.errors import BadArgument, VaultMindError
from vaultmind.ports import Report
from vaultmind.serve.calls.lines import Lines, LineTooLong
from vaultmind.serve.calls.problems import problem
from vaultmind.serve.calls.workers import Tell, run_in_thread
from vaultmind.types import Caller, Progress
from vaultmind.vault.paths import agent_name, named_like

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.session.lifecycle.windows import Pipe

HELLO_SECONDS = 10.0
"""A peer that says nothing for this long is no client."""
CLIENT_NAME_LENGTH = 60
_PIPE_NAME = re.compile(r"[A-Za-z0-9-]{1,64}")


class Host(Protocol):
    """What a connection needs of the daemon it came to."""

    late_app: App
    """The app for use in worker threads: each use waits until it is open."""

    async def app(self) -> App:
        """Return the open app; raises VaultMindError when it could not be opened."""
        ...

    async def imported(self) -> None:
        """Return once the MCP library is loaded."""
        ...

    def agents(self) -> tuple[str, ...]:
        """Return the agents there are."""
        ...

    def status(self) -> dict[str, Any]:
        """Return what the daemon says of itself."""
        ...

    def stop(self, witness: socket.socket | None = None) -> None:
        """Take no more clients, finish, and leave; the witness is hung up on at the very end."""
        ...


async def serve_client(host: Host, lines: Lines, welcome: Callable[[], None]) -> None:
    """Serve one connection to its end. `welcome` is called once the peer is a client."""
    try:
        hello = wire.decode(await asyncio.wait_for(anext(lines), HELLO_SECONDS))
        if not hello:
            return
        caller = _caller(hello)
        greeting = {"vaultmind": wire.PROTOCOL, "version": __version__, "pid": os.getpid()}
        welcome()
        if hello["mode"] == "ops":
            await lines.send(greeting)
            await _Operations(host, caller, lines).serve()
        else:
            await _session(host, caller, lines, greeting, hello)
    except (StopAsyncIteration, TimeoutError):
        return
    except VaultMindError as error:
        await lines.send({"error": problem(error, "hello")})
    except LineTooLong as error:
        await lines.send({"error": _too_long(error)})


def _caller(hello: dict[str, Any]) -> Caller:
    """Return who calls, as the hello says; raise BadArgument for one we cannot serve."""
    if hello.get("vaultmind") != wire.PROTOCOL:
        raise BadArgument("vaultmind", hello.get("vaultmind"), f"wire protocol {wire.PROTOCOL}")
    mode, kind = hello.get("mode"), hello.get("kind")
    if mode not in ("mcp", "ops"):
        raise BadArgument("mode", mode, "mcp, ops")
    client = str(hello.get("client", ""))[:CLIENT_NAME_LENGTH]
    if kind == "agent":
        return Caller("agent", agent_name(str(hello.get("agent", ""))), client)
    if kind != "person" or mode == "mcp":
        raise BadArgument("kind", kind, "agent" if mode == "mcp" else "agent, person")
    return Caller("person", "", client)


async def _session(
    host: Host, caller: Caller, lines: Lines, greeting: dict[str, Any], hello: dict[str, Any]
) -> None:
    """Greet once MCP can be spoken; the app may still be opening, and the index loading.

    A client for which nobody `named` an agent is the one that it is called like, if there is.
    """
    named = bool(hello.get("named", True))
    await host.imported()
    await lines.send(greeting)
    from vaultmind.serve.surfaces.mcp import serve_connection

    def called(client: str) -> Caller:
        name = " ".join(client.split())[:CLIENT_NAME_LENGTH]
        agent = "" if named else agent_of(name, host.agents())
        return replace(caller, agent=agent or caller.agent, client=name or caller.client)

    await serve_connection(host.late_app, called, lines, _pipe(hello))


def _pipe(hello: dict[str, Any]) -> Pipe | None:
    """Return what a pipe says of itself; None for one of an older version, which names none."""
    from vaultmind.session.lifecycle.windows import Pipe

    said = {name: str(hello.get(name) or "") for name in ("pipe", "parent", "folder", "host_id")}
    if not _PIPE_NAME.fullmatch(said["pipe"]):
        return None
    parent = int(said["parent"]) if said["parent"].isascii() and said["parent"].isdigit() else 0
    return Pipe(said["pipe"], parent, said["folder"], said["host_id"])


def agent_of(client: str, agents: tuple[str, ...]) -> str:
    """Return the agent that a client's own name stands for: `Claude Code` for `claude-code`.

    Empty where there is no agent of that name: a client makes none by calling itself something.
    """
    name = named_like(client)
    return name if name in agents else ""


class _Operations:
    """One connection's operations, one after the other, each in a worker thread."""

    def __init__(self, host: Host, caller: Caller, lines: Lines) -> None:
        self._host = host
        self._caller = caller
        self._lines = lines
        self._limiter = anyio.CapacityLimiter(1)

    async def serve(self) -> None:
        """Answer requests until the client hangs up."""
        try:
            async for line in self._lines:
                await self._answer(wire.decode(line))
        except LineTooLong as error:
            await self._lines.send({"id": None, "error": _too_long(error)})

    async def _answer(self, request: dict[str, Any]) -> None:
        number, op = request.get("id"), str(request.get("op", ""))

        async def tell(step: Progress) -> None:
            progress = {"done": step.done, "total": step.total, "what": step.what}
            await self._lines.send({"id": number, "progress": progress})

        try:
            result = await self._run(op, request.get("args", {}), tell)
        except Exception as error:  # a surface: the client reads it in words, the daemon goes on
            await self._lines.send({"id": number, "error": problem(error, op[:80])})
        else:
            await self._lines.send({"id": number, "ok": result})

    async def _run(self, op: str, args: object, tell: Tell) -> dict[str, Any]:
        if op in ("daemon_status", "daemon_stop"):
            if op == "daemon_stop":
                self._host.stop(self._lines.duplicate())
            status = self._host.status()
            return {**status, "clients": status["clients"] - 1}  # the one who asks is no client
        app = await self._host.app()
        from vaultmind.serve.operations import Call, run_operation

        def work(report: Report) -> dict[str, Any]:
            return run_operation(app, Call(self._caller, report), op, args)

        return await run_in_thread(work, self._limiter, tell)


def _too_long(error: LineTooLong) -> dict[str, Any]:
    return {"type": "BadArgument", "message": str(error), "hint": "Send less at once."}
