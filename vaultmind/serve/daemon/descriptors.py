"""How many files the daemon may open, checked before it begins."""

from __future__ import annotations

import os
import resource

from vaultmind.errors import DaemonUnavailable

FEWEST_FILES = 64
"""Number of files that a daemon must be able to open: index, vectors, watches and a few clients."""
WANTED_FILES = 4096
"""The limit of open files that it sets for itself, where the system lets it."""
MORE_FILES = "Allow more open files (`ulimit -n 1024`) and start it again."


def check_files() -> None:
    """Raise DaemonUnavailable where this process may open too few files to serve a vault."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED_FILES if hard == resource.RLIM_INFINITY else min(WANTED_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    free = soft - len(os.listdir("/dev/fd"))  # noqa: PTH208
    if soft != resource.RLIM_INFINITY and free < FEWEST_FILES:
        least = f"this process may open {max(0, free)} more files, and needs {FEWEST_FILES}"
        raise DaemonUnavailable(f"The daemon cannot work: {least}.", hint=MORE_FILES)
