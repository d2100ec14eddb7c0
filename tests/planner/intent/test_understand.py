"""What a task is understood as: kind, risk, fingerprint, and that it takes no time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.planner.intent import names_nothing, risk_of_path, similarity, understand
from vaultmind.planner.intent.cues import RISK_KINDS, lexicon
from vaultmind.planner.types import TASK_KINDS, TaskKind

ROOT = Path(__file__).parents[3]
DATA = ROOT / "benchmarks" / "data"
TRACEBACK = """after the update I get this:

Traceback (most recent call last):
  File "/srv/app/shop/cart.py", line 88, in total
    return sum(line.price * line.quantity for line in self.lines)
TypeError: unsupported operand type(s) for *: 'NoneType' and 'int'
"""


def kind(task: str) -> TaskKind:
    return understand(task, "shop").predicted


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("bug: jwt token not refreshing on 401", "bugfix"),
        ("Fix the rounding of totals", "bugfix"),
        ("napraw eksport faktur, ucina kolumny", "bugfix"),
        ("Почини вход по ссылке", "bugfix"),
        (TRACEBACK, "bugfix"),
        ("feat(api): cursor-based pagination", "feature"),
        ("Dodaj ciemny motyw", "feature"),
        ("Добавь поиск по тегам", "feature"),
        ("a calendar view of the notes", "feature"),
        ("Extract the retry loop into its own function", "refactor"),
        ("uprość parser, bez zmiany działania", "refactor"),
        ("вынеси проверку в отдельную функцию", "refactor"),
        ("PROD DOWN: checkout answers 502 since the deploy", "incident"),
        ("produkcja leży od 9:40", "incident"),
        ("Everything is down, all hands on deck", "incident"),
        ("прод упал после выкладки", "incident"),
        ("How does the scheduler decide which job goes first?", "research"),
        ("jak działa kolejkowanie zadań", "research"),
        ("как устроена очередь сообщений", "research"),
        ("Draft a blog post from my notes about the tour", "writing"),
        ("Przetłumacz notatkę ze spotkania", "writing"),
        ("Напиши письмо заказчику", "writing"),
        ("go on", "unknown"),
        ("zrób coś z tym", "unknown"),
        ("давай дальше", "unknown"),
        ("", "unknown"),
        ("?!", "unknown"),
    ],
)
def test_a_task_is_of_the_kind_that_its_words_say(task: str, expected: TaskKind) -> None:
    assert kind(task) == expected


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("not a bug, just a question: how are retries counted?", "research"),
        ("to nie błąd, chcę tylko wiedzieć jak działa cache", "research"),
        ("это не баг, просто хочу понять, как работает кэш", "research"),
        ("don't refactor anything, fix the crash on an empty list", "bugfix"),
        ("Add error handling to the importer", "feature"),
        ("Certificate expired this morning, customers can't connect. What do we do?", "incident"),
        ("bug? no, I only want to know how login works", "research"),
        ("Is it a bug? No. Where is the total computed?", "research"),
        ("błąd? nie, chcę tylko wiedzieć, jak działa logowanie", "research"),
        ("это баг? нет, просто хочу знать, как устроен вход", "research"),
        ("no bug, just a question: where is the total stored", "research"),
        ("Does it crash? No, it hangs when I close the tab", "bugfix"),
        ("How is a fact archived when brain.md gets too long?", "research"),
        ("How are sessions restored after a crash?", "research"),
    ],
)
def test_what_is_denied_or_only_mentioned_does_not_decide(task: str, expected: TaskKind) -> None:
    assert kind(task) == expected


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Refacotr the storage layer", "refactor"),
        ("implemnt an export to EPUB", "feature"),
        ("Tranlsate the guide to Polish", "writing"),
        ("zrefaktroyzuj moduł raportów", "refactor"),
        ("добваь поиск по тегам", "feature"),
    ],
)
def test_a_wrong_key_in_a_telling_word_is_mended(typed: str, meant: TaskKind) -> None:
    assert kind(typed) == meant


def test_names_of_files_are_no_words_of_a_task() -> None:
    assert kind("delete tests/test_crash_bug_fix.py") == "refactor"
    assert understand("rename src/auth/payment.py", "shop").risk == "low"


def test_the_kind_that_is_asked_for_is_believed() -> None:
    understood = understand("Fix the cart", "shop", "incident")
    assert (understood.predicted, understood.confidence) == ("incident", 1.0)
    assert understood.task_fingerprint != understand("Fix the cart", "shop").task_fingerprint


@pytest.mark.parametrize(
    ("task", "risk"),
    [
        ("Fix the colour of a button", "low"),
        ("fix(auth): the refresh token is not rotated", "high"),
        ("Refunds through the payment provider are booked twice", "high"),
        ("Dodaj logowanie dwuskładnikowe", "high"),
        ("usuń dane osobowe z logów", "high"),
        ("Добавить сброс пароля", "high"),
        ("прод лежит", "high"),
        ("Rate limiting for the search", "medium"),
        ("Write a page about how passwords are stored", "medium"),
    ],
)
def test_what_may_go_wrong_is_told_with_its_reason(task: str, risk: str) -> None:
    understood = understand(task, "shop")
    assert understood.risk == risk
    assert risk == "low" or any("risk: " in reason for reason in understood.reasons)


@pytest.mark.parametrize(
    ("task", "risk"),
    [
        ("не проходит оплата", "high"),
        ("у меня не проходит оплата", "high"),
        ("nie przechodzi płatność", "high"),
        ("payment does not work", "high"),
        ("can't log in", "high"),
        ("не могу войти", "high"),
        ("rename the module without touching the login", "low"),
        ("refactor the footer, it does not touch payments", "low"),
        ("popraw stopkę, nie ruszaj logowania", "low"),
        ("поправь подвал, не трогая оплату", "low"),
    ],
)
def test_that_something_fails_takes_no_risk_back_but_that_it_is_spared_does(
    task: str, risk: str
) -> None:
    assert understand(task, "shop").risk == risk


def test_files_of_sign_in_and_payment_are_critical_and_tests_less() -> None:
    assert risk_of_path("src/auth/login.py") == 1.0
    assert risk_of_path("billing/Invoice.ts") >= 0.9
    assert risk_of_path("src/płatności.py") == risk_of_path("docs/Оплата.md") * 2
    assert risk_of_path("docs/colours.md") == 0.0
    assert 0 < risk_of_path("tests/test_login.py") < risk_of_path("login.py")
    assert risk_of_path("") == 0.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("fix the login of admins", "Please fix: login of ADMIN"),
        ("Fix the export of invoices", "could you fix the invoices' exports, please?"),
        ("napraw eksport faktur", "Proszę napraw eksportu fakturę"),
        ("dodaj notatki do książek", "Dodaj notatkę do książki, dzięki"),
        ("почини оплату заказов", "Пожалуйста, почини заказ и оплаты"),
        ("see #12 and PROJ-7, fix the cart", "fix cart — PROJ-7, #12, see the cart"),
    ],
)
def test_one_task_in_other_words_has_one_fingerprint(one: str, other: str) -> None:
    assert understand(one, "s").task_fingerprint == understand(other, "s").task_fingerprint


def test_another_task_source_or_kind_has_another_fingerprint() -> None:
    prints = {
        understand(task, source).task_fingerprint
        for task in ("Fix the cart", "Fix the basket", "Add a cart", "Fix the cart #7", "cart 401")
        for source in ("shop", "blog")
    }
    assert len(prints) == 10
    long = "word " * 4000
    assert understand(f"{long}a{long}", "s") != understand(f"{long}b{long}", "s")


def test_a_fingerprint_is_the_same_in_another_process_with_another_seed_and_locale() -> None:
    task = "Napraw błąd: eksport „faktur” w src/export.py, zobacz #77"
    code = "import sys; from vaultmind.planner.intent import understand; "
    code += "print(understand(sys.argv[1], 'shop').task_fingerprint)"
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "77",
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, "-c", code, task], env=environment, capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == understand(task, "shop").task_fingerprint
    assert understand(task, "shop").task_fingerprint == "63567114b68eb92e"


def test_alike_tasks_are_found_alike() -> None:
    asked = understand("Fix the jwt token that is not refreshed on 401", "shop")
    same = understand("jwt tokens are not refreshing after a 401", "shop")
    near = understand("Rotate the refresh token in src/auth/jwt.py", "shop")
    far = understand("Write a page about sourdough", "shop")
    assert similarity(asked, asked) == 1.0
    assert 1.0 >= similarity(asked, same) > similarity(asked, near) > similarity(asked, far) == 0.0
    assert similarity(same, asked) == similarity(asked, same)
    cases = ("dodaj notatki do książek", "książka i notatka")
    first, second = (understand(task, "shop") for task in cases)
    assert similarity(first, second) > 0.8


def test_a_task_of_nothing_but_go_on_names_nothing() -> None:
    assert names_nothing("do it") and names_nothing("dalej") and names_nothing("")
    assert not names_nothing("fix the cart") and not names_nothing(TRACEBACK)


@given(st.text(max_size=400))
def test_any_text_is_understood_as_something(task: str) -> None:
    first, second = understand(task, "s"), understand(task, "s")
    assert first == second
    assert first.predicted in TASK_KINDS and 0.0 <= first.confidence <= 1.0
    assert first.risk in ("low", "medium", "high") and len(first.task_fingerprint) == 16
    assert list(first.terms) == sorted(first.terms)


@pytest.mark.parametrize(
    "unit",
    ["word and error in src/a.py ok? ", "a", "a.", "-", "a/", "`\"'«", "at a", "[[", "@.", "\n \t",
     "ошибка в модуле ", '  File "/a/b.py", line 3, in f\n    x()\n'],
)  # fmt: skip
def test_a_megabyte_takes_no_longer_than_a_page(unit: str) -> None:
    task = unit * (1_000_000 // len(unit))
    began = time.thread_time()
    found = understand(task, "s")
    assert time.thread_time() - began < 1.0, "seconds of the processor, on a busy machine"
    assert len(found.terms) <= 64 and len(found.entities.paths) <= 24


def test_every_cue_is_of_a_kind_or_a_risk_that_there_is() -> None:
    known = lexicon()
    cues = [cue for some in (*known.exact.values(), *known.open.values()) for cue in some]
    assert {cue.name for cue in cues if cue.role == "kind"} == set(TASK_KINDS) - {"unknown"}
    assert {cue.name for cue in cues if cue.role == "risk"} == set(RISK_KINDS)
    assert {cue.language for cue in cues} == {"en", "pl", "ru"}


def test_the_labelled_tasks_are_understood() -> None:
    for name, least in (("train", 0.97), ("own", 0.95)):
        lines = (DATA / f"intents_{name}.jsonl").read_text("utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        right = sum(understand(row["task"], "s").predicted == row["kind"] for row in rows)
        assert right / len(rows) >= least, name


def test_a_meeting_of_all_hands_is_no_incident() -> None:
    assert understand("Prepare slides for the all-hands on Friday", "shop").predicted != "incident"
