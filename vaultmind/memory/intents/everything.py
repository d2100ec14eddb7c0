"""A wish to have the whole memory emptied: never done by a sentence, but answered with the way."""

from __future__ import annotations

import re

from vaultmind.memory.intents.text import fold

_ALL = re.compile(
    r"\W*(?:please |prosze |пожалуиста,? |bitte )?(?:"
    r"(?:(?:forget|delete|erase|wipe|clear)(?: absolutely)? everything"
    r"(?: (?:you know|about me|you know about me))?"
    r"|(?:wipe|clear|erase|empty|delete|reset) (?:all (?:of )?)?(?:your|the|my) (?:whole |entire )?"
    r"(?:memory|memories))"
    r"|(?:zapomnij|usun|skasuj|wymaz|wyczysc)(?: o)? (?:wszystko|wszystkim)"
    r"(?: o mnie|,? co o mnie wiesz)?"
    r"|(?:wyczysc|usun|skasuj|wymaz) (?:cala )?(?:swoja |twoja )?(?:cala )?pamiec"
    r"|(?:забудь|сотри|удали|очисти)(?: обо?)? все(?: обо мне|,? что (?:ты )?обо мне знаешь)?"
    r"|(?:сотри|очисти|удали) (?:всю )?(?:свою )?(?:всю )?память"
    r"|(?:vergiss|losche) alles(?: uber mich)?|losche (?:dein|das) (?:ganzes |ganze )?gedachtnis"
    r"|(?:olvida|borra) todo(?: sobre mi)?|borra (?:toda )?(?:tu|la) memoria"
    r"|(?:oublie|efface) tout(?: sur moi)?|efface (?:toute )?(?:ta|la) memoire"
    r")(?:,? (?:please|prosze|пожалуиста|bitte|now))?\W*"
)
_CYRILLIC = re.compile(r"[а-я]")
_OPENS = {
    "pl": "zapomnij usun skasuj wymaz wyczysc prosze",
    "de": "vergiss losche bitte",
    "es": "olvida borra",
    "fr": "oublie efface",
}


def everything(text: str) -> str:
    """Return the language in which a sentence asks to forget everything; empty if it does not."""
    folded = fold(text).text
    if not _ALL.fullmatch(folded):
        return ""
    if _CYRILLIC.search(folded):
        return "ru"
    first = next(iter(re.findall(r"\w+", folded)), "")
    return next((lang for lang, words in _OPENS.items() if first in words.split()), "en")
