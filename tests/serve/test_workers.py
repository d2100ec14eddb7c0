"""Operations in worker threads: progress in order, errors unwrapped, nobody held up."""

from __future__ import annotations

import asyncio
import threading

import anyio
import pytest

from vaultmind.errors import NotFound
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


def test_an_error_arrives_as_itself() -> None:
    async def tell(progress: Progress) -> None:
        pass

    def work(report: Report) -> None:
        raise NotFound("gone")

    with pytest.raises(NotFound, match="gone"):
        asyncio.run(run_in_thread(work, anyio.CapacityLimiter(1), tell))
    with pytest.raises(NotFound, match="gone"):
        asyncio.run(run_in_thread(work, anyio.CapacityLimiter(1)))


def test_a_slow_operation_does_not_hold_up_a_quick_one() -> None:
    release = threading.Event()

    async def both() -> str:
        limiter = anyio.CapacityLimiter(2)
        slow = asyncio.create_task(run_in_thread(lambda report: release.wait(10), limiter))
        try:
            return await asyncio.wait_for(run_in_thread(lambda report: "quick", limiter), 5)
        finally:
            release.set()
            assert await slow

    assert asyncio.run(both()) == "quick"


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
