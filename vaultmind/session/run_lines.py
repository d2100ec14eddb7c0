"""Forgetting reaches the runs of scheduled sub-agents, which the host writes and we only read.

A line that says a forgotten fact is hidden by its file and number: a host appends to these files,
so that both stay. Its words stay in the file, as a message's do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vaultmind.errors import BadArgument, NotFound, PathRefused, UnreadableNote
from vaultmind.memory.forget.kinds import Edit, Ref, SummaryRef
from vaultmind.memory.forget.wanted import Wanted
from vaultmind.memory.match import says
from vaultmind.session.subagents import (
    RunMessage,
    folder_of,
    run_bytes,
    run_files,
    run_lines,
    tasks,
)
from vaultmind.types import Fact
from vaultmind.vault.paths import VaultPaths


def block_of(line: int) -> str:
    """Return what a line of a run is called where it is hidden."""
    return f"L{line}"


class RunLines:
    """Implements the gate's `RecordKind`: messages of all tasks' runs that say a fact."""

    name = "scheduled runs"

    def __init__(self, paths: VaultPaths) -> None:
        self._paths = paths

    def said(self, agent: str, fact: Fact, edit: Edit) -> Iterable[Ref]:
        """Return the lines whose words contain what the fact says."""
        return [ref for ref, text in self.near(agent, fact.text) if says(text, fact.text)]

    def near(self, agent: str, words: str) -> Iterator[tuple[Ref, str]]:
        """Yield the lines that hold the words which count, in any form."""
        wanted = Wanted([words])
        for message in self._messages(wanted):
            text = "\n".join(filter(None, (message.text, message.tool_calls)))
            if wanted.may_be_in(text):
                yield SummaryRef(agent, message.file, block_of(message.line)), text

    def _messages(self, wanted: Wanted) -> Iterator[RunMessage]:
        for task in tasks(self._paths):
            try:
                files = run_files(self._paths, folder_of(self._paths, task))
            except (BadArgument, PathRefused):
                continue  # not to be read, so not shown either
            for file in files:
                try:
                    raw = run_bytes(self._paths, file)
                except (NotFound, PathRefused, UnreadableNote):
                    continue
                if b"\\u" in raw or wanted.may_be_in(raw.decode("utf-8", "replace")):
                    found = (message for _, message, _ in run_lines(file, raw))
                    yield from (message for message in found if message is not None)
