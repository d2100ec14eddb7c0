"""The daemon's log: rotated, for its owner alone, and without anybody's words."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

from vaultmind.client.launch import LOG

MAX_BYTES = 1_000_000
KEPT = 2
FOREIGN = ("mcp", "uvicorn", "chromadb", "httpx2", "asyncio", "watchdog")
"""Libraries that are heard from WARNING upward."""

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]


class FramesOnly(logging.Formatter):
    """Shows where an exception arose, not what it says: that may quote a message."""

    def formatException(self, ei: ExcInfo | tuple[None, None, None]) -> str:
        """Return the type of an exception and the lines it came through."""
        kind, _, trace = ei
        frames = "".join(traceback.format_tb(trace)).rstrip()
        return f"{kind.__name__ if kind else 'no exception'}\n{frames}"


@contextmanager
def write_log(state_dir: Path) -> Iterator[None]:
    """Send what is logged to the state folder's daemon.log."""
    path = state_dir / LOG
    path.touch(mode=0o600)
    handler = RotatingFileHandler(path, maxBytes=MAX_BYTES, backupCount=KEPT, encoding="utf-8")
    handler.setFormatter(FramesOnly("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    for name in FOREIGN:
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()
