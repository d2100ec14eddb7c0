"""The seven layers of a source, from a map (L0) down to what changed (L6), each as lines."""

from __future__ import annotations

import math
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from vaultmind import tokens
from vaultmind.episodes.types import Change
from vaultmind.episodes.watch import Commit
from vaultmind.errors import BadArgument
from vaultmind.index.when import first_day
from vaultmind.planner.git import LAST
from vaultmind.planner.types import CacheStatus, Detail, FileRecord, Layer, Part, TaskKind
from vaultmind.plural import counted
from vaultmind.redact import mask

if TYPE_CHECKING:
    from vaultmind.planner.structure import Structure

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
HALF_LIFE, MOST_PATHS = 15, 50
"""Commits after which what a commit says of heat counts half; one of more files heats none."""
USUAL = 20
"""Commits that are shown without `since`."""
HOT, ENTRY, TEST = 1.5, 1.0, -1.0
"""What heat, being an entry and being a test are worth, beside a doubling of links to a file."""
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
    """`hit`: every layer was at hand; `partial`: some were, or the source is still being read;
    `rebuilt`: none was."""
    freshness: Literal["fresh", "stale", "dirty"]
    layers: tuple[Layer, ...]
    text: str
    tokens: int
    took_ms: float
    cached: tuple[Layer, ...] = ()
    """The layers that say what they said the last time."""
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


class Sight:
    """A source at one moment: its files in order, and which are hot."""

    def __init__(self, structure: Structure, now: datetime) -> None:
        self.structure, self.now = structure, now
        self.key = _key(structure, now)
        self.records = structure.records()
        self.graph = structure.graph
        self.commits = structure.history.commits()

    @cached_property
    def heat(self) -> Mapping[str, float]:
        """How hot files are by the last commits, from 0 to 1, hottest first.

        What is being edited has no part in it, so that an edit leaves the order of files alone.
        """
        heat = Counter[str]()
        for age, commit in enumerate(self.commits):
            for path, _ in commit.changed if len(commit.changed) <= MOST_PATHS else ():
                heat[path] += 0.5 ** (age / HALF_LIFE)
        most = max(heat.values(), default=1.0)
        return {path: value / most for path, value in _most(heat)}

    @cached_property
    def ties(self) -> Mapping[str, int]:
        """How many files lead to each; tests do not count."""
        counts = {}
        for path in self.records:
            into = {source for kind, source in self.graph.into(path) if kind != "tests"}
            counts[path] = sum(one in self.records and not self.records[one].test for one in into)
        return counts

    @cached_property
    def order(self) -> list[FileRecord]:
        """All files, those first that most of the source turns around."""

        def worth(one: FileRecord) -> float:
            told = HOT * self.heat.get(one.path, 0.0) + ENTRY * one.entry + TEST * one.test
            return math.log2(1 + self.ties[one.path]) + told

        return sorted(self.records.values(), key=lambda one: (-worth(one), one.path))


def explore(
    structure: Structure,
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
    began, now = time.perf_counter(), now or structure.clock()
    structure.settle(SETTLE_SECONDS)
    for _ in range(TRIES):
        sight = _sight(structure, now)
        meant = since_of(sight, since)
        made = {layer: _drawn(sight, layer, detail, meant) for layer in which or ROUTES[kind]}
        is_sure = structure.verify(set[str]().union(*(paths for _, paths in made.values())))
        if is_sure := is_sure and sight.key == _key(structure, now):
            break
    shown = {layer: text for layer, (text, _) in made.items() if is_sure}
    said = {(layer, detail, since if layer == "L6" else ""): text for layer, text in shown.items()}
    cached = tuple(key[0] for key, text in said.items() if structure.cache.get(key) == text)
    structure.cache.update(said)
    progress, notes = structure.progress, list[str]()
    if unread := progress.total - progress.done:
        notes.append(f"Still reading: {progress.done:,} of {counted(progress.total, 'file')}.")
    if not is_sure:
        notes.append("The source is changing. Ask again.")
    lacks = Counter(one.fault for one in sight.records.values() if "grammar" in one.fault)
    notes += [f"{counted(count, 'file')} of code as text only: {fault}."
              for fault, count in lacks.most_common(3)]  # fmt: skip
    is_hit = len(cached) == len(made) and not unread
    text = "\n\n".join(shown.values())
    return Explored(
        structure.name,
        kind,
        detail,
        "hit" if is_hit else "partial" if cached or unread else "rebuilt",
        "fresh" if structure.settled and is_sure else "dirty" if unread else "stale",
        (*shown,),
        text,
        tokens.count(text),
        (time.perf_counter() - began) * 1000,
        cached,
        tuple(notes),
    )


def _sight(structure: Structure, now: datetime) -> Sight:
    """Return a look at a source: the last one where nothing has changed."""
    held: Sight | None = structure.cache.get("sight")
    if held is None or held.key != _key(structure, now):
        held = structure.cache["sight"] = Sight(structure, now)
    return held


def _key(structure: Structure, now: datetime) -> Hashable:
    stamp = structure.history.stamp()
    return (structure.version, stamp, id(structure.rules), now.date())


def _drawn(sight: Sight, layer: Layer, detail: Detail, since: Since) -> tuple[str, set[str]]:
    """Return a layer under its heading, and the files that it speaks of."""
    title, draw = _LAYERS[layer]
    lines, paths, left = list[str](), set[str](), 0
    for head, things, most, row in draw(sight, CAPS[detail], since):
        lines += [head] if head and things else []
        left += max(0, len(things) - most)
        for said, named in map(row, things[:most]):
            lines += said
            paths.update(named)
    lines = [f"## {layer} {title}", *(lines or ["Nothing."])]
    lines += [f"… and {left:,} more."] if left else []
    return mask("\n".join(_BREAKS.sub(" ", line) for line in lines)).text, paths


def _map(sight: Sight, caps: Caps, _: Since) -> Iterator[Section]:
    """L0: folders with what lies in them, where to begin, where work goes on."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in sight.records.values():
        parts = one.path.split("/")[:-1]
        for end in range(min(len(parts), caps.depth) + 1):
            counts["/".join(parts[:end])][_kind(one)] += 1

    def folder(path: str) -> Row:
        said = ", ".join(f"{count:,} {kind}" for kind, count in _most(counts[path])[:4])
        return [f"{path or '.'}/ {counted(counts[path].total(), 'file')}: {said}"], ()

    def order(path: str) -> tuple[int, int, str]:
        return path.count("/") + bool(path), -counts[path].total(), path

    yield "", sorted(counts, key=order), caps.lists, folder
    begin = sorted((one for one in sight.order if one.entry), key=lambda it: it.path.count("/"))
    some = begin[: caps.lists]
    yield "Begin with:", some, len(some), lambda one: ([f"- {_titled(one)}"], [one.path])
    changes = Counter(path for one in sight.commits for path, _ in one.changed)
    newest = sorted(sight.records, key=lambda it: -sight.structure.changed_at(it))
    hot = [path for path in sight.heat or newest if path in sight.records][: caps.lists // 2]
    hot = hot if sight.heat else sorted(hot)  # the next edit of one of them leaves it as it is

    def row(path: str) -> Row:
        times = f" ({counted(changes[path], 'commit')})" if changes[path] else ""
        return [f"- {path}{times}"], [path]

    yield "Where work goes on:", hot, len(hot), row


def _index(sight: Sight, caps: Caps, _: Since) -> Iterator[Section]:
    """L1: titles and headings of notes, what code defines; the central files first, tests last."""
    named = sorted((one for one in sight.order if one.parts), key=lambda one: one.test)
    named += [one for one in sight.order if one.shape == "note" and not one.parts]

    def row(one: FileRecord) -> Row:
        top = [each for each in one.definitions if caps is CAPS["verbose"] or "." not in each.name]
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


def _relations(sight: Sight, caps: Caps, _: Since) -> Iterator[Section]:
    """L2: the files that most others lead to, with what ties them; then those that lead on."""
    records, ties, graph = sight.records, sight.ties, sight.graph
    related = sorted((path for path in records if ties[path]), key=lambda it: (-ties[it], it))
    related += [one.path for one in sight.order if not ties[one.path] and graph.out(one.path)]

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

    yield "", [path for path in related if not records[path].test], caps.files, row


def _surface(sight: Sight, caps: Caps, _: Since) -> Iterator[Section]:
    """L3: abstracts and properties of notes, public signatures of code."""

    def row(one: FileRecord) -> Row:
        lines = [f"{one.path}{': ' if one.abstract else ''}{caps.clip(one.abstract)}"]
        told = [caps.clip(f"{name}: {value}") for name, value in one.properties[: caps.parts]]
        lines += [f"  {', '.join(told)}"] if told else []
        public = sorted((each for each in one.definitions if each.public), key=_rank)
        for each in public[: caps.parts]:
            more = f"  # {each.summary}" if each.summary and caps is not CAPS["compact"] else ""
            lines.append(f"  {caps.clip(each.signature)}{caps.clip(more)}")
        left = len(public[caps.parts :]) + len(one.properties[caps.parts :])
        return lines + ([f"  +{left} more"] if left else []), [one.path]

    def shows(one: FileRecord) -> bool:
        if one.test or one.definitions:
            return not one.test and any(each.public for each in one.definitions)
        return one.shape in ("note", "text") and bool(one.abstract or one.properties)

    yield "", [*filter(shows, sight.order)], caps.files, row


def _manifest(sight: Sight, caps: Caps, _: Since) -> Iterator[Section]:
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


def _work(sight: Sight, caps: Caps, _: Since) -> Iterator[Section]:
    """L5: what is left to be done, and which test touches what: those of what is hot first."""

    def tested_by(path: str) -> list[str]:
        return [one for kind, one in sight.graph.out(path) if kind == "tests"]

    def todo(one: FileRecord) -> Row:
        left = [f"- [ ] {caps.clip(task.text)}" for task in one.tasks if not task.done]
        more = [f"  +{more} more"] if (more := len(left) - caps.parts) > 0 else []
        return [f"{one.path}:", *left[: caps.parts], *more], [one.path]

    def touched(path: str) -> Row:
        said = caps.list(tested_by(path))
        return [f"{path}{' tests ' if said else ''}{said}"], [path, *tested_by(path)[: caps.parts]]

    done = Counter(task.done for one in sight.order for task in one.tasks)
    said = f"{counted(done[False], 'open task')}, {done[True]:,} done."
    yield "", [said] if done else [], 1, _line
    busy = [one for one in sight.order if any(not task.done for task in one.tasks)]
    yield "", busy, caps.files, todo
    yield "", [one.path for one in sight.order if one.test], caps.files, touched


# --- L6 -----------------------------------------------------------------------------------

Since = tuple[str, str, float]
"""What `since` means: its words, a commit, a time in seconds; each may be nothing."""


def since_of(sight: Sight, text: str) -> Since:
    """Return what a text means; raise BadArgument for what is neither a time nor a revision."""
    said, history = text.strip(), sight.structure.history
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


def _changes(sight: Sight, caps: Caps, since: Since) -> Iterator[Section]:
    """L6: what changed since a time or a revision, by git where there is git, else by times."""
    words, commit, at = since
    head, history = "Lately, by the files' times:", sight.structure.history
    said: dict[str, list[str]] = {}
    commits = sight.commits
    if commits:
        commits = history.commits(commit) if commit else commits if words else commits[:USUAL]
        commits = tuple(one for one in commits if one.time >= at)
        head = f"In the last {counted(len(commits), 'commit').removeprefix('1 ')}:"
        latest = [it for one in commits for it in one.changed]
        counts, kinds = Counter(path for path, _ in latest), dict[str, Change]()
        for path, kind in reversed(latest):
            kinds[path] = "added" if (kinds.get(path), kind) == ("added", "modified") else kind
        dirty = history.uncommitted()
        kinds |= dirty
        for path in dict.fromkeys((*sorted(dirty), *counts)):
            told = [] if kinds[path] == "modified" and counts[path] else [str(kinds[path])]
            told += ["not committed"] if path in dirty else []
            said[path] = told + ([counted(counts[path], "commit")] if counts[path] else [])
    else:
        times = {path: sight.structure.changed_at(path) for path in sight.records}
        some = sorted(times, key=lambda path: -times[path])[: None if at else caps.files]
        days = sorted((path, _day(times[path], sight.now)) for path in some if times[path] >= at)
        days.sort(key=lambda one: one[1], reverse=True)  # within a day by name, whatever is edited
        said = {path: [day] for path, day in days}
    head = f"Since {words}:" if words else head
    head += f" (only the last {LAST} commits are looked at)" * (len(commits) >= LAST)
    head += f" ({history.fault})" if history.fault and not commits else ""
    yield "", [head], 1, _line

    def row(path: str) -> Row:
        return [f"- {path} ({', '.join(said[path])})"], [path] if path in sight.records else []

    yield "", [*said], caps.files, row
    yield "", [] if said else ["No file changed."], 1, _line
    noted = [it for it in commits if it.changed and caps is not CAPS["compact"]][: caps.lists]

    def told_of(one: Commit) -> Row:
        day = _day(one.time, sight.now)
        return [f"- {one.id[:10]} {day} {caps.clip(one.subject)}".rstrip()], ()

    yield "Commits:", noted, len(noted), told_of


def _line(text: str) -> Row:
    return [text], ()


def _day(seconds: float, like: datetime) -> str:
    """Return the day of a time, in the time zone of a clock's present."""
    try:
        return datetime.fromtimestamp(seconds, like.tzinfo).date().isoformat() if seconds else ""
    except (ValueError, OverflowError, OSError):  # a commit may claim any time
        return ""


_LAYERS: Mapping[Layer, tuple[str, Callable[[Sight, Caps, Since], Iterator[Section]]]] = {
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
