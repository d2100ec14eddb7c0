"""Reading the file of a sliding summary, leniently: a person may have edited it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from vaultmind.session.summary.cues import LANGUAGES, language_of
from vaultmind.session.summary.rolling import KINDS, Kind, Line, Rolling, TopicMark, ordered
from vaultmind.session.summary.showing import check
from vaultmind.vault.bullets import HEADING, Bullet, bullets, plain, prose
from vaultmind.vault.properties import front_matter

TOPIC, TOOL = "topic", "tool"
"""Name the sections of topics and of what tools did, beside those of the kinds of lines."""
MOST_SOURCES = 12
"""Messages that a line may name."""
_COMMENT = re.compile(r"%%(\{.*?\})%%")


@dataclass(frozen=True, slots=True)
class Placed:
    """A bullet of the file and what it says."""

    item: Line | TopicMark
    section: str
    """The section of ours that it stands in; empty elsewhere."""
    start: int
    end: int


def parse_rolling(text: str) -> Rolling:
    """Return what a summary's file says, however it was edited; never raises.

    The tokens and messages in its front matter are what we wrote; a person's lines count anew
    with the next fold.
    """
    found = front_matter(text)
    values = found.properties if found else {}
    lines: list[Line] = []
    tools: list[Line] = []
    topics: list[TopicMark] = []
    placed = placed_in(text)
    for one in placed:
        if isinstance(one.item, TopicMark):
            topics.append(one.item)
        elif one.section == TOOL:
            tools.append(one.item)
        else:
            lines.append(one.item)
    return Rolling(
        session=_text(values.get("session")),
        agent=_text(values.get("agent")),
        language=_text(values.get("language")) or "en",
        updated=_text(values.get("updated")),
        upto=_text(values.get("upto")),
        messages=_number(values.get("messages")),
        lines=ordered(lines),
        topics=tuple(topics),
        notes=_notes(text, placed),
        told=_text(values.get("told")),
        tools=tuple(tools),
        tools_upto=_text(values.get("tools_upto")),
    )


def placed_in(text: str) -> list[Placed]:
    """Return every bullet of the file under one of our headings, or with our comment."""
    found: list[Placed] = []
    taken: set[str] = set()
    for bullet in bullets(text):
        name = section_of(bullet.heading)
        item = _item(bullet, name, taken)
        if item is not None:
            found.append(Placed(item, name, bullet.start, bullet.end))
            taken.add(bullet.block)
    return found


def _item(bullet: Bullet, name: str, taken: set[str]) -> Line | TopicMark | None:
    """Return what a bullet says: a line or topic of ours, or a person's line."""
    known = _known(bullet)
    ours = bool(known) and bool(bullet.block) and bullet.block not in taken
    if ours and known.get("c") == check(bullet.text):
        source, at = _text(known.get("from")), _number(known.get("at"))
        if bullet.block.startswith("t-"):
            return TopicMark(bullet.text, source, at)
        if name in (*KINDS, TOOL):
            return Line(
                text=bullet.text,
                kind=_kind(name),
                block=bullet.block,
                source=source,
                at=at,
                weight=_weight(known.get("w")),
                speaker=_text(known.get("by")),
                by=_text(known.get("m")),
                also=_also(known.get("also")),
                heard=_number(known.get("h"), 2**32),
            )
    if not name and not known:
        return None
    source = _text(known.get("from")) if known else ""
    at = _number(known.get("at")) if known else 0
    also = _also(known.get("also"))
    return Line(bullet.text, _kind(name), bullet.block, source, at, own=True, also=also)


def _known(bullet: Bullet) -> dict[str, object]:
    """Return what our comment in a bullet says; nothing where there is none."""
    match = _COMMENT.search(bullet.raw)
    try:
        known = json.loads(match[1]) if match else {}
    except (ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) and "c" in known else {}


def _kind(name: str) -> Kind:
    return next((kind for kind in KINDS if kind == name), "other")


def drawn_in(text: str) -> dict[str, tuple[str, ...]]:
    """Return what a model said of which messages, by the block id of its bullet.

    Under whatever heading: of an active context's bullets, too. What a person changed is theirs.
    """
    found: dict[str, tuple[str, ...]] = {}
    for bullet in bullets(text):
        known = _known(bullet)
        if bullet.block and known.get("m") and known.get("c") == check(bullet.text):
            found[bullet.block] = (_text(known.get("from")), *_also(known.get("also")))
    return found


def section_of(heading: str) -> str:
    """Return which of our sections a heading opens, in whatever language; empty for others."""
    return _sections().get(heading.strip().casefold(), "")


@cache
def _sections() -> dict[str, str]:
    return {
        title.casefold(): name
        for code in LANGUAGES
        for name, title in language_of(code).headings.items()
        if name in (*KINDS, TOPIC, TOOL)
    }


def _notes(text: str, placed: Sequence[Placed]) -> tuple[str, ...]:
    """Return what a person wrote besides the bullets above: prose, headings, other lists."""
    spans = [(one.start, one.end) for one in placed]
    notes: list[str] = []
    for start, end, line in prose(text):
        title = HEADING.match(line)
        inside = any(first <= start < last or first < end <= last for first, last in spans)
        if inside or (title and section_of(plain(title.group(1))[0])):
            continue
        if shown := plain(line)[0]:
            notes.append(shown)
    return tuple(notes)


def _text(value: object) -> str:
    return str(value).strip() if isinstance(value, (str, int, float)) else ""


def _number(value: object, most: int = 10**9) -> int:
    return int(value) if isinstance(value, (int, float)) and 0 <= value < most else 0


def _also(value: object) -> tuple[str, ...]:
    named = value if isinstance(value, list) else ()
    return tuple(one for one in named[:MOST_SOURCES] if isinstance(one, str) and one)


def _weight(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and 0 <= value < 10**3 else 0.0
