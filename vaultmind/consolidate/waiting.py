"""Which sessions wait to be consolidated: told by their front matter alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from vaultmind.session.files import Head
from vaultmind.vault.session_meta import EXTRACTION, SessionMeta

Wait = Literal["waits", "done", "open", "another device"]
"""How a session stands: only one that `waits` is consolidated."""

_PENDING = re.compile(r"(?m)^pending[ \t]*:")
_DONE = re.compile(r"(?m)^consolidated[ \t]*:[ \t]*['\"]?\d")


def pending(heads: Iterable[Head], device: str) -> Iterator[str]:
    """Yield the sessions that are consolidated by themselves: this device's own that ended."""
    for head in heads:
        if _PENDING.search(head.raw) and is_pending(head.meta, device):  # YAML is slow
            yield head.id


def is_pending(meta: SessionMeta, device: str) -> bool:
    """Tell whether a session has ended and is to be consolidated by this device by itself."""
    return stands(meta, device) == "waits" and meta.pending == EXTRACTION


def unsettled(heads: Iterable[Head]) -> Iterator[Head]:
    """Yield the sessions that have ended and were not consolidated, whosever they are."""
    for head in heads:
        if not _DONE.search(head.raw) and not head.is_open and head.meta.state == "ended":
            yield head


def stands(meta: SessionMeta, device: str) -> Wait:
    """Return how a session stands. One that says no device is any device's."""
    if meta.state != "ended":
        return "open"
    if meta.consolidated:
        return "done"
    return "waits" if meta.device in ("", device) else "another device"
