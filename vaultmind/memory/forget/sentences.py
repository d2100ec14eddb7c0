"""Taking sentences, lines and properties out of Markdown. Pure; every other byte is kept."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from vaultmind.errors import BadArgument
from vaultmind.memory.forget.kinds import without_sources
from vaultmind.memory.forget.taken import FRONT_MATTER, Taken, Target, Without, line_name
from vaultmind.memory.forget.wanted import Span, Wanted
from vaultmind.vault.bullets import MARKER, plain
from vaultmind.vault.edits import line_span, set_property
from vaultmind.vault.nesting import ERASED_SOURCE
from vaultmind.vault.oneline import unescape
from vaultmind.vault.parts import Part, content_block, parts
from vaultmind.vault.properties import front_matter

_NAMED_BELOW = r"(?:[ \t]*\r?\n)*[ \t]*\^{}[ \t]*(?:\r?\n|$)"
_SOURCES_AT_END = re.compile(r"(?: \[\[[^\[\]|]+\|source\]\])+$")
_ID_AT_END = re.compile(r"(?<![ \t])[ \t]+\^[A-Za-z0-9-]+[ \t]*$")


def without_sentences(target: Target, wanted: Wanted) -> Without:
    """Return a summary, or any Markdown, without the sentences that say it.

    A paragraph or an item of which nothing is left goes whole, with its block id, and so does
    one that was hidden for it.
    """
    properties = without_properties(target.text, wanted)
    text, taken, limit = properties.text, [], len(properties.text)
    record = target.path.removesuffix(".md")
    for part in reversed(parts(text)):
        meant = wanted.means(target.agent, record, part.block)
        if part.start + len(part.text) > limit or not (meant or wanted.says(part.text)):
            continue
        limit = part.start
        place = f"^{part.block}" if part.block else line_name(text, part.start)
        cut = _Cut(_whole(text, part), part.text)
        if not meant:
            cut = _cut(text, part, wanted, target.hidden)
        text = cut.text
        moved = (f"{record}#^{part.block}", f"{record}#^{cut.block}") if cut.block else None
        taken.append(Taken(place, cut.gone, moved=moved))
    rest = without_lines(text, wanted)
    return Without(rest.text, (*properties.taken, *reversed(taken), *rest.taken))


def without_lines(text: str, wanted: Wanted, spare: Sequence[Span] = ()) -> Without:
    """Return a text without lines that say it; those in the spans, which are in order, stay."""
    starts = [start for start, _ in spare]
    taken, kept, offset = [], [], 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        above = bisect_right(starts, offset) - 1
        spared = above >= 0 and offset < spare[above][1]
        if not spared and wanted.says(line):
            taken.append(Taken(f"line {number}", line.strip()))
        else:
            kept.append(line)
        offset += len(line)
    return Without("".join(kept), tuple(taken))


def without_properties(text: str, wanted: Wanted) -> Without:
    """Return a text whose front matter does not say it: items of lists go, all else empties."""
    found = front_matter(text)
    taken: list[Taken] = []
    if found is None or found.fault:  # broken front matter: its lines go one by one
        return Without(text)
    for key, value in found.properties.items():
        said = _said(value)
        if not wanted.says(said):
            continue
        kept: list[str] | None = None
        if isinstance(value, list):
            kept = [str(one) for one in value if not wanted.says(_said(one))]
            kept = [] if wanted.says(_said(kept)) else kept
        try:
            text = set_property(text, key, ERASED_SOURCE if key == "source" else kept)
        except BadArgument:  # a name that cannot be written
            continue
        taken.append(Taken(FRONT_MATTER, said))
    return Without(text, tuple(taken))


def _said(value: object) -> str:
    """Return what a property says, on one line."""
    if isinstance(value, str):
        return value
    return re.sub(r"\\[nrt]", " ", json.dumps(value, ensure_ascii=False, default=str))


@dataclass(frozen=True, slots=True)
class _Cut:
    """A text without a part, or without some of its sentences."""

    text: str
    gone: str
    block: str = ""
    """The id that what is left of the part has now; empty where that did not change."""


def _cut(text: str, part: Part, wanted: Wanted, hidden: Collection[str]) -> _Cut:
    """Return the text without the sentences of a part that say it.

    A block id that was made of the words is made anew of those that are left, so that it tells
    nothing of what went; a hidden part with such an id goes whole.
    """
    body = part.text
    if body[:1] in (">", "|"):
        rest = without_lines(body, wanted)
        gone = "\n".join(one.text for one in rest.taken)
        left = rest.text
    else:
        mark = MARKER.match(body)
        head = mark.end() if mark else 0
        named = _ID_AT_END.search(body)
        said = body[head : named.start() if named else len(body)]
        spans = wanted.spans(said)
        gone = " ".join(said[start:end] for start, end in spans)
        left = body[:head] + _dropped(said, spans) + (named.group() if named else "")
    if not gone or wanted.says(left) or not _has_words(left):
        return _Cut(_whole(text, part), body)
    block, rest_of_file = "", text[part.start + len(body) :]
    if part.block and part.block == content_block(_words(body)):
        block = content_block(_words(left))
        if part.block in hidden or f"^{block}" in text:
            return _Cut(_whole(text, part), body)
        own = re.compile(rf"\A([ \t]+\^){re.escape(part.block)}(?=[ \t]*(?:\r?\n|$))")
        rest_of_file = own.sub(rf"\g<1>{block}", rest_of_file)
    return _Cut(text[: part.start] + left + rest_of_file, gone, block)


def _words(body: str) -> str:
    """Return the words of a paragraph without its id and the links that name its sources."""
    return unescape(_SOURCES_AT_END.sub("", _ID_AT_END.sub("", body)))


def _dropped(said: str, spans: Sequence[Span]) -> str:
    """Return a text without some sentences, and without the gaps that they leave."""
    for start, end in reversed(spans):
        rest = said[end:].lstrip()
        said = said[:start] + rest if rest else said[:start].rstrip()
    return said


def _has_words(body: str) -> bool:
    shown = plain(MARKER.sub("", body, count=1))[0]
    return any(map(str.isalnum, without_sources(shown)))


def _whole(text: str, part: Part) -> str:
    """Return the text without a part's lines, its block id below it, and a second blank line."""
    first, stop = line_span(text, part.start, part.start + len(part.text))
    if part.block:
        below = re.compile(_NAMED_BELOW.format(re.escape(part.block))).match(text, stop)
        stop = below.end() if below else stop
    rest = text[stop:]
    if text[:first].endswith(("\n\n", "\n\r\n")):
        rest = re.sub(r"\A\r?\n", "", rest, count=1)
    return text[:first] + rest
