"""Prompts a person picks from a menu, in the agent's language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultmind.errors import BadArgument, NotFound
from vaultmind.memory.rights import read_identity

if TYPE_CHECKING:
    from vaultmind.app import App

MAX_ARGUMENT = 2000


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt: by language its title and what the person says with it, `{value}` in it."""

    name: str
    argument: str
    description: str
    """What picking it does, for a client's menu."""
    said: Mapping[str, tuple[str, str]]
    tool: str
    """What the model is to do about it, in English."""

    def title(self, language: str) -> str:
        """Return the title in a language, else in English."""
        return self.said.get(language, self.said["en"])[0]

    def text(self, language: str, values: Mapping[str, str]) -> str:
        """Return what the person says when they pick this; raise BadArgument for a bad value."""
        for name in values:
            if name != self.argument:
                known = self.argument or "none"
                raise BadArgument(name, values[name], f"no argument of this name; known: {known}")
        value = values.get(self.argument, "").strip()
        if self.argument and not 0 < len(value) <= MAX_ARGUMENT:
            raise BadArgument(self.argument, value, f"text, 1 to {MAX_ARGUMENT} characters")
        said = self.said.get(language, self.said["en"])[1].replace("{value}", value)
        return f"{said}\n\n({self.tool})"


PROMPTS = (
    Prompt(
        "remember",
        "fact",
        "Writes a fact about you into the memory.",
        {
            "en": ("Remember this", "Remember this about me: {value}"),
            "pl": ("Zapamiętaj to", "Zapamiętaj to o mnie: {value}"),
            "ru": ("Запомни это", "Запомни это обо мне: {value}"),
        },
        "Call memory_update with the line above as utterance.",
    ),
    Prompt(
        "forget",
        "fact",
        "Takes a fact out of the memory and hides what said it.",
        {
            "en": ("Forget this", "Forget this: {value}"),
            "pl": ("Zapomnij to", "Zapomnij to: {value}"),
            "ru": ("Забудь это", "Забудь это: {value}"),
        },
        "Call memory_update with the line above as utterance, and tell me what was removed.",
    ),
    Prompt(
        "what_do_you_know_about_me",
        "",
        "Lists all that is remembered of you, and the files it is in.",
        {
            "en": ("What do you know about me?", "What do you know about me?"),
            "pl": ("Co o mnie wiesz?", "Co o mnie wiesz?"),
            "ru": ("Что ты обо мне знаешь?", "Что ты обо мне знаешь?"),
        },
        "Use memory_show, and name the files it is in.",
    ),
    Prompt(
        "settle",
        "",
        "Has the agent read ended conversations, and keep what of them lasts.",
        {
            "en": ("Settle what we talked about", "Go through our ended conversations."),
            "pl": ("Uporządkuj rozmowy", "Przejrzyj nasze zakończone rozmowy."),
            "ru": ("Разбери разговоры", "Разбери наши законченные разговоры."),
        },
        "Call memory_settle until no conversation waits, and tell me what was written.",
    ),
    Prompt(
        "search_my_notes",
        "question",
        "Answers from your notes, and names them.",
        {
            "en": ("Search my notes", "Answer from my notes: {value}"),
            "pl": ("Przeszukaj moje notatki", "Odpowiedz z moich notatek: {value}"),
            "ru": ("Поищи в моих заметках", "Ответь по моим заметкам: {value}"),
        },
        "Use memory_search, answer in the language of the question, and name the notes.",
    ),
)


def find(name: str) -> Prompt:
    """Return a prompt by name; raise NotFound naming those there are."""
    known = {prompt.name: prompt for prompt in PROMPTS}
    if name in known:
        return known[name]
    raise NotFound(f"There is no prompt {name[:80]!r}.", hint=f"There are: {', '.join(known)}.")


def language(app: App, agent: str) -> str:
    """Return the language an agent's identity.md names, empty where it names none."""
    return read_identity(app.reader, app.paths, agent).language if agent else ""
