"""The seven layers of a source, from a map (L0) down to what changed (L6), each as lines."""

from __future__ import annotations

import heapq
import math
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal

from vaultmind import tokens
from vaultmind.errors import BadArgument
from vaultmind.index.when import first_day
from vaultmind.planner.git import LAST, REVISION, Commit, Kind, day_of, paths_of
from vaultmind.planner.types import CacheStatus, Definition, Detail, FileRecord, Layer, TaskKind
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
TITLES: Mapping[Layer, str] = {
    "L0": "map", "L1": "index", "L2": "relations", "L3": "surface", "L4": "manifest",
    "L5": "tasks and tests", "L6": "changes",
}  # fmt: skip
SETTLE_SECONDS = 0.25
"""How long an answer waits for files that have just changed."""
TRIES = 5
"""Times that layers are made while a file in them is not as it was read."""
HALF_LIFE = 15
"""Commits after which what a commit says of heat counts half."""
MOST_PATHS = 50
"""A commit of more files (a new license line in each) heats none of them."""
RECENT, USUAL = 60, 20
"""Files that count as changed lately without git, and commits that are shown without `since`."""
TIED, HOT, ENTRY, TEST = 1.0, 1.5, 1.0, -1.0
"""What each is worth in the order of files: links to it (by doublings), heat, entry, test."""
_LEVELS: Mapping[Detail, int] = {"compact": 2, "normal": 3, "verbose": 9}
"""How deep folders and headings are shown."""
_CLIPS: Mapping[Detail, int] = {"compact": 90, "normal": 160, "verbose": 240}
"""Characters of a sentence: an abstract, a signature, a task."""
_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")
_INTO = {"import": "imported by", "link": "linked from", "embed": "embedded in",
         "inherits": "base of", "tests": "tested by"}  # fmt: skip
_OUT = {"import": "imports", "link": "links to", "embed": "embeds", "inherits": "inherits from",
        "tests": "tests"}  # fmt: skip
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
class _Caps:
    """How much of a layer is shown: files, parts of one file, and what goes with no file."""

    files: int
    parts: int
    lists: int


_CAPS: Mapping[Detail, _Caps] = {
    "compact": _Caps(25, 5, 20), "normal": _Caps(80, 12, 50), "verbose": _Caps(300, 40, 200),
}  # fmt: skip


class Sight:
    """A source at one moment: its files in order, and which are hot."""

    def __init__(self, structure: Structure, now: datetime) -> None:
        self.structure, self.now = structure, now
        self.key = _key(structure, now)
        self.records = structure.records()
        self.graph = structure.graph
        self.commits = structure.history.commits()

    @cached_property
    def uncommitted(self) -> Mapping[str, Kind]:
        """The files that are not as the last commit has them."""
        return self.structure.history.uncommitted() if self.commits else {}

    @cached_property
    def heat(self) -> Mapping[str, float]:
        """How hot files are by the last commits, from 0 to 1, hottest first.

        What is being edited has no part in it, so that an edit leaves the order of files alone.
        """
        heat = Counter[str]()
        for age, commit in enumerate(self.commits):
            if len(commit.changed) <= MOST_PATHS:
                for path, _ in commit.changed:
                    heat[path] += 0.5 ** (age / HALF_LIFE)
        most = max(heat.values(), default=1.0)
        return {path: value / most for path, value in _most(heat)}

    @cached_property
    def recent(self) -> Mapping[str, float]:
        """The files that changed last by their times, newest first."""
        timed = [(-self.structure.changed_at(path), path) for path in self.records]
        return {path: -at for at, path in heapq.nsmallest(RECENT, timed)}

    @cached_property
    def hot(self) -> list[str]:
        """The hot files, hottest first: by commits, else by their times."""
        return [path for path in self.heat or self.recent if path in self.records]

    @cached_property
    def ties(self) -> Mapping[str, int]:
        """How many files lead to each; tests do not count."""
        tied = {}
        for path in self.records:
            into = {edge.source for edge in self.graph.into(path) if edge.kind != "tests"}
            if count := sum(one in self.records and not self.records[one].test for one in into):
                tied[path] = count
        return tied

    @cached_property
    def order(self) -> list[str]:
        """All files, those first that most of the source turns around."""

        def worth(one: FileRecord) -> float:
            value = TIED * math.log2(1 + self.ties.get(one.path, 0))
            value += HOT * self.heat.get(one.path, 0.0) + (TEST if one.test else 0.0)
            return value + (ENTRY if one.entry else 0.0)

        return sorted(self.records, key=lambda path: (-worth(self.records[path]), path))

    # --- the files that each layer puts first ---------------------------------------------

    @cached_property
    def entries(self) -> list[str]:
        """Where one begins to read."""
        return [path for path in self.order if self.records[path].entry]

    @cached_property
    def indexed(self) -> list[str]:
        """The files with something in them, then other notes; tests last."""
        records = self.records
        named = [one for one in self.order if records[one].definitions or records[one].headings]
        held = {*named}
        rest = [one for one in self.order if one not in held and records[one].shape == "note"]
        return sorted(named, key=lambda one: records[one].test) + rest

    @cached_property
    def related(self) -> list[str]:
        """The files by how many others lead to them; then those that lead somewhere."""
        tied = sorted(self.ties, key=lambda path: (-self.ties[path], path))
        leading = [one for one in self.order if one not in self.ties and self.graph.out(one)]
        return [path for path in (*tied, *leading) if not self.records[path].test]

    @cached_property
    def shown(self) -> list[str]:
        """The files that show something to others; no tests."""
        return [path for path in self.order if _shows(self.records[path])]

    @cached_property
    def busy(self) -> list[str]:
        """The files with tasks that are open."""
        records = self.records
        return [one for one in self.order if any(not task.done for task in records[one].tasks)]

    @cached_property
    def tests(self) -> list[str]:
        """The tests: those of what is hot first."""

        def warmth(path: str) -> float:
            touched = (self.heat.get(one, 0.0) for one in self.graph.tested_by(path))
            return max((self.heat.get(path, 0.0), *touched))

        tests = [path for path, one in self.records.items() if one.test]
        return sorted(tests, key=lambda path: (-warmth(path), path))

    def first_of(self, layer: Layer) -> list[str]:
        """Return the files that a layer puts first."""
        records = self.records
        if layer == "L0":
            return _by_turns([self.hot, self.entries])
        if layer == "L4":
            return [one for one in self.order if records[one].shape == "data" and "/" not in one]
        if layer == "L5":
            tested = ((path, *self.graph.tested_by(path)[:2]) for path in self.tests)
            return list(dict.fromkeys([one for each in tested for one in each] + self.busy))
        if layer == "L6":
            dirty = sorted(path for path, kind in self.uncommitted.items() if kind != "removed")
            found = [*dirty, *paths_of(self.commits)] if self.commits else [*self.recent]
            return [path for path in dict.fromkeys(found) if path in records]
        return {"L1": self.indexed, "L2": self.related, "L3": self.shown}[layer]


def routed_files(
    structure: Structure, kind: TaskKind, limit: int, now: datetime | None = None
) -> list[str]:
    """Return the files that the layers of a kind of task put first, each layer's by turns."""
    sight = _sight(structure, now or structure.clock())
    files = _by_turns([sight.first_of(layer)[:limit] for layer in ROUTES[kind]])
    return [path for path in files if structure.shows(path)][:limit]


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
    began = time.perf_counter()
    now = now or structure.clock()
    structure.settle(SETTLE_SECONDS)
    wanted = tuple(dict.fromkeys(which)) or ROUTES[kind]
    made: dict[Layer, tuple[str, frozenset[str]]] = {}
    for _ in range(TRIES):
        sight = _sight(structure, now)
        meant = since_of(sight, since)
        made = {layer: _layer(sight, layer, detail, meant) for layer in wanted}
        paths = frozenset[str]().union(*(paths for _, paths in made.values()))
        is_sure = structure.verify(paths) and sight.key == _key(structure, now)
        if is_sure:
            break
    shown = {
        layer: text
        for layer, (text, paths) in made.items()
        if is_sure or (layer != "L6" and all(map(structure.shows, paths)))
    }
    said = {(layer, detail, since if layer == "L6" else ""): text for layer, text in shown.items()}
    cached = tuple(key[0] for key, text in said.items() if structure.cache.get(key) == text)
    structure.cache.update(said)
    progress = structure.progress
    unread = progress.total - progress.done
    notes = [f"Still reading: {progress.done:,} of {counted(progress.total, 'file')}."]
    notes = notes if unread else []
    if len(shown) < len(made):
        notes.append("The source is changing: what may no longer be so is left out. Ask again.")
    lacks = Counter(one.fault for one in sight.records.values() if "grammar" in one.fault)
    notes += [f"{counted(count, 'file')} of code as text only: {fault}."
              for fault, count in lacks.most_common(3)]  # fmt: skip
    is_hit = len(cached) == len(wanted) and not unread
    is_fresh = structure.settled and is_sure
    text = "\n\n".join(shown.values())
    return Explored(
        structure.name,
        kind,
        detail,
        "hit" if is_hit else "partial" if cached or unread else "rebuilt",
        "fresh" if is_fresh else "dirty" if unread else "stale",
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


Lines = tuple[list[str], Iterable[str], int]
"""Lines of a layer, the files that they speak of, and how many things are left out."""


def _layer(sight: Sight, layer: Layer, detail: Detail, since: Since) -> tuple[str, frozenset[str]]:
    """Return a layer under its heading, and the files that it speaks of."""
    made = _changes(sight, detail, since) if layer == "L6" else _LAYERS[layer](sight, detail)
    lines, paths, omitted = made
    lines = [f"## {layer} {TITLES[layer]}", *(lines or ["Nothing."])]
    lines += [f"… and {omitted:,} more."] if omitted > 0 else []
    return mask("\n".join(_BREAKS.sub(" ", line) for line in lines)).text, frozenset(paths)


def _map(sight: Sight, detail: Detail) -> Lines:
    """L0: folders with what lies in them, where to begin, where work goes on."""
    caps, records = _CAPS[detail], sight.records
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in records.values():
        parts = one.path.split("/")[:-1]
        for end in range(min(len(parts), _LEVELS[detail]) + 1):
            kind = one.language if one.shape == "code" else one.shape
            counts["/".join(parts[:end])][kind] += 1
    folders = sorted(counts.items(), key=lambda it: (it[0].count("/") + bool(it[0]),
                                                     -it[1].total(), it[0]))  # fmt: skip
    lines = []
    for path, kinds in folders[: caps.lists]:
        said = ", ".join(f"{count:,} {kind or 'other'}" for kind, count in _most(kinds)[:4])
        lines.append(f"{path or '.'}/ {counted(int(kinds.total()), 'file')}: {said}")
    entries = sorted(sight.entries, key=lambda path: path.count("/"))[: caps.lists]
    lines += ["Begin with:"] if entries else []
    lines += [f"- {_titled(records[path])}" for path in entries]
    changes = Counter(path for one in sight.commits for path, _ in one.changed)
    hot = sight.hot[: caps.lists // 2]
    lines += ["Where work goes on:"] if hot else []
    for path in hot if changes else sorted(hot):
        times = f" ({counted(changes[path], 'commit')})" if changes[path] else ""
        lines.append(f"- {path}{times}")
    return lines, (*entries, *hot), len(folders) - caps.lists


def _index(sight: Sight, detail: Detail) -> Lines:
    """L1: titles and headings of notes, what code defines; the central files first."""
    caps, lines = _CAPS[detail], []
    for path in sight.indexed[: caps.files]:
        one = sight.records[path]
        top = [each for each in one.definitions if detail == "verbose" or "." not in each.name]
        if detail == "compact":
            top = [each for each in top if each.public and each.kind != "constant"] or top
        parts = [f"{each.kind} {each.name}" for each in sorted(top, key=_rank)]
        if not one.definitions:
            parts = [
                f"{'#' * each.level} {each.text}"
                for each in one.headings
                if each.level <= _LEVELS[detail] and each.text.casefold() != one.title.casefold()
            ]
        said = _list((_clip(part, detail) for part in parts), caps.parts)
        lines.append(f"{_titled(one)}{': ' if said else ''}{said}")
    return lines, sight.indexed[: caps.files], len(sight.indexed) - caps.files


def _relations(sight: Sight, detail: Detail) -> Lines:
    """L2: the files that most others lead to, with what ties them."""
    caps, records = _CAPS[detail], sight.records
    lines, paths = [], set[str]()
    for path in sight.related[: caps.files]:
        out = [(one.kind, one.target) for one in sight.graph.out(path)]
        into = [(one.kind, one.source) for one in sight.graph.into(path)]
        into.sort(key=lambda one: (one[0] == "tests", -sight.ties.get(one[1], 0), one[1]))
        said = []
        for words, ties in ((_INTO, into), (_OUT, out)):
            known = [one for one in dict.fromkeys(ties) if one[1] in records and one[1] != path]
            grouped: dict[str, list[str]] = {}
            for kind, other in known[: caps.parts]:
                grouped.setdefault(words[kind], []).append(other)
                paths.add(other)
            said += [f"{kind} {', '.join(others)}" for kind, others in grouped.items()]
            said += [f"+{more} more"] if (more := len(known) - caps.parts) > 0 else []
        lines.append(f"{path}: {'; '.join(said)}")
    paths.update(sight.related[: caps.files])
    return lines, paths, len(sight.related) - caps.files


def _surface(sight: Sight, detail: Detail) -> Lines:
    """L3: abstracts and properties of notes, public signatures of code."""
    caps, lines = _CAPS[detail], []
    for path in sight.shown[: caps.files]:
        one = sight.records[path]
        lines.append(f"{path}{': ' if one.abstract else ''}{_clip(one.abstract, detail)}")
        told = [_clip(f"{name}: {value}", detail) for name, value in one.properties[: caps.parts]]
        lines += [f"  {', '.join(told)}"] if told else []
        public = sorted((each for each in one.definitions if each.public), key=_rank)
        for each in public[: caps.parts]:
            more = f"  # {each.summary}" if each.summary and detail != "compact" else ""
            lines.append(f"  {_clip(each.signature, detail)}{_clip(more, detail)}")
        left = len(public[caps.parts :]) + len(one.properties[caps.parts :])
        lines += [f"  +{left} more"] if left else []
    return lines, sight.shown[: caps.files], len(sight.shown) - caps.files


def _manifest(sight: Sight, detail: Detail) -> Lines:
    """L4: kinds of files, tags, and the properties that notes have."""
    most = _CAPS[detail].lists
    kinds, tags = Counter[str](), Counter[str]()
    values: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in sight.records.values():
        kinds[one.language if one.shape == "code" else one.shape] += 1
        tags.update({tag.casefold() for tag in one.tags})
        for name, value in one.properties if one.shape == "note" else ():
            values[name][value] += 1
    lines = []
    if kinds:
        said = ", ".join(f"{kind or 'other'} {count:,}" for kind, count in _most(kinds))
        lines.append(f"Files: {said}")
    if tags:
        said = ", ".join(f"#{tag} ({count})" for tag, count in _most(tags)[:most])
        lines.append(f"Tags: {said}")
    lines += ["Properties of notes:"] if values else []
    schema = sorted(values.items(), key=lambda one: (-one[1].total(), one[0]))
    for name, found in schema[:most]:
        examples = ", ".join(_clip(value, detail) for value, _ in _most(found)[:3])
        lines.append(f"- {name} ({found.total()}): {examples}")
    return lines, (), max(0, len(tags) - most) + max(0, len(schema) - most)


def _work(sight: Sight, detail: Detail) -> Lines:
    """L5: what is left to be done, and which test touches what."""
    caps, records = _CAPS[detail], sight.records
    done = Counter(task.done for one in records.values() for task in one.tasks)
    lines = [f"{counted(done[False], 'open task')}, {done[True]:,} done."] if done else []
    paths = {*sight.busy[: caps.files], *sight.tests[: caps.files]}
    for path in sight.busy[: caps.files]:
        left = [task.text for task in records[path].tasks if not task.done]
        lines += [f"{path}:", *(f"- [ ] {_clip(task, detail)}" for task in left[: caps.parts])]
        lines += [f"  +{more} more"] if (more := len(left) - caps.parts) > 0 else []
    for path in sight.tests[: caps.files]:
        touched = [one for one in sight.graph.tested_by(path) if one in records]
        said = _list(touched, caps.parts)
        lines.append(f"{path}{' tests ' if said else ''}{said}")
        paths.update(touched[: caps.parts])
    omitted = max(0, len(sight.busy) - caps.files) + max(0, len(sight.tests) - caps.files)
    return lines, paths, omitted


_LAYERS: Mapping[Layer, Callable[[Sight, Detail], Lines]] = {
    "L0": _map, "L1": _index, "L2": _relations, "L3": _surface, "L4": _manifest, "L5": _work,
}  # fmt: skip


# --- L6 -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Since:
    """What `since` means: a commit, or a time, or neither."""

    words: str = ""
    commit: str = ""
    at: float = 0.0


def since_of(sight: Sight, text: str) -> Since:
    """Return what a text means; raise BadArgument for what is neither a time nor a revision."""
    said, history = text.strip(), sight.structure.history
    if not said:
        return Since()
    try:
        moment = datetime.fromisoformat(said)
    except ValueError:
        if REVISION.fullmatch(said) and ".." not in said and (commit := history.revision(said)):
            return Since(said, commit=commit)
        try:
            moment = datetime.fromisoformat(first_day("since", said, sight.now))
        except BadArgument as error:
            why = f": {history.fault}" if history.fault else ""
            allowed = f"{_SINCE}; there is no such revision{why}"
            raise BadArgument("since", said, allowed) from error
    zone = moment.tzinfo or sight.now.tzinfo
    return Since(said, at=moment.replace(tzinfo=zone).timestamp())


def _changes(sight: Sight, detail: Detail, since: Since) -> Lines:
    """L6: what changed since a time or a revision, by git where there is git, else by times."""
    caps, history = _CAPS[detail], sight.structure.history
    lines = [f"Since {since.words}:" if since.words else "Lately, by the files' times:"]
    kinds: dict[str, Kind] = {}
    said: dict[str, list[str]] = {}
    commits: Sequence[Commit] = ()
    if sight.commits:
        commits, kinds = _committed(sight, since)
        if not since.words:
            number = min(USUAL, len(sight.commits))
            lines = [f"In the last {counted(number, 'commit')}:" if number > 1
                     else "In the last commit:"]  # fmt: skip
        lines[0] += f" (only the last {LAST} commits are looked at)" * (len(commits) >= LAST)
        counts = Counter(path for one in commits for path, _ in one.changed)
        dirty = sight.uncommitted
        kinds |= dirty
        rest = sorted(path for path in kinds if path not in counts and path not in dirty)
        for path in dict.fromkeys((*sorted(dirty), *paths_of(commits), *rest)):
            if path in kinds:
                is_plain = kinds[path] == "modified" and counts[path]
                said[path] = [] if is_plain else [kinds[path]]
                said[path] += ["not committed"] if path in dirty else []
                said[path] += [counted(counts[path], "commit")] if counts[path] else []
    else:
        lines[0] += f" ({history.fault})" if history.fault else ""
        times = {path: sight.structure.changed_at(path) for path in sight.records}
        if not since.at:
            times = {path: times[path] for path in [*sight.recent][: caps.files]}
        days = [(day_of(at, sight.now), path) for path, at in times.items() if at >= since.at]
        days.sort(key=lambda one: one[1])  # within a day by name: the next edit leaves it as it is
        days.sort(key=lambda one: one[0], reverse=True)
        said = {path: [day] for day, path in days}
    shown = [*said][: caps.files]
    lines += [f"- {path} ({', '.join(said[path])})" for path in shown] or ["No file changed."]
    told = [one for one in commits if one.changed][: caps.lists] if detail != "compact" else []
    lines += ["Commits:"] if told else []
    for one in told:
        day = day_of(one.time, sight.now)
        lines.append(f"- {one.id[:10]} {day} {_clip(one.subject, detail)}".rstrip())
    there = [path for path in shown if kinds.get(path) != "removed"]
    return lines, there, len(said) - len(shown)


def _committed(sight: Sight, since: Since) -> tuple[Sequence[Commit], dict[str, Kind]]:
    """Return the commits that count, newest first, and the files that differ since."""
    history = sight.structure.history
    if since.commit:
        return history.commits(since.commit), history.changed_since(since.commit)
    commits = sight.commits[:USUAL]
    if since.at:
        commits = tuple(one for one in sight.commits if one.time >= since.at)
    changed: dict[str, Kind] = {}
    for one in reversed(commits):
        for path, kind in one.changed:
            is_new = changed.get(path) == "added" and kind == "modified"
            changed[path] = "added" if is_new else kind
    return commits, changed


# --- words --------------------------------------------------------------------------------


def _shows(one: FileRecord) -> bool:
    if one.test:
        return False
    if one.definitions:
        return any(each.public for each in one.definitions)
    return one.shape in ("note", "text") and bool(one.abstract or one.properties)


def _rank(one: Definition) -> tuple[bool, bool]:
    """Put what is for others before what is not, and constants last."""
    return not one.public, one.kind == "constant"


def _titled(one: FileRecord) -> str:
    name, title = one.path.rpartition("/")[2].casefold(), one.title
    known = ("", name, name.rpartition(".")[0])
    return one.path if title.casefold() in known else f"{one.path} “{title}”"


def _list(items: Iterable[str], most: int) -> str:
    said = [*items]
    return ", ".join([*said[:most], *([f"+{len(said) - most} more"] if len(said) > most else [])])


def _clip(text: str, detail: Detail) -> str:
    most = _CLIPS[detail]
    return text if len(text) <= most else f"{text[: most - 2].rstrip()} …"


def _most(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def _by_turns(lists: Sequence[Sequence[str]]) -> list[str]:
    """Return the items of some lists, the first of each, then the second of each …"""
    turns: Iterator[str] = (one for each in zip_longest(*lists) for one in each if one is not None)
    return list(dict.fromkeys(turns))
