"""The context before an answer: its parts in order, its budget, and what it says of the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.session.building import (
    ASKED,
    FILLER,
    OVEN,
    SESSION,
    House,
    chat,
    message,
    names,
    reason_of,
    text_of,
)
from vaultmind.config import Config
from vaultmind.session.parts import BETWEEN, PART_NAMES, BuiltContext
from vaultmind.session.recall import key_of
from vaultmind.tokens import count
from vaultmind.vault.paths import VaultPaths


@pytest.fixture
def home(paths: VaultPaths) -> House:
    """Return a vault with one agent."""
    return House(paths, Config(vault=paths.root, state_dir=paths.root / ".state"))


def _check(context: BuiltContext, frame_tokens: int = 0) -> None:
    """Assert what is true of every context."""
    frames = frame_tokens * len(context.parts)
    whole = count(BETWEEN.join(part.text for part in context.parts)) + frames
    assert context.tokens == whole <= context.budget
    assert [part.tokens for part in context.parts] == [count(p.text) for p in context.parts]
    places = [PART_NAMES.index(part.name) for part in context.parts]
    assert places == sorted(set(places))
    keys = [key for part in context.parts for key in part.messages]
    assert len(keys) == len(set(keys))


def test_what_the_host_shows_by_itself_is_not_shown_again(home: House) -> None:
    talk = chat(OVEN, filler=30)
    home.talks.hold(talk)
    known = frozenset(key_of(one) for one in talk)
    context = home.build(ASKED, known=known, without=frozenset({"window", "summary"}))
    assert names(context) == []
    assert "fits the window" in reason_of(context, "earlier")
    known -= {"id1"}
    context = home.build(ASKED, known=known, without=frozenset({"window", "summary"}))
    assert names(context) == ["earlier"]


def test_a_limit_that_leaves_something_out_is_named(home: House) -> None:
    many = [f"The oven costs {number} euros and comes on day {number}" for number in range(40)]
    home.talks.hold(chat(*many, filler=70))
    assert "raise auto_rag.top_k" in reason_of(home.build(ASKED), "fainter")
    assert "240 tokens (raise the budget" in reason_of(home.build(ASKED, budget=600), "fainter")


def test_messages_of_several_days_stand_under_their_dates(home: House) -> None:
    talk = chat(*(FILLER[number % 4] for number in range(200)))
    for at, day in ((7, 20), (27, 21), (47, 22)):
        talk[at] = replace(talk[at], text=f"The oven is {at} degrees hot", time=f"2026-02-{day}")
    home.talks.hold(talk)
    text = text_of(home.build("How hot is the oven?"), "earlier")
    assert [line for line in text.split("\n") if "—" in line] == [
        "— 2026-02-20 —",
        "— 2026-02-21 —",
        "— 2026-02-22 —",
    ]


def test_lasting_memory_is_not_asked_what_the_conversation_answers(home: House) -> None:
    home.says = "The oven of the bakery was forty euros"
    home.talks.hold(chat(*FILLER))
    assert "bakery" in text_of(home.build(ASKED), "memory")
    home.talks.hold(chat(*FILLER, f"{ASKED[:-1]} was told"))
    assert "itself covers" in reason_of(home.build(ASKED), "memory")


def test_the_active_context_tells_of_an_ended_conversation_alone(home: House) -> None:
    home.know(active=f"---\nsession: {SESSION}\n---\nThe plinth is up.")
    home.talks.hold(chat(OVEN, filler=3))
    context = home.build(ASKED)
    assert "active context" not in names(context)
    assert "this conversation" in reason_of(context, "active context")
    home.talks.views[SESSION] = replace(home.talks.views[SESSION], ended=True)
    context = home.build(ASKED)
    assert context.session == ""
    assert [part.name for part in context.parts] == ["active context", "window"]
    assert OVEN not in text_of(context, "window")
    assert "ended" in reason_of(context, SESSION)
    assert OVEN in text_of(home.build(ASKED, session=SESSION), "window")


def test_the_conversation_is_folded_by_the_window_that_there_is(home: House) -> None:
    home.talks.hold(chat(OVEN, filler=60))
    home.build(ASKED, budget=2000)
    (room,) = home.talks.rooms
    assert 400 <= room < 2000


_words = st.lists(
    st.sampled_from(
        ["oven", "fence", "żółć", "🐢", "שלום", "don't", "x" * 40, "…", "\n", " ", "17.5"]
    )
    | st.text(max_size=12),
    max_size=12,
).map(" ".join)
_texts = _words | st.builds(lambda text, times: text * times, _words, st.integers(1, 60))
_role = st.sampled_from(["user", "assistant", "tool", "system"])
_talks = st.lists(st.tuples(_role, _texts, st.sampled_from(["", "Anna"])), max_size=30)
_without = st.frozensets(st.sampled_from(PART_NAMES), max_size=3)


@settings(
    deadline=None,
    max_examples=120,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    talk=_talks,
    known=st.tuples(_texts, _texts, _texts, _texts),
    pending=st.lists(_texts, max_size=3),
    asked=st.fixed_dictionaries(
        {
            "tools": _texts,
            "budget": st.none() | st.integers(1, 60) | st.integers(1, 20_000),
            "frame_tokens": st.sampled_from([0, 0, 3, 33]),
            "without": _without,
            "task": st.sampled_from(["", "", "", "daily"]),
        }
    ),
)
def test_the_budget_is_never_exceeded_and_the_pending_message_is_always_there(
    home: House,
    talk: list[tuple[str, str, str]],
    known: tuple[str, str, str, str],
    pending: list[str],
    asked: dict[str, Any],
) -> None:
    home.know(*known[:3])
    home.says = known[3]
    home.run(*({"role": role, "content": text} for role, text, _ in talk))
    said = [message(n, text, role, speaker=who) for n, (role, text, who) in enumerate(talk, 1)]  # type: ignore[arg-type]
    home.talks.hold(said)
    context = home.build(*pending, **asked)
    frame = asked["frame_tokens"]
    _check(context, frame)
    shown = text_of(context, "window")
    waiting = [text.strip() for text in pending if text.strip()]
    if waiting and "window" not in asked["without"] and context.budget > frame + 6:
        assert waiting[-1] in shown or shown.endswith("…")
    texts = {key_of(one): one.text.strip() for one in said}
    for part in context.parts:
        assert all(texts[key] in part.text for key in part.messages)
