"""Credentials told in a sentence: a word that announces one, and what in the sentence looks so.

Each kind is a few word stems in English, Polish and Russian and the shape of its value; the two
stand in one sentence, in any order and with anything between. What a household shares (the code
of a door, an alarm, a locker) and what names something (a user, a network, a version) stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

MIN_PASSWORD_CHARS = 6
MIN_TOKEN_CHARS = 12
TOKEN_TURNS = 3
"""How often letters and digits take turns in a machine's key; `sha256` has one."""
MAX_TOKEN_CHARS = 100
"""A longer token is no credential that a person tells; keys have patterns of their own."""

_END = re.compile(r"[.!?…](?=\s)|\n")
MAX_SENTENCE_CHARS = 600
"""A longer stretch without an end is read in pieces."""
_TOKEN = re.compile(r"(?<![\d+] )\b\d{3} \d{3}(?![ -]?\d)|[^\s\"„“”«»‹›`(),;|<>\[\]{}]+")
_FOLD = str.maketrans("ąćęłńóśźżё", "acelnoszzе")


_WORD = re.compile(r"[^\W\d_]+")
_BEFORE, _OR = r"(?<![^\W_])(?:", "|(?:)"
_START = re.compile(r"[^\W\d_]{2,4}(?![?*])|[^\W\d_]{2,3}(?![?*])|[^\W\d_]{2}")


def _stems(words: str) -> re.Pattern[str]:
    """Compile stems; a backslash and s stand for a space in one."""
    return re.compile(_BEFORE + _OR.join(words.split()) + ")")


_PASSWORD = _stems(
    r"pass(?:word|wd|phrase|code|key)?(?:s|'s)?\b pwd\b pw\b pswd has[lł](?!t|k) парол passwort"
    r" kennwort contrasen"
)
_ACCESS = _stems(
    r"log(?:s|ged|ging)?\sin\b log-?in\b sign(?:s|ed)?\sin\b accounts?\b unlock wi-?fi internet"
    r" get\sin\b gets\syou\sin you\stype credential app\b admin\b panel"
    r" access encrypt kabinet identyf kont(?:o|a|em|u)\b"
    r" zalogowa zaloguj loguj logowan wejsci wchodz odblok otworzysz puszcza lacz(?:a|y)\b"
    r" komputer szyfr zaszyfr кабинет идентиф блокировк зашифр аккаунт"
    r" уч[её]тк залогин логин вход(?:а|у|ить|ит|им)?\b вход\b войти"
    r" разблок пускает открыть сети\b вайфа пульт ноут"
)
_KEY = _stems(
    r"apikey key(?:s|'s)?\b tokens?\b secret klucz(?:e|a|em)?\b klyuch ключ(?:а|и|ом)?\b токен"
)
_PIN = _stems(
    r"pin(?:u|em|code|kod)?\b(?!\s(?:the|it|this|that|them|at|down|up)\b)"
    r" пин(?:а|ом|ы|-?код\w*)?\b"
)
_CARD_CODE = _stems(
    r"cv[vc]2?\b cid\b security\scode signature\Wstrip pask\w*\spodpisu kod\w*\scvv подписи\b"
)
_DEVICE = _stems(
    r"phone smartphone iphone tablet ipad laptop watch smartwatch sim\b voicemail"
    r" telefon smartfon zegar laptop tabl телефон смартфон часы планшет ноутбук сим"
)
_UNLOCK = _stems(r"unlock lock(?:ed)?\b odblok blok puszcza разблок блок")
_CODE = _stems(r"codes?\b kod(?:y|u|em|ow)?\b код(?:а|ы|ом|ов)?\b")
_ARRIVED = _stems(r"text(?:ed|s)?\b sms przysz смс приш свали")
_OTHER_CODE = _stems(
    r"error exit status http zip post discount promo rabat blad bled ошибк промо почтов"
)
_ONCE = _stems(
    r"sign-?\s?in log-?\s?in verif one-time otp sms 2fa two-factor confirm recover backup"
    r" emergency text logowan jednoraz potwierdz awaryjn odzysk przysz zapasow"
    r" вход подтвержд одноразов смс аварийн резерв восстанов приш свали"
)
_MEMBER = _stems(r"member customer client identyf login идентиф логин клиент")
_WORDS = re.compile(
    r"(?:phrase|(?:with the|recovery|seed) words|\bfraz\w{1,3}|\bslow(?:a|ami)|фраз\w{1,3}"
    r"|\bслов(?:а|ами))\b"
    r"[ \t]*(?:[:=—–-]|is\b|to\b|это\b)?[ \t]*(?P<value>(?:[^\W_]{1,20} ){1,6}[^\W_]{1,20})"
    r"(?=[.,;!?\n\"”»]|\Z)"
)
"""A phrase of words up to the clause's end, and the word that announces it."""
_TELLING = """
    a an the in on at of for that which is are was were will not and or to w we na do o z sie jest
    sa bedzie nie i oraz ktore ktora в на о от у и или не то ли что это будет есть как
"""
_NO_PHRASE = frozenset(_TELLING.split())
"""A phrase does not begin with these: what follows tells something of it."""
RECOVERY_WORDS = 12
_RUN = re.compile(
    r"(?:(?<=[„“«:])|(?<=\")(?<!\"\"))[ \t]?(?P<value>(?:[^\W\d_]{3,9} ){11,23}[^\W\d_]{3,9})"
    r"(?=[\"”».\n]|\Z)"
)
"""Recovery words: twelve or more, bare, in quotes or after a colon."""
_LINKING = """
    the and for with that this are was were not you from have has had but our his her its they
    sie nie jest oraz ale dla jak pod nad przed przez ktory tego jego
    что как это для или при над под они она его все так уже был
"""
_FUNCTION = frozenset(_LINKING.split())
"""Words of prose, which no list of recovery words holds."""
_SPELT = re.compile(
    r"(?P<value>(?:capital|wielka litera|duze|большая|заглавная) \w{1,20} \w{1,20}"
    r"(?: (?:zero|one|two|three|four|five|six|seven|eight|nine|jeden|dwa|trzy|cztery|piec|szesc"
    r"|siedem|osiem|dziewiec|ноль|один|два|три|четыре|пять|шесть|семь|восемь|девять)\b){0,8})"
)
"""A password as it is dictated."""
_HOUSE = _stems(
    r"door gate alarm locker padlock shed\b safe\b garage intercom key\s?box lockbox entry"
    r" drzw furt bram klodk szaf sejf domofon klatk garaz skryt schow dom(?:u|ek)\b"
    r" двер калитк ворот замок замк сейф шкаф домофон сигнализ гараж подъезд ячейк служебн"
)
_NAMING = _stems(
    r"handle ssid nickname called template naz(?:wiemy|wij) figuruje nick\b назов записан ник\b"
    r" version wersj верси commit rewizj ревизи"
)
_NAME_BEFORE = _stems(
    r"user name as\b account nazw uzytkown login\b redaktor имя имен пользоват логин"
    r" order invoice ticket version zamowien faktur wersj заказ верси bug issue room phone tel\b"
    r" call\b build nr\b no\b port"
)
_PLAIN = re.compile(
    r"[\^@].*|[^\W\d_]+\d(?:\d*\.\d+)?|[^\W\d_]+\d\d\.\d+|.*#\^.*|id_\w+|https?:.*|www\..*|[\w.+-]+@[\w-]+\.[\w.]+|[~./$\\#-].*|.*[/\\=:].*|v?\d+(?:[.,:x×-]\d+)*\w{0,3}"
    r"|[0-9a-f]{7,}|[0-9a-f-]{36}|\w+\.(?:[a-z]{2,4}|[a-z]+\d)|[\w-]+_v\d\.\w+|[A-Z]{2,6}[-_]?\d+\w?"
    r"|[a-z_]+(?:\.[a-z_]\w*)+|[a-z][a-z0-9_]*(?:\.[a-z]\w*)*\.[A-Z]\w*[a-z]\w*s\b"
    r"|v?\d+\.\d+.*|[A-Z0-9_]+|\d+[A-Za-z]{1,3}|[a-z]+-[a-z0-9-]+-\d|[\w.]+\(.*|\d{4}-\d\d-\d\d.*",
)


_PRODUCT = re.compile(r"[^\W\d_]+\d{1,3}|[A-Z]{2,}\d+\w*|[a-z]\d-\w+|[a-z0-9]+(?:-[a-z0-9]+)+")
"""`Android14`, `OAuth2`, `dev-server-02`: a password only where the sentence says so."""
_PLACES = "on in with at from for w we na z ze do в во на с со из для"
_PLACING = frozenset(_PLACES.split())


def _strong(value: str) -> bool:
    """Tell whether a token looks like a password: of several kinds of characters."""
    if (
        len(value) < MIN_PASSWORD_CHARS
        or _PLAIN.fullmatch(value)
        or not any(map(str.isalpha, value))
    ):
        return False
    letters = sum(map(str.isalpha, value))
    digits = sum(map(str.isdigit, value))
    return letters > 1 and (digits > 0 or _joined(value))


def _joined(value: str) -> bool:
    """Tell whether words are joined by `_` or `.`, with a capital: `Moss_On_Granite`."""
    parts = re.split(r"[_.]", value)
    if "." in value and not value[0].isupper():
        return False
    return all(parts) and (any(part[0].isupper() for part in parts[1:]) or value.count(".") > 1)


def _mixed(value: str) -> bool:
    """Tell whether letters and digits mix in a token that names no product or machine."""
    if _PRODUCT.fullmatch(value):
        return False
    return _strong(value) and (
        _joined(value) or (any(map(str.isdigit, value)) and any(map(str.islower, value)))
    )


def _token(value: str) -> bool:
    """Tell whether a token looks like a machine's key: letters and digits by turns."""
    if len(value) < MIN_TOKEN_CHARS or _PLAIN.fullmatch(value):
        return False
    signs = [char.isdigit() for char in value if char.isalnum()]
    return sum(a != b for a, b in pairwise(signs)) >= TOKEN_TURNS


def _code(value: str) -> bool:
    return bool(
        re.fullmatch(r"\d{4,8}|\d{3} \d{3}|(?=.*\d)[A-Z0-9]{2,4}-[A-Z0-9]{2,4}", value)
    ) or bool(re.fullmatch(r"(?=.*\d)(?=.*[a-z])[a-z0-9]{4,6}(?:-[a-z0-9]{4,6})+", value))


def _arrived(value: str) -> bool:
    return bool(re.fullmatch(r"\d{3} \d{3}", value))


def _member(value: str) -> bool:
    return bool(re.fullmatch(r"\d{6,10}", value))


def _pin(value: str) -> bool:
    return bool(re.fullmatch(r"\d{4,8}", value))


def _screen_code(value: str) -> bool:
    return bool(re.fullmatch(r"(?!(?:19|20)\d\d$)(?:\d{4}|\d{6})", value))


def _card_code(value: str) -> bool:
    return bool(re.fullmatch(r"\d{3,4}", value))


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of credential: what announces it, together, and how its value looks."""

    name: str
    announced: tuple[re.Pattern[str], ...]
    looks: Callable[[str], bool]
    is_number: bool = False


_KINDS = (
    _Kind("password", (_PASSWORD,), _strong),
    _Kind("password", (_ACCESS,), _mixed),
    _Kind("token", (_KEY,), _token),
    _Kind("PIN", (_PIN,), _pin, is_number=True),
    _Kind("PIN", (_CARD_CODE,), _card_code, is_number=True),
    _Kind("PIN", (_DEVICE, _UNLOCK), _screen_code, is_number=True),
    _Kind("token", (_CODE, _ONCE), _code, is_number=True),
    _Kind("token", (_ARRIVED,), _arrived, is_number=True),
    _Kind("password", (_MEMBER, _WORDS), _member),
)


_STARTS = {
    start.group()
    for kind in _KINDS
    for words in kind.announced
    for stem in words.pattern.removeprefix(_BEFORE).split(_OR)
    if (start := _START.match(stem))
}
"""The first letters of what announces: a sentence without one is not read further."""


def credentials(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where credentials stand in a text, and their kinds, in order and apart."""
    start = 0
    for stop in (*(found.end() for found in _END.finditer(text)), len(text)):
        for at in range(start, stop, MAX_SENTENCE_CHARS):
            end = 0
            sentence = text[at : min(at + MAX_SENTENCE_CHARS, stop)]
            for first, last, kind in sorted(_in_sentence(sentence)):
                if first >= end:
                    yield at + first, at + last, kind
                    end = last
        start = stop


def has_household_code(text: str) -> bool:
    """Tell whether a text holds the code of a door, an alarm or a locker, which may be kept."""
    low = text.lower().translate(_FOLD)
    return bool(_HOUSE.search(low) and _HOUSE_CODE.search(low))


def _in_sentence(sentence: str) -> Iterator[tuple[int, int, str]]:
    low = sentence.lower().translate(_FOLD)
    words = _WORD.findall(low)
    yield from _recovery_words(sentence, len(words))
    if not any(word[:4] in _STARTS or word[:3] in _STARTS or word[:2] in _STARTS for word in words):
        return
    kinds = [kind for kind in _KINDS if all(words.search(low) for words in kind.announced)]
    yield from _phrases(low)
    if not kinds:
        return
    if _HOUSE.search(low):
        kinds = [kind for kind in kinds if not kind.is_number]
    if _OTHER_CODE.search(low):
        kinds = [kind for kind in kinds if _CODE not in kind.announced]
    if _NAMING.search(low):
        kinds = [kind for kind in kinds if kind.announced != (_ACCESS,)]
    for match in _TOKEN.finditer(sentence):
        value = match.group().strip(".:!?*'’—–-")
        start = match.start() + match.group().index(value)
        end = start + len(value)
        before = "".join(low[max(0, start - 40) : start].split()[-1:])
        if not value or len(value) > MAX_TOKEN_CHARS or _NAME_BEFORE.search(before):
            continue
        if before in _PLACING and _PRODUCT.fullmatch(value):
            continue
        found = next((kind for kind in kinds if kind.looks(value)), None)
        if found and not (found.is_number and _counts(low, start, end)):
            yield start, end + (sentence[end : end + 1] == "!"), found.name


def _recovery_words(sentence: str, words: int) -> Iterator[tuple[int, int, str]]:
    """Yield the recovery words in a sentence of so many words."""
    for found in _RUN.finditer(sentence) if words >= RECOVERY_WORDS else ():
        if _FUNCTION.isdisjoint(found["value"].split()) and found["value"].islower():
            yield *found.span("value"), "password"


def _phrases(low: str) -> Iterator[tuple[int, int, str]]:
    """Yield what is told in words: a passphrase, a dictated password."""
    if _ACCESS.search(low) or "passphrase" in low:
        for found in _WORDS.finditer(low):
            words = found["value"].split()
            if words[0] not in _NO_PHRASE and words[1] not in _NO_PHRASE:
                yield *found.span("value"), "password"
    if _PASSWORD.search(low):
        for found in _SPELT.finditer(low):
            yield *found.span("value"), "password"


_HOUSE_CODE = re.compile(r"(?<![\w.,-])(?!(?:19|20)\d\d\b)\d{3,8}(?![\w-]|[.,]\d)")


def _counts(low: str, start: int, end: int) -> bool:
    """Tell whether digits count something ("pin 1000 photos") or are part of a longer number."""
    last = low[max(0, start - 20) : start].split()[-1:]
    if re.match(r"[ -]?\d", low[end : end + 2]) or (last and last[0].isdigit()):
        return True
    follows = re.match(r"[ ]?[^\W\d_]", low[end : end + 2])
    return bool(follows) and (" " in low[start:end] or low[max(0, start - 4) : start] == "pin ")
