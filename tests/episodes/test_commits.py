"""The log of HEAD: which commits were made in a work tree, and which were brought there."""

from __future__ import annotations

import pytest

from vaultmind.episodes.watching.commits import Position, moves, own_ids, since

IDS = {name: (name * 40)[:40] for name in "0123456789abcdef"}


def log(*told: str) -> str:
    """Return a log of lines told as `before after seconds what`."""
    lines = []
    for one in told:
        before, after, seconds, what = one.split(" ", 3)
        who = "Anna Ł. <a@example.org>"
        lines.append(f"{IDS[before]} {IDS[after]} {who} {seconds} +0100\t{what}\n")
    return "".join(lines)


@pytest.mark.parametrize(
    ("told", "own"),
    [
        (("0 1 5 commit (initial): a", "1 2 6 commit: b", "2 3 7 revert: Revert b"), "123"),
        (("1 2 5 commit: a", "2 3 6 commit (amend): b"), "3"),
        (("1 2 5 pull: Fast-forward", "2 3 6 merge side: Merge made", "3 4 7 commit: a"), "4"),
        (("1 2 5 commit (merge): Merge branch side",), ""),
        (("1 2 5 checkout: moving from main to side", "2 3 6 cherry-pick: a"), "3"),
        (("1 2 5 commit: a", "2 3 6 commit: b", "3 2 7 reset: moving to HEAD~1"), "2"),
        (("1 2 5 commit: a", "2 1 7 reset: moving to HEAD~1"), ""),
        (("1 2 5 rebase (pick): a", "2 3 6 rebase (finish): returning"), ""),
    ],
)
def test_own_commits_are_those_that_were_made_here_and_still_stand(
    told: tuple[str, ...], own: str
) -> None:
    assert own_ids(moves(log(*told))) == tuple(IDS[one] for one in own)


def test_what_moved_since_is_told_by_the_commit_and_else_by_the_time() -> None:
    found = moves(log("1 2 5 commit: a", "2 3 6 commit: b", "3 4 9 commit: c"))
    assert [one.after for one in since(found, Position(IDS["3"], 7.5))] == [IDS["4"]]
    assert [one.after for one in since(found, Position(IDS["f"], 6.0))] == [IDS["3"], IDS["4"]]
    assert since(found, Position(IDS["4"], 9.5)) == ()


@pytest.mark.parametrize("text", ["", "\n", "nonsense", f"{IDS['1']} {IDS['2']} Anna", "\0" * 90])
def test_a_log_that_is_cut_off_says_less(text: str) -> None:
    assert moves(text) == ()
