"""Who is asked for what, who is asked next, and what an answer must be to be believed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.fakes import QueueGenerator
from tests.minion.model import ask, config, gguf
from vaultmind.errors import BadArgument, MinionFailed
from vaultmind.minion import prompts
from vaultmind.minion.choice import Minion
from vaultmind.minion.spending import FILE as SPENDING_FILE
from vaultmind.minion.spending import Spending
from vaultmind.minion.structured import ask_json
from vaultmind.ports import Generator
from vaultmind.types import Purpose, Turn

WORD = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
}
CLOSED = {"additionalProperties": False}
SOUND = '{"word": "yes"}'


def failing(why: str = "timeout", name: str = "big") -> QueueGenerator:
    return QueueGenerator(MinionFailed(why, f"{name} failed."), name=name)


def minion(tmp_path: Path, models: dict[str, QueueGenerator], **values: str) -> Minion:
    def opened(name: str) -> QueueGenerator:
        if name not in models:
            raise MinionFailed("missing", f"There is no model {name}.")
        return models[name]

    return Minion(config(**values), tmp_path, open_generator=opened)


def say(generator: Generator) -> str:
    return generator.generate(ask("Hello")).text


def test_without_a_model_the_extractive_engine_is_asked_and_nothing_failed(tmp_path: Path) -> None:
    done = Minion(config(), tmp_path).run("extraction", say)
    assert (done.value, done.by, done.failures, done.again) == (None, "extractive", (), False)


def test_each_purpose_has_its_own_model_before_the_general_one(tmp_path: Path) -> None:
    one = minion(tmp_path, {}, model="small", extraction="big", rerank="extractive")
    assert one.chain("extraction") == ("big", "small")
    assert one.chain("summary") == ("small",)
    assert one.chain("rerank") == ()
    assert minion(tmp_path, {}, model="one", summary="one").chain("summary") == ("one",)


def test_the_next_in_line_does_what_the_first_cannot(tmp_path: Path) -> None:
    models = {"big": failing(), "small": QueueGenerator("done", name="small")}
    done = minion(tmp_path, models, model="small", extraction="big").run("extraction", say)
    assert (done.value, done.by, done.failures) == ("done", "small", ("big failed.",))


def test_after_the_last_comes_the_extractive_engine_with_all_the_reasons(tmp_path: Path) -> None:
    models = {"small": failing("crash", "small")}
    done = minion(tmp_path, models, model="small", extraction="gone").run("extraction", say)
    assert done.value is None and done.by == "extractive" and done.again
    assert done.failures == ("There is no model gone.", "small failed.")


def test_an_error_in_the_job_itself_is_not_taken_for_a_failed_model(tmp_path: Path) -> None:
    def broken(generator: Generator) -> str:
        raise ZeroDivisionError

    one = minion(tmp_path, {"small": QueueGenerator()}, model="small")
    with pytest.raises(ZeroDivisionError):
        one.run("summary", broken)


def test_a_model_is_opened_once_and_closed_at_the_end(tmp_path: Path) -> None:
    model = QueueGenerator("a", "b", name="small")
    one = minion(tmp_path, {"small": model}, model="small")
    assert [one.run("summary", say).value, one.run("extraction", say).value] == ["a", "b"]
    one.close()
    assert model.closed


@pytest.mark.parametrize("name", ["gpt-4", "ftp://host/v1#m", "http://host/v1", "/models/a.bin"])
def test_a_name_that_is_no_model_is_refused_with_what_is_allowed(tmp_path: Path, name: str) -> None:
    one = Minion(config(model=name), tmp_path)
    with pytest.raises(BadArgument, match=r"minion\.model"):
        one.generator(name)
    done = one.run("extraction", say)
    assert done.by == "extractive" and done.again


@pytest.mark.minion
def test_files_that_are_no_models_give_way_to_one_that_is(tmp_path: Path, careful: Path) -> None:
    """A text file, half a model, then a model: the real worker behind each."""
    text, half = tmp_path / "text.gguf", tmp_path / "half.gguf"
    text.write_text("This is a note about llamas.", "utf-8")
    with gguf().open("rb") as file:
        half.write_bytes(file.read(2_500_000))
    one = Minion(config(model=str(gguf()), extraction=str(text), summary=str(half)), careful)
    expected: tuple[tuple[Purpose, str], ...] = (
        ("extraction", "is no GGUF model"),
        ("summary", "cannot use it"),
    )
    try:
        for purpose, words in expected:
            done = one.run(purpose, lambda model: model.generate(ask("Hi", max_tokens=2)))
            assert done.value is not None and done.by == gguf().stem
            assert words in done.failures[0]
    finally:
        one.close()


def test_a_sound_answer_is_not_asked_for_twice() -> None:
    model = QueueGenerator(SOUND)
    done = ask_json(model, ask("Say yes", schema=WORD))
    assert (done.value, done.repaired, len(model.asked)) == ({"word": "yes"}, False, 1)


def test_a_bad_answer_is_mended_once_by_the_model_that_is_told_what_is_wrong() -> None:
    model = QueueGenerator('{"wort": 1}', SOUND)
    done = ask_json(model, ask("Powiedz tak", schema=WORD), language="pl")
    assert done.value == {"word": "yes"} and done.repaired
    assert done.prompt_tokens == 20, "both tries are paid for"
    first, second = model.asked
    assert second.turns[:2] == (*first.turns, Turn("assistant", '{"wort": 1}'))
    assert "answer.word is missing" in second.turns[2].text
    assert second.turns[2].text.startswith("Tej odpowiedzi")
    assert second.seconds <= first.seconds


def test_an_answer_that_stays_bad_is_nonsense() -> None:
    model = QueueGenerator("I would say", '{"word": ', SOUND)
    with pytest.raises(MinionFailed, match="breaks off") as caught:
        ask_json(model, ask("Say yes", schema=WORD))
    assert caught.value.why == "nonsense"
    assert len(model.asked) == 2


def test_what_only_the_caller_can_judge_is_mended_too() -> None:
    model = QueueGenerator('{"word": "no"}', SOUND)
    check = lambda value: () if value["word"] == "yes" else ("answer.word was never said",)  # noqa: E731
    assert ask_json(model, ask("Say yes", schema=WORD), check).repaired
    assert "never said" in model.asked[1].turns[-1].text


def test_no_room_or_no_time_to_mend_is_nonsense_and_not_a_failure_of_another_kind() -> None:
    full = QueueGenerator("?", MinionFailed("too_long", "It does not fit."))
    late = QueueGenerator("?", SOUND)
    for model, seconds in ((full, 30.0), (late, 0.0)):
        with pytest.raises(MinionFailed) as caught:
            ask_json(model, ask("Say yes", schema=WORD, seconds=seconds))
        assert caught.value.why == "nonsense"


def test_a_question_that_is_repeated_is_no_answer_though_it_holds_an_example() -> None:
    asked = f"{'Read what is below and say what it is about. ' * 4} Answer with JSON: {SOUND}"
    model = QueueGenerator(asked, f"user: {asked}")
    with pytest.raises(MinionFailed, match="repeats the question"):
        ask_json(model, ask(asked, schema=WORD))


def test_an_answer_much_longer_than_was_asked_for_is_not_read() -> None:
    model = QueueGenerator(" " * 70_000 + SOUND, " " * 5000 + SOUND)
    with pytest.raises(MinionFailed, match="longer than was asked"):
        ask_json(model, ask("Say it.", schema=WORD, max_tokens=64))


def test_what_a_model_calls_a_property_is_not_repeated_in_what_is_told() -> None:
    odd = '{"word": "yes", "Barnaby": 1, "My dog \\u001b[31m": 2}'
    with pytest.raises(MinionFailed) as caught:
        ask_json(QueueGenerator(odd, odd), ask("Say it.", schema={**WORD, **CLOSED}))
    assert "has too much" in str(caught.value)
    assert "Barnaby" not in str(caught.value) and "dog" not in str(caught.value)


@pytest.mark.minion
def test_the_real_model_is_asked_again_when_its_answer_is_not_believed(
    smol: Generator,
) -> None:
    with pytest.raises(MinionFailed, match="never said"):
        ask_json(smol, ask("Say yes", schema=WORD, max_tokens=10), lambda _: ("it was never said",))


@pytest.mark.parametrize("language", ["en", "pl", "ru"])
def test_prompts_are_kept_in_files_with_a_version(language: str) -> None:
    found = prompts.load("repair", language)
    assert found.id == f"repair.{language}/1"
    assert "$50 and $faults" in found.filled(faults="$50 and $faults")
    with pytest.raises(KeyError):
        found.filled()


def test_a_prompt_in_a_language_that_has_none_is_english(tmp_path: Path) -> None:
    assert prompts.load("repair", "fi").language == "en"
    with pytest.raises(FileNotFoundError, match="no prompt 'bake'"):
        prompts.load("bake")
    (tmp_path / "bake.en.txt").write_text("Bake a cake.", "utf-8")
    with pytest.raises(ValueError, match="version"):
        prompts.load("bake", "en", tmp_path)


def test_seconds_of_work_are_counted_by_day_and_over_restarts(tmp_path: Path) -> None:
    now = [datetime(2026, 11, 22, 23, 59, tzinfo=UTC)]
    first = Spending(tmp_path, 60.0, lambda: now[0])
    first.add(12.5)
    again = Spending(tmp_path, 60.0, lambda: now[0])
    assert (again.today(), again.left()) == (12.5, 47.5)
    now[0] += timedelta(minutes=2)
    assert (again.today(), again.left()) == (0.0, 60.0)
    assert Spending(tmp_path, 0.0, lambda: now[0]).left() == float("inf")


@pytest.mark.parametrize("text", ["", "[]", '{"day": "2026-11-22"}', '{"day": 1, "seconds": "x"}'])
def test_a_damaged_count_of_the_day_begins_anew(tmp_path: Path, text: str) -> None:
    (tmp_path / SPENDING_FILE).write_text(text, "utf-8")
    one = Spending(tmp_path, 60.0, lambda: datetime(2026, 11, 22, tzinfo=UTC))
    assert one.today() == 0.0
    one.add(1.0)
    assert one.today() == 1.0


def test_where_the_days_seconds_are_used_up_nobody_is_asked(tmp_path: Path) -> None:
    model = QueueGenerator("a", "b", name="small")
    one = minion(tmp_path, {"small": model}, model="small")
    Spending(tmp_path, 0.0, lambda: datetime.now().astimezone()).add(4000.0)
    done = one.run("summary", say)
    assert (done.value, done.again, done.capped, len(model.asked)) == (None, True, True, 0)
    assert "minion.daily_seconds" in done.failures[0]
    with one.unbound():
        assert one.run("summary", say).value == "a", "a person who asks is not bound"
    assert one.run("summary", say).capped, "and only while they ask"


def test_what_a_model_works_is_counted_even_where_it_fails(tmp_path: Path) -> None:
    one = minion(tmp_path, {"big": failing()}, model="big")
    assert one.run("summary", say).again
    assert 0 < one.spent_today() < 5


def test_a_model_that_rests_was_not_tried(tmp_path: Path) -> None:
    models = {"big": failing("resting"), "small": failing("nonsense", "small")}
    done = minion(tmp_path, models, model="small", summary="big").run("summary", say)
    assert (done.again, done.resting, done.untried, done.capped) == (True, True, True, False)
    models = {"big": failing("resting"), "small": QueueGenerator("a", name="small")}
    done = minion(tmp_path, models, model="small", summary="big").run("summary", say)
    assert (done.value, done.untried) == ("a", False)


def test_what_another_process_spends_counts_into_the_same_day(tmp_path: Path) -> None:
    now = datetime(2026, 11, 22, 12, tzinfo=UTC)
    one, other = (Spending(tmp_path, 60.0, lambda: now) for _ in range(2))
    for spending in (one, other, one):
        spending.add(5.0)
    assert one.today() == other.today() == 15.0


def test_models_beside_others_count_into_the_same_day(tmp_path: Path) -> None:
    one = minion(tmp_path, {"small": QueueGenerator("a", name="small")}, model="none")
    beside = one.beside(config(model="small"))
    assert beside.run("summary", say).value == "a"
    assert one.spent_today() == beside.spent_today() > 0


def test_after_the_close_no_model_is_opened_again(tmp_path: Path) -> None:
    model = QueueGenerator("a", name="small")
    one = minion(tmp_path, {"small": model}, model="small")
    one.close()
    done = one.run("summary", say)
    assert done.again and not model.asked
