"""The questions over notes hold what benchmarks/example.py says of them."""

import json
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from large_vault import SEED, large_vault  # noqa: E402

EXAMPLE = BENCHMARKS.parent / "vault-example"
KINDS = ("keyword", "sentence", "paraphrase", "typo", "cross", "vague")


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (BENCHMARKS / "data" / name).read_text().splitlines()]


@cache
def _notes(seed: int) -> dict[str, str]:
    return {note.path: note.text for note in large_vault(seed)}


def _text(vault: str, path: str) -> str:
    large = _notes(SEED)
    return large[path] if vault == "large" else (EXAMPLE / path).read_text("utf-8-sig")


def test_a_seed_makes_the_same_vault_of_more_than_2000_notes() -> None:
    again = {note.path: note.text for note in large_vault(SEED)}
    assert again == _notes(SEED)
    assert len(again) > 2_000
    assert not any("{" in text or "{" in path for path, text in again.items())


def test_there_are_enough_questions_of_every_kind_and_their_notes_exist() -> None:
    questions = _lines("note_questions.jsonl")
    assert len({one["id"] for one in questions}) == len(questions) >= 200
    kinds = Counter((one["vault"], one["kind"]) for one in questions)
    assert {kind for _, kind in kinds} == set(KINDS)
    assert min(kinds.values()) >= 15
    for one in questions:
        assert one["paths"] and all(_text(one["vault"], path) for path in one["paths"]), one["id"]


def test_no_question_is_one_that_the_ranker_has_learnt_from() -> None:
    learnt = {str(one["query"]).casefold() for one in _lines("example_questions.jsonl")}
    asked = [str(one["query"]).casefold() for one in _lines("note_questions.jsonl")]
    assert not learnt.intersection(asked)
    assert len(set(asked)) == len(asked)
