"""The sections of a brain: their headings in every language, and where a new fact belongs."""

from __future__ import annotations

import re

from vaultmind.memory.words import fold
from vaultmind.types import SECTIONS, Section

LANGUAGES = ("en", "pl", "ru")

HEADINGS: dict[str, dict[Section, str]] = {
    language: dict(zip(SECTIONS, names.split(), strict=True))
    for language, names in (
        ("en", "User Preferences Decisions Current"),
        ("pl", "Użytkownik Preferencje Ustalenia Bieżące"),
        ("ru", "Пользователь Предпочтения Решения Текущее"),
    )
}
"""What we write, by the agent's language."""

_ALSO: dict[Section, str] = {
    "user": "about the user|about me|me|o mnie|o użytkowniku|user|обо мне|о пользователе|юзер",
    "preferences": "preference|likes|upodobania|preferencje użytkownika|настройки|вкусы",
    "decisions": "decision|agreements|rules|decyzje|zasady|договорённости|договоренности|правила",
    "current": "now|current topics|projects|aktualne|teraz|na teraz|сейчас|актуальное|проекты",
}
"""What a person may have called them."""

_EDGES = re.compile(r"^[\W_]+|[\W_]+$")

_CUES: tuple[tuple[Section, str], ...] = (
    (
        "preferences",
        r"\b(?:prefers?|preferred|likes?|loves?|hates?|dislikes?|enjoys?|favou?rite|fond of|"
        r"rather|can'?t stand|wants? (?:me|you|answers?|replies)|"
        r"(?:call|address) (?:me|him|her)|"
        r"wol[ie]|wole|preferuj\w*|lubi\w*|uwielbia\w*|kocha[m]?|nienawidz\w*|nie znosz?\w*|"
        r"ulubion\w*|najbardziej lub\w*|nie cierpi\w*|"
        r"предпочита\w*|любл\w*|любит\w*|нравит\w*|нравят\w*|ненави\w*|обожа\w*|любим\w*|"
        r"терпеть не)\b",
    ),
    (
        "decisions",
        r"\b(?:always|never|decided|decision|agreed|agreement|we will|we won'?t|from now on|"
        r"rule|must(?: not)?|do not|don'?t|settled|"
        r"zawsze|nigdy|ustali\w*|ustalenie|postanowi\w*|zdecydowa\w*|umowi\w*|od teraz|"
        r"zasada|"
        r"всегда|никогда|реши\w*|решено|договори\w*|отныне|впредь|правило)\b",
    ),
    (
        "current",
        r"\b(?:currently|right now|these days|this (?:week|month|year)|next (?:week|month)|"
        r"today|tomorrow|tonight|deadline|due|working on|works on|project|plans? to|planning|"
        r"is (?:learning|writing|reading|building|looking for)|goal|"
        r"obecnie|teraz|aktualnie|dzisiaj|dzis|jutro|w tym (?:tygodniu|miesiacu|roku)|termin|"
        r"pracuj\w* nad|projekt\w*|planuj\w*|ucz[ey] sie|cel|"
        r"сеичас|сегодня|завтра|на этои неделе|в этом (?:месяце|году)|срок|дедлаин|"
        r"работа\w* над|проект\w*|планиру\w*|учу|цель)\b",
    ),
)


def heading(section: Section, language: str) -> str:
    """Return a section's heading in a language; in English for one we do not write."""
    return HEADINGS.get(language, HEADINGS["en"])[section]


def section_of(title: str) -> Section | None:
    """Return the section that a heading names, in any language; None for one we do not know."""
    return _KNOWN.get(_key(title))


def language_of(titles: tuple[str, ...]) -> str:
    """Return the language most of the headings are written in; empty when none says."""
    votes = [
        language
        for title in titles
        for language, names in HEADINGS.items()
        if _key(title) in {_key(name) for name in names.values()}
    ]
    return max(LANGUAGES, key=votes.count) if votes else ""


def pick(text: str) -> Section:
    """Return the section of a new fact by its words: a taste, a rule, a project, else `user`."""
    folded = fold(text)
    return next((section for section, cue in _CUES if re.search(cue, folded)), "user")


def _key(title: str) -> str:
    return _EDGES.sub("", fold(" ".join(title.split())))


def _known() -> dict[str, Section]:
    known: dict[str, Section] = {}
    for section in SECTIONS:
        names = [section, *(HEADINGS[lang][section] for lang in LANGUAGES)]
        known.update((_key(name), section) for name in (*names, *_ALSO[section].split("|")))
    return known


_KNOWN = _known()
