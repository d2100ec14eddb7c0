"""The few words that a summary's file says of itself, in six languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vaultmind.consolidate.types import Level


@dataclass(frozen=True, slots=True)
class Wording:
    """What a summary says of itself in one language. `{}` stands for days."""

    headings: Mapping[Level, str]
    nothing: str
    """Of talks in which nothing was said that needs keeping."""
    user: str
    """Who speaks, where the session does not say; ..."""
    assistant: str
    """... and who answers."""

    def heading(self, level: Level, first: str, last: str) -> str:
        """Return the heading of a summary of some days, given as ISO dates; either may be empty."""
        days = " – ".join(dict.fromkeys(day for day in (first, last) if day))
        return self.headings[level].format(days).strip(" ,:")

    def role(self, role: str) -> str:
        """Return what a speaker without a name is called."""
        return self.user if role == "user" else self.assistant


_WORDINGS = {
    "en": Wording(
        {"L1": "Conversations, {}", "L2": "A longer time, {}"},
        "Nothing was said that needs keeping.",
        "User",
        "Assistant",
    ),
    "pl": Wording(
        {"L1": "Rozmowy, {}", "L2": "Dłuższy czas, {}"},
        "Nie padło nic, co trzeba zachować.",
        "Użytkownik",
        "Asystent",
    ),
    "ru": Wording(
        {"L1": "Разговоры, {}", "L2": "За долгое время, {}"},
        "Не было сказано ничего, что нужно сохранить.",
        "Пользователь",
        "Ассистент",
    ),
    "de": Wording(
        {"L1": "Gespräche, {}", "L2": "Eine längere Zeit, {}"},
        "Es wurde nichts gesagt, das bleiben muss.",
        "Nutzer",
        "Assistent",
    ),
    "es": Wording(
        {"L1": "Conversaciones, {}", "L2": "Un tiempo más largo, {}"},
        "No se dijo nada que haya que guardar.",
        "Usuario",
        "Asistente",
    ),
    "fr": Wording(
        {"L1": "Conversations, {}", "L2": "Une période plus longue, {}"},
        "Rien n'a été dit qui doive rester.",
        "Utilisateur",
        "Assistant",
    ),
}
LANGUAGES = tuple(_WORDINGS)


def wording(language: str) -> Wording:
    """Return the words of a language; English where there are none."""
    return _WORDINGS.get(language, _WORDINGS["en"])


def every_role(role: str) -> str:
    """Return what a speaker without a name may be called, in any of the languages."""
    return " ".join(dict.fromkeys(one.role(role) for one in _WORDINGS.values()))
