"""How an embedder is opened again that an earlier configuration named: for the time of a change."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vaultmind.config.settings import IndexConfig
from vaultmind.errors import VaultMindError
from vaultmind.index.embedders.embed import open_embedder
from vaultmind.ports import Embedder

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Former:
    """What the index keeps of a configured embedder, and what opens it by that."""

    spec: str = ""
    """The name of the one that is configured now; empty for one that cannot be opened again."""
    opens: Callable[[str], Embedder | None] = lambda name: None
    """Returns an embedder by its configured name."""

    def open(self, spec: str, wanted: str) -> Embedder | None:
        """Return the embedder that was kept; None where it is no longer to be had.

        One of another version than `wanted` (an id) is another embedder. Nor is one that texts
        would be sent to: only the configuration in force may say that they leave this machine.
        """
        if not spec or spec == self.spec:
            return None
        try:
            embedder = self.opens(spec)
        except Exception as error:  # whatever it lacks by now: the new one will do
            log.warning("the embedder %s cannot be opened again: %s", wanted, error)
            return None
        leaves = getattr(embedder, "sends_to", "")
        return embedder if embedder and embedder.id == wanted and not leaves else None


@dataclass(frozen=True, slots=True)
class Embedders:
    """What opens the embedder in use, and one that was in use before."""

    opens: Callable[[], Embedder | None]
    former: Former = field(default_factory=Former)


def configured(named: IndexConfig) -> Embedders:
    """Return what opens a bundled embedder, as it is configured."""
    return Embedders(lambda: open_embedder(named.embedder, named.embedder_key_env))


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


class Shared:
    """One embedder for several indexes: opened once, and closed by the first one's owner alone."""

    def __init__(self, opens: Callable[[], Embedder | None]) -> None:
        self._opens = opens
        self._lock = threading.Lock()
        self._held: Embedder | None = None

    def open(self) -> Embedder | None:
        """Return the embedder, opened now if it was not; None where none is set."""
        with self._lock:
            self._held = self._held or self._opens()
            return self._held

    def lend(self) -> Embedder | None:
        """Return the same for another index, which cannot close it."""
        embedder = self.open()
        return Lent(embedder) if embedder else None


class Lent:
    """Another's embedder. Implements ports.Embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def id(self) -> str:
        """Return its name."""
        return self._embedder.id

    @property
    def dim(self) -> int:
        """Return the length of a vector."""
        return self._embedder.dim

    @property
    def sends_to(self) -> str:
        """Return the host that texts are sent to; empty when they stay here."""
        return str(getattr(self._embedder, "sends_to", ""))

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one L2-normalised row a text."""
        return self._embedder.embed(texts)

    def embed_query(self, text: str) -> Matrix:
        """Return the vector of a question."""
        return self._embedder.embed_query(text)
