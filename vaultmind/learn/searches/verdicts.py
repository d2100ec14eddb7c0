"""What searches turned out to be worth: lines of feedback-<device>.jsonl, and what they add up to.

A line says that to a query a hit was fetched, cited, found useful or found wrong. It has the words
that were asked with and where the hit stands, and nothing of what the hit says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Protocol

from vaultmind.errors import NotFound, PathRefused, UnreadableNote
from vaultmind.memory.forget.erasable import Erasable
from vaultmind.memory.forget.kinds import Edit, Ref
from vaultmind.memory.forget.taken import Taken, Target, Without
from vaultmind.memory.forget.wanted import Wanted
from vaultmind.memory.match import says
from vaultmind.types import Fact
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.paths import VaultPaths

Signal = Literal["fetch", "cite", "useful", "wrong"]
Verdict = Literal["useful", "wrong"]
STRENGTH: dict[Signal, float] = {"fetch": 0.3, "cite": 0.6, "useful": 1.0, "wrong": -1.0}
"""How much each signal says. Who reads a hit may find it useless; who says so does not guess."""
HALF_LIFE_DAYS = 60.0
"""After so long a verdict counts half: what somebody looks for changes."""
MOST_LINE = 4_000
"""Characters of a line that is read."""
_NAME = re.compile(r"feedback-[A-Za-z0-9-]+\.jsonl")
_SESSION = re.compile(r"/([a-z0-9][a-z0-9_-]*)/memory/sessions/([^/]+)\.md$")
By = Literal["person", "agent"]
_Asked = tuple[By, str]
_Where = tuple[str, str]
_KEYS = ("time", "query", "path", "anchor", "hit", "signal", "by")


@dataclass(frozen=True, slots=True)
class Line:
    """One signal."""

    time: str
    """ISO 8601 with its zone."""
    query: str
    """Without secrets, on one line."""
    path: str
    anchor: str
    signal: Signal
    hit: str = ""
    """The id that the chunk had; it changes with the text."""
    by: By = "agent"

    @property
    def is_explicit(self) -> bool:
        """Tell whether somebody said so, and it is not merely told by what they did."""
        return self.signal in ("useful", "wrong")


@dataclass(frozen=True, slots=True)
class Place:
    """A judged hit, and by how much it is right (above 0) or wrong (below)."""

    path: str
    anchor: str
    hit: str
    strength: float


@dataclass(frozen=True, slots=True)
class Judged:
    """A query with what all that was ever said of its hits comes to."""

    agent: str
    by: By
    """Who asked: what a search finds depends on that."""
    query: str
    time: str
    """Of the last signal."""
    places: tuple[Place, ...]
    """None of strength 0."""


def feedback_path(paths: VaultPaths, agent: str, device: str) -> str:
    """Return the vault-relative file of an agent's feedback from one device."""
    return f"{paths.memory(agent)}/feedback-{device}.jsonl"


def feedback_files(paths: VaultPaths, agent: str) -> Iterator[str]:
    """Yield the vault-relative files of an agent's feedback, of every device."""
    folder = paths.root / paths.memory(agent) if agent else None
    if folder is None or not folder.is_dir() or folder.is_symlink():
        return
    for path in sorted(folder.iterdir()):
        if _NAME.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            yield paths.relative(path)


def written(line: Line) -> str:
    """Return a line as it stands in its file."""
    told = {key: value for key in _KEYS if (value := getattr(line, key))}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")) + "\n"


def read_line(raw: str) -> Line | None:
    """Return what a line says; None for one that is torn, or none of ours."""
    if not raw.strip() or len(raw) > MOST_LINE:
        return None
    try:
        told: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict):
        return None
    text = {key: value for key in _KEYS if isinstance(value := told.get(key, ""), str)}
    whole = len(text) == len(_KEYS) and text["query"] and text["path"]
    if not whole or text["signal"] not in STRENGTH or moment(text["time"]) is None:
        return None
    by: By = "person" if text["by"] == "person" else "agent"
    signal: Signal = text["signal"]
    return Line(text["time"], text["query"], text["path"], text["anchor"], signal, text["hit"], by)


def read_lines(text: str) -> tuple[Line, ...]:
    """Return the lines of a file that can be read."""
    return tuple(line for raw in text.split("\n") if (line := read_line(raw)) is not None)


def folded(query: str) -> str:
    """Return what is the same of queries that are the same."""
    return " ".join(query.casefold().split())


def standing(lines: Mapping[str, Iterable[Line]]) -> dict[str, list[Line]]:
    """Return the lines of agents without what the person's word on a hit stands over.

    The last that the person stated of a hit to a query stands, in whosever memory it is; neither
    what agents say of it counts beside it, nor what the person said or did besides.
    """
    read = {agent: [*each] for agent, each in lines.items()}
    stated: dict[tuple[str, str, str], Line] = {}
    for line in sorted((one for each in read.values() for one in each), key=_order):
        if line.by == "person" and line.is_explicit:
            stated[_said_of(line)] = line

    def stands(line: Line) -> bool:
        word = stated.get(_said_of(line))
        return word is None or line is word

    return {agent: [one for one in each if stands(one)] for agent, each in read.items()}


def judged(agent: str, lines: Iterable[Line], now: datetime) -> tuple[Judged, ...]:
    """Return the queries of one agent's lines with what they come to, oldest first.

    A query and a hit have one verdict: the last that somebody stated, the person's before an
    agent's; else the strongest sign. Repeating it adds nothing.
    """
    lines = standing({agent: lines})[agent]
    queries: dict[_Asked, dict[_Where, Line]] = {}
    latest: dict[_Asked, Line] = {}
    for line in sorted(lines, key=_order):
        asked: _Asked = (line.by, folded(line.query))
        latest[asked] = line
        places = queries.setdefault(asked, {})
        place = (line.path, line.anchor)
        if place not in places or _stands_over(line, places[place]):
            places[place] = line
    found = []
    for asked, places in queries.items():
        last = latest[asked]
        told = tuple(
            Place(one.path, one.anchor, one.hit, strength)
            for one in places.values()
            if (strength := STRENGTH[one.signal] * faded(one.time, now))
        )
        if told:
            found.append(Judged(agent, last.by, last.query, last.time, told))
    return tuple(sorted(found, key=_order))


def faded(time: str, now: datetime) -> float:
    """Return what is left of a verdict's weight, from 1 down to nearly nothing."""
    then = moment(time)
    if then is None:
        return 0.0
    days = max(0.0, (now - then) / timedelta(days=1))
    return float(0.5 ** (days / HALF_LIFE_DAYS))


def moment(time: str) -> datetime | None:
    """Return a time with its zone; None for what is none."""
    try:
        found = datetime.fromisoformat(time)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def compacted(text: str, now: datetime, days: float, most_lines: int) -> str:
    """Return a file without what is too old, torn or said again later, the newest lines at most."""
    oldest = now - timedelta(days=days)
    last: dict[tuple[str, ...], Line] = {}
    for line in read_lines(text):
        then = moment(line.time)
        if then is not None and then >= oldest:
            key = (line.by, line.query, line.path, line.anchor, line.signal)
            last.pop(key, None)
            last[key] = line
    kept = sorted(last.values(), key=_order)[-most_lines:]
    return "".join(written(line) for line in kept)


def without_said(target: Target, wanted: Wanted) -> Without:
    """Return a file without each line that says it, or whose hit is a message that is meant."""
    kept, taken = [], []
    for number, raw in enumerate(target.text.split("\n"), 1):
        line = read_line(raw)
        if line is None:
            gone = bool(raw.strip()) and wanted.says(raw)
        else:
            said = (line.query, line.path, line.anchor.lstrip("#^"))
            gone = any(map(wanted.says, said)) or _is_meant(line, wanted)
        if gone:
            taken.append(Taken(f"line {number}", line.query if line else raw))
        else:
            kept.append(raw)
    return Without("\n".join(kept), tuple(taken))


FEEDBACK = Erasable("search feedback", feedback_files, without_said)
"""What an erasure takes out of feedback; the gate is made with it."""


class LetsGo(Protocol):
    """What keeps queries in memory."""

    def drop(self, says: Callable[[str], bool]) -> None:
        """Forget the searches of which a query or what was found says so."""
        ...


class Queries:
    """The queries that say a forgotten fact: their lines go. Implements the gate's `RecordKind`.

    They are dropped and not hidden: nobody reads them, and nothing is to be learnt from them.
    """

    name = "search feedback"

    def __init__(self, reader: VaultReader, held: LetsGo) -> None:
        self._reader = reader
        self._held = held

    def said(self, agent: str, fact: Fact, edit: Edit) -> Iterable[Ref]:
        """Drop what says the fact, or has no words but the fact's; nothing is left to hide."""

        def repeats(query: str) -> bool:
            return says(query, fact.text) or says(fact.text, query)

        def change(file: FileText | None) -> str | None:
            lines = file.text.split("\n") if file else []
            kept = [raw for raw in lines if not ((line := read_line(raw)) and repeats(line.query))]
            return "\n".join(kept) if len(kept) < len(lines) else None

        self._held.drop(repeats)
        for path in feedback_files(self._reader.paths, agent):
            try:
                if change(self._reader.read(path)) is not None:
                    edit(path, change)
            except (NotFound, PathRefused, UnreadableNote):
                continue  # not to be read, so not learnt from either
        return ()

    def near(self, agent: str, words: str) -> Iterable[tuple[Ref, str]]:
        """Return nothing: a query is no record of what was said."""
        return ()


def _order(one: Line | Judged) -> tuple[datetime, str]:
    return moment(one.time) or datetime.min.replace(tzinfo=UTC), one.query


def _stands_over(new: Line, old: Line) -> bool:
    """Tell whether a later line takes an earlier one's place."""
    if new.is_explicit or old.is_explicit:
        return new.is_explicit
    return STRENGTH[new.signal] >= STRENGTH[old.signal]


def _said_of(line: Line) -> tuple[str, str, str]:
    return folded(line.query), line.path, line.anchor


def _is_meant(line: Line, wanted: Wanted) -> bool:
    """Tell whether a hit is a message that an erasure means by its place."""
    found = _SESSION.search(line.path)
    return found is not None and wanted.means(found[1], found[2], line.anchor.removeprefix("#^"))
