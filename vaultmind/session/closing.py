"""What is written when a conversation ends: what it was about, what was decided, what is next.

It is the sliding summary of all of it, at once: the next conversation starts with it, long before
a model has had time to say it better.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise

from vaultmind.redact import MARK
from vaultmind.session.sentences import headings, read, said, sentences, shortened, unmarked
from vaultmind.session.summary import (
    Line,
    Rolling,
    faded,
    fold,
    is_spoken,
    lines_of,
    section_text,
    unfolded,
)
from vaultmind.session.summary_file import source_bullet
from vaultmind.tokens import clip, count
from vaultmind.types import Message
from vaultmind.vault.oneline import escape

LINE_TOKENS, KEPT_TOKENS = 32, 1200
"""A longer line is cut; tokens of the summary from which the lines are chosen."""
TITLES = {"other": "about", "decision": "decision", "fact": "fact", "question": "question"}
"""The order in which the sections are shown, and their headings."""
SLIGHT_WORDS = 5
"""Content words from which a statement counts for itself."""
ASKED = 1.5
"""What a line weighs more that the user says to one who works with tools."""


def active_context(
    messages: Sequence[Message], rolling: Rolling, max_tokens: int = 300, language: str = ""
) -> str:
    """Return what a conversation leaves for the next: Markdown of at most `max_tokens` tokens.

    What it was about, what was decided, what is open and what is next; empty where nothing was
    said at all. `messages` are those that may be recalled, all or those that `rolling` does not
    hold. Each bullet stands in a message, whole or as a marked piece.
    """
    language, rest = language or rolling.language, unfolded(messages, rolling.upto)
    whole = fold(rolling, rest, KEPT_TOKENS, language)
    total, titles = whole.messages, headings(language)
    before_tools = {one.block for one, after in pairwise(rest) if after.role == "tool"}
    works = any(one.role == "tool" for one in rest)
    found: list[tuple[str, Line]] = []
    for line in whole.lines:
        announces = line.kind == "other" and line.speaker != "user" and line.source in before_tools
        if announces or (MARK.search(line.text) and line.kind != "decision"):
            continue  # what a tool was about to be used for; what a secret was taken out of
        plans = said(read(unmarked(line.text), language).folded, "next")
        is_next = plans and 2 * line.at > total and line.kind in ("fact", "other")
        short = replace(line, text=shortened(line.text, LINE_TOKENS))
        found.append(("next" if is_next else line.kind, short))

    def text(chosen: Collection[Line], *, marked: bool = False) -> str:
        parts = []
        for name, title in (TITLES | {"next": "next"}).items():
            kept = [one for section, one in found if section == name and one in chosen]
            items = [source_bullet(one) if marked else escape(one.text) for one in kept]
            parts += [section_text(titles[title], items)] if items else []
        return "\n\n".join(parts)

    def worth(line: Line) -> float:
        return faded(line, total) + (ASKED if works and line.speaker == "user" else 0.0)

    chosen: list[Line] = []
    for _, line in sorted(found, key=lambda one: (-worth(one[1]), -one[1].at)):
        if count(text([*chosen, line])) <= max_tokens:
            chosen.append(line)
    if chosen:
        return text(chosen, marked=True)
    spoken = (text for one in messages if is_spoken(one) for text in sentences(one.text))
    return escape(clip(next(spoken, ""), max_tokens // 3))


def is_slight(messages: Sequence[Message], rolling: Rolling, language: str = "") -> bool:
    """Tell whether what an earlier conversation left need not make way for this one.

    So it is for a greeting, small talk, or a lone question with its answer.
    """
    language = language or rolling.language
    lines = lines_of(messages, 0, language)
    told = [one for one in lines if one.speaker in (messages[0].speaker, "user")]
    counts = [len(read(one.text, language).stems) for one in told if one.kind != "question"]
    few = len(told) <= 1 and max(counts, default=0) < SLIGHT_WORDS
    return not rolling.messages and few and all(one.kind != "decision" for one in lines)
