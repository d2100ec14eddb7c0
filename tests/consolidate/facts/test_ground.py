"""No fact without its evidence, by whomever it was found."""

from __future__ import annotations

import pytest

from vaultmind.consolidate.ground import ground
from vaultmind.consolidate.talk import Talk, read_talk
from vaultmind.consolidate.types import Candidate, Category
from vaultmind.types import Message


def heard(*texts: str) -> Talk:
    roles = {"u": "user", "a": "assistant"}
    return read_talk(
        [
            Message(roles[text[0]], text[2:].strip(), "", id=f"m{at}")  # type: ignore[arg-type]
            for at, text in enumerate(texts, 1)
        ]
    )


def why(talk: Talk, text: str, *evidence: str, category: Category = "CORE") -> str:
    dropped = ground(Candidate(category, text, evidence or ("m1",)), talk)
    return dropped.reason if dropped else ""


@pytest.mark.parametrize(
    ("said", "fact", "reason"),
    [
        ("I live in Kraków", "Lives in Kraków with a dog", "words not in evidence"),
        ("I live in Kraków", "User is called Marta", "name not in evidence"),
        ("the launch is on 14 March", "The launch is on 15 March", "number not in evidence"),
        ("I don't like jazz", "Likes jazz", "polarity"),
        ("I eat meat", "Does not eat meat", "polarity"),
        ("nie lubię jazzu", "Lubi jazz", "polarity"),
        ("Do I like jazz?", "Likes jazz", "question"),
        ("maybe I'll buy a boat", "Buys a boat", "hypothetical"),
        ("I love taxes, just kidding", "Loves taxes", "joke"),
        ("my neighbour says he works for Interpol", "Works for Interpol", "quoted"),
        ("between us: I work for Interpol", "Works for Interpol", "asked not to keep"),
        ("<private>I work for Interpol</private> hi", "Works for Interpol", "private"),
        ("my password is Tr0ub4dor3", "The password is Tr0ub4dor3", "secret"),
    ],
)
def test_a_fact_that_was_not_said_is_dropped_with_its_reason(
    said: str, fact: str, reason: str
) -> None:
    assert why(heard(f"u:{said}"), fact) == reason


def test_the_assistants_claim_is_a_fact_only_where_the_user_agreed() -> None:
    claims = ("u:hi", "a:You are a vegetarian from Leeds.")
    fact = "Vegetarian from Leeds"
    assert why(heard(*claims, "u:Nope."), fact, "m2") == "not the user's words"
    assert why(heard(*claims, "u:Yes, exactly."), fact, "m2", "m3") == ""


def test_words_from_far_apart_make_no_fact() -> None:
    far = "I live in Leeds. The sky is grey. It rained. We ate soup. Oslo has fjords."
    assert why(heard(f"u:{far}"), "Lives in Oslo") == "words not in evidence"


def test_no_secret_passes_whatever_the_evidence() -> None:
    key = "sk-proj-" + "Ab1" * 12
    assert why(heard(f"u:I use {key}"), f"Uses {key}") == "secret"
