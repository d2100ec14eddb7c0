"""Conversations for the tests of the summary."""

from __future__ import annotations

import random
from collections.abc import Iterable

from vaultmind.session.summary import Rolling, fold
from vaultmind.types import Message, Role

DECISIONS = {
    "en": (
        "We decided to build the shed from larch.",
        "The budget is 4,200 euros, not a cent more.",
        "Agreed: Marta paints the door on 14 March.",
    ),
    "pl": (
        "Postanowiliśmy zbudować szopę z modrzewia.",
        "Budżet wynosi 4200 złotych i ani grosza więcej.",
        "Ustaliliśmy, że Marta pomaluje drzwi 14 marca.",
    ),
    "ru": (
        "Мы решили строить сарай из лиственницы.",
        "Бюджет составляет 4200 рублей и ни копейки больше.",
        "Договорились, что Марта покрасит дверь 14 марта.",
    ),
}
_FILLER = {
    "en": (
        "The {a} near the {b} was quiet again this morning.",
        "I keep thinking about the {a} and how it smells of {b}.",
        "Somebody left a {a} beside the {b}, and nobody asked why.",
        "Thanks, that sounds good.",
        "A {a} is never as simple as a {b}.",
    ),
    "pl": (
        "Ten {a} obok miejsca, gdzie jest {b}, znowu milczał rano.",
        "Ciągle myślę o tym, jak pachnie {a} i trochę {b}.",
        "Ktoś zostawił {a} koło rzeczy takiej jak {b}.",
        "Dzięki, brzmi dobrze.",
        "Każdy {a} bywa trudniejszy niż {b}.",
    ),
    "ru": (
        "Этот {a} рядом с местом, где {b}, утром снова молчал.",
        "Всё думаю о том, как пахнет {a} и немного {b}.",
        "Кто-то оставил {a} возле такой вещи, как {b}.",
        "Спасибо, звучит хорошо.",
        "Любой {a} бывает сложнее, чем {b}.",
    ),
}
_NOUNS = {
    "en": "kettle orchard lantern violin staircase river parrot cupboard market blanket",
    "pl": "czajnik sad lampion schodek strumyk koc kredens rynek płot wózek",
    "ru": "чайник сад фонарь колодец ручей плед буфет рынок забор попугай",
}


def message(number: int, text: str, role: Role | None = None, speaker: str = "") -> Message:
    """Return the message of a number: the user's and the assistant's in turn."""
    spoken: Role = role or ("user" if number % 2 else "assistant")
    time = (
        f"2026-03-{1 + number // 1440 % 28:02d}T{number // 60 % 24:02d}:{number % 60:02d}:00+01:00"
    )
    return Message(spoken, text, time, id=f"t:{number}", speaker=speaker, block=f"m{number}")


def talk(length: int, language: str = "en", seed: int = 1) -> list[Message]:
    """Return a conversation whose messages 2, 5 and 8 decide something."""
    rng = random.Random(seed)
    planted = dict(zip((2, 5, 8), DECISIONS[language], strict=True))
    return [
        message(number, planted.get(number) or _filler(rng, language))
        for number in range(1, length + 1)
    ]


def folded(messages: Iterable[Message], language: str = "en", every: int = 6) -> Rolling:
    """Return the summary of a conversation, folded so many messages at a time."""
    waiting = list(messages)
    rolling = Rolling("s", "main", language)
    for start in range(0, len(waiting), every):
        rolling = fold(rolling, waiting[start : start + every], language=language)
    return rolling


def _filler(rng: random.Random, language: str) -> str:
    pick = [rng.choice(_FILLER[language]) for _ in range(rng.choice((1, 2)))]
    nouns = _NOUNS[language].split()
    return " ".join(one.format(a=rng.choice(nouns), b=rng.choice(nouns)) for one in pick)
