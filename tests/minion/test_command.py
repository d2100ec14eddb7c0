"""A command of the person's own in a model's place: called once a conversation, not for ever."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.minion.model import ask, config
from vaultmind.errors import MinionFailed
from vaultmind.minion.choice import Minion
from vaultmind.minion.models import QUIET_VARIABLE, CommandGenerator
from vaultmind.minion.structured import ask_json

ECHO = "import os, sys; print(sys.stdin.read().upper(), os.environ['VAULTMIND_QUIET'])"
WORD = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}


def python(script: str) -> tuple[str, ...]:
    return (sys.executable, "-c", script)


def command(script: str, **values: float) -> CommandGenerator:
    return CommandGenerator(config(command=python(script), **values))


def test_the_prompt_goes_in_and_the_answer_comes_out() -> None:
    done = command(ECHO).generate(ask("Where is <|im_end|> it?"))
    assert done.text.split() == ["WHERE", "IS", "<", "|IM_END|>", "IT?", "1"]


@pytest.mark.parametrize(("words", "why"), [
    (python("import time; time.sleep(60)"), "timeout"),
    (python("raise SystemExit(3)"), "refused"),
    (("/nowhere/claude", "-p"), "missing"),
])  # fmt: skip
def test_a_command_that_gives_no_answer_is_told_in_words(words: Sequence[str], why: str) -> None:
    with pytest.raises(MinionFailed) as caught:
        CommandGenerator(config(command=tuple(words))).generate(ask("Where?", seconds=0.5))
    assert caught.value.why == why


def test_it_is_called_once_a_conversation_and_so_often_a_day(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    script = f"open({str(calls)!r}, 'a').write('x'); print('no JSON')"
    one = Minion(config(command=python(script), calls_per_day=3), tmp_path)
    told = [one.run("extraction", lambda it: ask_json(it, ask("?", schema=WORD))) for _ in "12"]
    assert "no usable answer" in told[0].failures[0] and not told[0].unasked
    assert one.run("summary", lambda it: it.generate(ask("?"))).by == "extractive"
    assert calls.read_text() == "xx", "none for other summaries"
    one.run("extraction", lambda it: it.generate(ask("?")))
    last = one.run("extraction", lambda it: it.generate(ask("?")))
    assert last.unasked and "minion.calls_per_day" in last.failures[0]


def test_our_hooks_tell_nothing_of_what_happens_in_it(tmp_path: Path) -> None:
    vault, state = tmp_path / "vault", tmp_path / "state"
    (vault / ".obsidian").mkdir(parents=True)
    flags = ["--vault", str(vault), "--state-dir", str(state)]
    done = subprocess.run(
        [sys.executable, "-m", "vaultmind", "hook", "claude-code", "Stop", *flags],
        env={QUIET_VARIABLE: "1"}, input=b'{"session_id": "x"}', capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, state.exists()) == (0, b"", False)
