"""Secrets taken out of a text: what is found becomes a mark that names its kind.

Keys and tokens go by the patterns of detect-secrets and a few younger ones; passwords by the
word before them; cards and bank accounts by their checksums. A false alarm spoils a person's
note, so a plain word, a date, a telephone number, a hash or a UUID is never a secret here.
Patterns stand as text: `re` compiles and keeps each when it is first needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from stdnum import iban, luhn

from vaultmind.redact.credentials import credentials
from vaultmind.redact.passages import passages
from vaultmind.redact.spans import MARK, OWN, Span, merge, replace
from vaultmind.tables import table

_MIN_PASSWORD = 4
_MIN_TOKEN = 12

_HINT = (
    r"earer |Basic |A(?:KIA|SIA|BIA|CCA|3T|Iza|GE-S)|[aA][wW][sS]|AccountK|gh[pousr]_|_pat_|GR1348"
    r"|gl[a-z]{2,5}-|eyJ|-us|sk-|pypi-|npm_|hf_|ya29|dop_v1|SG\.|xapp-|xox|hooks\.slack|sq0csp"
    r"|_live_|_test_|whsec_|shp[a-z]{2}_|:[\w-]{35}|[AS][CK][a-z0-9]{32}|[MNO][\w-]{23,}\.[\w-]{6}"
)
"""Without a match no pattern of detect-secrets is tried, nor is it imported."""
_YOUNGER = (
    r"(?:(?<=[Bb]earer )|(?<=: Basic ))[\w.~+/=-]{20,}|(?<![\w-])(?:"
    r"sk-(?:[a-z]+-)?(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{24,}|github_pat_\w{22,}|hf_[A-Za-z0-9]{30,}"
    r"|npm_[A-Za-z0-9]{36}|AIza[\w-]{35}|ya29\.[\w-]{30,}|dop_v1_[0-9a-f]{64}|xapp-\d-[\w-]{20,}"
    r"|(?:sk|rk|pk|whsec)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,}"
    r"|shp(?:at|ss|ca|pa)_[0-9a-fA-F]{32}|xox[abeoprs]-[\w-]{20,}|AGE-SECRET-KEY-1[0-9A-Z]{58}"
    r"|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,})(?![\w-])"
)
_LINK = (
    r"(?P<link>[\"'`*_]*\s*(?::=|=>|[:=]|->|→|—|–|-(?=\s)|\bis\b:?|\bto\b:?|\bjest\b:?|это)"
    r"\s*[*_]*\s*)[\"'`„“”«]?(?P<value>[^\s\"'`„“”«»‹›,;]+)"
)
_PASSWORD = (
    r"(?i)(?<![^\W_])(?:pass(?:word|wd|phrase|code)|pwd|has[łl](?:o|em|a)|пароль|passwort"
    r"|kennwort|contraseña|mot de passe|(?<=[_-])(?:pass|pw))\b[\"']?" + _LINK
)
_SECRET = (
    r"(?i)(?<![^\W_])(?:(?:api|secret|access)[ _-]?key|(?:auth|access|refresh|api)[ _-]?token"
    r"|client[ _-]?secret|secret|token|klucz api|токен|ключ api)" + _LINK
)
_CARD = (
    r"\d(?<![\w.+/-]\d)(?:\d{13,15}|\d{3}([ -])\d{4}\1\d{4}\1\d{4}|\d{3}([ -])\d{6}\2\d{4,5})"
    r"(?![\w/-]|\.\d)"
)
_CARD_BRANDS = r"(?=\d{16}$)(?:4|5[1-5]|2[2-7]|35|6[0245])\d+|3[47]\d{13}|3[0689]\d{12}"
_IBAN = r"[A-Z](?<!\w[A-Z])[A-Z][ -]?\d\d(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?(?!\w)"
_POLISH_ACCOUNT = r"\d(?<![\w-]\d)\d(?:[ -]?\d{4}){6}(?![\w-])"
_ORDINARY = re.compile(table(__file__)["ordinary"])
"""What stands after `password:` in forms and manuals."""


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without its secrets, and the kinds of what was taken out, each once."""

    text: str
    kinds: tuple[str, ...]


class BadPattern(ValueError):
    """A pattern that cannot be used, and why."""


_own: list[re.Pattern[str]] = []
"""The person's own patterns in use in this process, which serves one configuration."""


def use_patterns(patterns: Iterable[str]) -> None:
    """Take out from now on what these patterns match, in place of those in use before.

    Of a pattern with a group named `value` that group alone is taken out. Raises BadPattern.
    """
    _own[:] = [checked(one) for one in patterns]


def checked(pattern: str) -> re.Pattern[str]:
    """Return a compiled pattern; raise BadPattern for one that is wrong or matches everywhere."""
    try:
        compiled = re.compile(pattern, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPattern(f"it is no regular expression ({error})") from error
    if compiled.search("") or compiled.fullmatch(" "):
        raise BadPattern("it matches an empty text or a mere space, and so it would everywhere")
    return compiled


def mask(text: str, *, guess: bool = True) -> Masked:
    """Return the text with every secret replaced by a mark such as `‹password›`.

    A text without secrets comes back as it was, and so does one that was masked before. Without
    `guess` only what has a form of its own, or stands right after what it is called, counts.
    """
    found = [*passages(text), *_keys(text), *_numbers(text), *_announced(text)]
    found += credentials(text) if guess else ()
    for pattern in _own:
        found += [(*_value(match), OWN) for match in pattern.finditer(text)]
    for mark in MARK.finditer(text) if found else ():
        found = [one for one in found if not _cuts(one, mark)]
    spans = merge(found)
    kinds = dict.fromkeys(kind for _, _, kind in spans)
    return Masked(replace(text, spans, lambda _, kind: f"‹{kind}›"), tuple(kinds))


def _cuts(span: Span, mark: re.Match[str]) -> bool:
    """Tell whether a span is a mark, or holds a part of one."""
    start, end, _ = span
    holds = start <= mark.start() and mark.end() <= end and (start, end) != mark.span()
    return start < mark.end() and mark.start() < end and not holds


def _value(match: re.Match[str]) -> tuple[int, int]:
    return match.span("value" if "value" in match.re.groupindex else 0)


def _keys(text: str) -> Iterator[Span]:
    """Yield keys of known formats, and passwords in addresses."""
    if re.search(_HINT, text):
        for pattern in _patterns():
            yield from ((*match.span(), "api key") for match in pattern.finditer(text))
    if "://" in text:
        found = re.finditer(table(__file__)["address"], text)
        yield from ((*_value(match), "password") for match in found)


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """Return the younger patterns and those of detect-secrets, imported when a text needs them."""
    found = [re.compile(_YOUNGER)]
    for name in table(__file__)["plugins"].split():
        module, _, detector = name.partition(".")
        loaded = import_module(f"detect_secrets.plugins.{module}")
        found.extend(getattr(loaded, detector).denylist)
    return tuple(found)


def _numbers(text: str) -> Iterator[Span]:
    """Yield bank accounts and cards with a sound checksum."""
    for match in re.finditer(_IBAN, text):
        # What follows an account may look like a part of it: the longest that is one counts.
        ends = [group.end() for group in re.finditer(r"[A-Z0-9]+", match.group())]
        valid = [end for end in ends if iban.is_valid(match.group()[:end])]
        if valid:
            yield match.start(), match.start() + valid[-1], "bank account"
    for match in re.finditer(_POLISH_ACCOUNT, text):
        if iban.is_valid("PL" + match.group()):
            yield *match.span(), "bank account"
    for match in re.finditer(_CARD, text):
        digits = re.sub(r"\D", "", match.group())
        if re.fullmatch(_CARD_BRANDS, digits) and luhn.is_valid(digits):
            yield *match.span(), "card number"


def _announced(text: str) -> Iterator[Span]:
    """Yield what stands after a word that announces a secret and a sign or verb that links them."""
    low = text.lower()
    if any(word in low for word in ("pass", "pw", "has", "парол", "kennwort", "contras")):
        found = re.finditer(_PASSWORD, text)
        yield from ((*_value(one), "password") for one in found if _is_password(one))
    if any(word in low for word in ("key", "token", "secret", "klucz", "токен", "ключ")):
        found = re.finditer(_SECRET, text)
        yield from ((*_value(one), "token") for one in found if _is_token(one["value"]))


_ADDRESS = ("http://", "https://", "[[", "/", "./", "$", "<")


def _is_password(match: re.Match[str]) -> bool:
    """Tell whether a value looks like a password; a plain word does only as a whole field."""
    value = match["value"].rstrip(".!?)")
    rest = match.string[match.end() :].split("\n", 1)[0].strip(" \"'`*_.)”»|")
    is_measure = re.fullmatch(r"\d{4}-\d\d-\d\d|\d{1,2}[:.]\d\d|\d{1,3}%?", value)
    if len(value) < _MIN_PASSWORD or value.startswith(_ADDRESS) or is_measure:
        return False
    if value.isdigit():
        return not rest[:1].isalpha()  # otherwise a number of something
    if value.isalpha():
        is_field = match["link"].strip(" \"'`*_") in {":", "=", ":=", "=>"} and not rest
        is_scrambled = len(re.findall("[a-zа-я][A-ZА-Я]", value)) > 1
        return (is_field and not _ORDINARY.fullmatch(value.lower())) or is_scrambled
    return bool(re.search(r"\d|[^\W\d_].*[!@#$%^&*+?~=<>]", value))


def _is_token(value: str) -> bool:
    value = value.rstrip(".!?)")
    if len(value) < _MIN_TOKEN or value.startswith(_ADDRESS) or "(" in value:
        return False
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))
