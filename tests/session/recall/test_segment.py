"""SegmentIndex: a conversation in memory, found by words, by meaning and by what is beside."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmind.session.recall.segment import (
    Query,
    Scope,
    SegmentIndex,
    SegmentMessage,
    is_embedded,
)
from vaultmind.types import Role

FILLER = (
    "Yesterday it rained for hours",
    "My sister bought a new bicycle",
    "We painted the fence green",
    "The train to Gdynia was late",
)


def message(key: str, text: str, role: Role = "user", **more: object) -> SegmentMessage:
    return SegmentMessage(key, role, text, 20, lang="en", **more)  # type: ignore[arg-type]


def talk(*texts: str) -> SegmentIndex:
    index = SegmentIndex("use-1")
    for number, text in enumerate((*FILLER * 3, *texts, *FILLER * 3)):
        index.add(message(f"m{number}", text))
    return index


def keys(index: SegmentIndex, text: str, scope: Scope | None = None, **more: object) -> list[str]:
    return [hit.message.key for hit in index.search(Query(text, **more), scope).hits]  # type: ignore[arg-type]


def test_words_are_found_in_any_form() -> None:
    assert keys(talk("The oven costs four hundred euros"), "what did the ovens cost?")[0] == "m12"


def test_an_answer_is_found_by_its_question() -> None:
    index = talk("How much is the oven?", "Four hundred")
    assert set(keys(index, "price of the oven")[:2]) == {"m12", "m13"}


def test_meaning_finds_what_words_do_not() -> None:
    index = talk("Four hundred for the stove")
    axis = np.zeros(8, np.float32)
    axis[3] = 1
    index.add(message("m12", "Four hundred for the stove"), axis)
    assert keys(index, "oven price", vector=axis)[0] == "m12"
    assert index.search(Query("oven price", axis)).best == pytest.approx(1.0)


def test_what_is_in_the_window_is_not_found_again() -> None:
    index = talk("The oven costs four hundred")
    scope = Scope(1, frozenset({"m12"}))
    answer = index.search(Query("oven"), scope)
    assert "m12" not in keys(index, "oven", scope)
    assert answer.in_window > answer.best


def test_only_the_segment_is_searched_unless_all_are_asked_for() -> None:
    index = talk()
    index.add(message("new", "The oven is warm", segment=2))
    assert "new" not in keys(index, "oven", Scope(1))
    assert keys(index, "oven", Scope(2)) == ["new"]
    assert keys(index, "oven", Scope(None))[0] == "new"


def test_tools_calls_and_the_system_are_never_found() -> None:
    index = talk()
    index.add(message("t", "oven oven oven", "tool"))
    index.add(message("s", "oven", "system"))
    index.add(message("c", "oven", "assistant", tool_call=True))
    assert not {"t", "s", "c"} & set(keys(index, "oven"))


@pytest.mark.parametrize(
    ("role", "tokens", "call", "expected"),
    [
        ("user", 10, False, True),
        ("assistant", 10, False, True),
        ("user", 9, False, False),
        ("assistant", 50, True, False),
        ("tool", 50, False, False),
        ("system", 50, False, False),
    ],
)
def test_who_gets_a_vector(role: Role, tokens: int, call: bool, expected: bool) -> None:
    assert is_embedded(role, tokens, tool_call=call) is expected


def test_a_dropped_message_is_found_no_more() -> None:
    index = talk("The oven costs four hundred")
    index.drop("m12")
    index.drop("nobody")
    assert "m12" not in keys(index, "oven costs")
    assert len(index) == 24
    assert all(one.key != "m12" for one in index.messages())


def test_a_speaker_who_is_named_comes_first() -> None:
    index = talk()
    index.add(message("a", "I took the oven apart", speaker="Anna"))
    for number in range(4):
        index.add(message(f"f{number}", FILLER[number], speaker="Piotr"))
    index.add(message("p", "I took the oven apart", speaker="Piotr"))
    assert keys(index, "what did Piotr do with the oven?")[0] == "p"
    assert keys(index, "what did Anna do with the oven?")[0] == "a"


def test_the_beginning_is_found_where_it_is_asked_for() -> None:
    assert keys(talk(), "what was it?", at_start=True)[0] in {"m0", "m1", "m2"}


def test_nothing_is_found_in_nothing() -> None:
    assert SegmentIndex().search(Query("oven")).hits == ()
    assert talk().search(Query("")).hits == ()


@settings(deadline=None)  # the first one loads what tells languages
@given(st.lists(st.text(max_size=30), max_size=30), st.text(max_size=30))
def test_no_text_breaks_a_search(texts: list[str], query: str) -> None:
    index = SegmentIndex()
    for number, text in enumerate(texts):
        index.add(SegmentMessage(str(number), "user", text, 12, segment=number % 3))
    found = [hit.message.key for hit in index.search(Query(query), Scope(None, {"0"})).hits]
    assert len(found) == len(set(found))
    assert "0" not in found


def test_how_short_a_message_with_a_vector_may_be_can_be_said() -> None:
    vector = np.array([0.6, 0.8], np.float32)
    for least, there in ((10, False), (4, True)):
        index = SegmentIndex(min_tokens=least)
        index.add(SegmentMessage("a", "user", "Birch wood, please.", 5))
        index.give("a", vector)
        index.give("nobody", vector)
        assert (index.vector_of("a") is not None) is there
        assert index.vector_of("nobody") is None


def test_an_embedder_that_is_loaded_later_brings_its_scale() -> None:
    index = talk("The keeper wrote every night about the northern sea.")
    index.give("m12", np.array([0.85, 0.526783], np.float32))
    query = Query("gulls", np.array([1.0, 0.0], np.float32))
    assert index.search(query).best == pytest.approx(1.0)
    index.measure_by("e5-small")
    assert index.search(query).best == pytest.approx(0.5, abs=0.01)
