"""The one filter of every way out: search, fetch, resources, context, hooks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import cache

from vaultmind.errors import BadArgument
from vaultmind.index.folder import VaultFolder
from vaultmind.index.notes import folded
from vaultmind.ports import Forgotten, Readers
from vaultmind.types import Caller, Chunk

_SHOWN_FOLDERS = 20
Shown = Callable[[Chunk], bool]
"""Tells whether a chunk's file is shown and it is not forgotten."""


class Outlet:
    """Decides what may be shown to whom, and takes secrets out of what is.

    Kept back is from everybody what was forgotten, from an agent the memory of others.
    """

    def __init__(self, folder: VaultFolder, forgotten: Forgotten, readers: Readers) -> None:
        self.folder, self.reader, self.paths = folder, folder.reader, folder.paths
        self._forgotten, self._readers = forgotten, readers

    def over(self, folder: VaultFolder) -> Outlet:
        """Return the same over another folder."""
        return Outlet(folder, self._forgotten, self._readers)

    def shows(self, path: str, caller: Caller) -> bool:
        """Tell whether a caller may see a vault-relative path: indexed, or who an agent is.

        An agent's files are shown to those whom it lets read them.
        """
        agent = self.paths.agent_of(path)
        is_identity = bool(agent) and path == self.paths.identity(agent)
        if not is_identity and self.folder.place_of(path) is None:
            return False
        may = not agent or self._readers.lets_read(caller, agent)
        return may and not self.excludes(path) and not self._is_memory_misspelt(path)

    def excludes(self, path: str) -> bool:
        """Tell whether a vault-relative path is one that nobody is shown: the person's rules."""
        return self.folder.rules.excluded(path)

    def hides(self, agent: str, record: str, *names: str) -> bool:
        """Tell whether a part of a record said what was forgotten.

        A message of a session, by its own id or its block; a part of a summary, named by its
        path without `.md`, by its block.
        """
        return _hidden(self._forgotten.hider(agent), record, names)

    def shown_to(self, caller: Caller) -> Shown:
        """Return what tells of many chunks whether a caller may see them, as things are now.

        Each file and each agent is looked at once.
        """
        shows = cache(lambda path: self.shows(path, caller))
        hider = cache(self._forgotten.hider)

        def is_shown(chunk: Chunk) -> bool:
            record = chunk.session or chunk.path.removesuffix(".md")
            names = (chunk.message, chunk.anchor.removeprefix("#^"))
            return shows(chunk.path) and not _hidden(hider(chunk.agent), record, names)

        return is_shown

    def readable_agents(self, caller: Caller) -> tuple[str, ...]:
        """Return the agents whose memory a caller may read."""
        names = self.paths.agent_names()
        return tuple(name for name in names if self._readers.lets_read(caller, name))

    def names(self, path: str, caller: Caller) -> bool:
        """Tell whether a caller may learn that there is something at a vault-relative path."""
        agent = self.paths.agent_of(f"{path}/")
        return not agent or self._readers.lets_read(caller, agent)

    def folder_named(self, wanted: str, caller: Caller, paths: Collection[str]) -> str:
        """Return a folder to search below, of those that files lie in; "" where none is wanted.

        Raises BadArgument for one that holds nothing that is shown to the caller, as for one that
        is not there: what there is names only folders that do. Any will do where no file is known.
        """

        def shows_any(below: str) -> bool:
            return any(one.startswith(f"{below}/") and self.shows(one, caller) for one in paths)

        folder = wanted.strip().strip("/")
        if not folder or not paths or shows_any(folder):
            return folder
        top = {one.partition("/")[0] for one in paths if "/" in one}
        what = "a folder of the vault with notes in it; at the top are"
        raise BadArgument("folder", wanted, listed(what, sorted(filter(shows_any, top))))

    def _is_memory_misspelt(self, path: str) -> bool:
        """Tell whether a path is another spelling of the memory folder, where case is ignored.

        Under its own name every file of that folder has its rule; under another it has none.
        """
        root, ours = self.paths.root, self.paths.memory_dir
        start = "/".join(path.split("/")[: ours.count("/") + 1])
        if start != ours and folded(start) == folded(ours):
            with suppress(OSError):
                return (root / start).samefile(root / ours)
        return False


def _hidden(hides: Callable[[str, str], bool], record: str, names: Iterable[str]) -> bool:
    return bool(record) and any(hides(record, name) for name in names if name)


def listed(what: str, names: Sequence[str]) -> str:
    """Return what is allowed, with the first of some names."""
    shown = ", ".join(names[:_SHOWN_FOLDERS]) or "none yet"
    more = len(names) - _SHOWN_FOLDERS
    return f"{what}: {shown}" + (f" and {more} more" if more > 0 else "")
