"""A learned model of the planner as a file: read with care, since anybody may edit it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, ValidationError

from vaultmind.errors import ConfigError
from vaultmind.learn.models import stuff_of
from vaultmind.planner.scorer import MAX_WEIGHT, Stuff, built_in

MAX_BYTES, MAX_TEXT, MAX_TEXTS = 100_000, 200, 20
_Text = Annotated[str, Field(max_length=MAX_TEXT, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
_Number = Annotated[float, Field(ge=-MAX_WEIGHT, le=MAX_WEIGHT, allow_inf_nan=False)]


class Learned(BaseModel, frozen=True, strict=True):
    """Weights that were learnt, and where they come from, as their file has them.

    Nothing of what was learnt from.
    """

    version: Literal[1] = 1
    name: _Text
    """The file's stem."""
    of: Stuff
    created: _Text = ""
    learnt_on: Annotated[tuple[_Text, ...], Field(max_length=MAX_TEXTS)] = ()
    """In words, as counts and days: no task, no path."""
    seen: _Text = ""
    """Of when the latest lesson was that it learnt from or was tried on."""
    scores: Annotated[dict[_Text, _Number], Field(max_length=MAX_TEXTS)] = {}
    """Of the trial."""
    weights: Annotated[dict[str, _Number], Field(min_length=1)]


def text_of(learned: Learned) -> str:
    """Return a model as the text of its file: the same model, the same bytes."""
    return learned.model_dump_json(indent=1) + "\n"


def read_learned(path: Path) -> Learned:
    """Read a model; its id is the file's stem.

    Raises ConfigError, which names the file, the field and what is allowed.
    """
    name = f"The planner's model {path}"
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"{name} is no file of at most {MAX_BYTES:,} bytes.")
        told = Learned.model_validate_json(path.read_bytes())
    except ValidationError as error:
        (one, *_) = error.errors(include_url=False, include_context=False)
        where = ".".join(f"{it!s:.60}" for it in one["loc"])
        raise ConfigError(f"{name}: {where or 'the file'}: {one['msg']}.") from error
    except OSError as error:
        raise ConfigError(f"{name} cannot be read: {error.strerror}.") from error
    if stuff_of(path.stem) != told.of:
        raise ConfigError(f"{name} is of {told.of}, and its name begins otherwise.")
    known = built_in(told.of).weights  # an older program may have known others
    weights = {name: weight for name, weight in told.weights.items() if name in known}
    if not weights:
        there = f"There are: {', '.join(sorted(known))}."
        raise ConfigError(f"{name} weighs no feature that is known.", hint=there)
    update = {"name": path.stem, "seen": told.seen or told.created, "weights": weights}
    return told.model_copy(update=update)
