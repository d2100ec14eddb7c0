"""What Suggestions.md says in each language that it is written in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Op = Literal["remember", "replace", "forget"]
OPS: tuple[Op, ...] = ("remember", "replace", "forget")


@dataclass(frozen=True, slots=True)
class Words:
    """What Suggestions.md says in one language."""

    title: str
    intro: str
    waiting: str
    verbs: tuple[str, str, str]
    """In the order of `OPS`."""
    into: str
    """Whose memory, where it is not the one's who asks."""
    instead: str
    """Before the fact that a correction takes the place of."""
    why: str
    message: str
    failed: str
    """Begins the line under an accepted suggestion that could not be applied."""
    again: str

    def label(self, op: Op, caller: str, agent: str) -> str:
        """Return the beginning of a task: who wants to do what, and in whose memory."""
        into = f" {self.into.format(agent)}" if caller != agent else ""
        return f"**{caller}** {self.verbs[OPS.index(op)]}{into}"


WORDS = {
    "en": Words(
        "Suggestions",
        "Tick `[x]` to accept a suggestion, write `[-]` to reject it. You may change its words "
        "first: what stands in the task is what is kept.",
        "Waiting",
        ("wants to remember", "wants to correct", "wants to forget"),
        "in **{}**'s memory",
        "instead of",
        "why",
        "the message",
        "could not be applied",
        "Change its words if they are wrong, and tick it again.",
    ),
    "pl": Words(
        "Sugestie",
        "Zaznacz `[x]`, aby przyjąć sugestię, wpisz `[-]`, aby ją odrzucić. Najpierw możesz "
        "zmienić jej słowa: zapisane zostanie to, co stoi w zadaniu.",
        "Czekają",
        ("chce zapamiętać", "chce poprawić", "chce zapomnieć"),
        "w pamięci **{}**",
        "zamiast",
        "dlaczego",
        "wiadomość",
        "nie udało się zastosować",
        "Zmień słowa, jeśli są błędne, i zaznacz ponownie.",
    ),
    "ru": Words(
        "Предложения",
        "Отметьте `[x]`, чтобы принять предложение, поставьте `[-]`, чтобы отклонить. Слова можно "
        "сначала изменить: сохранится то, что стоит в задаче.",
        "Ожидают",
        ("хочет запомнить", "хочет исправить", "хочет забыть"),
        "в памяти **{}**",
        "вместо",
        "почему",
        "сообщение",
        "не удалось применить",
        "Измените слова, если они неверны, и отметьте снова.",
    ),
}


def words_of(language: str) -> Words:
    """Return the words of a language; English for one we do not write."""
    return WORDS.get(language, WORDS["en"])
