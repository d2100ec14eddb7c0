"""What a model wrote is believed only when it has the shape that was asked for."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmind.minion.schema import MAX_FAULTS, faults, parse_json

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "maxItems": 2,
            "items": {
                "type": "object",
                "properties": {
                    "category": {"enum": ["CORE", "SKIP"]},
                    "fact": {"type": "string", "minLength": 3, "maxLength": 20},
                    "sure": {"type": "number", "minimum": 0, "maximum": 1},
                    "replaces": {"type": ["string", "null"]},
                },
                "required": ["category", "fact"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["facts"],
}


def one(**fact: Any) -> dict[str, Any]:
    return {"facts": [{"category": "CORE", "fact": "Anna", **fact}]}


@pytest.mark.parametrize("value", [{"facts": []}, one(), one(sure=0.5), one(replaces=None)])
def test_a_sound_answer_has_no_faults(value: Any) -> None:
    assert faults(value, SCHEMA) == ()


@pytest.mark.parametrize(("value", "fault"), [
    ([], "answer should be object"),
    ({}, "answer.facts is missing"),
    ({"facts": "none"}, "answer.facts should be array"),
    ({"facts": [1]}, "answer.facts[0] should be object"),
    (one(category="MAYBE"), "answer.facts[0].category should be one of CORE, SKIP"),
    (one(fact="no"), "answer.facts[0].fact should have at least 3 characters"),
    (one(fact="a" * 21), "answer.facts[0].fact should have at most 20 characters"),
    (one(sure=2), "answer.facts[0].sure should be at most 1"),
    (one(sure=True), "answer.facts[0].sure should be number"),
    (one(replaces=3), "answer.facts[0].replaces should be string or null"),
    (one(mood="good"), "answer.facts[0].mood should not be there"),
    ({"facts": [one()["facts"][0]] * 3}, "answer.facts should have at most 2 items"),
])  # fmt: skip
def test_each_fault_names_its_place(value: Any, fault: str) -> None:
    assert faults(value, SCHEMA) == (fault,)


def test_a_model_is_told_a_few_faults_and_not_a_hundred() -> None:
    wrong = {"type": "array", "items": {"type": "string"}}
    assert len(faults(list(range(100)), wrong)) == MAX_FAULTS


def test_one_of_several_shapes_is_enough() -> None:
    either = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert faults("x", either) == faults(None, either) == ()
    assert faults(3, either) == ("answer is none of the shapes allowed",)


@pytest.mark.parametrize("text", [
    '{"a": [1, "}"]}',
    'Sure! Here it is:\n```json\n{"a": [1, "}"]}\n```\nAnything else?',
    'The answer is {"a": [1, "}"]}. I hope it helps.',
])  # fmt: skip
def test_json_is_found_in_fences_and_between_words(text: str) -> None:
    assert parse_json(text) == {"a": [1, "}"]}


@pytest.mark.parametrize(("text", "why"), [
    ("", "empty"),
    ('{"facts": ["a", "b', "breaks off"),
    ("{'facts': []}", "not valid"),
    ("[" * 60_000, "breaks off"),
    ("[" * 100_000, "more than 65,536 characters"),
])  # fmt: skip
def test_what_is_no_json_is_told_apart(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_json(text)


@pytest.mark.parametrize("text", ["```json" + "\n" * 60_000, "```\n" * 16_000, "{" * 60_000])
def test_an_answer_that_goes_on_for_ever_is_refused_in_no_time(text: str) -> None:
    began = time.process_time()
    with pytest.raises(ValueError, match=r"breaks off|not valid"):
        parse_json(text)
    assert time.process_time() - began < 2


@settings(max_examples=30)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))  # fmt: skip
def test_any_value_survives_and_is_checked_without_falling_over(value: Any) -> None:
    assert parse_json(json.dumps(value)) == value
    faults(value, SCHEMA)
