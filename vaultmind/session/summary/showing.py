"""The sliding summary as a model reads it."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import replace

from vaultmind.session.summary.cues import language_of
from vaultmind.session.summary.rolling import Line, Rolling, TopicMark, in_order
from vaultmind.session.summary.weigh import faded
from vaultmind.tokens import count
from vaultmind.vault.nesting import comment
from vaultmind.vault.oneline import escape


def shown(rolling: Rolling, max_tokens: int | None = None, *, speakers: bool = False) -> str:
    """Return headings and bullets, without ids and comments; empty for an empty summary.

    Within `max_tokens` topics go first, the oldest before the newer, then the least important
    lines. With `speakers` each line says who said it, unless one alone has spoken.
    """
    if max_tokens is not None:
        rolling = fitting(rolling, max_tokens, speakers=speakers)
    return _text(rolling, speakers=speakers)


def fitting(rolling: Rolling, max_tokens: int, *, speakers: bool = False) -> Rolling:
    """Return the summary with as much of it as `shown` shows within some tokens."""
    text = _text(rolling, speakers=speakers)
    while text and (excess := count(text) - max_tokens) > 0:
        rolling = _less(rolling, excess, named=speakers and _several(rolling.lines))
        text = _text(rolling, speakers=speakers)
    return rolling


def tokens_of(rolling: Rolling) -> int:
    """Return what a summary costs a model that reads it whole."""
    return count(_text(rolling, speakers=False))


def best_first(rolling: Rolling) -> list[Line]:
    """Return the lines of a summary, the most important first; of equals the newest."""
    return sorted(rolling.lines, key=lambda one: (-faded(one, rolling.messages), -one.at))


def cost(line: Line) -> int:
    """Return about how many tokens a line costs as a bullet."""
    return count(f"- {line.text}\n")


def section_text(title: str, items: Iterable[str]) -> str:
    """Return a heading and its bullets."""
    return "\n".join([f"## {title}", *(f"- {item}" for item in items)])


def source_bullet(line: Line) -> str:
    """Return what follows a bullet's mark: the words, where they come from, the block id."""
    known: dict[str, object] = {
        "from": line.source,
        "at": line.at,
        "by": line.speaker,
        "w": line.weight,
        "c": check(line.text),
    }
    if line.by:
        known |= {"m": line.by, "h": line.heard}
    if line.also:
        known["also"] = list(line.also)
    return f"{escape(line.text)} {comment(known)} ^{line.block}"


def topic_bullet(topic: TopicMark) -> str:
    """Return the same of a topic."""
    known = {"from": topic.source, "at": topic.at, "c": check(topic.label)}
    return f"{escape(topic.label)} {comment(known)} ^{topic.block}"


def check(text: str) -> int:
    """Return a number by which a change of a bullet's words is seen."""
    return zlib.crc32(text.encode()) & 0xFFFF


def _less(rolling: Rolling, excess: int, *, named: bool) -> Rolling:
    """Return a summary without what can best be spared, about `excess` tokens at most."""
    if rolling.topics:
        return replace(rolling, topics=rolling.topics[1:])
    ranked = best_first(rolling)
    if not ranked:
        return replace(rolling, notes=rolling.notes[:-1])
    gone: set[Line] = set()
    while ranked:
        spared = count(f"- {_item(ranked[-1], named=named)}\n")
        if gone and excess < spared:
            break
        excess -= spared
        gone.add(ranked.pop())
    return replace(rolling, lines=tuple(one for one in rolling.lines if one not in gone))


def _text(rolling: Rolling, *, speakers: bool) -> str:
    headings = language_of(rolling.language).headings
    named = speakers and _several(rolling.lines)
    sections = [
        section_text(headings[kind], [_item(line, named=named) for line in lines])
        for kind, lines in in_order(rolling.lines).items()
        if lines
    ]
    if rolling.topics:
        sections.append(section_text(headings["topic"], [one.label for one in rolling.topics]))
    if rolling.notes:
        sections.append("\n".join(rolling.notes))
    return "\n\n".join(sections)


def _several(lines: Iterable[Line]) -> bool:
    """Tell whether more than one has spoken."""
    return len({line.speaker for line in lines if line.speaker}) > 1


def _item(line: Line, *, named: bool) -> str:
    """Return a line; a model's own words say themselves of whom they are."""
    said = named and line.speaker and not line.by
    return f"{line.speaker}: {line.text}" if said else line.text
