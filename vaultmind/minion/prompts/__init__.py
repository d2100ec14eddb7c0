"""What models are asked, kept as files `NAME.LANGUAGE.txt` beside this module.

The first line of a file is its version: records that a model made say which prompt made them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Template

DEFAULT_LANGUAGE = "en"
_HEAD = "version: "
_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class PromptText:
    """A prompt with places to fill, such as `$transcript`."""

    name: str
    language: str
    version: str
    text: str

    @property
    def id(self) -> str:
        """Return what records say: `repair.pl/1`."""
        return f"{self.name}.{self.language}/{self.version}"

    def filled(self, **values: str) -> str:
        """Return the text with its places filled; raises KeyError for one that was left out.

        What is filled in is not looked at again: a `$` in it stays one.
        """
        return Template(self.text).substitute(values)


@lru_cache(maxsize=64)
def load(name: str, language: str = DEFAULT_LANGUAGE, folder: Path = _FOLDER) -> PromptText:
    """Return a prompt in a language, or in English where there is none in it.

    Raises FileNotFoundError for an unknown name, ValueError for a file without a version.
    """
    for spoken in (language, DEFAULT_LANGUAGE):
        path = folder / f"{name}.{spoken}.txt"
        if path.is_file():
            head, _, text = path.read_text("utf-8").partition("\n")
            if not head.startswith(_HEAD):
                raise ValueError(f"{path.name} does not begin with {_HEAD!r}")
            return PromptText(name, spoken, head.removeprefix(_HEAD).strip(), text.strip())
    raise FileNotFoundError(f"there is no prompt {name!r} in {folder}")
