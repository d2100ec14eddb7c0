"""The rankers: linear models, one weight a feature, read from small JSON files.

A file says what it is, so that a score can be told apart from another: `version` of the features,
the embedder that its closeness was measured with (empty for a model without meaning, which is
another model and not the same one with zeros), the names of the features with their weights and
how much each varied in training, what it learnt from, and how well it ranked what it had not seen.

A vault's own stand in `models/ranker/*.json` of its memory folder. Which of them are in use, and
which of the planner's, says `models/active.json`:

    {"version": 1, "planner": {"code": "code-2026-11-22-1a2b3c"}, "ranker": {"use": "shipped"},
     "before": [{"kind": "planner", "was": {"code": "shipped"}, "at": "2026-11-22T18:00:00+00:00"}]}

A model goes by its file's stem; `shipped` is the one that comes with the program. What is not named
is as if nobody had learnt: the planner's shipped weights, the last ranker by name. What is found
inside a vault is not trusted: a file is read within limits, and one that is wrong is left out and
told, never a reason for search to fail.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from vaultmind.errors import ConfigError

VERSION = 1
"""Of the features, and of `active.json`: files of another are refused."""
ACTIVE, OWN = "models/active.json", "models/ranker"
"""Below the memory folder."""
SHIPPED = Path(__file__).parent / "weights"
SHIPPED_ID = "shipped"
WORDS = "words"
"""What the ranker of a search without an embedder is called."""
USUAL = "use"
"""The shipped model of an embedder that nobody trained a model for: closeness comes to it on that
embedder's own scale."""
MAX_BYTES = 100_000
MAX_NAME = 100
MAX_WEIGHT = 1_000.0
MAX_SHOWN = 60
"""Characters of a wrong value that are repeated."""
MOST_OWN, MOST_LOOKED_AT = 50, 500
"""Models of a vault that are read, and entries of its folder that are looked at."""
MOST_BEFORE = 50
"""Changes of what is in use that can be taken back."""

FAMILIES: dict[str, str] = {
    "words": "bm25 bm25_rank topic topic_rank coverage subject rarest near exact",
    "title": "title",
    "beside": "topic_before topic_after topic_two_away subject_around subject_around_two"
    " answers_topic",
    "whole": "whole_best whole_top3 whole_subject best_of_whole",
    "speaker": "speaker mentioned first_person",
    "answer": "asks",
    "time": "says_time says_number when recent",
    "written": "length message_length start",
    "kind": "foreign note message fact summary",
    "links": "links_in links_out",
    "meaning": "meaning meaning_of_best meaning_rank meaning_feedback meaning_subject"
    " meaning_speaker meaning_foreign no_vector",
    "meaning_beside": "meaning_before meaning_after meaning_around meaning_two_away",
    "meaning_whole": "meaning_whole_best meaning_whole_top3",
}
"""The features by what they are made of; what each is stands in docs/ranking.md."""
FEATURES: dict[str, str] = {
    name: family for family, names in FAMILIES.items() for name in names.split()
}
"""The family of every feature, in the order of the models' files."""
ALL = frozenset(FEATURES)
WITHOUT_MEANING = frozenset(one for one in ALL if not FEATURES[one].startswith("meaning"))

ModelKind = Literal["planner", "ranker"]
MODEL_KINDS: tuple[ModelKind, ...] = ("planner", "ranker")
Stamp = tuple[tuple[str, int, int], ...]
"""Name, time of change and size of each file, by name."""


@dataclass(frozen=True, slots=True)
class Model:
    """Weights of named features, and where they come from."""

    name: str
    embedder: str
    """The embedder whose vectors it was trained with, e.g. `use`; empty: without any."""
    weights: Mapping[str, float]
    spread: Mapping[str, float]
    """How much each feature varied in training: a weight says little without it."""
    trained_on: tuple[str, ...]
    scores: Mapping[str, Mapping[str, float]]
    """Measures by what was ranked and not learnt from, e.g. `{"locomo": {"R@5": 0.75}}`."""


@dataclass(frozen=True, slots=True)
class Switch:
    """A change of what is in use: what it was before."""

    kind: ModelKind
    was: Mapping[str, str]
    """Ids of models by what each ranks (`code`, `notes`; an embedder's name); empty for none
    named."""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Active:
    """What is in use."""

    planner: Mapping[str, str] = field(default_factory=dict)
    ranker: Mapping[str, str] = field(default_factory=dict)
    before: tuple[Switch, ...] = ()
    """Oldest first."""
    fault: str = ""
    """Why the file could not be understood: then shipped models rank throughout."""

    def of(self, kind: ModelKind) -> Mapping[str, str]:
        """Return the ids in use of a kind of model, by what each ranks."""
        return self.planner if kind == "planner" else self.ranker


@dataclass(frozen=True, slots=True)
class Registry:
    """The rankers at hand."""

    faults: tuple[str, ...] = ()
    """What is wrong with files of the vault that were left out."""
    named: Mapping[str, Model] = field(default_factory=dict)
    """The vault's own by the stem of their file."""
    active: Active = field(default_factory=Active)

    def choose(self, embedder: str) -> Model:
        """Return the model for an embedder's id (`use-0.2.1`), or for none (empty)."""
        name = embedder.partition("-")[0]
        if self.active.fault:
            return shipped(name)
        wanted = self.active.ranker.get(name or WORDS)
        if wanted is not None:
            model = self.named.get(wanted)
            return model if model is not None and model.embedder == name else shipped(name)
        fitting = [self.named[one] for one in sorted(self.named)]
        return next((one for one in reversed(fitting) if one.embedder == name), shipped(name))


def stamp_of(memory_folder: Path) -> Stamp:
    """Return what tells whether a vault's own models changed.

    It is asked at each search, and most vaults have none.
    """
    folder = memory_folder / OWN
    if not folder.parent.exists() or folder.parent.is_symlink() or folder.is_symlink():
        return ()
    found: list[tuple[str, int, int]] = []
    for path, least in ((folder.parent, ACTIVE), (folder, "")):
        try:
            with os.scandir(path) as entries:
                for entry in islice(entries, MOST_LOOKED_AT):
                    name = f"models/{entry.name}" if least else entry.name
                    wanted = name == ACTIVE if least else name.endswith(".json")
                    if wanted and entry.is_file(follow_symlinks=False):
                        stat = entry.stat(follow_symlinks=False)
                        found.append((name, stat.st_mtime_ns, stat.st_size))
        except OSError:
            continue
    return tuple(sorted(found))


def registry_of(memory_folder: Path) -> Registry:
    """Read a vault's own rankers from its memory folder (`VaultMind`)."""
    active = read_active(memory_folder)
    names = [name for name, *_ in stamp_of(memory_folder) if name != ACTIVE]
    models: dict[str, Model] = {}
    faults = [active.fault] if active.fault else []
    if len(names) > MOST_OWN:
        faults.append(f"Of {len(names)} rankers in {OWN}/ only the last {MOST_OWN} are read.")
    wanted = {f"{one}.json" for one in active.ranker.values()}
    for name in dict.fromkeys((*(one for one in names if one in wanted), *names[-MOST_OWN:])):
        try:
            models[name.removesuffix(".json")] = read_model(memory_folder / OWN / name)
        except ConfigError as error:
            faults.append(str(error))
    faults += [
        f"{ACTIVE} names the ranker {one!r}, which is not in {OWN}/ or cannot be read: the shipped "
        "one ranks."
        for one in dict.fromkeys(active.ranker.values())
        if one != SHIPPED_ID and one not in models
    ]
    return Registry(tuple(faults), models, active)


@cache
def shipped(embedder: str) -> Model:
    """Return the model that ships for an embedder by name, or without one (empty)."""
    path = SHIPPED / f"{embedder or WORDS}.json"
    is_known = not embedder or (embedder.isalnum() and path.is_file())
    return read_model(path if is_known else SHIPPED / f"{USUAL}.json")


def read_model(path: Path) -> Model:
    """Read a model. Raises ConfigError, which names the file, the field and what is allowed."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"The ranker {path} is larger than {MAX_BYTES:,} bytes.")
        told = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"The ranker {path} cannot be read: {_short(str(error))}.") from error
    if not isinstance(told, dict) or told.get("version") != VERSION:
        raise ConfigError(
            f"The ranker {path} is not of version {VERSION}, which this program has.",
            hint="Train it again.",
        )

    def checked(key: str, fine: bool, what: str) -> Any:  # noqa: ANN401
        if not fine:
            shown = _short(repr(told.get(key)))
            raise ConfigError(f"In the ranker {path}, {key} is {shown}: it must be {what}.")
        return told[key]

    def texts(key: str) -> str:
        return str(checked(key, isinstance(told.get(key), str), "a text"))

    allowed = ALL if texts("embedder") else WITHOUT_MEANING

    def weights(key: str) -> dict[str, float]:
        found = told.get(key)
        fine = isinstance(found, dict) and bool(found) and allowed.issuperset(found)
        what = f"numbers from -{MAX_WEIGHT:g} to {MAX_WEIGHT:g} by feature: {sorted(allowed)}"
        held = checked(key, fine and all(map(_is_weight, dict(found or {}).values())), what)
        return {name: float(number) for name, number in held.items()}

    learnt, scores = told.get("trained_on"), told.get("scores")
    is_list = isinstance(learnt, list) and all(isinstance(one, str) for one in learnt)
    is_table = isinstance(scores, dict) and all(
        isinstance(row, dict) and all(map(_is_weight, row.values())) for row in scores.values()
    )
    return Model(
        name=texts("name"),
        embedder=texts("embedder"),
        weights=weights("features"),
        spread=weights("spread"),
        trained_on=tuple(checked("trained_on", is_list, "a list of texts")),
        scores=checked("scores", is_table, "measures by what was ranked"),
    )


def model_text(model: Model) -> str:
    """Return a model as the text of its file: the same model, the same bytes."""
    told = {
        "version": VERSION,
        "name": model.name,
        "embedder": model.embedder,
        "trained_on": list(model.trained_on),
        "scores": {
            name: {key: round(value, 3) for key, value in row.items()}
            for name, row in model.scores.items()
        },
        "features": {name: round(value, 4) for name, value in model.weights.items()},
        "spread": {name: round(value, 4) for name, value in model.spread.items()},
    }
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def read_active(memory_folder: Path) -> Active:
    """Read what is in use from a memory folder; a file that is wrong is told in `fault`."""
    path = memory_folder / ACTIVE
    try:
        if path.is_symlink() or path.parent.is_symlink() or not path.is_file():
            return Active()
        if path.stat().st_size > MAX_BYTES:
            return Active(fault=f"{ACTIVE} is larger than {MAX_BYTES:,} bytes.")
        return parsed(path.read_bytes())
    except OSError as error:
        return Active(fault=f"{ACTIVE} cannot be read: {(error.strerror or 'unreadable').lower()}.")


def parsed(raw: bytes | str) -> Active:
    """Return what a file says is in use; never raises."""
    try:
        told = json.loads(raw)
    except (ValueError, RecursionError):
        return Active(fault=f"{ACTIVE} is no JSON.")
    if not isinstance(told, dict) or told.get("version") != VERSION:
        return Active(fault=f"{ACTIVE} needs 'version': {VERSION}.")
    named = {kind: _names(told.get(kind, {})) for kind in MODEL_KINDS}
    for kind, names in named.items():
        if names is None:
            return Active(fault=f"{ACTIVE}: {kind!r} must name models by what they rank.")
    before = told.get("before", [])
    switches = [
        Switch(one["kind"], was, str(one.get("at", ""))[:MAX_NAME])
        for one in (before if isinstance(before, list) else [])
        if isinstance(one, dict) and one.get("kind") in MODEL_KINDS
        and (was := _names(one.get("was"))) is not None
    ]  # fmt: skip
    return Active(named["planner"] or {}, named["ranker"] or {}, tuple(switches[-MOST_BEFORE:]))


def active_text(active: Active) -> str:
    """Return the text of the file: of the same, the same bytes."""
    told = {
        "version": VERSION,
        "planner": dict(sorted(active.planner.items())),
        "ranker": dict(sorted(active.ranker.items())),
        "before": [
            {"kind": one.kind, "was": dict(sorted(one.was.items())), "at": one.at}
            for one in active.before[-MOST_BEFORE:]
        ],
    }
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def _names(told: Any) -> dict[str, str] | None:  # noqa: ANN401
    """Return a table of names; None for what is none."""
    if not isinstance(told, dict):
        return None
    fine = all(isinstance(value, str) and len(value) <= MAX_NAME for value in told.values())
    return {str(key)[:MAX_NAME]: value for key, value in told.items()} if fine else None


def _short(said: str) -> str:
    return said if len(said) <= MAX_SHOWN else f"{said[:MAX_SHOWN]}…"


def _is_weight(number: object) -> bool:
    if isinstance(number, bool) or not isinstance(number, int | float):
        return False
    return -MAX_WEIGHT <= number <= MAX_WEIGHT  # of NaN neither holds
