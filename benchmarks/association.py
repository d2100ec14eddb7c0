"""What comes to mind: does it bring the note that the words did not, and how often rubbish?

    python benchmarks/association.py [--embedder use|e5|none] [--json]

The example vault is asked what its owner may say in a conversation
(data/association_questions.jsonl). Each question names the notes that a good memory would bring
to mind beside those it finds (`wanted`), and the subjects it is about; data/
association_topics.json says which notes belong to a subject, all others are rubbish. Lasting
memory answers with its defaults: 3 pieces, 300 tokens, associations of at most 100 tokens.

The same is measured for what could stand in the room of the associations instead: the next hits
of the search. And questions that the vault cannot answer (unrelated_questions.jsonl) and small
talk (small_talk.jsonl) should bring nothing at all.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from example import QUESTIONS, ROOT, NothingForgotten

from vaultmind.app import local_now
from vaultmind.config import AssociationConfig, Config, IndexConfig, RecallConfig
from vaultmind.index.index import Index
from vaultmind.index.outlet import Withheld
from vaultmind.session.longterm import Ask, Brought, LongTerm, LongTermSettings
from vaultmind.types import PERSON, SearchRequest
from vaultmind.vault.paths import VaultPaths

DATA = QUESTIONS.parent
AGENT = "main"
NEXT = 3
"""Hits that stand for the associations: as many as there is room for."""
_WAIT_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Place:
    """A note, or a part of an agent's memory, as the subjects name it."""

    path: str
    anchor: str = ""

    def belongs(self, starts: Sequence[str]) -> bool:
        """Tell whether one of a subject's beginnings is this place's."""
        stem = self.path.rpartition("/")[2].removesuffix(".md")
        names = [self.path]
        if "/sessions/" in self.path:
            names = [f"S/{stem}"]
        elif "/memory/" in self.path:
            names = [f"F/{self.anchor.removeprefix('#^')}", stem]
        return any(name.startswith(start) for name in names for start in starts)


def place(source: str) -> Place:
    """Return a source of a part as a place."""
    path, mark, anchor = source.partition("#")
    return Place(path, mark + anchor)


def asked(memory: LongTerm, query: str, language: str) -> Brought:
    """Return what lasting memory brings to a question."""
    return memory.recall(Ask(query, AGENT, PERSON, "", language, 300, 100))


def next_hits(index: Index, query: str, shown: Sequence[str]) -> list[Place]:
    """Return the best hits of notes that are not shown."""
    request = SearchRequest(query, limit=12, agent=AGENT, per_note=2, max_tokens=100_000)
    found = sorted(index.search(request, PERSON).hits, key=lambda hit: -hit.score)
    notes = {place(source).path for source in shown}
    kept = [Place(hit.path, hit.anchor) for hit in found if hit.path not in notes]
    return list({one.path: one for one in kept}.values())[:NEXT]


def own_questions(index: Index, memory: LongTerm) -> dict[str, dict[str, float]]:
    """Return what was brought to the vault's own questions, by associations and by more hits."""
    topics = json.loads((DATA / "association_topics.json").read_text("utf-8"))
    ways = ("associations", "next hits")
    rows = {name: {"asked": 0.0, "brought": 0.0, "shown": 0.0, "rubbish": 0.0} for name in ways}
    spent: list[float] = []
    for question in lines("association_questions.jsonl"):
        began = time.perf_counter()
        brought = asked(memory, question["query"], question["lang"])
        spent.append((time.perf_counter() - began) * 1000)
        if brought.memory is None:
            continue
        shown = brought.memory.sources
        wanted = set(question["wanted"]) - {place(source).path for source in shown}
        starts = [start for about in question["about"] for start in topics[about]]
        sources = brought.associations.sources if brought.associations else ()
        for name, places in (
            ("associations", list(map(place, sources))),
            ("next hits", next_hits(index, question["query"], shown)),
        ):
            row = rows[name]
            row["asked"] += bool(wanted)
            row["brought"] += not wanted.isdisjoint(one.path for one in places)
            row["shown"] += len(places)
            row["rubbish"] += sum(not one.belongs(starts) for one in places)
    for row in rows.values():
        row["share brought"] = row["brought"] / row["asked"]
        row["share rubbish"] = row["rubbish"] / max(1.0, row["shown"])
    spent.sort()
    rows["associations"]["p50 ms"] = spent[len(spent) // 2]
    return rows


def quiet(memory: LongTerm, file: str) -> dict[str, float]:
    """Return to how many questions that should bring nothing something was brought."""
    row = {"asked": 0.0, "memory": 0.0, "associations": 0.0}
    for line in lines(file):
        brought = asked(memory, line.get("query") or line["text"], line["lang"])
        row["asked"] += 1
        row["memory"] += brought.memory is not None
        row["associations"] += brought.associations is not None
    return row


def lines(file: str) -> list[dict[str, Any]]:
    """Return the questions of a file."""
    return [json.loads(line) for line in (DATA / file).read_text("utf-8").splitlines() if line]


def measured(embedder: str) -> dict[str, dict[str, float]]:
    """Return all rows, from a real index in a temporary folder."""
    vault = ROOT / "vault-example"
    with tempfile.TemporaryDirectory() as state:
        settings = replace(IndexConfig(), embedder=embedder, watch=False)
        config = Config(vault, Path(state), index=settings)
        withheld = Withheld(NothingForgotten(), NothingForgotten())
        index = Index(config, VaultPaths(vault), withheld, clock=local_now)
        index.start()
        try:
            if not index.wait_ready(_WAIT_SECONDS, vectors=embedder != "none"):
                sys.exit(f"The index was not ready after {_WAIT_SECONDS:.0f} s: {index.state()}")
            defaults = LongTermSettings(RecallConfig(), AssociationConfig(), gate=0.7)
            memory = LongTerm(index.search, index.relations, VaultPaths(vault), defaults)
            rows = own_questions(index, memory)
            rows["unrelated questions"] = quiet(memory, "unrelated_questions.jsonl")
            rows["small talk"] = quiet(memory, "small_talk.jsonl")
            return rows
        finally:
            index.close()


def main() -> None:
    """Measure and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--embedder", default="use", choices=("use", "e5", "none"))
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    rows = measured(arguments.embedder)
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return
    for name, row in rows.items():
        print(f"{name:20}" + "".join(f"  {key} {value:g}" for key, value in row.items()))


if __name__ == "__main__":
    main()
