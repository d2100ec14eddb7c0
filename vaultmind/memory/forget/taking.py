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
from pathlib import Path
from typing import Any

from vaultmind.errors import BadArgument
from vaultmind.memory import suggestions
from vaultmind.memory.audit import ERASED
from vaultmind.memory.brain import PlacedFact, parse_brain, remove_fact, removed_text
from vaultmind.memory.forget.kinds import without_sources
from vaultmind.memory.forget.wanted import Wanted
from vaultmind.types import MessageRef
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


@dataclass(frozen=True, slots=True)
class Target:
    """A file as it is read, and what is known of it."""

    path: str
    """Vault-relative."""
    agent: str
    text: str
    today: str
    """ISO date."""


@dataclass(frozen=True, slots=True)
class Taken:
    """One thing that is taken out: a message, a paragraph with a sentence, a fact, a line."""

    place: str
    """Where in the file: `^m7`, `line 12`, `front matter`."""
    text: str
    ref: MessageRef | None = None
    """What must never be learned again: goes to the tombstones."""


@dataclass(frozen=True, slots=True)
class Without:
    """A text without what was wanted, and what that was."""

    text: str
    taken: tuple[Taken, ...] = ()


@dataclass(frozen=True, slots=True)
class Erasable:
    """A kind of record. `without` is pure, and may be called again on newer text."""

    name: str
    """What it is called in a preview, in the plural: `messages`."""
    files: str
    """A pattern of its files' paths, relative to the memory folder; the first kind that fits has
    a file."""
    without: Callable[[Target, Wanted], Without]
    last: bool = False
    """Whether it goes after all others: what they are found by stays until they are gone."""


def line_name(text: str, offset: int) -> str:
    """Return how a place without an id is called: `line 12`."""
    return f"line {text.count(chr(10), 0, offset) + 1}"


# --- any Markdown -------------------------------------------------------------------------


def without_sentences(target: Target, wanted: Wanted) -> Without:
    """Return a summary, or any Markdown, without the sentences that say it.

    A paragraph or an item of which nothing is left goes whole, with its block id, and so does
    one that was hidden for it.
    """
    properties = without_properties(target.text, wanted)
    text, taken, limit = properties.text, list[Taken](), len(properties.text)
    for part in reversed(parts(text)):
        end = part.start + len(part.text)
        meant = wanted.means(target.agent, target.path.removesuffix(".md"), part.block)
        if end > limit or not (meant or wanted.says(part.text)):
            continue
        limit = part.start
        place = f"^{part.block}" if part.block else line_name(text, part.start)
        taken.insert(0, Taken(place, part.text))
        left = "" if meant else _cut(part.text, wanted)
        text = text[: part.start] + left + text[end:] if left else _without_part(text, part)
    rest = without_lines(text, wanted)
    return Without(rest.text, (*properties.taken, *taken, *rest.taken))


def without_lines(text: str, wanted: Wanted, seen: str = "") -> Without:
    """Return a text without lines that say it; `seen` has other lines in the place of some."""
    taken, kept = list[Taken](), list[str]()
    pairs = zip(text.split("\n"), (seen or text).split("\n"), strict=True)
    for number, (line, shown) in enumerate(pairs, 1):
        if wanted.says(shown):
            taken.append(Taken(f"line {number}", line.strip()))
        else:
            kept.append(line)
    return Without("\n".join(kept), tuple(taken))


def without_properties(text: str, wanted: Wanted) -> Without:
    """Return a text whose front matter does not say it: items of lists go, all else empties."""
    found = front_matter(text)
    taken: list[Taken] = []
    if found is None or found.fault:  # broken front matter: its lines go one by one
        return Without(text)
    for key, value in found.properties.items():
        if wanted.says(said := _said(value)):
            items = value if isinstance(value, list) else []
            kept = [str(one) for one in items if not wanted.says(_said(one))]
            left = [] if wanted.says(_said(kept)) else kept
            none = ERASED_SOURCE if key == "source" else None
            with suppress(BadArgument):  # a name that cannot be written
                text = set_property(text, key, left if isinstance(value, list) else none)
                taken.append(Taken("front matter", said))
    return Without(text, tuple(taken))


def _said(value: object) -> str:
    """Return what a property says, on one line."""
    if isinstance(value, str):
        return value
    return re.sub(r"\\[nrt]", " ", json.dumps(value, ensure_ascii=False, default=str))


def _cut(body: str, wanted: Wanted) -> str:
    """Return a part without the sentences that say it; empty if little stays."""
    if body[:1] in (">", "|"):
        left = without_lines(body, wanted).text
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


def without_messages(target: Target, wanted: Wanted) -> Without:
    """Return a session with a marker in the place of the words of each message that says it.

    The callout with its title, comment and block id stays, all else to the byte; the speaker's
    name goes where it is what is wanted. So do topics, and lines that are no message.
    """
    session, marker = Path(target.path).stem, erased_line(target.today)
    properties = without_properties(target.text, wanted)
    text, taken = properties.text, list[Taken]()
    for placed in reversed(parse_session(text).messages):
        one = placed.message
        place = f"^{one.block}" if one.block else line_name(text, placed.start)
        meant = wanted.means(target.agent, session, one.block, one.id)
        if one.text and (meant or wanted.says(one.text)):
            ref = MessageRef(target.agent, session, one.block, one.id)
            taken.insert(0, Taken(place, one.text, ref))
            text = text[: placed.text_start] + marker + text[placed.text_end :]
        if one.speaker and wanted.says(one.speaker):
            taken.insert(0, Taken(f"{place}, speaker", one.speaker))
            title = render_message(replace(one, speaker="")).partition("\n")[0]
            text = text[: placed.start] + title + text[text.find("\n", placed.start) :]
    seen = text
    for placed in reversed(parse_session(text).messages):
        lines = "\n" * text.count("\n", placed.start, placed.end)
        seen = seen[: placed.start] + lines + seen[placed.end :]
    rest = without_lines(text, wanted, seen)
    return Without(rest.text, (*properties.taken, *taken, *rest.taken))


def without_facts(target: Target, wanted: Wanted) -> Without:
    """Return a brain or its archive without each fact that says it, and the lines under it."""
    text, gone = target.text, list[PlacedFact]()
    for one in parse_brain(text).facts:
        is_below = gone and one.start < gone[-1].tree_end
        if not is_below and wanted.says(f"{one.fact.text}\n{one.fact.quote}"):
            gone.append(one)
    places = (f"^{it.fact.block}" if it.fact.block else line_name(text, it.start) for it in gone)
    taken = [Taken(place, removed_text(text, it)) for place, it in zip(places, gone, strict=True)]
    for one in reversed(gone):
        text = remove_fact(text, one)
    rest = without_sentences(replace(target, text=text), wanted)
    return Without(rest.text, (*taken, *rest.taken))


def without_suggestions(target: Target, wanted: Wanted) -> Without:
    """Return Suggestions.md without each suggestion that says it, and the lines under it."""
    text, taken = target.text, list[Taken]()
    for one in reversed(suggestions.parse(text)):
        first, stop = line_span(text, one.start, one.end)
        if wanted.says(f"{text[first:stop]}\n{one.write.text}\n{one.write.old}"):
            taken.insert(0, Taken(f"^{one.id}", text[first:stop]))
            text = text[:first] + text[stop:]
    rest = without_lines(text, wanted)
    return Without(rest.text, (*taken, *rest.taken))


def without_values(target: Target, wanted: Wanted) -> Without:
    """Return JSON Lines with a marker for each text in them that says it; names stay."""
    lines, taken = target.text.split("\n"), []
    mark = f"{ERASED}{target.today})"

    def marked(value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, list):
            return [marked(one) for one in value]
        if isinstance(value, dict):
            return {key: one if key in _NAMES else marked(one) for key, one in value.items()}
        if not isinstance(value, str) or not wanted.says(value):
            return value
        said.append(value)
        return mark

    for number, line in enumerate(lines):
        said = list[str]()
        try:
            value = json.loads(line)
            new = marked(value)
        except (ValueError, RecursionError):
            value, new = line, {"erased": target.today} if wanted.says(line) else line
        if new != value:
            id = str(value.get("id") or "") if isinstance(value, dict) else ""
            words = [one for one in said if not any(it != one and it in one for it in said)]
            taken.append(Taken(id or f"line {number + 1}", "\n".join(words) or line))
            lines[number] = json.dumps(new, ensure_ascii=False) + "\r" * line.endswith("\r")
    return Without("\n".join(lines), tuple(dict.fromkeys(taken)))


def without_all(target: Target, wanted: Wanted) -> Without:
    """Return an empty text for one that says it: it is of no use in part."""
    if wanted.says(target.text) or any(map(wanted.says, target.text.splitlines())):
        return Without("", (Taken("all", target.text),))
    return Without(target.text)


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
