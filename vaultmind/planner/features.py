"""Features: what is known of a candidate of a task, each as a number from 0 to 1."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from vaultmind.planner.candidates import Asked, Candidate, candidates
from vaultmind.planner.pages import indexed_rows
from vaultmind.planner.scorer import Stuff
from vaultmind.planner.task import risk_of_path
from vaultmind.planner.types import FileRecord, Risk, TaskKind
from vaultmind.planner.words import stems_of

BIG_TOKENS = 20_000
"""A file of so many tokens or more costs as much as any."""
HALF_LIFE_DAYS = 30.0
"""Days after which a change is half as recent."""
HAS_TESTS = 0.3
"""Of the test proximity: a file that tests touch, though they are none of this task's."""

Role = Literal["code", "test", "note", "document", "data"]
_FITS: Mapping[TaskKind, Mapping[Role, float]] = {
    "bugfix": {"code": 1.0, "test": 0.8, "document": 0.4, "data": 0.4, "note": 0.5},
    "feature": {"code": 1.0, "test": 0.8, "document": 0.6, "data": 0.5, "note": 0.5},
    "refactor": {"code": 1.0, "test": 0.8, "document": 0.3, "data": 0.3, "note": 0.5},
    "incident": {"code": 1.0, "test": 0.4, "document": 0.5, "data": 0.8, "note": 0.7},
    "research": {"code": 0.6, "test": 0.4, "document": 1.0, "data": 0.5, "note": 1.0},
    "writing": {"code": 0.5, "test": 0.3, "document": 1.0, "data": 0.4, "note": 1.0},
    "unknown": {"code": 0.8, "test": 0.7, "document": 0.8, "data": 0.6, "note": 0.8},
}
"""How well each role of a file goes with a kind of task: which layers such a task is asked of."""
_RISKS: Mapping[Risk, float] = {"low": 0.2, "medium": 0.6, "high": 1.0}
_STRUCTURAL = ("path", "definitions", "named", "defined", "used", "user", "tested")
_CHANGELOGS = frozenset(("changelog", "releasenotes", "releasenote", "versionhistory", "whatsnew"))
"""What changelogs are called in any folder, without `_`, `-` and their ending."""
_TOP_CHANGELOGS = frozenset(("change", "changes", "history", "news"))
"""What they are called in the topmost folder: elsewhere it may be what a text is about."""
_FRAGMENTS = frozenset(("changelog", "changelog.d", "changes.d", "newsfragments", "news.d"))
"""Folders of which each text is a piece of one."""
_TEXTS = frozenset(("md", "rst", "txt", "adoc", "html"))
_DOCUMENTS = _TEXTS | {"css"}
_SETTINGS = frozenset(("toml", "cfg", "ini", "yml", "yaml", "json", "lock", "in"))
_PLAIN_DOCUMENTS = frozenset(("readme", "license", "licence", "copying", "notice", "authors"))
_PLAIN_SETTINGS = frozenset(
    ("makefile", "gnumakefile", "dockerfile", "justfile", "procfile", "pipfile", "gemfile")
) | {"rakefile", "brewfile", "jenkinsfile", "vagrantfile", "codeowners"}
"""Names without an ending; any other may be a program."""
_SCOPE = re.compile(r"\s*([\w./\\-]{2,60})(?:\(([^)\n]{1,60})\))?!?:\s")
_TYPES = frozenset(
    ("fix", "feat", "feature", "chore", "refactor", "perf", "style", "build", "revert", "bug")
) | {"bugfix", "hotfix", "wip", "note"}
"""Of `fix(cart): …`: words before a colon that name no place."""


@dataclass(frozen=True, slots=True)
class About:
    """What features are computed from, besides the candidate."""

    kind: TaskKind
    risk: Risk
    record: FileRecord | None
    scope: frozenset[str] = frozenset()
    """What the task names before a colon: `cart` of `fix(cart): …`."""
    age_days: float = math.inf
    """Since the file was changed."""
    path_risk: float = 0.0
    """How critical a file of that path is, 0 to 1."""
    has_tests: bool = False
    of: Stuff = "code"
    """What the source mostly holds."""


def scope_of(task: str) -> frozenset[str]:
    """Return the words of the place that a task names before a colon; of `a/b.py: …` all parts."""
    found = _SCOPE.match(task)
    if found is None:
        return frozenset()
    kind, place = found[1], found[2]
    wanted = place or ("" if kind.lower() in _TYPES else kind)
    return frozenset(stems_of(wanted))


def role_of(path: str, record: FileRecord | None) -> Role:
    """Return what a file is to a task."""
    if record is None or record.shape == "note":
        return "note" if path.endswith((".md", ".canvas")) else "data"
    if record.test:
        return "test"
    return "code" if record.shape == "code" else "document" if record.shape == "text" else "data"


def f_structural_relevance(one: Candidate, about: About) -> float:
    """Return how well the layers that this kind of task is asked of know the file."""
    fit = _FITS[about.kind][role_of(one.path, about.record)]
    signals, told = one.signals, 0.0
    for name in _STRUCTURAL:
        if name in signals:
            told = max(told, signals[name])
    return fit * (0.4 + 0.6 * min(1.0, told))


def f_semantic_score(one: Candidate) -> float:
    """Return how near the best chunk is in meaning."""
    return one.signals.get("meaning", 0.0)


def f_affinity_score(one: Candidate) -> float:
    """Return how much earlier work on such tasks used the file with success."""
    return min(1.0, one.signals.get("affinity", 0.0))


def f_recency_score(about: About) -> float:
    """Return how lately the file was changed: 1 now, half after `HALF_LIFE_DAYS`."""
    return float(0.5 ** (max(0.0, about.age_days) / HALF_LIFE_DAYS))


def f_risk_score(about: About) -> float:
    """Return how critical the file is, as far as the task itself is a risk."""
    return min(1.0, max(0.0, about.path_risk)) * _RISKS[about.risk]


def f_test_proximity(one: Candidate, about: About) -> float:
    """Return how near tests are: it is one of a strong candidate, or is tested by one."""
    near = max(one.signals.get("test", 0.0), one.signals.get("tested", 0.0))
    return max(min(1.0, near), HAS_TESTS if about.has_tests else 0.0)


def f_token_cost(about: About) -> float:
    """Return what the whole file costs, 0 (nothing) to 1 (`BIG_TOKENS`), by its logarithm."""
    tokens = about.record.tokens if about.record else 0
    return min(1.0, math.log1p(tokens) / math.log1p(BIG_TOKENS))


def scope(one: Candidate, about: About) -> float:
    """Return how much of the place that the task names stands in the file's path."""
    if not about.scope:
        return 0.0
    return len(about.scope.intersection(stems_of(one.path))) / len(about.scope)


def sort_of(path: str, of: Stuff = "code") -> str:
    """Return the feature of what sort of file a path names; empty for code and all the rest.

    `of`: the source. Among notes is no changelog: `History.md` is about history.
    """
    folder, _, name = path.lower().rpartition("/")
    stem, _, ending = name.rpartition(".") if "." in name else (name, "", "")
    if of == "code" and _is_changelog(folder, stem, ending):
        return "is_changelog"
    if ending in _DOCUMENTS or name in _PLAIN_DOCUMENTS:
        return "is_document"
    is_hidden = name.startswith(".") and not stem
    return "is_settings" if ending in _SETTINGS or is_hidden or name in _PLAIN_SETTINGS else ""


def _is_changelog(folder: str, stem: str, ending: str) -> bool:
    if ending and ending not in _TEXTS:
        return False
    named = stem.replace("_", "").replace("-", "")
    is_piece = bool(ending) and bool(_FRAGMENTS.intersection(folder.split("/")))
    return is_piece or named in _CHANGELOGS or (not folder and named in _TOP_CHANGELOGS)


def features_of(one: Candidate, about: About) -> Mapping[str, float]:
    """Return all features of a candidate by name."""
    role, sort = role_of(one.path, about.record), sort_of(one.path, about.of)
    return {
        **one.signals,
        **({sort: 1.0} if sort else {}),
        "f_structural_relevance": f_structural_relevance(one, about),
        "f_semantic_score": f_semantic_score(one),
        "f_affinity_score": f_affinity_score(one),
        "f_recency_score": f_recency_score(about),
        "f_risk_score": f_risk_score(about),
        "f_test_proximity": f_test_proximity(one, about),
        "f_token_cost": f_token_cost(about),
        "scope": scope(one, about),
        "is_test": float(role == "test"),
    }


SECONDS_A_DAY = 86_400.0


def measured(asked: Asked) -> list[tuple[Candidate, Mapping[str, float]]]:
    """Return every candidate with its features. Ages are whole days: a plan lasts a day."""
    pool = candidates(asked)
    structure, understood = asked.source.structure, asked.understood
    graph = structure.graph if structure else None
    scope = scope_of(asked.request.task)
    now = asked.now.timestamp()
    rows = indexed_rows(asked.source, [*pool])
    ages = {row.path: (now - row.stat.mtime_ns / 1e9) // SECONDS_A_DAY for row in rows}
    done = []
    for path, one in pool.items():
        record = structure.record(path) if structure else None
        is_code = record is not None and record.shape == "code"
        about = About(
            understood.predicted,
            understood.risk,
            record,
            scope,
            ages.get(path, math.inf),
            risk_of_path(path),
            bool(is_code and graph and any(edge.kind == "tests" for edge in graph.into(path))),
            asked.known.names.stuff,
        )
        done.append((one, features_of(one, about)))
    return done
