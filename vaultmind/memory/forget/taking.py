r"""Taking what says a thing out of files, a kind of record each. Pure: from text to text.

A kind of record that comes later adds one line where the gate is made:
`erasables=(*ERASABLES, Erasable("plans", r"agents/.*/plans/.*\.md", without_sentences))`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from vaultmind.errors import BadArgument
from vaultmind.memory import suggestions
from vaultmind.memory.audit import ERASED
from vaultmind.memory.brain import parse_brain, remove_fact
from vaultmind.memory.forget.kinds import without_sources
from vaultmind.memory.forget.wanted import Wanted
from vaultmind.vault.bullets import MARKER, plain
from vaultmind.vault.edits import line_span, set_property
from vaultmind.vault.nesting import ERASED_SOURCE, erased_line
from vaultmind.vault.parts import Part, parts
from vaultmind.vault.paths import SESSION_ID
from vaultmind.vault.properties import front_matter
from vaultmind.vault.replacing import TEMP_PREFIX
from vaultmind.vault.transcript import parse_session, render_message

_ID_AT_END = re.compile(r"(?<![ \t])[ \t]+\^[A-Za-z0-9-]+[ \t]*$")
_NAMES = ("agent", "caller", "client", "path", "evidence", "hidden", "shown", "role", "time")
"""Keys of what is no text."""
_NAMED_BELOW = r"(?:[ \t]*\r?\n)*[ \t]*\^{}[ \t]*(?:\r?\n|$)"


Without = Callable[[str, str, Wanted], str]
"""Returns a file's text without what says what is wanted; takes the text, and its path."""


@dataclass(frozen=True, slots=True)
class Erasable:
    """A kind of record."""

    name: str
    """What it is called in a preview, in the plural: `messages`."""
    files: str
    """A pattern of its files' paths, relative to the memory folder; the first kind that fits has
    a file."""
    without: Without
    last: bool = False
    """Whether it goes after all others: what they are found by stays until they are gone."""


# --- any Markdown -------------------------------------------------------------------------


def without_sentences(text: str, path: str, wanted: Wanted) -> str:
    """Return a summary, or any Markdown, without the sentences that say it.

    A paragraph or an item of which nothing is left goes whole, with its block id, and so does
    one that was hidden for it.
    """
    text = without_properties(text, wanted)
    limit = len(text)
    for part in reversed(parts(text)):
        end, meant = part.start + len(part.text), wanted.means(path, part.block)
        if end <= limit and (meant or wanted.says(part.text)):
            limit = part.start
            left = "" if meant else _cut(part.text, wanted)
            text = text[: part.start] + left + text[end:] if left else _without_part(text, part)
    return without_lines(text, wanted)


def without_lines(text: str, wanted: Wanted, seen: str = "") -> str:
    """Return a text without lines that say it; `seen` has other lines in the place of some."""
    pairs = zip(text.split("\n"), (seen or text).split("\n"), strict=True)
    return "\n".join(line for line, shown in pairs if not wanted.says(shown))


def without_properties(text: str, wanted: Wanted) -> str:
    """Return a text whose front matter does not say it: items of lists go, all else empties."""
    found = front_matter(text)
    if found is None or found.fault:  # broken front matter: its lines go one by one
        return text
    for key, value in found.properties.items():
        if wanted.says(_said(value)):
            items = value if isinstance(value, list) else []
            kept = [str(one) for one in items if not wanted.says(_said(one))]
            left = [] if wanted.says(_said(kept)) else kept
            none = ERASED_SOURCE if key == "source" else None
            with suppress(BadArgument):  # a name that cannot be written
                text = set_property(text, key, left if isinstance(value, list) else none)
    return text


def _said(value: object) -> str:
    """Return what a property says, on one line."""
    if isinstance(value, str):
        return value
    return re.sub(r"\\[nrt]", " ", json.dumps(value, ensure_ascii=False, default=str))


def _cut(body: str, wanted: Wanted) -> str:
    """Return a part without the sentences that say it; empty if little stays."""
    if body[:1] in (">", "|"):
        left = without_lines(body, wanted)
    else:
        mark, named = MARKER.match(body), _ID_AT_END.search(body)
        head, tail = mark.end() if mark else 0, named.start() if named else len(body)
        said = body[head:tail]
        for start, end in reversed(wanted.spans(said)):
            after = said[end:].lstrip()
            said = said[:start] + after if after else said[:start].rstrip()
        left = body[:head] + said + body[tail:]
    shown = without_sources(plain(MARKER.sub("", left, count=1))[0])
    return left if not wanted.says(left) and any(map(str.isalnum, shown)) else ""


def _without_part(text: str, part: Part) -> str:
    """Return the text without a part's lines, its block id below it, and a second blank line."""
    first, stop = line_span(text, part.start, part.start + len(part.text))
    if part.block:
        below = re.compile(_NAMED_BELOW.format(re.escape(part.block))).match(text, stop)
        stop = below.end() if below else stop
    rest = text[stop:]
    if text[:first].endswith(("\n\n", "\n\r\n")):
        rest = re.sub(r"\A\r?\n", "", rest, count=1)
    return text[:first] + rest


# --- kinds of record ----------------------------------------------------------------------


def without_messages(text: str, path: str, wanted: Wanted) -> str:
    """Return a session with a marker in the place of the words of each message that says it.

    The callout with its title, comment and block id stays, all else to the byte; the speaker's
    name goes where it is what is wanted. So do topics, and lines that are no message.
    """
    text = without_properties(text, wanted)
    for placed in reversed(parse_session(text).messages):
        one = placed.message
        if one.text and (wanted.means(path, one.block, one.id) or wanted.says(one.text)):
            marker = erased_line(wanted.today)
            text = text[: placed.text_start] + marker + text[placed.text_end :]
        if one.speaker and wanted.says(one.speaker):
            title = render_message(replace(one, speaker="")).partition("\n")[0]
            text = text[: placed.start] + title + text[text.find("\n", placed.start) :]
    seen = text
    for placed in reversed(parse_session(text).messages):
        lines = "\n" * text.count("\n", placed.start, placed.end)
        seen = seen[: placed.start] + lines + seen[placed.end :]
    return without_lines(text, wanted, seen)


def without_facts(text: str, path: str, wanted: Wanted) -> str:
    """Return a brain or its archive without each fact that says it, and the lines under it."""
    for one in reversed(parse_brain(text).facts):
        if wanted.says(f"{one.fact.text}\n{one.fact.quote}"):
            tree = next(it for it in parse_brain(text).facts if it.start == one.start)
            text = remove_fact(text, tree)
    return without_sentences(text, path, wanted)


def without_suggestions(text: str, path: str, wanted: Wanted) -> str:
    """Return Suggestions.md without each suggestion that says it, and the lines under it."""
    for one in reversed(suggestions.parse(text)):
        if wanted.says(f"{text[one.start : one.end]}\n{one.write.text}\n{one.write.old}"):
            text = suggestions.remove(text, one)
    return without_lines(text, wanted)


def without_values(text: str, path: str, wanted: Wanted) -> str:
    """Return JSON Lines with a marker for each text in them that says it; names stay."""

    def marked(value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, list):
            return [marked(one) for one in value]
        if isinstance(value, dict):
            return {key: one if key in _NAMES else marked(one) for key, one in value.items()}
        is_said = isinstance(value, str) and wanted.says(value)
        return f"{ERASED}{wanted.today})" if is_said else value

    lines = text.split("\n")
    for number, line in enumerate(lines):
        try:
            value = json.loads(line)
            new = marked(value)
        except (ValueError, RecursionError):
            value, new = line, {"erased": wanted.today} if wanted.says(line) else line
        if new != value:
            lines[number] = json.dumps(new, ensure_ascii=False) + "\r" * line.endswith("\r")
    return "\n".join(lines)


def without_all(text: str, path: str, wanted: Wanted) -> str:
    """Return an empty text for one that says it: it is of no use in part."""
    return "" if wanted.says(text) or any(map(wanted.says, text.splitlines())) else text


_OWN = "agents/[^/]+/memory"
_TEMP = re.escape(TEMP_PREFIX)
ERASABLES: tuple[Erasable, ...] = (
    Erasable("messages", rf"{_OWN}/sessions/{SESSION_ID.pattern}\.md", without_messages),
    Erasable("summaries", rf"{_OWN}/(summaries/.*|active_context)\.md", without_sentences),
    Erasable("scheduler runs", r"conversations/.*\.jsonl", without_values),
    Erasable("suggestions", r"Suggestions.*\.md", without_suggestions),
    Erasable("damaged copies", rf"{_OWN}/.*\.damaged-.*", without_sentences),
    Erasable("audit texts", rf"{_OWN}/audit-.*\.jsonl", without_values, last=True),
    Erasable("facts", rf"{_OWN}/brain(_archive)?\.md", without_facts, last=True),
)
OTHERS = (
    Erasable("leftovers", rf"{_OWN}/(.*/)?{_TEMP}[^/]*", without_all),
    Erasable("copies", rf"{_OWN}/.*\.(md|txt)", without_sentences),
    Erasable("copies", rf"{_OWN}/(?!(.*/)?tombstones-).*\.jsonl", without_values),
)
"""What no other kind claims: conflict copies of a sync, files that a person put there, and what
writes that were cut short left behind."""
