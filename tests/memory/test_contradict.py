"""memory/contradictions: one subject, one relation; a doubt loses no fact."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.memory.contradictions.compound import left_over
from vaultmind.memory.contradictions.contradict import contradicted, relation

PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parent.parent / "data" / "contradictions.jsonl")
    .read_text("utf-8")
    .splitlines()
]
RELATIONS = {"same", "contradicts", "refines", "unrelated"}
FACTS = 60


def test_the_labelled_pairs_are_told_apart_in_three_languages() -> None:
    assert len(PAIRS) >= 120
    assert min(Counter(pair["lang"] for pair in PAIRS).values()) >= 35
    found = [(pair, relation(pair["new"], pair["old"])) for pair in PAIRS]
    wrong = [pair for pair, name in found if name == "contradicts" != pair["relation"]]
    assert not wrong, "a wrong contradiction loses a fact"
    missed = [pair for pair, name in found if name != pair["relation"]]
    assert len(missed) <= len(PAIRS) * 0.05, missed


@pytest.mark.parametrize("lang", ["en", "pl", "ru"])
def test_a_new_fact_finds_the_one_it_replaces_among_all(lang: str) -> None:
    own = [pair for pair in PAIRS if pair["lang"] == lang]
    unrelated = [pair["old"] for pair in own if pair["relation"] == "unrelated"]
    for pair in own:
        if pair["relation"] == "contradicts":
            at = contradicted(pair["new"], [pair["old"]])
            assert at in ((0,), ())
    assert contradicted("Zbiera znaczki", unrelated) == ()


def test_the_old_home_is_found_beside_hobbies_and_children() -> None:
    facts = ["Likes chess", "Has two children", "Lives in Kraków", "Sister lives in Opole"]
    assert contradicted("Moved to Gdańsk", facts) == (2,)
    assert contradicted("Likes tennis", facts) == ()
    assert contradicted("Has a son, Jan", facts) == ()


def test_a_time_without_a_topic_means_the_only_one_it_can() -> None:
    assert contradicted("Moved to Thursday", ["Likes tea", "Meeting on Tuesdays"]) == (1,)
    two = ["Meeting on Tuesdays", "Dentist on Wednesday"]
    assert contradicted("Moved to Thursday", two) == ()


def test_facts_in_two_languages_are_compared_by_what_they_say() -> None:
    assert relation("Moved to Gdańsk", "Mieszka w Krakowie") == "contradicts"
    assert relation("Живёт в Кракове", "Lives in Kraków") != "contradicts"
    assert relation("Mieszka w Warszawie", "Lives in Warsaw") != "contradicts"
    assert relation("Je mięso", "Is vegetarian") == "contradicts"


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_have_a_relation(new: str, old: str) -> None:
    assert relation(new, old) in RELATIONS
    assert relation(new, new) == "same"


@given(st.sampled_from(PAIRS))
def test_case_and_a_full_stop_change_nothing(pair: dict[str, str]) -> None:
    assert relation(pair["new"] + ".", pair["old"]) == relation(pair["new"], pair["old"])


def test_one_new_fact_against_a_full_brain_costs_little() -> None:
    facts = [pair["old"] for pair in PAIRS][:FACTS]
    contradicted("warm up", facts)
    took = []
    for turn in range(20):
        start = time.perf_counter()
        contradicted(f"{PAIRS[turn]['new']} number {turn}", facts)
        took.append(time.perf_counter() - start)
    assert sorted(took)[len(took) // 2] < 0.02, "2 ms on a quiet machine; ten times that here"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Fact 3 1 of many", "Fact 5 2 of many"),
        ("Fact number 17", "Fact number 18"),
        ("Room 12 is blue", "Room 13 is green"),
        ("Chapter 2 is due on Monday", "Chapter 3 is due on Friday"),
        ("Detail 12 about the user", "Detail 13 about the user"),
        ("Lubi potrawę numer 5", "Lubi potrawę numer 6"),
        ("Факт номер 5 о пользователе", "Факт номер 6 о пользователе"),
    ],
)
def test_numbers_that_only_tell_things_apart_contradict_nothing(new: str, old: str) -> None:
    assert relation(new, old) == "unrelated"


@pytest.mark.parametrize(
    ("new", "old", "rest"),
    [
        ("Moved to Berlin", "Lives in Gdańsk with two cats", "two cats"),
        ("Переехал в Казань", "Живёт в Туле и работает в Сбере", "работает в Сбере"),
        ("Przeprowadził się do Berlina", "Mieszka w Gdańsku z dwoma kotami", "dwoma kotami"),
        ("Is single again", "Is married to Tom and has two sons", "has two sons"),
        ("Now works at Microsoft", "Works at Google as an engineer", "an engineer"),
        ("Moved to Berlin", "Lives in Gdańsk, near the sea", ""),
        ("Moved to Berlin", "Lives in Gdańsk since 2019", ""),
        ("Moved to Berlin", "Lives in Brno, Moravia", ""),
        ("Moved to Berlin", "Moved from Kraków to Gdańsk", ""),
        ("Przeprowadził się do Berlina", "Mieszka w Gdańsku, w Polsce", ""),
        ("Lives in Berlin with two cats", "Lives in Gdańsk with two cats", ""),
        ("Meeting moved to Friday", "Meeting on Tuesdays and Thursdays", ""),
        ("Prefers long answers", "Prefers short answers and bullet points", ""),
    ],
)
def test_what_an_old_fact_says_besides_is_told(new: str, old: str, rest: str) -> None:
    assert relation(new, old) == "contradicts"
    assert left_over(new, old) == rest


TOGETHER = [
    group.split("\n")
    for group in (Path(__file__).parent.parent / "data" / "together.txt")
    .read_text("utf-8")
    .strip()
    .split("\n\n")
]
UPDATES = [
    ("Moved to Brighton", "Lives in York"),
    ("Tom moved to Hull", "Tom lives in Leeds"),
    ("Boss is now Olga", "Boss is called Mark"),
    ("Dentist moved to Wednesday", "Dentist on Monday at 9"),
    ("Runs 10 km every day now", "Runs 5 km every day"),
    ("No longer allergic to nuts", "Allergic to nuts"),
    ("Tomek przeprowadził się do Torunia", "Tomek mieszka w Łodzi"),
    ("Termin projektu przesunięto na 10 maja", "Termin projektu to 3 maja"),
    ("Szefem jest teraz Olga", "Szef ma na imię Marek"),
    ("Ma trzy koty", "Ma dwa koty"),
    ("Переехала в Сочи", "Живёт в Казани"),
    ("Срок проекта перенесли на 10 мая", "Срок проекта 3 мая"),
    ("Любимый фильм теперь Сталкер", "Любимый фильм Солярис"),
    ("Больше не пьёт кофе", "Утром пьёт кофе"),
]


@pytest.mark.parametrize("facts", TOGETHER, ids=["en", "pl", "ru"])
def test_the_facts_of_one_life_stand_side_by_side(facts: list[str]) -> None:
    for at, new in enumerate(facts):
        assert contradicted(new, facts[:at] + facts[at + 1 :]) == (), new


@pytest.mark.parametrize(("new", "old"), UPDATES)
def test_news_replaces_the_one_fact_it_is_about(new: str, old: str) -> None:
    facts = next(group for group in TOGETHER if old in group)
    assert [facts[at] for at in contradicted(new, facts)] == [old]
