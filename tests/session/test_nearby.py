"""session/voice/nearby: facts by their words, else by their meaning, and how sure that is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vaultmind.session.voice.nearby import known_about, offered
from vaultmind.types import Fact, Hit, Outcome

JOB = Fact("Works as a backend engineer at Orbis", "user", "a1b2")
CAT = Fact("Has a cat called Tofik", "user", "")
HIT = Hit("i", "brain.md", "#^a1b2", "fact", "main", "t", "as it was indexed", 0.6)


@pytest.mark.parametrize(
    ("words", "hits", "facts", "said"),
    [
        ("cat?", (), (CAT,), ("known",)),
        ("my job?", (HIT,), (JOB,), ("known",)),
        ("my job?", (replace(HIT, score=0.3),), (JOB,), ("nothing_known", "nearest")),
        ("my job?", (replace(HIT, anchor="#^gone"),), (), ("nothing_known",)),
        ("my pet?", (replace(HIT, anchor="#user", text=CAT.text),), (CAT,), ("known",)),
        ("my job?", (), (), ("nothing_known",)),
        ("me?", (), (JOB, CAT), ("known",)),
        ("", (), (JOB, CAT), ("known",)),
    ],
)
def test_a_question_finds_facts_by_words_or_meaning_and_says_how_sure_it_is(
    words: str, hits: tuple[Hit, ...], facts: tuple[Fact, ...], said: tuple[str, ...]
) -> None:
    assert known_about((JOB, CAT), words, lambda: hits) == (facts, said)
    assert known_about((), words, lambda: hits) == ((), ("nothing_known",))


def test_what_no_words_name_is_offered_by_meaning_and_never_chosen() -> None:
    unknown = Outcome("not_found", "main", nearest=("Likes tea",))
    hits = [replace(HIT, text=text) for text in ("Likes tea", "Eats no nuts", "Is ill", "Is tall")]
    assert offered(unknown, hits).nearest == ("Likes tea", "Eats no nuts", "Is ill")
    assert offered(unknown, hits).outcome == "not_found"
