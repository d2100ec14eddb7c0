"""What one package needs of another, as Protocols. Adapters fill them; `app.py` wires them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from vaultmind.types import (
    Caller,
    Chunk,
    Generated,
    Hit,
    MessageRef,
    Neighbour,
    Progress,
    Prompt,
    Scrubbed,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

Clock = Callable[[], datetime]
"""Returns the present as an aware datetime in the person's time zone."""

Report = Callable[[Progress], None]
"""Called with each step of a long piece of work; cheap, and never raises."""


def silent(progress: Progress) -> None:
    """Report progress to nobody."""


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def id(self) -> str:
        """Name and version, e.g. `use-0.2`: part of the key of every cached vector."""
        ...

    @property
    def dim(self) -> int:
        """Length of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one L2-normalised float32 row per text, shape (len(texts), dim)."""
        ...

    def embed_query(self, text: str) -> Matrix:
        """Return the vector of a question, shape (dim,): some models ask otherwise than they
        answer.
        """
        ...


class Nearest(Protocol):
    """Turns questions into vectors, once an embedder and the chunks' vectors are there."""

    @property
    def embedder_id(self) -> str:
        """Return the id of the embedder in use; empty while there is none."""
        ...

    def query_vector(self, query: str) -> Matrix | None:
        """Return a question's vector, shape (dim,); None while vectors cannot be searched."""
        ...


class Related(Protocol):
    """Finds what is tied to what a search found: by links, by tags, in meaning."""

    def related(
        self, query: str, found: Sequence[Hit], agent: str, caller: Caller, least: float
    ) -> list[Neighbour]:
        """Return chunks of the notes and of one agent's memory that are tied to some hits.

        The strongest come first, none is weaker than `least`, and of a note there is one chunk.
        Each may be shown to the caller and is on disk as it was indexed; the hits themselves are
        not among them. Works without vectors, with less.
        """
        ...

    def replies(self, found: Sequence[Hit], agent: str, caller: Caller) -> dict[str, Hit]:
        """Return, by the id of each hit that is a message, what somebody else said after it.

        Each may be shown to the caller and is on disk as it was indexed; its score is that of
        the hit.
        """
        ...


class Forgotten(Protocol):
    """What must not be shown: the tombstones, as the index and the ways out see them."""

    def hides(self, agent: str, record: str, part: str, /) -> bool:
        """Tell whether a part of a record said something that was forgotten.

        A message of a session, by block or own id; or a part of a summary (its path without
        `.md`), by block.
        """
        ...

    def hider(self, agent: str, /) -> Callable[[str, str], bool]:
        """Return what tells the same of one agent's records, as they are hidden now."""
        ...


class Readers(Protocol):
    """Who may read whose memory: the rights in force, as the index and the ways out see them."""

    def lets_read(self, caller: Caller, owner: str, /) -> bool:
        """Tell whether a caller may read an agent's memory; the person may read all."""
        ...


class MessageFinder(Protocol):
    """Finds messages that may say a thing; the forgetting side decides whether they do."""

    def messages_about(self, agent: str, text: str, limit: int) -> list[tuple[MessageRef, str]]:
        """Return candidate messages of an agent with their texts, likeliest first."""
        ...


class FileIndexer(Protocol):
    """Brings the index up to date with single files, at once."""

    def refresh(self, paths: Iterable[str], patience: float = -1) -> None:
        """Index the vault-relative paths as they stand on disk now (or drop them).

        With `patience` it waits no longer than so many seconds for its turn.
        """
        ...

    def mark(self, paths: Iterable[str]) -> None:
        """Say that the paths changed; the background indexes them soon. Never blocks."""
        ...


class IndexErasing(Protocol):
    """Takes what the files no longer say out of the index, so that no byte of it is left."""

    def begin(self) -> None:
        """Note that files are about to change: a scrub that a crash prevents is done later."""
        ...

    def scrub(self, paths: Iterable[str]) -> Scrubbed:
        """Index the paths as they stand, and clean database, full text, cache and vectors."""
        ...

    def saying(self, text: str, limit: int) -> list[Chunk]:
        """Return the chunks that hold words of a text, likeliest first."""
        ...

    def nearest_to(self, texts: Sequence[str], limit: int) -> list[tuple[Chunk, float]] | None:
        """Return the chunks that mean nearly the same as a text, with the cosine; None while
        meaning cannot be searched.
        """
        ...


class Generator(Protocol):
    """A language model that answers prompts: in a process of its own, or on another host."""

    @property
    def id(self) -> str:
        """Name of the model, e.g. `SmolLM2-135M-Instruct.Q4_1`: what records say made them."""
        ...

    @property
    def context_tokens(self) -> int:
        """Tokens that prompt and answer may have together; 0 where nobody says."""
        ...

    def count(self, text: str) -> int:
        """Return the tokens of a text: exact where the model's tokenizer is at hand."""
        ...

    def generate(self, prompt: Prompt) -> Generated:
        """Answer a prompt within its limits; raises MinionFailed, which says why not."""
        ...

    def close(self) -> None:
        """Let go of what it holds open."""
        ...
