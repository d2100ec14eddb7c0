"""The words on the daemon's socket: JSON, one object a line. Standard library only.

The client speaks first:  {"vaultmind": 1, "version", "mode": "mcp" | "ops", "kind", "agent",
"named", "client"}; the daemon answers {"vaultmind": 1, "version", "pid"} or {"error": …}.
Then mode `mcp` is MCP as on stdio, and mode `ops` is {"id", "op", "args"} answered by any number
of {"id", "progress"} and one {"id", "ok"} or {"id", "error"}.
"""

from __future__ import annotations

import json
import socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROTOCOL = 1
MAX_LINE_BYTES = 4 * 1024 * 1024
"""The longest line either side takes; a message larger than this belongs in a file."""
_READ_BYTES = 65536


def encode(message: dict[str, Any]) -> bytes:
    """Return a message as one line."""
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def decode(line: bytes | str) -> dict[str, Any]:
    """Return the object a line holds, empty when it holds none."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}
