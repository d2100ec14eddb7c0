"""Operations run in worker threads, so that a slow one never holds up a connection."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from vaultmind.ports import Report
from vaultmind.types import Progress

Result = TypeVar("Result")
Tell = Callable[[Progress], Awaitable[None]]

REPORT_SECONDS = 0.1
"""At most one progress message in this time, besides the last."""
THREADS = 16
"""Operations of one connection that run at once."""


async def run_in_thread(
    work: Callable[[Report], Result], limiter: anyio.CapacityLimiter, tell: Tell | None = None
) -> Result:
    """Run `work(report)` in a thread and pass what it reports to `tell`, in order.

    When the caller is cancelled the thread runs on alone and its result is dropped.
    """
    if tell is None:
        return await anyio.to_thread.run_sync(
            work, lambda progress: None, abandon_on_cancel=True, limiter=limiter
        )
    send, receive = anyio.create_memory_object_stream[Progress](math.inf)
    report = _throttled(asyncio.get_running_loop(), send)
    failure: Exception | None = None
    async with receive, anyio.create_task_group() as group:
        group.start_soon(_relay, receive, tell)
        async with send:
            try:
                result = await anyio.to_thread.run_sync(
                    work, report, abandon_on_cancel=True, limiter=limiter
                )
            except Exception as error:  # raised below, outside the group that would wrap it
                failure = error
    if failure is not None:
        raise failure
    return result


def _throttled(loop: asyncio.AbstractEventLoop, send: MemoryObjectSendStream[Progress]) -> Report:
    last = -math.inf

    def offer(progress: Progress) -> None:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            send.send_nowait(progress)

    def report(progress: Progress) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < REPORT_SECONDS and progress.done < progress.total:
            return
        last = now
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            loop.call_soon_threadsafe(offer, progress)

    return report


async def _relay(receive: MemoryObjectReceiveStream[Progress], tell: Tell) -> None:
    async for progress in receive:
        await tell(progress)
