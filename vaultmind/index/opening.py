"""How an embedder is opened again that an earlier configuration named: for the time of a change."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from vaultmind.errors import VaultMindError
from vaultmind.index.embed import CHROMA, Options
from vaultmind.ports import Embedder

_NOT_KEPT = "allow_remote"
"""Only the configuration in force may say that texts leave this machine."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Former:
    """What the index keeps of a configured embedder, and what opens it by that."""

    spec: str = ""
    """Of the one that is configured now; empty for one that cannot be opened again."""
    opens: Callable[[str, Options], Embedder | None] = lambda name, options: None
    """Returns an embedder by its configured name and options."""

    def open(self, spec: str, wanted: str) -> Embedder | None:
        """Return the embedder that was kept; None where it is no longer to be had.

        One of another version than `wanted` (an id) is another embedder.
        """
        if not spec or spec == self.spec:
            return None
        try:
            told = json.loads(spec)
            embedder = self.opens(str(told["name"]), tuple(dict(told["options"]).items()))
        except Exception as error:  # whatever it lacks by now: the new one will do
            log.warning("the embedder %s cannot be opened again: %s", wanted, error)
            return None
        return embedder if embedder and embedder.id == wanted else None


@dataclass(frozen=True, slots=True)
class Embedders:
    """What opens the embedder in use, and one that was in use before."""

    opens: Callable[[], Embedder | None]
    former: Former = field(default_factory=Former)


@dataclass(frozen=True, slots=True)
class Opened:
    """The configured embedder, and the one that made the vectors where that is another."""

    embedder: Embedder | None = None
    former: Embedder | None = None
    wrong: VaultMindError | None = None
    """Why the configured one cannot be opened: what makes it do so is in the person's hands."""


def opened_both(
    opens: Callable[[], Embedder | None], former: Former, spec: str, made_by: str
) -> Opened:
    """Open the configured embedder, and that of the vectors by what was kept of it.

    Raises what is wrong with the first where there is no second. Both are None where none is set.
    """
    try:
        embedder = opens()
    except VaultMindError as error:  # a package that is missing, an option that is wrong
        if old := former.open(spec, made_by):
            return Opened(None, old, error)
        raise
    if embedder is None or embedder.id == made_by:
        return Opened(embedder)
    return Opened(embedder, former.open(spec, made_by))


def spec_of(name: str, options: Options) -> str:
    """Return what is kept of a configured embedder: no key stands there, nor any leave."""
    kept = {key: value for key, value in options if key != _NOT_KEPT}
    return json.dumps({"name": name, "options": kept if name.startswith(CHROMA) else {}})
