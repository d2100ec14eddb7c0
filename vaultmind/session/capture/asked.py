"""What the person last asked for in a conversation, by the end of its transcript."""

from __future__ import annotations

import os
import stat as modes
from datetime import UTC, datetime

from vaultmind.errors import BadArgument
from vaultmind.session.capture.lines import parse_line
from vaultmind.session.capture.tail import check_transcript
from vaultmind.vault.files import OPEN_FLAGS

MAX_BYTES = 1024 * 1024
"""Of a transcript that are read, from its end."""


def last_prompt(path: str) -> str:
    """Return what was asked last; empty where the transcript is not there or does not say."""
    try:
        descriptor = os.open(check_transcript(path), OPEN_FLAGS)
    except (OSError, ValueError, BadArgument):
        return ""
    try:
        found = os.fstat(descriptor)
        own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
        if not modes.S_ISREG(found.st_mode) or not own:
            return ""
        os.lseek(descriptor, max(0, found.st_size - MAX_BYTES), os.SEEK_SET)
        lines = os.read(descriptor, MAX_BYTES).splitlines()
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    now = datetime.now(UTC)
    for raw in reversed(lines):
        said = [one.text for one in parse_line(raw, {}, now).messages if one.role == "user"]
        if said:
            return said[-1]
    return ""
