"""Open a Chroma folder in a throw-away process: `python probe.py FOLDER`.

Exit code 0 says that every collection answers, and finds what it holds. A damaged index can
crash the process that opens it; then that is this one. Imports nothing of ours.
"""

from __future__ import annotations

import sys
from typing import Any

_SAMPLES = 4
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
    """Return what is wrong: its first and its newest vectors must find themselves."""
    total = collection.count()
    offsets = {0, max(0, total - _SAMPLES)} if total else set()
    for offset in offsets:
        held = collection.get(limit=_SAMPLES, offset=offset, include=["embeddings"])
        found = collection.query(
            query_embeddings=held["embeddings"], n_results=1, include=["distances"]
        )
        if any(not row or row[0] > _SAME for row in found["distances"]):
            return "a stored vector is not found"
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
