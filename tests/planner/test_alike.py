"""Tasks that are alike: found by their words as comparing each with each would find them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmind.planner.earlier.alike import AlikeTasks, EarlierTask, agent_of, fair
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


def test_tasks_that_went_or_changed_are_found_no_more() -> None:
    tasks = known("the cart is empty", "refresh a token")
    tasks.set([*earlier("the cellar is cold"), *earlier("x", "refresh a token")[1:]])
    assert tasks.waiting == 1 and tasks.understand_some(9) == 0
    assert not tasks.find(understand("the cart is empty", "shop"), 0.1)
    assert tasks.find(understand("a cold cellar", "shop"), 0.1)
    assert tasks.find(understand("refresh a token", "shop"), 0.1)


def test_a_fingerprint_that_was_noted_then_makes_tasks_the_same() -> None:
    made = AlikeTasks("shop")
    wanted = understand("refresh a token", "shop")
    made.set([EarlierTask("main/a", "rewritten by hand", "bugfix", wanted.task_fingerprint)])
    made.understand_some(9)
    assert made.find(wanted, 0.1) == {"main/a": 1.0}


def test_a_task_of_the_same_fingerprint_is_found_before_it_is_understood() -> None:
    made = AlikeTasks("shop")
    wanted = understand("refresh a token", "shop")
    made.set([*earlier("x", "y"), EarlierTask("main/a", "", "bugfix", wanted.task_fingerprint)])
    assert made.find(wanted, 0.1) == {"main/a": 1.0} and made.waiting == 3
    assert made.understand_some(9) == 0 and made.find(wanted, 0.1) == {"main/a": 1.0}


def test_tasks_that_look_like_one_are_understood_before_the_others() -> None:
    made = AlikeTasks("shop")
    made.set(earlier(*["the cart is empty"] * 20, "refreshing of the tokens", "log out"))
    wanted = understand("refresh a token", "shop")
    assert made.understand_some(1, wanted) == 21
    assert [name[:15] for name in made.find(wanted, 0.1)] == ["main/2026-03-21"]


def names(agents: str) -> list[str]:
    """Return episodes of agents that a letter names, m one's own, the likest first."""
    return [f"{agent}/{number:02}" for number, agent in enumerate(agents)]


@given(st.text("mbcde", max_size=40), st.integers(3, 12))
def test_no_other_agent_has_more_than_a_third_of_what_counts(agents: str, most: int) -> None:
    taken = fair(names(agents), {"m"}, most)
    counts = {one: sum(agent_of(name) == one for name in taken) for one in "bcde"}
    own = len(taken) - sum(counts.values())
    assert taken == sorted(taken, key=lambda name: name[2:]) and len(taken) <= most
    assert max(counts.values()) <= max(1, (len(taken) if own else most) // 3)


def test_one_s_own_episodes_take_all_the_room_that_they_need() -> None:
    assert fair(names("m" * 15), {"m"}, 12) == names("m" * 12)
    assert fair(names("b" * 15 + "m"), {"m"}, 12) == ["b/00", "m/15"]
    assert len(fair(names("b" * 15), {"m"}, 12)) == 4, "nothing else is known"
    assert len(fair(names("b" * 15 + "m" * 15), {"m"}, 12)) == 12
