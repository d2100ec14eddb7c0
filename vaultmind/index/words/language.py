"""Which language a text is in: its script first, then its letters, then py3langid."""

from __future__ import annotations

import logging
import re
import threading
import unicodedata
from collections import defaultdict
from functools import cache, lru_cache
from typing import Any

from vaultmind.heavy import importing
from vaultmind.index.words.stopwords import BY_LANGUAGE

STEMMERS: dict[str, str] = {
    "ar": "arabic",
    "be": "russian",
    "bg": "russian",
    "bs": "serbian",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hr": "serbian",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sk": "czech",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "uk": "russian",
}
"""ISO 639-1 code → the stemmer of snowballstemmer, its own or a close relative's."""

CYRILLIC = frozenset({"be", "bg", "ru", "sr", "uk"})
OTHER_SCRIPTS = frozenset(
    {"ar", "be", "bg", "el", "fa", "he", "hi", "hy", "ja", "ka", "ko", "ne", "ru", "ta", "th"}
    | {"uk", "zh"}
)
"""Languages that are not written in Latin letters (Serbian is in both)."""

MIN_LETTERS = 24
"""A Latin text with fewer letters says little: the answer must be surer."""
MIN_CONFIDENCE = 0.35
SURE = 0.7
"""Confidence among 30 languages; a calm text of two sentences reaches 0.9."""
SAMPLE = 500
"""Characters that are looked at unless told otherwise (0.3 ms)."""

SMALL_WORDS = 4
"""Different small words of a language that settle that a piece is in it, ..."""
SMALL_WORDS_LEAD = 2
"""... if they are so many times as many as of any other."""

_SCRIPTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("latin", re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+")),
    ("cyrillic", re.compile(r"[\u0400-\u052f]+")),
    ("kana", re.compile(r"[\u3040-\u30ff]+")),
    ("han", re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+")),
    ("hangul", re.compile(r"[\uac00-\ud7af\u1100-\u11ff]+")),
    ("arabic", re.compile(r"[\u0600-\u06ff\u0750-\u077f]+")),
    ("devanagari", re.compile(r"[\u0900-\u097f]+")),
    ("greek", re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]+")),
    ("thai", re.compile(r"[\u0e00-\u0e7f]+")),
    ("hebrew", re.compile(r"[\u0590-\u05ff]+")),
    ("armenian", re.compile(r"[\u0530-\u058f]+")),
    ("georgian", re.compile(r"[\u10a0-\u10ff]+")),
    ("tamil", re.compile(r"[\u0b80-\u0bff]+")),
)
_DENSE = {"han": 3, "kana": 3, "hangul": 2}
"""Letters of these scripts carry as much as so many Latin ones."""
_ONE_LANGUAGE = {
    "kana": "ja",
    "han": "zh",
    "hangul": "ko",
    "greek": "el",
    "thai": "th",
    "hebrew": "he",
    "armenian": "hy",
    "georgian": "ka",
    "tamil": "ta",
}
_LATIN = tuple(code for code in STEMMERS if code not in OTHER_SCRIPTS)
_LIKE_RUSSIAN = CYRILLIC - {"sr"}
_FEW: dict[str, tuple[str, ...]] = {"arabic": ("ar", "fa"), "devanagari": ("hi", "ne")}
_UKRAINIAN = re.compile(r"[їєґ]", re.IGNORECASE)
_BELARUSIAN = re.compile(r"[ў]", re.IGNORECASE)
_SERBIAN = re.compile(r"[ђјљњћџ]", re.IGNORECASE)
_RUSSIAN = re.compile(r"[ыэё]", re.IGNORECASE)
_NOISE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+|\[\[[^\[\]\n]*\]\]", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+")
_COMBINING = re.compile("[\u0300-\u036f]")
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
    if fallback and _speaks(sample, fallback):
        return fallback
    scripts = _SCRIPTS[:1] if sample.isascii() else _SCRIPTS
    counts: defaultdict[str, int] = defaultdict(int)
    for name, pattern in scripts:
        counts[name] = sum(map(len, pattern.findall(sample))) * _DENSE.get(name, 1)
    script = max(counts, key=lambda name: counts[name])
    if not counts[script]:
        return fallback
    if counts["kana"] * 5 > counts["han"] and script == "han":
        return "ja"
    if script in _ONE_LANGUAGE:
        return _ONE_LANGUAGE[script]
    if script == "cyrillic":
        return _cyrillic(sample, fallback)
    if script == "latin":
        sample = " ".join(dict(_SCRIPTS)["latin"].findall(sample))
    return _ranked(sample, _FEW.get(script, _LATIN), counts[script], fallback)


def _speaks(sample: str, lang: str) -> bool:
    """Tell whether a sample clearly has the small words of a language, and no other's as much.

    Most pieces of a note are in the note's language, and this costs a tenth of asking the model.
    """
    if lang not in BY_LANGUAGE:
        return False
    folded = sample.lower() if sample.isascii() else _bare(sample)
    found = set(_WORD.findall(folded))
    hits = {code: len(found & listed) for code, listed in BY_LANGUAGE.items()}
    own = hits.pop(lang)
    return own >= SMALL_WORDS and own >= SMALL_WORDS_LEAD * max(hits.values())


def _bare(sample: str) -> str:
    plain = unicodedata.normalize("NFKD", sample.lower()).replace("ł", "l")
    return _COMBINING.sub("", plain)


def _cyrillic(sample: str, fallback: str) -> str:
    for code, letters in (("uk", _UKRAINIAN), ("be", _BELARUSIAN), ("sr", _SERBIAN)):
        if len(letters.findall(sample)) > len(_RUSSIAN.findall(sample)):
            return code
    if _RUSSIAN.search(sample) or len(sample) < 4 * MIN_LETTERS:
        return fallback if fallback in _LIKE_RUSSIAN else "ru"
    return _classify(sample, ("ru", "bg", "uk"))[0]


def _ranked(sample: str, codes: tuple[str, ...], letters: int, fallback: str) -> str:
    if letters < MIN_LETTERS // 2 and fallback:
        return fallback
    code, confidence = _classify(sample, codes)
    return code if confidence >= (MIN_CONFIDENCE if letters >= MIN_LETTERS else SURE) else fallback


def _classify(sample: str, codes: tuple[str, ...]) -> tuple[str, float]:
    code, confidence = _identifier(codes).classify(sample)
    return str(code), float(confidence)


def _identifier(codes: tuple[str, ...]) -> Any:  # noqa: ANN401
    """Return py3langid restricted to some languages, whichever thread comes first."""
    with _loading:
        return _loaded(codes)


@cache
def _loaded(codes: tuple[str, ...]) -> Any:  # noqa: ANN401
    """Return it, read anew for each choice of languages (0.5 s).

    One that is only restricted holds on to what it knows of all the others, 40 MB.
    """
    with importing():
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

    whole = LanguageIdentifier.from_model_file(MODEL_FILE)
    whole.set_languages([code for code in codes if code in whole.labels])
    return LanguageIdentifier(
        whole.nb_ptc,
        whole.nb_pc,
        whole.nb_classes,
        whole.tk_nextmove,
        whole.tk_output,
        norm_probs=True,
        tk_row=whole.tk_row,
    )
