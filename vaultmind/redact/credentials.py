"""Credentials told in a sentence: each token is judged by its shape and by the words around it.

The judge is one logistic regression on hashed features, trained by
`benchmarks/train_credentials.py` on sentences in English, Polish and Russian. What a household
shares (the code of a door, an alarm, a locker) and what names something (a user, a network, a
version) stays.
"""

from __future__ import annotations

import re
from binascii import crc32
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Indices = NDArray[np.int64]

WEIGHTS = Path(__file__).parent / "credentials.npz"
TABLE = 1 << 17
"""Number of weights; a feature's hash is its place among them."""
SIDE = 14
"""Number of tokens read on each side of one."""
NEAR = 3
"""Number of tokens on each side whose exact place counts."""
PIECE = 512
"""Number of tokens judged at once: memory stays bounded in a long text."""
MAX_TOKEN_CHARS = 100
"""A longer token is no credential that a person tells; keys have patterns of their own."""
OWN_FEATURES = 12
PLACE_FEATURES = 6
WEAK = 3.0
"""How far below the threshold the score of a word beside a credential may be."""
MIN_TOKEN_CHARS = 12
RECOVERY_WORDS = 12

_TOKEN = re.compile(
    r"‹[^›\n]{1,40}›"
    r"|(?<![\w.,:/+#-])\d{1,4}(?:[ -]\d{1,6}){1,7}(?![\w/]|[.,:-]\d)"
    r"|[^\s\"„“”«»‹›`(),;|<>\[\]{}]+"
)
_NAMED = re.compile(r"(?!https?:)[^=:/]{0,40}[^\W\d_][^=:/]{0,40}(?:=(?!=)|:(?!//))(?=.)")
"""A name and the sign between it and its value: `PASSWORD=`, `user:`."""
_NEVER = re.compile(
    r"https?:.*|www\..*|\+?[\w.-]+@[\w.-]+|\d{1,3}(?:\.\d{1,3}){3}(?:[:/].*)?"
    r"|[^.]+(?:\.[^.]+)*\.(?:pdf|docx?|xlsx?|txt|csv|kdbx|zip|py|md|json|jpe?g|png|toml|ya?ml|tsx?"
    r"|jsx?|java|html?|sh|log|exe|com|org|net|example|test|local)(?:[:/].*)?"
    r"|\d{1,4}[./]\d{1,2}[./]\d{1,4}|20\d\d-\d\d-\d\d.*|\d+:\d+.*|\d+[.,]\d+.*|\d{1,4}\W?[^\W\d_]{1,3}"
    r"|v\d+(?:\.\d+)*|[./~$]\S*/\S*|[\w.]+\(.*|\d{1,2}|[0-9a-f]{7,12}|[0-9a-f]{33,}"
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|97[89][\d-]{10,14}|[^\w]*|.*#\^.*"
)
"""What is no credential: an address, a file, a date, a time, a version, an amount, a hash."""
_FOLD = str.maketrans("ąćęłńóśźżёáéíñàèùâêîôûçäöüß", "acelnoszzеaeinaeuaeioucaous")
_GROUPS = re.compile(r"9{4}([ -])9{4}\1(9{4}\1)*9{4}|9{4} 9{6} 9{5}")
_PROSE = """
    the and for with that this are was were not you from have has had but our his her its they is
    sie nie jest oraz ale dla jak pod nad przed przez ktory tego jego что как это для или при над
    под она его все так уже был
"""
_FUNCTION = frozenset(_PROSE.split())
"""Words of prose, which no list of recovery words holds."""
_EDGES = ".:!?*'’—–-=+/~\\…"
_ENDS = frozenset("!#$%&*+?@_^=")


def credentials(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where credentials stand in a text, and their kinds, in order and apart."""
    spans = tokens(text)
    if not spans:
        return
    for at in range(0, len(spans), PIECE):
        piece = spans[at : at + PIECE]
        yield from _told(text, piece, scores(text, piece))


def _told(
    text: str, spans: list[tuple[int, int]], judged: list[float]
) -> Iterator[tuple[int, int, str]]:
    """Yield the tokens above the threshold, each with the words of its phrase."""
    _, threshold = _model()
    found = [score > threshold for score in judged]
    runs = _runs(text, spans)
    at = 0
    while at < len(spans):
        stop = at + 1
        if runs[at] >= RECOVERY_WORDS and max(judged[at : at + runs[at]]) > threshold - WEAK:
            stop = at + runs[at]
            found[at] = True
        elif judged[at] > threshold - WEAK:
            while stop < len(spans) and _goes_on(text, spans, stop, judged[stop] - threshold):
                found[at] |= found[stop]
                stop += 1
        if found[at]:
            start, end = spans[at][0], spans[stop - 1][1]
            yield start, end, _kind(text[start:end])
        at = stop


def _goes_on(text: str, spans: list[tuple[int, int]], at: int, above: float) -> bool:
    """Tell whether a token belongs to the phrase before it: words, then at most a number."""
    gap = text[spans[at - 1][1] : spans[at][0]]
    words = text[spans[at - 1][0] : spans[at - 1][1]].isalpha()
    return gap == " " and words and above > -WEAK


def _kind(value: str) -> str:
    digits = sum(map(str.isdigit, value))
    if not any(map(str.isalpha, value)):
        return "card number" if digits > MIN_TOKEN_CHARS else "PIN"
    turns = sum(a.isdigit() != b.isdigit() for a, b in pairwise(value))
    return "token" if len(value) >= MIN_TOKEN_CHARS and turns > NEAR else "password"


def tokens(text: str) -> list[tuple[int, int]]:
    """Return where the tokens of a text stand: words, numbers in groups, values after a name."""
    found: list[tuple[int, int]] = []
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        whole = match.group()
        named = _NAMED.match(whole[:MAX_TOKEN_CHARS]) if whole[0] != "‹" else None
        cuts = (start, start + named.end(), end) if named else (start, end)
        found.extend(
            span for a, b in pairwise(cuts) if (span := _trimmed(text, a, b)) and span[0] < span[1]
        )
    return found


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a token without the marks of the sentence around it."""
    if text[start] == "‹":
        return start, end
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not (text[end - 1].isalnum() or text[end - 1] in _ENDS):
        end -= 1
    bare = end
    while bare > start and text[bare - 1] in "!?*":
        bare -= 1
    return (start, bare) if text[start:bare].isalpha() else (start, end)


@lru_cache(maxsize=1)
def _model() -> tuple[Any, float]:
    """Return the weights that ship, and the score above which a token is a credential."""
    import numpy as np

    with np.load(WEIGHTS) as kept:
        return kept["weights"].astype(np.float32) * kept["scale"], float(kept["threshold"])


def scores(text: str, spans: list[tuple[int, int]]) -> list[float]:
    """Return for each token how much it looks like a credential: the log of its odds."""
    weights, _ = _model()
    judged: list[float] = weights[features(text, spans)].sum(1).tolist()
    return [
        -99.0 if _is_none(text, *span) else score for span, score in zip(spans, judged, strict=True)
    ]


def _is_none(text: str, start: int, end: int) -> bool:
    """Tell whether a token is certainly no credential: by its shape, or a code of the household."""
    kind, _ = shape(text[start:end])
    if kind not in HOUSE_CODES:
        return kind == NEVER
    low = text[max(0, start - HOUSE_CHARS) : start].lower().translate(_FOLD)
    return bool(_HOUSE.search(low)) and not _CARD_OR_PHONE.search(low)


WORD, CAPITAL, CAMEL, NEVER, SHORT, FOUR, SIX, LONG, CARD, GROUPED, OTHER = range(11)
SIGNS, JOINED, CODE, NUMBERED, HEX, KEY, MIXED = range(11, 18)
HOUSE_CODES = (SHORT, FOUR, SIX, GROUPED)
HOUSE_CHARS = 60
"""How near before a number a door, an alarm or a locker makes it a code of the household."""
_CARD_OR_PHONE = re.compile(
    r"(?<![^\W_])(?:pin|puk|cvv|cvc|card|phone|bank|sms|kart|telefon|пин|пак|карт|телефон|банк|смс)"
)
NUMBERS = {3: SHORT, 4: FOUR, 5: SIX, 6: SIX}


@lru_cache(maxsize=20_000)
def shape(word: str) -> tuple[int, str]:
    """Return a token's class, and its letters and digits as `a`, `A` and `9`."""
    if word.isalpha():
        if word.islower():
            return WORD, "a"
        return (CAPITAL, "Aa") if word.isupper() or word[1:].islower() else (CAMEL, "aA")
    if len(word) > MAX_TOKEN_CHARS or word[0] == "‹" or _NEVER.fullmatch(word):
        return NEVER, "never"
    signs = re.sub(r"\d", "9", re.sub(r"[^\W\d_]", lambda m: "A" if m[0].isupper() else "a", word))
    digits = signs.count("9")
    if "a" not in signs and "A" not in signs:
        if digits == len(signs):
            kind = NUMBERS.get(digits, LONG)
        else:
            kind = CARD if _GROUPS.fullmatch(signs) else GROUPED if digits <= 8 else OTHER  # noqa: PLR2004
        return kind, signs[:20]
    short = re.sub(r"a+", "a", re.sub(r"A+", "A", re.sub(r"9+", "9", signs)))
    return _mixed(word, signs, short), short[:12]


def _mixed(word: str, signs: str, short: str) -> int:
    """Return the class of a token of letters and other characters."""
    if "9" not in signs:
        plain = re.fullmatch(r"[a'’-]+|Aa(?:-A?a)*|A?a['’]a", short)
        return SIGNS if plain else JOINED
    if re.fullmatch(r"[A9-]+", signs):
        return CODE
    if re.fullmatch(r"A?a9|Aa?-9|a(?:-a)*-?9", short):
        return NUMBERED
    if re.fullmatch(r"[0-9a-f-]+", word):
        return HEX
    return KEY if short.count("9") >= NEAR and len(word) >= MIN_TOKEN_CHARS else MIXED


def _hash(feature: str) -> int:
    return crc32(feature.encode("utf-8", "replace")) & 0x7FFFFFFF


@lru_cache(maxsize=20_000)
def _word_ids(word: str) -> tuple[int, int]:
    """Return the two names by which others see a token: as a word and its stem, or its shape."""
    low = word.lower().translate(_FOLD)
    if low.isalpha():
        return _hash("w" + low), _hash("p" + low[:4])
    kind, signs = shape(word)
    return _hash("s" + signs), _hash(f"c{kind}")


@lru_cache(maxsize=20_000)
def _own(word: str) -> tuple[int, ...]:
    """Return the features of a token itself."""
    kind, signs = shape(word)
    low = word.lower().translate(_FOLD)
    found = ["S" + signs, f"L{kind}.{min(len(word), 24)}", f"C{kind}"]
    if low.isalpha():
        found += ["W" + low, "P" + low[:4], "E" + low[-3:], "P6" + low[:6]]
    else:
        digits = sum(map(str.isdigit, word))
        turns = sum(a.isdigit() != b.isdigit() for a, b in pairwise(word))
        masked = re.sub(r"\d", "9", low)
        letters = re.search(r"[^\W\d_]{3,}", low)
        found += [
            f"D{kind}.{min(digits, 12)}",
            "Y" + "".join(sorted({char for char in word if not char.isalnum()}))[:8],
            "B" + masked[:4],
            "Z" + masked[-4:],
            f"M{any(map(str.islower, word))}{any(map(str.isupper, word))}{digits > 0}",
            f"T{min(8, turns)}",
            "X" + (letters.group()[:4] if letters else ""),
            "R" + (word[:2] if word.isdigit() and len(word) == 4 else ""),  # noqa: PLR2004
        ]
    return tuple(_hash(one) for one in found[:OWN_FEATURES])


def _runs(text: str, spans: list[tuple[int, int]]) -> list[int]:
    """Return for each token how many bare words, none of prose, stand in its row."""
    lengths: list[int] = []
    row = 0
    for i, (start, end) in enumerate([*spans, (len(text), len(text))]):
        word = text[start:end]
        bare = word.isalpha() and 2 < len(word) < 10 and word not in _FUNCTION  # noqa: PLR2004
        if row and (not bare or text[spans[i - 1][1] : start] != " "):
            lengths += [row] * row
            row = 0
        if bare and word.islower():
            row += 1
        else:
            lengths.append(0)
    return lengths[: len(spans)]


def _places(text: str, spans: list[tuple[int, int]], words: list[str]) -> list[list[int]]:
    """Return the features of where each token stands: signs around it, the row, the text."""
    last = len(spans) - 1
    runs = _runs(text, spans)
    same = Counter(shape(word)[1] for word in words)
    rows = []
    for i, (start, end) in enumerate(spans):
        kind, signs = shape(words[i])
        before = text[max(spans[i - 1][1], start - 3) if i else max(0, start - 3) : start]
        after = text[end : min(spans[i + 1][0], end + 2) if i < last else end + 2]
        found = (
            f"bp{kind}{before}",
            f"aq{kind}{after}",
            f"run{min(runs[i], 13)}.{kind}",
            f"pos{min(i, 3)}.{kind}",
            f"end{min(last - i, 3)}.{kind}",
            f"n{min(4, same[signs])}.{signs}",
        )
        rows.append([_hash(one) for one in found])
    return rows


def features(text: str, spans: list[tuple[int, int]]) -> Indices:
    """Return the places of each token's weights, one row a token."""
    import numpy as np

    words = [text[start:end] for start, end in spans]
    count = len(words)
    kinds = np.array([shape(word)[0] + 1 for word in words], dtype=np.int64)[:, None]
    around = np.full((count + 2 * SIDE, 2), _hash("<pad>"), dtype=np.int64)
    around[SIDE : SIDE + count] = [_word_ids(word) for word in words]
    own = np.zeros((count, OWN_FEATURES), dtype=np.int64)
    for row, word in zip(own, words, strict=True):
        found = _own(word)
        row[: len(found)] = found
    window = np.lib.stride_tricks.sliding_window_view(around, 2 * SIDE + 1, axis=0)
    window = window.transpose(0, 2, 1)
    salt = np.arange(1, 64, dtype=np.int64) * 2654435761 % (1 << 31) | 1
    columns = [own, np.array(_places(text, spans, words), dtype=np.int64)]
    for off in (*range(-NEAR, 0), *range(1, NEAR + 1)):
        there = window[:, SIDE + off]
        columns.append(there * salt[off + 10])
        columns.append(there * salt[off + 30] + kinds * 7919)
    for side, (first, stop) in enumerate(((0, SIDE), (SIDE + 1, 2 * SIDE + 1))):
        there = window[:, first:stop].reshape(count, -1)
        columns.append(there * salt[50 + side] + kinds * 104729)
    # The low bits of a product are weak: fold the high ones into them.
    mixed = np.concatenate(columns, axis=1) & 0x7FFFFFFFFFFFFFF
    return (mixed ^ (mixed >> 17) ^ (mixed >> 34)) % TABLE


_HOUSE = re.compile(
    r"(?<![^\W_])(?:door|gate|alarm|locker|padlock|shed\b|safe\b|garage|intercom|key\s?box|lockbox"
    r"|entry|drzw|furt|bram|klodk|szaf|sejf|domofon|klatk|garaz|skryt|schow|двер|калитк|ворот"
    r"|замок|замк|сейф|шкаф|домофон|сигнализ|гараж|подъезд|ячейк|служебн)"
)
_HOUSE_CODE = re.compile(r"(?<![\w.,-])(?!(?:19|20)\d\d\b)\d{3,8}(?![\w-]|[.,]\d)")


def has_household_code(text: str) -> bool:
    """Tell whether a text holds the code of a door, an alarm or a locker, which may be kept."""
    low = text.lower().translate(_FOLD)
    return bool(_HOUSE.search(low) and _HOUSE_CODE.search(low))
