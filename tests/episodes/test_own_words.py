"""A person's own last line in an episode's note stays, whatever is written after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.episodes.test_recorder import Desk, read
from tests.memory.conftest import MAIN, House
from vaultmind.episodes.notes.mending import mended
from vaultmind.episodes.notes.tears import FOLDER
from vaultmind.episodes.types import Event
from vaultmind.types import PERSON

LIKE_OURS = "- 10:06:30 decided: keep the beech wood"
OWN = [
    "- 10:05 the customer rang: keep the beech wood",
    "- 10:06 decided: keep the beech wood",
    "- 10:06:30 the customer rang again",
    "- 10:06:30 read the letter of the customer",
    "- 10:07",
    "- 10:07:",
    "* 10:06:30 decided: keep it",
    "-",
]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(House(tmp_path))


def add(path: Path, line: str) -> None:
    with path.open("a", encoding="utf-8") as note:
        note.write(line)


@pytest.mark.parametrize("line", [*OWN, LIKE_OURS])
def test_a_hand_written_last_line_stays_while_an_episode_runs_ends_and_is_judged(
    desk: Desk, line: str
) -> None:
    one = desk.start()
    desk.recorder.add("s1", [read()], MAIN)
    steps: list[Callable[[], object]] = [
        lambda: desk.recorder.add("s1", [read("src/b.py")], MAIN),
        lambda: desk.recorder.feedback("s1", "partial", "Half of it", PERSON),
        lambda: desk.recorder.end("s1", "success", "It works", MAIN),
        lambda: desk.recorder.feedback(one.name, "failed", "It broke", PERSON),
    ]
    for number, go_on in enumerate(steps, 1):
        add(desk.note(one), line)
        go_on()
        assert desk.note(one).read_text("utf-8").splitlines().count(line) == number
    left = desk.recorder.files.read(one.name)
    assert [event.path for event in left.events if event.kind == "read"][:2] == [
        "src/a.py", "src/b.py",
    ]  # fmt: skip


@pytest.mark.parametrize("line", [*OWN, LIKE_OURS])
def test_a_hand_written_last_line_stays_over_a_restart(desk: Desk, line: str) -> None:
    one = desk.start()
    desk.recorder.add("s1", [read()], MAIN)
    add(desk.note(one), line)
    again = desk.opened()
    assert again.resume() == 1
    again.add("s1", [read("src/b.py")], MAIN)
    assert line in desk.note(one).read_text("utf-8").splitlines()


@contextmanager
def cut_short(desk: Desk, monkeypatch: pytest.MonkeyPatch, at: int = 30) -> Iterator[None]:
    """Have only so many characters of a write come to the disk, until the block is over."""

    def half(relative: str, text: str) -> None:
        add(desk.house.file(relative), text[:at])
        raise OSError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(desk.house.gate, "append", half)
        with pytest.raises(OSError, match="no room"):
            yield


def test_a_torn_line_of_ours_goes_where_writing_it_failed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = desk.start()
    desk.recorder.add("s1", [read()], MAIN)
    with cut_short(desk, monkeypatch):
        desk.recorder.add("s1", [read("src/torn.py")], MAIN)
    assert desk.recorder.end("s1", "success", "", MAIN).outcome == "success"
    assert "torn" not in desk.note(one).read_text("utf-8")


@pytest.mark.parametrize("restarts", [False, True])
def test_a_hand_written_line_stays_where_nothing_of_ours_could_be_written(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, restarts: bool
) -> None:
    one = desk.start()
    desk.recorder.add("s1", [read()], MAIN)
    with cut_short(desk, monkeypatch, 0):
        desk.recorder.add("s1", [Event("decision", "", text="There is no room for it")], MAIN)
    add(desk.note(one), LIKE_OURS)
    recorder = desk.opened() if restarts else desk.recorder
    recorder.add("s1", [read("src/b.py")], MAIN)
    assert LIKE_OURS in desk.note(one).read_text("utf-8").splitlines()


@pytest.mark.parametrize("at", [12, 30, -2])
def test_over_a_restart_a_torn_line_goes_and_a_hand_written_one_behind_it_stays(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    one, two = desk.start(), desk.start(session="s2")
    for session in ("s1", "s2"):
        with cut_short(desk, monkeypatch, at):
            event = Event("decision", "", text="torn with a crash")
            desk.recorder.add(session, [read(), event][at > 0 :], MAIN)
    add(desk.note(two), f"\n{LIKE_OURS}")
    again = desk.opened()
    assert again.resume() == 2
    for session in ("s1", "s2"):
        again.add(session, [read("src/b.py")], MAIN)
    paths = [event.path for event in again.files.read(one.name).events]
    assert paths == ["src/b.py"] if at > 0 else ["src/a.py", "", "src/b.py"]
    assert LIKE_OURS in desk.note(two).read_text("utf-8").splitlines()
    assert not [*(desk.state_dir() / FOLDER).iterdir()], "nothing is kept of it"


@pytest.mark.parametrize(
    "torn",
    [
        "- 10:00:03",
        "- 10:00:03 deci",
        "- 10:00:03 decided: Why",
        "- 10:00:03 saw removed `src",
        "- 10:00:03 read [[notes/a.md",
        "- 10:00:03 ran and failed: pytest %%{",
    ],
)
def test_what_reads_to_the_letter_as_ours_begins_is_torn(torn: str) -> None:
    assert mended(f"## What was done\n\n{torn}") == "## What was done\n\n"


def test_a_note_with_windows_line_ends_keeps_them_in_every_line(desk: Desk) -> None:
    one = desk.start()
    desk.recorder.add("s1", [read()], MAIN)
    note = desk.note(one)
    note.write_bytes(b"\xef\xbb\xbf" + note.read_bytes().replace(b"\n", b"\r\n"))
    desk.recorder.add("s1", [read("src/b.py")], MAIN)
    desk.recorder.feedback("s1", "partial", "Half of it", PERSON)
    desk.recorder.end("s1", "success", "It works", MAIN)
    desk.recorder.feedback(one.name, "failed", "It broke", PERSON)
    raw = note.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf---\r\n") and b"\n" not in raw.replace(b"\r\n", b"")
    left = desk.recorder.files.read(one.name)
    assert (left.outcome, left.rationale, len(left.events)) == ("failed", "It broke", 5)


@pytest.mark.parametrize(
    "pasted", [" " * 300_000, " %%{" * 80_000, "`" * 300_000], ids=["gaps", "comments", "ticks"]
)
def test_whatever_a_person_pastes_is_read_at_once(desk: Desk, pasted: str) -> None:
    """Looking for our lines in such a line took minutes; nobody waits for that."""
    one = desk.start()
    add(desk.note(one), f"- 10:00:00 read {pasted}x")
    desk.recorder.add("s1", [read()], MAIN)
    add(desk.note(one), f"- 10:00:00 read {pasted}x")
    desk.recorder.end("s1", "success", "It works", MAIN)
    left = desk.recorder.files.read(one.name)
    assert (left.rationale, [event.path for event in left.events]) == ("It works", ["src/a.py"])
    assert desk.note(one).read_text("utf-8").count(pasted) == 2
