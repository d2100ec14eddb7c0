"""What models are asked, kept as files `NAME.LANGUAGE.txt` beside this module."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Template

DEFAULT_LANGUAGE = "en"


def filled(name: str, language: str = DEFAULT_LANGUAGE, **values: str) -> str:
    """Return a prompt in a language, or in English where there is none in it, with its places
    filled; a `$` in what is filled in stays one.
    """
    return _load(name, language).substitute(values)


@cache
def _load(name: str, language: str) -> Template:
    folder = Path(__file__).parent
    path = folder / f"{name}.{language}.txt"
    known = path if path.is_file() else folder / f"{name}.{DEFAULT_LANGUAGE}.txt"
    return Template(known.read_text("utf-8").strip())
