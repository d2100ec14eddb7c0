"""Vectors in Chroma: real folders, damage included."""

from __future__ import annotations

import gc
import shutil
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from chromadb.api.shared_system_client import SharedSystemClient

from tests.waiting import until
from vaultmind.index.vectors import ChromaStore

if TYPE_CHECKING:
    from vaultmind.ports import Matrix


def vectors(number: int, seed: int = 0) -> Matrix:
    rows = np.random.default_rng(seed).normal(size=(number, 16)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def names(number: int) -> list[str]:
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
    first, second = (ChromaStore(folder / name, url=url) for name in ("one", "two"))
    until(lambda: is_open(first), 60)
    second.open("hash-1")
    first.add(names(5), vectors(5))
    second.add(["other"], vectors(1))
    first.close()
    first.open("hash-1")
    assert first.names() == set(names(5)) and second.names() == {"other"}
    first.destroy()
    first.open("hash-1")
    assert first.names() == set() and second.names() == {"other"}
    assert not (folder / "one").exists()


def is_open(store: ChromaStore) -> bool:
    try:
        store.open("hash-1")
    except ValueError:
        return False
    return True


def test_a_folder_that_a_killed_process_left_is_not_trusted(tmp_path: Path) -> None:
    killed = ChromaStore(tmp_path / "chroma")
    killed.open("hash-1")
    killed.add(names(3), vectors(3))
    shutil.copytree(tmp_path / "chroma", tmp_path / "left")
    killed.close()
    again = ChromaStore(tmp_path / "left")
    again.open("hash-1")
    assert again.names() == set()
    again.close()
