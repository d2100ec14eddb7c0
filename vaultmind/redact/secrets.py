"""Secrets taken out of a text: what is found becomes a mark that names its kind.

Keys and tokens go by the patterns of detect-secrets and a few younger ones; passwords by the
word before them; cards and bank accounts by their checksums. A false alarm spoils a person's
note, so a plain word, a date, a telephone number, a hash or a UUID is never a secret here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from importlib import import_module
from itertools import pairwise

from vaultmind.redact.credentials import credentials
from vaultmind.redact.keys import take_bodies
from vaultmind.redact.marks import KEY, PRIVATE, Masked, Put
from vaultmind.redact.own import take_own
from vaultmind.redact.private import has_private, take_private


class _Lazy:
    """A pattern compiled when first needed: together they take longer than a program's start."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self._source = source
        self._flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    def sub(self, replacement: Callable[[re.Match[str]], str], text: str) -> str:
        return self.compiled.sub(replacement, text)

    def fullmatch(self, text: str) -> bool:
        return bool(self.compiled.fullmatch(text))


_MIN_PASSWORD = 4
_MIN_TOKEN = 12

_PRIVATE_KEY = _Lazy(
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r".*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\Z)"
    r"|PuTTY-User-Key-File-\d:.*?(?:Private-MAC: *[0-9a-f]+|\Z)",
    re.DOTALL,
)
_KEY_TAIL = _Lazy(
    r"(?<![A-Za-z0-9+/=])(?:[A-Za-z0-9+/=]{16,}+\s++){1,200}"
    r"-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
)
"""A text cut in the middle of a key still ends as one."""

_PLUGINS = (
    "aws.AWSKeyDetector",
    "azure_storage_key.AzureStorageKeyDetector",
    "discord.DiscordBotTokenDetector",
    "github_token.GitHubTokenDetector",
    "gitlab_token.GitLabTokenDetector",
    "jwt.JwtTokenDetector",
    "mailchimp.MailchimpDetector",
    "openai.OpenAIDetector",
    "pypi_token.PypiTokenDetector",
    "sendgrid.SendGridDetector",
    "slack.SlackDetector",
    "square_oauth.SquareOAuthDetector",
    "stripe.StripeDetector",
    "telegram_token.TelegramBotTokenDetector",
    "twilio.TwilioKeyDetector",
)
_HINTS = (
    *("akia", "asia", "abia", "acca", "a3t", "aws", "accountkey=", "ghp_", "gho_", "ghu_", "ghs_"),
    *("ghr_", "glpat", "gldt", "glft", "glsoat", "glrt", "glcbt", "glimt", "glptt", "glagent"),
    *("gloas", "gr1348941", "eyj", "-us", "sk-", "pypi-", "sg.", "xox", "hooks.slack", "sq0csp"),
    "k_live_",
)
"""What some pattern of detect-secrets needs; without it none is tried, nor is it imported."""

_SHAPES = _Lazy(
    r"[MNO](?<!\w[MNO])[\w-]{23,25}\.[\w-]{6}\.|:[\w-]{35}|[AS](?<!\w[AS])[CK][a-z0-9]{32}"
)
"""The same, for patterns without a word of their own."""

_YOUNGER = _Lazy(
    r"(?<![\w-])(?:"
    r"sk-(?:ant-|proj-|or-|svcacct-|admin-)?(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{24,}"  # models
    r"|github_pat_\w{22,}|gh[pousr]_\w{36,}|glpat-[\w-]{20,}|npm_[A-Za-z0-9]{36}"
    r"|hf_[A-Za-z0-9]{30,}|AIza[\w-]{35}|ya29\.[\w-]{30,}|dop_v1_[0-9a-f]{64}"
    r"|(?:sk|rk|pk|whsec)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,}"
    r"|shp(?:at|ss|ca|pa)_[0-9a-fA-F]{32}|xapp-\d-[\w-]{20,}|xox[abeoprs]-[\w-]{20,}"
    r"|AGE-SECRET-KEY-1[0-9A-Z]{58}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"
    r"|SG\.[\w-]{22}\.[\w-]{43}|AKIA[0-9A-Z]{16}|ASIA[0-9A-Z]{16}"
    r")(?![\w-])"
)
_YOUNGER_STARTS = (
    *(
        "sk-",
        "github_pat_",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "glpat-",
        "npm_",
        "hf_",
        "AIza",
        "ya29.",
        "dop_v1_",
        "_live_",
    ),
    *("_test_", "whsec_", "shp", "xapp-", "xox", "AGE-SECRET", "eyJ", "SG.", "AKIA", "ASIA"),
)
_BEARER = _Lazy(r"(?i)\b(?:bearer|authorization: *basic)\s+(?P<value>[\w.~+/=-]{20,})")
_URL = _Lazy(r"://[^\s:/@]*:(?P<value>[^\s:/@‹]{3,})@(?=[\w.\[-])")

_VALUE = r"[\"'`„“”«]?(?P<value>[^\s\"'`„“”«»‹›,;]+)"
_PASSWORD = _Lazy(
    r"(?i)(?<![^\W_])(?P<word>pass(?:word|wd|phrase|code)|pwd|has[łl](?:o|em|a)|пароль|passwort|"
    r"kennwort|contraseña|mot de passe)\b"
    r"(?P<link>[\"'`*_]*\s*(?::=|=>|[:=]|->|→|—|–|-(?=\s)|\bis\b:?|\bto\b:?|\bjest\b:?|это)\s*[*_]*\s*)"
    + _VALUE
)
_SECRET = _Lazy(
    r"(?i)(?<![^\W_])(?P<word>(?:api[ _-]?key|secret[ _-]?key|access[ _-]?key|"
    r"(?:auth|access|refresh|api)[ _-]?token|client[ _-]?secret|secret|token)|klucz api|токен|"
    r"ключ api)"
    r"(?P<link>[\"'`*_]*\s*(?::=|=>|[:=]|→|—|\bis\b:?|\bto\b:?|\bjest\b:?|это)\s*[*_]*\s*)" + _VALUE
)
_CARD = _Lazy(r"\d(?<![\w.+/-]\d)(?:[ -]?\d){13,18}(?![\w/-]|\.\d)")
_CARD_SHAPE = _Lazy(
    r"\d{14,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{4}([ -])\d{6}\2\d{4,5}"
)
_CARD_BRANDS = _Lazy(
    r"4\d{15}|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|220[0-4]\d{12}"
    r"|3[47]\d{13}|(?:30[0-5]|3[689]\d)\d{11}|(?:6011|65\d\d|64[4-9]\d)\d{12}|35\d{14}"
    r"|62\d{14,17}"
)
_IBAN = _Lazy(
    r"[A-Z](?<!\w[A-Z])[A-Z][ -]?\d\d(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?(?!\w)"
)
_POLISH_ACCOUNT = _Lazy(r"\d(?<![\w-]\d)\d(?:[ -]?\d{4}){6}(?![\w-])")
_WHOLE = _Lazy(r"(?s).+")
_LUHN_BASE = 10


def mask(text: str) -> Masked:
    """Return the text with every secret replaced by a mark such as `‹password›`.

    A text without secrets comes back as it was, and so does one that was masked before.
    """
    kinds: dict[str, None] = {}

    def put(kind: str) -> Callable[[re.Match[str]], str]:
        def replaced(match: re.Match[str]) -> str:
            start, end = match.span("value") if "value" in match.re.groupindex else match.span()
            kinds[kind] = None
            whole = match.group()
            return f"{whole[: start - match.start()]}‹{kind}›{whole[end - match.start() :]}"

        return replaced

    if has_private(text) and (safe := take_private(text)) != text:
        text, kinds[PRIVATE] = safe, None
    for finder in (_keys, _numbers, _words, _told, take_own):
        text = finder(text, put)
    if (safe := take_bodies(text)) != text:
        text, kinds[KEY] = safe, None
    return Masked(text, tuple(kinds))


def _keys(text: str, put: Put) -> str:
    if "PRIVATE KEY" in text or "PuTTY-User-Key" in text:
        text = _KEY_TAIL.sub(put("private key"), _PRIVATE_KEY.sub(put("private key"), text))
    if any(start in text for start in _YOUNGER_STARTS):
        text = _YOUNGER.sub(put("api key"), text)
    low = text.lower()
    if any(hint in low for hint in _HINTS) or _SHAPES.compiled.search(text):
        for pattern in _patterns():
            text = pattern.sub(put("api key"), text)
    if "://" in text:
        text = _URL.sub(put("password"), text)
    return text


def _words(text: str, put: Put) -> str:
    """Mask what stands after a word that announces a secret."""
    password, token = _if(_is_password, put("password")), _if(_is_token, put("token"))
    low = text.lower()
    for words, pattern, replaced in (
        (("pass", "pwd", "hasł", "hasl", "парол", "kennwort", "contras"), _PASSWORD, password),
        (("key", "token", "secret", "klucz", "токен", "ключ"), _SECRET, token),
        (("bearer", "authorization"), _BEARER, put("token")),
    ):
        if any(word in low for word in words):
            text = _near(text, words, partial(pattern.sub, replaced))
            low = text.lower()
    return text


def _told(text: str, put: Put) -> str:
    """Mask the credentials that sentences tell."""
    done: list[str] = []
    end = 0
    for start, stop, kind in credentials(text):
        done += [text[end:start], _WHOLE.sub(put(kind), text[start:stop])]
        end = stop
    return "".join([*done, text[end:]])


def _near(text: str, words: tuple[str, ...], masked: Callable[[str], str]) -> str:
    """Return the text with the lines that hold a word, and the one after, masked: it is fast."""
    lines = text.splitlines(keepends=True)
    named = [any(word in line.lower() for word in words) for line in lines]
    done: list[str] = []
    start = 0
    while start < len(lines):
        stop = start
        while stop < len(lines) and named[stop]:
            stop += 1
        region = "".join(lines[start : stop + 1])
        done.append(masked(region) if named[start] else region)
        start = stop + 1
    return "".join(done)


def _numbers(text: str, put: Put) -> str:
    text = _IBAN.sub(lambda match: _account(match.group(), put), text)
    text = _POLISH_ACCOUNT.sub(_if(_is_polish_account, put("bank account")), text)
    return _CARD.sub(_if(_is_card, put("card number")), text)


def _if(
    test: Callable[[re.Match[str]], bool], put: Callable[[re.Match[str]], str]
) -> Callable[[re.Match[str]], str]:
    return lambda match: put(match) if test(match) else match.group()


def _is_password(match: re.Match[str]) -> bool:
    """Tell whether a value looks like a password; a plain word does only as a whole field."""
    value = match["value"].rstrip(".!?)")
    if len(value) < _MIN_PASSWORD or value.startswith(("http://", "https://", "[[")):
        return False
    rest = match.string[match.end() :].split("\n", 1)[0].strip(" \"'`*_.)”»|")
    if value.isdigit() and rest[:1].isalpha():  # a number of something
        return False
    if not value.isalpha():
        return _mixed(value)
    is_field = match["link"].strip(" \"'`*_") in {":", "=", ":=", "=>"} and not rest
    return (is_field and value.lower() not in _ORDINARY) or _scrambled(value)


def _is_token(match: re.Match[str]) -> bool:
    value = match["value"].rstrip(".!?)")
    if len(value) < _MIN_TOKEN or value.startswith(("http://", "https://", "[[", "/", "./", "$")):
        return False
    has_digit = any(char.isdigit() for char in value)
    return has_digit and any(char.isalpha() for char in value) and "(" not in value


def _mixed(value: str) -> bool:
    """Tell whether a value with digits or signs is a password, not a word with punctuation."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d|\d{1,2}[:.]\d\d|\d{1,3}%?", value):
        return False
    if any(char.isdigit() for char in value):
        return True
    letters = sum(char.isalpha() for char in value)
    signs = sum(char in "!@#$%^&*+?~=<>" for char in value)
    return letters > 1 and signs > 0 and not value.startswith("<")


def _scrambled(value: str) -> bool:
    """Tell whether letters change case in the middle as they do in no word: `hUntEr`."""
    changes = sum(a.islower() and b.isupper() for a, b in pairwise(value))
    return changes > 1


_ORDINARY_WORDS = """
    required optional none null true false string text yes unknown forgotten changed protected
    reset manager managers generator field policy hash hashes hashed login username user email
    missing invalid wrong empty same default admin value secret hidden stored encrypted plain
    wymagane brak nieznane zapomniane zmienione puste tekst nieobowiązkowe domyślne menedżer
    нет неизвестен неизвестно забыт изменён пусто текст требуется обязательно менеджер
"""
_ORDINARY = frozenset(_ORDINARY_WORDS.split())
"""What stands after `password:` in forms and manuals."""


def _is_card(match: re.Match[str]) -> bool:
    if not _CARD_SHAPE.fullmatch(match.group()):
        return False
    digits = "".join(filter(str.isdigit, match.group()))
    return _CARD_BRANDS.fullmatch(digits) and _luhn(digits)


def _luhn(digits: str) -> bool:
    total = 0
    for place, char in enumerate(reversed(digits)):
        value = int(char) * (1 + place % 2)
        total += value - 9 if value >= _LUHN_BASE else value
    return total % _LUHN_BASE == 0


def _account(found: str, put: Put) -> str:
    """Return the found groups with the account number in them masked: the longest that is one."""
    ends = [match.end() for match in re.finditer(r"[A-Z0-9]+", found)]
    for end in sorted(ends, reverse=True):
        if _is_iban(re.sub(r"[ -]", "", found[:end])):
            return re.sub(re.escape(found[:end]), put("bank account"), found, count=1)
    return found


def _is_iban(number: str) -> bool:
    """Tell whether a number without spaces is an IBAN, by country, length and checksum."""
    moved = number[4:] + number[:4]
    if int("".join(str(int(char, 36)) for char in moved)) % 97 != 1:
        return False
    from stdnum import iban

    return bool(iban.is_valid(number))


def _is_polish_account(match: re.Match[str]) -> bool:
    return _is_iban("PL" + "".join(filter(str.isdigit, match.group())))


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of detect-secrets, imported when a text may need them."""
    found: list[re.Pattern[str]] = []
    for name in _PLUGINS:
        module, _, detector = name.partition(".")
        loaded = import_module(f"detect_secrets.plugins.{module}")
        found.extend(getattr(loaded, detector).denylist)
    return tuple(found)
