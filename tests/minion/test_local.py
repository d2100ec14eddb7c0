"""A model in a file: what its process does, with a worker that misbehaves and with a real one."""

from __future__ import annotations

import os
import signal
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.minion import scripted
from tests.minion.model import ask, config, gguf
from tests.waiting import until
from vaultmind.errors import MinionFailed
from vaultmind.minion.gguf import read_head
from vaultmind.minion.models import LocalGenerator
from vaultmind.minion.state import FILE, learn, learned, spend, spent
from vaultmind.minion.structured import ask_json

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 40}, "big": {"type": "boolean"}},
    "required": ["city", "big"],
    "additionalProperties": False,
}


def entry(name: str, value: str | int) -> bytes:
    raw = struct.pack("<Q", len(name)) + name.encode()
    if isinstance(value, int):
        return raw + struct.pack("<II", 4, value)
    return raw + struct.pack("<IQ", 8, len(value)) + value.encode()


def head(*pairs: tuple[str, str | int]) -> bytes:
    start = b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs))
    return start + b"".join(entry(name, value) for name, value in pairs)


@contextmanager
def model(folder: Path, behaviour: str, **values: Any) -> Iterator[LocalGenerator]:
    """Yield a model whose worker does as told."""
    path = folder / "some.gguf"
    path.write_bytes(head(("general.architecture", "llama"), ("llama.context_length", 2048)))
    one = LocalGenerator(path, config(**values), folder)
    one.process.command = (sys.executable, str(scripted.__file__), behaviour, str(folder / "diary"))
    try:
        yield one
    finally:
        one.close()


def failure(one: LocalGenerator, **values: Any) -> MinionFailed:
    with pytest.raises(MinionFailed) as caught:
        one.generate(ask("hang", **values))
    return caught.value


def starts(folder: Path) -> list[str]:
    return [line.split()[0] for line in (folder / "diary").read_text("utf-8").splitlines()]


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize(("behaviour", "seen", "careful"), [
    ("answers", ["usual"], False),
    ("aborts unless careful", ["usual", "safe"], True),
    ("is killed once", ["usual", "safe"], False),
])  # fmt: skip
def test_a_crash_is_survived_and_what_helped_is_remembered(
    tmp_path: Path, behaviour: str, seen: list[str], careful: bool
) -> None:
    with model(tmp_path, behaviour) as one:
        assert one.generate(ask("Where?")).text == "Paris" and one.count("some words") == 7
        assert starts(tmp_path)[:2] == seen
        assert learned(tmp_path, one.head.key).get("safe", False) is careful
    if careful:
        with model(tmp_path, behaviour) as again:
            again.generate(ask("Where?"))
        assert starts(tmp_path) == [*seen, "safe"]


def test_a_crash_while_tokens_are_counted_is_told_and_then_the_model_rests(tmp_path: Path) -> None:
    with model(tmp_path, "aborts") as one:
        with pytest.raises(MinionFailed) as caught:
            one.count("some words")
        assert caught.value.why == "crash" and "minion.log" in caught.value.hint
        assert failure(one).why == "resting"
        assert "rests" in learned(tmp_path, one.head.key)["failure"]
    assert starts(tmp_path) == ["usual", "safe"]


def test_a_process_that_hangs_is_ended_and_replaced_and_who_waits_is_told(tmp_path: Path) -> None:
    with model(tmp_path, "hangs") as one:
        one.generate(ask("Where?"))
        stuck = one.process.pid
        first: list[str] = []
        thread = threading.Thread(target=lambda: first.append(failure(one, seconds=2.0).why))
        thread.start()
        until(one.process._lock.locked)
        assert failure(one, seconds=0.05).why == "busy"
        thread.join()
        assert first == ["timeout"] and gone(stuck)
        assert one.generate(ask("Where?")).text and one.process.pid not in (0, stuck)


def test_closing_ends_the_job_that_runs_and_none_begins(tmp_path: Path) -> None:
    with model(tmp_path, "hangs") as one:
        told: list[str] = []
        thread = threading.Thread(target=lambda: told.append(failure(one).why))
        thread.start()
        until((tmp_path / "diary").exists)
        one.close()
        thread.join()
        assert told == ["closed"] and failure(one).why == "closed"


def test_what_is_kept_of_models_can_be_lost_and_seconds_are_of_a_day(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("{", "utf-8")
    learn(tmp_path, "some", safe=True)
    learn(tmp_path, "some", failure="It crashed.")
    spend(tmp_path, "2026-11-22", 50.0)
    assert learned(tmp_path, "some") == {"safe": True, "failure": "It crashed."}
    assert (spent(tmp_path, "2026-11-22"), spent(tmp_path, "2026-11-23")) == (50.0, 0.0)


@pytest.mark.parametrize("raw", [
    b"", b"GGUF", b"PK\x03\x04 a zip", b"GGUF" + struct.pack("<IQQ", 3, 0, 2**60),
    head(("general.name", "nameless")), head(("general.architecture", 3)),
    b"NOPE" + head(("general.architecture", "llama")),
])  # fmt: skip
def test_what_is_no_model_is_refused_in_words(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "notes.gguf"
    path.write_bytes(raw)
    with pytest.raises(MinionFailed, match="is no GGUF model") as caught:
        read_head(path)
    assert caught.value.why == "not_a_model"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MinionFailed, match=r"no model file .*gone\.gguf"):
        read_head(tmp_path / "gone.gguf")


@pytest.mark.minion
def test_a_real_model_answers_by_the_schema_in_its_own_tokens_and_ends_with_us(
    smol: LocalGenerator,
) -> None:
    done = ask_json(smol, ask("Where is the Eiffel Tower?", schema=CITY, max_tokens=60))
    assert set(done) == {"city", "big"} and isinstance(done["big"], bool)
    told = smol.generate(ask("Where is the Eiffel Tower?"))
    assert "Paris" in told.text and told.prompt_tokens > 10 and told.tokens > 1
    assert 1 < smol.count("Where is the Eiffel Tower?") < 20
    os.kill(smol.process.pid, signal.SIGKILL)
    assert smol.generate(ask("Hello.")).text
    with pytest.raises(MinionFailed) as caught:
        smol.generate(ask("word " * 4000))
    assert caught.value.why == "too_long"


@pytest.mark.minion
def test_a_model_that_needs_more_memory_than_allowed_is_refused_in_words(careful: Path) -> None:
    with pytest.raises(MinionFailed, match=r"98 MB; minion\.memory_mb allows 90") as caught:
        LocalGenerator(gguf(), config(memory_mb=90), careful)
    assert caught.value.why == "memory"
    one = LocalGenerator(gguf(), config(memory_mb=330, context_tokens=8192), careful)
    try:
        assert failure(one).why in ("not_a_model", "crash", "missing"), "or the library ends it"
    finally:
        one.close()
