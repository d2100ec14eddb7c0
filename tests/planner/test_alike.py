"""Tasks that are alike: found by their words as comparing each with each would find them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmind.planner.earlier.alike import AlikeTasks, EarlierTask, fair
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


@settings(max_examples=40, deadline=None)
@given(st.lists(TASKS, max_size=6), st.lists(TASKS, max_size=12), TASKS)
def test_those_that_are_found_are_those_that_comparing_all_finds(
    before: list[str], tasks: list[str], task: str
) -> None:
    wanted = understand(task, "shop")
    every = {
        one.episode: similarity(wanted, understand(one.text, "shop", "unknown"))
        for one in earlier(*tasks)
    }
    made = known(*before)
    made.set(earlier(*tasks))
    while made.understand_some(3):
        pass
    found = made.find(wanted, 0.05)
    assert dict(found) == {name: alike for name, alike in every.items() if alike >= 0.05}
    assert [*found.values()] == sorted(found.values(), reverse=True)


def test_the_likest_come_first_and_of_equals_the_latest() -> None:
    tasks = known("the cart is empty", "refresh a token", "refresh a token", "token")
    found = tasks.find(understand("refresh a token", "shop"), 0.1)
    assert [name[:15] for name in found][:2] == ["main/2026-03-03", "main/2026-03-02"]


def test_tasks_that_look_like_one_are_understood_before_the_others() -> None:
    made = AlikeTasks("shop")
    made.set(earlier(*["the cart is empty"] * 20, "refreshing of the tokens", "log out"))
    wanted = understand("refresh a token", "shop")
    assert made.understand_some(1, wanted) == 21
    assert [name[:15] for name in made.find(wanted, 0.1)] == ["main/2026-03-21"]


def names(agents: str) -> list[str]:
    """Return episodes of agents that a letter names, m one's own, the likest first."""
    return [f"{agent}/{number:02}" for number, agent in enumerate(agents)]


def test_one_s_own_episodes_take_all_the_room_that_they_need() -> None:
    assert fair(names("m" * 15), {"m"}, 12) == names("m" * 12)
    assert fair(names("b" * 15 + "m"), {"m"}, 12) == ["b/00", "m/15"]
    assert len(fair(names("b" * 15), {"m"}, 12)) == 4, "nothing else is known"
    assert len(fair(names("b" * 15 + "m" * 15), {"m"}, 12)) == 12
