"""What is indexed of a file: where it belongs, and the chunks it is cut into.

A note is cut by its headings, small sections together; a brain into facts, a session into
messages, a canvas into its text nodes. Of an episode there are few chunks on purpose: the hundreds
of files that were read say nothing that is looked for in words.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import islice
from os.path import splitext
from pathlib import PurePosixPath
from typing import Any, Literal

from vaultmind.index.words import detect
from vaultmind.redact import blank_passages, mask, spans
from vaultmind.types import Chunk, Kind
from vaultmind.vault.files import FileText
from vaultmind.vault.markdown import Note, parse_canvas, parse_note
from vaultmind.vault.oneline import unescape
from vaultmind.vault.parts import COMMENT, bullets
from vaultmind.vault.paths import SESSION_ID, VaultPaths
from vaultmind.vault.properties import front_matter
from vaultmind.vault.transcript import CALLED, OWN_TOOL, parse_session

Span = tuple[int, int]
Form = Literal["note", "canvas", "brain", "session", "summary", "episode", "code", "text", "data"]
"""The last three are of linked folders."""

TITLE_JOINT = " › "
"""Between the parts of a title. All but the first part are embedded with the text: headings,
and who speaks (LoCoMo: R@5 of vectors .13 without the speaker, .28 with).
"""
TARGET, WHOLE, SMALL = 600, 800, 160
"""Characters of a chunk; up to which a section with all below it stays whole; and below which it
joins its neighbour."""
SUMMARY_TARGET, SAID_TARGET = 400, 900
"""Characters of a piece of a summary, and of a long message or something said in an episode."""
LANGUAGE_SAMPLE = 160
"""Characters of a chunk that are looked at for a language other than the file's."""
LANGUAGE_MESSAGES = 20
"""Messages that tell the language of a session."""
MOST_SAID = 60
"""Decisions and commits of one episode, the first."""
TASK = "task"
_NO_LINK = re.compile(r"[#|^\[\]%:\\]+")
_ID_LENGTH = 20
"""Hex digits of a chunk's id: 80 bits."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")
_DATE_KEYS = ("date", "created", "data", "дата")
_UNSHOWN = {"tags", "tag", "cssclass", "cssclasses", "position", "publish"}
_MAX_PROPERTY = 200
MARKUP = re.compile(
    r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]|\[([^\[\]]*)\]\([^)]{0,2000}\)|[*`]+|(?<!\w)_+|_+(?!\w)"
)
_SOURCES = re.compile(r"(?:(?:^|(?<=\s))\[\[[^\[\]|]+\|source\]\]\s*)+")
_WRITTEN = re.compile(r"%%\s*(\d{4}-\d{2}-\d{2})\b")
_UNTIL = re.compile(r"(?<![^\s%])until (\d{4}-\d{2}-\d{2})%%")
_EPISODE_TITLE = re.compile(r"(?m)^# +(?P<said>\S.*?)[ \t]*\r?$")
_EPISODE_TASK = re.compile(rf"(?m)^(?P<said>(?!- )\S.*?)[ \t]+\^{TASK}[ \t]*\r?$")
_EPISODE_SAID = re.compile(
    r"(?m)^- \d{1,2}:\d{2}(?::\d{2})? (?:decided|committed|came to)\b[^\n:]*: (?P<said>[^\n]+?)"
    r"(?: %%(?P<meta>\{[^\n]*\})%%)?(?:[ \t]+\^(?P<block>[A-Za-z0-9-]+))?[ \t]*\r?$"
)
_META_TIME = re.compile(r'"time": ?"([^"]*)"')
_NO_TASK, _LONG_TASK = "A task", "A long task"


@dataclass(frozen=True, slots=True)
class Place:
    """What a file is, by where it lies."""

    kind: Kind
    agent: str
    """Whose memory; empty for the user's own notes."""
    form: Form


@dataclass(frozen=True, slots=True)
class Chunked:
    """A file, ready to be indexed, and its language."""

    chunks: tuple[Chunk, ...]
    lang: str = ""
    faults: tuple[str, ...] = ()
    """What could not be read of it."""


def place_of(path: str, paths: VaultPaths) -> Place | None:
    """Return what a vault-relative path is, or None for what is never indexed.

    Of the memory folder only brains, their archives, active contexts, sessions, summaries and
    episodes are indexed.
    """
    if not paths.in_memory(path):
        ending = splitext(path)[1].lower()  # noqa: PTH122 - asked of every hit
        forms: dict[str, Form] = {".md": "note", ".canvas": "canvas"}
        return Place("note", "", forms[ending]) if ending in forms else None
    agent = paths.agent_of(path)
    if not agent or not path.endswith(".md"):
        return None
    folder, _, name = path.rpartition("/")
    is_dated = SESSION_ID.fullmatch(name.removesuffix(".md")) is not None
    is_summary = path.startswith(f"{paths.memory(agent)}/summaries/")
    found: tuple[tuple[bool, Kind, Form], ...] = (
        (path in (paths.brain(agent), paths.archive(agent)), "fact", "brain"),
        (folder == paths.sessions(agent) and is_dated, "message", "session"),
        (folder == paths.episodes(agent) and is_dated, "episode", "episode"),
        (path == paths.active_context(agent) or is_summary, "summary", "summary"),
    )
    return next((Place(kind, agent, form) for fits, kind, form in found if fits), None)


def chunk_file(path: str, file: FileText, place: Place) -> Chunked:
    """Return the chunks of a file with their stable ids, and what could not be read of it.

    A private passage or key may reach over many: it is blanked in the whole before the cut.
    """
    text = file.text if place.form == "canvas" else blank_passages(file.text)
    return placed(path, _CHUNKERS[place.form](path, text), place)


def placed(path: str, found: Chunked, place: Place) -> Chunked:
    """Return a file's chunks with ids, path, kind, agent and language.

    Secrets are masked here: the index holds none. An id is made of path and all that a chunk
    says, but for where in the file; equal ones are counted.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    chunks = []
    for chunk in found.chunks:  # a title is masked with its text: it may announce what that holds
        title, _, text = mask(f"{chunk.title}\n{chunk.text}").text.partition("\n")
        lang = chunk.lang or detect(chunk.text, found.lang, sample_size=LANGUAGE_SAMPLE)
        said = (title, text, lang, *chunk.tags, chunk.speaker, chunk.role)
        where = (chunk.anchor, chunk.time, chunk.message, *said)
        seen[where] += 1
        key = "\0".join((path, *where, str(seen[where])))
        name = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:_ID_LENGTH]
        masked = replace(chunk, id=name, path=path, title=title, text=text, lang=lang)
        chunks.append(replace(masked, kind=place.kind, agent=place.agent))
    return replace(found, chunks=tuple(chunks))


def new_chunk(title: str, text: str, span: Span, anchor: str = "", **more: Any) -> Chunk:  # noqa: ANN401
    """Return a chunk whose place in the vault is filled in later."""
    return Chunk("", "", "note", "", anchor, title, text, span[0], span[1], **more)


def uncommented(text: str, span: Span, comments: Iterable[Span]) -> str:
    """Return the text of a span without the comments in it, its newlines as `\\n`."""
    start, end = span
    near = ((max(first, start), min(last, end)) for first, last in comments)
    inside = [(first - start, last - start, "") for first, last in near if first < last]
    kept = spans.replace(text[start:end], spans.merge(inside), lambda *_: "")
    return kept.replace("\r\n", "\n").strip()


# --- what things are called ----------------------------------------------------------------


def heading_anchor(heading: str) -> str:
    """Return the link part that Obsidian opens at a heading; empty for no heading."""
    name = " ".join(_NO_LINK.sub(" ", heading).split())
    return f"#{name}" if name else ""


def name_of(path: str) -> str:
    """Return what a link calls a file at the least: its name, folded, without `.md`."""
    return folded(path).rpartition("/")[2]


def folded(path: str) -> str:
    """Return a path, or what a link says, as names are compared: Obsidian ignores case."""
    return unicodedata.normalize("NFC", path).casefold().removesuffix(".md")


def meant(named: Iterable[str], target: str, source: str) -> str:
    """Return which of some files a link in another means, as Obsidian would: one beside it, else
    that of the shortest path.

    `target`: what their folded paths end in; empty for any. Empty where there is none.
    """
    here = source.rpartition("/")[0]
    return min(
        (one for one in named if not target or f"/{folded(one)}".endswith(f"/{target}")),
        key=lambda path: (path.rpartition("/")[0] != here, path.count("/"), path),
        default="",
    )


# --- where a long text pauses -------------------------------------------------------------

_PARAGRAPH_END = re.compile(r"\n(?:[ \t\r]*\n)+")
_FENCED = re.compile(r"(?ms)^[ \t]*(`{3,}|~{3,})[^\n]*$.*?(?:^[ \t]*\1[^\n]*$|\Z)")
_SMALLER_ENDS = (
    re.compile(r"(?<![.!?…])[.!?…]+[\"'»”)\]]*\s+|[。！？]+|\n"),
    re.compile(r"\s+"),
)
"""Of sentences and lines, and of words."""


def split(text: str, span: Span, target: int) -> list[Span]:
    """Return the spans that a text is cut into, without overlap, in order, none of them blank.

    Each is cut after so many characters at most, where the last paragraph, else the last sentence,
    else the last word ends; a rest of up to one and a half of them stays whole.
    """
    start, stop = span
    fences = [match.span() for match in _FENCED.finditer(text, *span)]
    pieces: list[Span] = []
    while start < stop:
        end = stop if stop - start <= target + target // 2 else start + target
        if end < stop:
            window = (text, start + target // 4, end)
            paragraphs = [
                match.end()
                for match in _PARAGRAPH_END.finditer(*window)
                if not any(opens < match.start() < closes for opens, closes in fences)
            ]
            others = ([match.end() for match in mark.finditer(*window)] for mark in _SMALLER_ENDS)
            end = next(filter(None, (paragraphs, *others)), [end])[-1]
        if said := text[start:end].strip():
            first = text.index(said, start)
            pieces.append((first, first + len(said)))
        start = end
    return pieces


def pieces(text: str, target: int) -> list[str]:
    """Return what a whole text is cut into."""
    return [text[start:end] for start, end in split(text, (0, len(text)), target)]


# --- notes and summaries ------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A heading with its own text (start to own_end) and what lies below it (to end)."""

    level: int
    raw: str
    start: int
    own_end: int
    end: int
    above: tuple[Section, ...]
    """The sections from the top down to the one that it stands in."""


def chunk_note(path: str, text: str) -> Chunked:
    """Return a note's chunks: small notes whole, long ones by section."""
    note = parse_note(text)
    title = note.title_property or PurePosixPath(path).stem
    chunks = [
        _section_chunk(text, note, title, section, span)
        for section, whole in _pieces(note, text)
        for span in split(text, whole, TARGET)
    ]
    tags = tuple(dict.fromkeys(tag.casefold() for tag in note.tags))
    chunks = _with_properties([one for one in chunks if one.text], note, title)
    done = (replace(chunk, tags=tags, time=_time_of(path, note)) for chunk in chunks)
    return Chunked(tuple(done), detect(text[note.body_start :]), note.faults)


def chunk_summary(path: str, text: str) -> Chunked:
    """Return a summary's chunks: paragraphs, small neighbours together.

    What has a block id stands alone under it: by that id it may be hidden. The links to sources
    in which a paragraph of ours ends are no part of what it says.
    """
    note = parse_note(text)
    title, time = PurePosixPath(path).stem, _time_of(path, note)
    chunks = []
    for section in sections(note, text):
        at = section.start
        parts: list[tuple[Span, str]] = []
        for block in note.blocks:
            if at <= block.start and block.stop <= section.own_end:
                parts += [((at, block.start), ""), ((block.start, block.end), f"#^{block.id}")]
                at = block.stop
        for part, anchor in (*parts, ((at, section.own_end), "")):
            for span in split(text, part, SUMMARY_TARGET):
                chunk = _section_chunk(text, note, title, section, span)
                said = _SOURCES.sub("", chunk.text).strip()
                if said.lstrip("#").strip() not in ("", section.raw):
                    where = anchor or chunk.anchor
                    chunks.append(replace(chunk, anchor=where, text=said, time=time))
    return Chunked(tuple(chunks), detect(text[note.body_start :]), note.faults)


def sections(note: Note, text: str) -> list[Section]:
    """Return the note's sections in order; the first is what stands above all headings."""
    heads = [(0, "", note.body_start), *((one.level, one.text, one.start) for one in note.headings)]
    found: list[Section] = []
    above: tuple[Section, ...] = ()
    for at, (level, raw, start) in enumerate(heads):
        above = tuple(one for one in above if one.level < level)
        later = range(at + 1, len(heads))
        own_end = heads[at + 1][2] if later else len(text)
        end = next((heads[one][2] for one in later if heads[one][0] <= level), len(text))
        found.append(Section(level, raw, start, own_end, end, above))
        above += (found[-1],)
    return found


def _pieces(note: Note, text: str) -> list[tuple[Section, Span]]:
    """Return what becomes one chunk or, if it is long, several: a section with all below it where
    that is short enough, else its own text.

    A small one joins the next where that is not long or stands below it, under the lower heading.
    """
    found: list[tuple[Section, Span]] = []
    for one in sections(note, text):
        held, (start, end) = found[-1] if found else (one, (0, 0))
        if one.start < end:
            continue
        stop = one.end if one.end - one.start <= WHOLE else one.own_end
        is_below = held in one.above
        if 0 < end - start < SMALL and (is_below or stop - start <= TARGET):
            held = one if is_below else held
            found.pop()
        else:
            held, start = one, one.start
        found.append((held, (start, stop)))
    return found


def _section_chunk(text: str, note: Note, title: str, section: Section, span: Span) -> Chunk:
    raw = (MARKUP.sub(r"\1\2", COMMENT.sub("", one.raw)) for one in (*section.above, section))
    headings = [" ".join(one.split()) for one in raw if one.strip()]
    shown = TITLE_JOINT.join([title, *(headings[1:] if headings[:1] == [title] else headings)])
    said = uncommented(text, span, note.tree.comments)
    return new_chunk(shown, said, span, heading_anchor(section.raw))


def _with_properties(chunks: list[Chunk], note: Note, title: str) -> list[Chunk]:
    """Return chunks, the properties before the first or on their own."""
    lines = []
    for key, value in note.properties.items():
        shown = value_text(value)
        if shown and key.lower() not in _UNSHOWN and shown != note.title_property:
            lines.append(f"{key}: {shown}"[:_MAX_PROPERTY])
    properties = "\n".join(lines)
    if not properties:
        return chunks
    if chunks and len(properties) + len(chunks[0].text) <= WHOLE:
        return [replace(chunks[0], text=f"{properties}\n\n{chunks[0].text}", start=0), *chunks[1:]]
    return [new_chunk(title, properties, (0, note.body_start)), *chunks]


def value_text(value: object) -> str:
    """Return a property's value in one line."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {value_text(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(filter(None, map(value_text, value)))
    return " ".join(str(value).split()) if value is not None else ""


def _time_of(path: str, note: Note) -> str:
    """Return the date that a daily note's name or a property gives, as ISO; else nothing."""
    said = (str(note.properties.get(key, "")).strip() for key in _DATE_KEYS)
    dates = (_DATE.search(PurePosixPath(path).stem), *map(_DATE.match, said))
    return next((date[0] for date in dates if date), "")


# --- canvases, brains, sessions, episodes -------------------------------------------------


def chunk_canvas(path: str, text: str) -> Chunked:
    """Return a chunk for each text node; their spans are the whole file."""
    texts, faults = parse_canvas(text)
    cards = [blank_passages(one) for one in texts]
    title, span = PurePosixPath(path).stem, (0, len(text))
    chunks = [new_chunk(title, said, span) for one in cards for said in pieces(one, TARGET)]
    return Chunked(tuple(chunks), detect(" \n".join(cards)), faults)


def chunk_brain(path: str, text: str) -> Chunked:
    """Return a chunk for each bullet, wherever in the file it stands."""
    found, name = bullets(text), PurePosixPath(path).stem
    chunks = []
    for bullet in found:
        written, until = _WRITTEN.search(bullet.raw), _UNTIL.search(bullet.raw)
        anchor = f"#^{bullet.block}" if bullet.block else heading_anchor(bullet.heading)
        told = f"{bullet.text} (until {until[1]})" if until else bullet.text
        span, time = (bullet.start, bullet.end), written[1] if written else ""
        chunks.append(new_chunk(bullet.heading or name, told, span, anchor, time=time))
    return Chunked(tuple(chunks), detect(" \n".join(bullet.text for bullet in found)))


def chunk_session(path: str, text: str) -> Chunked:
    """Return a chunk for each message, more for a long one; none for an erased one.

    Nor for the words of a request: those are evidence of a fact, which is found in the brain for
    as long as it stands there. Nor for a tool of ours, or one of which only its call is known.
    """
    transcript = parse_session(text)
    session = PurePosixPath(path).stem
    told = (one for one in transcript.messages if not (one.message.asked or one.message.erased))
    other = (one for one in told if not one.message.speaker.startswith(OWN_TOOL))
    said = [one for one in other if one.message.text != CALLED]
    chunks: list[Chunk] = []
    for one in said:
        message, span = one.message, (one.start, one.end)
        said_by = {"speaker": message.speaker, "role": message.role, "time": message.time}
        names = {"session": session, "message": message.id or message.block}
        title = TITLE_JOINT.join(part for part in (session[:10], message.speaker) if part)
        anchor = f"#^{message.block}" if message.block else ""
        parts = pieces(message.text, SAID_TARGET)
        chunks += [new_chunk(title, part, span, anchor, **said_by, **names) for part in parts]
    lang = detect(" \n".join(one.message.text for one in said[:LANGUAGE_MESSAGES]))
    return Chunked(tuple(chunks), lang, transcript.faults)


def chunk_episode(path: str, text: str) -> Chunked:
    """Return an episode's chunks, in the order of the note: its task, what came of it, what was
    decided and committed; each with the block id by which it may be hidden.

    Not the task of one that runs: it is what was just asked, and would answer that question.
    """
    found = front_matter(text)
    held = found.properties if found else {}
    started, outcome = (str(held.get(key) or "") for key in ("started", "outcome"))
    body = found.body_start if found else 0
    title = PurePosixPath(path).stem
    chunks: list[Chunk] = []

    def add(match: re.Match[str], block: str, time: str, came: str = "") -> None:
        anchor = f"#^{block}" if block else ""
        for part in pieces(unescape(match["said"]) + came, SAID_TARGET):
            chunks.append(new_chunk(title, part, match.span(), anchor, time=time or started))

    task = _EPISODE_TITLE.search(text, body)
    if task is not None and unescape(task["said"]) in (_NO_TASK, _LONG_TASK):
        is_below = unescape(task["said"]) == _LONG_TASK
        task = _EPISODE_TASK.search(text, body) if is_below else None
    if task and held.get("state") != "running":
        add(task, TASK, "", f"\nOutcome: {outcome}." if outcome else "")
    for match in islice(_EPISODE_SAID.finditer(text, body), MOST_SAID):
        time = _META_TIME.search(match["meta"] or "")
        add(match, match["block"] or "", time[1] if time else "")
    faults = (found.fault,) if found and found.fault else ()
    return Chunked(tuple(chunks), detect(" \n".join(chunk.text for chunk in chunks)), faults)


_CHUNKERS: dict[Form, Callable[[str, str], Chunked]] = {
    "note": chunk_note,
    "canvas": chunk_canvas,
    "brain": chunk_brain,
    "session": chunk_session,
    "summary": chunk_summary,
    "episode": chunk_episode,
}
