"""What a replay counts, what its rows see, and histories made of releases."""

from __future__ import annotations

import argparse
import io
import json
import sys
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from history import Commit, History, Step, copied, read_history, replayed
from release_replay import archives, entries_alone, told_entries, write_releases
from replay import Asked, Replay, add_options, compared, each, figures, measured, opened, replay
from replay_earlier import Memory
from replay_rows import Answer, MostChanged, TextSearch, Then, passages

from tests.benchmarks.test_history import Repo


def _step(*right: str) -> Step:
    commit = Commit("a" * 40, "b" * 40, 0, "A task", right)
    return Step(commit, Path("/nowhere"), datetime.fromtimestamp(0, UTC), ())


def _replay(*answers: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]) -> Replay:
    """Take what is right, what `one` named and what `other` named, of each commit."""
    asked = [
        Asked(_step(*right), {"one": Answer(one, 100), "other": Answer(other, 300)})
        for right, one, other in answers
    ]
    return Replay(History((), {}), asked)


def test_ten_places_are_counted_however_few_are_filled() -> None:
    half = {"P@10": 0.1, "R@10": 0.5, "MRR": 0.5, "first": 0.0}
    assert measured(frozenset("ab"), ["x", "b"]) == half
    assert measured(frozenset("ab"), []) == dict.fromkeys(half, 0.0)
    late = [str(number) for number in range(10)]
    assert measured(frozenset("a"), [*late, "a"])["MRR"] == 0.0, "the eleventh place is none"


def test_one_look_was_enough_only_where_all_files_are_among_the_first_ten() -> None:
    late = [str(number) for number in range(9)]
    assert measured(frozenset("ab"), ["b", "x", "a"])["first"] == 1.0
    assert measured(frozenset("ab"), [*late, "a", "b"])["first"] == 0.0


def test_a_file_that_is_named_twice_takes_one_place() -> None:
    assert measured(frozenset("b"), ["x"] * 9 + ["b"])["MRR"] == 0.5


def test_means_of_measures_and_medians_of_costs() -> None:
    done = _replay((("a",), ("a", "x"), ()), (("b", "c"), ("x", "b"), ("b",)))
    one = figures(done)["one"]
    assert (one["P@10"], one["R@10"], one["MRR"]) == (0.1, 0.75, 0.75)
    assert (one["right"], one["files"], one["tokens"]) == (0.5, 2.0, 100)


def test_rows_are_compared_commit_by_commit_with_ties_told() -> None:
    done = _replay(
        (("a",), ("a",), ("x",)), (("a",), ("x",), ("a",)), (("a",), ("a",), ("a",)),
        (("a",), ("a",), ()),
    )  # fmt: skip
    told = compared(done, "one", "other", "R@10")
    assert (told["better"], told["ties"], told["worse"]) == (2, 1, 1)
    assert told["difference"] == 0.25
    assert told["low"] <= 0.25 <= told["high"]
    assert told == compared(done, "one", "other", "R@10"), "chance has a seed"


def test_each_commit_can_be_looked_at() -> None:
    (line,) = each(_replay((("a",), ("a", "x"), ())))
    assert json.loads(line) == {
        "sha": "a" * 40, "message": "A task", "right": ["a"], "one": ["a", "x"], "other": [],
    }  # fmt: skip


def test_passages_hold_every_line_where_it_stands() -> None:
    text = "\n\n".join(f"block {number} " + "word " * 60 for number in range(12))
    for start, passage in passages(text):
        assert text[start : start + len(passage)] == passage
    assert "".join(passage for _, passage in passages(text)).count("block") == 12


@pytest.fixture
def shop(tmp_path: Path) -> Repo:
    """A project in which each commit's words are those of the file that it changes."""
    repo = Repo(tmp_path / "shop")
    repo.commit(
        "Begin",
        {
            "README.md": "# Shop\n\nA shop with a cart and a cellar.\n",
            "shop/cart.py": 'def add(cart):\n    """Add to the cart."""\n    return cart\n',
            "shop/invoice.py": 'def bill(order):\n    """Write the invoice."""\n    return order\n',
            "shop/cellar.py": 'def store(wine):\n    """Store wine in the cellar."""\n',
        },
    )
    repo.commit("The invoice has a number", {"shop/invoice.py": "NUMBER = 1  # of the invoice\n"})
    repo.commit("Zebras are sold", {"shop/zebra.py": "ZEBRA = 1\n", "README.md": "Zebras!\n"})
    repo.commit("Wine stays in the cellar", {"shop/cellar.py": "COLD = 1  # the cellar\n"})
    return repo


def test_every_row_is_asked_over_the_tree_before_and_sees_no_later_file(
    shop: Repo, tmp_path: Path
) -> None:
    parser = argparse.ArgumentParser()
    add_options(parser)
    folder = tmp_path / "past"
    folder.mkdir()
    whole = copied(shop.root, folder)
    history = read_history(whole)
    with opened(folder, parser.parse_args([]), history) as rows:
        done = replay(history, replayed(whole, history.commits, folder), rows)
    assert [list(one.answers) for one in done.asked] == [
        ["routing by type", "text search", "search", "planner", "planner+episodes"]
    ] * 3
    for name in ("text search", "search", "planner", "planner+episodes"):
        first, zebra, cellar = (one.answers[name].files for one in done.asked)
        assert first[0] == "shop/invoice.py"
        assert "shop/zebra.py" not in {*first, *zebra}, "it was not there yet"
        assert cellar[0] == "shop/cellar.py"
    answers = [answer for one in done.asked for answer in one.answers.values()]
    assert all((answer.tokens > 0) is bool(answer.files) for answer in answers)


def test_without_git_a_tree_is_files_alone(shop: Repo, tmp_path: Path) -> None:
    folder = tmp_path / "past"
    folder.mkdir()
    whole = copied(shop.root, folder)
    for step in replayed(whole, read_history(whole).commits, folder, git=False):
        assert not (step.root / ".git").exists()
        assert (step.root / "README.md").is_file()


def test_a_text_search_follows_what_changes(shop: Repo, tmp_path: Path) -> None:
    folder = tmp_path / "past"
    folder.mkdir()
    whole = copied(shop.root, folder)
    text = TextSearch(folder)
    found = [text.ask(step).files for step in replayed(whole, read_history(whole).commits, folder)]
    text.close()
    assert [files[:1] for files in found] == [("shop/invoice.py",), (), ("shop/cellar.py",)]


def test_what_changed_most_lately_comes_first(shop: Repo, tmp_path: Path) -> None:
    folder = tmp_path / "past"
    folder.mkdir()
    whole = copied(shop.root, folder)
    *_, step = replayed(whole, read_history(whole).commits, folder)
    found = MostChanged().ask(step).files
    assert set(found[:2]) == {"README.md", "shop/invoice.py"}, "changed twice"
    assert found[2:] == ("shop/zebra.py", "shop/cart.py", "shop/cellar.py")


def _packed(folder: Path, version: str, files: dict[str, str]) -> None:
    with tarfile.open(folder / f"shop-{version}.tar.gz", "w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(f"shop-{version}/{name}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))


def test_releases_make_a_history_whose_trees_hold_no_word_of_the_task(tmp_path: Path) -> None:
    head = "Changes\n=======\n\n"
    old = "Version 1.9.0\n-------------\n\n-   It begins here.\n"
    new = "Version 1.10.0\n--------------\n\n-   Wine is kept\n    cold. :issue:`12`\n\n"
    for version, log, code in (("1.9.0", old, "A = 1\n"), ("1.10.0", new + old, "A = 2\n")):
        made = {"PKG-INFO": version, "setup.cfg": f"version = {version}\n"}
        _packed(tmp_path, version, {"CHANGES.rst": head + log, "a.py": code, **made})
    (versions,) = archives(tmp_path).values()
    assert [version for version, _ in versions] == ["1.9.0", "1.10.0"]
    repo = tmp_path / "repos" / "shop"
    assert write_releases(versions, repo) == 2
    history = read_history(repo)
    (only,) = history.commits
    assert (only.message, only.changed) == ("- Wine is kept cold", ("a.py",))
    assert history.skipped == {"first commits": 1, "version bumps": 1}
    assert [one.message for one in entries_alone(history)] == ["Wine is kept cold"]


def test_entries_are_told_without_markup() -> None:
    lines = [
        "## 2.0.0 (2026-01-02)", "### Fixed", "- The [cart](https://x.y) counts, `add()` too (#7)",
        "* :func:`~shop.pay` waits :pr:`3`", "  for a minute", "", "Some prose about it all.",
    ]  # fmt: skip
    assert told_entries(lines) == ["The cart counts, `add()` too", "shop.pay waits for a minute"]


def test_a_replay_knows_an_episode_for_each_earlier_commit_and_none_of_a_later(
    shop: Repo, tmp_path: Path
) -> None:
    folder = tmp_path / "past"
    folder.mkdir()
    whole = copied(shop.root, folder)
    history = read_history(whole)
    memory = Memory(folder / "episodes.db", Then(), history.commits)
    for number, step in enumerate(replayed(whole, history.commits, folder)):
        memory.follow(step)
        known = memory.tables.tasks("past")
        assert len(known) == number
        assert step.commit.subject not in [one.task for one in known]
    memory.close()
