"""Files of many questions or sentences: JSON Lines of an id and a text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_items(path: Path, field: str, example: str) -> list[tuple[Any, str]]:
    """Return (id, text of `field`) of every line; blank lines are passed over.

    Raises BadArgument for the first faulty line, before anything is asked; `example` shows the
    person a good one.
    """
    from vaultmind.errors import BadArgument

    items = []
    for number, line in enumerate(path.read_bytes().decode("utf-8-sig", "replace").split("\n"), 1):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
            items.append((item["id"], str(item[field])))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            wanted = f"a line of JSON like {example}"
            raise BadArgument(f"{path.name} line {number}", line.strip(), wanted) from error
    return items
