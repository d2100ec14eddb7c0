"""The file of a sliding summary: front matter, a heading a kind, a bullet a sentence.

A bullet of ours ends in a comment that says where it comes from, and in a block id by which it is
hidden or erased. What a person typed or changed stays as it is, to the byte.
"""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import replace
from functools import cache
from typing import Any

from vaultmind.errors import BadArgument
from vaultmind.session.sentences import KINDS, LANGUAGES, Kind, headings
from vaultmind.session.summary import TOPIC, Line, Rolling, TopicMark, ordered, tokens_of
from vaultmind.vault.bullets import HEADING, Bullet, bullets, plain, prose
from vaultmind.vault.edits import (
    delete_lines,
    end_line,
    insert_line_after,
    insert_line_before,
    newline_of,
    set_property,
)
from vaultmind.vault.nesting import comment
from vaultmind.vault.oneline import escape
from vaultmind.vault.properties import front_matter

_COMMENT = re.compile(r"%%(\{.*?\})%%")


def check(text: str) -> int:
    """Return a number by which a change of a bullet's words is seen."""
    return zlib.crc32(text.encode()) & 0xFFFF


def source_bullet(item: Line | TopicMark) -> str:
    """Return what follows a bullet's mark: the words, where they come from, the block id."""
    text = item.label if isinstance(item, TopicMark) else item.text
    known: dict[str, object] = {"from": item.source, "at": item.at}
    if isinstance(item, Line):
        known |= {"by": item.speaker, "w": item.weight}
    return f"{escape(text)} {comment(known | {'c': check(text)})} ^{item.block}"


def parse_rolling(text: str) -> Rolling:
    """Return what a summary's file says, however it was edited; never raises."""
    found = front_matter(text)
    values = found.properties if found else {}
    placed = _placed_in(text)
    items = [item for item, *_ in placed]
    spans = [(bullet.start, bullet.end) for _, _, bullet in placed]
    notes = []
    for start, end, line in prose(text):
        inside = any(first <= start < last or first < end <= last for first, last in spans)
        if not inside and not _heading_of(line) and (note := plain(line)[0]):
            notes.append(note)
    return Rolling(
        session=_text(values.get("session")),
        agent=_text(values.get("agent")),
        language=_text(values.get("language")) or "en",
        updated=_text(values.get("updated")),
        upto=_text(values.get("upto")),
        messages=_number(values.get("messages")),
        lines=ordered(one for one in items if isinstance(one, Line)),
        topics=tuple(one for one in items if isinstance(one, TopicMark)),
        notes=tuple(notes),
    )


def rewritten(text: str, rolling: Rolling) -> str:
    """Return a summary's file with the summary as it is now; an empty text gives a new file."""
    text = _with_properties(text, rolling)
    ours: list[Line | TopicMark] = [line for line in rolling.lines if not line.own]
    wanted = {one.block: one for one in (*ours, *rolling.topics)}
    for item, _, bullet in reversed(_placed_in(text)):
        if isinstance(item, Line) and item.own:
            wanted.pop(item.block, None)
            continue
        new = wanted.pop(item.block, None)
        if new is None:
            text = delete_lines(text, bullet.start, bullet.end)
        elif new != item:
            text = f"{text[: bullet.start]}- {source_bullet(new)}{text[bullet.end :]}"
    groups: dict[str, list[str]] = {}
    for one in wanted.values():
        name = TOPIC if isinstance(one, TopicMark) else one.kind
        groups.setdefault(name, []).append(f"- {source_bullet(one)}")
    for name, items in groups.items():
        text = _with_bullets(text, name, newline_of(text).join(items), rolling.language)
    return text


def _placed_in(text: str) -> list[tuple[Line | TopicMark, str, Bullet]]:
    """Return every bullet under one of our headings or with our comment, with its section."""
    found: list[tuple[Line | TopicMark, str, Bullet]] = []
    taken: set[str] = set()
    for bullet in bullets(text):
        name, known = _section_of(bullet.heading), _known(bullet)
        if not name and not known:
            continue
        ours = bullet.block not in taken and known.get("c") == check(bullet.text)
        source, at = _text(known.get("from")), _number(known.get("at"))
        taken.add(bullet.block)
        if bullet.block and ours and bullet.block.startswith("t-"):
            found.append((TopicMark(bullet.text, source, at), name, bullet))
            continue
        kind: Kind = next((kind for kind in KINDS if kind == name), "other")
        line = Line(bullet.text, kind, bullet.block, source, at, own=True)
        if bullet.block and ours and name in KINDS:
            line = replace(
                line,
                own=False,
                weight=_weight_of(known.get("w")),
                speaker=_text(known.get("by")),
            )
        found.append((line, name, bullet))
    return found


def _known(bullet: Bullet) -> dict[str, Any]:
    """Return what our comment in a bullet says; nothing where there is none."""
    match = _COMMENT.search(bullet.raw)
    try:
        known = json.loads(match[1]) if match else {}
    except (ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) and "c" in known else {}


def _section_of(heading: str) -> str:
    """Return which of our sections a heading opens, in whatever language; empty for others."""
    return _sections().get(heading.strip().casefold(), "")


@cache
def _sections() -> dict[str, str]:
    names = (*KINDS, TOPIC)
    return {headings(code)[name].casefold(): name for code in LANGUAGES for name in names}


def _heading_of(line: str) -> str:
    """Return which of our sections a line of the file opens."""
    title = HEADING.match(line)
    return _section_of(plain(title.group(1))[0]) if title else ""


def _text(value: object) -> str:
    return str(value).strip() if isinstance(value, (str, int, float)) else ""


def _number(value: object) -> int:
    return int(value) if isinstance(value, (int, float)) and 0 <= value < 2**32 else 0


def _weight_of(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and 0 <= value < 10**3 else 0.0


def _with_bullets(text: str, name: str, lines: str, language: str) -> str:
    """Return the text with bullets at the end of a section; the section is made if it lacks."""
    last = [bullet.end for _, section, bullet in _placed_in(text) if section == name]
    if last:
        return insert_line_after(text, max(last), lines)
    order, newline = (*KINDS, TOPIC), newline_of(text)
    section = f"## {headings(language)[name]}{newline}{newline}{lines}"
    titles = ((start, _heading_of(line)) for start, _, line in prose(text))
    later = (at for at, known in titles if known and order.index(known) > order.index(name))
    if (at := next(later, None)) is not None:
        return insert_line_before(text, at, f"{section}{newline}")
    ended = end_line(text)
    gap = "" if not ended or ended.endswith(newline * 2) else newline
    return f"{ended}{gap}{section}{newline}"


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
    try:
        for key, value in values.items():
            text = set_property(text, key, value)
    except BadArgument:
        return text
    return text
