"""L2 relations, L4 manifest and L5 work: what files have to do with each other."""

from __future__ import annotations

from collections import Counter, defaultdict

from vaultmind.planner.structure.layers.sight import CAPS, Sight
from vaultmind.planner.structure.layers.views import (
    ManifestView,
    Property,
    Related,
    RelationsView,
    Tested,
    Work,
    WorkView,
)
from vaultmind.planner.types import Detail

_VALUES = 3
"""Of a property, as examples."""


def relations_view(sight: Sight, detail: Detail) -> RelationsView:
    """Return L2: the files that most others lead to, with what ties them."""
    caps = CAPS[detail]
    wanted = relation_files(sight)
    files = tuple(_related(sight, path, caps.parts) for path in wanted[: caps.files])
    return RelationsView(files, len(wanted) - len(files))


def relation_files(sight: Sight) -> list[str]:
    """Return the files by how many others lead to them; then those that lead somewhere."""
    ties, graph, records = sight.ties, sight.structure.graph, sight.records
    tied = sorted(ties, key=lambda path: (-ties[path], path))
    leading = [path for path in sight.order if path not in ties and graph.out(path)]
    return [path for path in (*tied, *leading) if path in records and not records[path].test]


def _related(sight: Sight, path: str, most: int) -> Related:
    graph, records = sight.structure.graph, sight.records
    out = dict.fromkeys((edge.kind, edge.target) for edge in graph.out(path))
    into = dict.fromkeys((edge.kind, edge.source) for edge in graph.into(path))
    out_known = [one for one in out if one[1] in records and one[1] != path]
    into_known = [one for one in into if one[1] in records and one[1] != path]
    rank = sight.ties
    into_known.sort(key=lambda one: (one[0] == "tests", -rank.get(one[1], 0), one[1]))
    return Related(
        path,
        tuple(out_known[:most]),
        tuple(into_known[:most]),
        len(out_known[most:]),
        len(into_known[most:]),
    )


def manifest_view(sight: Sight, detail: Detail) -> ManifestView:
    """Return L4: tags and the properties that notes have."""
    caps, records = CAPS[detail], sight.records
    kinds, tags = Counter[str](), Counter[str]()
    values: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in records.values():
        kinds[one.language if one.shape == "code" else one.shape] += 1
        tags.update({tag.casefold() for tag in one.tags})
        for name, value in one.properties if one.shape == "note" else ():
            values[name][value] += 1
    schema = sorted(values.items(), key=lambda one: (-one[1].total(), one[0]))
    properties = tuple(
        Property(name, found.total(), tuple(value for value, _ in _most(found)[:_VALUES]))
        for name, found in schema[: caps.lists]
    )
    left = len(tags) - len(_most(tags)[: caps.lists]) + len(schema) - len(properties)
    return ManifestView(tuple(_most(kinds)), tuple(_most(tags)[: caps.lists]), properties, left)


def manifest_files(sight: Sight) -> list[str]:
    """Return the files of configuration at the top."""
    records = sight.records
    return [one for one in sight.order if records[one].shape == "data" and "/" not in one]


def work_view(sight: Sight, detail: Detail) -> WorkView:
    """Return L5: what is left to be done, and which test touches what."""
    caps, records = CAPS[detail], sight.records
    open_, done = 0, 0
    for one in records.values():
        ticked = sum(task.done for task in one.tasks)
        open_, done = open_ + len(one.tasks) - ticked, done + ticked
    busy = _busy(sight)
    tasks = []
    for path in busy[: caps.files]:
        left = tuple(task.text for task in records[path].tasks if not task.done)
        tasks.append(Work(path, left[: caps.parts], len(left[caps.parts :])))
    tests = _tests(sight)
    tested = []
    for path in tests[: caps.files]:
        touched = sight.structure.graph.tested_by(path)
        touched = tuple(one for one in touched if one in records)
        tested.append(Tested(path, touched[: caps.parts], len(touched[caps.parts :])))
    left_out = len(busy[caps.files :]) + len(tests[caps.files :])
    return WorkView(open_, done, tuple(tasks), tuple(tested), left_out)


def work_files(sight: Sight) -> list[str]:
    """Return tests and what they touch by turns, the hot ones first; then files with tasks."""
    graph, records = sight.structure.graph, sight.records
    found = []
    for path in _tests(sight):
        found += [path, *graph.tested_by(path)[:2]]
    return [one for one in dict.fromkeys((*found, *_busy(sight))) if one in records]


def _busy(sight: Sight) -> list[str]:
    records = sight.records
    return [one for one in sight.order if any(not task.done for task in records[one].tasks)]


def _tests(sight: Sight) -> list[str]:
    """Return the tests: those of what is hot first."""
    records, heat, graph = sight.records, sight.heat, sight.structure.graph

    def warmth(path: str) -> float:
        edges = (one for one in graph.out(path) if one.kind == "tests")
        touched = (heat.get(one.target, 0.0) for one in edges)
        return max((heat.get(path, 0.0), *touched))

    tests = [path for path, one in records.items() if one.test]
    return sorted(tests, key=lambda path: (-warmth(path), path))


def _most(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))
