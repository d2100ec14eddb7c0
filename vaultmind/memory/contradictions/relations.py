"""What the comparison of two facts knows of English, Polish and Russian: the cues.

Patterns are written as people write and folded here (no diacritics, lower case), so they hold
no capitals: neither named groups nor `\\W`, `\\S`, `\\B`, `\\D`.
"""

from __future__ import annotations

import re

from vaultmind.memory.words import fold


def pattern(text: str) -> re.Pattern[str]:
    """Return a folded pattern that matches whole words; a line break in it means nothing."""
    joined = re.sub(r"\s*\n\s*", "", text)
    return re.compile(rf"\b(?:{fold(joined)})(?!\w)")


# --- words around a fact ------------------------------------------------------------------

NEGATIVE = pattern(
    r"""not(?! only)|no(?! doubt| problem)|never|none|neither|nor|without|used to|stop(?:s|ped)?|
    quits?|gave up|giv(?:es?|en|ing) up|sold|got rid of|cancell?ed|cured of|
    nie(?! tylko)|nigdy|żaden|żadn\w+|bez|przesta\w+|rzucił\w*|zrezygnował\w* z|sprzedał\w*|
    odwoł\w+|pozbył\w* się|
    не(?! только)|нет|ни|никогда|никаких|нельзя|без|перестал\w*|бросил\w*|отказал\w+ от|
    продал\w*|отменил\w*|избавил\w+ от"""
)
LACKING = pattern(r"(?:without|bez|без)(?: (\w+))?")
"""Negates what follows, not the fact."""
POSITIVE_AFTER_ALL = pattern(
    r"""(?:not|never) (?:forget|hesitate|mind)|no longer than|no later than|no more than|
    not (?:more|less|later|earlier) than|
    nie (?:zapomn\w+|wahaj|później|dłużej|więcej niż|mniej niż|dłużs\w+|krócej)|
    не (?:забы\w+|забуд\w+|стесня\w+|позже|дольше|более|менее|больше чем|длиннее)"""
)
CHANGE = pattern(
    r"""now|nowadays|these days|currently|from now on|again|instead|since|any ?more|any longer|
    no longer|changed?|switched|moved|rescheduled|postponed|shifted|recently|just|already|new|
    turned|became|become|started?|back|stopped|quit|sold|gave up|used to|finally|as of|begun|
    has been|anymore|lately|by now|rose|risen|grew|grown|increased|dropped|slipped|pushed back|
    delayed|brought forward|raised|lowered|cut to|
    wzrósł|wzrosł\w+|spadł\w*|wzrosn\w+|podnios\w+|obniż\w+|zwiększ\w+|zmniejsz\w+|
    выросл?\w*|вырос до|увелич\w+|снизил\w*|упал\w*|повысил\w*|
    teraz|obecnie|aktualnie|od teraz|od dziś|znowu|znów|zamiast|już|zmienił\w*|zmienion\w+|
    przeszed\w+|przeszł\w+|przesunię\w+|przeniesion\w+|przeniósł|przenios\w+|przełożon\w+|
    przełoży\w+|przesun\w+|przeprowadził\w*|ostatnio|nowy|nowa|nowe|nowym|nowej|nową|
    został\w*|zacz[ąę]ł\w*|przesta\w+|rzucił\w*|sprzedał\w*|skończył\w*|wrócił\w*|od|
    kiedyś|
    теперь|сейчас|отныне|снова|опять|вместо|уже|больше не|сменил\w*|поменял\w*|изменил\w*|
    перешел|перешл\w+|перенес\w+|перенос\w+|сдвину\w+|переехал\w*|недавно|новый|новая|новое|
    новом|новой|стал|стала|стали|начал|начала|начали|перестал\w*|бросил\w*|продал\w*|вернул\w+|
    исполнилось|раньше"""
)
"""Says that something is other than it was."""

HEDGE = pattern(
    r"""also|too|as well|another|second|additional\w*|besides|both|part[ -]time|sometimes|
    occasionally|temporar\w+|plans?(?: to)?|planning|wants? to|would like|hop(?:es?|ing)|
    dreams?|consider\w*|thinking (?:of|about)|might|may(?= be| move| have| want)|maybe|perhaps|
    if|unless|next (?:year|month|week)|was born|grew up|studied|during the week|on weekends|
    (?:in|over) the (?:summer|winter)|for (?:a|two|three|\d+) (?:days?|weeks?|months?)|almost|
    looking for|previously|formerly|once|before moving|on (?:holiday|vacation)|
    też|także|również|oprócz tego|poza tym|drug(?:i|a|ie|ą|iego|iej)|dodatkow\w+|dorabia\w*|
    pół etatu|
    czasem|
    czasami|tymczasowo|planuj\w+|zamierza\w*|chce|chcę|chciał\w*|marz[yęą]\w*|rozważa\w*|
    zastanawia\w*|może|jeśli|jeżeli|gdyby|w przyszłym|za (?:rok|miesiąc)|urodził\w*|dawniej|
    dorasta\w+|studiow\w+|w weekendy|latem|zimą|w wakacje|szuka\w*|prawie|wcześniej|
    na (?:urlopie|wakacjach)|
    тоже|также|еще|кроме того|втор(?:ой|ая|ое|ую|ого)|подрабатыв\w+|иногда|временно|планиру\w+|
    собира\w+|хочет|хочу|хотел\w*|мечта\w+|дума\w+|возможно|может быть|если|в следующ\w+|
    через год|родил\w+|вырос\w*|учил\w+|по выходным|летом|зимой|ищ[уе]\w*|прежде|почти|
    когда-то|в отпуске"""
)
"""Says that something holds beside the rest, at times, or not yet."""

PAST = pattern(
    r"""used to|no longer|any ?more|kiedyś|nie \w+ już|już nie|раньше|больше не|уже не"""
)
NOISE = pattern(
    r"""really|usually|normally|generally|mostly|always|regularly|every time|as a rule|only|
    strictly|fully|completely|totally|quite|it turns out|actually|in fact|by default|whenever|
    person|named|please|want(?:s|ed)? me to|for now|got|gets?|years? old|feel free to|
    allowed|is ok to|okay to|around|about|roughly|approximately|when|
    indent(?:ation|ing)?|wcię\w+|отступ\w*|
    zwykle|zazwyczaj|zawsze|regularnie|za każdym razem|tylko|wyłącznie|naprawdę|raczej|bardzo|
    całkowicie|domyślnie|osob\w+|proszę|można|wolno|gdy|kiedy|żeby|aby|około|mniej więcej|
    mów|mówić|zwraca\w* się|zwracać się|
    обычно|всегда|регулярно|каждый раз|только|исключительно|действительно|скорее|очень|
    полностью|совсем|человек|по умолчанию|можно|чтобы|когда|примерно|около|
    обраща\w+|общен\w+|общат\w+"""
)
RESTRICTED = pattern(
    r"before|after|until|earlier|later|past|przed|po|do|wcześniej|później|до|после|раньше|позже"
)
NAMING = pattern(r"called|named|names?|imię|nazywa\w*|зовут|имя")
ANYTIME = pattern(
    r"""any ?time|at any (?:time|hour)|whenever|24/7|around the clock|
    o każdej porze|o dowolnej porze|kiedykolwiek|kiedy (?:chce\w*|chcesz)|
    в любое время|когда угодно|круглосуточно"""
)
REPLACED = (
    pattern(r"(?:instead of|rather than|zamiast|вместо) (.+)"),
    pattern(r"(?:switched|moved|migrated|changed|went) from (.+?) to\b.+"),
    pattern(r"(?:przes\w+|zmienił\w*|przenios\w+|przeniósł) (?:się )?z (.+?) na\b.+"),
    pattern(r"(?:переш\w+|сменил\w*|поменял\w*|пересел\w*) с (.+?) на .+"),
    pattern(r"not (.+?),? but .+|nie (.+?), (?:tylko|ale|lecz|a) .+|не (.+?), а .+"),
)
"""What a new fact says that it puts aside."""
ASIDE = re.compile(
    r",? (?:and |а |a )?(?:not|nie|не|rather than|instead of|zamiast|вместо) [\w' -]{2,40}[.!]?$"
)
"""What a fact ends in to say what it is not: `Anna, not Hanna`."""
COMPARED = (
    pattern(r"prefer\w* (.+?) (?:to|over|rather than|more than) (.+)"),
    pattern(r"(?:likes?|loves?) (.+?) (?:more|better) than (.+)"),
    pattern(
        r"(?:woli|wolę|wole|preferuj\w+|lubi\w*) (.+?) (?:niż|od|zamiast|ponad|bardziej niż) (.+)"
    ),
    pattern(r"(?:предпочита\w+|люб\w+) (.+?) (?:чем|больше чем|вместо|а не) (.+)"),
)

LABELLED = pattern(
    r"""(?:facts?|items?|tests?|entry|entries|notes?|rooms?|chapters?|versions?|tasks?|steps?|lines?|
    pages?|units?|bus|routes?|flights?|episodes?|seasons?|parts?|levels?|points?|questions?|
    tickets?|issues?|messages?|things?|rules?|sections?|projects?|teams?|grades?|tracks?|
    phases?|sprints?|weeks?|gates?|platforms?|memory|memories|build|release|option|case|
    fakt\w*|pozycj\w+|test\w*|notatk\w+|pok[oó]j\w*|rozdzia\w+|wersj\w+|zadani\w+|krok\w*|
    stron\w+|odcin\w+|sezon\w*|punkt\w*|pytani\w+|lini\w+|regu\w+|klas\w+|etap\w*|
    факт\w*|пункт\w*|тест\w*|заметк\w+|комнат\w+|глав\w+|верси\w+|задач\w+|шаг\w*|
    страниц\w+|сери\w+|сезон\w*|вопрос\w*|лини\w+|правил\w+|класс\w*|этап\w*)
    (?: (?:no\.?|number|nr\.?|numer|номер|№|#))?[ -](\d[\w.-]*)"""
)
"""A number that is part of a name."""
MANY = pattern(
    r"""brothers?|sisters?|sons?|daughters?|kids?|child|children|friends?|colleagues?|cousins?|
    dogs?|cats?|aunts?|uncles?|nephews?|nieces?|neighbou?rs?|
    brat\w*|bracia|siostr\w*|syn\w*|córk\w*|dzieck\w*|przyjaci\w+|przyjaciół\w*|koleg\w*|
    koleżank\w*|kuzyn\w*|pies|psa|psem|kot\w*|ciot\w*|wuj\w*|sąsiad\w*|
    брат\w*|сестр\w*|сын\w*|доч\w*|ребен\w*|друг\w*|друз\w+|подруг\w*|коллег\w*|собак\w*|
    пес|пса|кот\w*|кошк\w*|тет[яиею]|дяд[яиею]|сосед\w*"""
)
"""People and animals that one may have several of: the next one is no contradiction."""

LEAD = re.compile(
    r"""^\W*(?:(?:an?|new|quick|small)[ ]+)?(?:update|updated|correction|corrected|change|changed|
    edit|news|fyi|note|reminder|aktualizacja|zmiana|poprawka|korekta|обновление|изменение|поправка|
    исправление|уточнение|aktualisierung|änderung|korrektur|berichtigung|mise[ ]à[ ]jour|
    changement|rectification|actualización|cambio|corrección)[ ]*[:—–-]+\s+(?=\S)""",
    re.IGNORECASE | re.VERBOSE,
)
"""A word before a fact that says only that it is news: no part of what it is about."""
