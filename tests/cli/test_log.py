"""`log`: every change in words, newest last, for a person and for a script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import run, run_on_terminal
from tests.machine import Machine
from vaultmind.types import Caller

LINE = {"id", "time", "caller", "client", "agent", "op", "outcome", "section", "before", "after",
        "reason", "path", "block", "evidence", "valid_until", "hidden", "undoes", "erased",
        "undone_by", "device", "words"}  # fmt: skip


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A vault whose person has remembered, corrected and forgotten something."""
    folder = tmp_path_factory.mktemp("log")
    machine = Machine(folder / "vault", folder / "state")
    (machine.vault / ".obsidian").mkdir(parents=True)
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


def test_the_log_of_an_empty_memory_says_how_it_begins(tmp_path: Path) -> None:
    empty = Machine(tmp_path / "vault", tmp_path / "state")
    (empty.vault / ".obsidian").mkdir(parents=True)
    done = run(empty, "log", "--in-process")
    assert (done.code, done.err) == (0, "")
    assert "Nothing was ever changed" in done.out


def test_changes_are_told_in_words_newest_last(machine: Machine) -> None:
    answer = machine.run("log", "--op", "remember", "--op", "replace", "--op", "forget")
    assert [set(line) for line in answer["lines"]] == [LINE] * 5
    told = words(answer)
    assert told[0] == "remembered “I take the tram to work” (user)"
    assert told[1].startswith("corrected “I take the tram to work” → “I ride a bicycle to work”")
    assert re.fullmatch(
        r"forgot “The parrot is called Admiral” \(\w+\), \d messages? hidden", told[3]
    )
    assert told[4].startswith("remembered “Plays the lute”")
    assert answer["lines"][4]["agent"] == "jaskier"
    assert [line["time"] for line in answer["lines"]] == sorted(
        one["time"] for one in answer["lines"]
    )


def test_the_log_is_filtered(machine: Machine) -> None:
    assert [one["agent"] for one in machine.run("log", "--agent", "jaskier")["lines"]] == [
        "jaskier"
    ] * len(machine.run("log", "--agent", "jaskier")["lines"])
    newest = machine.run("log", "--limit", "1", "--op", "remember")
    assert len(newest["lines"]) == 1 and newest["more"]
    assert not machine.run("log", "--all")["more"]
    assert len(machine.run("log", "--since", "today", "--all")["lines"]) >= 5
    future = machine.run("log", "--since", "2099-01-01")
    assert future["lines"] == [] and "No change fits" in future["message"]
    bad = run(machine, "log", "--since", "last tuesday")
    assert bad.code == 2 and "yesterday" in bad.err


def test_a_pipe_gets_a_line_a_change_and_a_terminal_a_table(machine: Machine) -> None:
    plain = run(machine, "log", "--op", "forget").out.splitlines()
    assert len(plain) == 1
    assert re.match(r"[0-9a-f]{8}  \d{4}-\d\d-\d\d \d\d:\d\d  you  main  forgot “", plain[0])
    shown = run_on_terminal(machine, "log", "--op", "replace", columns=60).splitlines()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", shown[0])
    assert re.match(r"[0-9a-f]{8}  \d\d:\d\d  you  main  corrected “", shown[1])
    assert len(shown) > 2 and all(len(line) <= 60 for line in shown)
    assert len(shown[2]) - len(shown[2].lstrip()) == shown[1].index("corrected")


def test_an_agent_does_not_read_the_log(machine: Machine) -> None:
    from vaultmind.errors import BadArgument
    from vaultmind.serve.client import Client

    with (
        pytest.raises(BadArgument, match="person"),
        Client.connect(machine.config, Caller("agent", "main", "test")) as client,
    ):
        client.call("log", {})
