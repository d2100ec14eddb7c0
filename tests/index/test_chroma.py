"""Vectors in Chroma: real folders, damage included."""

from __future__ import annotations

import gc
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from chromadb.api.shared_system_client import SharedSystemClient

from tests.waiting import until
from vaultmind.index.chroma import names, opened

if TYPE_CHECKING:
    from vaultmind.ports import Matrix


def vectors(number: int, seed: int = 0) -> Matrix:
    rows = np.random.default_rng(seed).normal(size=(number, 16)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def names_of(number: int) -> list[str]:
    return [f"c{index}" for index in range(number)]


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_a_server_keeps_the_vectors_of_several_vaults_apart(tmp_path: Path) -> None:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    chroma = Path(sys.executable).with_name("chroma")
    command = [chroma, "run", "--path", tmp_path / "server", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            keeps_apart(tmp_path, f"http://127.0.0.1:{port}")
        finally:
            server.kill()
            SharedSystemClient.clear_system_cache()
            gc.collect()  # Chroma's client leaves its sockets open


def keeps_apart(folder: Path, url: str) -> None:
    one, two = folder / "one", folder / "two"
    until(lambda: put(one, url, names_of(5)), 60)
    put(two, url, ["other"])
    assert put(one, url) == set(names_of(5)) and put(two, url) == {"other"}
    with opened(one, url, ""):
        pass  # all of it is dropped
    assert put(one, url) == set() and put(two, url) == {"other"}


def put(root: Path, url: str, fresh: Sequence[str] = ()) -> set[str]:
    """Store rows of some names; return the names of all, none while there is no server yet."""
    try:
        with opened(root, url, "hash-1") as store:
            if fresh:
                store.upsert(ids=[*fresh], embeddings=vectors(len(fresh)))
            return names(store)
    except ValueError:
        return set()


def test_a_folder_that_a_killed_process_left_is_not_trusted(tmp_path: Path) -> None:
    with opened(tmp_path / "chroma", "", "hash-1"):
        shutil.copytree(tmp_path / "chroma", tmp_path / "left")
    with pytest.raises(FileExistsError), opened(tmp_path / "left", "", "hash-1"):
        pass
    assert put(tmp_path / "chroma", "", names_of(3)) == set(names_of(3))
