"""Whose fact it is: a correction about one's daughter is none of what is known of somebody else."""

from __future__ import annotations

import re

from vaultmind.memory.words import content, fold

_WORD = re.compile(r"\w+(?:[-'’]\w+)*")


def _set(text: str) -> frozenset[str]:
    return frozenset(fold(word) for word in text.split())


_OWNED = _set(
    """my our his her their
    mój moja moje mojego mojej mojemu moim moją moi nasz nasza nasze jego jej ich
    мой моя моё мои моего моей моему моим мою наш наша наше его её их у
    mein meine meiner meinem meinen unser unsere seine ihre ihr
    mi mis nuestro nuestra su sus mon ma mes notre nos leur"""
)
"""Words after which it is said who or what a sentence is about: "my daughter"."""
_SELF = _set("i i'm i've i'd im ich je j'ai j'aime")
"""Words by which a sentence is about the one who speaks."""
_USER = _set(
    "user i i'm my me ich mein meine ja mam mnie mój moja я мой моя у меня je mon ma yo mi"
)
_SAID = _set(
    """is was has needs lives works likes loves hates eats takes weighs drinks plays wants prefers
    jest był była ma lubi mieszka pracuje je bierze waży pije potrzebuje woli
    живёт любит работает ест пьёт имеет аллергия зовут
    ist hat mag wohnt arbeitet isst trinkt nimmt wiegt
    es tiene vive trabaja come toma bebe pesa est aime habite travaille mange prend boit pèse"""
)
"""Words that say something of somebody: what stands before them is who."""


def is_anothers(fact: str, said: str, old: str, new: str) -> bool:
    """Tell whether a fact is about somebody else than a correction that was said."""
    about = _about(said, old, new)
    if about:
        return not any(one.same(other) for one in content(about) for other in content(fact))
    words = [fold(word) for word in _WORD.findall(fact)]
    named = len(words) > 1 and words[1] in _SAID and not _USER & set(words[:1])
    return named and bool(_SELF & {fold(word) for word in _WORD.findall(said)})


def _about(said: str, old: str, new: str) -> str:
    """Return whom a correction names: what it calls somebody's own, else a name that is neither
    the wrong word nor the right one.
    """
    words: list[str] = _WORD.findall(said)
    known = {fold(word) for word in _WORD.findall(f"{old} {new}")}
    for at, word in enumerate(words[:-1]):
        if fold(word) in _OWNED and content(words[at + 1]) and fold(words[at + 1]) not in known:
            return words[at + 1]
    names = (word for word in words[1:] if word[0].isupper() and len(word) > 1 and content(word))
    named = next((word for word in names if fold(word) not in known), "")
    return "" if fold(named) in _SELF else named
