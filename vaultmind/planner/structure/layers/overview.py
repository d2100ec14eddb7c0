"""L0 map, L1 index and L3 surface: what there is, by folder and by file."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from vaultmind.planner.structure.layers.sight import CAPS, Sight
from vaultmind.planner.structure.layers.views import (
    Entry,
    Folder,
    Hot,
    Indexed,
    IndexView,
    MapView,
    Surface,
    SurfaceView,
)
from vaultmind.planner.structure.records import Definition, FileRecord
from vaultmind.planner.types import Detail

_LEVELS: dict[Detail, int] = {"compact": 2, "normal": 3, "verbose": 6}
_DEPTHS: dict[Detail, int] = {"compact": 2, "normal": 3, "verbose": 9}


def map_view(sight: Sight, detail: Detail) -> MapView:
    """Return L0: folders with what lies in them, where to begin, where work goes on."""
    caps, records = CAPS[detail], sight.records
    folders = _folders(records.values(), _DEPTHS[detail])
    ranked = [path for path in sight.order if records[path].entry]
    ranked.sort(key=lambda path: path.count("/"))
    entries = tuple(Entry(path, records[path].title) for path in ranked[: caps.lists])
    counts = Counter[str]()
    if sight.past is not None:
        counts.update(path for one in sight.past.commits for path, _ in one.changed)
    hottest = sight.hot[: caps.lists // 2]
    hot = tuple(Hot(path, counts[path]) for path in (hottest if counts else sorted(hottest)))
    return MapView(
        len(records), tuple(folders[: caps.lists]), entries, hot, len(folders[caps.lists :])
    )


def map_files(sight: Sight) -> list[str]:
    """Return the files that a map puts first: hot places and entries by turns."""
    entries = [path for path in sight.order if sight.records[path].entry]
    return by_turns([sight.hot, entries])


def index_view(sight: Sight, detail: Detail) -> IndexView:
    """Return L1: titles and headings of notes, what code defines; the central files first."""
    caps, records = CAPS[detail], sight.records
    wanted = index_files(sight)
    files = tuple(_indexed(records[path], detail) for path in wanted[: caps.files])
    return IndexView(files, len(wanted) - len(files))


def index_files(sight: Sight) -> list[str]:
    """Return the files of an index in its order: those with something in them, tests last."""
    records = sight.records
    named = [one for one in sight.order if records[one].definitions or records[one].headings]
    held = set(named)
    rest = [one for one in sight.order if one not in held and records[one].shape == "note"]
    return sorted(named, key=lambda one: records[one].test) + rest


def surface_view(sight: Sight, detail: Detail) -> SurfaceView:
    """Return L3: abstracts and properties of notes, public signatures of code."""
    caps, records = CAPS[detail], sight.records
    wanted = surface_files(sight)
    files = tuple(_surface(records[path], detail) for path in wanted[: caps.files])
    return SurfaceView(files, len(wanted) - len(files))


def surface_files(sight: Sight) -> list[str]:
    """Return the files of a surface in its order: those that show something, no tests."""
    records = sight.records
    return [path for path in sight.order if not records[path].test and _shows(records[path])]


def _shows(one: FileRecord) -> bool:
    if one.definitions:
        return any(each.public for each in one.definitions)
    return one.shape in ("note", "text") and bool(one.abstract or one.properties)


def _folders(records: Iterable[FileRecord], depth: int) -> list[Folder]:
    """Return the folders down to a depth, in the order of their names; each once."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in records:
        parts = one.path.split("/")[:-1]
        kind = one.language if one.shape == "code" else one.shape
        for end in range(min(len(parts), depth) + 1):
            counts["/".join(parts[:end])][kind] += 1
    found = []
    for path, kinds in sorted(counts.items(), key=lambda one: (one[0].count("/"), one[0])):
        ranked = sorted(kinds.items(), key=lambda one: (-one[1], one[0]))
        found.append(Folder(f"{path}/" if path else "", kinds.total(), tuple(ranked)))
    found.sort(key=lambda one: (one.path.count("/"), -one.files, one.path))
    return found


def _indexed(one: FileRecord, detail: Detail) -> Indexed:
    caps = CAPS[detail]
    if one.definitions:
        top = [each for each in one.definitions if detail == "verbose" or "." not in each.name]
        if detail == "compact":
            top = [each for each in top if each.public and each.kind != "constant"] or top
        parts = [f"{each.kind} {each.name}" for each in sorted(top, key=_rank)]
    else:
        level = _LEVELS[detail]
        shown = [each for each in one.headings if each.level <= level]
        told = [each for each in shown if each.text.casefold() != one.title.casefold()]
        parts = [f"{'#' * each.level} {each.text}" for each in told]
    return Indexed(one.path, one.title, tuple(parts[: caps.parts]), len(parts[caps.parts :]))


def _surface(one: FileRecord, detail: Detail) -> Surface:
    caps = CAPS[detail]
    shown = sorted((each for each in one.definitions if each.public), key=_rank)
    public = [(each.signature, each.summary) for each in shown]
    some = caps.parts
    return Surface(
        one.path,
        one.abstract,
        one.properties[:some],
        tuple(public[:some]),
        len(public[some:]) + len(one.properties[some:]),
    )


def _rank(one: Definition) -> tuple[bool, bool]:
    """Put what is for others before what is not, and constants last."""
    return not one.public, one.kind == "constant"


def by_turns(lists: Sequence[Sequence[str]]) -> list[str]:
    """Return the items of some lists, the first of each, then the second of each …"""
    longest = max(map(len, lists), default=0)
    turns = (one[at] for at in range(longest) for one in lists if at < len(one))
    return list(dict.fromkeys(turns))
