"""The fact that was written last: what a person means by "that"."""

from __future__ import annotations

from vaultmind.errors import NotFound, UnreadableNote
from vaultmind.memory.audit.lines import read_audit
from vaultmind.memory.brain import parse_brain
from vaultmind.types import Fact
from vaultmind.vault.files import VaultReader

_WRITES = ("remember", "replace")


def last_written(reader: VaultReader, agent: str) -> Fact | None:
    """Return the fact that was written into an agent's brain last, if it still stands there."""
    try:
        facts = parse_brain(reader.read(reader.paths.brain(agent)).text).all()
    except (NotFound, UnreadableNote):
        return None
    standing = {fact.block: fact for fact in facts if fact.block}
    for line in reversed(read_audit(reader.paths, agent)):
        if line.op in _WRITES and line.outcome == "written":
            return standing.get(line.block)
    return None
