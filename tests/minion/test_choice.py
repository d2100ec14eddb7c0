"""Who is asked for what, who is asked next, and what an answer must be to be believed."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from tests.fakes import QueueGenerator
from tests.minion.model import ask, config
from vaultmind.errors import BadArgument, MinionFailed
from vaultmind.minion.choice import Minion
from vaultmind.minion.state import spend
from vaultmind.minion.structured import ask_json
from vaultmind.ports import Generator

WORD = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
SOUND = '{"word": "yes"}'


def minion(tmp_path: Path, models: dict[str, QueueGenerator], **values: str) -> Minion:
    def opened(name: str) -> QueueGenerator:
        if name not in models:
            raise MinionFailed("missing", f"There is no model {name}.")
        return models[name]

    return Minion(config(**values), tmp_path, open_generator=opened)


def say(generator: Generator) -> str:
    return generator.generate(ask("Hello")).text


@pytest.mark.parametrize("name", ["gpt-4", "ftp://host/v1#m", "http://host/v1", "/models/a.bin"])
def test_a_name_that_is_no_model_is_refused_with_what_is_allowed(tmp_path: Path, name: str) -> None:
    one = Minion(config(model=name), tmp_path)
    with pytest.raises(BadArgument, match=r"minion\.model"):
        one.generator(name)
    done = one.run("extraction", say)
    assert done.by == "extractive" and done.failures


ASKED = f"{'Read what is below and say what it is about. ' * 4} Answer with JSON: {SOUND}"


@pytest.mark.parametrize(("asked", "answer", "said"), [
    ("Say yes", '{"word": "ye', "breaks off"),
    ("Say yes", '{"word": 3, "secret": "hunter2"}', "answer.word does not have the right type"),
    (ASKED, f"user: {ASKED}", "repeats the question"),
    ("Say it.", " " * 70_000 + SOUND, "longer than was asked"),
])  # fmt: skip
def test_what_is_no_answer_is_nonsense_told_in_words_of_the_schema(
    asked: str, answer: str, said: str
) -> None:
    with pytest.raises(MinionFailed, match=said) as caught:
        ask_json(QueueGenerator(answer), ask(asked, schema=WORD, max_tokens=64))
    assert caught.value.why == "nonsense" and "hunter2" not in caught.value.message


def test_json_is_found_in_fences_and_between_words() -> None:
    text = 'Sure:\n```json\n{"word": "yes", "n": 1.0}\n```'
    found = ask_json(QueueGenerator(text), ask("Say yes", schema=WORD))
    assert found == {"word": "yes", "n": 1} and isinstance(found["n"], int)


def test_where_the_days_seconds_are_used_up_nobody_is_asked(tmp_path: Path) -> None:
    model = QueueGenerator("a", "b", name="small")
    one = minion(tmp_path, {"small": model}, model="small")
    spend(tmp_path, datetime.now().astimezone().date().isoformat(), 4000.0)
    done = one.run("summary", say)
    assert (done.value, done.unasked, model.asked) == (None, True, [])
    assert "minion.daily_seconds" in done.failures[0]
    with one.unbound():
        assert one.run("summary", say).value == "a", "a person who asks is not bound"
    assert one.run("summary", say).unasked, "and only while they ask"
