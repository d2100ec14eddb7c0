"""The file of a sliding summary: front matter, a heading a kind, a bullet a sentence.

A bullet of ours ends in a comment that says where it comes from, and in a block id by which
it is hidden or erased. What a person typed or changed stays as it is, to the byte: a rewrite
takes out the bullets that the summary no longer has and puts in those that are new.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from vaultmind.errors import BadArgument
from vaultmind.session.summary.cues import language_of
from vaultmind.session.summary.parsing import TOOL, TOPIC, placed_in, section_of
from vaultmind.session.summary.rolling import KINDS, Line, Rolling, TopicMark, in_order
from vaultmind.session.summary.showing import source_bullet, tokens_of, topic_bullet
from vaultmind.vault.bullets import HEADING, plain, prose
from vaultmind.vault.edits import (
    delete_lines,
    end_line,
    insert_line_after,
    insert_line_before,
    newline_of,
    set_property,
)

_ORDER = (*KINDS, TOPIC, TOOL)
_BLANK_LINE = re.compile(r"[ \t]*(?:\r?\n|$)")


def render_rolling(rolling: Rolling) -> str:
    """Return the file of a new summary."""
    return rewritten("", rolling)


def rewritten(text: str, rolling: Rolling) -> str:
    """Return a summary's file with the summary as it is now; an empty text gives a new file.

    Every byte that is not ours stays: a person's bullets, prose, headings, comments, line ends
    and properties. Front matter that is broken is left alone.
    """
    text = _with_properties(text, rolling)
    tools = [line for line in rolling.tools if not line.own]
    items: list[Line | TopicMark] = [*_ours(rolling), *rolling.topics, *tools]
    wanted = {one.block: one for one in items}
    for placed in reversed(placed_in(text)):
        new = wanted.pop(placed.item.block, None)
        if isinstance(placed.item, Line) and placed.item.own:
            continue
        if new is None:
            text = delete_lines(text, placed.start, placed.end)
        elif new != placed.item:
            text = text[: placed.start] + _bullet(new) + text[placed.end :]
    newline = newline_of(text)
    groups: list[tuple[str, Sequence[Line | TopicMark]]] = [*in_order(_ours(rolling)).items()]
    for name, group in [*groups, (TOPIC, rolling.topics), (TOOL, tools)]:
        new_ones = [_bullet(one) for one in group if one.block in wanted]
        if new_ones:
            text = _with_bullets(text, name, newline.join(new_ones), rolling.language)
    return text


def _ours(rolling: Rolling) -> list[Line]:
    return [line for line in rolling.lines if not line.own]


def _bullet(item: Line | TopicMark) -> str:
    return f"- {topic_bullet(item) if isinstance(item, TopicMark) else source_bullet(item)}"


def _with_bullets(text: str, name: str, lines: str, language: str) -> str:
    """Return the text with bullets at the end of a section; the section is made if it lacks."""
    at = _end_of_section(text, name)
    if at is not None:
        return insert_line_after(text, at, lines)
    newline = newline_of(text)
    section = f"## {language_of(language).headings[name]}{newline}{newline}{lines}"
    later = [
        start for known, start, _ in _headings(text) if _ORDER.index(known) > _ORDER.index(name)
    ]
    if later:
        return insert_line_before(text, min(later), f"{section}{newline}")
    ended = end_line(text)
    gap = "" if not ended or ended.endswith(newline * 2) else newline
    return f"{ended}{gap}{section}{newline}"


def _end_of_section(text: str, name: str) -> int | None:
    """Return an offset in the last bullet of a section, or in the line below its heading."""
    last = [placed.end for placed in placed_in(text) if placed.section == name]
    if last:
        return max(last)
    for known, start, end in _headings(text):
        if known == name:
            stop = text.find("\n", end) + 1
            return stop if stop and _BLANK_LINE.match(text, stop) else start
    return None


def _headings(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (section, start, end) of each of our headings in the file."""
    for start, end, line in prose(text):
        title = HEADING.match(line)
        name = section_of(plain(title.group(1))[0]) if title else ""
        if name:
            yield name, start, end


def _with_properties(text: str, rolling: Rolling) -> str:
    """Return the text with our properties; as it is where its front matter is broken."""
    values: dict[str, str | int] = {
        "session": rolling.session,
        "agent": rolling.agent,
        "language": rolling.language,
        "updated": rolling.updated,
        "upto": rolling.upto,
        "messages": rolling.messages,
        "tokens": tokens_of(rolling),
    }
    asked = {"told": rolling.told, "tools_upto": rolling.tools_upto}
    values |= {key: value for key, value in asked.items() if value}
    try:
        for key, value in values.items():
            text = set_property(text, key, value)
    except BadArgument:
        return text
    return text
