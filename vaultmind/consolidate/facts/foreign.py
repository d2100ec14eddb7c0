"""Whether a message is in a language that extraction has no rules for.

Of such a message only what was asked for in words is kept: a question, a joke or somebody else's
words could not be told from a fact.
"""

from __future__ import annotations

import re
from functools import lru_cache

from vaultmind.consolidate.facts.cues import LANGUAGES
from vaultmind.index.words.stopwords import BY_LANGUAGE
from vaultmind.memory.words import fold

_OTHER_LETTERS = re.compile(
    r"[іїєґўђћјљњџѓќ]|[\u0370-\u03ff\u0530-\u06ff\u0900-\u0dff\u0e00-\u0eff\u10a0-\u10ff"
    r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_WORD = re.compile(r"[^\W\d_]+")
FEWEST = 3
"""Words of a message that shows its language."""
OWN_SHARE = 0.12
"""Share of small words of a language we know from which a message is taken to be in it."""


@lru_cache(maxsize=1024)
def is_foreign(text: str, *, in_doubt: bool = False) -> bool:
    """Tell whether a message is in none of the languages that there are rules for.

    `in_doubt`: what to say of one that is too short to show its language.
    """
    shown = text[:1000].lower()
    words = _WORD.findall(shown)
    odd = len(_OTHER_LETTERS.findall(shown))
    if odd or not words:
        return odd * 20 >= sum(map(len, words)) > 0
    if re.search(r"[\u0400-\u04ff]", shown):
        return False
    counts = {code: sum(word in listed for word in words) for code, listed in _small().items()}
    own = max(counts[code] for code in LANGUAGES)
    most = max(counts.values())
    if own == most and own >= OWN_SHARE * len(words):
        return in_doubt and own < 1
    if len(words) < FEWEST or (most <= own + 1 and own):
        return in_doubt and most > own
    from vaultmind.index.words.language import detect

    found = detect(shown, "")
    return found not in LANGUAGES if found else in_doubt


@lru_cache(maxsize=1)
def _small() -> dict[str, frozenset[str]]:
    """Return the small words of every language that has them, with and without diacritics."""
    return {code: frozenset({*listed, *map(fold, listed)}) for code, listed in BY_LANGUAGE.items()}
