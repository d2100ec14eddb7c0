"""Big tables of packages, unpacked once into the person's cache folder and mapped from there.

The daemons of all vaults share what is mapped, and the system takes back what nobody reads. No
text of a person's is in it: the folder can be deleted at any time.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import pickle
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from vaultmind.locate import own_folder

_maps: list[Any] = []


def mapped(package: str, version: str, make: Callable[[], Any]) -> Any:  # noqa: ANN401
    """Return what `make` makes, its numpy arrays mapped from files, which can only be read.

    They are written where they are missing; what cannot be written stays in memory.
    """
    folder = Path(own_folder(os.environ, "CACHE", ".cache"), f"{package}-{version}")
    with suppress(Exception):  # whatever a damaged file may raise
        return _opened(folder)
    made, fresh = make(), folder.with_name(f"{folder.name}.{os.getpid()}")
    buffers: list[pickle.PickleBuffer] = []
    with suppress(OSError):
        for old in folder.parent.glob(f"{package}-*"):
            shutil.rmtree(old)
        fresh.mkdir(mode=0o700, parents=True)
        (fresh / "rest").write_bytes(pickle.dumps(made, 5, buffer_callback=buffers.append))
        for at, one in enumerate(buffers):
            np.save(fresh / f"{at:03}.npy", np.frombuffer(one.raw(), np.uint8))
        fresh.rename(folder)
        return _opened(folder)
    shutil.rmtree(fresh, ignore_errors=True)
    return made


def _opened(folder: Path) -> Any:  # noqa: ANN401
    arrays: list[Any] = [np.load(file, mmap_mode="r") for file in sorted(folder.glob("*.npy"))]
    _maps.extend(one._mmap for one in arrays)
    return pickle.loads((folder / "rest").read_bytes(), buffers=arrays)


def let_go() -> None:
    """Give the system back what is mapped, which comes again when it is read, and what is free."""
    with suppress(AttributeError):  # where a system has no such call
        for one in _maps:
            one.madvise(mmap.MADV_DONTNEED)
        ctypes.CDLL(None).malloc_trim(0)
