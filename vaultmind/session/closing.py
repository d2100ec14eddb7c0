"""What is written when a conversation ends: what it was about, what was decided, what is next.

Extractive, at once: the next conversation starts with it, long before a model has had time to say
it better.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from vaultmind.redact import MARK, PRIVATE
from vaultmind.session.sentences import (
    headings,
    read,
    said,
    sentences,
    shortened,
    unmarked,
)
from vaultmind.session.summary import (
    Line,
    Rolling,
    faded,
    is_spoken,
    lines_of,
    section_text,
    unfolded,
)
from vaultmind.session.summary_file import source_bullet
from vaultmind.tokens import clip, count
from vaultmind.types import Message
from vaultmind.vault.oneline import escape

LINE_TOKENS = 32
MOST = {"decision": 8, "other": 4, "next": 4, "question": 4, "fact": 6}
"""Lines of each section, taken in turns; what there is room for beyond them comes after."""
TITLES = {"other": "about", "decision": "decision", "fact": "fact", "question": "question"}
"""The order in which the sections are shown, and their headings."""
SLIGHT_WORDS = 5
"""Content words from which a statement counts for itself."""
ASKED = 1.5
"""What a line weighs more that the user says to one who works with tools."""
_LETTER = re.compile(r"[^\W_]")


def active_context(
    messages: Sequence[Message], rolling: Rolling, max_tokens: int = 300, language: str = ""
) -> str:
    """Return what a conversation leaves for the next: Markdown of at most `max_tokens` tokens.

    What it was about, what was decided, what is open and what is next; empty where nothing was
    said at all. `messages` are those that may be recalled, all or those that `rolling` does not
    hold. Each bullet stands in a message, whole or as a marked piece.
    """
    language = language or rolling.language
    rest = unfolded(messages, rolling.upto)
    total = rolling.messages + len(rest)
    tools = {at for at, one in enumerate(rest, rolling.messages + 1) if one.role == "tool"}
    found: dict[str, list[Line]] = {name: [] for name in MOST}

    def worth(line: Line) -> float:
        return faded(line, total) + (ASKED if tools and line.speaker == "user" else 0.0)

    lines = [
        one
        for one in (*rolling.lines, *lines_of(rest, rolling.messages, language))
        if one.kind == "decision" or not _was_taken_out(one.text)
    ]
    for line in sorted(lines, key=lambda one: (-worth(one), -one.at)):
        if line.at + 1 in tools and line.kind == "other" and line.speaker != "user":
            continue  # it says what a tool was about to be used for
        plans = said(read(unmarked(line.text), language).folded, "next")
        is_next = plans and 2 * line.at > total and line.kind in ("fact", "other")
        short = replace(line, text=shortened(line.text, LINE_TOKENS))
        found["next" if is_next else line.kind].append(short)
    text = _closing(found, max_tokens, language)
    if text or not any(map(is_spoken, messages)):
        return text
    spoken = [text for one in messages if is_spoken(one) for text in sentences(one.text)]
    best = [some[0].text for some in found.values() if some] or spoken
    cuts = (escape(clip(best[0], most)) for most in range(max_tokens, 0, -1)) if best else ()
    return next((one for one in cuts if count(one) <= max_tokens), "")


def _closing(found: dict[str, list[Line]], max_tokens: int, language: str) -> str:
    """Return the sections with as many of their lines as there is room for, turn by turn."""
    titles = headings(language)

    def text(chosen: Collection[Line], *, marked: bool = False) -> str:
        parts = []
        for name, title in (TITLES | {"next": "next"}).items():
            kept = sorted((one for one in found[name] if one in chosen), key=lambda one: one.at)
            items = [source_bullet(one) if marked else escape(one.text) for one in kept]
            if items and chosen:
                parts.append(section_text(titles[title], items))
        return "\n\n".join(parts)

    numbered = [
        (at // most, at, line) for name, most in MOST.items() for at, line in enumerate(found[name])
    ]
    turns = [one for _, at, one in sorted(numbered, key=lambda one: one[:2])]
    chosen: list[Line] = []
    for line in turns:
        chosen.append(line)
        if count(text(chosen)) > max_tokens:
            chosen.pop()
    return text(chosen, marked=True)


def _was_taken_out(text: str) -> bool:
    """Tell whether a sentence had a secret in it, or nothing is left of it but a mark."""
    marks = MARK.findall(text)
    secret = any(mark != f"‹{PRIVATE}›" for mark in marks)
    return secret or (bool(marks) and not _LETTER.search(MARK.sub("", text)))


def is_slight(messages: Sequence[Message], rolling: Rolling, language: str = "") -> bool:
    """Tell whether what an earlier conversation left need not make way for this one.

    So it is for a greeting, small talk, or a lone question with its answer.
    """
    language = language or rolling.language
    lines = lines_of(messages, 0, language)
    told = [one for one in lines if one.speaker == messages[0].speaker or one.speaker == "user"]
    counts = [len(read(one.text, language).stems) for one in told if one.kind != "question"]
    kinds = {one.kind for one in lines}
    few = len(told) <= 1 and max(counts, default=0) < SLIGHT_WORDS
    return not rolling.messages and few and "decision" not in kinds
