"""What models are asked, kept as files `NAME.LANGUAGE.txt` beside this module."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

DEFAULT_LANGUAGE = "en"
_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class PromptText:
    """A prompt with places to fill, such as `$transcript`."""

    language: str
    text: str

    def filled(self, **values: str) -> str:
        """Return the text with its places filled; a `$` in what is filled in stays one."""
        return Template(self.text).substitute(values)


@cache
def load(name: str, language: str = DEFAULT_LANGUAGE) -> PromptText:
    """Return a prompt in a language, or in English where there is none in it."""
    path = _FOLDER / f"{name}.{language}.txt"
    if language != DEFAULT_LANGUAGE and not path.is_file():
        return load(name)
    return PromptText(language, path.read_text("utf-8").strip())
