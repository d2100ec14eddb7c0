"""What of a message is its writer's own words: pastes, quotes, code and private passages are not.

In doubt it is not theirs: a fact that is missed can be told again, one from a stranger's e-mail
is a lie about the person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vaultmind.consolidate.facts.cues import says
from vaultmind.consolidate.facts.types import Reason
from vaultmind.memory.intents.spans import is_paste
from vaultmind.memory.intents.text import MASK
from vaultmind.memory.intents.text import mask as masked
from vaultmind.memory.words import fold
from vaultmind.redact import private_spans
from vaultmind.session.summary.cues import abbreviations

GAP = "\ufffc"
"""Stands for what was taken out of a sentence."""
MOST_CHARACTERS = 4000
"""Of a message that are looked at: more is a paste, whatever it begins with."""
TITLE_WORDS = 4
"""A quotation of so few words is a name or a title, where nobody is said to say it."""
BEFORE = 30
"""Characters before a quotation in which someone is said to say it."""

_RUN = re.compile(f"{MASK}+")
_OPENS = "\"“„«»'‘‚`"
_PARAGRAPH = re.compile(r"\n\s*\n")
_LOWER = re.compile(
    r"(?:(?<=[^\W_])|(?<=\ufffc))(?:[.…](?<!\d\.)|[!?)]+[.!?]*|\.\.+)\s+(?=[^\W\d_A-Z])"
    r"|(?<=\d)\.\s+(?=oh |and |also )"
)
_CHAT = re.compile(r"(?m)(?:^(?:\[[^\]\n]{1,30}\] ?)?[^\W\d_][\w .-]{0,24}: \S.*(?:\n+|\Z)){3,}")
"""A conversation of others that was pasted: three lines or more of `Name: what they say`."""
_LINK = re.compile(r"https?://")


@dataclass(frozen=True, slots=True)
class Foreign:
    """A part of a message that is not to be read, and why."""

    text: str
    reason: Reason


def own_words(text: str) -> tuple[str, tuple[Foreign, ...]]:
    """Return a message's own words with gaps in them, and what was taken out."""
    shown = text[:MOST_CHARACTERS]
    veiled = masked(shown)
    private = private_spans(shown)
    gone: list[Foreign] = []
    parts: list[str] = []
    end = 0
    for run in _RUN.finditer(veiled):
        said = shown[run.start() : run.end()]
        parts.append(shown[end : run.start()])
        end = run.end()
        if _is_title(said, shown[max(0, run.start() - BEFORE) : run.start()]):
            parts.append(said)
            continue
        hidden = any(a <= run.start() < b for a, b in private)
        gone.append(Foreign(said, "private" if hidden else "quoted"))
        parts.append("\n" if hidden else GAP)
    body = "".join([*parts, shown[end:]])
    own, pasted = _without_paste(body)
    for one in pasted:
        gone.append(Foreign(one, "orders the memory" if says(fold(one), "order") else "quoted"))
    return own, tuple(gone)


def _is_title(said: str, before: str) -> bool:
    if _LINK.match(said):
        return True
    words = said.strip(_OPENS + "”’").split()
    spoken = says(fold(before), "told") or before.rstrip().endswith(":")
    return said[0] in _OPENS and "\n" not in said and len(words) <= TITLE_WORDS and not spoken


def _without_paste(text: str) -> tuple[str, list[str]]:
    """Return what stands before a paste, and the paste."""
    if chat := _CHAT.search(text):
        before, after = text[: chat.start()], text[chat.end() :]
        own, pasted = (
            _without_paste(before + after) if before.strip() or after.strip() else ("", [])
        )
        return own, [chat.group(), *pasted]
    first, *rest = _PARAGRAPH.split(text.strip())
    lines = first.split("\n")
    announced = next((at for at, line in enumerate(lines) if line.rstrip().endswith(":")), None)
    if announced is not None and (announced + 1 < len(lines) or rest):
        return "\n".join(lines[: announced + 1]), ["\n".join([*lines[announced + 1 :], *rest])]
    if any(_is_foreign(line) for line in lines[1:]):
        at = next(at for at, line in enumerate(lines) if at and _is_foreign(line))
        return "\n".join(lines[:at]), ["\n".join([*lines[at:], *rest])]
    asks = says(fold(first), "task")
    if rest and (asks or any(_is_foreign(line) for line in "\n".join(rest).split("\n"))):
        return first, rest
    return ("", [text]) if _is_foreign(lines[0]) else (text, [])


def _is_foreign(line: str) -> bool:
    """Tell whether a line is one of a document, a log, an e-mail or an order to a machine."""
    folded = fold(line).strip()
    return bool(folded) and (is_paste(folded) or bool(says(folded, "order")))


def split(sentence: str) -> Iterator[str]:
    """Yield the sentences that a careless writer begins with a small letter."""
    start = 0
    for end in _LOWER.finditer(sentence):
        word = sentence[start : end.start()].rsplit(None, 1)[-1:]
        if word and ((len(word[0]) == 1 and word[0] != GAP) or word[0].lower() in abbreviations()):
            continue
        yield sentence[start : end.end()].strip()
        start = end.end()
    yield sentence[start:].strip()


def pieces(sentence: str) -> Iterator[tuple[int, int]]:
    """Yield where the clauses of a sentence stand, as far as commas and small words show them."""
    start = 0
    for joint in _JOINT.finditer(sentence):
        if joint.start() > start:
            yield start, joint.start()
        start = joint.end()
    if start < len(sentence):
        yield start, len(sentence)


_JOINT = re.compile(
    r"[,;]\s+|\s[-–—]\s+|:\s+|\s{1,20}(?=(?:and|but|so|because|ale|bo|więc|и|но|а|потому что|"
    r"так что)\s)"
)
"""Without the Polish `i` and `a`, which are English words too."""
