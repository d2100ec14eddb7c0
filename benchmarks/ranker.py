"""How well the learned ranker finds what answers: LoCoMo's questions and those over notes.

`train_ranker.py` measures with it and trains.

LoCoMo (Maharana et al., ACL 2024) is CC BY-NC 4.0 and is not part of this repository; without a
path only the notes are measured. Each conversation is imported into a vault of its own. The ranker
learns from all conversations but one, and from the questions over notes, and is measured on the
one left out; figures are means over conversations. Questions over notes (the example vault, a large
generated one; words in other forms, mistyped, identifiers) are held out together with all that ask
for the same note, in five parts.

R@k is the share of a question's evidence among the first k turns (of notes: whether a right one is
there), MRR the reciprocal rank of the first.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from example import EXAMPLE, NOTE_QUESTIONS, QUESTIONS, read, read_word_sets
from large_vault import write_vault
from locomo import CUTS, imported, load, name_of, questions

from vaultmind.index.columns import Columns, Floats, Where
from vaultmind.index.db import Database
from vaultmind.index.embed import embedded_text
from vaultmind.index.models import FEATURES, WITHOUT_MEANING
from vaultmind.index.notes import chunk_file, place_of
from vaultmind.index.rank import EXACT
from vaultmind.index.search import Finder
from vaultmind.index.sync import Prepared, store
from vaultmind.index.training import Lesson, train
from vaultmind.ports import Embedder
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.scan import Rules

Asked = tuple[tuple[str, str, str], Collection[str]]
"""Group, kind and text of a question, and what is right."""
DEPTH = 200
"""Candidates of each list."""
L2 = 5e-3
WEIGHTS = {"notes": 1.0, "large": 1.0, "words": 0.6}
"""Of a question over notes beside one of LoCoMo; of the many about single words."""
PARTS = 5
LEARNT_AT_HOME = ("length", "title")
"""Features that only a vault's own ranker weighs: how long its notes are is a matter of taste."""
_EMBEDDED_AT_ONCE = 64
EVERYTHING = Where()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A question, what each search finds, and its candidates with their features."""

    group: str
    """The conversation, or `notes`."""
    kind: str
    """LoCoMo's category, or how a note is asked for."""
    text: str
    right: frozenset[str]
    """Messages or paths."""
    candidates: tuple[str, ...]
    features: Floats
    by_text: tuple[str, ...]
    by_meaning: tuple[str, ...]

    def lesson(self) -> Lesson:
        """Return it as something to learn from."""
        right = np.array([name in self.right for name in self.candidates], dtype=np.float32)
        return Lesson(self.features, right, WEIGHTS.get(self.group, 1.0))

    def by(self, weights: Floats) -> tuple[str, ...]:
        """Return the candidates by a linear model."""
        exact = self.features[:, list(FEATURES).index("exact")] >= EXACT
        order = np.lexsort((-(self.features @ weights), ~exact))
        return tuple(self.candidates[at] for at in order)


class Vault:
    """Files in a real index, with exact vectors beside it. Implements ports.Nearest."""

    def __init__(self, files: Iterator[Prepared], embedder: Embedder, folder: Path) -> None:
        fresh = not folder.exists()
        self.database = Database(folder / "index.db")
        self.embedder, self.embedder_id = embedder, embedder.id
        if fresh:
            with self.database.write():
                for prepared in files:
                    store(self.database, prepared)
        self._embed()
        with self.database.read() as connection:
            rows = connection.execute("SELECT rowid, message, path, time FROM chunks").fetchall()
        self.names = {row[0]: row[1] or row[2] for row in rows}
        self.paths = {row[0]: row[2] for row in rows}
        now = datetime.fromisoformat(max(row[3] for row in rows)).replace(tzinfo=UTC)
        columns = Columns(self.database)
        columns.follow()
        columns.take_vectors(embedder.id, embedder.dim)
        self.finder = Finder(columns, self, folder, lambda: now)

    def query_vector(self, query: str) -> Floats | None:
        """Return a question's vector."""
        return self.embedder.embed_query(query)

    def _embed(self) -> None:
        with self.database.read() as connection:
            rows = connection.execute(
                "SELECT text_hash, kind, title, text FROM chunks WHERE embeds AND text_hash "
                "NOT IN (SELECT text_hash FROM embeddings WHERE embedder = ?)",
                (self.embedder.id,),
            ).fetchall()
        for at in range(0, len(rows), _EMBEDDED_AT_ONCE):
            some = rows[at : at + _EMBEDDED_AT_ONCE]
            made = self.embedder.embed([embedded_text(*chunk) for _, *chunk in some])
            values = [
                (row[0], self.embedder.id, np.asarray(vector, np.float32).tobytes())
                for row, vector in zip(some, made, strict=True)
            ]
            with self.database.write() as connection:
                connection.executemany("INSERT OR IGNORE INTO embeddings VALUES (?, ?, ?)", values)


def vault_files(root: Path) -> Iterator[Prepared]:
    """Yield the files of a vault that are indexed."""
    paths = VaultPaths(root)
    reader, rules = VaultReader(paths, 8_000_000), Rules(paths, ())
    for file in sorted(root.rglob("*.md")):
        path = file.relative_to(root).as_posix()
        place = place_of(path, paths)
        if place is not None and not rules.excluded(path):
            read = reader.read(path)
            yield Prepared(path, place, read.stat, read.sha, chunk_file(path, read, place))


def names_of(embedder: str) -> tuple[str, ...]:
    """Return the features of a model with an embedder, or without one (empty)."""
    names = (name for name in FEATURES if embedder or name in WITHOUT_MEANING)
    return tuple(name for name in names if name not in LEARNT_AT_HOME)


def silent(words: str) -> None:
    """Tell nobody what is being done."""


def asked(
    data: Path | None, embedder: Embedder, keep: Path, tell: Callable[[str], None] = silent
) -> list[Ranked]:
    """Return every question with its candidates and all their features.

    `tell` hears what is being done, a line at a time.
    """
    found: list[Ranked] = []
    if data is not None:
        conversations = load(data)
        every = questions(conversations)
        for number, conversation in enumerate(conversations):
            name = name_of(number)
            tell(f"{name} ({number + 1} of {len(conversations)}): indexing, embedding")
            files = vault_files(imported(conversation, keep / name))
            vault = Vault(files, embedder, keep / name / "index")
            tell(f"{name}: {len(vault.names)} chunks; asking")
            for one in every:
                if one.conversation == name:
                    kind = str(one.category)
                    found.append(_seen(vault, vault.names, (name, kind, one.text), one.evidence))
            vault.database.close()
    for name, root, own in _over_notes(keep):
        tell(f"{name}: indexing, embedding")
        vault = Vault(vault_files(root), embedder, keep / name)
        tell(f"{name}: {len(vault.names)} chunks; asking {len(own)} questions")
        found += [_seen(vault, vault.paths, asks, right) for asks, right in own]
        vault.database.close()
    return found


def _over_notes(keep: Path) -> Iterator[tuple[str, Path, list[Asked]]]:
    """Yield the vaults of notes, each with what is asked over it."""
    lines, more = read(QUESTIONS), read(NOTE_QUESTIONS)
    by_vault = {
        name: [one for one in more if one["vault"] == name] for name in ("example", "large")
    }
    yield "notes", EXAMPLE, [_asked("notes", one) for one in [*lines, *by_vault["example"]]]
    notes, words = read_word_sets()
    root = keep / "notes-vault"
    if not root.is_dir():
        write_vault(root)
        for name, text in notes.items():
            (root / f"{name}.md").write_text(f"{text}\n", "utf-8")
    large = [_asked("large", one) for one in more if one["vault"] == "large"]
    large += [
        (("words", one.group, one.query), {f"{name}.md" for name in one.right}) for one in words
    ]
    yield "large", root, large


def _asked(group: str, told: dict[str, Any]) -> Asked:
    kind = {"cross": "cross-language"}.get(told["kind"], told["kind"])
    return (group, kind, told["query"]), frozenset(told["paths"])


def _seen(
    vault: Vault, names: dict[int, str], question: tuple[str, str, str], right: Collection[str]
) -> Ranked:
    group, kind, query = question
    found = vault.finder.find(query, EVERYTHING)
    if found is None:
        empty = np.zeros((0, len(FEATURES)), np.float32)
        return Ranked(group, kind, query, frozenset(right), (), empty, (), ())
    by_text = _sorted(found.rowids, found.bm25)
    by_meaning = _sorted(found.rowids, np.nan_to_num(found.closeness, nan=-1.0))
    lists = (found.rowids, by_text, by_meaning)
    candidates, *by = [tuple(names[rowid] for rowid in some) for some in lists]
    return Ranked(group, kind, query, frozenset(right), candidates, found.features, *by)


def _sorted(rowids: list[int], values: Floats) -> list[int]:
    return [rowids[at] for at in np.argsort(-values, kind="stable")]


def weights_from(lessons: Sequence[Ranked], names: Sequence[str]) -> tuple[Floats, Floats]:
    """Return weights and spreads of all features, 0 for those that are not named."""
    chosen = [at for at, name in enumerate(FEATURES) if name in names]
    taught = [one.lesson() for one in lessons if one.candidates]
    learnt = train([replace(one, features=one.features[:, chosen]) for one in taught], L2)
    weights, spread = np.zeros((2, len(FEATURES)), np.float32)
    weights[chosen], spread[chosen] = learnt
    return weights, spread


def held_out(seen: Sequence[Ranked], names: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """Return each question's ranking by a model that never saw its conversation or its note."""
    part = _parts(seen)
    rankings: dict[int, tuple[str, ...]] = {}
    for left_out in sorted(set(part)):
        lessons = [one for one, of in zip(seen, part, strict=True) if of != left_out]
        weights, _ = weights_from(lessons, names)
        for at, one in enumerate(seen):
            if part[at] == left_out:
                rankings[at] = one.by(weights)
    return rankings


def _parts(seen: Sequence[Ranked]) -> list[str]:
    targets = sorted({min(one.right) for one in seen if one.group in WEIGHTS})
    random.Random(0).shuffle(targets)
    of = {target: f"notes-{at % PARTS}" for at, target in enumerate(targets)}
    return [of[min(one.right)] if one.group in WEIGHTS else one.group for one in seen]


def measure(asked: Sequence[tuple[Ranked, Sequence[str]]]) -> dict[str, float]:
    """Return R@k for each cut, and MRR: of LoCoMo means over conversations."""
    groups: defaultdict[str, list[dict[str, float]]] = defaultdict(list)
    for one, ranking in asked:
        unique = list(dict.fromkeys(ranking))
        row: dict[str, float] = {}
        for cut in CUTS:
            hits = len(one.right.intersection(unique[:cut]))
            row[f"R@{cut}"] = float(hits > 0) if one.group in WEIGHTS else hits / len(one.right)
        first = next((n for n, name in enumerate(unique, 1) if name in one.right), 0)
        group = "notes" if one.group in WEIGHTS else one.group
        groups[group].append(row | {"MRR": 1 / first if first else 0.0})
    means = [
        {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
        for rows in groups.values()
    ]
    return {name: sum(row[name] for row in means) / len(means) for name in means[0]}


def table(seen: Sequence[Ranked], embedder: str) -> dict[str, dict[str, float]]:
    """Return every row: a group of questions, and a way to rank."""
    words, meaning = held_out(seen, names_of("")), held_out(seen, names_of(embedder))
    ways: dict[str, Callable[[int], Sequence[str]]] = {
        "text": lambda at: seen[at].by_text,
        "vectors": lambda at: seen[at].by_meaning,
        "ranker, words": lambda at: words[at],
        f"ranker, {embedder}": lambda at: meaning[at],
    }
    groups = {
        "LoCoMo 1-4": [at for at, one in enumerate(seen) if one.kind in ("1", "2", "3", "4")],
        "LoCoMo 5": [at for at, one in enumerate(seen) if one.kind == "5"],
        "notes": [at for at, one in enumerate(seen) if one.group in ("notes", "large")],
    }
    for kind in sorted({one.kind for one in seen if one.group in WEIGHTS}):
        groups[kind] = [
            at for at, one in enumerate(seen) if one.kind == kind and one.group in WEIGHTS
        ]
    return {
        f"{group}, {name}": measure([(seen[at], way(at)) for at in chosen])
        for group, chosen in groups.items()
        if chosen
        for name, way in ways.items()
    }


def show(rows: dict[str, dict[str, float]]) -> None:
    """Print rows as a table."""
    print(f"{'':30}" + "".join(f"{name:>9}" for name in next(iter(rows.values()))))
    for row, values in rows.items():
        print(f"{row:30}" + "".join(f"{value:9.3f}" for value in values.values()))
