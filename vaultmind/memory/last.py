"""The fact that was written last: what a person means by "that"."""

from __future__ import annotations

from datetime import datetime

from vaultmind.errors import NotFound, UnreadableNote
from vaultmind.memory.audit.lines import FOUND
from vaultmind.memory.audit.reading import Wanted, newest_first
from vaultmind.memory.brain import parse_brain
from vaultmind.types import Fact
from vaultmind.vault.files import VaultReader

_WRITES = ("remember", "replace")


def last_written(reader: VaultReader, agent: str, since: datetime | None = None) -> Fact | None:
    """Return the fact that was written into an agent's brain last, if it still stands there.

    None after a forget, which leaves nothing to mean, and for a fact written before `since`. What
    extraction found in the background meanwhile is not looked at: nobody spoke of it just now.
    """
    try:
        facts = parse_brain(reader.read(reader.paths.brain(agent)).text).all()
    except (NotFound, UnreadableNote):
        return None
    standing = {fact.block: fact for fact in facts if fact.block}
    for logged in newest_first(reader.paths, Wanted((agent,), ops=(*_WRITES, "forget"))):
        line = logged.line
        if line.outcome != "written" or line.how in FOUND:
            continue
        if line.op == "forget" or (since is not None and not _is_since(line.time, since)):
            return None
        return standing.get(line.block)
    return None


def _is_since(time: str, since: datetime) -> bool:
    try:
        return datetime.fromisoformat(time) >= since.replace(microsecond=0)
    except (ValueError, TypeError):
        return False
