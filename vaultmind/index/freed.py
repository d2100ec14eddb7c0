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
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return bool(mallopt and mallopt(_M_PERTURB, _FILL))
