"""Episodes are written down as they happen, and nothing that happens to the note loses them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.memory.conftest import MAIN, NOW, House
from tests.waiting import until
from vaultmind.episodes.notes.keeping import MAX_EVENTS, MAX_ROUTINE, Keeping, kept_event
from vaultmind.episodes.notes.lines import line_of
from vaultmind.episodes.notes.tears import Tears
from vaultmind.episodes.recorder import Recorder, RecorderSettings
from vaultmind.episodes.types import Episode, Event, Offer, TaskMark
from vaultmind.errors import BadArgument, NotAllowed, NotFound, WriteFailed
from vaultmind.memory.forget.kinds import Ref
from vaultmind.types import PERSON, Caller
from vaultmind.vault.files import Change, FileText, VaultReader

TASK = TaskMark("Fix the refresh of tokens", "bugfix", "f1", "high", ("#12",))
OTHER = Caller("agent", "other", "claude-code")


@dataclass
class Desk:
    """A recorder over a real gate, its clock, and short ways to look."""

    house: House
    now: datetime = NOW
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.recorder = self.opened()

    def opened(self, device: str = "here") -> Recorder:
        settings = RecorderSettings(
            device,
            in_vault=lambda source: source == "vault",
            told=self.told.append,
            state_dir=self.state_dir(device),
        )
        reader = VaultReader(self.house.paths, 0)
        return Recorder(self.house.gate, reader, self.house.paths, lambda: self.now, settings)

    def state_dir(self, device: str = "here") -> Path:
        root = self.house.paths.root
        return root.parent / f"state-{root.name}-{device}"

    def start(self, task: TaskMark = TASK, session: str = "s1", **more: str) -> Episode:
        return self.recorder.start(task, more.get("source", "repo"), MAIN, session=session)

    def note(self, one: Episode) -> Path:
        return self.house.file(self.recorder.files.path(one.name))

    def edit(self, one: Episode, change: Callable[[str], str]) -> None:
        path = self.note(one)
        path.write_text(change(path.read_text("utf-8")), "utf-8")


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.fixture
def desk(house: House) -> Desk:
    return Desk(house)


def read(path: str = "src/a.py") -> Event:
    return Event("read", "", path)


def test_the_same_task_in_the_same_conversation_is_one_episode(desk: Desk) -> None:
    one = desk.start()
    assert one.name == "main/2026-02-20_001" and desk.start() == one
    others = (desk.start(session="s2"), desk.start(source="vault"), desk.start(TaskMark("Else")))
    assert [other.id[-3:] for other in others] == ["002", "003", "004"]
    desk.recorder.end(one.name, "success", "", MAIN)
    assert desk.start().id == "2026-02-20_005", "what has ended is begun anew"
    assert [one.id[-3:] for one in desk.recorder.running("main", session="s1")] == [
        "005", "004", "003",
    ]  # fmt: skip


def test_events_are_in_the_note_at_once_and_found_by_the_conversation(desk: Desk) -> None:
    one = desk.start()
    assert "# Fix the refresh of tokens\n" in desk.note(one).read_text("utf-8")
    desk.recorder.add("s1", [read(), Event("edit", "", "src/a.py", change="modified")], MAIN)
    now = desk.recorder.add(one.name, [Event("decision", "", text="We use cookies")], MAIN)
    assert [event.block for event in now.events] == ["e1", "e2", "e3"]
    assert desk.recorder.files.read(one.name) == now
    assert set(desk.told) == {one.name}


def test_what_is_read_again_within_minutes_is_no_news(desk: Desk) -> None:
    desk.start()
    desk.recorder.add("s1", [read(), read(), read("src/b.py")], MAIN)
    desk.now += timedelta(minutes=4)
    assert len(desk.recorder.add("s1", [read()], MAIN).events) == 2
    desk.now += timedelta(minutes=2)
    assert len(desk.recorder.add("s1", [read()], MAIN).events) == 3


def test_an_end_says_what_came_of_it_and_what_it_took(desk: Desk) -> None:
    one = desk.start()
    offer = Offer("f1", "t", "shipped", {"src/a.py": {"f": 0.5}}, ("src/a.py",), 900, took_ms=12.6)
    desk.recorder.offer(one.name, offer, MAIN)
    commit = Event("commit", "", text="Fix it", commit="abc123")
    desk.recorder.add("s1", [Event("plan", "", tokens=900), commit], MAIN)
    ended = desk.recorder.end("s1", "success", "The refresh was never called", MAIN)
    assert (ended.state, ended.outcome, ended.token_used, ended.latency_ms) == (
        "ended", "success", 900, 13,
    )  # fmt: skip
    assert desk.recorder.files.read(one.name) == ended
    assert desk.recorder.files.offers(one.name) == (offer,)
    text = desk.note(one).read_text("utf-8")
    assert "Commits: `abc123`." in text and "Issues: #12." in text
    with pytest.raises(NotFound, match="Start one"):
        desk.recorder.add("s1", [read()], MAIN)


def test_the_persons_word_stands_over_an_agents(desk: Desk) -> None:
    one = desk.start()
    desk.recorder.feedback("s1", "failed", "It still logs out", PERSON)
    ended = desk.recorder.end("s1", "success", "All done", MAIN)
    assert (ended.outcome, ended.rationale) == ("failed", "It still logs out")
    assert desk.recorder.feedback(one.name, "success", "But no", MAIN).outcome == "failed"
    assert desk.recorder.feedback(one.name, "partial", "Half", PERSON).outcome == "partial"
    told = [event.text for event in desk.recorder.files.read(one.name).events]
    assert told == [
        "failed: It still logs out", "success: All done", "success: But no", "partial: Half",
    ]  # fmt: skip


def test_an_outcome_typed_into_the_note_is_the_persons_word_too(desk: Desk) -> None:
    one = desk.start()
    desk.edit(one, lambda text: text.replace("outcome: unknown", "outcome: failed"))
    assert desk.recorder.end("s1", "success", "", MAIN).outcome == "failed"
    two = desk.start(session="s2")
    desk.recorder.end("s2", "success", "", MAIN)
    desk.edit(two, lambda text: text.replace("outcome: success", "outcome: partial"))
    assert desk.recorder.feedback(two.name, "success", "", MAIN).outcome == "partial"


def test_a_reason_goes_with_its_outcome_and_is_not_lost(desk: Desk) -> None:
    one = desk.start()
    desk.recorder.end("s1", "success", "The cache was cleared", MAIN)
    now = desk.recorder.feedback(one.name, "failed", "", PERSON)
    assert (now.outcome, now.rationale) == ("failed", "Said of success: The cache was cleared")
    assert [event.text for event in now.events] == ["success: The cache was cleared", "failed"]
    assert desk.recorder.files.read(one.name) == now
    again = desk.recorder.feedback(one.name, "partial", "", PERSON)
    assert (again.outcome, again.rationale) == ("partial", now.rationale)
    assert [event.text for event in again.events[2:]] == ["partial"]
    assert (
        desk.recorder.feedback(one.name, "failed", "It is slow", PERSON).rationale == "It is slow"
    )
    assert desk.recorder.feedback(one.name, "failed", "", PERSON).rationale == "It is slow"


def test_an_agents_later_word_corrects_its_own(desk: Desk) -> None:
    one = desk.start()
    desk.recorder.end("s1", "success", "Works", MAIN)
    after = desk.recorder.feedback("s1", "failed", "The tests say no", MAIN)
    assert (after.name, after.outcome, after.rationale) == (one.name, "failed", "The tests say no")


def test_an_agent_writes_its_own_alone_and_none_without_records(desk: Desk) -> None:
    one = desk.start()
    calls: tuple[Callable[[], object], ...] = (
        lambda: desk.recorder.add(one.name, [read()], OTHER),
        lambda: desk.recorder.end(one.name, "success", "", OTHER),
        lambda: desk.recorder.feedback(one.name, "failed", "", OTHER),
        lambda: desk.recorder.offer(one.name, Offer("f", "t", "w"), OTHER),
    )
    for call in calls:
        with pytest.raises(NotAllowed, match="its own only"):
            call()
    with pytest.raises(NotFound):
        desk.recorder.add("s1", [read()], OTHER)
    desk.house.put(desk.house.paths.identity("main"), "---\nautonomy: 0\n---\n")
    before = desk.note(one).read_bytes()
    for call in (lambda: desk.recorder.add("s1", [read()], MAIN), lambda: desk.start(session="s9")):
        with pytest.raises(NotAllowed, match="autonomy 0"):
            call()
    assert desk.note(one).read_bytes() == before and len(desk.recorder.files.listed()) == 1


def test_bad_events_are_refused_whole(desk: Desk) -> None:
    one = desk.start()
    for bad in (read("../x"), Event("guess", ""), Event("edit", "", "a", change="new")):  # type: ignore[arg-type]
        with pytest.raises(BadArgument):
            desk.recorder.add("s1", [read(), bad], MAIN)
    with pytest.raises(BadArgument, match="success, partial, failed, unknown"):
        desk.recorder.end("s1", "great", "", MAIN)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="task"):
        desk.start(TaskMark(" \u200b\n"))
    assert desk.recorder.files.read(one.name).events == ()


def test_a_persons_lines_in_a_running_note_survive_everything(desk: Desk) -> None:
    one = desk.start()
    desk.recorder.add("s1", [read()], MAIN)
    desk.edit(one, lambda text: text.replace("## What", "%% my remark %%\n\n## What") + "Mine")
    desk.recorder.add("s1", [Event("decision", "", text="Go on")], MAIN)
    desk.edit(one, lambda text: text.replace("decided: Go on", "decided: Go on, said Anna"))
    ended = desk.recorder.end("s1", "success", "", MAIN)
    text = desk.note(one).read_text("utf-8")
    assert "%% my remark %%\n" in text and "\nMine\n" in text
    assert [event.block for event in ended.events] == ["e1", "e2"]
    assert ended.events[1].text == "Go on, said Anna"


def test_a_note_that_the_person_deleted_or_ended_runs_no_more(desk: Desk) -> None:
    one = desk.start()
    desk.note(one).unlink()
    with pytest.raises(NotFound, match="does not run"):
        desk.recorder.add("s1", [read()], MAIN)
    two = desk.start()
    assert two.id == "2026-02-20_002", "its number is not used again"
    desk.note(two).unlink()
    with pytest.raises(NotFound):
        desk.recorder.end("s1", "success", "", MAIN)
    assert Desk(desk.house).start().id == "2026-02-20_003", "not by another process either"
    desk.edit(three := desk.start(session="s3"), lambda text: text.replace("running", "ended"))
    with pytest.raises(NotFound):
        desk.recorder.add("s3", [read()], MAIN)
    assert desk.recorder.files.read(three.name).state == "ended"


def test_an_episode_goes_on_after_a_restart_with_a_torn_line_mended(desk: Desk) -> None:
    one = desk.start()
    tears, path = Tears(desk.state_dir()), desk.note(one)
    begins = len(path.read_bytes())
    desk.recorder.add("s1", [read(), Event("decision", "", text="We use cookies")], MAIN)
    tears.begin(one.name, begins, path.read_bytes()[begins:].decode().splitlines(keepends=True))
    path.write_bytes(path.read_bytes()[:-40])
    again = desk.opened()
    assert again.resume() == 1
    now = again.add("s1", [read("src/b.py")], MAIN)
    assert [(event.kind, event.path) for event in now.events] == [
        ("read", "src/a.py"), ("read", "src/b.py"),
    ]  # fmt: skip
    assert len({event.block for event in now.events}) == 2
    assert again.start(TASK, "repo", MAIN, session="s1").name == one.name


def test_another_devices_running_episode_is_left_alone(desk: Desk) -> None:
    one = desk.start()
    before = desk.note(one).read_bytes()
    there = desk.opened("there")
    assert there.resume() == 0
    assert there.start(TASK, "repo", MAIN, session="s1").id == "2026-02-20_002"
    desk.now += timedelta(days=30)
    assert there.close_abandoned() == 1
    assert desk.note(one).read_bytes() == before


def test_what_a_device_that_is_silent_left_goes_on_with_its_conversation(desk: Desk) -> None:
    """A device is known by its state folder, which somebody may delete."""
    one, two = desk.start(), desk.start(session="s2")
    desk.recorder.add("s1", [read()], MAIN)
    renamed = desk.opened("renamed")
    with pytest.raises(NotFound):
        renamed.add("s1", [read("src/b.py")], MAIN)
    desk.now += timedelta(minutes=121)
    desk.recorder.add("s2", [read()], MAIN)
    assert [left.name for left in renamed.running("main", session="s1")] == [one.name]
    now = renamed.add("s1", [read("src/b.py")], MAIN)
    assert [(event.block, event.path) for event in now.events] == [
        ("e1", "src/a.py"), ("e2", "src/b.py"),
    ]  # fmt: skip
    assert renamed.files.read(one.name).device == "renamed" and now.device == "renamed"
    assert renamed.running("main") == (now,) and desk.recorder.files.read(two.name).device == "here"
    with pytest.raises(NotFound):
        desk.recorder.add(one.name, [read()], MAIN)
    assert renamed.end("s1", "success", "", MAIN).name == one.name


@pytest.mark.parametrize("how", ["start", "add"])
def test_the_same_task_or_conversation_goes_on_where_a_device_left_it(desk: Desk, how: str) -> None:
    one = desk.start()
    desk.now += timedelta(minutes=121)
    renamed = desk.opened("renamed")
    assert renamed.start(TASK, "repo", MAIN, session="s3").name != one.name
    if how == "start":
        assert renamed.start(TASK, "repo", MAIN, session="s1").name == one.name
    assert renamed.add("s1", [read()], MAIN).name == one.name
    assert renamed.files.read(one.name).device == "renamed"


def test_what_another_device_left_for_a_week_is_closed(desk: Desk) -> None:
    one = desk.start()
    there = desk.opened("there")
    desk.now += timedelta(days=7)
    assert there.close_left() == 0
    desk.now += timedelta(hours=3)
    assert there.close_left() == 1 and there.close_left() == 0
    closed = there.files.read(one.name)
    assert (closed.state, closed.outcome, closed.ended) == ("ended", "unknown", one.started)


def test_what_is_abandoned_is_closed_as_unknown_when_it_was_left(desk: Desk) -> None:
    one, two = desk.start(), desk.start(session="s2")
    desk.now += timedelta(minutes=70)
    desk.recorder.add("s2", [read()], MAIN)
    desk.now += timedelta(minutes=60)
    assert desk.recorder.close_abandoned() == 1
    closed = desk.recorder.files.read(one.name)
    assert (closed.state, closed.outcome, closed.ended) == ("ended", "unknown", one.started)
    assert [left.name for left in desk.recorder.running("main")] == [two.name]
    assert desk.recorder.feedback("s1", "success", "It did work", PERSON).outcome == "success"


def test_what_a_wrong_clock_put_far_ahead_is_not_waited_for(desk: Desk) -> None:
    desk.now += timedelta(days=1500)
    ahead, others = desk.start(), desk.opened("there").start(TASK, "vault", MAIN, session="s9")
    desk.now -= timedelta(days=1500)
    again = desk.opened()
    assert again.close_abandoned() == 1 and again.close_left() == 1
    for one in (ahead, others):
        left = again.files.read(one.name)
        assert (left.state, left.outcome, left.ended) == ("ended", "unknown", iso(desk.now))
    near = desk.start(session="s3")
    desk.now -= timedelta(minutes=5)
    assert again.close_abandoned() == 0, "clocks differ a little"
    assert desk.recorder.files.read(near.name).state == "running"


def iso(time: datetime) -> str:
    return time.isoformat(timespec="seconds")


def test_five_thousand_events_stay_a_note_that_opens(desk: Desk) -> None:
    one = desk.start()
    desk.recorder.add("s1", [read(f"src/{n}.py") for n in range(3000)], MAIN)
    desk.recorder.add("s1", [Event("edit", "", f"{n}.py") for n in range(2000)], MAIN)
    why = [Event("decision", "", text=f"Because of {n}") for n in range(500)]
    assert len(desk.recorder.add("s1", why, MAIN).events) == MAX_EVENTS
    desk.recorder.feedback("s1", "failed", "Too much", PERSON)
    ended = desk.recorder.end("s1", "success", "", MAIN)
    assert sum(event.kind == "read" for event in ended.events) == MAX_ROUTINE
    assert ended.outcome == "failed" and desk.note(one).stat().st_size < 5_000_000


def test_the_longest_events_stay_below_the_limit_of_a_file() -> None:
    long = kept_event(Event("decision", "", "🧑" * 500, text="🧑" * 1000, block="e1"), "2026-02-20")
    keeping = Keeping()
    kept = sum(keeping.takes(long) for _ in range(MAX_EVENTS))
    assert kept * len(line_of(long).encode()) < 5_000_000 and kept > 700
    assert keeping.takes(Event("feedback", "", text="failed"))


def test_two_clients_of_one_conversation_lose_nothing(desk: Desk) -> None:
    def client(name: str) -> None:
        one = desk.start()
        for number in range(20):
            desk.recorder.add(one.name, [read(f"{name}/{number}.py")], MAIN)

    threads = [threading.Thread(target=client, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (one,) = desk.recorder.running("main")
    assert len({event.path for event in one.events}) == 60
    assert len({event.block for event in one.events}) == 60
    assert desk.recorder.files.read(one.name) == one


class FullDisk:
    """A gate whose disk is full at will. Implements `recorder.Records`."""

    def __init__(self, house: House) -> None:
        self._gate = house.gate
        self.full = False

    def keeps_records(self, agent: str) -> bool:
        return self._gate.keeps_records(agent)

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> FileText | None:
        self._check(relative)
        return self._gate.save(relative, change, caller, reason)

    def append(self, relative: str, text: str) -> None:
        self._check(relative)
        self._gate.append(relative, text)

    def remove(self, relative: str, caller: Caller, reason: str) -> bool:
        return self._gate.remove(relative, caller, reason)

    def hide_moved(self, refs: Iterable[Ref]) -> None:
        self._gate.hide_moved(refs)

    def show_left(self, refs: Iterable[Ref]) -> None:
        self._gate.show_left(refs)

    def _check(self, relative: str) -> None:
        if self.full:
            raise WriteFailed(f"{relative} could not be written: no space left on device.")


def test_a_full_disk_is_told_and_what_comes_later_is_kept(house: House) -> None:
    gate, reader = FullDisk(house), VaultReader(house.paths, 0)
    recorder = Recorder(gate, reader, house.paths, lambda: NOW, RecorderSettings("here"))
    one = recorder.start(TASK, "repo", MAIN, session="s1")
    gate.full = True
    calls: tuple[Callable[[], object], ...] = (
        lambda: recorder.add("s1", [read()], MAIN),
        lambda: recorder.end("s1", "success", "", MAIN),
    )
    for call in calls:
        with pytest.raises(WriteFailed):
            call()
    gate.full = False
    now = recorder.add("s1", [read()], MAIN)
    assert [event.block for event in now.events] == ["e1"]
    assert recorder.end("s1", "success", "", MAIN).name == one.name


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


def test_killed_in_the_middle_of_its_work_it_is_gone_on_with(desk: Desk) -> None:
    root = desk.house.paths.root
    command = [sys.executable, "-c", KILLED, str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path.cwd(),
                          env=os.environ | {"PYTHONPATH": str(Path.cwd())}) as worker:  # fmt: skip
        assert worker.stdout is not None
        last = next(int(line) for line in worker.stdout if int(line) >= 5)
        worker.send_signal(signal.SIGKILL)
    again = desk.opened()
    until(lambda: again.resume() == 1)
    now = again.add("s1", [read()], MAIN)
    said = [event.text for event in now.events if event.kind == "decision"]
    assert len(said) > last and all(text.endswith("x" * 300) for text in said)
    assert [event.block for event in now.events] == [f"e{n}" for n in range(1, len(said) + 2)]
    assert again.end("s1", "success", "", MAIN).outcome == "success"


def test_offers_are_read_leniently_and_removed_with_a_word(desk: Desk) -> None:
    one = desk.start()
    offer = Offer("f", "t", "w", {f"{n}.py": {"f": n / 100} for n in range(60)}, ("0.py",))
    desk.recorder.offer(one.name, offer, MAIN)
    path = desk.house.file(desk.recorder.files.offers_path(one.name))
    path.write_text(path.read_text("utf-8") + 'nonsense\n{"files": 3}\n[]\n{"files": {}', "utf-8")
    (kept,) = desk.recorder.files.offers(one.name)
    assert len(kept.files) == 40 and kept.chosen == ("0.py",)
    assert desk.recorder.files.listed()[0].offers is not None
    assert desk.recorder.drop_offers(one.name, PERSON) and not path.exists()
    assert not desk.recorder.drop_offers(one.name, PERSON)
