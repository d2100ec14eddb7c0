"""The seven layers of a source, from a map (L0) down to what changed (L6), each as lines."""

from __future__ import annotations

import math
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from vaultmind import tokens
from vaultmind.episodes.watch import Commit
from vaultmind.errors import BadArgument
from vaultmind.index.when import first_day
from vaultmind.planner.git import LAST
from vaultmind.planner.types import CacheStatus, Detail, FileRecord, Layer, Part, Standing, TaskKind
from vaultmind.plural import counted
from vaultmind.redact import mask

if TYPE_CHECKING:
    from vaultmind.planner.source import Source

ROUTES: Mapping[TaskKind, tuple[Layer, ...]] = {
    "bugfix": ("L6", "L1", "L3", "L5"),
    "feature": ("L0", "L1", "L3", "L5"),
    "refactor": ("L2", "L1", "L3", "L5"),
    "incident": ("L6", "L4", "L2", "L3"),
    "research": ("L0", "L1", "L2", "L4"),
    "writing": ("L0", "L1", "L3", "L6"),
    "unknown": ("L0", "L1", "L6"),
}
"""The layers that a kind of task needs, the most telling first."""
SETTLE_SECONDS = 0.25
"""How long an answer waits for files that have just changed."""
TRIES = 5
"""Times that layers are made while a file in them is not as it was read."""
MOST_PATHS, USUAL = 50, 20
"""A commit of more files makes none of them hot; commits that are shown without `since`."""
HOT, ENTRY, TEST = 1.5, 1.0, -1.0
"""What being the hottest, being an entry and being a test are worth, beside a doubling of links."""
_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")
_INTO = {"import": "imported by", "link": "linked from", "embed": "embedded in",
         "tests": "tested by"}  # fmt: skip
_OUT = {"import": "imports", "link": "links to", "embed": "embeds", "tests": "tests"}
_SINCE = "a time ('2026-02-20', 'yesterday', '3 days ago') or a revision (HEAD~3, main, v1.2)"


@dataclass(frozen=True, slots=True)
class Explored:
    """The layers that were asked for, and how they came about."""

    source: str
    query_type: str
    detail: str
    cache_status: CacheStatus
    """As of a plan."""
    freshness: Standing
    layers: tuple[Layer, ...]
    text: str
    tokens: int
    took_ms: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Caps:
    """How much of a layer is shown."""

    files: int
    parts: int
    """Of one file."""
    lists: int
    """Of what goes with no file."""
    depth: int
    """How deep folders and headings are shown."""
    chars: int
    """Of a sentence: an abstract, a signature, a task."""

    def clip(self, text: str) -> str:
        """Return a sentence, cut where it is too long."""
        return text if len(text) <= self.chars else f"{text[: self.chars - 2].rstrip()} …"

    def list(self, items: Iterable[str]) -> str:
        """Return the parts of a file in a line, and how many there are besides."""
        said = [*items]
        more = [f"+{len(said) - self.parts} more"] if len(said) > self.parts else []
        return ", ".join(said[: self.parts] + more)


CAPS: Mapping[str, Caps] = {
    "compact": Caps(25, 5, 20, 2, 90),
    "normal": Caps(80, 12, 50, 3, 160),
    "verbose": Caps(300, 40, 200, 9, 240),
}

Row = tuple[list[str], Iterable[str]]
"""Lines about one thing, and the files that they speak of."""
Section = tuple[str, Sequence[Any], int, Callable[[Any], Row]]
"""A heading, things, how many of them are shown, and how one is."""
Since = tuple[str, str, float]
"""What `since` means: its words, a commit, a time in seconds; each may be nothing."""


class Sight:
    """A source at one moment: its files in order, those first that most of it turns around."""

    def __init__(self, source: Source, now: datetime, since: str = "") -> None:
        self.source, self.now, self.graph = source, now, source.graph
        self.records, self.commits = source.records(), source.history.commits()
        small = (one.changed for one in self.commits if len(one.changed) <= MOST_PATHS)
        self.changes = Counter(path for each in small for path, _ in each)
        """In how many of the last commits each file changed."""
        self.ties = {path: self._ties(path) for path in self.records}
        """How many files lead to each; tests do not count."""
        self.order = sorted(self.records.values(), key=lambda it: (-self._worth(it), it.path))
        self.since = since_of(self, since)

    def _ties(self, path: str) -> int:
        into = {source for kind, source in self.graph.into(path) if kind != "tests"}
        return sum(one in self.records and not self.records[one].test for one in into)

    def _worth(self, one: FileRecord) -> float:
        heat = self.changes[one.path] / max(self.changes.values(), default=1)
        return math.log2(1 + self.ties[one.path]) + HOT * heat + ENTRY * one.entry + TEST * one.test


def explore(
    source: Source,
    kind: TaskKind = "unknown",
    *,
    detail: Detail = "compact",
    since: str = "",
    which: Sequence[Layer] = (),
    now: datetime | None = None,
) -> Explored:
    """Return the layers that a kind of task needs, or those named, checked against the disk.

    Raises BadArgument for a `since` that is neither a time nor a revision.
    """
    began, status = time.perf_counter(), source.settle(SETTLE_SECONDS)
    for _ in range(TRIES):
        sight = Sight(source, now or source.clock(), since)
        made = {layer: _drawn(sight, layer, CAPS[detail]) for layer in which or ROUTES[kind]}
        is_sure = source.verify(set[str]().union(*(paths for _, paths in made.values())))
        if is_sure:
            break
    state, notes = source.index.state(), list[str]()
    if is_indexing := state.phase in ("starting", "indexing"):
        notes.append(f"Still indexing: {state.indexed:,} of {counted(state.files, 'file')}.")
    if not is_sure:
        notes.append("The source is changing; ask again.")
    lacks = Counter(one.fault for one in sight.records.values() if "grammar" in one.fault)
    notes += [f"{counted(count, 'file')} of code as text only: {fault}."
              for fault, count in lacks.most_common(3)]  # fmt: skip
    text = "\n\n".join(text for text, _ in made.values() if is_sure)
    size, took_ms = tokens.count(text), (time.perf_counter() - began) * 1000
    fresh: Standing = "fresh" if source.settled and is_sure else "dirty" if is_indexing else "stale"
    shown = (*made,) if is_sure else ()
    return Explored(
        source.name, kind, detail, status, fresh, shown, text, size, took_ms, tuple(notes)
    )


def _drawn(sight: Sight, layer: Layer, caps: Caps) -> tuple[str, set[str]]:
    """Return a layer under its heading, and the files that it speaks of."""
    title, draw = _LAYERS[layer]
    lines, paths, left = list[str](), set[str](), 0
    for head, things, most, row in draw(sight, caps):
        lines += [head] if head and things else []
        left += max(0, len(things) - most)
        for said, named in map(row, things[:most]):
            lines += said
            paths.update(named)
    lines = [f"## {layer} {title}", *(lines or ["Nothing."])]
    lines += [f"… and {left:,} more."] if left else []
    return mask("\n".join(_BREAKS.sub(" ", line) for line in lines)).text, paths


def _map(sight: Sight, caps: Caps) -> Iterator[Section]:
    """L0: folders with what lies in them, where to begin, where work goes on."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in sight.records.values():
        parts = one.path.split("/")[:-1]
        for end in range(min(len(parts), caps.depth) + 1):
            counts["/".join(parts[:end])][_kind(one)] += 1

    def folder(path: str) -> Row:
        said = ", ".join(f"{count:,} {kind}" for kind, count in _most(counts[path])[:4])
        return [f"{path or '.'}/ {counted(counts[path].total(), 'file')}: {said}"], ()

    def hot(path: str) -> Row:
        times = counted(sight.changes[path], "commit")
        return [f"- {path} ({times})" if changed else f"- {path}"], [path]

    folders = sorted(counts, key=lambda it: (it.count("/") + bool(it), -counts[it].total(), it))
    yield "", folders, caps.lists, folder
    begin = sorted((one for one in sight.order if one.entry), key=lambda it: it.path.count("/"))
    some = begin[: caps.lists]
    yield "Start with:", some, len(some), lambda one: ([f"- {_titled(one)}"], [one.path])
    changed = [path for path, _ in _most(sight.changes) if path in sight.records]
    lately = sorted(sight.records, key=lambda it: (-sight.source.changed_at(it), it))
    some_hot = (changed or lately)[: caps.lists // 2]
    yield "Current work:", some_hot, len(some_hot), hot


def _index(sight: Sight, caps: Caps) -> Iterator[Section]:
    """L1: titles and headings of notes, what code defines; the central files first, tests last."""
    named = sorted((one for one in sight.order if one.parts), key=lambda one: one.test)
    named += [one for one in sight.order if one.shape == "note" and not one.parts]

    def row(one: FileRecord) -> Row:
        top = [each for each in one.definitions if "." not in each.name]
        if caps is CAPS["compact"]:
            top = [each for each in top if each.public and each.kind != "constant"] or top
        parts = [f"{each.kind} {each.name}" for each in sorted(top, key=_rank)]
        parts += [
            f"{'#' * each.level} {each.name}"
            for each in one.parts
            if 0 < each.level <= caps.depth and each.name.casefold() != one.title.casefold()
        ]
        said = caps.list(map(caps.clip, parts))
        return [f"{_titled(one)}{': ' if said else ''}{said}"], [one.path]

    yield "", named, caps.files, row


def _relations(sight: Sight, caps: Caps) -> Iterator[Section]:
    """L2: the files that most others lead to, with what ties them; then those that lead on."""
    records, ties, graph = sight.records, sight.ties, sight.graph
    related = [
        path for path in records if (ties[path] or graph.out(path)) and not records[path].test
    ]
    related.sort(key=lambda it: (-ties[it], it))

    def row(path: str) -> Row:
        into = [(kind, one) for kind, one in graph.into(path) if one in records]
        into.sort(key=lambda one: (one[0] == "tests", -ties[one[1]], one[1]))
        said, named = list[str](), [path]
        for words, edges in ((_INTO, into), (_OUT, graph.out(path))):
            grouped: dict[str, list[str]] = {}
            for kind, other in edges[: caps.parts]:
                grouped.setdefault(words[kind], []).append(other)
                named.append(other)
            said += [f"{kind} {', '.join(others)}" for kind, others in grouped.items()]
            said += [f"+{more} more"] if (more := len(edges) - caps.parts) > 0 else []
        return [f"{path}: {'; '.join(said)}"], named

    yield "", related, caps.files, row


def _surface(sight: Sight, caps: Caps) -> Iterator[Section]:
    """L3: abstracts and properties of notes, public signatures of code."""

    def row(one: FileRecord) -> Row:
        lines = [f"{one.path}{': ' if one.abstract else ''}{caps.clip(one.abstract)}"]
        told = [caps.clip(f"{name}: {value}") for name, value in one.properties[: caps.parts]]
        lines += [f"  {', '.join(told)}"] if told else []
        public = sorted((each for each in one.definitions if each.public), key=_rank)
        lines += [f"  {caps.clip(each.signature)}" for each in public[: caps.parts]]
        left = len(public[caps.parts :]) + len(one.properties[caps.parts :])
        return lines + ([f"  +{left} more"] if left else []), [one.path]

    def shows(one: FileRecord) -> bool:
        if one.definitions:
            return any(each.public for each in one.definitions)
        return one.shape in ("note", "text") and bool(one.abstract or one.properties)

    yield "", [it for it in sight.order if not it.test and shows(it)], caps.files, row


def _manifest(sight: Sight, caps: Caps) -> Iterator[Section]:
    """L4: kinds of files, tags, and the properties that notes have."""
    records = sight.records.values()
    kinds = Counter(map(_kind, records))
    tags = Counter(tag for one in records for tag in {tag.casefold() for tag in one.tags})
    values: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name, value in (it for one in records if one.shape == "note" for it in one.properties):
        values[name][value] += 1

    def row(name: str) -> Row:
        examples = ", ".join(caps.clip(value) for value, _ in _most(values[name])[:3])
        return [f"- {name} ({values[name].total()}): {examples}"], ()

    said = ", ".join(f"{kind} {count:,}" for kind, count in _most(kinds))
    yield "", [f"Files: {said}"] if kinds else [], 1, _line
    said = ", ".join(f"#{tag} ({count})" for tag, count in _most(tags)[: caps.lists])
    yield "", [f"Tags: {said}"] if tags else [], 1, _line
    schema = sorted(values, key=lambda name: (-values[name].total(), name))
    yield "Properties of notes:", schema, caps.lists, row


def _work(sight: Sight, caps: Caps) -> Iterator[Section]:
    """L5: what is left to be done, and which test touches what."""

    def todo(one: FileRecord) -> Row:
        left = [f"- [ ] {caps.clip(task.text)}" for task in one.tasks if not task.done]
        more = [f"  +{more} more"] if (more := len(left) - caps.parts) > 0 else []
        return [f"{one.path}:", *left[: caps.parts], *more], [one.path]

    def touched(path: str) -> Row:
        tested = [one for kind, one in sight.graph.out(path) if kind == "tests"]
        said = f" tests {caps.list(tested)}" if tested else ""
        return [f"{path}{said}"], [path, *tested[: caps.parts]]

    done = Counter(task.done for one in sight.order for task in one.tasks)
    said = f"{counted(done[False], 'open task')}, {done[True]:,} done."
    yield "", [said] if done else [], 1, _line
    busy = [one for one in sight.order if any(not task.done for task in one.tasks)]
    yield "", busy, caps.files, todo
    yield "", [one.path for one in sight.order if one.test], caps.files, touched


# --- L6 -----------------------------------------------------------------------------------


def since_of(sight: Sight, text: str) -> Since:
    """Return what a text means; raise BadArgument for what is neither a time nor a revision."""
    said, history = text.strip(), sight.source.history
    if not said:
        return "", "", 0.0
    try:
        moment = datetime.fromisoformat(said)
    except ValueError:
        if commit := history.revision(said):
            return said, commit, 0.0
        try:
            moment = datetime.fromisoformat(first_day("since", said, sight.now))
        except BadArgument as error:
            why = f": {history.fault}" if history.fault else ""
            allowed = f"{_SINCE}; there is no such revision{why}"
            raise BadArgument("since", said, allowed) from error
    return said, "", moment.replace(tzinfo=moment.tzinfo or sight.now.tzinfo).timestamp()


def _changes(sight: Sight, caps: Caps) -> Iterator[Section]:
    """L6: what changed since a time or a revision, by git where there is git, else by times."""
    (words, commit, at), history = sight.since, sight.source.history
    commits, said = sight.commits, dict[str, list[str]]()
    if commits:
        commits = history.commits(commit) if commit else commits if words else commits[:USUAL]
        commits = tuple(one for one in commits if one.time >= at)
        head = f"In the last {counted(len(commits), 'commit').removeprefix('1 ')}:"
        dirty = history.uncommitted()
        for path in sorted(dirty):
            said[path] = [dirty[path][0], "not committed"]
        times = Counter(path for one in commits for path, _ in one.changed)
        first = {path: kind for one in commits for path, kind in one.changed}
        for path, count in times.items():
            kind = [] if path in said or first[path] == "modified" else [str(first[path])]
            said[path] = [*said.get(path, kind), counted(count, "commit")]
    else:
        head = "Lately, by the files' times:"
        seconds = {path: sight.source.changed_at(path) for path in sight.records}
        days = [(path, _day(time, sight.now)) for path, time in seconds.items() if time >= at]
        days.sort(key=lambda it: it[0])  # within a day by name, whatever is edited
        days.sort(key=lambda it: it[1], reverse=True)
        said = {path: [day] for path, day in days[: None if at else caps.files]}
    head = f"Since {words}:" if words else head
    head += f" (only the last {LAST} commits are looked at)" * (len(commits) >= LAST)
    head += f" ({history.fault})" if history.fault and not commits else ""
    yield "", [head], 1, _line

    def row(path: str) -> Row:
        return [f"- {path} ({', '.join(said[path])})"], [path] if path in sight.records else []

    def told_of(one: Commit) -> Row:
        day = _day(one.time, sight.now)
        return [f"- {one.id[:10]} {day} {caps.clip(one.subject)}".rstrip()], ()

    yield "", [*said], caps.files, row
    yield "", [] if said else ["No file changed."], 1, _line
    noted = [it for it in commits if it.changed and caps is not CAPS["compact"]][: caps.lists]
    yield "Commits:", noted, len(noted), told_of


def _line(text: str) -> Row:
    return [text], ()


def _day(seconds: float, like: datetime) -> str:
    """Return the day of a time, in the time zone of a clock's present."""
    try:
        return datetime.fromtimestamp(seconds, like.tzinfo).date().isoformat()
    except (ValueError, OverflowError, OSError):  # a commit may claim any time
        return ""


_LAYERS: Mapping[Layer, tuple[str, Callable[[Sight, Caps], Iterator[Section]]]] = {
    "L0": ("map", _map), "L1": ("index", _index), "L2": ("relations", _relations),
    "L3": ("surface", _surface), "L4": ("manifest", _manifest), "L5": ("tasks and tests", _work),
    "L6": ("changes", _changes),
}  # fmt: skip


def _kind(one: FileRecord) -> str:
    return (one.language if one.shape == "code" else one.shape) or "other"


def _rank(one: Part) -> tuple[bool, bool]:
    """Put what is for others before what is not, and constants last."""
    return not one.public, one.kind == "constant"


def _titled(one: FileRecord) -> str:
    name, title = one.path.rpartition("/")[2].casefold(), one.title
    known = ("", name, name.rpartition(".")[0])
    return one.path if title.casefold() in known else f"{one.path} “{title}”"


def _most(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))
