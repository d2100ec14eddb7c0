"""Tasks that are alike: found by their words as comparing each with each would find them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmind.planner.alike import AlikeTasks, EarlierTask
from vaultmind.planner.intent import similarity, understand

WORDS = ("token", "refresh", "cart", "invoice", "login", "logout", "zebra", "`bill`", "a/b.py")
TASKS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)


def earlier(*tasks: str) -> list[EarlierTask]:
    return [
        EarlierTask(f"main/2026-03-{number:02d}_001", task, "unknown", "")
        for number, task in enumerate(tasks, 1)
    ]


def known(*tasks: str) -> AlikeTasks:
    made = AlikeTasks("shop")
    made.set(earlier(*tasks))
    while made.understand_some(3):
        pass
    return made


@settings(max_examples=60, deadline=None)
@given(st.lists(TASKS, max_size=12), TASKS)
def test_those_that_are_found_are_those_that_comparing_all_finds(
    tasks: list[str], task: str
) -> None:
    wanted = understand(task, "shop")
    every = {
        one.episode: similarity(wanted, understand(one.text, "shop", "unknown"))
        for one in earlier(*tasks)
    }
    found = known(*tasks).find(wanted, 99, 0.05)
    assert dict(found) == {name: alike for name, alike in every.items() if alike >= 0.05}
    assert [*found.values()] == sorted(found.values(), reverse=True)


def test_the_likest_come_first_and_of_equals_the_latest() -> None:
    tasks = known("the cart is empty", "refresh a token", "refresh a token", "token")
    found = tasks.find(understand("refresh a token", "shop"), 2, 0.1)
    assert [name[:15] for name in found] == ["main/2026-03-03", "main/2026-03-02"]


def test_tasks_that_went_or_changed_are_found_no_more() -> None:
    tasks = known("the cart is empty", "refresh a token")
    tasks.set([*earlier("the cellar is cold"), *earlier("x", "refresh a token")[1:]])
    assert tasks.waiting == 1 and tasks.understand_some(9) == 0
    assert not tasks.find(understand("the cart is empty", "shop"), 9, 0.1)
    assert tasks.find(understand("a cold cellar", "shop"), 9, 0.1)
    assert tasks.find(understand("refresh a token", "shop"), 9, 0.1)


def test_a_fingerprint_that_was_noted_then_makes_tasks_the_same() -> None:
    made = AlikeTasks("shop")
    wanted = understand("refresh a token", "shop")
    made.set([EarlierTask("main/a", "rewritten by hand", "bugfix", wanted.task_fingerprint)])
    made.understand_some(9)
    assert made.find(wanted, 9, 0.1) == {"main/a": 1.0}
