"""memory/suggestions/queue: one file that a person edits too, changed by compare-and-swap."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.memory.conftest import MAIN, NOW
from vaultmind.errors import DamagedMemory
from vaultmind.memory.queue import Queue
from vaultmind.memory.suggestions import Put
from vaultmind.types import MemoryWrite
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
        self.queue = Queue(reader, self.edit, lambda: self.now, random.Random(7))

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
    (one,) = desk.queue.listed()
    assert desk.queue.settle(one.suggestion, "rejected")
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


def test_what_says_something_else_by_now_is_not_settled(desk: Desk) -> None:
    desk.queue.put(TEA)
    (one,) = desk.queue.listed()
    desk.between = [desk.text().replace("Likes tea", "Likes green tea")]
    assert not desk.queue.settle(one.suggestion, "accepted")
    assert [one.suggestion.text for one in desk.queue.listed()] == ["Likes green tea"]


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
