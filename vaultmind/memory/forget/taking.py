"""Taking what says a thing out of files, a kind of record each. Pure but for finding the files.

A kind of record that comes later adds one line where the gate is made:
`erasables=(*ERASABLES, Erasable("episodes", files_of_episodes, without_sentences))`.
"""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vaultmind.errors import BadArgument
from vaultmind.memory import suggestions
from vaultmind.memory.audit import DROP, AuditLine, erase, parse_line, ref_of, refs_of
from vaultmind.memory.brain import PlacedFact, parse_brain, remove_fact, removed_text
from vaultmind.memory.forget.kinds import Ref, without_sources
from vaultmind.memory.forget.wanted import Span, Wanted
from vaultmind.types import MessageRef
from vaultmind.vault.bullets import MARKER, plain
from vaultmind.vault.edits import line_span, set_property
from vaultmind.vault.nesting import ERASED_SOURCE, erased_line
from vaultmind.vault.oneline import unescape
from vaultmind.vault.parts import Part, content_block, parts
from vaultmind.vault.paths import SESSION_ID, VaultPaths
from vaultmind.vault.properties import front_matter
from vaultmind.vault.replacing import TEMP_PREFIX
from vaultmind.vault.transcript import parse_session, render_message

FRONT_MATTER = "front matter"
_ID_AT_END = re.compile(r"(?<![ \t])[ \t]+\^[A-Za-z0-9-]+[ \t]*$")
_SOURCES_AT_END = re.compile(r"(?: \[\[[^\[\]|]+\|source\]\])+$")
_NAMED_BELOW = r"(?:[ \t]*\r?\n)*[ \t]*\^{}[ \t]*(?:\r?\n|$)"

Files = Callable[[VaultPaths, str], Iterator[str]]
"""Yields the files of a kind, vault-relative: of an agent, or for `""` those of nobody alone."""


@dataclass(frozen=True, slots=True)
class Target:
    """A file as it is read, and what is known of it."""

    path: str
    """Vault-relative."""
    agent: str
    text: str
    today: str
    """ISO date."""
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Taken:
    """One thing that is taken out: a message, a sentence, a fact, a line."""

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
    moved: tuple[tuple[str, str], ...] = ()
    """Block ids that are not there any more, each with what it is now; empty for gone."""


@dataclass(frozen=True, slots=True)
class Erasable:
    """A kind of record. `without` is pure, and may be called again on newer text."""

    name: str
    """What it is called in a preview, in the plural: `messages`."""
    files: Files
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
    moved: list[tuple[str, str]] = []
    record = target.path.removesuffix(".md")
    for part in reversed(parts(text)):
        meant = wanted.means(target.agent, record, part.block)
        if part.start + len(part.text) > limit or not (meant or wanted.says(part.text)):
            continue
        limit = part.start
        place = f"^{part.block}" if part.block else line_name(text, part.start)
        left, gone = ("", part.text) if meant else _cut(part.text, wanted)
        if gone == part.text:
            text = _without_part(text, part)
            moved += [(part.block, "")] if part.block else []
        else:
            below = text[part.start + len(part.text) :]
            if part.block == content_block(_words(part.text)):  # an id that tells of what went
                new = content_block(_words(left))
                below = below.replace(f"^{part.block}", f"^{new}", 1)
                moved.append((part.block, new))
            text = text[: part.start] + left + below
        taken.append(Taken(place, gone))
    rest = without_lines(text, wanted)
    return Without(rest.text, (*properties.taken, *reversed(taken), *rest.taken), tuple(moved))


def with_links_moved(text: str, record: str, moved: Sequence[tuple[str, str]]) -> str:
    """Return a text whose links to a record's paragraphs go where these are now.

    One that only names as a source what is gone goes too; one with words of its own leads to the
    file.
    """
    for old, new in moved:
        link = rf"\[\[{re.escape(record)}#\^{re.escape(old)}(?=[\]|])"
        if not new:
            text = re.sub(rf" ?{link}\|source\]\]", "", text)
        to = f"[[{record}#^{new}" if new else f"[[{record}"
        text = re.sub(link, lambda _, to=to: to, text)  # type: ignore[misc]
    return text


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


def _cut(body: str, wanted: Wanted) -> tuple[str, str]:
    """Return a part without the sentences that say it, and what went: all, if little stays."""
    if body[:1] in (">", "|"):
        rest = without_lines(body, wanted)
        left, gone = rest.text, "\n".join(one.text for one in rest.taken)
    else:
        mark, named = MARKER.match(body), _ID_AT_END.search(body)
        head, tail = mark.end() if mark else 0, named.start() if named else len(body)
        said = body[head:tail]
        spans = wanted.spans(said)
        gone = " ".join(said[start:end] for start, end in spans)
        for start, end in reversed(spans):
            after = said[end:].lstrip()
            said = said[:start] + after if after else said[:start].rstrip()
        left = body[:head] + said + body[tail:]
    shown = without_sources(plain(MARKER.sub("", left, count=1))[0])
    is_left = gone and not wanted.says(left) and any(map(str.isalnum, shown))
    return (left, gone) if is_left else ("", body)


def _words(body: str) -> str:
    """Return the words of a paragraph without its id and the links that name its sources."""
    return unescape(_SOURCES_AT_END.sub("", _ID_AT_END.sub("", body)))


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
    session = Path(target.path).stem
    marker = erased_line(target.today, target.language)
    properties = without_properties(target.text, wanted)
    text, taken = properties.text, []
    for placed in reversed(parse_session(text).messages):
        message = placed.message
        ref = MessageRef(target.agent, session, message.block, message.id)
        place = f"^{message.block}" if message.block else line_name(text, placed.start)
        meant = wanted.means(target.agent, session, message.block, message.id)
        if message.text and (meant or wanted.says(message.text)):
            taken.append(Taken(place, message.text, ref))
            text = text[: placed.text_start] + marker + text[placed.text_end :]
        if message.speaker and wanted.says(message.speaker):
            taken.append(Taken(f"{place}, speaker", message.speaker))
            title = render_message(replace(message, speaker="")).partition("\n")[0]
            stop = text.find("\n", placed.start)
            text = text[: placed.start] + title + (text[stop:] if stop >= 0 else "")
    spare = [(placed.start, placed.end) for placed in parse_session(text).messages]
    rest = without_lines(text, wanted, spare)
    return Without(rest.text, (*properties.taken, *reversed(taken), *rest.taken))


def without_facts(target: Target, wanted: Wanted) -> Without:
    """Return a brain or its archive without each fact that says it, and the lines under it."""
    text, taken = target.text, []

    def said() -> PlacedFact | None:
        facts = parse_brain(text).facts
        says = (one for one in facts if wanted.says(one.fact.text) or wanted.says(one.fact.quote))
        return next(says, None)

    while placed := said():
        place = f"^{placed.fact.block}" if placed.fact.block else line_name(text, placed.start)
        taken.append(Taken(place, removed_text(text, placed)))
        text = remove_fact(text, placed)
    rest = without_sentences(replace(target, text=text), wanted)
    return Without(rest.text, (*taken, *rest.taken))


def without_suggestions(target: Target, wanted: Wanted) -> Without:
    """Return Suggestions.md without each suggestion that says it, settled or not."""
    text, taken = target.text, []
    for one in reversed(suggestions.parse(text)):
        lines = text[one.start : one.end]
        ours = not wanted.agent or one.suggestion.agent == wanted.agent
        if ours and suggestions.erase(lines, wanted.says) != lines:
            taken.append(Taken(f"^{one.suggestion.id}", lines))
            text = text[: one.start] + text[line_span(text, one.start, one.end)[1] :]
    rest = Without(text) if wanted.agent else without_lines(text, wanted)
    return Without(rest.text, (*reversed(taken), *rest.taken))


def without_values(target: Target, wanted: Wanted) -> Without:
    """Return JSON Lines with a marker for each text in them that says it; names stay."""
    lines, taken = target.text.split("\n"), []
    for number, line in enumerate(lines):
        gone: list[str] = []

        def marked(value: Any, gone: list[str] = gone) -> Any:  # noqa: ANN401
            if isinstance(value, list):
                return [marked(one) for one in value]
            if isinstance(value, dict):
                return {key: marked(one) for key, one in value.items()}
            if not isinstance(value, str) or not wanted.says(value):
                return value
            gone.append(value)
            return f"(erased {target.today})"

        try:
            new = marked(json.loads(line))
        except (ValueError, RecursionError):
            if wanted.says(line):
                gone, new = [line], {"erased": target.today}
        if gone:
            taken.append(Taken(f"line {number + 1}", "\n".join(gone)))
            end = "\r" if line.endswith("\r") else ""
            lines[number] = json.dumps(new, ensure_ascii=False) + end
    return Without("\n".join(lines), tuple(taken))


def without_audit_texts(target: Target, wanted: Wanted) -> Without:
    """Return an audit file whose lines have lost their texts where they say it."""
    taken: dict[str, Taken] = {}  # a change has a line where it begins, too

    def says(line: AuditLine) -> bool:
        if not any(map(wanted.says, line.texts)):
            return False
        place = line.id or "a torn line"
        words = "\n".join(one for one in (line.before, line.after, line.reason) if one)
        taken.setdefault(place, Taken(place, words))
        return True

    return Without(erase(target.text, says), tuple(taken.values()))


def refs_in_audit(text: str, wanted: Wanted) -> Iterator[Ref]:
    """Yield what an audit file names where it says it: the sources, and what was hidden for it."""
    for raw in text.split("\n"):
        line = parse_line(raw) if wanted.may_be_in(raw) else None
        if line is None or line.op == DROP:
            continue  # what a model made up was not said by the messages that it named
        if any(map(wanted.says, (line.before, line.after))):
            evidence = ref_of(line.evidence)
            yield from refs_of(line.hidden)
            yield from [evidence] if evidence else []


def without_copy(target: Target, wanted: Wanted) -> Without:
    """Return any other file of an agent's memory without what says it."""
    way = without_values if target.path.endswith(".jsonl") else without_sentences
    return way(target, wanted)


def without_all(target: Target, wanted: Wanted) -> Without:
    """Return an empty text for one that says it: it is of no use in part."""
    if wanted.says(target.text) or any(map(wanted.says, target.text.splitlines())):
        return Without("", (Taken("all", target.text),))
    return Without(target.text)


def files_in(folder: Callable[[VaultPaths, str], str], name: str, *, shared: bool = False) -> Files:
    """Return what finds files below a folder by a pattern of names: an agent's, or the shared."""
    matches = re.compile(name).fullmatch

    def files(paths: VaultPaths, agent: str) -> Iterator[str]:
        if bool(agent) is shared:
            return
        for where, folders, names in os.walk(paths.root / folder(paths, agent)):
            folders.sort()
            for path in (Path(where, name) for name in sorted(filter(matches, names))):
                if path.is_file() and not path.is_symlink():
                    yield paths.relative(path)

    return files


def _top(paths: VaultPaths, agent: str) -> str:
    return paths.memory_dir


def _runs(paths: VaultPaths, agent: str) -> str:
    return f"{paths.memory_dir}/conversations"


_MEMORY = VaultPaths.memory
SUMMARIES = "summaries"
ERASABLES: tuple[Erasable, ...] = (
    Erasable(
        "messages", files_in(VaultPaths.sessions, rf"{SESSION_ID.pattern}\.md"), without_messages
    ),
    Erasable(SUMMARIES, files_in(VaultPaths.summaries, r".*\.md"), without_sentences),
    Erasable(SUMMARIES, files_in(_MEMORY, r"active_context\.md"), without_sentences),
    Erasable("scheduler runs", files_in(_runs, r".*\.jsonl", shared=True), without_values),
    Erasable("suggestions", files_in(_top, r"Suggestions.*\.md", shared=True), without_suggestions),
    Erasable("damaged copies", files_in(_MEMORY, r".*\.damaged-.*"), without_sentences),
    Erasable("audit texts", files_in(_MEMORY, r"audit-.*\.jsonl"), without_audit_texts, last=True),
    Erasable("facts", files_in(_MEMORY, r"brain(_archive)?\.md"), without_facts, last=True),
)
_TEMP = re.escape(TEMP_PREFIX)
OTHERS = (
    Erasable(
        "copies",
        files_in(_MEMORY, rf"(?!audit-|tombstones-|{_TEMP}).*\.(md|txt|jsonl)"),
        without_copy,
    ),
    Erasable("leftovers", files_in(_MEMORY, rf"{_TEMP}.*"), without_all),
)
"""What no other kind claims: conflict copies of a sync, files that a person put there, and what
writes that were cut short left behind."""
