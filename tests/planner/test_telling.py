"""Telling: reasons that set a file apart, each once, with the words that they are about."""

from __future__ import annotations

from vaultmind.planner.scorer import Weights
from vaultmind.planner.telling import TaskWords, is_told, texts_of, told_reasons
from vaultmind.planner.types import Definition, FileRecord
from vaultmind.planner.words import written_in
from vaultmind.types import Reason

TASK = TaskWords(written_in("Refreshing the jwt tokens of CartView"), {"jwt": 2.0, "token": 1.0})


def record(tokens: int = 9) -> FileRecord:
    defined = (Definition("refresh", "function", 1, 2, "refresh()", "Anew."),)
    return FileRecord("a.py", "sha", "code", "python", "a", 9, tokens, definitions=defined)


def told(*reasons: tuple[str, float], because: tuple[str, ...] = ()) -> list[str]:
    made = [Reason(f"by {family}", share, family) for family, share in reasons]
    texts = texts_of("shop/cart_view.py", record(), ["a token of a jwt"])
    return [str(one) for one in told_reasons(made, because, TASK, texts)]


def test_words_with_accents_are_told_as_well() -> None:
    words = TaskWords(written_in("żółty koszyk"), {})
    assert words.among(["zolty", "Koszyk"]) == words.among(["Żółty koszyk"]) != ""
    assert words.among(["blue"]) == ""
    assert TaskWords({}, {}).among(["żółty"]) == ""


def test_a_strong_candidate_is_named() -> None:
    assert told(("user", 0.2), because=("tests a.py", "uses b.py")) == ["uses b.py (20%)"]


def test_what_holds_for_a_file_whatever_the_task_is_told_last() -> None:
    found = told(("f_recency_score", 0.5), ("beside", 0.3), ("similar", 0.1))
    assert found == ["by similar (10%)", "by beside (30%)", "by f_recency_score (50%)"]


def test_that_much_stands_in_a_small_file_is_not_told() -> None:
    reason = Reason("much stands in it", 0.4, "f_token_cost")
    assert not is_told(reason, record(120))
    assert not is_told(reason, None)
    assert is_told(reason, record(8_000))


def test_what_lifts_all_files_alike_comes_after_what_sets_one_apart() -> None:
    weights = Weights("w", {"recent": 1.0, "words": 1.0}, {})
    files = [{"recent": 1.0, "words": 0.0}, {"recent": 1.0, "words": 0.6}]
    common = weights.common(files)
    assert common == {"recent": 1.0, "words": 0.3}
    assert [one.family for one in weights.reasons(files[1])] == ["recent", "words"]
    assert [one.family for one in weights.reasons(files[1], common)] == ["words", "recent"]
    assert weights.common([]) == {}
