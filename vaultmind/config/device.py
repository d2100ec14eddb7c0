"""The name of this device: of its audit and tombstone files, and of the sessions it captured."""

from __future__ import annotations

import secrets
from pathlib import Path

DEVICE_FILE = "device"
"""Lies in the state folder."""


def device_name(state_dir: Path) -> str:
    """Return this device's name, made on first use."""
    path = state_dir / DEVICE_FILE
    try:
        return path.read_text("ascii").strip()
    except FileNotFoundError:
        name = secrets.token_hex(4)
        path.write_text(f"{name}\n", "ascii")
        return name
