"""What searches were worth: heard or said, kept in a line, forgotten and erased with the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.serve.vaults import open_vault
from vaultmind.app import App
from vaultmind.errors import BadArgument, NotAllowed
from vaultmind.learn.feedback import (
    Line,
    feedback_files,
    fold,
    kept_query,
    without_said,
    written,
)
from vaultmind.memory.match import Wanted
from vaultmind.serve import op
from vaultmind.serve.call import Call
from vaultmind.types import PERSON, Caller, MemoryWrite

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
MAIN = Caller("agent", "main", "test")
JASKIER = Caller("agent", "jaskier", "test")
LONG_AGO = "2020-01-01T12:00:00+00:00"
LINE = Line(NOW.isoformat(), "bread oven", "Notes/Oven.md", "fetch", "#Wood", "a1")


# --- what lines add up to -------------------------------------------------------------------


def test_the_last_word_on_a_hit_counts_and_signs_count_less_than_words() -> None:
    said = [
        LINE,
        replace(LINE, signal="useful", time=(NOW + timedelta(1)).isoformat()),
        replace(LINE, signal="wrong", time=(NOW + timedelta(2)).isoformat()),
        replace(LINE, time=(NOW + timedelta(3)).isoformat()),
    ]
    (one,) = fold({"main": said}, NOW + timedelta(3))
    assert -1.0 <= one.places[0][1] < -0.95
    (signs,) = fold({"main": [LINE, LINE]}, NOW)
    assert signs.places[0][1] == pytest.approx(0.3), "repeating one adds nothing"


def test_the_persons_word_stands_over_what_every_agent_says() -> None:
    agent = replace(LINE, signal="useful", query="Bread  oven")
    person = replace(LINE, signal="wrong", by="person")
    later = replace(person, signal="useful", time=(NOW + timedelta(1)).isoformat())
    other = replace(agent, path="Other.md")
    told = fold({"main": [person], "b": [agent, other]}, NOW)
    assert {(one.agent, one.by, one.places[0][0].path) for one in told} == {
        ("main", "person", LINE.path), ("b", "agent", "Other.md"),
    }  # fmt: skip
    (stands,) = fold({"main": [person], "b": [later, agent]}, NOW)
    assert (stands.agent, stands.places[0][1]) == ("b", 1.0)


def test_a_line_goes_with_what_is_erased_and_no_other_line() -> None:
    told = replace(LINE, query="Anna's flat in Lisbon")
    session = "VaultMind/agents/main/memory/sessions/2026-11-22_001.md"
    of = replace(LINE, path=session, anchor="#^m7")
    text = "".join(map(written, (LINE, told, of)))
    wanted = Wanted(["flat in Lisbon"], [(session.removesuffix(".md"), "m7", "")])
    assert without_said(text, "x.jsonl", wanted) == written(LINE)


@pytest.mark.parametrize(
    "query", ["", "the key AKIAIOSFODNN7EXAMPLE", "a <private>b</private>", "long " * 100]
)
def test_what_is_secret_private_or_pasted_is_not_kept(query: str) -> None:
    assert kept_query(query) == ""


# --- what is heard --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with open_vault(tmp_path_factory.mktemp("feedback")) as app:
        yield app


def search(app: App, query: str, caller: Caller = MAIN, **more: object) -> list[dict[str, str]]:
    args = {"query": query, **more}
    hits = op.run_operation(app, Call(caller), "memory_search", args)["hits"]
    assert isinstance(hits, list)
    return hits


def fetch(app: App, name: str, caller: Caller = MAIN, **more: object) -> None:
    op.run_operation(app, Call(caller), "memory_fetch", {"id": name, **more})


def lines(app: App, agent: str = "main") -> list[tuple[str, str, str]]:
    return [(one.query, one.path, one.signal) for one in app.search_feedback.lines(agent)]


def test_a_hit_that_is_fetched_leaves_a_line_and_a_search_alone_none(app: App) -> None:
    hits = search(app, "how hot is the bread oven?")
    assert lines(app) == []
    fetch(app, hits[0]["id"])
    fetch(app, hits[0]["id"], max_tokens=50)
    assert lines(app) == [("how hot is the bread oven?", "Notes/Oven.md", "fetch")]
    raw = "".join((app.paths.root / one).read_text() for one in feedback_files(app.paths, "main"))
    assert "230 degrees" not in raw


def test_what_is_past_its_retention_goes_with_the_next_line(app: App) -> None:
    (path,) = feedback_files(app.paths, "main")
    file, old = app.paths.root / path, replace(LINE, query="of long ago", time=LONG_AGO)
    file.write_text(written(old) + file.read_text("utf-8"), "utf-8")
    fetch(app, search(app, "how is the bread oven lit?")[0]["id"])
    assert [query for query, *_ in lines(app)] == [
        "how hot is the bread oven?",
        "how is the bread oven lit?",
    ]


def test_a_verdict_is_said_of_the_last_search_that_showed_the_hit(app: App) -> None:
    def say(line: str) -> str:
        args = {"action": "feedback", "hits": [line]}
        return str(op.run_operation(app, Call(MAIN), "episode", args)["message"])

    hit = search(app, "bread oven")[0]["id"]
    assert "is useful for “bread oven”" in say(f"useful {hit}")
    assert "is wrong" in say(f"wrong {hit}")
    with pytest.raises(BadArgument, match="No search of the last"):
        say("useful Notes/Piec.md")


def test_nothing_is_kept_of_an_agent_that_keeps_no_records(app: App) -> None:
    hits = search(app, "bread oven", JASKIER)
    fetch(app, hits[0]["id"], JASKIER)
    assert lines(app, "jaskier") == []
    with pytest.raises(NotAllowed, match="autonomy 0"):
        app.search_feedback.judge(JASKIER, hits[0]["id"], "useful")


def test_what_is_forgotten_is_not_learnt_from(app: App) -> None:
    app.gate.write(MemoryWrite("remember", "main", PERSON, "The safe is behind the birch wood"))
    for query in ("safe behind the birch wood", "birch"):
        fetch(app, search(app, query)[0]["id"])
    fetch(app, search(app, "bread oven")[0]["id"])
    held = search(app, "where is the safe, behind birch wood?")
    app.gate.write(MemoryWrite("forget", "main", PERSON, "The safe is behind the birch wood"))
    kept = {query for query, *_ in lines(app)}
    assert "bread oven" in kept and not any("birch" in query for query in kept)
    fetch(app, held[-1]["id"])
    assert {query for query, *_ in lines(app)} == kept
