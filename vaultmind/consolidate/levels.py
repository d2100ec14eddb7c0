"""Summaries of several sessions (L1) and of several summaries (L2), as files in the vault.

What waits is read from front matter alone: a session waits for an L1 when it has been
consolidated, carries no `summarised_in` and no L1 names it, an L1 likewise for an L2. A summary's
file is written first, under a number that was never used; then its sources are marked. A kill
between the two leaves marks missing, which the next run adds. What a person typed or changed in a
summary is never rewritten.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from vaultmind.config.settings import LevelsConfig
from vaultmind.consolidate.summarise import (
    Paragraph,
    Piece,
    Source,
    Summariser,
    Summary,
    heading,
    nothing_said,
)
from vaultmind.consolidate.types import Level, Resources, SummaryDone
from vaultmind.errors import BadArgument, NotFound, VaultMindError, WriteConflict
from vaultmind.index.words.language import detect
from vaultmind.ports import Report, silent
from vaultmind.redact import blank_private, mask
from vaultmind.session.files import iso, recallable
from vaultmind.tokens import count
from vaultmind.types import Caller, Progress
from vaultmind.vault.bullets import plain
from vaultmind.vault.edits import newline_of, set_property, with_newlines
from vaultmind.vault.files import FileStat, FileText
from vaultmind.vault.oneline import escape, unescape
from vaultmind.vault.parts import Part, content_block, parts
from vaultmind.vault.paths import SESSION_ID
from vaultmind.vault.properties import front_matter
from vaultmind.vault.session_meta import parse_meta

LEVELS: tuple[Level, ...] = ("L1", "L2")
SOURCES: dict[Level, str] = {"L1": "sessions", "L2": "l1_summaries"}
"""The property that names what a summary is made of."""
TRIES = 5
"""How often a summary is planned anew because its sources or its number changed meanwhile."""
SAMPLE = 60
"""Number of messages by which the language of a summary is told."""
MOST = 10**9
"""A number from here on is no count of ours: a file of that name was typed."""

_ID = re.compile(r"L[12]_\d{3,18}")
_LINK = re.compile(r"\[\[([^\[\]|#]+)(?:#\^?([^\[\]|]*))?(?:\|[^\[\]]*)?\]\]")
_OUR_LINKS = re.compile(r"(?: \[\[[^\[\]|]+\|source\]\])+$")
_BLOCK_AT_END = re.compile(r"(?<![ \t])[ \t]+\^[A-Za-z0-9-]+[ \t]*$")
log = logging.getLogger(__name__)
Key = TypeVar("Key")


# --- the file ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SummaryFile:
    """A summary that stands in the vault, under a name of ours."""

    path: str
    id: str
    text: str
    sources: tuple[str, ...]
    """Names of the files it is made of, without folder and `.md`."""
    mark: str
    """The summary that it is in itself."""
    device: str
    fault: str
    """What is wrong with its front matter, in words."""


@dataclass(frozen=True, slots=True)
class PlacedParagraph:
    """A paragraph of a summary as it stands in its file."""

    text: str
    """Its words, without links at the end and block id."""
    block: str
    links: tuple[tuple[str, str], ...]
    """(path without `.md`, block) of each source."""
    start: int
    end: int

    @property
    def is_ours(self) -> bool:
        """Tell whether it stands as we wrote it: its id is made of its words."""
        return bool(self.block) and self.block == content_block(self.text)


def paragraphs_of(text: str) -> tuple[PlacedParagraph, ...]:
    """Return the paragraphs and list items of a summary's file, in order."""
    return tuple(_placed(one, text) for one in parts(text))


def _placed(part: Part, text: str) -> PlacedParagraph:
    body = _BLOCK_AT_END.sub("", part.text) if part.block else part.text
    ours = _OUR_LINKS.search(body)
    shown = unescape(body[: ours.start()]) if ours else plain(body)[0]
    links = tuple(
        (path.strip(), block) for path, block in _LINK.findall(ours.group() if ours else body)
    )
    end = part.start + len(part.text)
    if part.block and (named := re.compile(rf"\s*\^{part.block}").match(text, end)):
        end = named.end()
    return PlacedParagraph(shown, part.block, links, part.start, end)


def lines_of(paragraphs: Sequence[Paragraph], paths: dict[str, str]) -> list[str]:
    """Return paragraphs as they stand in a file; `paths` are those of the sources, by id."""
    found = []
    for one in paragraphs:
        marks = (mark.partition("#") for mark in one.sources)
        links = dict.fromkeys(
            f"[[{paths[id]}{f'#^{block}' if block else ''}|source]]"
            for id, _, block in marks
            if id in paths
        )
        text = escape(one.text)
        found.append(" ".join([text, *links, f"^{content_block(unescape(text))}"]))
    return found


def rewritten(text: str, lines: Sequence[str]) -> str:
    """Return a summary's file with new paragraphs of ours in the place of the old ones.

    What a person typed or changed stays, to the byte; where that tells of a source already, or
    has the id of a line, nothing of ours stands beside it.
    """
    theirs = [one for one in paragraphs_of(text) if not one.is_ours]
    told = {_stem(path) for one in theirs for path, _ in one.links}
    blocks = {one.block for one in theirs}
    new = [
        line
        for line in lines
        for one in paragraphs_of(line)
        if one.block not in blocks and not (one.links and {_stem(p) for p, _ in one.links} <= told)
    ]
    own = [one for one in paragraphs_of(text) if one.is_ours]
    newline = newline_of(text)
    for one in reversed(own):
        text = text[: one.start] + text[one.end :].lstrip("\r\n")
    if not new:
        return text
    body = with_newlines("\n\n".join(new), newline)
    if not own:
        return f"{text.rstrip()}{newline * 2}{body}{newline}"
    at = own[0].start
    gap = newline * 2 if text[at:].strip() else newline
    return f"{text[:at]}{body}{gap}{text[at:]}"


def _stem(path: str) -> str:
    """Return the name of the file that a link or a path is to, without folder and `.md`."""
    found = _LINK.search(path)
    return (found[1] if found else path).strip().rpartition("/")[2].removesuffix(".md")


def _marking(summary: str, file: FileText | None) -> str | None:
    """Return a source's text with its mark; None where it has one or cannot get one."""
    found = front_matter(file.text) if file else None
    if file is None or found is None or found.fault or found.properties.get("summarised_in"):
        return None
    return set_property(file.text, "summarised_in", f"[[{summary}]]")


# --- making --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Node:
    """What a summary may be made of: a session, for an L2 an L1."""

    id: str
    path: str
    mark: str
    """The summary that it says it is in."""
    is_ours: bool
    """Whether it has ended, and this device may sum it up."""
    is_due: bool = True
    """Whether it is consolidated, and its turn comes by itself."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A source that was read, and what tells that its file has changed since."""

    source: Source
    path: str
    stat: FileStat | None
    days: tuple[str, ...]
    """ISO dates that it speaks of."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """A summary that is written and not yet saved."""

    agent: str
    level: Level
    id: str
    path: str
    loaded: tuple[_Loaded, ...]
    summary: Summary
    language: str
    notes: tuple[str, ...]

    def done(self, outcome: Literal["written", "would be written"]) -> SummaryDone:
        """Return what became of it."""
        text = self.summary.text
        sources = tuple(one.source.id for one in self.loaded)
        notes = (*self.summary.notes, *self.notes)
        return SummaryDone(
            self.agent, self.level, self.id, self.path, sources, count(text), text,
            self.summary.by, outcome, notes,
        )  # fmt: skip


class Levels:
    """Makes an agent's summaries. Any thread; one at a time."""

    def __init__(self, with_: Resources, summariser: Summariser, settings: LevelsConfig) -> None:
        self._with = with_
        self._paths = with_.reader.paths
        self._summariser = summariser
        self._sizes = {"L1": settings.l1_sessions, "L2": settings.l2_summaries}
        self._tokens = {"L1": settings.l1_tokens, "L2": settings.l2_tokens}
        self._lock = threading.Lock()

    def make(
        self,
        agent: str,
        caller: Caller,
        *,
        dry_run: bool = False,
        imported_too: bool = False,
        report: Report = silent,
    ) -> tuple[SummaryDone, ...]:
        """Make what is due, and add marks that a kill left out; what is there already is left.

        A dry run takes every ended session as consolidated, and tells of no L2 of L1 that it would
        make. Raises WriteFailed, WriteConflict.
        """
        if not self._with.gate.keeps_records(agent):
            return ()
        done: list[SummaryDone] = []
        with self._lock:
            for level in LEVELS:
                failed = 0
                while drafts := self._due(agent, level, caller, imported_too, dry_run=dry_run):
                    if dry_run:
                        done += [one.done("would be written") for one in drafts]
                        break
                    report(Progress(len(done), len(done) + 1, drafts[0].id))
                    if self._saved(drafts[0], caller, "a summary of several sources"):
                        done.append(drafts[0].done("written"))
                        continue
                    failed += 1
                    if failed == TRIES:
                        raise _conflict(drafts[0].path)
        return tuple(done)

    def again(
        self,
        agent: str,
        id: str,
        caller: Caller,
        *,
        dry_run: bool = False,
        report: Report = silent,
    ) -> SummaryDone:
        """Make one summary anew, under its id, of what may be recalled of its sources now.

        What a person typed into it stays. Raises BadArgument for what is no summary's id, NotFound
        for one that is not there.
        """
        if not _ID.fullmatch(id):
            raise BadArgument("again", id, "a session's id, or a summary's such as L1_001")
        if not self._with.gate.keeps_records(agent):
            raise BadArgument("agent", agent, "an agent whose records are kept (autonomy 1 to 3)")
        level: Level = "L1" if id.startswith("L1") else "L2"
        with self._lock:
            report(Progress(0, 1, id))
            path = f"{self._folder(agent, level)}/{id}.md"
            for _ in range(TRIES):
                old = next((one for one in self._files(agent, level) if one.id == id), None)
                notes: list[str] = []
                nodes = [
                    one
                    for one in self._nodes(agent, level)
                    if (one.id in old.sources if old else one.mark == id)
                ]
                loaded = self._loaded(agent, level, nodes, notes)
                if not loaded:
                    raise NotFound(
                        f"There is no summary {id} of {agent}, or nothing is left of its sources.",
                        hint="`vaultmind consolidate --status` says what waits.",
                    )
                draft = self._draft(agent, id, path, loaded, notes)
                if dry_run:
                    return draft.done("would be written")
                if self._saved(draft, caller, "a summary is made anew", anew=bool(old)):
                    report(Progress(1, 1, id))
                    return draft.done("written")
        raise _conflict(path)

    def left(self, agent: str, *, imported_too: bool = False) -> tuple[int, int]:
        """Return how many more sessions the next L1 waits for, and how many L1 the next L2."""
        waiting = (len(self._waiting(agent, level, imported_too)) for level in LEVELS)
        first, second = (
            max(0, self._sizes[one] - n) for one, n in zip(LEVELS, waiting, strict=True)
        )
        return first, second

    # --- what is due -----------------------------------------------------------------------

    def _files(self, agent: str, level: Level, notes: list[str] | None = None) -> list[SummaryFile]:
        """Return an agent's summaries of a level, the lowest number first.

        What cannot be read is left out, and said in `notes`. Where the front matter is broken, all
        that it links to counts as its sources: nothing is summed up twice for a mistyped quote.
        """
        notes = notes if notes is not None else []
        found: list[SummaryFile] = []
        for file in sorted((self._paths.root / self._folder(agent, level)).glob("L*.md")):
            path = f"{self._folder(agent, level)}/{file.name}"
            if not _ID.fullmatch(file.stem):
                continue
            try:
                text = self._with.reader.read(path).text
            except VaultMindError as error:
                notes.append(f"{path} was left out: {error.message}")
                continue
            front = front_matter(text)
            values, fault = (front.properties, front.fault) if front else ({}, "")
            if fault:
                notes.append(f"{path}: {fault}; it is not summed up any further")
            mark = _stem(str(values.get("summarised_in") or ""))
            links = _LINK.findall(text[front.start : front.end]) if front else []
            sources = tuple(dict.fromkeys(_stem(link) for link, _ in links if _stem(link) != mark))
            device = str(values.get("device") or "")
            found.append(SummaryFile(path, file.stem, text, sources, mark, device, fault))
        return sorted(found, key=lambda one: (len(one.id), one.id))

    def _nodes(self, agent: str, level: Level, *, imported_too: bool = True) -> list[_Node]:
        """Return what a summary of a level may be made of, the oldest first."""
        own = ("", self._with.device)
        if level == "L2":
            return [
                _Node(one.id, one.path, one.mark, one.device in own and not one.fault)
                for one in self._files(agent, "L1")
            ]
        return [
            _Node(
                head.id,
                self._paths.session(agent, head.id),
                _stem(head.meta.summarised_in),
                head.meta.state == "ended"
                and head.meta.device in own
                and (imported_too or not head.meta.source),
                bool(head.meta.consolidated) and not head.meta.pending,
            )
            for head in self._with.heads(agent)
        ]

    def _waiting(
        self,
        agent: str,
        level: Level,
        imported_too: bool,
        notes: list[str] | None = None,
        *,
        done: bool = True,
        caller: Caller | None = None,
    ) -> list[_Node]:
        """Return what waits for a summary; with a `caller` marks that a kill left out are added."""
        named = {id: one for one in self._files(agent, level, notes) for id in one.sources}
        found = []
        for node in self._nodes(agent, level, imported_too=imported_too):
            if not node.is_ours or node.mark:
                continue
            if node.id not in named:
                found += [node] if node.is_due or not done else []
            elif caller:
                self._mark(node.path, named[node.id].path.removesuffix(".md"), caller)
        return found

    def _due(
        self, agent: str, level: Level, caller: Caller, imported_too: bool, *, dry_run: bool
    ) -> list[_Draft]:
        """Return the next summary of a level that is due; in a dry run all that are."""
        notes: list[str] = []
        number = self._number(agent, level)  # before the sources: who takes it meanwhile is seen
        by = None if dry_run else caller
        nodes = self._waiting(agent, level, imported_too, notes, done=not dry_run, caller=by)
        loaded = self._loaded(agent, level, nodes, notes)
        size, drafts = self._sizes[level], list[_Draft]()
        for at in range(0, len(loaded) - size + 1, size):
            id = f"{level}_{number + len(drafts):03d}"
            path = f"{self._folder(agent, level)}/{id}.md"
            drafts.append(self._draft(agent, id, path, loaded[at : at + size], notes))
            if not dry_run:
                break
        return drafts

    def _number(self, agent: str, level: Level) -> int:
        """Return the number after the highest that a summary of a level has, or ever had.

        A source's mark, an audit line and a tombstone name a summary by its number: under one that
        is used again they would vouch for, or hide, what they were never about.
        """
        own = re.compile(rf"\b{level}_(\d{{3,9}})(?!\d)")
        folder = self._paths.root / self._folder(agent, level)
        texts = [path.name for path in folder.glob("*")]
        texts += [node.mark for node in self._nodes(agent, level)]
        texts += [id for one in self._files(agent, "L2") for id in one.sources]
        used = {int(number) for text in texts for number in own.findall(text)}
        logged = re.compile(rf'/summaries/{level}/{level}_(\d{{3,9}})(?:\.md)?"')
        memory = self._paths.root / self._paths.memory(agent)
        for log_file in (*memory.glob("audit-*.jsonl"), *memory.glob("tombstones-*.jsonl")):
            used.update(map(int, logged.findall(log_file.read_text("utf-8", "replace"))))
        return max(used, default=0) + 1

    # --- reading and writing -----------------------------------------------------------------

    def _loaded(
        self, agent: str, level: Level, nodes: Iterable[_Node], notes: list[str]
    ) -> list[_Loaded]:
        """Return sources as far as they may be recalled; what cannot be read is noted."""
        found = []
        for node in nodes:
            try:
                file = self._with.reader.read(node.path)
            except VaultMindError as error:
                notes.append(f"left out: {error.message}")
                continue
            read = self._session if level == "L1" else self._summary
            source, days = read(agent, node, file.text)
            found.append(_Loaded(source, node.path, file.stat, days))
        return found

    def _session(self, agent: str, node: _Node, text: str) -> tuple[Source, tuple[str, ...]]:
        """Return a session's messages of people."""
        pieces = tuple(
            Piece(one.block, masked, one.speaker, one.role)
            for one, _ in recallable(agent, node.path, text, self._with.hides)
            if one.role in ("user", "assistant") and (masked := mask(one.text).text.strip())
        )
        day = node.id[:10]
        return Source(node.id, parse_meta(text).started or day, pieces), (day,)

    def _summary(self, agent: str, node: _Node, text: str) -> tuple[Source, tuple[str, ...]]:
        """Return the paragraphs of an L1 that may be recalled, with all that they link to."""
        record, hides = node.path.removesuffix(".md"), self._with.hides
        pieces = tuple(
            Piece(placed.block, mask(placed.text).text)
            for placed in paragraphs_of(blank_private(text))
            if not (placed.block and hides(agent, record, placed.block))
            and not any(block and hides(agent, _stem(path), block) for path, block in placed.links)
        )
        front = front_matter(text)
        links = _LINK.findall(text[front.start : front.end]) if front else []
        names = {_stem(link) for link, _ in links}
        days = tuple(sorted(name[:10] for name in names if SESSION_ID.fullmatch(name)))
        return Source(node.id, days[0] if days else "", pieces), days

    def _draft(
        self, agent: str, id: str, path: str, loaded: Sequence[_Loaded], notes: Sequence[str]
    ) -> _Draft:
        level: Level = "L1" if id.startswith("L1") else "L2"
        sources = [one.source for one in loaded]
        pieces = [piece for one in sources for piece in one.pieces]
        own = [piece for piece in pieces if piece.role == "user"] or pieces
        sample = own[:: max(1, len(own) // SAMPLE)]
        language = detect(" \n".join(piece.text for piece in sample)) or "en"
        summary = self._summariser.level(level, sources, language, self._tokens[level])
        if not summary.paragraphs:
            nothing = Paragraph(nothing_said(language), tuple(one.id for one in sources))
            summary = Summary((nothing,), summary.by, summary.notes)
        return _Draft(agent, level, id, path, tuple(loaded), summary, language, tuple(notes))

    def _saved(self, draft: _Draft, caller: Caller, reason: str, *, anew: bool = False) -> bool:
        """Write a summary's file and mark its sources; `anew`: over the one that stands.

        Tell whether it was: not where its sources are not as they were read, something that it
        says was hidden since, or its number was taken.
        """
        paths = {one.source.id: one.path.removesuffix(".md") for one in draft.loaded}
        lines = lines_of(draft.summary.paragraphs, paths)
        marks = [mark.partition("#") for one in draft.summary.paragraphs for mark in one.sources]
        reader, hides = self._with.reader, self._with.hides

        def change(file: FileText | None) -> str | None:
            changed = any(reader.stat(one.path) != one.stat for one in draft.loaded)
            hidden = any(
                block and hides(draft.agent, id if SESSION_ID.fullmatch(id) else paths[id], block)
                for id, _, block in marks
            )
            if (file is None) == anew or changed or hidden:
                return None
            if file is not None:
                return self._with_properties(draft, rewritten(file.text, lines))
            days = sorted({day for one in draft.loaded for day in one.days}) or [""]
            title = heading(draft.level, days[0], days[-1], draft.language)
            return self._with_properties(draft, "\n\n".join([f"\n# {title}", *lines]) + "\n")

        if self._with.gate.save(draft.path, change, caller, reason) is None:
            return False
        summary = draft.path.removesuffix(".md")
        for one in draft.loaded:
            self._mark(one.path, summary, caller)
        return True

    def _with_properties(self, draft: _Draft, text: str) -> str:
        values: dict[str, str | int | list[str]] = {
            "id": draft.id,
            "agent": draft.agent,
            SOURCES[draft.level]: [f"[[{one.path.removesuffix('.md')}]]" for one in draft.loaded],
            "created": iso(self._with.clock()),
            "token_count": count("\n\n".join(one.text for one in paragraphs_of(text))),
            "by": draft.summary.by,
            "language": draft.language,
            "device": self._with.device,
        }
        for key, value in values.items():
            text = set_property(text, key, value)
        return text

    def _mark(self, path: str, summary: str, caller: Caller) -> bool:
        """Write into a source what it is summed up in; tell whether that was missing."""
        try:
            saved = self._with.gate.save(
                path, lambda file: _marking(summary, file), caller, "it is summed up"
            )
        except VaultMindError as error:  # the summary names it: nothing is summed up twice
            log.warning("%s was not marked as summed up: %s", path, error)
            return False
        return saved is not None

    def _folder(self, agent: str, level: Level) -> str:
        return f"{self._paths.summaries(agent)}/{level}"


def _conflict(path: str) -> WriteConflict:
    return WriteConflict(f"{path}, or what it is made of, kept changing.")
