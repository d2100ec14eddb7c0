"""One connection as lines of text, and operations in worker threads, so that none holds it up."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

import anyio.from_thread
import anyio.to_thread

from vaultmind.client import wire
from vaultmind.errors import BadArgument
from vaultmind.ports import Report
from vaultmind.serve.call import whole_json
from vaultmind.types import Progress

Result = TypeVar("Result")
Tell = Callable[[Progress], Coroutine[Any, Any, None]]

REPORT_SECONDS = 0.1
"""At most one progress message in this time, besides the last."""
THREADS = 16
"""Operations of one connection that run at once."""


class Lines:
    """One connection as lines of text, both ways.

    Iterating yields each line without its newline and ends when the peer is gone; what it left
    of an unfinished line is dropped. Has the shape `mcp.server.stdio.stdio_server` asks for.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        """Return the next line; raise StopAsyncIteration at the end, BadArgument over the limit."""
        try:
            line = await self._reader.readuntil(b"\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            raise StopAsyncIteration from None
        except asyncio.LimitOverrunError as error:
            said = f"A line of more than {wire.MAX_LINE_BYTES} bytes."
            raise BadArgument("line", "", "less at once", said=said) from error
        return whole_json(line[:-1]).decode("utf-8", "replace")

    async def write(self, text: str) -> None:
        """Queue text for the peer; a peer that is gone is not an error."""
        with suppress(ConnectionError):
            self._writer.write(text.encode("utf-8", "replace"))

    async def flush(self) -> None:
        """Wait until the peer has room for more."""
        with suppress(ConnectionError):
            await self._writer.drain()

    async def send(self, message: dict[str, Any]) -> None:
        """Send one message of our own."""
        with suppress(ConnectionError):
            self._writer.write(wire.encode(message))
            await self._writer.drain()

    async def close(self) -> None:
        """Hang up."""
        self._writer.close()
        with suppress(ConnectionError, TimeoutError):
            await asyncio.wait_for(self._writer.wait_closed(), 1.0)


async def run_in_thread(
    work: Callable[[Report], Result], limiter: anyio.CapacityLimiter, tell: Tell | None = None
) -> Result:
    """Run `work(report)` in a thread and pass what it reports to `tell`, in order.

    When the caller is cancelled the thread runs on alone and its result is dropped.
    """
    last = -math.inf

    def report(progress: Progress) -> None:
        nonlocal last
        now = time.monotonic()
        if tell is None or (now - last < REPORT_SECONDS and progress.done < progress.total):
            return
        last = now
        with suppress(Exception):  # nobody listens any more
            anyio.from_thread.run(tell, progress)

    return await anyio.to_thread.run_sync(work, report, abandon_on_cancel=True, limiter=limiter)
