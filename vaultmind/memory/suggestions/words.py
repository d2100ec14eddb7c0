"""The words of Suggestions.md in each language, and how its lines are known again in any."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Op = Literal["remember", "replace", "forget"]
OPS: tuple[Op, ...] = ("remember", "replace", "forget")
SettledAs = Literal["accepted", "rejected", "expired"]
OUTCOMES: tuple[SettledAs, ...] = ("accepted", "rejected", "expired")
Failure = Literal["empty", "no_old", "not_found", "no_agent", "too_long", "secret", "refused"]
"""Why an accepted suggestion could not be applied."""


@dataclass(frozen=True, slots=True)
class Words:
    """What Suggestions.md says in one language."""

    title: str
    empty: str
    """Stands in a new file until there is a suggestion."""
    intro: str
    waiting: str
    settled: str
    verbs: tuple[str, str, str]
    """In the order of `OPS`."""
    into: str
    """Whose memory, where it is not the one's who asks."""
    outcomes: tuple[str, str, str]
    """In the order of `OUTCOMES`."""
    nothing: str
    above: str
    whose: str
    under: str
    why: str
    message: str
    failed: str
    """Begins the line under an accepted suggestion that could not be applied."""
    failures: dict[Failure, str]
    again: str

    def label(self, op: Op, caller: str, agent: str) -> str:
        """Return the beginning of a task: who wants to do what, and in whose memory."""
        into = f" {self.into.format(agent)}" if caller != agent else ""
        return f"**{caller}** {self.verbs[OPS.index(op)]}{into}"

    def outcome(self, outcome: SettledAs) -> str:
        """Return what a settled suggestion came to."""
        return self.outcomes[OUTCOMES.index(outcome)]

    def failure(self, failure: Failure) -> str:
        """Return what stands under an accepted suggestion that could not be applied."""
        return f"{self.failed}: {self.failures[failure]}. {self.again}"


WORDS = {
    "en": Words(
        "Suggestions",
        "Nothing waits for you here.",
        "Tick `[x]` to accept a suggestion, write `[-]` to reject it. You may change its words "
        "first: what stands in the task is what is kept.",
        "Waiting",
        "Settled",
        ("wants to remember", "wants to correct", "wants to forget"),
        "in **{}**'s memory",
        ("accepted", "rejected", "expired"),
        "nothing",
        "the text above",
        "for",
        "under",
        "why",
        "the message",
        "could not be applied",
        {
            "empty": "its text is empty",
            "no_old": "it does not say any more which fact to correct",
            "not_found": "no fact is clearly the one that is meant",
            "no_agent": "there is no agent of this name",
            "too_long": "it is too long for one fact",
            "secret": "there is nothing in it but a secret",
            "refused": "the memory file could not be changed",
        },
        "Change its words, or untick it and tick it again, to have it tried once more.",
    ),
    "pl": Words(
        "Sugestie",
        "Nic tu na ciebie nie czeka.",
        "Zaznacz `[x]`, aby przyjąć sugestię, wpisz `[-]`, aby ją odrzucić. Najpierw możesz "
        "zmienić jej słowa: zapisane zostanie to, co stoi w zadaniu.",
        "Czekają",
        "Rozstrzygnięte",
        ("chce zapamiętać", "chce poprawić", "chce zapomnieć"),
        "w pamięci **{}**",
        ("przyjęte", "odrzucone", "wygasłe"),
        "nic",
        "tekst powyżej",
        "dla",
        "w sekcji",
        "dlaczego",
        "wiadomość",
        "nie udało się zastosować",
        {
            "empty": "tekst jest pusty",
            "no_old": "nie wiadomo już, który fakt poprawić",
            "not_found": "nie wiadomo na pewno, o który fakt chodzi",
            "no_agent": "nie ma agenta o tej nazwie",
            "too_long": "tekst jest za długi na jeden fakt",
            "secret": "poza tajną treścią nic w nim nie ma",
            "refused": "nie udało się zmienić pliku pamięci",
        },
        "Zmień słowa albo odznacz i zaznacz ponownie, a spróbuję jeszcze raz.",
    ),
    "ru": Words(
        "Предложения",
        "Здесь ничего вас не ждёт.",
        "Отметьте `[x]`, чтобы принять предложение, поставьте `[-]`, чтобы отклонить. Слова можно "
        "сначала изменить: сохранится то, что стоит в задаче.",
        "Ожидают",
        "Решённые",
        ("хочет запомнить", "хочет исправить", "хочет забыть"),
        "в памяти **{}**",
        ("принято", "отклонено", "истекло"),
        "ничего",
        "текст выше",
        "для",
        "в разделе",
        "почему",
        "сообщение",
        "не удалось применить",
        {
            "empty": "текст пуст",
            "no_old": "уже не сказано, какой факт исправить",
            "not_found": "непонятно, о каком именно факте речь",
            "no_agent": "агента с таким именем нет",
            "too_long": "для одного факта это слишком длинно",
            "secret": "кроме секрета, в нём ничего нет",
            "refused": "файл памяти не удалось изменить",
        },
        "Измените слова или снимите и снова поставьте отметку, и попытка повторится.",
    ),
}


def words_of(language: str) -> Words:
    """Return the words of a language; English for one we do not write."""
    return WORDS.get(language, WORDS["en"])


def language_of(titles: tuple[str, ...]) -> str:
    """Return the language of a file's headings; empty when they do not say."""
    for language, words in WORDS.items():
        if {words.title, words.waiting, words.settled} & {*titles}:
            return language
    return ""


def _either(texts: tuple[str, ...]) -> str:
    return "|".join(re.escape(text) for text in texts)


_NAME = "[a-z0-9][a-z0-9_-]{0,39}"
_VERBS = {verb: op for words in WORDS.values() for op, verb in zip(OPS, words.verbs, strict=True)}
_ENDS = {
    end: outcome
    for words in WORDS.values()
    for outcome, end in zip(OUTCOMES, words.outcomes, strict=True)
}
_INTO = "|".join(
    re.escape(words.into).replace(re.escape("{}"), rf"(?P<{language}>{_NAME})")
    for language, words in WORDS.items()
)
_LABEL = re.compile(
    rf"\*\*(?P<caller>{_NAME})\*\* (?P<verb>{_either(tuple(_VERBS))})(?: (?:{_INTO}))?:[ \t]*"
)
_SETTLED = re.compile(rf"(?P<on>\d{{4}}-\d{{2}}-\d{{2}}) (?P<end>{_either(tuple(_ENDS))}) · ")
_FAILED = re.compile(rf"(?:{_either(tuple(words.failed for words in WORDS.values()))}): ")
_WHY = re.compile(rf"(?:{_either(tuple(words.why for words in WORDS.values()))}): ?(.*)")


@dataclass(frozen=True, slots=True)
class Said:
    """A task's words, taken apart. Everything but `text` is empty where they do not say it."""

    text: str
    op: Op | None = None
    caller: str = ""
    agent: str = ""
    outcome: SettledAs | None = None
    on: str = ""


def take_apart(task: str) -> Said:
    """Return what a task says, its label and its date told from the text."""
    settled = _SETTLED.match(task)
    rest = task[settled.end() :] if settled else task
    outcome = _ENDS[settled["end"]] if settled else None
    on = settled["on"] if settled else ""
    label = _LABEL.match(rest)
    if label is None:
        return Said(rest, outcome=outcome, on=on)
    agent = next((label[language] for language in WORDS if label[language]), label["caller"])
    text = rest[label.end() :].strip()
    return Said(text, _VERBS[label["verb"]], label["caller"], agent, outcome, on)


def why_of(line: str) -> str | None:
    """Return the reason that a line under a task gives; None for another line."""
    match = _WHY.fullmatch(line)
    return match.group(1) if match else None


def is_failure(line: str) -> bool:
    """Tell whether a line under a task says that it could not be applied."""
    return bool(_FAILED.match(line))
