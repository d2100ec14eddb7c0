"""The example vault and what is asked over it and over notes, and an index without an app."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from vaultmind.types import Caller

ROOT = Path(__file__).parent.parent
DATA = Path(__file__).parent / "data"
EXAMPLE = ROOT / "vault-example"
QUESTIONS = DATA / "example_questions.jsonl"
"""Each names the notes that answer it, and its kind: keyword, sentence, typo, vague, paraphrase,
cross-language."""
NOTE_QUESTIONS = DATA / "note_questions.jsonl"
"""261, written by reading the notes and before any search was asked: 157 over the example vault and
104 over the 2,300 notes of large_vault.py."""
WORD_SETS = ("morphology_pl", "morphology_ru", "typos", "identifiers")
"""Notes without telling names, and questions: Polish and Russian ones in other cases, numbers,
aspects and names; ones with a typing error or without diacritics; identifiers, whole and in parts.
All were written before anything was measured."""


@dataclass(frozen=True, slots=True)
class WordQuestion:
    """A question of one of the word sets, and the notes that are right, any of them."""

    group: str
    query: str
    right: frozenset[str]


class NothingForgotten:
    """Implements ports.Forgotten and ports.Readers for a vault without tombstones and rights."""

    def hides(self, agent: str, session: str, message: str) -> bool:
        """Return False."""
        return False

    def hider(self, agent: str) -> Callable[[str, str], bool]:
        """Return the same of an agent."""
        return partial(self.hides, agent)

    def lets_read(self, caller: Caller, owner: str) -> bool:
        """Return True: every memory may be read."""
        return True


def read(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def read_word_sets() -> tuple[dict[str, str], list[WordQuestion]]:
    """Return the notes of all word sets by name, and their questions."""
    notes: dict[str, str] = {}
    questions: list[WordQuestion] = []
    for name in WORD_SETS:
        for one in read(DATA / f"{name}.jsonl"):
            if "text" in one:
                notes[one["note"]] = one["text"]
            else:
                questions.append(WordQuestion(name, one["query"], frozenset(one["notes"])))
    return notes, questions
