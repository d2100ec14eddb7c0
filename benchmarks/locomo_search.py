"""How well the program finds the evidence of LoCoMo's questions: the whole way, as people use it.

    python benchmarks/locomo_search.py PATH/locomo.json [--embedder use|e5|none] [--json]

Each conversation is imported into a vault of its own, indexed, and asked through the search that
agents ask. Its ranker learnt from the other conversations and from the questions over the example
vault (benchmarks/ranker.py says how), and lies in the vault as a model of its own. R@k is the share
of a question's evidence among the first k messages, MRR the reciprocal rank of the first; figures
are means over conversations. Categories: 1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop; 5
adversarial is reported apart. Milliseconds are those of a question.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from locomo import CUTS, imported, load, name_of, questions
from ranker import Ranked, asked, names_of, weights_from

from vaultmind.app import local_now, open_app
from vaultmind.config import Config, IndexConfig
from vaultmind.index.embedders.embed import open_embedder
from vaultmind.index.ranker.model import Model, written
from vaultmind.index.ranker.names import FEATURES
from vaultmind.index.ranker.registry import OWN
from vaultmind.types import PERSON, SearchRequest

_WAIT_SECONDS = 600.0
GROUPS = {"categories 1-4": frozenset({1, 2, 3, 4}), "category 5": frozenset({5})}


def model_without(seen: Sequence[Ranked], conversation: str, embedder: str) -> Model:
    """Return a model that learnt from everything but one conversation."""
    weights, spread = weights_from([o for o in seen if o.group != conversation], names_of(embedder))
    names = [name for name, weight in zip(FEATURES, weights, strict=True) if weight]
    place = {name: at for at, name in enumerate(FEATURES)}
    told = {name: float(weights[place[name]]) for name in names}
    spreads = {name: float(spread[place[name]]) for name in names}
    return Model("held-out", embedder, told, spreads, (f"all but {conversation}",), {})


def found_in(
    vault: Path, state: Path, embedder: str, texts: Sequence[str]
) -> list[tuple[list[str], float]]:
    """Return the messages that a search finds for each text, best first, and its milliseconds."""
    settings = replace(IndexConfig(), embedder=embedder, watch=False)
    app = open_app(Config(vault, state, index=settings), clock=local_now)
    app.start()
    try:
        if not app.index.wait_ready(_WAIT_SECONDS, vectors=embedder != "none"):
            raise SystemExit(f"The index was not ready: {app.index.state()}")
        rows = []
        for text in texts:
            start = time.perf_counter()
            request = SearchRequest(
                text, limit=max(CUTS), kinds=("message",), per_note=max(CUTS), max_tokens=100_000
            )
            hits = app.index.search(request, PERSON).hits
            rows.append(([hit.message for hit in hits], (time.perf_counter() - start) * 1000))
        return rows
    finally:
        app.close()


def measured(right: frozenset[str], found: Sequence[str]) -> dict[str, float]:
    """Return R@k for each cut, and the reciprocal rank."""
    first = next((n for n, name in enumerate(found, 1) if name in right), 0)
    recalls = {f"R@{cut}": len(right.intersection(found[:cut])) / len(right) for cut in CUTS}
    return recalls | {"MRR": 1 / first if first else 0.0}


def table(data: Path, embedder: str, keep: Path) -> dict[str, dict[str, float]]:
    """Return the measures by group of questions."""
    conversations = load(data)
    eyes = open_embedder("use" if embedder == "none" else embedder)
    assert eyes is not None
    seen = asked(data, eyes, keep / "lessons")
    every = questions(conversations)
    rows: defaultdict[str, list[dict[str, float]]] = defaultdict(list)
    spent: list[float] = []
    for number, conversation in enumerate(conversations):
        name = name_of(number)
        vault = imported(conversation, keep / name)
        folder = vault / "VaultMind" / OWN
        folder.mkdir(parents=True, exist_ok=True)
        wanted = "" if embedder == "none" else embedder
        (folder / "held-out.json").write_text(written(model_without(seen, name, wanted)), "utf-8")
        own = [one for one in every if one.conversation == name]
        answers = found_in(vault, keep / name / "state", embedder, [one.text for one in own])
        spent += [took for _, took in answers]
        for group, categories in GROUPS.items():
            chosen = [
                measured(one.evidence, found)
                for one, (found, _) in zip(own, answers, strict=True)
                if one.category in categories
            ]
            rows[group].append({key: _mean([row[key] for row in chosen]) for key in chosen[0]})
    told = {
        group: {key: _mean([row[key] for row in own]) for key in own[0]}
        for group, own in rows.items()
    }
    cuts = (("p50", 50), ("p95", 95))
    return told | {"ms": {name: float(np.percentile(spent, cut)) for name, cut in cuts}}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def main() -> None:
    """Measure and print a table, or JSON."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        rows = table(arguments.data, arguments.embedder, arguments.keep or Path(folder))
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return
    for group, values in rows.items():
        print(f"{group:16}" + "".join(f"  {name} {value:.3f}" for name, value in values.items()))


def _arguments() -> Any:  # noqa: ANN401
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, help="LoCoMo's JSON file")
    parser.add_argument("--embedder", default="use", choices=("use", "e5", "none"))
    parser.add_argument("--keep", type=Path, help="keep vaults, indexes and vectors in this folder")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
