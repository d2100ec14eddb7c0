"""memory/suggestions/queue: one file that a person edits too, changed by compare-and-swap."""

from __future__ import annotations

import random
import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.memory.conftest import MAIN, NOW
from vaultmind.errors import DamagedMemory
from vaultmind.memory.suggestions.queue import Put, Queue
from vaultmind.types import Caller, MemoryWrite
from vaultmind.vault.files import Change, VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.writer import VaultWriter

TEA = MemoryWrite("remember", "main", MAIN, "Likes tea", reason="said twice")
RUM = MemoryWrite("remember", "jaskier", MAIN, "Likes rum")


class Desk:
    """A queue on a real folder, a clock to set, and a person who may edit in between."""

    def __init__(self, root: Path) -> None:
        self.paths = VaultPaths(root)
        self.writer = VaultWriter(self.paths)
        self.now = NOW
        self.between: list[str] = []
        reader = VaultReader(self.paths, 0)
        self.queue = Queue(self.paths, reader, self.edit, lambda: self.now, random.Random(7))

    @property
    def file(self) -> Path:
        return self.paths.root / self.paths.suggestions

    def edit(self, relative: str, change: Change) -> object:
        def raced(file: object) -> str | None:
            new = change(file)  # type: ignore[arg-type]
            if self.between:
                self.file.write_text(self.between.pop())
            return new

        return self.writer.edit(relative, raced, 25)

    def text(self) -> str:
        return self.file.read_text()

    def put(self, text: str) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(text)

    def tick(self, words: str, mark: str = "x") -> None:
        lines = self.text().split("\n")
        at = next(i for i, line in enumerate(lines) if words in line)
        self.put("\n".join([*lines[:at], lines[at].replace("[ ]", f"[{mark}]"), *lines[at + 1 :]]))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_missing_file_is_made_and_the_same_suggestion_is_made_once(desk: Desk) -> None:
    first = desk.queue.put(TEA, "pl")
    assert first.state == "new" and desk.text().startswith("# Sugestie\n")
    assert desk.queue.put(replace(TEA, text="likes TEA.")) == Put("waiting", first.id)
    desk.tick("Likes tea")
    assert desk.queue.put(TEA) == Put("waiting", first.id), "ticked, and on its way"
    assert desk.queue.settle(first.id, "rejected")
    assert desk.queue.put(TEA) == Put("rejected", first.id)
    assert desk.queue.waiting() == 0


def test_it_counts_what_waits_for_one_agent_or_for_all(desk: Desk) -> None:
    assert (desk.queue.waiting(), desk.queue.listed(), desk.queue.due()) == (0, (), ())
    desk.queue.put(TEA)
    desk.queue.put(RUM)
    counts = [desk.queue.waiting(agent) for agent in ("", "main", "jaskier", "dexter")]
    assert counts == [2, 1, 1, 0]
    desk.tick("Likes rum", "-")
    assert desk.queue.waiting() == 1
    assert [(one.suggestion.text, one.state) for one in desk.queue.due()] == [
        ("Likes rum", "rejected")
    ]


def test_an_edit_of_the_person_in_the_middle_of_ours_is_kept(desk: Desk) -> None:
    desk.queue.put(TEA)
    desk.between = [desk.text() + "\nmy own line\n"]
    desk.queue.put(RUM)
    assert "my own line" in desk.text() and desk.queue.waiting() == 2
    ticked = desk.text().replace(
        "- [ ] **main** wants to remember: L", "- [x] **main** wants to remember: L"
    )
    desk.between = [ticked]
    assert desk.queue.settle(desk.queue.listed()[1].suggestion.id, "expired")
    assert [one.state for one in desk.queue.listed()] == ["accepted"]


def test_what_says_something_else_by_now_is_not_settled(desk: Desk) -> None:
    put = desk.queue.put(TEA)
    (one,) = desk.queue.listed()
    desk.between = [desk.text().replace("Likes tea", "Likes green tea")]
    assert not desk.queue.settle(put.id, "accepted", one.suggestion)
    assert [one.suggestion.text for one in desk.queue.listed()] == ["Likes green tea"]
    assert not desk.queue.settle("s-none", "accepted")


def test_thirty_days_without_an_answer_and_it_expires(desk: Desk) -> None:
    desk.queue.put(TEA)
    desk.now += timedelta(days=29)
    assert desk.queue.expire() == ()
    desk.now += timedelta(days=2)
    assert [one.text for one in desk.queue.expire()] == ["Likes tea"]
    assert desk.queue.waiting() == 0 and "expired · **main** wants to remember" in desk.text()
    assert desk.queue.put(TEA).state == "new"


def test_what_could_not_be_applied_waits_again_until_it_changes(desk: Desk) -> None:
    desk.queue.put(TEA)
    desk.tick("Likes tea")
    (one,) = desk.queue.due()
    desk.queue.tell(one.suggestion, "not_found")
    assert desk.queue.due() == () and desk.queue.waiting() == 1
    assert "could not be applied: no fact is clearly" in desk.text()
    desk.queue.tell(one.suggestion, None)
    assert desk.queue.due() and "could not" not in desk.text()
    desk.queue.tell(one.suggestion, "too_long")
    desk.put(desk.text().replace("Likes tea", "Likes black tea"))
    (changed,) = desk.queue.due()
    desk.queue.tell(one.suggestion, "empty")
    assert desk.queue.due() == (changed,), "what says something else by now is left alone"


def test_what_is_no_text_is_left_as_it_is_and_named(desk: Desk) -> None:
    desk.put("")
    desk.file.write_bytes(b"\xff\xfe not text")
    with pytest.raises(DamagedMemory, match=r"VaultMind/Suggestions\.md cannot be used: not UTF-8"):
        desk.queue.put(TEA)
    assert desk.file.read_bytes() == b"\xff\xfe not text"


def test_notes_about_damaged_brains_stand_where_they_were_put(desk: Desk) -> None:
    desk.queue.put(TEA)
    note = "\n> [!warning] 2026-02-20 10:00 · a damaged memory file\n> It was set aside.\n"
    desk.writer.append(desk.paths.suggestions, note)
    put = desk.queue.put(RUM)
    assert note in desk.text() and desk.queue.waiting() == 2
    assert desk.queue.settle(put.id, "rejected")
    assert note in desk.text() and desk.queue.waiting() == 1
    assert desk.text().index("[!warning]") < desk.text().index("## Settled")


def test_sixteen_threads_lose_nothing_and_make_nothing_twice(desk: Desk) -> None:
    writes = [
        MemoryWrite("remember", "main", Caller("agent", "main"), f"Fact number {n % 20}")
        for n in range(80)
    ]

    def work(part: int) -> None:
        for write in writes[part::16]:
            desk.queue.put(write)

    threads = [threading.Thread(target=work, args=(part,)) for part in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = [one.suggestion.text for one in desk.queue.listed()]
    assert sorted(texts) == sorted({write.text for write in writes})
    assert len({one.suggestion.id for one in desk.queue.listed()}) == len(texts)
