"""Prompts a person picks from a menu, in the agent's language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultmind.errors import BadArgument, NotFound
from vaultmind.memory.rights.identity import read_identity

if TYPE_CHECKING:
    from vaultmind.app import App

LANGUAGES = ("en", "pl", "ru")
MAX_ARGUMENT = 2000


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt: by language its title, what it does and its text, with `{argument}` in it."""

    name: str
    argument: str
    description: str
    """What picking it does, for a client's menu."""
    titles: tuple[str, str, str]
    texts: tuple[str, str, str]

    def title(self, language: str) -> str:
        """Return the title in a language, else in English."""
        return self.titles[_place(language)]

    def text(self, language: str, values: Mapping[str, str]) -> str:
        """Return what the person says when they pick this; raise BadArgument for a bad value."""
        for name in values:
            if name != self.argument:
                known = self.argument or "none"
                raise BadArgument(name, values[name], f"no argument of this name; known: {known}")
        value = values.get(self.argument, "").strip()
        if self.argument and not 0 < len(value) <= MAX_ARGUMENT:
            raise BadArgument(self.argument, value, f"text, 1 to {MAX_ARGUMENT} characters")
        return self.texts[_place(language)].replace("{value}", value)


PROMPTS = (
    Prompt(
        "remember",
        "fact",
        "Writes a fact about you into the memory.",
        ("Remember this", "Zapamiętaj to", "Запомни это"),
        (
            "Remember this about me: {value}\n\n"
            "(Call memory_update with the line above as utterance.)",
            "Zapamiętaj to o mnie: {value}\n\n(Wywołaj memory_update z tą linią jako utterance.)",
            "Запомни это обо мне: {value}\n\n(Вызови memory_update с этой строкой в utterance.)",
        ),
    ),
    Prompt(
        "forget",
        "fact",
        "Takes a fact out of the memory and hides what said it.",
        ("Forget this", "Zapomnij to", "Забудь это"),
        (
            "Forget this: {value}\n\n(Call memory_update with the line above as utterance, "
            "and tell me what was removed.)",
            "Zapomnij to: {value}\n\n(Wywołaj memory_update z tą linią jako utterance "
            "i powiedz, co zostało usunięte.)",
            "Забудь это: {value}\n\n(Вызови memory_update с этой строкой в utterance и скажи, что "
            "было удалено.)",
        ),
    ),
    Prompt(
        "what_do_you_know_about_me",
        "",
        "Lists all that is remembered of you, and the files it is in.",
        ("What do you know about me?", "Co o mnie wiesz?", "Что ты обо мне знаешь?"),
        (
            "What do you know about me? Use memory_show, and name the files it is in.",
            "Co o mnie wiesz? Użyj memory_show i podaj pliki, w których to jest.",
            "Что ты обо мне знаешь? Используй memory_show и назови файлы, где это записано.",
        ),
    ),
    Prompt(
        "search_my_notes",
        "question",
        "Answers from your notes, and names them.",
        ("Search my notes", "Przeszukaj moje notatki", "Поищи в моих заметках"),
        (
            "Search my notes with memory_search and answer, naming the notes: {value}",
            "Przeszukaj moje notatki przez memory_search i odpowiedz, podając notatki: {value}",
            "Поищи в моих заметках через memory_search и ответь, называя заметки: {value}",
        ),
    ),
)


def find(name: str) -> Prompt:
    """Return a prompt by name; raise NotFound naming those there are."""
    for prompt in PROMPTS:
        if prompt.name == name:
            return prompt
    known = ", ".join(prompt.name for prompt in PROMPTS)
    raise NotFound(f"There is no prompt {name[:80]!r}.", hint=f"There are: {known}.")


def language(app: App, agent: str) -> str:
    """Return the language an agent's identity.md names, empty where it names none."""
    return read_identity(app.reader, app.paths, agent).language if agent else ""


def _place(language: str) -> int:
    return LANGUAGES.index(language) if language in LANGUAGES else 0
