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
from collections.abc import Callable
from functools import cache
from pathlib import Path

_AT_FDCWD = -100
_LINUX_NOREPLACE, _LINUX_EXCHANGE = 1, 2
_MACOS_SWAP, _MACOS_EXCLUSIVE = 2, 4
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}

Rename = Callable[[bytes, bytes, int], int]


def exchange(one: Path, other: Path) -> bool:
    """Swap two files' names in one step; return False where the system cannot.

    Raises FileNotFoundError when either is missing, OSError for what else goes wrong.
    """
    return _renamed(one, other, _MACOS_SWAP if sys.platform == "darwin" else _LINUX_EXCHANGE)


def place(source: Path, target: Path) -> None:
    """Rename a file to a name that must be free; raise FileExistsError when it is not."""
    flag = _MACOS_EXCLUSIVE if sys.platform == "darwin" else _LINUX_NOREPLACE
    if _renamed(source, target, flag):
        return
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError) as error:
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "file exists", str(target)) from error
        source.replace(target)
    else:
        source.unlink()


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


def _renamed(source: Path, target: Path, flag: int) -> bool:
    rename = _rename_call()
    if rename is None:
        return False
    number = rename(os.fsencode(source), os.fsencode(target), flag)
    if number == 0:
        return True
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(source), None, str(target))


@cache
def _rename_call() -> Rename | None:
    """Return the system's rename with flags, which returns 0 or an error number."""
    library = ctypes.CDLL(None, use_errno=True)
    function = getattr(library, "renamex_np" if sys.platform == "darwin" else "renameat2", None)
    if function is None:
        return None
    text = ctypes.c_char_p
    if sys.platform == "darwin":
        function.argtypes = [text, text, ctypes.c_uint]
    else:
        function.argtypes = [ctypes.c_int, text, ctypes.c_int, text, ctypes.c_uint]

    def rename(source: bytes, target: bytes, flag: int) -> int:
        ctypes.set_errno(0)
        if sys.platform == "darwin":
            failed = function(source, target, flag)
        else:
            failed = function(_AT_FDCWD, source, _AT_FDCWD, target, flag)
        return ctypes.get_errno() if failed else 0

    return rename
