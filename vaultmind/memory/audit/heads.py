"""The last line this device wrote of each audit file, by its digest, kept outside the vault.

A chain alone does not show that lines were cut off a file's end. Losing what is kept here costs
that and nothing else: a file that is not known is no fault.
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from pathlib import Path

log = logging.getLogger(__name__)

FILE = "audit-heads.json"
"""In the state folder."""


class Heads:
    """Keeps a digest for each audit file of this device. Any thread; one process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._heads: dict[str, str] | None = None

    def keep(self, relative: str, digest: str) -> None:
        """Keep the digest of a file's last line; a failure is logged, since the line stands.

        It is not flushed: a power cut may lose the newest, and an older one serves as well.
        """
        with self._lock:
            heads = self._read()
            heads[relative] = digest
            beside = self._path.with_suffix(".new")
            try:
                beside.write_text(json.dumps(heads, indent=1, sort_keys=True) + "\n", "utf-8")
                beside.replace(self._path)
            except OSError as error:
                log.warning("%s could not be written: %s", self._path, error)
                with contextlib.suppress(OSError):
                    beside.unlink(missing_ok=True)

    def all(self) -> dict[str, str]:
        """Return the digests by their files' vault-relative paths."""
        with self._lock:
            return dict(self._read())

    def _read(self) -> dict[str, str]:
        if self._heads is None:
            try:
                value = json.loads(self._path.read_bytes())
            except (OSError, ValueError, RecursionError):
                value = {}
            pairs = value.items() if isinstance(value, dict) else ()
            self._heads = {str(path): one for path, one in pairs if isinstance(one, str)}
        return self._heads
