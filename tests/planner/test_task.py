"""What a task is understood as: kind, risk, fingerprint, and that it takes no time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vaultmind.planner.task import names_nothing, risk_of_path, understand
from vaultmind.planner.types import TaskKind

ROOT = Path(__file__).parents[2]
DATA = ROOT / "benchmarks" / "data"
TRACEBACK = """after the update I get this:

Traceback (most recent call last):
  File "/srv/app/shop/cart.py", line 88, in total
    return sum(line.price * line.quantity for line in self.lines)
TypeError: unsupported operand type(s) for *: 'NoneType' and 'int'
"""


KINDS: dict[TaskKind, tuple[str, ...]] = {
    "bugfix": ("bug: jwt token not refreshing", "napraw eksport faktur, ucina kolumny", TRACEBACK),
    "feature": ("feat(api): cursor pagination", "Dodaj ciemny motyw", "Добавь поиск по тегам"),
    "refactor": ("Extract the retry loop into a function", "uprość parser, bez zmiany działania"),
    "incident": ("PROD DOWN: checkout answers 502 since the deploy", "прод упал после выкладки"),
    "research": ("How does the scheduler decide goes first?", "как устроена очередь сообщений"),
    "writing": ("Draft a blog post from my notes", "Przetłumacz notatkę ze spotkania"),
    "unknown": ("go on", "zrób coś z tym", "давай дальше", "", "?!"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_task_is_of_the_kind_that_its_words_say(kind: TaskKind) -> None:
    assert {understand(task, "shop").predicted for task in KINDS[kind]} == {kind}


def test_files_of_sign_in_and_payment_are_critical_and_tests_less() -> None:
    assert risk_of_path("src/auth/login.py") == 1.0 and risk_of_path("docs/colours.md") == 0.0
    assert risk_of_path("src/płatności.py") == risk_of_path("docs/Оплата.md") * 2
    assert 0 < risk_of_path("tests/test_login.py") < risk_of_path("login.py")


def test_a_task_of_nothing_but_go_on_names_nothing() -> None:
    assert names_nothing("do it") and names_nothing("dalej") and names_nothing("")
    assert not names_nothing("fix the cart") and not names_nothing(TRACEBACK)


def test_the_labelled_tasks_are_understood() -> None:
    for name, least in (("train", 0.97), ("own", 0.95)):
        lines = (DATA / f"intents_{name}.jsonl").read_text("utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        right = sum(understand(row["task"], "s").predicted == row["kind"] for row in rows)
        assert right / len(rows) >= least, name
