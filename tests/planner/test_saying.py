"""What of a task leads to files: not its small words, nor what only asks for a text."""

from __future__ import annotations

from vaultmind.planner.candidates import Candidate, said_of
from vaultmind.planner.pack import Ranked, running_last
from vaultmind.planner.telling import is_little

MEMORY = "VaultMind/agents/main/memory"


def test_over_code_a_verb_may_be_a_name() -> None:
    assert said_of("write the cache to disk", "en", "code") == "write the cache to disk"
    assert said_of("napraw `na_stanie` w koszyku", "pl", "code") == "napraw `na_stanie` koszyku"


def test_the_memorys_own_summaries_are_planned_once_and_below_what_they_are_about() -> None:
    scores = {
        f"{MEMORY}/active_context.md": 5.0,
        f"{MEMORY}/summaries/rolling/2026-02-20_001.md": 4.9,
        "Work/Hiring.md": 3.0,
        "Work/Else.md": 2.5,
    }
    last = running_last([Ranked(Candidate(path), score) for path, score in scores.items()])
    told = {one.candidate.path: one.score for one in last}
    assert told == {
        "Work/Hiring.md": 3.0,
        "Work/Else.md": 2.5,
        f"{MEMORY}/active_context.md": 2.0,
    }
    alone = [Ranked(Candidate(f"{MEMORY}/active_context.md"), 5.0)]
    assert running_last(alone) == alone


def test_what_meaning_alone_found_is_said_to_be_little() -> None:
    assert is_little([Candidate("a.py", {"meaning": 0.6})])
    assert not is_little([Candidate("a.py", {"meaning": 0.9})])
    assert not is_little([Candidate("a.py", {"meaning": 0.4, "coverage": 0.4})])
    assert is_little([])
