"""Forgetting reaches the runs of scheduled sub-agents, which the host writes and we only read.

A line that says a forgotten fact is hidden by its file and number: a host appends to these files,
so that both stay. Its words stay in the file, as a message's do. Looked at are as many of the
newest files of each task as a context could ever show.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vaultmind.errors import BadArgument, NotFound, PathRefused, UnreadableNote
from vaultmind.memory.forget.kinds import Edit, Ref, SummaryRef
from vaultmind.memory.forget.wanted import Wanted
from vaultmind.memory.match import says
from vaultmind.session.subagents.history import (
    MAX_BYTES,
    MAX_FILES,
    RunMessage,
    folder_of,
    run_bytes,
    run_files,
    run_lines,
    tasks,
)
from vaultmind.types import Fact
from vaultmind.vault.paths import VaultPaths

MOST_RUNS = 100
"""As many as `context.subagent_history` may be at most."""


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
        for message in self._messages():
            text = "\n".join(filter(None, (message.text, message.tool_calls)))
            if wanted.may_be_in(text):
                yield SummaryRef(agent, message.file, block_of(message.line)), text

    def _messages(self) -> Iterator[RunMessage]:
        for task in tasks(self._paths):
            try:
                files = run_files(self._paths, folder_of(self._paths, task))
            except (BadArgument, PathRefused):
                continue  # not to be read, so not shown either
            ended = size = 0
            for file in reversed(files[-MAX_FILES:]):
                if ended > MOST_RUNS or size > MAX_BYTES:
                    break
                try:
                    raw = run_bytes(self._paths, file)
                except (NotFound, PathRefused, UnreadableNote):
                    continue
                size += len(raw)
                for _, message, _ in run_lines(file, raw):
                    if message is not None:
                        ended += message.ends_run
                        yield message
