"""Operations in worker threads: progress in order, errors unwrapped, nobody held up."""

from __future__ import annotations

import asyncio
import threading

import anyio

from vaultmind.ports import Report
from vaultmind.serve.lines import run_in_thread
from vaultmind.types import Progress


def test_progress_is_told_in_order_and_the_last_is_never_left_out() -> None:
    told: list[int] = []

    async def tell(progress: Progress) -> None:
        told.append(progress.done)

    def work(report: Report) -> str:
        for done in range(1, 1001):
            report(Progress(done, 1000))
        return "done"

    result = asyncio.run(run_in_thread(work, anyio.CapacityLimiter(1), tell))
    assert result == "done"
    assert told == sorted(told)
    assert told[0] == 1
    assert told[-1] == 1000
    assert len(told) < 100


def test_a_caller_that_leaves_does_not_wait_for_the_thread() -> None:
    release, ended = threading.Event(), threading.Event()

    def work(report: Report) -> None:
        release.wait(10)
        report(Progress(1, 1))
        ended.set()

    async def tell(progress: Progress) -> None:
        pass

    async def leave() -> None:
        with anyio.move_on_after(0.05):
            await run_in_thread(work, anyio.CapacityLimiter(1), tell)

    try:
        asyncio.run(leave())
    finally:
        release.set()
    assert ended.wait(5)
