"""`log`: every change in words, newest last, for a person and for a script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import run
from tests.machine import Machine
from vaultmind.types import Caller

LINE = {"id", "time", "caller", "client", "agent", "op", "outcome", "section", "before", "after",
        "reason", "path", "block", "evidence", "shown", "hidden", "undoes", "erased",
        "undone_by", "device", "words"}  # fmt: skip


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
    bad = run(machine, "log", "--since", "the blue one")
    assert bad.code == 2 and "yesterday" in bad.err
    unknown = run(machine, "log", "--op", "remember", "--op", "nonsense")
    assert unknown.code == 2 and "'nonsense'" in unknown.err and "replace, forget" in unknown.err


def test_an_agent_does_not_read_the_log(machine: Machine) -> None:
    from vaultmind.client.client import Client
    from vaultmind.errors import NotAllowed

    with (
        pytest.raises(NotAllowed, match="person"),
        Client.connect(machine.config, Caller("agent", "main", "test")) as client,
    ):
        client.call("log", {})


def test_the_last_change_is_taken_back_and_the_one_before(machine: Machine) -> None:
    machine.run("remember", "My boat is called Wanda", "--section", "user")
    machine.run("remember", "My boat is called Zosia", "--instead-of", "My boat is called Wanda")
    shown = run(machine, "undo", "--dry-run")
    assert shown.code == 0 and "Would undo" in shown.out and "Wanda” again" in shown.out
    done = machine.run("undo")
    assert (done["outcome"], done["fact"], done["dry_run"]) == (
        "written", "My boat is called Wanda", False,
    )  # fmt: skip
    assert "Zosia" not in machine.brain().read_text("utf-8")
    machine.run("undo")
    assert "boat" not in machine.brain().read_text("utf-8")
    told = machine.run("log", "--limit", "4")["lines"]
    assert [bool(line["undone_by"]) for line in told[-2:]] == [False, False]
    assert told[-1]["words"].startswith(f"undid {told[-1]['undoes']}: forget “My")


def test_a_forgotten_fact_comes_back_and_search_finds_what_said_it(machine: Machine) -> None:
    machine.run("say", "Remember that my sister lives in Lublin.")
    machine.run("forget", "my sister lives in Lublin")
    line = machine.run("log", "--op", "forget", "--limit", "1")["lines"][0]
    done = run(machine, "undo", line["id"][:6])
    assert done.code == 0 and done.out.startswith("✓ Undid") and "Lublin” is back" in done.out
    assert "Lublin" in machine.brain().read_text("utf-8")
    found = machine.run("search", "where does my sister live")["hits"]
    assert any("Lublin" in hit["text"] for hit in found)


def test_a_conflict_is_one_and_an_unknown_id_is_five(machine: Machine) -> None:
    machine.run("remember", "The attic leaks in spring")
    line = machine.run("log", "--limit", "1", "--op", "remember")["lines"][0]
    text = machine.brain().read_text("utf-8").replace("attic leaks", "attic is dry")
    machine.brain().write_text(text, "utf-8")
    done = run(machine, "undo", line["id"])
    assert done.code == 1 and "Nothing was changed" in done.out and "attic is dry" in done.out
    assert machine.brain().read_text("utf-8") == text
    named = re.search(r"vaultmind\s+undo\s+([0-9a-f]{8})", done.out)
    assert named and run(machine, "undo", named[1], "--dry-run").code == 0
    assert run(machine, "undo", "00000000").code == 5
    for empty in ("", "  "):
        refused = run(machine, "undo", empty)
        assert refused.code == 2 and "without one, the last change" in refused.err
    assert machine.brain().read_text("utf-8") == text
    record = machine.run("log", "--op", "save", "--limit", "1")["lines"][0]
    assert run(machine, "undo", record["id"]).code == 1


def test_an_agent_undoes_nothing(machine: Machine) -> None:
    from vaultmind.client.client import Client
    from vaultmind.errors import NotAllowed

    with (
        pytest.raises(NotAllowed, match="person"),
        Client.connect(machine.config, Caller("agent", "main", "test")) as client,
    ):
        client.call("undo", {})
