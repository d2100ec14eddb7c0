"""Memory that was freed and not yet used again: it must not come back into a file.

Chroma's index writes whole blocks of memory of which it has filled a part. What stood there before
(the vectors of a store that was just thrown away) would stand in the fresh file.
"""

from __future__ import annotations

import ctypes
import sys

_M_PERTURB = -6
_FILL = 0xFF
"""Freed memory is filled with it, what is given out with its complement: zeros."""


def blank_freed_memory() -> bool:
    """Have the C library write over memory from now on; return whether it can (glibc only)."""
    return _perturb(_FILL)


def leave_freed_memory() -> bool:
    """Have it leave memory alone again, which is faster; what is free goes back to the system.

    What the system gives out again is blank.
    """
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(ctypes.c_size_t(0))
    return _perturb(0)


def _perturb(fill: int) -> bool:
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return bool(mallopt and mallopt(_M_PERTURB, fill))
