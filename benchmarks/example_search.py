"""How well the example vault's questions are answered: by words alone, and with vectors.

    python benchmarks/example_search.py [--embedder use|e5] [--json]

The questions (benchmarks/data/example_questions.jsonl) name the notes that answer them. A kind
is a way to ask: keyword, sentence, typo, vague, paraphrase, cross-language. R@k is the share of
questions with a right note among the first k notes, MRR the reciprocal rank of the first. The
whole way is measured: a real index in a temporary folder, and its search.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from vaultmind.app import local_now
from vaultmind.config import Config, IndexConfig
from vaultmind.index.index import Index
from vaultmind.index.outlet import Withheld
from vaultmind.types import PERSON, Caller, SearchRequest
from vaultmind.vault.paths import VaultPaths

ROOT = Path(__file__).parent.parent
QUESTIONS = Path(__file__).parent / "data" / "example_questions.jsonl"
CUTS = (1, 3, 5)
_WAIT_SECONDS = 600.0


class NothingForgotten:
    """Implements ports.Forgotten and ports.Readers for a vault without tombstones and rights."""

    def hides(self, agent: str, session: str, message: str) -> bool:
        """Return False."""
        return False

    def hider(self, agent: str) -> Callable[[str, str], bool]:
        """Return the same of an agent."""
        return partial(self.hides, agent)

    def lets_read(self, caller: Caller, owner: str) -> bool:
        """Return True: every memory may be read."""
        return True


def ranks(embedder: str, questions: list[dict[str, Any]]) -> dict[str, list[int]]:
    """Return the rank of the first right note for each question, by kind; 0 for none."""
    vault = ROOT / "vault-example"
    found: dict[str, list[int]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as state:
        settings = replace(IndexConfig(), embedder=embedder, watch=False)
        config = Config(vault, Path(state), index=settings)
        withheld = Withheld(NothingForgotten(), NothingForgotten())
        index = Index(config, VaultPaths(vault), withheld, clock=local_now)
        index.start()
        try:
            if not index.wait_ready(_WAIT_SECONDS, vectors=embedder != "none"):
                sys.exit(f"The index was not ready after {_WAIT_SECONDS:.0f} s: {index.state()}")
            for question in questions:
                request = SearchRequest(question["query"], limit=50, max_tokens=100_000)
                hits = index.search(request, PERSON).hits
                paths = list(dict.fromkeys(hit.path for hit in hits))
                right = (n for n, path in enumerate(paths, 1) if path in question["paths"])
                rank = next(right, 0)
                found[question["kind"]].append(rank)
                found["all"].append(rank)
        finally:
            index.close()
    return found


def measures(found: list[int]) -> dict[str, float]:
    """Return R@k for each cut, and MRR."""
    recalls = {f"R@{cut}": sum(0 < rank <= cut for rank in found) / len(found) for cut in CUTS}
    return recalls | {"MRR": sum(1 / rank for rank in found if rank) / len(found)}


def main() -> None:
    """Measure and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--embedder", default="use", choices=("use", "e5"))
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    lines = QUESTIONS.read_text("utf-8").splitlines()
    questions = [json.loads(line) for line in lines if line.strip()]
    rows = {
        f"{kind}, {name}": measures(found)
        for name, embedder in (("text", "none"), ("fused", arguments.embedder))
        for kind, found in sorted(ranks(embedder, questions).items())
    }
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return
    print(f"{'':24}" + "".join(f"{name:>8}" for name in next(iter(rows.values()))))
    for row in sorted(rows):
        print(f"{row:24}" + "".join(f"{value:8.3f}" for value in rows[row].values()))


if __name__ == "__main__":
    main()
