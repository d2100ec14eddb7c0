"""Open a Chroma folder in a throw-away process: `python probe.py FOLDER`.

Exit code 0 says that every collection answers, and finds what it holds. A damaged index can
crash the process that opens it; then that is this one. Imports nothing of ours.
"""

from __future__ import annotations

import sys
from typing import Any

_SAMPLES = 8
_NEIGHBOURS = 10
_SAME = 1e-3


def main(folder: str) -> int:
    """Return 0 if the folder can be opened and its vectors found; 1 with the reason if not."""
    import chromadb
    from chromadb.config import Settings

    client: Any = chromadb.PersistentClient(folder, settings=Settings(anonymized_telemetry=False))
    try:
        for held in client.list_collections():
            reason = _fault(client.get_collection(held.name, embedding_function=None))
            if reason:
                sys.stderr.write(f"{held.name}: {reason}\n")
                return 1
    finally:
        client.close()
    return 0


def _fault(collection: Any) -> str:  # noqa: ANN401
    """Return what is wrong: most of its first and its newest vectors must find themselves.

    Not all: the graph of neighbours is approximate, and among 100,000 vectors a sound one now and
    then cannot be reached.
    """
    total = collection.count()
    offsets = {0, max(0, total - _SAMPLES)} if total else set()
    for offset in offsets:
        held = collection.get(limit=_SAMPLES, offset=offset, include=["embeddings"])
        found = collection.query(
            query_embeddings=held["embeddings"], n_results=_NEIGHBOURS, include=["distances"]
        )
        lost = [row for row in found["distances"] if not row or min(row) > _SAME]
        if 2 * len(lost) > len(found["distances"]):
            return "stored vectors are not found"
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
