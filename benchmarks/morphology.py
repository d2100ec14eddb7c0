"""How well search finds words in another form: inflected, mistyped, or as identifiers.

    python benchmarks/morphology.py [--embedder use|e5|none] [--among VAULT] [--misses] [--json]

One vault holds all notes of the four sets (benchmarks/data): Polish and Russian ones asked for in
other cases, numbers, aspects and names (morphology_pl, morphology_ru), notes asked for with one
typing error or without diacritics (typos), and notes with identifiers asked for exactly and in
parts. Files have no telling names. `--among` puts the notes of another vault beside them
(large_vault.py makes one), so that what is asked for stands among others in the same words.

All questions were written before anything was measured. Rules were mended while the first and the
second set of inflections were known; the third of each was written and measured when they stood.

Rows: SQLite's own full text with the tokenizer `unicode61` and no stems, our full text alone, and
the whole search with vectors. R@k is the share of questions with a right note among the first k
notes, MRR the reciprocal rank of the first. "where plain fails" counts only the questions for
which `unicode61` has no right note among its first five.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from example import NothingForgotten

from vaultmind.app import local_now
from vaultmind.config import Config, IndexConfig
from vaultmind.index.columns import Columns, Where
from vaultmind.index.db import Database
from vaultmind.index.folder import VaultFolder
from vaultmind.index.index import Index
from vaultmind.index.matching import Matcher
from vaultmind.index.notes import chunk_file, place_of
from vaultmind.index.outlet import Outlet
from vaultmind.index.sync import Prepared, store
from vaultmind.types import PERSON, SearchRequest
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

DATA = Path(__file__).parent / "data"
SETS = ("morphology_pl", "morphology_ru", "typos", "identifiers")
DEPTH = 20
"""Notes looked at for each question."""
_WAIT_SECONDS = 600.0
Finds = Callable[[str], list[str]]
"""Gives the names of notes for a query, best first."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query and the notes that are right, any of them."""

    group: str
    """Of which figures are told together: the set and its part."""
    kind: str
    query: str
    right: frozenset[str]


def read_sets() -> tuple[dict[str, str], list[Question]]:
    """Return the notes of all sets by name, and their questions."""
    notes: dict[str, str] = {}
    questions: list[Question] = []
    for name in SETS:
        for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines():
            one = json.loads(line)
            if "text" in one:
                notes[one["note"]] = one["text"]
                continue
            part = one.get("set") or one.get("lang") or one["how"]
            group = f"{name}, {part}"
            questions.append(Question(group, one["kind"], one["query"], frozenset(one["notes"])))
    return notes, questions


def plain(notes: dict[str, str]) -> Finds:
    """Return what SQLite finds by itself: `unicode61`, any word of the query, its BM25."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE plain USING fts5(note UNINDEXED, text)")
    connection.executemany("INSERT INTO plain VALUES (?, ?)", notes.items())

    def finds(query: str) -> list[str]:
        any_word = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        rows = connection.execute(
            "SELECT note FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT ?", (any_word, DEPTH)
        )
        return [row[0] for row in rows]

    return finds


def by_text(vault: Path, state: Path) -> Finds:
    """Return what our full text finds alone."""
    paths = VaultPaths(vault)
    reader = VaultReader(paths, 8_000_000)
    database = Database(state / "text.db")
    with database.write():
        for file in sorted(vault.glob("*.md")):
            place, read = place_of(file.name, paths), reader.read(file.name)
            if place:
                chunks = chunk_file(file.name, read, place)
                store(database, Prepared(file.name, place, read.stat, read.sha, chunks))
    columns = Columns(database)
    columns.follow()
    names = [Path(path).stem for path in columns.files]
    matcher, everything = Matcher(columns), columns.mask(Where())

    def finds(query: str) -> list[str]:
        found = matcher.match(query, everything, DEPTH).found
        return list(dict.fromkeys(names[file] for file in columns.rows["file"][found]))

    return finds


def whole(index: Index) -> Finds:
    """Return what a search finds that asks for everything."""

    def finds(query: str) -> list[str]:
        request = SearchRequest(query, limit=DEPTH, max_tokens=100_000)
        return list(
            dict.fromkeys(Path(hit.path).stem for hit in index.search(request, PERSON).hits)
        )

    return finds


def rows(embedder: str, notes: dict[str, str]) -> Iterator[tuple[str, Finds]]:
    """Yield each way to search, with its name, over a vault of these notes."""
    yield "plain unicode61", plain(notes)
    with tempfile.TemporaryDirectory() as folder:
        vault, state = Path(folder) / "vault", Path(folder) / "state"
        vault.mkdir()
        for name, text in notes.items():
            (vault / f"{name}.md").write_text(f"{text}\n", "utf-8")
        yield "our text alone", by_text(vault, state)
        settings = replace(IndexConfig(), embedder=embedder, watch=False)
        config = Config(vault, state, index=settings)
        nothing = NothingForgotten()
        outlet = Outlet(VaultFolder(VaultPaths(vault)), nothing, nothing)
        index = Index(config, outlet, clock=local_now)
        index.start()
        try:
            if not index.wait_ready(_WAIT_SECONDS, vectors=embedder != "none"):
                sys.exit(f"The index was not ready after {_WAIT_SECONDS:.0f} s: {index.state()}")
            yield f"search ({embedder})", whole(index)
        finally:
            index.close()


def rank_of(found: list[str], right: frozenset[str]) -> int:
    """Return the rank of the first right note, from 1; 0 for none."""
    return next((rank for rank, name in enumerate(found, 1) if name in right), 0)


def measures(ranks: list[int]) -> dict[str, float]:
    """Return how many questions there are, R@1, R@5 and MRR."""
    count = len(ranks)
    return {
        "questions": count,
        "R@1": sum(rank == 1 for rank in ranks) / max(1, count),
        "R@5": sum(0 < rank <= 5 for rank in ranks) / max(1, count),
        "MRR": sum(1 / rank for rank in ranks if rank) / max(1, count),
    }


def beside(vault: Path | None) -> dict[str, str]:
    """Return the notes of another vault, under names that tell nothing."""
    files = sorted(vault.rglob("*.md")) if vault else []
    return {f"other-{at:05}": file.read_text("utf-8") for at, file in enumerate(files)}


def measured(
    embedder: str, others: dict[str, str], *, misses: bool
) -> dict[str, dict[str, dict[str, float]]]:
    """Return the measures by group and row; show with `misses` what was not found."""
    notes, questions = read_sets()
    fails: set[Question] = set()
    figures: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for row, finds in rows(embedder, notes | others):
        ranks = {question: rank_of(finds(question.query), question.right) for question in questions}
        if not fails:
            fails = {question for question, rank in ranks.items() if not 0 < rank <= 5}
        for group in dict.fromkeys(question.group for question in questions):
            own = {question: rank for question, rank in ranks.items() if question.group == group}
            figures[group][row] = measures(list(own.values()))
            hard = [rank for question, rank in own.items() if question in fails]
            figures[f"{group}, where plain fails"][row] = measures(hard)
        for question, rank in ranks.items():
            exact = question.group.endswith(("exact", "case")) and rank != 1
            if misses and (exact or not 0 < rank <= 5) and row != "plain unicode61":
                names = " ".join(sorted(question.right))
                told = f"{row}: {question.group}, {question.kind}: {question.query!r}"
                print(f"{told} is at {rank}, right: {names}", file=sys.stderr)
    return figures


def table(figures: dict[str, dict[str, dict[str, float]]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield "| set | questions | row | R@1 | R@5 | MRR |"
    yield "|---|---|---|---|---|---|"
    for group, by_row in figures.items():
        for row, one in by_row.items():
            shares = " | ".join(f"{one[name]:.3f}" for name in ("R@1", "R@5", "MRR"))
            yield f"| {group} | {one['questions']:.0f} | {row} | {shares} |"


def main() -> None:
    """Measure and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--embedder", default="use", choices=("use", "e5", "none"))
    parser.add_argument("--among", type=Path, help="a vault whose notes stand beside")
    parser.add_argument("--misses", action="store_true", help="show what is not found")
    args = parser.parse_args()
    print("\n".join(table(measured(args.embedder, beside(args.among), misses=args.misses))))


if __name__ == "__main__":
    main()
