"""The worked examples of docs/episodes.md and docs/learning.md: what is shown is what comes out."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from tests.planner.shop import make_shop
from tests.told import Person, check_examples, clock_from, opened, plain
from vaultmind.app import App
from vaultmind.episodes.types import Event, Offer, TaskMark
from vaultmind.types import Caller

DOCS = Path(__file__).parents[1] / "docs"
NOW = datetime(2026, 11, 22, 10, 0, tzinfo=timezone(timedelta(hours=1)))
EPISODES = 40
MAIN = Caller("agent", "main", "test")
OFFERED = {
    "shop/cart.py": {"words": 0.9, "coverage": 0.6},
    "docs/cart.md": {"words": 0.8, "coverage": 0.6},
    "shop/orders.py": {"words": 0.75, "coverage": 0.6},
    "shop/totals.py": {"similar": 0.6, "told": 0.9, "together": 0.9},
    **{f"shop/part{at}.py": {"words": 0.5, "coverage": 0.3 - at / 50} for at in range(6)},
}
"""The candidates of each plan, as it ranked them."""


class Hands:
    """A clock that can be set, as no real one should be."""

    def __init__(self) -> None:
        self.tick = clock_from(NOW)
        self.back = timedelta()

    def __call__(self) -> datetime:
        return self.tick() - self.back


@pytest.fixture(scope="module")
def hands() -> Hands:
    return Hands()


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory, hands: Hands) -> Iterator[Person]:
    """Somebody with a small vault and a shop that is linked to it."""
    if shutil.which("git") is None:
        pytest.skip("the shop's history needs git")
    home = tmp_path_factory.mktemp("stories")
    make_shop(home / "shop")
    with opened(home, hands) as one:
        one.run(f"link {home / 'shop'}")
        one.run("refresh shop")
        yield one


def page(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def test_the_story_of_an_episode_is_true(person: Person) -> None:
    assert check_examples(person, page("episodes.md")) >= 10
    (note,) = (person.app.config.vault / "VaultMind/agents/main/episodes").glob("*.md")
    shown = page("episodes.md").partition("```markdown\n")[2].partition("```")[0]
    written = {bare(line) for line in note.read_text("utf-8").splitlines()}
    assert {bare(line) for line in shown.splitlines()} - written == {
        bare("outcome: success"),
    }, "the note is shown as it was before what came of it was corrected"  # fmt: skip


def bare(line: str) -> str:
    """Return a line of a note without what a comment holds, and without numbers."""
    return plain(line.partition(" %%")[0])


def test_the_story_of_a_model_is_true(person: Person, hands: Hands) -> None:
    work_for_weeks(person.app, hands)
    assert check_examples(person, page("learning.md")) >= 6


def work_for_weeks(app: App, hands: Hands) -> None:
    """Leave an episode nearly every day: in three of four a file was changed that stood fourth.

    Each is a note, an offer and an outcome, as an agent leaves them.
    """
    recorder = app.episodes
    for number in range(EPISODES):
        hands.back = timedelta(days=(EPISODES - number) * 0.9)
        began = hands()
        task = TaskMark(f"Item {number} is lost from the cart", "bugfix", f"{number:016x}")
        begun = recorder.start(task, "shop", MAIN, session=f"s{number}")
        known = (task.fingerprint, began.isoformat(timespec="seconds"), "code")
        recorder.offer(begun.name, Offer(*known, OFFERED, tuple(OFFERED), 900, 5200), MAIN)
        changed = "shop/cart.py" if number % 4 == 0 else "shop/totals.py"
        later = (began + timedelta(seconds=30)).isoformat(timespec="seconds")
        recorder.add(begun.name, [Event("edit", later, path=changed, change="modified")], MAIN)
        recorder.judge(begun.name, "success", "", MAIN, ends=True)
    hands.back = timedelta()
