"""The one filter of every way out: search, fetch, resources, context, hooks."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from vaultmind import redact
from vaultmind.index.folder import VaultFolder
from vaultmind.ports import Forgotten, Readers
from vaultmind.types import Caller, Chunk
from vaultmind.vault.files import VaultReader
from vaultmind.vault.scan import Rules


@dataclass(frozen=True, slots=True)
class Withheld:
    """What is kept back: from everybody what was forgotten, from an agent others' secrets."""

    forgotten: Forgotten
    readers: Readers


class Outlet:
    """Decides what may be shown to whom, and takes secrets out of what is."""

    def __init__(
        self,
        reader: VaultReader,
        rules: Callable[[], Rules],
        withheld: Withheld,
        folder: VaultFolder | None = None,
    ) -> None:
        """Take as `folder` what another folder than a vault takes of its files."""
        self.reader, self.paths = reader, reader.paths
        self.folder = folder or VaultFolder(reader.paths)
        self._rules = rules
        self._forgotten = withheld.forgotten
        self._readers = withheld.readers

    @property
    def rules(self) -> Rules:
        """Return what is left out, as it is now: another object once that has changed."""
        return self._rules()

    def shows(self, path: str, caller: Caller) -> bool:
        """Tell whether a caller may see a vault-relative path: indexed, or who an agent is.

        An agent's files are shown to those whom it lets read them.
        """
        agent = self.paths.agent_of(path)
        if self.folder.place_of(path) is None and not (
            agent and path == self.paths.identity(agent)
        ):
            return False
        if agent and not self._readers.lets_read(caller, agent):
            return False
        return not self._rules().excluded(path) and not self._is_memory_misspelt(path)

    def excludes(self, path: str) -> bool:
        """Tell whether a vault-relative path is one that nobody is shown: the person's rules."""
        return self._rules().excluded(path)

    def hides(self, agent: str, record: str, *names: str) -> bool:
        """Tell whether a part of a record said what was forgotten.

        A message of a session, by its own id or its block; a part of a summary, named by its
        path without `.md`, by its block.
        """
        return _hidden(self._forgotten.hider(agent), record, names)

    def shown_to(self, caller: Caller) -> Shown:
        """Return what tells of many chunks whether a caller may see them, as things are now."""
        return Shown(self, caller, self._forgotten)

    def readable_agents(self, caller: Caller) -> tuple[str, ...]:
        """Return the agents whose memory a caller may read."""
        names = self.paths.agent_names()
        return tuple(name for name in names if self._readers.lets_read(caller, name))

    def names(self, path: str, caller: Caller) -> bool:
        """Tell whether a caller may learn that there is something at a vault-relative path."""
        agent = self.paths.agent_of(f"{path}/")
        return not agent or self._readers.lets_read(caller, agent)

    def _is_memory_misspelt(self, path: str) -> bool:
        """Tell whether a path is another spelling of the memory folder, where case is ignored.

        Under its own name every file of that folder has its rule; under another it has none.
        """
        ours = self.paths.memory_dir
        start = "/".join(path.split("/")[: ours.count("/") + 1])
        if start == ours or _folded(start) != _folded(ours):
            return False
        try:
            return (self.paths.root / start).samefile(self.paths.root / ours)
        except OSError:
            return False

    def clean(self, text: str) -> str:
        """Return a text without the secrets in it."""
        return redact.mask(text).text


class Shown:
    """What one caller may see at one moment: each file and each agent is looked at once."""

    def __init__(self, outlet: Outlet, caller: Caller, forgotten: Forgotten) -> None:
        self.shows = cache(lambda path: outlet.shows(path, caller))
        """Tells whether a vault-relative path is shown."""
        self._hider = cache(forgotten.hider)

    def __call__(self, chunk: Chunk) -> bool:
        """Tell whether a chunk's file is shown and it is not forgotten."""
        if not self.shows(chunk.path):
            return False
        record = chunk.session or chunk.path.removesuffix(".md")
        names = (chunk.message, chunk.anchor.removeprefix("#^"))
        return not _hidden(self._hider(chunk.agent), record, names)


def _hidden(hides: Callable[[str, str], bool], record: str, names: Iterable[str]) -> bool:
    return bool(record) and any(hides(record, name) for name in names if name)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
