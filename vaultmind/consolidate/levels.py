"""Summaries of several sessions (L1) and of several summaries (L2), as files in the vault.

What waits is read from front matter alone: a session waits for an L1 when it has been
consolidated, carries no `summarised_in` and no L1 names it, an L1 likewise for an L2. A summary's
file is written first, under a number that was never used; then its sources are marked. A kill
between the two leaves marks missing, which the next run adds. A summary is never rewritten.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from vaultmind.config.settings import LevelsConfig
from vaultmind.consolidate.summarise import Paragraph, Source, Summarise, words
from vaultmind.consolidate.types import UNCLEAR, Level, Resources, SummaryDone
from vaultmind.errors import VaultMindError, WriteConflict
from vaultmind.index.words.language import detect
from vaultmind.redact import blank_private, mask
from vaultmind.session.files import iso, recallable
from vaultmind.tokens import count
from vaultmind.types import Caller, Message
from vaultmind.vault.files import FileText
from vaultmind.vault.oneline import escape, unescape
from vaultmind.vault.parts import content_block, parts, plain
from vaultmind.vault.paths import SESSION_ID
from vaultmind.vault.properties import front_matter, set_property
from vaultmind.vault.transcript import parse_meta

LEVELS: tuple[Level, ...] = ("L1", "L2")
SOURCES: dict[Level, str] = {"L1": "sessions", "L2": "l1_summaries"}
"""The property that names what a summary is made of."""
SAMPLE = 60
"""Number of messages by which the language of a summary is told."""

_ID = re.compile(r"L[12]_\d{3,18}")
_LINK = re.compile(r"\[\[([^\[\]|#]+)(?:#\^?([^\[\]|]*))?(?:\|[^\[\]]*)?\]\]")
_OUR_LINKS = re.compile(r"(?: \[\[[^\[\]|]+\|source\]\])+$")
_BLOCK_AT_END = re.compile(r"(?<![ \t])[ \t]+\^[A-Za-z0-9-]+[ \t]*$")
log = logging.getLogger(__name__)


# --- the file ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlacedParagraph:
    """A paragraph of a summary as it stands in its file."""

    text: str
    """Its words, without links at the end and block id."""
    block: str
    links: tuple[tuple[str, str], ...]
    """(path without `.md`, block) of each source."""


def paragraphs_of(text: str) -> tuple[PlacedParagraph, ...]:
    """Return the paragraphs and list items of a summary's file, in order."""
    found = []
    for one in parts(text):
        body = _BLOCK_AT_END.sub("", one.text) if one.block else one.text
        ours = _OUR_LINKS.search(body)
        shown = unescape(body[: ours.start()]) if ours else plain(body)[0]
        links = _LINK.findall(ours.group() if ours else body)
        told = tuple((path.strip(), block) for path, block in links)
        found.append(PlacedParagraph(shown, one.block, told))
    return tuple(found)


def lines_of(paragraphs: Sequence[Paragraph], paths: dict[str, str]) -> list[str]:
    """Return paragraphs as they stand in a file; `paths` are those of the sources, by id."""
    found = []
    for one in paragraphs:
        marks = (mark.partition("#") for mark in one.sources)
        links = dict.fromkeys(
            f"[[{paths[id]}{f'#^{block}' if block else ''}|source]]" for id, _, block in marks
        )
        text = escape(one.text)
        found.append(" ".join([text, *links, f"^{content_block(unescape(text))}"]))
    return found


def _stem(path: str) -> str:
    """Return the name of the file that a link or a path is to, without folder and `.md`."""
    found = _LINK.search(path)
    return (found[1] if found else path).strip().rpartition("/")[2].removesuffix(".md")


# --- making --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Node:
    """A session or a summary, as its front matter says it stands."""

    id: str
    path: str
    mark: str
    """The summary that it says it is in."""
    is_due: bool
    """Whether this device may sum it up now."""
    sources: tuple[str, ...] = ()
    """Names of the files that a summary is made of, without folder and `.md`."""


class Levels:
    """Makes an agent's summaries. One at a time."""

    def __init__(self, with_: Resources, summarise: Summarise, settings: LevelsConfig) -> None:
        self._with = with_
        self._paths = with_.reader.paths
        self._summarise = summarise
        self._sizes = {"L1": settings.l1_sessions, "L2": settings.l2_summaries}
        self._tokens = {"L1": settings.l1_tokens, "L2": settings.l2_tokens}

    def make(self, agent: str, caller: Caller) -> list[SummaryDone]:
        """Make what is due, and add marks that a kill left out; what is there already is left.

        Raises WriteFailed, and WriteConflict where sources change all the while.
        """
        done: list[SummaryDone] = []
        for level in LEVELS:
            number, size = self._number(agent, level), self._sizes[level]
            sources, notes = self._sources(agent, level, self._waiting(agent, level, caller))
            for at in range(0, len(sources) - size + 1, size):
                id = f"{level}_{number + at // size:03d}"
                made = self._made(agent, id, sources[at : at + size], caller)
                done.append(made if at else replace(made, notes=(*made.notes, *notes)))
        return done

    # --- what is due -----------------------------------------------------------------------

    def _summaries(self, agent: str, level: Level) -> list[_Node]:
        """Return an agent's summaries of a level, the lowest number first.

        Where the front matter is broken, all that it links to counts as its sources: nothing is
        summed up twice for a mistyped quote.
        """
        found: list[_Node] = []
        for file in (self._paths.root / self._folder(agent, level)).glob("L*.md"):
            path = f"{self._folder(agent, level)}/{file.name}"
            if not _ID.fullmatch(file.stem):
                continue
            try:
                text = self._with.reader.read(path).text
            except VaultMindError as error:
                log.warning("%s was left out: %s", path, error)
                continue
            front = front_matter(text)
            values, fault = (front.properties, front.fault) if front else ({}, "")
            mark = _stem(str(values.get("summarised_in") or ""))
            links = _LINK.findall(text[front.start : front.end]) if front else []
            sources = tuple(dict.fromkeys(_stem(link) for link, _ in links if _stem(link) != mark))
            ours = not fault and str(values.get("device") or "") in ("", self._with.device)
            found.append(_Node(file.stem, path, mark, ours, sources))
        return sorted(found, key=lambda one: (len(one.id), one.id))

    def _nodes(self, agent: str, level: Level) -> list[_Node]:
        """Return what a summary of a level may be made of, the oldest first."""
        if level == "L2":
            return self._summaries(agent, "L1")
        metas = [(head.id, head.meta) for head in self._with.heads(agent)]
        return [
            _Node(id, self._paths.session(agent, id), _stem(meta.summarised_in),
                  meta.state == "ended" and meta.device in ("", self._with.device)
                  and bool(meta.consolidated) and meta.pending in ("", UNCLEAR))
            for id, meta in metas
        ]  # fmt: skip

    def _waiting(self, agent: str, level: Level, caller: Caller) -> list[_Node]:
        """Return what waits for a summary; marks that a kill left out are added."""
        named = {id: one for one in self._summaries(agent, level) for id in one.sources}
        due = [node for node in self._nodes(agent, level) if node.is_due and not node.mark]
        for node in due:
            if node.id in named:
                self._mark(node.path, named[node.id].path, caller)
        return [node for node in due if node.id not in named]

    def _number(self, agent: str, level: Level) -> int:
        """Return the number after the highest that a summary of a level has, or ever had.

        A source's mark, an audit line and a tombstone name a summary by its number: under one that
        is used again they would vouch for, or hide, what they were never about.
        """
        named = re.compile(rf"(?:^|/|\[\[){level}_(\d{{3,9}})(?!\d)")
        folder, memory = self._folder(agent, level), self._paths.root / self._paths.memory(agent)
        texts = [path.name for path in (self._paths.root / folder).glob("*")]
        texts += [head.raw for head in self._with.heads(agent)]
        files = [*memory.glob("audit-*.jsonl"), *memory.glob("tombstones-*.jsonl")]
        files += (self._paths.root / self._paths.summaries(agent)).glob("L*/*.md")
        texts += [path.read_text("utf-8", "replace") for path in files]
        return max((int(one) for text in texts for one in named.findall(text)), default=0) + 1

    # --- reading and writing -----------------------------------------------------------------

    def _sources(
        self, agent: str, level: Level, nodes: Sequence[_Node]
    ) -> tuple[list[Source], list[str]]:
        """Return sources as far as they may be recalled, and why others cannot be read."""
        found, notes = list[Source](), list[str]()
        for node in nodes:
            try:
                file = self._with.reader.read(node.path)
            except VaultMindError as error:
                notes.append(f"left out: {error.message}")
                continue
            if level == "L1":
                pieces = tuple(self._messages(agent, node.path, file.text))
                days = [parse_meta(file.text).started or node.id[:10], node.id[:10]]
            else:
                pieces = tuple(self._paragraphs(agent, node.path, file.text))
                days = sorted(one[:10] for one in node.sources if SESSION_ID.fullmatch(one)) or [""]
            found.append(Source(node.id, days[0], pieces, days[-1], node.path, file.stat))
        return found, notes

    def _messages(self, agent: str, path: str, text: str) -> Iterator[Message]:
        """Yield a session's messages of people."""
        for one, _ in recallable(agent, path, text, self._with.hides):
            said, mark = mask(one.text).text.strip(), f"{_stem(path)}#{one.block}"
            if said and one.role in ("user", "assistant"):
                yield replace(one, text=said, id=mark)

    def _paragraphs(self, agent: str, path: str, text: str) -> Iterator[Message]:
        """Yield the paragraphs of an L1 that may be recalled, with all that they link to."""
        record, hides = path.removesuffix(".md"), self._with.hides
        for one in paragraphs_of(blank_private(text)):
            named = [(record, one.block), *((_stem(link), block) for link, block in one.links)]
            if not any(block and hides(agent, of, block) for of, block in named):
                yield Message("user", mask(one.text).text, "", f"{_stem(path)}#{one.block}")

    def _made(self, agent: str, id: str, sources: Sequence[Source], caller: Caller) -> SummaryDone:
        """Write a summary's file and mark its sources.

        Raises WriteConflict where its sources are not as they were read, something that it says
        was hidden since, or its number was taken.
        """
        level: Level = "L1" if id.startswith("L1") else "L2"
        pieces = [piece for one in sources for piece in one.pieces]
        own = [piece for piece in pieces if piece.role == "user"] or pieces
        sample = own[:: max(1, len(own) // SAMPLE)]
        language = detect(" \n".join(piece.text for piece in sample)) or "en"
        found = self._summarise(level, sources, language, self._tokens[level])
        ids = tuple(one.id for one in sources)
        if not found.paragraphs:
            found = replace(found, paragraphs=(Paragraph(words(language)[2], ids),))
        paths = {one.id: one.path.removesuffix(".md") for one in sources}
        lines = lines_of(found.paragraphs, paths)
        marks = [mark.partition("#") for one in found.paragraphs for mark in one.sources]
        reader, hides, tokens = self._with.reader, self._with.hides, count(found.text)
        values: dict[str, str | int | list[str]] = {
            "id": id, "agent": agent, SOURCES[level]: [f"[[{path}]]" for path in paths.values()],
            "created": iso(self._with.clock()), "token_count": tokens, "by": found.by,
            "language": language, "device": self._with.device,
        }  # fmt: skip

        def change(file: FileText | None) -> str | None:
            if file or any(reader.stat(one.path) != one.stat for one in sources):
                return None
            records = ((id if SESSION_ID.fullmatch(id) else paths[id], b) for id, _, b in marks)
            if any(block and hides(agent, record, block) for record, block in records):
                return None
            text = f"\n# {_heading(level, sources, language)}\n\n" + "\n\n".join(lines) + "\n"
            for key, value in values.items():
                text = set_property(text, key, value)
            return text

        path = f"{self._folder(agent, level)}/{id}.md"
        if self._with.gate.save(path, change, caller, "a summary of several sources") is None:
            raise WriteConflict(f"{path}, or what it is made of, was changed meanwhile.")
        for one in sources:
            self._mark(one.path, path, caller)
        return SummaryDone(agent, level, id, path, ids, tokens, found.text, found.by, found.notes)

    def _mark(self, path: str, summary: str, caller: Caller) -> None:
        """Write into a source what it is summed up in, where it can say so and does not yet."""

        def change(file: FileText | None) -> str | None:
            found = front_matter(file.text) if file else None
            if file is None or not found or found.fault or found.properties.get("summarised_in"):
                return None
            return set_property(file.text, "summarised_in", f"[[{summary.removesuffix('.md')}]]")

        try:
            self._with.gate.save(path, change, caller, "it is summed up")
        except VaultMindError as error:  # the summary names it: nothing is summed up twice
            log.warning("%s was not marked as summed up: %s", path, error)

    def _folder(self, agent: str, level: Level) -> str:
        return f"{self._paths.summaries(agent)}/{level}"


def _heading(level: Level, sources: Sequence[Source], language: str) -> str:
    """Return the heading of a summary of some days."""
    known = sorted(day for one in sources for day in (one.started[:10], one.ended) if day)
    days = " – ".join(dict.fromkeys([*known[:1], *known[-1:]]))
    return words(language)[level == "L2"].format(days).strip(" ,:")
