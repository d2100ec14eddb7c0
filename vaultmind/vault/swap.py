"""What the system offers for putting a new file in an old one's place without losing an edit.

`exchange` swaps two names in one step, so that what stood there comes out and can be looked
at; `place` takes a name only when it is free; `quiet` tells whether anyone has a file open for
writing. Each says so when the system cannot (network drives, old kernels).
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import signal
import sys
from functools import cache
from pathlib import Path
from typing import Any

_IS_MAC = sys.platform == "darwin"
_AT_FDCWD = -100
_EXCHANGE = 2
"""RENAME_EXCHANGE of Linux, and RENAME_SWAP of macOS."""
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


def exchange(one: Path, other: Path) -> bool:
    """Swap two files' names in one step; return False where the system cannot.

    Raises FileNotFoundError when either is missing, OSError for what else goes wrong.
    """
    rename = _rename_call()
    if rename is None:
        return False
    folder = () if _IS_MAC else (_AT_FDCWD,)
    if rename(*folder, os.fsencode(one), *folder, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))


def place(source: Path, target: Path) -> None:
    """Rename a file to a name that must be free; raise FileExistsError when it is not."""
    try:
        os.link(source, target, follow_symlinks=False)
        source.unlink()
    except FileExistsError:
        raise
    except (OSError, NotImplementedError) as error:  # a disk without hard links
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "file exists", str(target)) from error
        source.replace(target)


def quiet(descriptor: int) -> bool | None:
    """Tell whether nobody has this file open for writing; None where the system cannot say.

    Linux grants a read lease only on such a file. It is given back at once; should someone
    open the file in that instant, the kernel's signal is one that nothing listens to.
    """
    if not hasattr(fcntl, "F_SETSIG"):  # macOS
        return None
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return False
    except OSError:
        return None
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return True


def flush_folder(folder: Path) -> None:
    """Make renames in a folder survive a power cut, where the system lets folders be synced."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES}:
            raise
    finally:
        os.close(descriptor)


@cache
def _rename_call() -> Any:  # noqa: ANN401
    """Return the system's rename with flags; None where it has none."""
    library = ctypes.CDLL(None, use_errno=True)
    function = getattr(library, "renamex_np" if _IS_MAC else "renameat2", None)
    if function is not None:
        name = [ctypes.c_char_p] if _IS_MAC else [ctypes.c_int, ctypes.c_char_p]
        function.argtypes = [*name, *name, ctypes.c_uint]
    return function
