"""How well search finds the evidence of LoCoMo's questions: text, vectors, both fused.

    python benchmarks/locomo_search.py PATH/locomo.json [--embedder use|none] [--json]

LoCoMo (Maharana et al., ACL 2024) is CC BY-NC 4.0 and is not part of this repository. A turn
is a message of an agent named after its conversation. R@k is the share of a question's evidence
among the first k turns, MRR the reciprocal rank of the first. Categories: 1 multi-hop,
2 temporal, 3 open-domain, 4 single-hop; 5 adversarial is reported apart.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from vaultmind import tokens
from vaultmind.index.chunking import Place, chunk_file
from vaultmind.index.coverage import Wanted, coverage_of
from vaultmind.index.database import CHUNK_COLUMNS, Database, chunk_from
from vaultmind.index.embed import embedded_text, open_embedder
from vaultmind.index.fusion import fuse, weights_for
from vaultmind.index.language import detect
from vaultmind.index.relevance import floor_of, relevance, scale_of
from vaultmind.index.rows import MIN_MESSAGE_TOKENS, Taken, store
from vaultmind.index.text import TextIndex
from vaultmind.index.where import Where
from vaultmind.types import Chunk, Message
from vaultmind.vault.files import FileStat, FileText
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

CUTS = (1, 3, 5, 10, 20)
DEPTH = 100
"""Candidates of each list."""
_TIME = "%I:%M %p on %d %B, %Y"
Ranker = Callable[[str, str], list[str]]


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one conversation, and the turns that hold its answer."""

    agent: str
    text: str
    evidence: frozenset[str]
    category: int


class Corpus:
    """The conversations as message chunks in a real index, with exact vectors beside it."""

    def __init__(self, conversations: list[dict[str, Any]], embedder: str, folder: Path) -> None:
        self.database = Database(folder / "index.db")
        self.text = TextIndex(self.database)
        with self.database.write() as connection:
            for number, conversation in enumerate(conversations):
                for taken in session_files(f"locomo-{number}", conversation["conversation"]):
                    store(connection, self.text, taken, "")
            rows = connection.execute(f"SELECT rowid, {CHUNK_COLUMNS} FROM chunks").fetchall()
        self.chunks = {row[0]: chunk_from(row[1:]) for row in rows}
        self.embedder = open_embedder(embedder)
        embedded = {n: c for n, c in self.chunks.items() if is_embedded(c)}
        self._rowids = np.array(list(embedded))
        self._agents = np.array([chunk.agent for chunk in embedded.values()])
        texts = [embedded_text(chunk.title, chunk.text) for chunk in embedded.values()]
        self._vectors = self.embedder.embed(texts) if self.embedder else None

    def full_text(self, agent: str, query: str) -> list[int]:
        """Return the rowids that full text finds."""
        found = self.text.search(query, Where(agents=(agent,), kinds=("message",)), DEPTH)
        return [hit.rowid for hit in found]

    def nearest(self, agent: str, query: str) -> list[int]:
        """Return the rowids nearest to the query's vector."""
        if self.embedder is None or self._vectors is None:
            return []
        mine = self._agents == agent
        near = self._vectors[mine] @ self.embedder.embed_query(query)
        return [int(rowid) for rowid in self._rowids[mine][np.argsort(-near)[:DEPTH]]]

    def fused(self, agent: str, query: str) -> list[int]:
        """Return the rowids of both, fused as the search fuses them."""
        answer = self.text.answer(query, Where(agents=(agent,), kinds=("message",)), DEPTH)
        hits = answer.hits
        lang = detect(query)
        nearest = self.nearest(agent, query)
        foreign = {rowid for rowid in nearest if lang and self.chunks[rowid].lang not in ("", lang)}
        weights = weights_for(hits[0].share if hits else 0.0)
        fused = fuse([hit.rowid for hit in hits], nearest, foreign, weights)
        return self._good(query, answer.wanted, [item.key for item in fused])

    def _good(self, query: str, wanted: tuple[Wanted, ...], ranked: list[int]) -> list[int]:
        """Return the hits that are good enough, as the search leaves out weak ones."""
        with self.database.read() as connection:
            coverage = coverage_of(connection, wanted, ranked)
        scores = {key: coverage[key] for key in ranked}
        if self.embedder is not None and self._vectors is not None:
            scale = scale_of(self.embedder.id)
            cosines = self._vectors @ self.embedder.embed_query(query)
            for rowid, cosine in zip(self._rowids.tolist(), cosines.tolist(), strict=True):
                if rowid in scores:
                    scores[rowid] = relevance(scores[rowid], scale.meaning(cosine))
        best = max(scores.values(), default=0.0)
        floor = floor_of(best, by_words_alone=self.embedder is None)
        return [key for key in ranked if scores[key] >= floor]


def is_embedded(chunk: Chunk) -> bool:
    """Tell whether the index makes a vector of a message: not of the shortest."""
    return tokens.count(chunk.text) >= MIN_MESSAGE_TOKENS


def session_files(agent: str, conversation: dict[str, Any]) -> Iterator[Taken]:
    """Yield the sessions of a conversation as files, as an import makes them."""
    paths = VaultPaths(Path())
    number = 0
    while turns := conversation.get(f"session_{(number := number + 1)}"):
        started = datetime.strptime(conversation[f"session_{number}_date_time"], _TIME)
        time = started.replace(tzinfo=UTC).isoformat()
        session = f"{started:%Y-%m-%d}_{number:03}"
        text = render_header(SessionMeta(session, agent, time))
        for place, turn in enumerate(turns, 1):
            message = Message("user", turn["text"], time, turn["dia_id"], turn["speaker"])
            text += render_message(replace(message, block=f"m{place}"))
        path = paths.session(agent, session)
        file = FileText(path, text, "", FileStat(0, 0, len(text)), False, "\n")
        where = Place("message", agent, "session")
        yield Taken(path, where, file, chunk_file(path, file, where))


def questions(conversations: list[dict[str, Any]]) -> list[Question]:
    """Return the questions that name their evidence."""
    found = []
    for number, conversation in enumerate(conversations):
        for item in conversation["qa"]:
            named = " ".join(item.get("evidence") or ()).replace(";", " ").replace(",", " ")
            evidence = frozenset(named.split())
            if evidence:
                agent = f"locomo-{number}"
                found.append(Question(agent, item["question"], evidence, item["category"]))
    return found


def measure(asked: list[Question], rank: Ranker) -> dict[str, float]:
    """Return R@k for each cut, and MRR."""
    recalls = dict.fromkeys(CUTS, 0.0)
    reciprocal = 0.0
    for question in asked:
        ranked = list(dict.fromkeys(rank(question.agent, question.text)))
        for cut in CUTS:
            found = question.evidence.intersection(ranked[:cut])
            recalls[cut] += len(found) / len(question.evidence)
        places = [n for n, name in enumerate(ranked, 1) if name in question.evidence]
        reciprocal += 1 / places[0] if places else 0.0
    count = max(1, len(asked))
    return {f"R@{cut}": recalls[cut] / count for cut in CUTS} | {"MRR": reciprocal / count}


def main() -> None:
    """Measure and print a table, or JSON."""
    arguments = _arguments()
    if not arguments.data.is_file():
        sys.exit(f"There is no {arguments.data}: LoCoMo is not shipped here, name your copy of it.")
    conversations = json.loads(arguments.data.read_text("utf-8"))
    asked = questions(conversations)
    rows: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        corpus = Corpus(conversations, arguments.embedder, Path(folder))
        ways = {"text": corpus.full_text}
        if corpus.embedder is not None:
            ways |= {"vectors": corpus.nearest, "fused": corpus.fused}
        for group, categories in (("categories 1-4", {1, 2, 3, 4}), ("category 5", {5})):
            chosen = [question for question in asked if question.category in categories]
            for name, way in ways.items():
                rows[f"{group}, {name}"] = measure(chosen, _messages(corpus, way))
        corpus.database.close()
    _show(rows, as_json=arguments.json)


def _messages(corpus: Corpus, way: Callable[[str, str], list[int]]) -> Ranker:
    return lambda agent, query: [corpus.chunks[rowid].message for rowid in way(agent, query)]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="LoCoMo's JSON file")
    parser.add_argument("--embedder", default="use", choices=("use", "e5", "none"))
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args()


def _show(rows: dict[str, dict[str, float]], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    names = [f"R@{cut}" for cut in CUTS] + ["MRR"]
    print(f"{'':24}" + "".join(f"{name:>8}" for name in names))
    for row, values in rows.items():
        print(f"{row:24}" + "".join(f"{values[name]:8.3f}" for name in names))


if __name__ == "__main__":
    main()
