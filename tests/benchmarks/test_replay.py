"""What a replay counts, what its rows see, and histories made of releases."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from history import Commit, Step, copied, read_history, replayed
from replay_earlier import Memory
from replay_rows import TextSearch, Then

from tests.benchmarks.test_history import Repo


def _step(*right: str) -> Step:
    commit = Commit("a" * 40, "b" * 40, 0, "A task", right)
    return Step(commit, Path("/nowhere"), datetime.fromtimestamp(0, UTC), ())


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


def test_a_text_search_follows_what_changes(shop: Repo, tmp_path: Path) -> None:
    folder = tmp_path / "past"
    folder.mkdir()
    whole = copied(shop.root, folder)
    text = TextSearch(folder)
    found = [text.ask(step).files for step in replayed(whole, read_history(whole).commits, folder)]
    text.close()
    assert [files[:1] for files in found] == [("shop/invoice.py",), (), ("shop/cellar.py",)]


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
