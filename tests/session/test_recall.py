"""Auto-RAG: when to look back, what to show of it, and what it costs."""

from __future__ import annotations

from vaultmind.session.recall import RecallRequest, SegmentIndex, recall
from vaultmind.tokens import count
from vaultmind.types import Message, Role

FILLER = (
    "Yesterday it rained for hours and we stayed at home",
    "My sister bought a new bicycle in Gdynia",
    "We painted the fence green, it looks fine",
    "The train was late again, thanks to the snow",
)
OVEN = "The oven costs four hundred euros and comes on Thursday"


def said(number: int, text: str, role: Role = "user", day: str = "2026-02-20") -> Message:
    return Message(role, text, f"{day}T10:00:00", block=f"m{number}")


def talk(*texts: str, filler: int = 5) -> SegmentIndex:
    every = enumerate((*FILLER * filler, *texts, *FILLER * filler))
    return SegmentIndex().updated(
        [said(n, text, "assistant" if n % 2 else "user") for n, text in every]
    )


def ask(text: str, tokens: int = 400, most: int | None = 3) -> RecallRequest:
    return RecallRequest(text, tokens, most)


def shown(index: SegmentIndex, asked: RecallRequest) -> str:
    part = recall(index, asked).part
    return part.text if part else ""


def test_messages_of_several_days_stand_under_their_dates_within_the_room() -> None:
    messages = list[Message]()
    for number in range(60):
        text = f"The oven is {number} degrees hot" if number % 20 == 7 else FILLER[number % 4]
        day = f"2026-02-{20 + number // 20}"
        messages.append(said(number, text, day=day))
    index = SegmentIndex().updated(messages)
    text = shown(index, ask("How hot is the oven?", 400, 3))
    assert [line for line in text.split("\n") if "—" in line] == [
        "— 2026-02-20 —",
        "— 2026-02-21 —",
        "— 2026-02-22 —",
    ]
    for tokens in range(20, 90):
        assert count(shown(index, ask("How hot is the oven?", tokens, None))) <= tokens + 1
    assert "—" not in shown(index, ask("How hot is the oven?", 400, 1))


DEADLINE = "What is the deadline of Project Heron?"


def test_an_old_question_gives_its_place_to_its_answer() -> None:
    index = talk(DEADLINE, "They want all of it in April", "Yesterday was warm", DEADLINE, "ok")
    asked = ask("when is the deadline of project heron?")
    assert "in April" in shown(index, asked)
    assert DEADLINE not in shown(index, asked)
    assert recall(index, asked).best < 0.7, "lasting memory is still asked"
