"""Where an agent may save a new note among the person's own.

Only in the one folder that the person named in their own configuration, and only under a name that
no file there has: no note is ever changed.
"""

from __future__ import annotations

import re
from unicodedata import normalize

from vaultmind.errors import BadArgument, NotAllowed, PathRefused, WriteConflict
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import VaultPaths

_NOT_IN_NAMES = re.compile(r'[\[\]#^|<>:"/\\?*]+')
"""What some system allows in no file name, or Obsidian in no link."""
_ALLOW = 'The person can allow it in their own config.toml: notes.folder = "Answers".'


def note_path(title: str, folder: str, paths: VaultPaths) -> str:
    """Return where a note of a title goes: what cannot stand in a file's name is left out.

    Raises NotAllowed where no folder is named, PathRefused for the memory folder, BadArgument for
    a title of which nothing is left.
    """
    if not folder:
        raise NotAllowed("Agents may not save notes here. Nothing was written.", hint=_ALLOW)
    if f"{folder}/".casefold().startswith(f"{paths.memory_dir}/".casefold()):
        raise PathRefused(folder, "notes.folder is the memory folder")
    name = one_line(_NOT_IN_NAMES.sub(" ", title)).removesuffix(".md").strip(". ")
    if not name:
        raise BadArgument("title", title, "the note's name, in words")
    return f"{folder}/{name}.md"


def only_new(path: str, note: str, paths: VaultPaths) -> str:
    """Return a note's text. Raises WriteConflict where a file has this name, or one that some
    system takes for the same.
    """
    folder, _, name = path.rpartition("/")
    for one in paths.absolute(folder).glob("*"):
        if normalize("NFC", one.name).casefold() == normalize("NFC", name).casefold():
            there = f"There is {paths.relative(one)} already. Nothing was written."
            raise WriteConflict(there, hint="No note is ever changed: choose another title.")
    return note
