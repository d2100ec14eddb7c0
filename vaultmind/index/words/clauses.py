"""The facts that one request names."""

from __future__ import annotations

import re

from vaultmind.index.words.stopwords import BY_LANGUAGE

LONGEST = 2_000
"""Characters of a text that may name several facts; a longer one is refused anyway."""
_AND_THAT = re.compile(
    r"(?:,\s*|\s)(?:and\s+(?P<en>that)|(?:i|oraz)\s+(?:to,?\s+)?(?P<pl>że)|и\s+(?P<ru>что)"
    r"|und\s+(?P<de>dass)|y\s+(?P<es>que)|et\s+(?P<fr>que))\s+(?=\S)",
    re.IGNORECASE,
)


def facts_in(text: str) -> tuple[str, ...]:
    """Return the facts that one request names: "I like tea and that Ola likes coffee" is two.

    What somebody said or thinks ("Marek says that …, and that …") stays in one.
    """
    facts = []
    at = 0 if len(text) <= LONGEST else len(text)
    for match in _AND_THAT.finditer(text, at):
        language = match.lastgroup or ""
        that, rest = str(match[language]), text[match.end() :]
        before = text[at : match.start()].rstrip().removeprefix(f"{that} ")
        within = re.search(rf"\b{that}\b", before, re.IGNORECASE)
        if within or min(len(before.split()), len(rest.split())) < 2:  # noqa: PLR2004
            return (text,)
        first = rest.split()[0]
        if language == "en" and not (first[0].isupper() or first in BY_LANGUAGE["en"]):
            continue  # "Ola and that guy"
        facts.append(before)
        at = match.end()
    return (*facts, text[at:]) if facts else (text,)
