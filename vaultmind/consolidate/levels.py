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
from collections.abc import Callable, Iterable, Sequence
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
from vaultmind.session.files import Head, iso, recallable
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
    """A summary that stands in the vault; a person may have made or renamed it."""

    path: str
    stem: str
    """Its file's name without `.md`, which is its id unless it was renamed."""
    id: str
    text: str
    sources: tuple[str, ...]
    """Names of the files it is made of, without folder and `.md`."""
    by: str
    summarised_in: str
    device: str
    fault: str
    """What is wrong with its front matter, in words."""
    is_copy: bool
    """Whether it is a sync program's copy of another that stands, too."""


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


def level_of(id: str) -> Level | None:
    """Return which level an id is of; None for what is no summary's id."""
    if not _ID.fullmatch(id):
        return None
    return "L1" if id.startswith("L1") else "L2"


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
        with self._lock:
            done = [] if dry_run else self._completed(agent, caller)
            for level in LEVELS:
                failed = 0
                while drafts := self._due(agent, level, imported_too, dry_run=dry_run):
                    if dry_run:
                        done += [one.done("would be written") for one in drafts]
                        break
                    draft = drafts[0]
                    report(Progress(len(done), len(done) + 1, draft.id))
                    if self._saved(draft, caller, f"a summary of {len(draft.loaded)} sources"):
                        done.append(draft.done("written"))
                        report(Progress(len(done), len(done), draft.id))
                        continue
                    failed += 1
                    if failed == TRIES:
                        raise _conflict(draft.path)
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
        for one that never was.
        """
        level = level_of(id)
        if level is None:
            raise BadArgument("again", id, "a session's id, or a summary's such as L1_001")
        if not self._with.gate.keeps_records(agent):
            raise BadArgument("agent", agent, "an agent whose records are kept (autonomy 1 to 3)")
        with self._lock:
            report(Progress(0, 1, id))
            for _ in range(TRIES):
                old = next((one for one in self.files(agent, level) if one.id == id), None)
                notes: list[str] = []
                loaded = self._made_of(agent, level, id, old, notes)
                if not loaded:
                    raise NotFound(
                        f"There is no summary {id} of {agent}, and nothing says what it was made "
                        "of.",
                        hint="`vaultmind consolidate --status` says what waits.",
                    )
                path = old.path if old else f"{self._folder(agent, level)}/{id}.md"
                draft = self._draft(agent, id, path, loaded, notes)
                if dry_run:
                    return draft.done("would be written")
                if self._saved(draft, caller, "a summary is made anew", anew=bool(old)):
                    report(Progress(1, 1, id))
                    return draft.done("written")
        raise _conflict(draft.path)

    def left(self, agent: str, *, imported_too: bool = False) -> tuple[int, int]:
        """Return how many more sessions the next L1 waits for, and how many L1 the next L2."""
        sessions = self._sessions_waiting(agent, imported_too=imported_too, done=True)
        return (
            max(0, self._sizes["L1"] - len(sessions)),
            max(0, self._sizes["L2"] - len(self._summaries_waiting(agent))),
        )

    def files(self, agent: str, level: Level, notes: list[str] | None = None) -> list[SummaryFile]:
        """Return an agent's summaries of a level, the lowest number first.

        What cannot be read is left out, and said in `notes`. Where the front matter is broken, all
        that it links to counts as its sources: nothing is summed up twice for a mistyped quote.
        """
        notes = notes if notes is not None else []
        folder = self._folder(agent, level)
        names = sorted(one.name for one in (self._paths.root / folder).glob("[!.]*.md"))
        found: list[SummaryFile] = []
        for name in names:
            path = f"{folder}/{name}"
            try:
                text = self._with.reader.read(path).text
            except VaultMindError as error:
                notes.append(f"{path} was left out: {error.message}")
                continue
            front = front_matter(text)
            values = front.properties if front else {}
            fault = front.fault if front else ""
            if fault:
                notes.append(f"{path}: {fault}; it is not summed up any further")
            stem, id = name[:-3], str(values.get("id") or name[:-3])
            mark = _stem(str(values.get("summarised_in") or ""))
            links = _LINK.findall(text[front.start : front.end]) if front else []
            sources = dict.fromkeys(_stem(link) for link, _ in links if _stem(link) != mark)
            by, device = str(values.get("by") or ""), str(values.get("device") or "")
            copy = stem != id and f"{id}.md" in names
            found.append(
                SummaryFile(path, stem, id, text, tuple(sources), by, mark, device, fault, copy)
            )
        return sorted(found, key=lambda one: (level_of(one.id) is None, len(one.id), one.id))

    # --- what is due -----------------------------------------------------------------------

    def _due(self, agent: str, level: Level, imported_too: bool, *, dry_run: bool) -> list[_Draft]:
        """Return the next summary of a level that is due; in a dry run all that are."""
        notes: list[str] = []
        number = self._number(agent, level)  # before the sources: who takes it meanwhile is seen
        if level == "L1":
            waiting = self._sessions_waiting(
                agent, imported_too=imported_too, done=not dry_run, notes=notes
            )
            loaded = self._loading(self._session, agent, waiting, notes)
        else:
            loaded = self._loading(
                self._summary, agent, self._summaries_waiting(agent, notes), notes
            )
        size, drafts = self._sizes[level], list[_Draft]()
        for at in range(0, len(loaded) - size + 1, size):
            id = f"{level}_{number + len(drafts):03d}"
            path = f"{self._folder(agent, level)}/{id}.md"
            drafts.append(self._draft(agent, id, path, loaded[at : at + size], notes))
            if not dry_run:
                break
        return drafts

    def _loading(
        self,
        load: Callable[[str, Key], _Loaded],
        agent: str,
        keys: Iterable[Key],
        notes: list[str],
    ) -> list[_Loaded]:
        found = []
        for key in keys:
            try:
                found.append(load(agent, key))
            except VaultMindError as error:
                notes.append(f"left out: {error.message}")
        return found

    def _sessions_waiting(
        self,
        agent: str,
        *,
        imported_too: bool,
        done: bool,
        notes: list[str] | None = None,
    ) -> list[str]:
        """Return the sessions that wait for an L1, oldest first; `done`: only consolidated ones."""
        named = {source for one in self.files(agent, "L1", notes) for source in one.sources}
        return [
            head.id
            for head in self._with.heads(agent)
            if self._is_ours(head)
            and not head.meta.summarised_in
            and head.id not in named
            and (imported_too or not head.meta.source)
            and (not done or (bool(head.meta.consolidated) and not head.meta.pending))
        ]

    def _summaries_waiting(self, agent: str, notes: list[str] | None = None) -> list[SummaryFile]:
        """Return the L1 that wait for an L2, the lowest number first."""
        named = {source for one in self.files(agent, "L2", notes) for source in one.sources}
        return [
            one
            for one in self.files(agent, "L1")
            if one.device in ("", self._with.device)
            and not (one.is_copy or one.fault or one.summarised_in)
            and named.isdisjoint((one.stem, one.id))
        ]

    def _is_ours(self, head: Head) -> bool:
        return head.meta.state == "ended" and head.meta.device in ("", self._with.device)

    def _made_of(
        self, agent: str, level: Level, id: str, old: SummaryFile | None, notes: list[str]
    ) -> list[_Loaded]:
        """Return what a summary is made of: by its own front matter, or by its sources' marks."""
        names = old.sources if old else ()
        if level == "L1":
            heads = [(one.id, _stem(one.meta.summarised_in)) for one in self._with.heads(agent)]
            ids = [one for one, mark in heads if one in names or (not names and mark == id)]
            return self._loading(self._session, agent, ids, notes)
        found = [
            one
            for one in self.files(agent, "L1")
            if not one.is_copy
            and (one.stem in names or one.id in names or (not names and one.summarised_in == id))
        ]
        return self._loading(self._summary, agent, found, notes)

    def _number(self, agent: str, level: Level) -> int:
        """Return the number after the highest that a summary of a level has, or ever had.

        A session's mark, an audit line and a tombstone name a summary by its number: under one
        that is used again they would vouch for, or hide, what they were never about.
        """
        own = re.compile(rf"\b{level}_(\d{{3,18}})(?!\d)")
        logged = re.compile(rf'/summaries/{level}/{level}_(\d{{3,18}})(?:\.md)?"')
        every = [*self.files(agent, "L1"), *self.files(agent, "L2")]
        texts = [head.meta.summarised_in for head in self._with.heads(agent)]
        texts += [text for one in every for text in (one.id, one.summarised_in, *one.sources)]
        folder = self._paths.root / self._folder(agent, level)
        texts += [path.name for path in folder.glob("*")]
        used = {int(number) for text in texts for number in own.findall(text)}
        memory = self._paths.root / self._paths.memory(agent)
        for log_file in (*memory.glob("audit-*.jsonl"), *memory.glob("tombstones-*.jsonl")):
            used.update(map(int, logged.findall(log_file.read_text("utf-8", "replace"))))
        return max((one for one in used if one < MOST), default=0) + 1

    # --- reading and writing -----------------------------------------------------------------

    def _session(self, agent: str, id: str) -> _Loaded:
        """Return a session's messages of people. Raises NotFound, UnreadableNote, PathRefused."""
        with_ = self._with
        path = self._paths.session(agent, id)
        file = with_.reader.read(path)
        told = recallable(agent, path, file.text, with_.hides)
        pieces = tuple(
            Piece(one.block, text, one.speaker, one.role)
            for one, _ in told
            if one.role in ("user", "assistant") and (text := mask(one.text).text.strip())
        )
        started = parse_meta(file.text).started or id[:10]
        return _Loaded(Source(id, started, pieces), path, file.stat, (id[:10],))

    def _summary(self, agent: str, one: SummaryFile) -> _Loaded:
        """Return the paragraphs of an L1 that may be recalled, with all that they link to."""
        file = self._with.reader.read(one.path)
        record, hides = one.path.removesuffix(".md"), self._with.hides
        pieces = tuple(
            Piece(placed.block, mask(placed.text).text)
            for placed in paragraphs_of(blank_private(file.text))
            if not (placed.block and hides(agent, record, placed.block))
            and not any(block and hides(agent, _stem(path), block) for path, block in placed.links)
        )
        days = tuple(sorted(name[:10] for name in one.sources if SESSION_ID.fullmatch(name)))
        return _Loaded(Source(one.stem, days[0] if days else "", pieces), one.path, file.stat, days)

    def _draft(
        self, agent: str, id: str, path: str, loaded: Sequence[_Loaded], notes: Sequence[str]
    ) -> _Draft:
        level = level_of(id) or "L1"
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

    def _completed(self, agent: str, caller: Caller) -> list[SummaryDone]:
        """Add the marks that are missing on what summaries name; return which these are."""
        unmarked = {
            head.id: self._paths.session(agent, head.id)
            for head in self._with.heads(agent)
            if self._is_ours(head) and not head.meta.summarised_in
        }
        for low in self.files(agent, "L1"):
            if not (low.summarised_in or low.is_copy or low.fault) and low.device in (
                "",
                self._with.device,
            ):
                unmarked[low.id] = unmarked[low.stem] = low.path
        done = []
        for level in LEVELS:
            for one in (one for one in self.files(agent, level) if not one.is_copy):
                paths = {unmarked[name] for name in one.sources if name in unmarked}
                summary = one.path.removesuffix(".md")
                if sum(self._mark(path, summary, caller) for path in sorted(paths)):
                    text = "\n\n".join(placed.text for placed in paragraphs_of(one.text))
                    done.append(
                        SummaryDone(
                            agent, level, one.id, one.path, one.sources, count(text), text, one.by,
                            "completed",
                        )
                    )  # fmt: skip
        return done

    def _folder(self, agent: str, level: Level) -> str:
        return f"{self._paths.summaries(agent)}/{level}"


def _conflict(path: str) -> WriteConflict:
    return WriteConflict(f"{path}, or what it is made of, kept changing.")
