"""Where "nothing found" begins: what the floor of `index/search.py` costs and spares.

    python benchmarks/relevance.py [--embedder use|e5|none|MODEL.gguf|URL#MODEL] [--json]

The example vault is asked its own questions (benchmarks/data/example_questions.jsonl) and
questions that it cannot answer (unrelated_questions.jsonl: other subjects and nonsense, in
English, Polish and Russian), once for each value of CHANCE. A strong answer has a hit above
STRONG; a weak one says that it is weak. R@5 is the share of the vault's own questions with a
right note among the first five.

A second table is for lasting memory: once for each score that could read as 0.5
(`Scale.half`), how many of the questions with two telling words or more get a right note among
the best three, how many pieces that brings, and what the unrelated ones bring.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from example import QUESTIONS, ROOT, NothingForgotten

from vaultmind.app import local_now
from vaultmind.config import Config, IndexConfig, MinionConfig
from vaultmind.gguf_embedder import GgufEmbedder
from vaultmind.index import search as relevance
from vaultmind.index.embed import calibrated, open_embedder
from vaultmind.index.folder import VaultFolder
from vaultmind.index.index import Index
from vaultmind.index.outlet import Outlet
from vaultmind.index.words import query_terms
from vaultmind.ports import Embedder
from vaultmind.session.recall import telling_terms
from vaultmind.types import PERSON, Hit, SearchRequest
from vaultmind.vault.paths import VaultPaths

UNRELATED = QUESTIONS.with_name("unrelated_questions.jsonl")
CHANCES = (0.0, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
HALVES = (0.5, 0.47, 0.45, 0.42, 0.4, 0.36)
SHOWN = 3
_WAIT_SECONDS = 600.0


def measured(index: Index, chance: float) -> dict[str, float]:
    """Return the shares of strong, weak and empty answers, to both kinds of questions."""
    relevance.CHANCE = relevance.CHANCE_BY_WORDS = chance
    row: dict[str, float] = {}
    for name, file in (("own", QUESTIONS), ("unrelated", UNRELATED)):
        questions = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        answers = [asked(index, question["query"]) for question in questions]
        best = [max((hit.score for hit in hits), default=0.0) for hits in answers]
        row[f"{name} strong"] = share(score >= relevance.STRONG for score in best)
        row[f"{name} weak"] = share(0 < score < relevance.STRONG for score in best)
        row[f"{name} none"] = share(not hits for hits in answers)
        if name == "own":
            pairs = zip(questions, answers, strict=True)
            row["own R@5"] = share(is_found(question, hits) for question, hits in pairs)
        else:
            row["unrelated hits"] = sum(len(hits[:8]) for hits in answers) / len(answers)
    return row


def recalled(index: Index, half: float) -> dict[str, float]:
    """Return what the best hits of such a score bring to both kinds of questions."""
    row: dict[str, float] = {}
    for name, file in (("own", QUESTIONS), ("unrelated", UNRELATED)):
        questions = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        row |= dict.fromkeys((f"{name} right", f"{name} any", f"{name} pieces"), 0.0)
        for question in questions:
            if len(telling_terms(query_terms(question["query"], ("en",)))) < 2:
                continue
            found = sorted(asked_memory(index, question["query"]), key=lambda hit: -hit.score)
            best = [hit.path for hit in found if hit.score >= half][:SHOWN]
            row[f"{name} right"] += not set(question.get("paths", ())).isdisjoint(best)
            row[f"{name} any"] += bool(best)
            row[f"{name} pieces"] += len(best)
    return row


def asked_memory(index: Index, query: str) -> tuple[Hit, ...]:
    """Return the hits that lasting memory looks at."""
    request = SearchRequest(query, limit=12, agent="main", per_note=2, max_tokens=100_000)
    return index.search(request, PERSON).hits


def asked(index: Index, query: str) -> tuple[Hit, ...]:
    """Return the hits of a question."""
    return index.search(SearchRequest(query, limit=50, max_tokens=100_000), PERSON).hits


def is_found(question: dict[str, Any], hits: tuple[Hit, ...]) -> bool:
    """Tell whether a right note is among the first five."""
    paths = list(dict.fromkeys(hit.path for hit in hits))
    return not set(question["paths"]).isdisjoint(paths[:5])


def share(flags: Any) -> float:  # noqa: ANN401
    """Return the share of true ones."""
    listed = list(flags)
    return sum(listed) / len(listed)


def opened(name: str, state: Path) -> Embedder | None:
    """Return an embedder by its name or file."""
    if name.endswith(".gguf"):
        return GgufEmbedder(Path(name), MinionConfig(), state)
    return open_embedder(name, IndexConfig().embedder_key_env)


def scale_shown(embedder: Embedder | None) -> str:
    """Return the scale that an embedder of this kind gets where nobody has measured it."""
    if embedder is None:
        return "no embedder"
    scale = calibrated(embedder)
    return f"nothing {scale.nothing:.2f}, same {scale.same:.2f}"


def main() -> None:
    """Measure and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--embedder", default="use", help="as in index.embedder")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    vault = ROOT / "vault-example"
    with tempfile.TemporaryDirectory() as state:
        name = arguments.embedder
        settings = replace(IndexConfig(), embedder=name, watch=False)
        config = Config(vault, Path(state), index=settings)
        nothing = NothingForgotten()
        outlet = Outlet(VaultFolder(VaultPaths(vault)), nothing, nothing)
        embedder = partial(opened, name, Path(state))
        index = Index(config, outlet, clock=local_now, embedder=embedder)
        index.start()
        try:
            if not index.wait_ready(_WAIT_SECONDS, vectors=arguments.embedder != "none"):
                sys.exit(f"The index was not ready after {_WAIT_SECONDS:.0f} s: {index.state()}")
            scale = scale_shown(embedder())
            usual = relevance.CHANCE, relevance.CHANCE_BY_WORDS
            rows = {f"{chance:.2f}": measured(index, chance) for chance in CHANCES}
            relevance.CHANCE, relevance.CHANCE_BY_WORDS = usual
            memory = {f"{half:.2f}": recalled(index, half) for half in HALVES}
        finally:
            index.close()
    if arguments.json:
        print(json.dumps({"search": rows, "memory": memory, "calibrated": scale}, indent=1))
        return
    print(f"Calibrated: {scale}\n")
    for title, table in (("CHANCE", rows), ("half", memory)):
        print(f"{title:8}" + "".join(f"{name:>17}" for name in next(iter(table.values()))))
        for name, values in table.items():
            print(f"{name:8}" + "".join(f"{value:17.3f}" for value in values.values()))


if __name__ == "__main__":
    main()
