"""How long a search takes, stage by stage, over 1,000, 10,000 and 100,000 chunks.

    python benchmarks/search_speed.py [--chunks 1000 10000 100000] [--keep FOLDER]

Vaults of benchmarks/make_vault.py with one real index each, in this process; searches one after
the other, then their stages. `search` is the whole way: filters, both lists, ranking, the check
against the disk, the page of hits. `rank` is what is left of looking (features and model), `the
rest` what is left of `search` (chunks, the check against the disk, the page).

Queries are sentences of the vault's own words; `search, strange words` are the questions of
note_questions.jsonl, hardly a word of which is in the vault, so that it is looked for by parts.

Vectors: the bundled embedder's. Of a large vault only the first texts are embedded; the others'
vectors are drawn between two of those, as their meaning is not looked at here.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from vaultmind.heavy import importing

with importing():  # numpy with one thread, as the daemon has it: more wait busily for each other
    import numpy as np

from example import NOTE_QUESTIONS, NothingForgotten, read
from make_vault import make_vault
from speed import machine, make_queries, timed

from vaultmind.app import local_now
from vaultmind.config import Config, IndexConfig
from vaultmind.index.columns import Floats, Where
from vaultmind.index.embed import open_embedder
from vaultmind.index.folder import VaultFolder
from vaultmind.index.index import Index
from vaultmind.index.outlet import Outlet
from vaultmind.index.search import DEPTH
from vaultmind.ports import Embedder
from vaultmind.types import PERSON, SearchRequest
from vaultmind.vault.paths import VaultPaths

CHUNKS_PER_NOTE = 3.2
"""Of make_vault's notes."""
REAL = 5_000
"""Texts that are embedded."""
QUERIES, WARM = 300, 30
ORDER = (
    "search", "search, strange words", "words", "query vector", "nearest", "rank", "the rest",
    "chunks",
)  # fmt: skip
_WAIT_SECONDS = 7200.0


class Drawn:
    """Implements Embedder: real vectors of the first texts, then some between two of them."""

    def __init__(self, real: Embedder) -> None:
        self._real = real
        self._kept: list[Floats] = []
        self._known: Floats | None = None
        self._rng = np.random.default_rng(0)
        self.id, self.dim = real.id, real.dim
        self.took_ms = 0.0
        self.asked: Floats | None = None

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return a row a text."""
        if len(self._kept) < REAL:
            rows = self._real.embed(texts)
            self._kept.extend(rows)
            return rows
        known = self._known = np.stack(self._kept) if self._known is None else self._known
        first, second = self._rng.integers(len(known), size=(2, len(texts)))
        share = self._rng.uniform(0.2, 0.8, size=(len(texts), 1)).astype(np.float32)
        rows = known[first] * share + known[second] * (1 - share)
        unit: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def embed_query(self, text: str) -> Floats:
        """Return the real vector of a question, and time it."""
        started = time.perf_counter()
        self.asked = self._real.embed_query(text)
        self.took_ms = (time.perf_counter() - started) * 1000
        return self.asked


class Stages:
    """One vault's index and the times of its searches."""

    def __init__(self, vault: Path, state: Path) -> None:
        real = open_embedder("use")
        if real is None:
            sys.exit("The embedder 'use' is not installed.")
        self._embedder = Drawn(real)
        config = Config(vault, state, index=replace(IndexConfig(), watch=False))
        nothing = NothingForgotten()
        outlet = Outlet(VaultFolder(VaultPaths(vault)), nothing, nothing)
        self.index = Index(config, outlet, clock=local_now, embedder=lambda: self._embedder)
        self.index.start()
        if not self.index.wait_ready(_WAIT_SECONDS, vectors=True):
            sys.exit(f"The index was not ready: {self.index.state()}")
        gc.collect()
        gc.freeze()  # as the daemon does
        self.took: defaultdict[str, list[float]] = defaultdict(list)

    def close(self) -> None:
        """Let go of the files."""
        self.index.close()

    def search(self, query: str) -> float:
        """Return the milliseconds of a search."""
        return timed(lambda: self.index.search(SearchRequest(query), PERSON))

    def measure(self, query: str, whole: float) -> None:
        """Time the stages of a search that took so long."""
        columns, finder = self.index._columns, self.index._finder
        everything = columns.mask(Where())
        found = timed(lambda: finder.find(query, Where()))
        vector = self._embedder.took_ms
        words = timed(lambda: finder._matcher.match(query, everything, DEPTH))
        near = timed(lambda: columns.nearest(self._embedder.asked, everything, DEPTH))
        rank = found - vector - words - near
        took = {"search": whole, "query vector": vector, "words": words, "nearest": near}
        for name, ms in {**took, "rank": rank, "the rest": whole - found}.items():
            self.took[name].append(ms)


def measured(chunks: int, folder: Path) -> dict[str, list[float]]:
    """Return the times of every stage over a vault of about so many chunks."""
    vault = folder / f"vault-{chunks}"
    if not vault.exists():
        make_vault(vault, round(chunks / CHUNKS_PER_NOTE))
    stages = Stages(vault, folder / f"state-{chunks}")
    try:
        queries = make_queries(QUERIES + WARM)
        searched = [(query, stages.search(query)) for query in queries]
        for query, whole in searched[WARM:]:
            stages.measure(query, whole)
        strange = [one["query"] for one in read(NOTE_QUESTIONS)]
        took = dict(stages.took)
        took["search, strange words"] = [stages.search(query) for query in strange]
        took["chunks"] = [float(stages.index.state().chunks)]
        return took
    finally:
        stages.close()


def main() -> None:
    """Measure and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chunks", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--keep", type=Path, help="keep vaults and indexes here, to measure again")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vaultmind-speed-") as passing:
        folder = arguments.keep or Path(passing)
        took = {chunks: measured(chunks, folder) for chunks in arguments.chunks}
    columns = [f"{chunks} p{cut}" for chunks in took for cut in (50, 95)]
    print(f"{machine()}\n\n{'ms':24}" + "".join(f"{column:>12}" for column in columns))
    for name in ORDER:
        cells = np.array([np.percentile(stages[name], [50, 95]) for stages in took.values()])
        print(f"{name:24}" + "".join(f"{ms:12.2f}" for ms in cells.flat))


if __name__ == "__main__":
    main()
