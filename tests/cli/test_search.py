"""`search` and `fetch`: what they find, how they say it, and with which exit code."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import LONG
from tests.cli.program import run, run_on_terminal
from tests.machine import Machine
from vaultmind.cli import made
from vaultmind.cli.options import Settings

HIT = {"id", "path", "anchor", "kind", "agent", "title", "text", "score", "parts", "lang", "time",
       "session", "message", "speaker", "truncated", "why", "before", "after", "also"}  # fmt: skip
STATE = {"fault_count", "phase", "files", "indexed", "chunks", "vectors", "embedder", "embeddable",
         "sends_to", "loading", "faults", "notes"}  # fmt: skip
TALK = {"session": "s1", "time": "2026-01-05T10:00:00+01:00", "role": "user", "speaker": "Ola",
        "content": "The boat is called Kormoran.", "id": "D1:3"}  # fmt: skip


def test_hits_have_the_documented_names(machine: Machine) -> None:
    answer = machine.run("search", "plum tree")
    assert set(answer) == {"hits", "answer", "why_empty", "state", "message", "omitted",
                           "next_offset", "took_ms"}  # fmt: skip
    assert set(answer["hits"][0]) == HIT
    assert set(answer["state"]) == STATE
    assert answer["hits"][0]["path"] == "Garden.md"
    assert answer["answer"] == "found"


def test_a_message_says_who_said_it_where_and_when(machine: Machine, tmp_path: Path) -> None:
    export = tmp_path / "talk.jsonl"
    export.write_text(json.dumps(TALK), "utf-8")
    machine.run("import", str(export))
    (hit,) = machine.run("search", "Kormoran", "--kind", "message")["hits"]
    assert hit["message"] == "D1:3"
    assert hit["speaker"] == "Ola"
    assert hit["session"] == "2026-01-05_001"
    assert hit["time"].startswith("2026-01-05T10:00:00")


def test_a_message_is_shown_within_its_talk(machine: Machine, tmp_path: Path) -> None:
    said = ["Where is the Albatros moored?", "At the Albatros pier.", "And who rows?"]
    lines = [
        TALK | {"session": "s2", "content": one, "id": f"D2:{n}"} for n, one in enumerate(said)
    ]
    export = tmp_path / "pier.jsonl"
    export.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    machine.run("import", str(export))
    found = machine.run("search", "pier", "--kind", "message")["hits"]
    assert (found[0]["before"], found[0]["after"]) == (f"Ola: {said[0]}", f"Ola: {said[2]}")
    shown = run(machine, "search", "pier", "--kind", "message").out
    assert shown.index(said[0]) < shown.index(said[1]) < shown.index(said[2])


def test_a_title_shows_no_comment(machine: Machine) -> None:
    (hit,) = machine.run("search", "marquee rented")["hits"]
    assert hit["title"] == "Fête › Tents"


def test_why_a_hit_is_there_is_shown_where_it_is_asked(machine: Machine) -> None:
    reasons = machine.run("search", "Węgierka")["hits"][0]["why"]
    assert 0 < sum(reason["share"] for reason in reasons) <= 1.001
    assert reasons[0]["words"] not in run(machine, "search", "Węgierka").out
    explained = run(machine, "search", "Węgierka", "--explain").out
    assert f"{reasons[0]['share']:.0%} {reasons[0]['words']}" in explained
    assert "coverage 1" in explained


def test_an_answer_names_where_to_go_on(machine: Machine) -> None:
    first = run(machine, "search", "plum heat", "--limit", "1")
    assert "--offset 1" in first.out
    second = run(machine, "search", "plum heat", "--limit", "1", "--offset", "1")
    assert second.out.startswith("2. ") and "--offset" not in second.err
    assert (
        machine.run("search", "plum heat", "--limit", "1", "--offset", "1")["next_offset"] is None
    )


@pytest.mark.parametrize(
    ("day", "other", "code"),
    [("stycznia 2026", "January 2026", 0), ("2026-01-05", "5 января 2026", 0), ("2025", "2025", 5)],
)
def test_a_day_may_be_said_in_words(machine: Machine, day: str, other: str, code: int) -> None:
    days = ["--after", day, "--before", other]
    assert run(machine, "search", "Kormoran", "--kind", "message", *days).code == code


def test_nothing_found_is_five_and_no_query_is_two(machine: Machine) -> None:
    assert run(machine, "search", "xyzzyplugh").code == 5
    assert machine.run("search", "xyzzyplugh", ok=(5,))["answer"] == "nothing_found"
    assert machine.run("search", "?!", ok=(2,))["answer"] == "no_query"


def test_an_answer_is_given_without_waiting_when_asked(machine: Machine) -> None:
    assert machine.run("search", "--no-wait", "plum")["hits"]


@pytest.mark.parametrize(
    ("filters", "paths"),
    [
        (["--folder", "Projects"], {"Projects/Oven.md"}),
        (["--tag", "oven"], {"Projects/Oven.md"}),
        (["--kind", "fact"], set()),
        (["--limit", "1"], {"Projects/Oven.md"}),
    ],
)
def test_filters_narrow(machine: Machine, filters: list[str], paths: set[str]) -> None:
    found = machine.run("search", "plum heat", *filters, ok=(0, 5))["hits"]
    assert {hit["path"] for hit in found} == paths


def test_a_bad_value_names_the_field_and_what_is_allowed(machine: Machine) -> None:
    for option, value, allowed in (
        ("--limit", "0", "1 to 100"),
        ("--after", "someday", "2026-02-20"),
        ("--before", "2026-02-30", "last week"),
        ("--offset", "50", "no more hits"),
        ("--kind", "dream", "note"),
    ):
        error = machine.run("search", "x", option, value, ok=(2,))["error"]
        assert allowed in error["message"]
        assert option.strip("-") in error["message"]


@pytest.mark.parametrize("query", ["x" * 50, "x" * 100_000, "plum tree " * 9_000])
def test_a_huge_query_is_a_query_like_any(machine: Machine, query: str) -> None:
    done = run(machine, "search", query)
    assert done.code in (0, 5), done.err


def test_a_query_beyond_any_page_is_refused_in_few_words(machine: Machine, tmp_path: Path) -> None:
    path = tmp_path / "huge.jsonl"
    path.write_text(json.dumps({"id": "huge", "query": "x " * 150_000}), "utf-8")
    done = run(machine, "search", "--queries", str(path))
    assert done.code == 2
    assert "query" in done.err and "200000" in done.err
    assert len(done.err) < 400


def test_bytes_that_are_no_text_are_a_query_like_any(machine: Machine) -> None:
    assert run(machine, "search", "plum \udcff tree", "--json").json["hits"]


def test_many_queries_in_one_process(machine: Machine, tmp_path: Path) -> None:
    asked = [{"id": f"q{n}", "query": "plum"} for n in range(60)]
    asked += [{"id": 7, "query": "поезд"}, {"id": "none", "query": "xyzzyplugh"}]
    path = tmp_path / "queries.jsonl"
    path.write_text("\n".join(json.dumps(one, ensure_ascii=False) for one in asked), "utf-8")
    done = run(machine, "search", "--queries", str(path))
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert [answer["id"] for answer in answers] == [one["id"] for one in asked]
    assert answers[60]["hits"][0]["path"] == "Дневник/Поездка.md"
    assert set(answers[0]["hits"][0]) == HIT
    assert answers[-1]["hits"] == []
    assert done.code == 0


def test_a_faulty_line_of_queries_is_named_before_anything_is_asked(
    machine: Machine, tmp_path: Path
) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text('{"id": "a", "query": "plum"}\n\nplum?\n', "utf-8")
    done = run(machine, "search", "--queries", str(path))
    assert done.code == 2
    assert "queries.jsonl line 3" in done.err
    assert not done.out


class Indexing:
    """Keeps what a command waits for; its index lacks some vectors, and may never be done."""

    def __init__(self, missing: int, phase: str = "ready", *, busy: bool = False) -> None:
        self.waits: list[dict[str, Any]] = []
        self.busy = busy
        counts: dict[str, Any] = {"embeddable": 5000, "vectors": 5000 - missing}
        self.state = counts | {"phase": phase, "embedder": "use"}

    def call(self, op: str, args: dict[str, Any], report: object) -> dict[str, Any]:
        self.waits.append(args)
        if self.busy:
            threading.Event().wait(args["timeout_seconds"])
        return self.state


@pytest.mark.parametrize(
    ("missing", "phase", "waits"),
    [(4000, "ready", 1), (3, "ready", 2), (4000, "indexing", 2), (3, "indexing", 3)],
)
def test_a_question_waits_for_text_and_never_long_for_vectors(
    missing: int, phase: str, waits: int
) -> None:
    backend, settings = Indexing(missing, phase), Settings()
    settings._backend = backend  # type: ignore[assignment]
    made.wait_for_index(settings, patient=False)
    assert backend.waits[0] == {"vectors": False, "timeout_seconds": made.CHANGES_SECONDS}
    assert ({"vectors": False} in backend.waits) is (phase == "indexing")
    assert len(backend.waits) == waits
    assert all(one.get("timeout_seconds", 0) <= 3 for one in backend.waits)


def test_a_question_does_not_wait_for_a_vault_that_changes_all_the_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(made, "CHANGES_SECONDS", 0.01)
    for json_wanted in (False, True):
        backend, settings = Indexing(0, busy=True), Settings()
        settings._backend = backend  # type: ignore[assignment]
        settings.values["json"] = json_wanted
        made.wait_for_index(settings, patient=False)
        assert [one["timeout_seconds"] for one in backend.waits] == [0.01]
        assert ("may be missing" in capsys.readouterr().err) is not json_wanted


def test_a_query_and_a_file_exclude_each_other(machine: Machine, tmp_path: Path) -> None:
    assert run(machine, "search").code == 2
    missing = machine.run("search", "--queries", str(tmp_path / "none"), ok=(2,))["error"]
    assert missing["type"] == "UsageError"


def test_in_a_pipe_no_text_is_cut_or_wrapped(machine: Machine) -> None:
    assert LONG in run(machine, "search", "Węgierka").out


def test_on_a_terminal_text_is_wrapped_and_no_word_is_lost(machine: Machine) -> None:
    shown = run_on_terminal(machine, "search", "Węgierka", columns=50)
    assert " ".join(shown.split()).count(LONG) == 1
    assert max(len(line) for line in shown.splitlines() if "word5" in line) <= 50


def test_fetch_prints_the_text_whole_and_nothing_else(machine: Machine) -> None:
    hit = machine.run("search", "Węgierka")["hits"][0]
    whole = (machine.vault / "Garden.md").read_text("utf-8")
    assert run(machine, "fetch", "Garden.md").out.strip() == whole.strip()
    assert hit["text"] in run(machine, "fetch", hit["id"], "--agent", "main").out
    assert "350 °C" in run(machine, "fetch", "Projects/Oven.md#Heat").out


def test_fetch_goes_on_where_it_stopped(machine: Machine) -> None:
    first = machine.run("fetch", "Garden.md", "--max-tokens", "50")
    assert set(first) == {"path", "anchor", "kind", "agent", "title", "text", "time", "tokens",
                          "next_offset"}  # fmt: skip
    offset = str(first["next_offset"])
    assert f"--offset {offset}" in run(machine, "fetch", "Garden.md", "--max-tokens", "50").err
    rest = machine.run("fetch", "Garden.md", "--offset", offset)
    whole = machine.run("fetch", "Garden.md")["text"]
    assert (first["text"] + " " + rest["text"]).split() == whole.split()


def test_a_secret_file_is_said_to_be_withheld(machine: Machine) -> None:
    secret = machine.vault / "secrets/Bank.md"
    secret.parent.mkdir(exist_ok=True)
    secret.write_text("PIN 1234", "utf-8")
    done = run(machine, "fetch", "secrets/Bank.md")
    assert done.code == 5
    assert "withheld" in done.err and "1234" not in done.err + done.out


def test_what_is_not_there_is_five(machine: Machine) -> None:
    done = run(machine, "fetch", "Nothing.md")
    assert done.code == 5
    assert "Nothing.md" in done.err and "→" in done.err
