"""Who is asked in a replay: routing by type alone, searches, and the planner, over one source.

The tree of each step is one linked folder (or a vault), with an index and a source of its own
that follow it from step to step as they follow a person's edits. Its clock stands at the step's.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from example import NothingForgotten
from history import Step

from vaultmind import tokens
from vaultmind.config import Config, IndexConfig
from vaultmind.index.columns import Columns, Where
from vaultmind.index.db import Database
from vaultmind.index.folder import VaultFolder
from vaultmind.index.index import Index
from vaultmind.index.matching import Matcher
from vaultmind.index.notes import Chunked, Place
from vaultmind.index.outlet import Outlet
from vaultmind.index.sync import Prepared, store
from vaultmind.planner.layers import explore
from vaultmind.planner.plan import Planner
from vaultmind.planner.source import Source
from vaultmind.planner.sources import Sources, described, folder_indexes
from vaultmind.planner.task import understand
from vaultmind.planner.types import Plan, PlanRequest
from vaultmind.ports import Embedder
from vaultmind.types import PERSON, Chunk, SearchRequest
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

CUT = 10
_FOUND = 400
"""Passages that a search is asked for: ten files of them."""
_PASSAGE = 1200
_MAX_BYTES = 1_000_000
_WAIT_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a row would have one read: files best first, and how many tokens that takes."""

    files: tuple[str, ...]
    tokens: int
    took_ms: float = 0.0


class Row(Protocol):
    """Somebody who is asked. Sees a step's tree, message and time, and nothing else."""

    name: str

    def ask(self, step: Step) -> Answer:
        """Return what to read for the step's task."""
        ...


class Then:
    """A clock that stands where it is put."""

    def __init__(self) -> None:
        self.now = datetime.fromtimestamp(0, UTC)

    def __call__(self) -> datetime:
        """Return the time it was put to."""
        return self.now


class One(Sources):
    """The one source of a replay, whatever it is called."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def find(self, name_or_root: str) -> Source:
        """Return it."""
        return self._source

    def all(self) -> tuple[Source, ...]:
        """Return it alone."""
        return (self._source,)


class Room:
    """A source over a replay's tree, opened at its first step."""

    def __init__(self, state: Path, embedder: Embedder | None, *, vault: bool = False) -> None:
        self._state = state
        self._embedder = embedder
        self._vault = vault
        self._at: Step | None = None
        self._source: Source | None = None
        self.clock = Then()

    def close(self) -> None:
        """Let go of the source."""
        if self._source is not None:
            self._source.index.close()

    @property
    def source(self) -> Source:
        """Return the source as it stands at the step that was followed last."""
        assert self._source is not None
        return self._source

    def follow(self, step: Step) -> Source:
        """Bring the source to a step's tree; at once where it stands there."""
        if self._at is step:
            return self.source
        self.clock.now = step.now
        if self._source is None:
            self._source = self._open(step.root)
        else:
            self._source.index.refresh(step.touched)
        index = self._source.index
        ready = index.wait_ready(_WAIT_SECONDS, vectors=self._embedder is not None)
        if not ready:
            sys.exit(f"The index was not ready: {index.state()}")
        self._source.settle(_WAIT_SECONDS)
        self._at = step
        return self._source

    def _open(self, root: Path) -> Source:
        self._state.mkdir(parents=True, exist_ok=True)
        name = "use" if self._embedder else "none"
        settings = replace(IndexConfig(), embedder=name, watch=False, reconcile_minutes=1440.0)
        config = Config(root, self._state, index=settings)
        nothing, lend = NothingForgotten(), lambda: self._embedder
        outlet = Outlet(VaultFolder(VaultPaths(root)), nothing, nothing)
        if self._vault:
            index = Index(config, outlet, clock=self.clock, embedder=lend, describe=described)
        else:
            opens = folder_indexes(config, outlet, lend, self.clock)
            index = opens(root, self._state)
        index.start()
        return Source("past", "vault" if self._vault else "linked", index, self.clock)


class Routing:
    """The layers of the kind of task, and the files that these put first: blind to the words."""

    name = "routing by type"

    def __init__(self, room: Room) -> None:
        self._room = room

    def ask(self, step: Step) -> Answer:
        """Return the first files of the layers, and what exploring these takes."""
        source = self._room.follow(step)
        began = time.perf_counter()
        kind = understand(step.commit.message, source.name).predicted
        explored = explore(source, kind, detail="compact")
        starts = (line.removeprefix("- ").partition(" ")[0] for line in explored.text.split("\n"))
        known = source.records()
        files = [*dict.fromkeys(one.rstrip(":") for one in starts if one.rstrip(":") in known)][
            :CUT
        ]
        took_ms = (time.perf_counter() - began) * 1000
        return Answer(tuple(files), explored.tokens, took_ms)


class Search:
    """What `vaultmind search --source` finds: the ranker over words (and meaning)."""

    name = "search"

    def __init__(self, room: Room, budget: int) -> None:
        self._room = room
        self._budget = budget

    def ask(self, step: Step) -> Answer:
        """Return the files of the first hits, one a file."""
        source = self._room.follow(step)
        request = SearchRequest(step.commit.message, limit=CUT, per_note=1, max_tokens=self._budget)
        began = time.perf_counter()
        hits = source.index.search(request, PERSON).hits
        took_ms = (time.perf_counter() - began) * 1000
        files = tuple(dict.fromkeys(hit.path for hit in hits))
        return Answer(files, sum(tokens.count(hit.text) for hit in hits), took_ms)


class Planned:
    """The planner without a model."""

    name = "planner"

    def __init__(self, room: Room, budget: int) -> None:
        self._room = room
        self._budget = budget
        self._planner: Planner | None = None

    def plan(self, step: Step) -> Plan:
        """Return the plan of a step's task."""
        source = self._room.follow(step)
        if self._planner is None:
            self._planner = self._made(One(source), self._room.clock)
        source.settle(_WAIT_SECONDS)
        request = PlanRequest(source.name, step.commit.message, token_budget=self._budget)
        return self._planner.plan(request, PERSON)

    def _made(self, sources: Sources, clock: Then) -> Planner:
        """Return a planner."""
        return Planner(sources, clock)

    def ask(self, step: Step) -> Answer:
        """Return the plan's files and tokens."""
        plan = self.plan(step)
        return Answer(plan.context.files, tokens.count(plan.context.text), plan.took_ms)


class TextSearch:
    """Full text alone, over passages of a tree's text files, in the order of the best of each."""

    name = "text search"

    def __init__(self, folder: Path) -> None:
        self._database = Database(folder / "words.db")
        self._columns = Columns(self._database)
        self._matcher = Matcher(self._columns)

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def ask(self, step: Step) -> Answer:
        """Return the files with the best passages."""
        self._follow(step)
        began = time.perf_counter()
        self._columns.follow()
        everything = self._columns.mask(Where())
        found = self._matcher.match(step.commit.message, everything, _FOUND).found
        with self._database.read() as connection:
            rows = connection.execute("SELECT rowid, path, text FROM chunks").fetchall()
        took_ms = (time.perf_counter() - began) * 1000
        known = {rowid: (path, text) for rowid, path, text in rows}
        best: dict[str, str] = {}
        for rowid in self._columns.rows["rowid"][found].tolist():
            path, text = known[rowid]
            best.setdefault(path, text)
        read = list(best.values())[:CUT]
        return Answer(tuple(best)[:CUT], sum(tokens.count(text) for text in read), took_ms)

    def _follow(self, step: Step) -> None:
        reader = VaultReader(VaultPaths(step.root), _MAX_BYTES)
        with self._database.write():
            for path in step.touched:
                store(self._database, _taken(reader, step.root, path))


def _taken(reader: VaultReader, root: Path, path: str) -> Prepared:
    """Return a text file cut at blank lines, or as gone for what is none."""
    if not (root / path).is_file() or (root / path).is_symlink():
        return Prepared(path)
    try:
        file = reader.read(path)
    except Exception:  # binary, huge, gone: nobody can search it
        return Prepared(path)
    chunks = tuple(
        Chunk(f"{path}:{start}", path, "note", "", "", path, text, start, start + len(text))
        for start, text in passages(file.text)
    )
    chunked = Chunked(chunks)
    return Prepared(path, Place("note", "", "note"), file.stat, file.sha, chunked)


def passages(text: str) -> Iterator[tuple[int, str]]:
    """Yield a text's blocks between blank lines, joined while they are short, with offsets."""
    start, held = 0, ""
    for block in text.split("\n\n"):
        if held and len(held) + len(block) > _PASSAGE:
            yield start, held
            start, held = start + len(held) + 2, block
        else:
            held = f"{held}\n\n{block}" if held else block
    if held.strip():
        yield start, held
