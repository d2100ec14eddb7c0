"""Where carts are kept: a file a customer."""

import json
from pathlib import Path


def load(customer: str) -> list[str]:
    """Return the items of a customer; none for a new one."""
    path = Path(f"{customer}.json")
    return json.loads(path.read_text()) if path.exists() else []


def save(customer: str, items: list[str]) -> None:
    """Keep the items of a customer."""
    Path(f"{customer}.json").write_text(json.dumps(items))
