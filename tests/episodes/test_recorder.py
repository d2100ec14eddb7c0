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
from vaultmind.episodes.note import MAX_EVENTS, MAX_ROUTINE
from vaultmind.episodes.recorder import Episodes
from vaultmind.episodes.types import Episode, Event, Offer, Result, TaskMark
from vaultmind.errors import BadArgument, NotAllowed, NotFound
from vaultmind.types import PERSON, Caller
from vaultmind.vault.files import VaultReader

TASK = TaskMark("Fix the refresh of tokens", "bugfix", "f1", "high", ("#12",))
OTHER = Caller("agent", "other", "claude-code")


@dataclass
class Desk:
    """Episodes over a real gate, their clock, and short ways to write and look."""

    house: House

    def __post_init__(self) -> None:
        self.now = NOW
        self.episodes = self.opened()

    def opened(self, device: str = "here") -> Episodes:
        paths = self.house.paths
        config = Config(paths.root, paths.root.parent / device)
        reader = VaultReader(paths, 0)
        return Episodes(config, self.house.gate, reader, lambda: self.now, device)

    def start(self, task: TaskMark = TASK, session: str = "s1", source: str = "repo") -> Episode:
        return self.episodes.start(task, source, MAIN, session=session)

    def add(self, one: Episode, *events: Event) -> Episode:
        return self.episodes.add(one.name, events, MAIN)

    def judge(self, one: Episode, outcome: Result, why: str = "", by: Caller = MAIN) -> Episode:
        return self.episodes.judge(one.name, outcome, why, by)

    def end(self, one: Episode, outcome: Result = "success", why: str = "") -> Episode:
        return self.episodes.judge(one.name, outcome, why, MAIN, ends=True)

    def note(self, one: Episode) -> Path:
        return self.house.file(self.episodes.files.path(one.name))

    def edit(self, one: Episode, change: Callable[[str], str]) -> None:
        self.note(one).write_text(change(self.note(one).read_text("utf-8")), "utf-8")


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
    desk.end(one)
    assert desk.start().id == "2026-02-20_005", "what has ended is begun anew"
    running = [it.id[-3:] for it in desk.episodes.running("main", session="s1")]
    assert running == ["005", "004", "003"]


def test_events_are_in_the_note_at_once_and_repeats_are_no_news(desk: Desk) -> None:
    one = desk.start()
    desk.add(one, read(), read(), Event("edit", "", "src/a.py"))
    desk.now += timedelta(minutes=4)
    now = desk.add(one, read(), Event("decision", "", text="Cookies"))
    assert [event.block for event in now.events] == ["e1", "e2", "e3"]
    assert desk.episodes.files.read(one.name) == now
    desk.now += timedelta(minutes=2)
    assert len(desk.add(one, read()).events) == 4


def test_the_persons_word_stands_over_an_agents_by_feedback_and_in_front_matter(desk: Desk) -> None:
    one = desk.start()
    desk.judge(one, "failed", "It still logs out", PERSON)
    ended = desk.end(one, "success", "All done")
    assert (ended.state, ended.outcome, ended.rationale) == ("ended", "failed", "It still logs out")
    assert desk.judge(one, "success", "But no").outcome == "failed"
    assert desk.judge(one, "partial", "Half", PERSON).outcome == "partial"
    told = [(event.outcome, event.text) for event in desk.episodes.files.read(one.name).events]
    assert told == [
        ("failed", "It still logs out"), ("success", "All done"), ("success", "But no"),
        ("partial", "Half"),
    ]  # fmt: skip
    two = desk.start(session="s2")
    desk.edit(two, lambda text: text.replace("outcome: unknown", "outcome: failed"))
    assert desk.end(two).outcome == "failed"
    assert desk.judge(two, "success").outcome == "failed"


def test_an_agent_writes_its_own_alone_and_none_without_records(desk: Desk) -> None:
    one = desk.start()
    calls: tuple[Callable[[], object], ...] = (
        lambda: desk.episodes.add(one.name, [read()], OTHER),
        lambda: desk.judge(one, "success", by=OTHER),
        lambda: desk.episodes.offer(one.name, Offer("f", "t", "w"), OTHER),
    )
    for call in calls:
        with pytest.raises(NotAllowed, match="its own only"):
            call()
    desk.house.put(desk.house.paths.identity("main"), "---\nautonomy: 0\n---\n")
    for call in (lambda: desk.add(one, read()), lambda: desk.start(session="s9")):
        with pytest.raises(NotAllowed, match="autonomy 0"):
            call()
    assert desk.episodes.files.read(one.name) == one


def test_bad_events_are_refused_whole(desk: Desk) -> None:
    one = desk.start()
    for path in ("../x", "/etc/passwd", "~/x", "C:/x", "https://x.test/a", "a\nb"):
        with pytest.raises(BadArgument):
            desk.add(one, read(), read(path))
    with pytest.raises(BadArgument, match="success, partial, failed, unknown"):
        desk.end(one, "great")  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="task"):
        desk.start(TaskMark(" \u200b\n"))
    assert desk.episodes.files.read(one.name).events == ()


def test_a_persons_lines_survive_and_a_note_that_they_deleted_or_ended_runs_no_more(
    desk: Desk,
) -> None:
    one = desk.start()
    desk.add(one, read())
    desk.edit(one, lambda text: text.replace("## What", "My remark\n\n## What") + "Mine")
    desk.add(one, Event("decision", "", text="Go on"))
    ended = desk.end(one)
    text = desk.note(one).read_text("utf-8")
    assert "My remark\n" in text and "Mine\n" in text
    assert [event.block for event in ended.events] == ["e1", "e2", "e3"]
    desk.note(two := desk.start()).unlink()
    desk.edit(three := desk.start(session="s3"), lambda it: it.replace("running", "ended"))
    for gone in (two, three):
        with pytest.raises(NotFound, match="not running"):
            desk.add(gone, read())
    assert three.id == "2026-02-20_003", "its number is not used again"
    assert desk.episodes.files.read(three.name).state == "ended"


def test_what_is_abandoned_is_closed_as_unknown_anothers_a_week_later(desk: Desk) -> None:
    one, two = desk.start(), desk.start(session="s2")
    desk.now += timedelta(minutes=70)
    desk.add(two, read())
    desk.now += timedelta(minutes=60)
    assert desk.episodes.close_abandoned() == 1
    closed = desk.episodes.files.read(one.name)
    assert (closed.state, closed.outcome, closed.ended) == ("ended", "unknown", one.started)
    assert [left.name for left in desk.episodes.running("main")] == [two.name]
    there = desk.opened("there")
    assert not there.running("main")
    desk.now += timedelta(days=6)
    assert there.close_abandoned() == 0
    desk.now += timedelta(days=2)
    assert there.close_abandoned() == 1


def test_five_thousand_events_stay_a_note_that_opens(desk: Desk) -> None:
    one = desk.start()
    desk.add(one, *(read(f"src/{n}.py") for n in range(3000)))
    desk.add(one, *(Event("edit", "", f"{n}.py") for n in range(2000)))
    why = [Event("decision", "", text="🧑" * 1000) for n in range(500)]
    assert len(desk.add(one, *why).events) == MAX_EVENTS
    desk.judge(one, "failed", "Too much", PERSON)
    ended = desk.end(one)
    assert sum(event.kind == "read" for event in ended.events) == MAX_ROUTINE
    assert ended.outcome == "failed"


def test_two_clients_of_one_conversation_lose_nothing(desk: Desk) -> None:
    def client(name: str) -> None:
        one = desk.start()
        for number in range(15):
            desk.add(one, read(f"{name}/{number}.py"))

    threads = [threading.Thread(target=client, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (one,) = desk.episodes.running("main")
    assert len({event.path for event in one.events}) == 45
    assert len({event.block for event in one.events}) == 45


KILLED = """
import sys
from pathlib import Path
from tests.episodes.test_recorder import Desk
from tests.memory.conftest import House
from vaultmind.episodes.types import Event
desk = Desk(House(Path(sys.argv[1])))
one = desk.start()
for number in range(1_000):
    desk.add(one, Event("decision", "", text=f"Decision {number} " + "x" * 300))
    print(number, flush=True)
"""


def test_killed_or_torn_in_the_middle_of_its_work_it_is_gone_on_with(desk: Desk) -> None:
    command = [sys.executable, "-c", KILLED, str(desk.house.paths.root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path.cwd(),
                          env=os.environ | {"PYTHONPATH": str(Path.cwd())}) as worker:  # fmt: skip
        assert worker.stdout is not None
        last = next(int(line) for line in worker.stdout if int(line) >= 5)
        worker.send_signal(signal.SIGKILL)
    desk.episodes = again = desk.opened()
    (one,) = again.running("main")
    desk.note(one).write_bytes(desk.note(one).read_bytes()[:-40])  # a line that a crash cut short
    now = desk.add(one, read())
    said = [event.text for event in now.events if event.kind == "decision"]
    assert len(said) >= last and all(text.endswith("x" * 300) for text in said)
    assert again.files.read(one.name).events == now.events and now.events[-1].path == "src/a.py"
    assert len({event.block for event in now.events}) == len(now.events)
    assert desk.end(one).outcome == "success"
