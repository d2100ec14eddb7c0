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
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, field, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import Field, ValidationError, model_validator
from pydantic.dataclasses import dataclass

from vaultmind.errors import ConfigError
from vaultmind.tables import adapter, table

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
MAX_SHOWN = 300
"""Characters of what is wrong with a file that are told."""
MOST_OWN = 100
"""Models of a vault that are read."""
MOST_BEFORE = 50
"""Changes of what is in use that can be taken back."""

FAMILIES: dict[str, tuple[str, str]] = table(__file__, "weights/families.toml")
"""The features by what they are made of: why, in words, and their names; what each is stands in
docs/ranking.md."""
FEATURES = {name: family for family, (_, names) in FAMILIES.items() for name in names.split()}
"""The family of every feature, in the order of the models' files."""
ALL = frozenset(FEATURES)
WITHOUT_MEANING = frozenset(one for one in ALL if not FEATURES[one].startswith("meaning"))

T = TypeVar("T")
ModelKind = Literal["planner", "ranker"]
MODEL_KINDS: tuple[ModelKind, ...] = ("planner", "ranker")
Stamp = tuple[int, ...]
"""Times of change."""
Name = Annotated[str, Field(max_length=MAX_NAME)]
Weight = Annotated[float, Field(strict=True, ge=-MAX_WEIGHT, le=MAX_WEIGHT)]


@dataclass(frozen=True)
class Model:
    """Weights of named features, and where they come from."""

    name: str
    embedder: str
    """The embedder whose vectors it was trained with, e.g. `use`; empty: without any."""
    features: Annotated[Mapping[str, Weight], Field(min_length=1)]
    """The weight of each."""
    spread: Mapping[str, Weight]
    """How much each varied in training: a weight says little without it."""
    trained_on: tuple[str, ...]
    scores: Mapping[str, Mapping[str, Weight]]
    """Measures by what was ranked and not learnt from, e.g. `{"locomo": {"R@5": 0.75}}`."""
    version: Literal[1] = 1

    @model_validator(mode="after")
    def _check_features(self) -> Self:
        if wrong := {*self.features, *self.spread} - (ALL if self.embedder else WITHOUT_MEANING):
            raise ValueError(f"no features of such a model: {', '.join(sorted(wrong))}")
        return self


@dataclass(frozen=True)
class Switch:
    """A change of what is in use: what it was before."""

    kind: ModelKind
    was: Mapping[Name, Name]
    """Ids of models by what each ranks (`code`, `notes`; an embedder's name); empty for none
    named."""
    at: Name = ""


@dataclass(frozen=True)
class Active:
    """What is in use."""

    planner: Mapping[Name, Name] = field(default_factory=dict)
    ranker: Mapping[Name, Name] = field(default_factory=dict)
    before: tuple[Switch, ...] = ()
    """Oldest first."""
    fault: str = ""
    """Why the file could not be understood: then shipped models rank throughout."""
    version: Literal[1] = 1

    def of(self, kind: ModelKind) -> Mapping[str, str]:
        """Return the ids in use of a kind of model, by what each ranks."""
        return self.planner if kind == "planner" else self.ranker


@dataclass(frozen=True)
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
        model = self.named.get(self.active.ranker.get(name or WORDS, SHIPPED_ID))
        return model if model is not None and model.embedder == name else shipped(name)


def stamp_of(memory_folder: Path) -> Stamp:
    """Return what tells whether a vault's own models changed: files are replaced, never written."""
    stamp = []
    for name in (ACTIVE, OWN):
        with suppress(OSError):
            stamp.append((memory_folder / name).stat().st_mtime_ns)
    return tuple(stamp)


def registry_of(memory_folder: Path) -> Registry:
    """Read a vault's own rankers from its memory folder (`VaultMind`)."""
    active = read_active(memory_folder)
    models: dict[str, Model] = {}
    faults = [active.fault] if active.fault else []
    for path in islice(sorted((memory_folder / OWN).glob("*.json")), MOST_OWN):
        try:
            models[path.stem] = read_model(path)
        except ConfigError as error:
            faults.append(str(error))
    faults += [
        f"{ACTIVE} names the ranker {one!r}, which is not in {OWN}/ or cannot be read: the "
        "built-in one is used."
        for one in dict.fromkeys(active.ranker.values())
        if one not in (SHIPPED_ID, *models)
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
    return read_checked(path, Model, f"The ranker {path}")


def read_checked(path: Path, of: type[T], name: str) -> T:
    """Read a file of JSON as what it should be.

    Raises ConfigError that calls it by a name and says what is wrong first.
    """
    try:
        if path.is_symlink() or path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"{name} is not a file of at most {MAX_BYTES:,} bytes.")
        found: T = adapter(of).validate_json(path.read_bytes())  # type: ignore[arg-type]
        return found
    except OSError as error:
        raise ConfigError(f"{name} cannot be read: {error}.") from error
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        told = ": ".join(filter(None, (".".join(map(str, wrong["loc"]))[:MAX_NAME], wrong["msg"])))
        raise ConfigError(f"{name} cannot be used: {told[:MAX_SHOWN]}.") from error


def model_text(model: Model) -> str:
    """Return a model as the text of its file: the same model, the same bytes."""
    told = asdict(model)
    for key in ("features", "spread"):
        told[key] = {name: round(value, 4) for name, value in told[key].items()}
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def read_active(memory_folder: Path) -> Active:
    """Read what is in use from a memory folder; a file that is wrong is told in `fault`."""
    path = memory_folder / ACTIVE
    if not path.is_file():
        return Active()
    try:
        return replace(read_checked(path, Active, ACTIVE), fault="")
    except ConfigError as error:
        return Active(fault=str(error))


def active_text(active: Active) -> str:
    """Return the text of the file: of the same, the same bytes."""
    told = asdict(replace(active, before=active.before[-MOST_BEFORE:]))
    del told["fault"]
    for kind in MODEL_KINDS:
        told[kind] = dict(sorted(told[kind].items()))
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"
