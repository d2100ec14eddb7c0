"""Identity, brain and active context in a context that is built before an answer."""

from __future__ import annotations

from vaultmind.session.context.draft import Draft
from vaultmind.session.context.headings import headings
from vaultmind.session.context.means import Means
from vaultmind.session.context.parts import NO_ROOM, Part
from vaultmind.session.context.start import Beginning, PartName, start_context
from vaultmind.session.records.reading import read_text
from vaultmind.tokens import count
from vaultmind.types import Caller
from vaultmind.vault.properties import front_matter

SAME = "what it says of this conversation stands here itself"
_NAMES: tuple[PartName, ...] = ("identity", "brain", "active context")


def add_start(means: Means, draft: Draft, session: str, language: str) -> None:
    """Add what an agent knows when a conversation begins, within its share.

    What the active context says of this very conversation is left out; all of it for a sub-agent.
    """
    agent, purse = draft.request.agent, draft.purse
    files = dict(zip(_NAMES, _paths(means, agent), strict=True))
    wanted = {files[name] for name in _NAMES if draft.wants(name)}
    if draft.request.task:
        wanted.discard(files["active context"])
    elif draft.wants("active context") and _is_of(means, files["active context"], session):
        draft.drop("the active context", SAME)
    heading = headings(language).active
    room = min(draft.caps.start, purse.left - purse.price(0) * len(wanted)) - count(f"{heading}\n")
    if not wanted or room < 1:
        if wanted:
            draft.drop("identity, brain and active context", NO_ROOM)
        return

    def shows(path: str, caller: Caller) -> bool:
        return path in wanted and means.shows(path, caller)

    begins = Beginning(agent, draft.caller, room, session)
    start = start_context(means.reader, begins, shows=shows, hides=means.hides)
    for one in start.parts:
        text = f"{heading}\n{one.text}" if one.name == "active context" else one.text
        draft.add(Part(one.name, text, count(text), (one.path,)))
    draft.dropped.extend(start.dropped)


def _paths(means: Means, agent: str) -> tuple[str, str, str]:
    paths = means.reader.paths
    return paths.identity(agent), paths.brain(agent), paths.active_context(agent)


def _is_of(means: Means, path: str, session: str) -> bool:
    """Tell whether an active context says that it is of a session."""
    text, _ = read_text(means.reader, path)
    if not session or session not in text:
        return False
    found = front_matter(text)
    return found is not None and session in str(found.properties.get("session", ""))
