"""What models are asked: files `NAME.LANGUAGE.txt`, and the schemas of answers, `NAME.json`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

DEFAULT_LANGUAGE = "en"
_FOLDER = Path(__file__).parent


def filled(name: str, language: str = DEFAULT_LANGUAGE, **values: str) -> str:
    """Return a prompt in a language, or in English where there is none in it, with its places
    filled; a `$` in what is filled in stays one.
    """
    return _load(name, language).substitute(values)


def schema(name: str) -> dict[str, Any]:
    """Return the schema of the answers to a prompt, as a value of one's own."""
    found: dict[str, Any] = json.loads((_FOLDER / f"{name}.json").read_text("utf-8"))
    return found


@cache
def _load(name: str, language: str) -> Template:
    path = _FOLDER / f"{name}.{language}.txt"
    known = path if path.is_file() else _FOLDER / f"{name}.{DEFAULT_LANGUAGE}.txt"
    return Template(known.read_text("utf-8").strip())
