"""The process in which Chroma runs: it brings a store to what the cache of vectors holds, and ends.

`python -P chroma.py ORDERS`, which are JSON. Chroma may crash here or keep memory, and nobody else
is hurt. When its input closes, which the system sees to when the parent dies, it ends after the
present batch. It imports nothing of ours.
"""

from __future__ import annotations

import hashlib
import json
import os
import select
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

BATCH, PAGE = 500, 5000
"""Vectors a write, and names a reading."""
TOKEN_VARIABLE = "VAULTMIND_CHROMA_TOKEN"
"""Environment variable that holds the token of a Chroma server."""
_KEYS = "SELECT lower(hex(text_hash)) FROM embeddings WHERE embedder = ? AND length(vector) = ?"
_SOME_VECTORS = """SELECT lower(hex(text_hash)), vector FROM embeddings
    WHERE embedder = ? AND text_hash IN ({})"""


@contextmanager
def opened(root: Path, url: str, embedder: str) -> Iterator[Any]:
    """Give the collection of an embedder's vectors, alone in a folder or with others at a URL.

    On a server a vault's collections begin with a name of its own. Whatever else there is of the
    vault goes; all of it, without an embedder. Raises what Chroma raises.
    """
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    in_use, prefix = root / "in-use", ""
    client: Any
    if url:
        prefix = f"vaultmind-{hashlib.sha256(str(root).encode()).hexdigest()[:12]}-"
        token = os.environ.get(TOKEN_VARIABLE, "")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        client = chromadb.HttpClient(host=url, headers=headers, settings=settings)
    else:
        root.mkdir(parents=True, exist_ok=True)
        in_use.touch(exist_ok=False)  # where a process was killed, the folder is not trusted
        client = chromadb.PersistentClient(root, settings=settings)
    try:
        name = f"{prefix}{embedder}"
        for one in client.list_collections():
            if one.name.startswith(prefix) and one.name != name:
                client.delete_collection(one.name)
        yield embedder and client.get_or_create_collection(
            name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
    finally:
        client.close()
        in_use.unlink(missing_ok=True)


def names(store: Any) -> set[str]:  # noqa: ANN401
    """Return the names of all that is stored."""
    found = set[str]()
    while page := store.get(include=[], limit=PAGE, offset=len(found))["ids"]:
        found.update(page)
    return found


def fill(store: Any, orders: dict[str, Any], is_over: Callable[[], bool]) -> None:  # noqa: ANN401
    """Bring a collection to the vectors that the database holds."""
    import numpy as np

    embedder = orders["embedder"]
    address = f"{Path(orders['database']).as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as cache:
        cached = {key for (key,) in cache.execute(_KEYS, (embedder, orders["size"]))}
        stored = names(store)
        gone, left = sorted(stored - cached), sorted(cached - stored)
        for at in range(0, len(gone), PAGE):
            store.delete(ids=gone[at : at + PAGE])
        for at in range(0, len(left), BATCH):
            if is_over():
                return
            some = [*map(bytes.fromhex, left[at : at + BATCH])]
            marks = ",".join("?" * len(some))
            if rows := dict(cache.execute(_SOME_VECTORS.format(marks), (embedder, *some))):
                vectors = np.frombuffer(b"".join(rows.values()), "<f4").reshape(len(rows), -1)
                store.upsert(ids=[*rows], embeddings=vectors)


def main() -> None:
    """Do what the orders say; what fails is told on the error output's last line."""
    with suppress(OSError):
        os.nice(10)  # everybody else goes first
    orders = json.loads(sys.argv[1])
    try:
        with opened(Path(orders["root"]), orders["url"], orders["embedder"]) as store:
            if store:
                fill(store, orders, lambda: bool(select.select([sys.stdin], [], [], 0)[0]))
    except Exception as error:  # Chroma's native part raises what it likes
        sys.exit(f"\n{error}")


if __name__ == "__main__":
    main()
