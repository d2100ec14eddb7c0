"""How well questions over notes are answered that no ranker has learnt from, by ranking.

    python benchmarks/notes_search.py [--embedder use|e5] [--keep FOLDER] [--losses] [--json]

261 questions (benchmarks/data/note_questions.jsonl), written by reading the notes and before any
search was asked: 157 over the example vault, 104 over the 2,300 notes of benchmarks/large_vault.py.
Kinds: `keyword`; `sentence`, a whole question; `paraphrase`, which has no content word of its
note; `typo`; `cross`, Polish and Russian questions for English notes; `vague`.

Rankings: full text alone, vectors alone, both fused as it was before there was a ranker, the ranker
that ships without vectors and with them, and the search itself with all that comes after ranking.
MRR is the reciprocal rank of the first right note, R@k whether one is among the first k notes.
Every ranking is of notes: a note stands where its first chunk stands.

`--losses` tells where the ranker puts the right note lower than full text does, and which features
lift what stands above it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from example_search import NothingForgotten
from large_vault import write_vault
from ranker import ROOT, Vault, show, vault_files

from vaultmind.app import local_now
from vaultmind.config import Config, IndexConfig
from vaultmind.index.embedders.embed import open_embedder
from vaultmind.index.index import Index
from vaultmind.index.outlet import Withheld
from vaultmind.index.ranker.gather import gather
from vaultmind.index.ranker.model import Model, ordered
from vaultmind.index.ranker.names import FEATURES
from vaultmind.index.ranker.pool import Found
from vaultmind.index.ranker.registry import shipped
from vaultmind.ports import Embedder
from vaultmind.types import PERSON, SearchRequest
from vaultmind.vault.paths import VaultPaths

QUESTIONS = Path(__file__).parent / "data" / "note_questions.jsonl"
CUTS = (1, 3, 5, 10)
LIMIT = 50
"""Hits that the search itself is asked for."""
_WAIT_SECONDS = 900.0
_TOLD = 4
"""Features that a loss is told by."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the notes that answer it."""

    id: str
    query: str
    kind: str
    paths: tuple[str, ...]
    lang: str
    vault: str


@dataclass(frozen=True, slots=True)
class Answered:
    """A question and the notes that each ranking finds, best first."""

    question: Question
    rankings: dict[str, tuple[str, ...]]
    lifts: Mapping[str, float] = field(default_factory=dict)
    """What each feature adds to the best right chunk beyond the best wrong one, by the ranker
    with vectors."""

    def rank(self, way: str) -> int:
        """Return the place of the first right note, 0 for none."""
        places = enumerate(self.rankings[way], 1)
        return next((at for at, path in places if path in self.question.paths), 0)


def questions() -> list[Question]:
    """Return every question."""
    lines = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    return [Question(**(told | {"paths": tuple(told["paths"])})) for told in lines]


def answered(embedder: Embedder, name: str, keep: Path) -> list[Answered]:
    """Ask every question of every ranking, over the index that the search has made."""
    roots = {"example": ROOT / "vault-example", "large": keep / "large-vault"}
    if not roots["large"].is_dir():
        write_vault(roots["large"])
    found: list[Answered] = []
    for vault_name, root in roots.items():
        asked = [one for one in questions() if one.vault == vault_name]
        state = keep / f"{vault_name}-{name}"
        searched = _searched(root, name, asked, state)
        vault = Vault(vault_files(root), embedder, state)
        for one, hits in zip(asked, searched, strict=True):
            told = _ranked(vault, one, name)
            found.append(replace(told, rankings=told.rankings | {"search": hits}))
        vault.database.close()
    return found


def _ranked(vault: Vault, question: Question, name: str) -> Answered:
    """Return what the parts of the search find, and the rankers."""
    answer, found = vault.found(question.query)
    blind = replace(found, near={}, vector=None, embedder="")
    rankings: dict[str, Sequence[int]] = {
        "text": list(found.text),
        "vectors": list(found.near),
        "fused": vault.fused(question.query, answer, found),
    }
    lifts: Mapping[str, float] = {}
    for way, model, seen in (
        ("ranker, words", shipped(""), blind),
        (f"ranker, {name}", shipped(name), found),
    ):
        rankings[way], lifts = _by(vault, question, model, seen)
    by_path = {way: _notes(vault.paths[rowid] for rowid in ids) for way, ids in rankings.items()}
    return Answered(question, by_path, lifts)


def _by(
    vault: Vault, question: Question, model: Model, found: Found
) -> tuple[list[int], Mapping[str, float]]:
    """Return the rowids as a model ranks them, and what lifts the right one."""
    scene = gather(vault.database, found, vault.memory)
    if scene is None:
        return [], {}
    scores, features = model.score(scene)
    order = [rowid for rowid, _ in ordered(scores, scene)]
    right = [rowid for rowid in order if vault.paths[rowid] in question.paths]
    wrong = [rowid for rowid in order if vault.paths[rowid] not in question.paths]
    if not right or not wrong:
        return order, {}
    rows = {int(rowid): at for at, rowid in enumerate(scene.rowids[: scene.count])}
    apart = features[rows[right[0]]] - features[rows[wrong[0]]]
    weighed = zip(model.weights.items(), apart, strict=True)
    return order, {name: weight * float(value) for (name, weight), value in weighed}


def _searched(
    root: Path, embedder: str, asked: Sequence[Question], state: Path
) -> list[tuple[str, ...]]:
    """Return the notes that the search itself answers with."""
    config = Config(root, state, index=replace(IndexConfig(), embedder=embedder, watch=False))
    withheld = Withheld(NothingForgotten(), NothingForgotten())
    index = Index(config, VaultPaths(root), withheld, clock=local_now)
    index.start()
    try:
        if not index.wait_ready(_WAIT_SECONDS, vectors=True):
            sys.exit(f"The index was not ready after {_WAIT_SECONDS:.0f} s: {index.state()}")
        requests = [SearchRequest(one.query, limit=LIMIT, max_tokens=100_000) for one in asked]
        return [
            _notes(hit.path for hit in index.search(request, PERSON).hits) for request in requests
        ]
    finally:
        index.close()


def _notes(paths: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))


def table(found: Sequence[Answered]) -> dict[str, dict[str, float]]:
    """Return a row for every kind, vault and ranking."""
    groups: dict[str, list[Answered]] = defaultdict(list)
    for one in found:
        groups["all"].append(one)
        groups[f"all, {one.question.vault}"].append(one)
    for kind in sorted({one.question.kind for one in found}):
        groups[kind] = [one for one in found if one.question.kind == kind]
        for vault in ("example", "large"):
            groups[f"{kind}, {vault}"] = [
                one for one in groups[kind] if one.question.vault == vault
            ]
    return {
        f"{group} ({len(some)}), {way}": measures([one.rank(way) for one in some])
        for group, some in groups.items()
        for way in some[0].rankings
    }


def measures(ranks: Sequence[int]) -> dict[str, float]:
    """Return R@k for each cut, and MRR."""
    recalls = {f"R@{cut}": sum(0 < rank <= cut for rank in ranks) / len(ranks) for cut in CUTS}
    return recalls | {"MRR": sum(1 / rank for rank in ranks if rank) / len(ranks)}


def losses(found: Sequence[Answered], way: str) -> Iterator[str]:
    """Yield a line for each question that a ranker answers worse than full text, and a summary."""
    summed: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for one in found:
        for name, lift in one.lifts.items():
            summed[one.question.kind, FEATURES[name].family].append(lift)
        text, rank = one.rank("text"), one.rank(way)
        if text and (not rank or rank > text):
            worst = sorted(one.lifts.items(), key=lambda item: item[1])[:_TOLD]
            why = ", ".join(f"{name} {lift:+.2f}" for name, lift in worst)
            above = one.rankings[way][0] if one.rankings[way] else "nothing"
            yield f"{one.question.id} {one.question.kind}: text {text}, {way} {rank}; {why}"
            yield f"    {one.question.query} -> {one.question.paths[0]}; first: {above}"
    for kind in sorted({kind for kind, _ in summed}):
        of_kind = sum(one.question.kind == kind for one in found)
        lifts = {
            family: sum(values) / of_kind for (of, family), values in summed.items() if of == kind
        }
        told = sorted(lifts.items(), key=lambda item: -item[1])
        yield f"{kind}: " + ", ".join(f"{family} {lift:+.2f}" for family, lift in told)


def main() -> None:
    """Measure and print a table, or JSON."""
    arguments = _arguments()
    embedder = open_embedder(arguments.embedder)
    if embedder is None:
        sys.exit(f"The embedder {arguments.embedder!r} is not installed.")
    with tempfile.TemporaryDirectory() as folder:
        found = answered(embedder, arguments.embedder, arguments.keep or Path(folder))
    show(table(found), as_json=arguments.json)
    if arguments.losses:
        print("\n".join(losses(found, f"ranker, {arguments.embedder}")))


def _arguments() -> Any:  # noqa: ANN401
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--embedder", default="use", choices=("use", "e5"))
    parser.add_argument("--keep", type=Path, help="keep vault, indexes and vectors in this folder")
    parser.add_argument("--losses", action="store_true", help="tell where the ranker is worse")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
