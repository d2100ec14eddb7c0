"""The worker process with a real model: what it does, and what happens when it cannot."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import psutil
import pytest

from tests.minion.model import ask, config, gguf
from tests.waiting import until
from vaultmind.errors import MinionFailed
from vaultmind.minion.local import LocalGenerator
from vaultmind.minion.report import standing
from vaultmind.minion.structured import ask_json

pytestmark = pytest.mark.minion

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 40}, "big": {"type": "boolean"}},
    "required": ["city", "big"],
    "additionalProperties": False,
}


def gone(pid: int) -> bool:
    """Tell whether a process has ended."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def in_thread(
    generator: LocalGenerator, answers: list[object], max_tokens: int = 900
) -> threading.Thread:
    """Begin a long job in a thread, which leaves its answer or its failure."""
    story = ask("Tell a very long story about a pirate and his ship.", max_tokens=max_tokens)

    def job() -> None:
        try:
            answers.append(generator.generate(story))
        except MinionFailed as failure:
            answers.append(failure)

    thread = threading.Thread(target=job)
    thread.start()
    return thread


def test_an_answer_follows_the_schema(smol: LocalGenerator) -> None:
    done = ask_json(smol, ask("Where is the Eiffel Tower?", schema=CITY, max_tokens=60))
    assert set(done.value) == {"city", "big"}
    assert isinstance(done.value["big"], bool)


def test_who_waits_too_long_for_another_job_is_told(own: LocalGenerator) -> None:
    answers: list[object] = []
    thread = in_thread(own, answers)
    until(lambda: own.worker.busy)
    with pytest.raises(MinionFailed) as caught:
        own.generate(ask("And me?", seconds=0.05))
    assert caught.value.why == "busy"
    own.close()
    thread.join()


def test_a_process_that_hangs_is_killed_and_replaced(own: LocalGenerator) -> None:
    own.generate(ask("Hello.", max_tokens=1))
    stuck = own.worker.pid
    os.kill(stuck, signal.SIGSTOP)
    with pytest.raises(MinionFailed) as caught:
        own.generate(ask("Hello?", seconds=0.2))
    assert caught.value.why == "timeout"
    assert gone(stuck)
    assert own.generate(ask("Where is the Eiffel Tower?")).text
    assert own.worker.pid not in (0, stuck)


def test_a_model_that_needs_more_memory_than_allowed_is_refused_in_words(careful: Path) -> None:
    with pytest.raises(MinionFailed, match=r"98 MB; minion\.memory_mb allows 90") as caught:
        LocalGenerator(gguf(), config(memory_mb=90), careful)
    assert caught.value.why == "memory"
    generator = LocalGenerator(gguf(), config(memory_mb=330, context_tokens=8192), careful)
    try:
        with pytest.raises(MinionFailed) as caught:
            generator.generate(ask("Hello."))
        assert caught.value.why in ("memory", "crash"), "a library may end the process instead"
    finally:
        generator.close()


def test_status_knows_the_process_while_it_runs(own: LocalGenerator) -> None:
    own.count("Hello")
    chosen = config(model=str(gguf()))
    (loaded,) = standing(chosen, own.folder, {}).models
    assert loaded.pid == own.worker.pid > 0
    own.close()
    (closed,) = standing(chosen, own.folder, {}).models
    assert closed.pid == 0 and not closed.problem
