"""Which language a text is in: its script first, then its letters, then py3langid."""

from __future__ import annotations

import logging
import re
import threading
import unicodedata
from collections import Counter
from functools import cache, lru_cache
from typing import Any

from vaultmind.heavy import importing
from vaultmind.index.words.stopwords import LISTS

STEMMERS = dict(pair.split(":") for pair in LISTS["stemmers"]["by_code"].split())
"""ISO 639-1 code → the stemmer of snowballstemmer, its own or a close relative's."""
CYRILLIC = frozenset(["be", "bg", "ru", "sr", "uk"])
_OTHERS = "ar be bg el fa he hi hy ja ka ko ne ru ta th uk zh"
OTHER_SCRIPTS = frozenset(_OTHERS.split())
"""Languages that are not written in Latin letters (Serbian is in both)."""
MIN_LETTERS = 24
"""A Latin text with fewer letters says little: the answer must be surer."""
MIN_CONFIDENCE, SURE = 0.35, 0.7
"""Confidence among 30 languages; a calm text of two sentences reaches 0.9."""
SAMPLE = 500
"""Characters that are looked at unless told otherwise (0.3 ms)."""
_DENSE = {"CJK": 3, "HIRAGANA": 3, "KATAKANA": 3, "HANGUL": 2}
"""Letters of these scripts carry as much as so many Latin ones."""
_LATIN = tuple(code for code in STEMMERS if code not in OTHER_SCRIPTS)
_NEITHER = tuple(sorted(OTHER_SCRIPTS - CYRILLIC))
_LETTERS = {"uk": re.compile("[їєґ]"), "be": re.compile("ў"), "sr": re.compile("[ђјљњћџ]")}
_RUSSIAN = re.compile("[ыэё]")
_NOISE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+|\[\[[^\[\]\n]*\]\]", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+")
_loading = threading.Lock()
log = logging.getLogger(__name__)


def detect(text: str, fallback: str = "", *, sample_size: int = SAMPLE) -> str:
    """Return the ISO 639-1 code of the text's language, or `fallback` where it says too little.

    Code, links and addresses are not looked at. It is the fallback, too, where py3langid cannot
    be read: it unpacks its model on a disk that may be full, and the next text asks again.
    """
    sample = _NOISE.sub(" ", text[: 4 * sample_size])[:sample_size]
    try:
        return _language(sample, fallback)
    except OSError as error:
        log.warning("no language could be told: %s", error)
        return fallback


@lru_cache(maxsize=4096)
def _language(sample: str, fallback: str) -> str:
    letters: Counter[str] = Counter()
    for letter, count in Counter(filter(str.isalpha, sample)).items():
        script = _script(letter)
        letters[script] += count * _DENSE.get(script, 1)
    script = max(letters, key=lambda one: letters[one], default="")
    if script == "CYRILLIC":
        return _cyrillic(sample.lower(), fallback)
    if not script or (letters[script] < MIN_LETTERS // 2 and fallback):
        return fallback
    if script != "LATIN":
        return _classify(sample, _NEITHER)[0]
    words = _WORD.findall(sample)
    sample = " ".join(word for word in words if _script(word[0]) == "LATIN")
    code, confidence = _classify(sample, _LATIN)
    return (
        code
        if confidence >= (MIN_CONFIDENCE if letters[script] >= MIN_LETTERS else SURE)
        else fallback
    )


@lru_cache(maxsize=20_000)
def _script(letter: str) -> str:
    return "LATIN" if letter.isascii() else unicodedata.name(letter, "").partition(" ")[0]


def _cyrillic(sample: str, fallback: str) -> str:
    for code, letters in _LETTERS.items():
        if len(letters.findall(sample)) > len(_RUSSIAN.findall(sample)):
            return code
    if _RUSSIAN.search(sample) or len(sample) < 4 * MIN_LETTERS:
        return fallback if fallback in CYRILLIC - {"sr"} else "ru"
    return _classify(sample, ("ru", "bg", "uk"))[0]


def _classify(sample: str, codes: tuple[str, ...]) -> tuple[str, float]:
    with _loading:
        identifier = _identifier(codes)
    code, confidence = identifier.classify(sample)
    return str(code), float(confidence)


@cache
def _identifier(codes: tuple[str, ...]) -> Any:  # noqa: ANN401
    """Return py3langid for some languages, read anew for each choice of them (0.5 s).

    One that is only restricted holds on to what it knows of all the others, 40 MB.
    """
    with importing():
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

    whole = LanguageIdentifier.from_model_file(MODEL_FILE)
    whole.set_languages([code for code in codes if code in whole.labels])
    return LanguageIdentifier(
        *(whole.nb_ptc, whole.nb_pc, whole.nb_classes, whole.tk_nextmove, whole.tk_output),
        norm_probs=True,
        tk_row=whole.tk_row,
    )
