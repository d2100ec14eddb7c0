"""memory/suggestions/following: a change is acted on soon, once, and again where that failed."""

from __future__ import annotations

from tests.waiting import until
from vaultmind.errors import WriteFailed
from vaultmind.memory.following import Following
from vaultmind.vault.files import FileStat


class Paper:
    """A file's stamp, and what was done about it."""

    def __init__(self) -> None:
        self.stamp: FileStat | None = None
        self.settled = 0
        self.due = False
        self.fails: Exception | None = None

    def settle(self) -> None:
        self.settled += 1
        if self.fails:
            raise self.fails

    def following(self) -> Following:
        return Following(lambda: self.stamp, self.settle, lambda: self.due, 0.01)


def test_a_failure_ends_nothing_and_is_tried_again() -> None:
    paper = Paper()
    following = paper.following()
    paper.stamp, paper.fails = FileStat(1, 1, 1), WriteFailed("disk full")
    following.look()
    following.look()
    assert paper.settled == 1, "not at once"
    paper.stamp, paper.fails = FileStat(2, 2, 2), None
    following.look()
    assert paper.settled == 2


def test_it_follows_from_its_start_to_its_end() -> None:
    paper = Paper()
    following = paper.following()
    following.start()
    paper.stamp = FileStat(1, 1, 1)
    until(lambda: paper.settled == 1)
    following.close()
    paper.stamp = FileStat(2, 2, 2)
    assert paper.settled == 1
    paper.following().close()
