"""The one filter of every way out: search, fetch, resources, context, hooks."""

from __future__ import annotations

from collections.abc import Callable

from vaultmind import redact
from vaultmind.index.chunking import place_of
from vaultmind.ports import Forgotten
from vaultmind.types import Caller, Chunk
from vaultmind.vault.exclude import ExcludeRules
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths


class Outlet:
    """Decides what may be shown to whom, and takes secrets out of what is."""

    def __init__(
        self, reader: VaultReader, rules: Callable[[], ExcludeRules], forgotten: Forgotten
    ) -> None:
        self.reader = reader
        self._rules = rules
        self._forgotten = forgotten

    @property
    def paths(self) -> VaultPaths:
        """Return the names of the vault."""
        return self.reader.paths

    def shows(self, path: str, caller: Caller) -> bool:
        """Tell whether a caller may see a vault-relative path: indexed, or who an agent is.

        Every caller may read every agent's memory; what an agent may not read is decided here.
        """
        agent = self.paths.agent_of(path)
        if place_of(path, self.paths) is None and not (
            agent and path == self.paths.identity(agent)
        ):
            return False
        return not self._rules().excluded(path)

    def shows_chunk(self, chunk: Chunk, caller: Caller) -> bool:
        """Tell whether a caller may see a chunk: its file is shown and it is not forgotten."""
        return self.shows(chunk.path, caller) and not self.hides(
            chunk.agent,
            chunk.session or chunk.path.removesuffix(".md"),
            chunk.message,
            chunk.anchor.removeprefix("#^"),
        )

    def hides(self, agent: str, record: str, *names: str) -> bool:
        """Tell whether a part of a record said what was forgotten.

        A message of a session, by its own id or its block; a part of a summary, named by its
        path without `.md`, by its block.
        """
        return bool(record) and any(
            self._forgotten.hides(agent, record, name) for name in names if name
        )

    def readable_agents(self, caller: Caller) -> tuple[str, ...]:
        """Return the agents whose memory a caller may read."""
        return self.paths.agent_names()

    def clean(self, text: str) -> str:
        """Return a text without the secrets in it."""
        return redact.mask(text).text
