"""Open a Chroma folder in a throw-away process: `python probe.py FOLDER`.

Exit code 0 says that every collection answers, and finds what it holds. A damaged index can
crash the process that opens it; then that is this one. Asks Chroma's native part: importing the
package above it takes ten times as long as the whole probe. Imports nothing of ours.
"""

from __future__ import annotations

import sys
from typing import Any

UNKNOWN = 3
"""The exit code where this version of Chroma's native part is not the one that is known here."""
_PLACE = ("default_tenant", "default_database")
_COLLECTIONS = 64
"""Collections that are kept open at once."""
_SAMPLES = 8
_NEIGHBOURS = 10
_SAME = 1e-3


def main(folder: str) -> int:
    """Return 0 if the folder can be opened and its vectors found; 1 with the reason if not."""
    try:
        chroma = _opened(folder)
        for held in chroma.list_collections(None, None, *_PLACE):
            if reason := _fault(chroma, str(held.id)):
                sys.stderr.write(f"{held.name}: {reason}\n")
                return 1
    except (ImportError, AttributeError, TypeError) as error:  # it is another, no damage
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return UNKNOWN
    return 0


def _opened(folder: str) -> Any:  # noqa: ANN401
    import chromadb_rust_bindings as native

    database = native.SqliteDBConfig(
        hash_type=native.MigrationHash.MD5,
        migration_mode=native.MigrationMode.Apply,
        url=f"{folder}/chroma.sqlite3",
    )
    return native.Bindings(
        allow_reset=False,
        sqlite_db_config=database,
        persist_path=folder,
        hnsw_cache_size=_COLLECTIONS,
    )


def _fault(chroma: Any, collection: str) -> str:  # noqa: ANN401
    """Return what is wrong: most of its first and its newest vectors must find themselves.

    Not all: the graph of neighbours is approximate, and among 100,000 vectors a sound one now and
    then cannot be reached.
    """
    total = chroma.count(collection, *_PLACE)
    offsets = {0, max(0, total - _SAMPLES)} if total else set()
    for offset in offsets:
        held = chroma.get(
            collection, None, None, _SAMPLES, offset, None, ["embeddings"], *_PLACE
        ).embeddings
        found = chroma.query(
            collection, None, held, _NEIGHBOURS, None, None, ["distances"], *_PLACE
        ).distances
        lost = [row for row in found if not row or min(row) > _SAME]
        if 2 * len(lost) > len(found):
            return "stored vectors are not found"
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
