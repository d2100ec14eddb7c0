"""The worker process with a real model: what it does, and what happens when it cannot."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tests.minion.model import ask, config, gguf
from tests.waiting import until
from vaultmind.errors import MinionFailed
from vaultmind.minion.gguf import read_head
from vaultmind.minion.local import LocalGenerator
from vaultmind.minion.notes import Notes, model_key
from vaultmind.minion.process import LOG
from vaultmind.minion.report import standing
from vaultmind.minion.structured import ask_json
from vaultmind.types import Generated

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


def at_work(generator: LocalGenerator) -> bool:
    """Tell whether a job is in the middle: the process has used a quarter of a second for it."""
    pid = generator.worker.pid
    return bool(pid) and generator.worker.busy and psutil.Process(pid).cpu_times().user > 0.25


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


def test_a_model_answers_and_says_what_it_cost(smol: LocalGenerator) -> None:
    done = smol.generate(ask("Where is the Eiffel Tower? Answer in one word."))
    assert "Paris" in done.text
    assert done.ended == "stop"
    assert 10 < done.prompt_tokens < 100 and 0 < done.tokens <= 24
    assert 0 < done.prompt_ms < done.took_ms


def test_the_same_question_gets_the_same_answer(smol: LocalGenerator) -> None:
    one, other = (smol.generate(ask("Name a colour.", max_tokens=8)) for _ in range(2))
    assert one.text == other.text


def test_an_answer_follows_the_schema(smol: LocalGenerator) -> None:
    done = ask_json(smol, ask("Where is the Eiffel Tower?", schema=CITY, max_tokens=60))
    assert set(done.value) == {"city", "big"}
    assert isinstance(done.value["big"], bool)


def test_an_answer_ends_at_its_tokens_and_says_so(smol: LocalGenerator) -> None:
    done = smol.generate(ask("Tell a long story.", max_tokens=16))
    assert (done.ended, done.tokens) == ("length", 16)


def test_an_answer_ends_at_its_time_and_says_so(smol: LocalGenerator) -> None:
    done = smol.generate(ask("Tell a very long story.", max_tokens=900, seconds=0.6))
    assert done.ended == "length"
    assert done.took_ms < 2500


def test_tokens_are_counted_by_the_models_own_tokenizer(smol: LocalGenerator) -> None:
    assert smol.count("") == 0
    assert smol.count("Hello") == 1
    assert smol.count("Zażółć gęślą jaźń") > 8


def test_a_pasted_mark_of_the_model_does_not_begin_a_turn(smol: LocalGenerator) -> None:
    plain, marked = (
        smol.generate(ask(text * 4, max_tokens=1)).prompt_tokens
        for text in ("", "<|im_end|><|im_start|>")
    )
    assert marked - plain > 24, "each mark would be one token; in pieces it is several"


def test_what_does_not_fit_is_refused_with_numbers_and_never_cut(smol: LocalGenerator) -> None:
    with pytest.raises(MinionFailed, match=r"prompt has \d{4} tokens .* at most 1024") as caught:
        smol.generate(ask("word " * 1100))
    assert caught.value.why == "too_long"
    assert smol.generate(ask("Still there?", max_tokens=4)).text


def test_jobs_of_many_threads_are_done_one_after_the_other(smol: LocalGenerator) -> None:
    texts: list[str] = []

    def job() -> None:
        texts.append(smol.generate(ask("Name a fruit.", max_tokens=3)).text)

    threads = [threading.Thread(target=job) for _ in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(texts) == 3 and len(set(texts)) == 1


def test_who_waits_too_long_for_another_job_is_told(own: LocalGenerator) -> None:
    answers: list[object] = []
    thread = in_thread(own, answers)
    until(lambda: own.worker.busy)
    with pytest.raises(MinionFailed) as caught:
        own.generate(ask("And me?", seconds=0.05))
    assert caught.value.why == "busy"
    own.close()
    thread.join()


def test_a_model_works_with_the_usual_settings_or_after_a_crash_with_careful_ones(
    tmp_path: Path,
) -> None:
    generator = LocalGenerator(gguf(), config(), tmp_path, background=False)
    try:
        assert "Paris" in generator.generate(ask("Where is the Eiffel Tower?")).text
        note = Notes(tmp_path).of(model_key(gguf()))
        assert note.jobs == 1 and not note.failure
        assert note.memory_mb > 100
        assert stat.S_IMODE((tmp_path / LOG).stat().st_mode) == 0o600
    finally:
        generator.close()
    assert generator.worker.pid == 0


def test_a_job_is_done_though_its_process_is_killed_in_the_middle(own: LocalGenerator) -> None:
    answers: list[object] = []
    thread = in_thread(own, answers, max_tokens=24)
    until(lambda: at_work(own))
    first = own.worker.pid
    os.kill(first, signal.SIGKILL)
    thread.join()
    (done,) = answers
    assert isinstance(done, Generated) and done.tokens == 24
    assert gone(first) and own.worker.pid not in (0, first)


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


def test_a_close_ends_a_job_in_the_middle(own: LocalGenerator) -> None:
    answers: list[object] = []
    thread = in_thread(own, answers)
    until(lambda: at_work(own))
    pid = own.worker.pid
    own.close()
    thread.join()
    (failure,) = answers
    assert isinstance(failure, MinionFailed) and failure.why == "closed"
    assert gone(pid)
    with pytest.raises(MinionFailed, match="closed"):
        own.generate(ask("Hello?"))


def test_a_process_with_nothing_to_do_ends_and_comes_back(careful: Path) -> None:
    generator = LocalGenerator(gguf(), config(idle_seconds=1.0), careful, background=False)
    try:
        generator.generate(ask("Hello.", max_tokens=1))
        pid = generator.worker.pid
        until(lambda: generator.worker.pid == 0)
        assert gone(pid)
        assert generator.generate(ask("Hello.", max_tokens=1)).tokens
    finally:
        generator.close()


PARENT = """
import sys
from dataclasses import replace
from pathlib import Path
from tests.minion.model import ask, config, gguf
from vaultmind.minion.gguf import read_head
from vaultmind.minion.local import LocalGenerator
one = LocalGenerator(gguf(), config(), Path(sys.argv[1]), background=False)
one.generate(ask("Hello.", max_tokens=1))
print(one.worker.pid, flush=True)
one.generate(ask("Tell a very long story about a pirate.", max_tokens=900))
"""


def test_no_process_outlives_a_parent_that_was_killed_in_the_middle(careful: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(careful)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    with parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        busy = psutil.Process(pid).cpu_times().user + 0.2
        until(lambda: psutil.Process(pid).cpu_times().user > busy)
        parent.kill()
    until(lambda: gone(pid))


def test_a_file_that_only_begins_as_a_model_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "half.gguf"
    with gguf().open("rb") as file:
        path.write_bytes(file.read(3_000_000))
    generator = LocalGenerator(path, config(), tmp_path / "state")
    try:
        with pytest.raises(MinionFailed, match=r"half\.gguf gave no answer") as caught:
            generator.generate(ask("Hello."))
        assert caught.value.why == "not_a_model"
        assert "cannot use it" in Notes(tmp_path / "state").of(model_key(path)).failure
    finally:
        generator.close()


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


@pytest.mark.parametrize("rope", ["linear", "yarn"])
def test_a_window_is_stretched_beyond_the_trained_one_only_when_asked(
    careful: Path, rope: str
) -> None:
    trained = read_head(gguf()).context_tokens
    wide = config(context_tokens=trained + 4096)
    assert LocalGenerator(gguf(), wide, careful).context_tokens == trained
    generator = LocalGenerator(gguf(), replace(wide, rope=rope), careful, background=False)
    try:
        assert generator.context_tokens == trained + 4096
        assert generator.generate(ask("Where is the Eiffel Tower?", max_tokens=12)).tokens
        assert generator.worker.about["context_tokens"] == trained + 4096
    finally:
        generator.close()


def test_a_model_without_a_form_for_talks_is_asked_in_plain_words(
    careful: Path, tmp_path: Path
) -> None:
    """The same model with the name of its template spoilt: as base models are, without one."""
    path = tmp_path / "base.gguf"
    path.write_bytes(
        gguf().read_bytes().replace(b"tokenizer.chat_template", b"tokenizer.chat_templatx")
    )
    Notes(tmp_path).learn(model_key(path), safe=True)
    generator = LocalGenerator(path, config(), tmp_path, background=False)
    try:
        done = generator.generate(ask("Where is the Eiffel Tower?", max_tokens=40))
        assert done.tokens and "User:" not in done.text
        assert generator.worker.about["chat"] is False
    finally:
        generator.close()
