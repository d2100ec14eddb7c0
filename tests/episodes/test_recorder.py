"""Episodes are written down as they happen, and nothing that happens to the note loses them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from tests.memory.conftest import MAIN, NOW, House
from vaultmind.config import Config
from vaultmind.episodes.files import EpisodeFiles
from vaultmind.episodes.keep import MAX_EVENTS, MAX_ROUTINE
from vaultmind.episodes.recorder import Recorder
from vaultmind.episodes.store import Tables
from vaultmind.episodes.types import Episode, Event, Offer, TaskMark
from vaultmind.errors import BadArgument, NotAllowed, NotFound
from vaultmind.types import PERSON, Caller
from vaultmind.vault.files import VaultReader

TASK = TaskMark("Fix the refresh of tokens", "bugfix", "f1", "high", ("#12",))
OTHER = Caller("agent", "other", "claude-code")


@dataclass
class Desk:
    """A recorder over a real gate, its clock, and short ways to look."""

    house: House

    def __post_init__(self) -> None:
        self.now = NOW
        self.recorder = self.opened()

    def opened(self, device: str = "here") -> Recorder:
        paths = self.house.paths
        files = EpisodeFiles(paths, VaultReader(paths, 0))
        tables = Tables(paths.root.parent / f"{device}.db")
        tables.follow(files)
        config = Config(paths.root, paths.root.parent)
        return Recorder(self.house.gate, files, lambda: tables, lambda: self.now, config, device)

    def start(self, task: TaskMark = TASK, session: str = "s1", source: str = "repo") -> Episode:
        return self.recorder.start(task, source, MAIN, session=session)

    def edit(self, one: Episode, change: Callable[[str], str]) -> None:
        path = self.house.file(self.recorder.files.path(one.name))
        path.write_text(change(path.read_text("utf-8")), "utf-8")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "vault").mkdir()
    return Desk(House(tmp_path / "vault"))


def read(path: str = "src/a.py") -> Event:
    return Event("read", "", path)


def test_the_same_task_in_the_same_conversation_is_one_episode(desk: Desk) -> None:
    one = desk.start()
    assert one.name == "main/2026-02-20_001" and desk.start() == one
    others = (desk.start(session="s2"), desk.start(source="vault"), desk.start(TaskMark("Else")))
    assert [other.id[-3:] for other in others] == ["002", "003", "004"]
    desk.recorder.end(one.name, "success", "", MAIN)
    assert desk.start().id == "2026-02-20_005", "what has ended is begun anew"
    running = [it.id[-3:] for it in desk.recorder.running("main", session="s1")]
    assert running == ["005", "004", "003"]


def test_events_are_in_the_note_at_once_and_repeats_are_no_news(desk: Desk) -> None:
    one = desk.start()
    desk.recorder.add("s1", [read(), read(), Event("edit", "", "src/a.py")], MAIN)
    desk.now += timedelta(minutes=4)
    now = desk.recorder.add(one.name, [read(), Event("decision", "", text="Cookies")], MAIN)
    assert [event.block for event in now.events] == ["e1", "e2", "e3"]
    assert desk.recorder.files.read(one.name) == now
    desk.now += timedelta(minutes=2)
    assert len(desk.recorder.add("s1", [read()], MAIN).events) == 4


def test_an_end_says_what_came_of_it_and_what_it_took(desk: Desk) -> None:
    one = desk.start()
    offer = Offer("f1", "t", "shipped", {"src/a.py": {"f": 0.5}}, ("src/a.py",), 900)
    desk.recorder.offer(one.name, offer, MAIN)
    desk.recorder.add("s1", [Event("plan", "", tokens=900)], MAIN)
    ended = desk.recorder.end("s1", "success", "The refresh was never called", MAIN)
    assert (ended.state, ended.outcome) == ("ended", "success")
    assert desk.recorder.files.read(one.name) == ended
    path = desk.house.file(desk.recorder.files.offers_path(one.name))
    path.write_text(path.read_text("utf-8") + 'nonsense\n{"files": 3}\n[]\n{"files": {}', "utf-8")
    assert desk.recorder.files.offers(one.name) == (offer,)
    with pytest.raises(NotFound, match="Start one"):
        desk.recorder.add("s1", [read()], MAIN)


def test_the_persons_word_stands_over_an_agents_by_feedback_and_in_front_matter(desk: Desk) -> None:
    one = desk.start()
    desk.recorder.feedback("s1", "failed", "It still logs out", PERSON)
    ended = desk.recorder.end("s1", "success", "All done", MAIN)
    assert (ended.outcome, ended.rationale) == ("failed", "It still logs out")
    assert desk.recorder.feedback(one.name, "success", "But no", MAIN).outcome == "failed"
    assert desk.recorder.feedback(one.name, "partial", "Half", PERSON).outcome == "partial"
    told = [(event.outcome, event.text) for event in desk.recorder.files.read(one.name).events]
    assert told == [
        ("failed", "It still logs out"), ("success", "All done"), ("success", "But no"),
        ("partial", "Half"),
    ]  # fmt: skip
    two = desk.start(session="s2")
    desk.edit(two, lambda text: text.replace("outcome: unknown", "outcome: failed"))
    assert desk.recorder.end("s2", "success", "", MAIN).outcome == "failed"
    assert desk.recorder.feedback(two.name, "success", "", MAIN).outcome == "failed"


def test_an_agent_writes_its_own_alone_and_none_without_records(desk: Desk) -> None:
    one = desk.start()
    calls: tuple[Callable[[], object], ...] = (
        lambda: desk.recorder.add(one.name, [read()], OTHER),
        lambda: desk.recorder.end(one.name, "success", "", OTHER),
        lambda: desk.recorder.offer(one.name, Offer("f", "t", "w"), OTHER),
    )
    for call in calls:
        with pytest.raises(NotAllowed, match="its own only"):
            call()
    desk.house.put(desk.house.paths.identity("main"), "---\nautonomy: 0\n---\n")
    for call in (lambda: desk.recorder.add("s1", [read()], MAIN), lambda: desk.start(session="s9")):
        with pytest.raises(NotAllowed, match="autonomy 0"):
            call()
    assert desk.recorder.files.read(one.name) == one


def test_bad_events_are_refused_whole(desk: Desk) -> None:
    one = desk.start()
    paths = ("../x", "/etc/passwd", "~/x", "C:/x", "https://x.test/a", "a\nb")
    wrong = Event("guess", ""), Event("edit", "", "a", change="new")  # type: ignore[arg-type]
    for bad in (*map(read, paths), *wrong):
        with pytest.raises(BadArgument):
            desk.recorder.add("s1", [read(), bad], MAIN)
    with pytest.raises(BadArgument, match="success, partial, failed, unknown"):
        desk.recorder.end("s1", "great", "", MAIN)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="task"):
        desk.start(TaskMark(" \u200b\n"))
    assert desk.recorder.files.read(one.name).events == ()


def test_a_persons_lines_survive_and_a_note_that_they_deleted_or_ended_runs_no_more(
    desk: Desk,
) -> None:
    one = desk.start()
    desk.recorder.add("s1", [read()], MAIN)
    desk.edit(one, lambda text: text.replace("## What", "My remark\n\n## What") + "Mine")
    desk.recorder.add("s1", [Event("decision", "", text="Go on")], MAIN)
    ended = desk.recorder.end("s1", "success", "", MAIN)
    text = desk.house.file(desk.recorder.files.path(one.name)).read_text("utf-8")
    assert "My remark\n" in text and "Mine\n" in text
    assert [event.block for event in ended.events] == ["e1", "e2", "e3"]
    two = desk.start()
    desk.house.file(desk.recorder.files.path(two.name)).unlink()
    with pytest.raises(NotFound):
        desk.recorder.add("s1", [read()], MAIN)
    assert desk.start().id == "2026-02-20_003", "its number is not used again"
    desk.edit(three := desk.start(session="s3"), lambda it: it.replace("running", "ended"))
    with pytest.raises(NotFound):
        desk.recorder.add("s3", [read()], MAIN)
    assert desk.recorder.files.read(three.name).state == "ended"


def test_what_is_abandoned_is_closed_as_unknown_anothers_a_week_later(desk: Desk) -> None:
    one, two = desk.start(), desk.start(session="s2")
    desk.now += timedelta(minutes=70)
    desk.recorder.add("s2", [read()], MAIN)
    desk.now += timedelta(minutes=60)
    assert desk.recorder.close_abandoned() == 1
    closed = desk.recorder.files.read(one.name)
    assert (closed.state, closed.outcome, closed.ended) == ("ended", "unknown", one.started)
    assert [left.name for left in desk.recorder.running("main")] == [two.name]
    there = desk.opened("there")
    assert not there.running("main")
    desk.now += timedelta(days=6)
    assert there.close_abandoned() == 0
    desk.now += timedelta(days=2)
    assert there.close_abandoned() == 1


def test_five_thousand_events_stay_a_note_that_opens(desk: Desk) -> None:
    desk.start()
    desk.recorder.add("s1", [read(f"src/{n}.py") for n in range(3000)], MAIN)
    desk.recorder.add("s1", [Event("edit", "", f"{n}.py") for n in range(2000)], MAIN)
    why = [Event("decision", "", text="🧑" * 1000) for n in range(500)]
    assert len(desk.recorder.add("s1", why, MAIN).events) == MAX_EVENTS
    desk.recorder.feedback("s1", "failed", "Too much", PERSON)
    ended = desk.recorder.end("s1", "success", "", MAIN)
    assert sum(event.kind == "read" for event in ended.events) == MAX_ROUTINE
    assert ended.outcome == "failed"


def test_two_clients_of_one_conversation_lose_nothing(desk: Desk) -> None:
    def client(name: str) -> None:
        one = desk.start()
        for number in range(15):
            desk.recorder.add(one.name, [read(f"{name}/{number}.py")], MAIN)

    threads = [threading.Thread(target=client, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (one,) = desk.recorder.running("main")
    assert len({event.path for event in one.events}) == 45
    assert len({event.block for event in one.events}) == 45


KILLED = """
import sys
from pathlib import Path
from tests.episodes.test_recorder import TASK, Desk
from tests.memory.conftest import MAIN, House
from vaultmind.episodes.types import Event
desk = Desk(House(Path(sys.argv[1])))
desk.start()
for number in range(1_000):
    desk.recorder.add("s1", [Event("decision", "", text=f"Decision {number} " + "x" * 300)], MAIN)
    print(number, flush=True)
"""


def test_killed_or_torn_in_the_middle_of_its_work_it_is_gone_on_with(desk: Desk) -> None:
    command = [sys.executable, "-c", KILLED, str(desk.house.paths.root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path.cwd(),
                          env=os.environ | {"PYTHONPATH": str(Path.cwd())}) as worker:  # fmt: skip
        assert worker.stdout is not None
        last = next(int(line) for line in worker.stdout if int(line) >= 5)
        worker.send_signal(signal.SIGKILL)
    again = desk.opened()
    (one,) = again.running("main")
    path = desk.house.file(again.files.path(one.name))
    path.write_bytes(path.read_bytes()[:-40])  # a line that a crash cut short
    now = again.add("s1", [read()], MAIN)
    said = [event.text for event in now.events if event.kind == "decision"]
    assert len(said) >= last and all(text.endswith("x" * 300) for text in said)
    assert again.files.read(one.name).events == now.events and now.events[-1].path == "src/a.py"
    assert len({event.block for event in now.events}) == len(now.events)
    assert again.end("s1", "success", "", MAIN).outcome == "success"
