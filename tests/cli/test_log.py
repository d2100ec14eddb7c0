"""`log`: every change in words, newest last, for a person and for a script."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.program import run
from tests.machine import Machine


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A vault whose person has remembered, corrected and forgotten something."""
    folder = tmp_path_factory.mktemp("log")
    machine = Machine(folder / "vault", folder / "state")
    (machine.vault / ".obsidian").mkdir(parents=True)
    machine.begin()
    machine.run("remember", "I take the tram to work", "--section", "user")
    machine.run("remember", "I ride a bicycle to work", "--instead-of", "I take the tram to work")
    machine.run("remember", "The parrot is called Admiral")
    machine.run("forget", "The parrot is called Admiral")
    machine.run("init", "--agent", "jaskier")
    machine.run("remember", "Plays the lute", "--agent", "jaskier")
    yield machine
    machine.stop()


def words(answer: dict[str, list[dict[str, str]]]) -> list[str]:
    return [line["words"] for line in answer["lines"]]


def test_a_conflict_is_one_and_an_unknown_id_is_five(machine: Machine) -> None:
    machine.run("remember", "The attic leaks in spring")
    line = machine.run("log", "--limit", "1", "--op", "remember")["lines"][0]
    text = machine.brain().read_text("utf-8").replace("attic leaks", "attic is dry")
    machine.brain().write_text(text, "utf-8")
    done = run(machine, "undo", line["id"])
    assert done.code == 1 and "Nothing was changed" in done.out and "attic is dry" in done.out
    assert machine.brain().read_text("utf-8") == text
    assert run(machine, "undo", "00000000").code == 5
    for empty in ("", "  "):
        refused = run(machine, "undo", empty)
        assert refused.code == 2 and "without one, the last change" in refused.err
    assert machine.brain().read_text("utf-8") == text
    record = machine.run("log", "--op", "save", "--limit", "1")["lines"][0]
    assert run(machine, "undo", record["id"]).code == 1
