"""A wish to take the last change back: the command that does it is named, nothing is forgotten."""

from __future__ import annotations

import re

from vaultmind.memory.audit import FACT_OPS, FOUND, newest_first
from vaultmind.memory.words import fold
from vaultmind.session.voice.spoken import Spoken
from vaultmind.vault.paths import VaultPaths

_LAST = {
    "en": r"(?:undo|revert)(?: (?:the|my|your) last (?:change|one|correction))?",
    "pl": r"(?:cofnij|wycofaj)(?: (?:te|ostatnia) (?:zmiane|poprawke))?",
    "ru": r"отмени(?:те)?(?: последн\w+ (?:изменение|правку))?",
    "de": r"(?:mach (?:das |die letzte anderung )?)?ruckgangig(?: machen)?",
    "es": r"(?:deshacer|deshaz)(?: (?:el ultimo cambio|eso|esto))?",
    "fr": r"annule[rz]?(?: (?:la derniere modification|le dernier changement|ca|cela))?",
}
_THAT = re.compile(r"(?:undo|revert|cofnij|wycofaj|отмени(?:те)?) (?:that|it|this|to|это)")
_ROUND = r"(?:please|prosze|bitte|por favor|s'il te plait|пожалуиста)?"
_WAYS = {
    lang: re.compile(rf"\W{{0,20}}{_ROUND}[, ]{{0,9}}(?:{said})[, ]{{0,9}}{_ROUND}\W{{0,20}}")
    for lang, said in _LAST.items()
}


def asks_to_take_back(text: str) -> str:
    """Return the language in which a sentence asks to take the last change back, else nothing."""
    return next((lang for lang, way in _WAYS.items() if way.fullmatch(fold(text))), "")


def means_change(text: str) -> bool:
    """Tell whether a sentence says "undo that", which after a correction means the change."""
    return bool(_THAT.match(fold(text).strip()))


def last_change(paths: VaultPaths, agent: str) -> str:
    """Return the id of the newest change of an agent's facts that took something away, else
    nothing: to take a new fact back is to forget it.
    """
    for line in newest_first(paths, (agent,), FACT_OPS):
        if line.outcome == "written" and line.how not in FOUND:
            done = line.undoes or line.undone_by
            return line.id if line.before and not done else ""
    return ""


def way_back(spoken: Spoken, paths: VaultPaths, *, sees: bool) -> tuple[str, str]:
    """Return the language and the command for a wish to take the last change back, else nothing.

    `sees`: whether the speaker may read whose memory it is.
    """
    lang = asks_to_take_back(spoken.words)
    that = means_change(spoken.words) and spoken.intent.intent == "forget_that"
    if not lang and not that:
        return "", ""
    change = last_change(paths, spoken.target) if sees else ""
    lang = lang or (spoken.intent.lang if change else "")
    return lang, f"`vaultmind undo {change}`" if change else "`vaultmind undo`"
