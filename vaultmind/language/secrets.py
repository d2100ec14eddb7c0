"""Credentials that no format and no announcing word gives away, found by a trained network.

It reads what is about to be written into the memory, and no ordinary note: sentence by sentence.
Sensitive matter (health, money, beliefs, sex, other people's data, whereabouts) is known by words
that are rarely about anything else, in English, Polish and Russian. That errs on both sides: it
raises caution, it guards no secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from vaultmind.language.network import Reading, network
from vaultmind.language.text import sentences
from vaultmind.language.words import fold
from vaultmind.redact import Masked, announces, is_name, mask
from vaultmind.redact.spans import replace
from vaultmind.tables import table

LIKELY, NAMED, CERTAIN, PART = 0.4, 0.95, 0.985, 0.38
"""Likelihood from which a sentence holds a secret: of what is said, where it may be a plain word or
a product's name ("Przelewy24"), and of what the person asked to have remembered, which must not be
lost; and from which a word is a part of it."""
SAID = 0.6
"""Share of plain words from which a line is a sentence, and no line of a tool, a log or code."""
MOST_LETTERS = 400
"""Letters of a sentence that are read."""
MOST_SENTENCES = 40
"""Sentences of a text that are read: in a paste of more, words and forms alone tell a secret."""
_PIECE = re.compile(r"(?:\w[/\\.(:+]|[/\\~]|::)\0|\0(?:\w|[/\\(\[]|:[:/\w]|[.=_-]\w)")
"""Where a value (here `\\0`) is only a piece of a path, an address, a version or a call."""
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,24}){1,4}")


def mask_secrets(text: str, least: float = LIKELY) -> Masked:
    """Return a text without its secrets: those that `mask` finds, and those that are read.

    `least`: the likelihood from which a sentence holds one.
    """
    is_read = len(sentences(text)) <= MOST_SENTENCES
    done = mask(text, guess=not is_read)
    found = _found(done.text) if is_read else ()
    spans = [(start, end, "password") for start, end, likely in found if likely >= least]
    kinds = tuple(dict.fromkeys((*done.kinds, *(kind for *_, kind in spans))))
    return Masked(replace(done.text, spans, lambda _, kind: f"‹{kind}›"), kinds)


@lru_cache(maxsize=2048)
def _found(text: str) -> tuple[tuple[int, int, float], ...]:
    """Return where secrets may stand in a text, each with how likely its sentence holds one."""
    parts = [(one.start, min(one.end, one.start + MOST_LETTERS)) for one in sentences(text)]
    readings = network().read("secrets", [text[start:end] for start, end in parts])
    return tuple(
        span
        for (start, _), reading in zip(parts, readings, strict=True)
        for span in _in_sentence(text, start, reading)
    )


def _in_sentence(text: str, start: int, reading: Reading) -> Iterator[tuple[int, int, float]]:
    likely = reading.heads["secret"]["yes"]
    if likely < LIKELY:
        return
    marked = [
        (start + word.start, start + word.end)
        for word, share in zip(reading.words, reading.tags[:, 1].tolist(), strict=True)
        if share >= PART
    ]
    mails = [one.span() for one in _MAIL.finditer(text)]
    end = start + reading.words[-1].end
    for first, last in _joined(marked, text):
        if any(a <= first and last <= b and b - a > last - first for a, b in mails):
            continue  # a part of an address
        said, before, after = text[first:last], text[start:first], text[last:end]
        masked = "‹" in said or before.rfind("‹") > before.rfind("›")
        if masked or not any(map(str.isalnum, said)):
            continue
        if announces(text[start:end]) or (
            likely >= (NAMED if is_name(said) else LIKELY)
            and not _PIECE.search(f"{before[-2:]}\0{after[:2]}")
            and _is_sentence(f"{before} {after}")
        ):
            yield first, last, likely


def _is_sentence(text: str) -> bool:
    """Tell whether most of what stands around a value are plain words, as in what a person says."""
    bare = [one.strip(".,;:!?*()«»„”“\"'`…") for one in text.split()]
    words = [one.replace("'", "").replace("’", "").isalpha() for one in bare if one.strip("—–-/&|")]
    return not words or sum(words) >= SAID * len(words)


def _joined(spans: list[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """Return spans, those with only marks or one blank between them as one."""
    found: list[tuple[int, int]] = []
    for start, end in spans:
        if found and re.fullmatch(r"[^\w\s]*\s?[^\w\s]*", text[found[-1][1] : start]):
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


# --- sensitive matter ---------------------------------------------------------------------

_KINDS = ("health", "money", "beliefs", "sex", "whereabouts")


@lru_cache(maxsize=16)
def _cues(name: str) -> re.Pattern[str]:
    joined = fold("|".join(table(__file__)["sensitive"][name])).replace("*", r"[\w-]*")
    return re.compile(rf"\b(?:{joined})(?!\w)")


def sensitive(text: str) -> frozenset[str]:
    """Return the kinds of sensitive matter that a fact touches; empty for none.

    `others`: someone the person knows is named by their tie, with something private: any other
    kind, a number, an address, a birthday, a divorce.
    """
    folded = _cues("harmless").sub(" ", fold(" ".join(text.split())))
    found = {one for one in _KINDS if _cues(one).search(folded)}
    private = re.compile(table(__file__)["sensitive"]["personal"])
    if _cues("kin").search(folded) and (found or private.search(folded)):
        found.add("others")
    return frozenset(found)
