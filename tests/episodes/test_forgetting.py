"""Forgetting and erasing reach what agents did: the notes, offers, the tables, every way out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes import HashEmbedder
from tests.waiting import until
from vaultmind.app import App, open_app
from vaultmind.config import Config
from vaultmind.episodes.forgetting import without_episode
from vaultmind.episodes.types import Episode, Event, Offer, TaskMark
from vaultmind.errors import NotFound
from vaultmind.memory.audit import ASKED, newest_first
from vaultmind.memory.match import Wanted
from vaultmind.types import PERSON, Caller, Kind, MemoryWrite, SearchRequest

MAIN, OTHER = Caller("agent", "main"), Caller("agent", "other")
SECRET = "The kayak locker opens with ZANZIBAR"
TASK = TaskMark("Open the kayak locker with ZANZIBAR", "bugfix", "0123456789abcdef", "low", ("#7",))


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    app = open_app(Config(vault=vault, state_dir=tmp_path / "state"), embedder=HashEmbedder())
    app.start()
    for agent in ("main", "other"):
        app.init(agent, "en", PERSON)
    until(lambda: app.index.state().phase == "ready")
    yield app
    app.close()


@pytest.fixture
def done(app: App) -> Episode:
    """An episode that says it in its task, in two decisions, in a path and in its reason."""
    recorder = app.episodes
    one = recorder.start(TASK, "vault", MAIN, session="s1")
    events = (
        Event("read", "", "notes/harbour.md"),
        Event("read", "", "clients/ZANZIBAR.md"),
        Event("decision", "", text=f"Tokens are kept in cookies. {SECRET}"),
        Event("decision", "", text=SECRET),
        Event("commit", "", text="Mend the door of the harbour", commit="abc123"),
    )
    recorder.add(one.name, events, MAIN)
    recorder.offer(one.name, Offer("f1", "t", "w", {"notes/harbour.md": {"f": 0.5}}), MAIN)
    ended = recorder.judge(one.name, "success", f"{SECRET}. Tried twice", MAIN, ends=True)
    app.index.refresh([app.episodes.files.path(one.name)])
    return ended


def found(app: App, query: str, caller: Caller = PERSON) -> list[tuple[str, str]]:
    kinds: tuple[Kind, ...] = ("episode",)
    agent = "*" if caller.kind == "agent" else ""
    request = SearchRequest(query, kinds=kinds, agent=agent, per_note=10)
    return [(hit.anchor, hit.text) for hit in app.index.search(request, caller).hits]


def note(app: App, one: Episode) -> Path:
    return app.paths.root / app.episodes.files.path(one.name)


def test_an_episode_is_found_by_its_task_its_decisions_and_what_came_of_it(
    app: App, done: Episode
) -> None:
    said = dict(found(app, "kayak locker ZANZIBAR"))
    assert said["#^task"] == f"{TASK.text}\nOutcome: success."
    assert {"#^e3", "#^e4", "#^e6"} <= {*said}
    assert dict(found(app, "door of the harbour"))["#^e5"] == "Mend the door of the harbour"
    assert all("read" not in text for _, text in found(app, "harbour.md"))
    (hit, *_) = app.index.search(SearchRequest("cookies tokens"), PERSON).hits
    assert (hit.kind, hit.agent, hit.time) == ("episode", "main", done.events[2].time)


def test_a_forgotten_thing_is_hidden_line_by_line_and_comes_back_by_undo(
    app: App, done: Episode
) -> None:
    before = note(app, done).read_bytes()
    outcome = app.gate.write(MemoryWrite("forget", "main", PERSON, SECRET))
    assert outcome.outcome == "written" and "4 episode lines" in outcome.message
    assert not any("ZANZIBAR" in text for _, text in found(app, "kayak locker ZANZIBAR"))
    assert dict(found(app, "door of the harbour"))["#^e5"], "the rest of it is found as before"
    path = app.episodes.files.path(done.name)
    assert "kayak" not in app.index.fetch(path, PERSON).text
    for anchor in ("#^task", "#^e4", "#^e6"):
        with pytest.raises(NotFound):
            app.index.fetch(path + anchor, PERSON)
    assert app.index.outlet.hides("main", path.removesuffix(".md"), "task")
    assert note(app, done).read_bytes() == before, "its words stay in the note"
    done = next(newest_first(app.paths, ("main",), ASKED)).id
    assert app.gate.undo("main", done, PERSON).outcome == "written"
    assert any("ZANZIBAR" in text for _, text in found(app, "kayak locker ZANZIBAR"))


def test_erased_it_is_nowhere_and_the_search_says_so(app: App, done: Episode) -> None:
    app.episodes.settle()
    running = app.episodes.start(TaskMark("Ask ZANZIBAR again"), "vault", MAIN)
    app.episodes.add(running.name, [Event("decision", "", text="Ask ZANZIBAR")], MAIN)
    preview = app.gate.erasing.preview("ZANZIBAR", PERSON)
    assert preview.counts["episodes"] == 7 and not preview.yours
    erased = app.gate.erasing.erase("ZANZIBAR", PERSON, app.erasing, preview.seal)
    assert (erased.outcome, erased.left) == ("erased", ())
    assert "finds no trace of it" in erased.message
    left = app.episodes.files.read(done.name)
    assert [event.block for event in left.events] == ["e1", "e5"]
    assert (left.task.text, left.task.fingerprint, left.task.issues) == ("", "", ())
    assert (left.outcome, left.rationale) == ("success", "")
    assert not app.episodes.files.offers(done.name), "offers go with what was erased"
    for path in (*app.paths.root.rglob("*"), *app.config.state_dir.rglob("*")):
        if path.is_file():
            assert b"zanzibar" not in path.read_bytes().lower(), path
    assert not found(app, "ZANZIBAR kayak")


def test_offers_that_name_it_go_though_the_note_does_not(app: App) -> None:
    recorder = app.episodes
    one = recorder.start(TaskMark("Mend the door"), "vault", MAIN)
    recorder.offer(one.name, Offer("f", "t", "w", {"clients/ZANZIBAR.md": {"f": 1.0}}), MAIN)
    app.episodes.settle()
    erased = app.gate.erasing.erase("ZANZIBAR", PERSON, app.erasing)
    assert erased.outcome == "erased" and erased.counts == {"offers": 1}
    folder = note(app, one).parent
    assert [path.name for path in folder.iterdir()] == [note(app, one).name]


def test_an_erasure_leaves_every_line_that_says_nothing_of_it() -> None:
    text = (
        "---\nmine: kept\nepisode: 1\n---\n\n# A long task\n\nCall Bob. Then go. ^task\n\n"
        "My line.\n"
        "\n## What was done\n\n- 10:00:03 decided: Call Bob. Rest "
        '%%{"kind":"decision","text":"Call Bob. Rest"}%% ^e1\nBetween.\n'
        "- 10:00:04 read `bob.md` ^e2\n- my own bullet about Bob\n"
    )
    path = "VaultMind/agents/main/episodes/2026-01-01_001.md"
    done = without_episode(text, path, Wanted(["Bob"]))
    assert "Bob" not in done and "bob" not in done
    for line in ("mine: kept", "My line.", "Between."):
        assert line in done
    assert without_episode(text, path, Wanted(["Alice"])) == text
