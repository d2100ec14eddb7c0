"""How long a search takes, stage by stage, over 1,000, 10,000 and 100,000 chunks.

    python benchmarks/search_speed.py [--chunks 1000 10000 100000] [--keep FOLDER] [--json]

Vaults of benchmarks/make_vault.py with one real index each, in this process; searches one after
the other. `search` is the whole way: filters, both lists, ranking, the check against the disk, the
page of hits. Its stages: `query vector` and `nearest` are timed within it (they run beside
`words`), the others apart, over the same database with the same findings; `the rest` is what is
left of `search` (chunks, coverage, the check against the disk, the page). `rank` is the features
and the model, `why` the reasons of 24 candidates.

Queries are sentences of the vault's own words; `search, strange words` are the questions of
note_questions.jsonl, hardly a word of which is in the vault, so that it is looked for by parts.

Vectors: the bundled embedder's. Of a large vault only the first texts are embedded; the others'
vectors are drawn between two of those, as their meaning is not looked at here.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from vaultmind.heavy import importing

with importing():  # numpy with one thread, as the daemon has it: more wait busily for each other
    import numpy as np

from example import NOTE_QUESTIONS, NothingForgotten, read
from make_vault import make_vault
from speed import machine, make_queries, timed

from vaultmind.app import local_now
from vaultmind.config import Config, IndexConfig
from vaultmind.index.columns import Floats
from vaultmind.index.db import Database, rows_of
from vaultmind.index.embedders.embed import open_embedder
from vaultmind.index.index import Index
from vaultmind.index.matching import TextAnswer, TextIndex
from vaultmind.index.models import ordered, shipped
from vaultmind.index.outlet import Withheld
from vaultmind.index.rank import Found, Memory, gather, why
from vaultmind.index.search import DEPTH
from vaultmind.index.vectors.store import ChromaStore
from vaultmind.index.where import Where
from vaultmind.ports import Embedder
from vaultmind.types import PERSON, SearchRequest
from vaultmind.vault.paths import VaultPaths

CHUNKS_PER_NOTE = 3.2
"""Of make_vault's notes."""
REAL = 5_000
"""Texts that are embedded."""
QUERIES, WARM = 300, 30
REASONED = 24
"""Candidates whose reasons a search tells."""
ORDER = (
    "search", "search, strange words", "words", "query vector", "nearest", "gather", "rank", "why",
    "the rest", "candidates", "chunks",
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


class TimedStore(ChromaStore):
    """Chroma, with the last query's time and findings."""

    took_ms = 0.0
    found: list[tuple[str, float]]

    def query(self, collection: str, vector: Floats, limit: int) -> list[tuple[str, float]]:
        """Return (id, cosine distance), nearest first."""
        started = time.perf_counter()
        self.found = super().query(collection, vector, limit)
        self.took_ms = (time.perf_counter() - started) * 1000
        return self.found


class Stages:
    """One vault's index and the times of its searches."""

    def __init__(self, vault: Path, state: Path) -> None:
        real = open_embedder("use")
        if real is None:
            sys.exit("The embedder 'use' is not installed.")
        self._embedder = Drawn(real)
        self._store = TimedStore(state / "chroma")
        config = Config(vault, state, index=replace(IndexConfig(), watch=False))
        self.index = Index(
            config,
            VaultPaths(vault),
            Withheld(NothingForgotten(), NothingForgotten()),
            clock=local_now,
            embedder=lambda: self._embedder,
            store=self._store,
        )
        self.index.start()
        if not self.index.wait_ready(_WAIT_SECONDS, vectors=True):
            sys.exit(f"The index was not ready: {self.index.state()}")
        self._database = Database(state / "index.db")
        self._memory = Memory()
        self._text = TextIndex(self._database)
        self._model = shipped("use")
        self.took: defaultdict[str, list[float]] = defaultdict(list)

    def close(self) -> None:
        """Let go of the files."""
        self._database.close()
        self.index.close()

    def search(self, query: str) -> float:
        """Return the milliseconds of a search."""
        return timed(lambda: self.index.search(SearchRequest(query), PERSON))

    def measure(self, query: str) -> None:
        """Search, and time the stages."""
        whole = self.search(query)
        clock = [time.perf_counter()]
        answer = self._text.answer(query, Where(), DEPTH)
        clock.append(time.perf_counter())
        found = self._findings(query, answer)
        clock.append(time.perf_counter())
        scene = gather(self._database, found, self._memory)
        clock.append(time.perf_counter())
        if scene is None:
            return
        scores, features = self._model.score(scene)
        best = ordered(scores, scene)
        clock.append(time.perf_counter())
        why(self._model, scene, features, [rowid for rowid, _ in best[:REASONED]])
        clock.append(time.perf_counter())
        steps = ("words", "", "gather", "rank", "why")
        times = dict(zip(steps, ((b - a) * 1000 for a, b in pairwise(clock)), strict=True))
        del times[""]
        near = self._embedder.took_ms + self._store.took_ms
        rest = whole - max(near, times["words"]) - times["gather"] - times["rank"] - times["why"]
        self._keep(
            times
            | {
                "search": whole,
                "query vector": self._embedder.took_ms,
                "nearest": self._store.took_ms,
                "the rest": max(0.0, rest),
                "candidates": float(scene.count),
            }
        )

    def _findings(self, query: str, answer: TextAnswer) -> Found:
        with self._database.read() as connection:
            rows = rows_of(connection, [name for name, _ in self._store.found], Where())
        near = {rows[name][0]: 1.0 - far for name, far in self._store.found if name in rows}
        return Found(
            query,
            answer.wanted,
            {hit.rowid: hit.score for hit in answer.hits},
            near,
            self._embedder.asked,
            self._embedder.id,
            scores=answer.scores,
        )

    def _keep(self, times: dict[str, float]) -> None:
        for name, took in times.items():
            self.took[name].append(took)


def measured(chunks: int, folder: Path) -> dict[str, list[float]]:
    """Return the times of every stage over a vault of about so many chunks."""
    vault = folder / f"vault-{chunks}"
    if not vault.exists():
        make_vault(vault, round(chunks / CHUNKS_PER_NOTE))
    stages = Stages(vault, folder / f"state-{chunks}")
    try:
        queries = make_queries(QUERIES + WARM)
        for query in queries[:WARM]:
            stages.search(query)
        for query in queries[WARM:]:
            stages.measure(query)
        strange = [one["query"] for one in read(NOTE_QUESTIONS)]
        took = dict(stages.took)
        took["search, strange words"] = [stages.search(query) for query in strange]
        took["chunks"] = [float(stages.index.state().chunks)]
        return took
    finally:
        stages.close()


def rows_from(took: dict[int, dict[str, list[float]]]) -> dict[str, dict[str, float]]:
    """Return p50 and p95 of each stage, a column a size."""
    rows: dict[str, dict[str, float]] = {}
    for name in ORDER:
        rows[name] = {}
        for chunks, stages in took.items():
            for cut in (50, 95):
                rows[name][f"{chunks} p{cut}"] = float(np.percentile(stages[name], cut))
    return rows


def main() -> None:
    """Measure and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chunks", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--keep", type=Path, help="keep vaults and indexes here, to measure again")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vaultmind-speed-") as passing:
        folder = arguments.keep or Path(passing)
        took = {chunks: measured(chunks, folder) for chunks in arguments.chunks}
    rows = rows_from(took)
    if arguments.json:
        print(json.dumps({"machine": machine(), "rows": rows}, indent=1))
        return
    columns = list(next(iter(rows.values())))
    print(f"{machine()}\n\n{'ms':24}" + "".join(f"{column:>12}" for column in columns))
    for name, values in rows.items():
        print(f"{name:24}" + "".join(f"{values[column]:12.2f}" for column in columns))


if __name__ == "__main__":
    main()
