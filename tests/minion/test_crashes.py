"""What is learned from a crash, with a worker that crashes on purpose."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.minion import scripted
from tests.minion.model import ask, config, gguf
from vaultmind.errors import MinionFailed
from vaultmind.minion.local import LocalGenerator
from vaultmind.minion.notes import FILE, Note, Notes
from vaultmind.minion.process import Opening, Worker

OPENING = Opening(path="/models/some.gguf", context_tokens=512, trained=512)


@contextmanager
def worker(folder: Path, behaviour: str) -> Iterator[Worker]:
    script = str(Path(str(scripted.__file__)))
    command = (sys.executable, script, behaviour, str(folder / "diary"))
    one = Worker(OPENING, "some", folder, command=command)
    try:
        yield one
    finally:
        one.close()


def starts(folder: Path) -> list[str]:
    return (folder / "diary").read_text("utf-8").split()


def test_a_program_that_cannot_be_run_is_a_failure_in_words(tmp_path: Path) -> None:
    one = Worker(OPENING, "some", tmp_path, command=(str(tmp_path / "no-python"),))
    with pytest.raises(MinionFailed, match="could not be started") as caught:
        one.ask("count", {}, 10)
    assert caught.value.why == "missing"
    one.close()


def test_notes_that_were_damaged_are_learned_anew(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    for raw in ("", "{", "[1]", '{"some": 3}', '{"some": {"safe": "?", "jobs": "many", "x": 1}}'):
        (tmp_path / FILE).write_text(raw, "utf-8")
        assert notes.of("some").jobs == 0
    notes.learn("some", safe=True)
    notes.learn("some", jobs=2)
    notes.learn("other", memory_mb=3.5)
    assert notes.of("some") == Note(safe=True, jobs=2)
    assert [one.name for one in tmp_path.iterdir()] == [FILE]


def test_a_state_folder_that_cannot_be_written_stops_no_job(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    Notes(tmp_path).learn("some", safe=True)
    assert Notes(tmp_path).of("some") == Note()


@pytest.mark.minion
def test_a_crash_while_tokens_are_counted_is_told_by_the_job_they_are_counted_for(
    tmp_path: Path,
) -> None:
    model = LocalGenerator(gguf(), config(), tmp_path)
    with worker(tmp_path, "aborts") as model.worker:
        assert model.count("some words") > 0, "an estimate"
        for why in ("crash", "resting"):
            with pytest.raises(MinionFailed) as caught:
                model.generate(ask("Hello"))
            assert caught.value.why == why
    assert starts(tmp_path) == ["usual", "safe"]
