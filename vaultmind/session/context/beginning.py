"""Identity, brain and active context in a context that is built before an answer."""

from __future__ import annotations

from dataclasses import replace

from vaultmind.session.context.budget import BETWEEN_TOKENS
from vaultmind.session.context.draft import Draft
from vaultmind.session.context.headings import headings
from vaultmind.session.context.means import Means
from vaultmind.session.context.parts import NO_ROOM, Part
from vaultmind.session.context.start import Beginning, PartName, start_context
from vaultmind.session.files import read_text
from vaultmind.tokens import count
from vaultmind.types import Caller
from vaultmind.vault.properties import front_matter

SAME = "what it says of this conversation stands here itself"
_NAMES: tuple[PartName, ...] = ("identity", "brain", "active context")


def add_start(
    means: Means, draft: Draft, session: str, language: str, *, whole: bool = False
) -> None:
    """Add what an agent knows when a conversation begins, within its share, or the `whole` rest.

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
    left = purse.left - purse.price(0) * len(wanted)
    room = (left if whole else min(draft.caps.start, left)) - count(f"{heading}\n")
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
    draft.cut = [one for one in start.dropped if one.reason == NO_ROOM]
    draft.dropped.extend(start.dropped)


def fill_start(means: Means, draft: Draft, session: str, language: str) -> None:
    """Give what no other part took to what the agent knows, where that was cut.

    A fact that lasting memory has told then stands in the brain alone.
    """
    if not draft.cut or draft.excess() >= 0:
        return
    for name in _NAMES:
        draft.parts.pop(name, None)
    draft.dropped = [one for one in draft.dropped if one not in draft.cut]
    draft.purse.left = draft.budget + BETWEEN_TOKENS
    for part in draft.parts.values():
        draft.purse.pay(part.tokens)
    add_start(means, draft, session, language, whole=True)
    memory = draft.parts.get("memory")
    if memory is not None:
        draft.parts["memory"] = _without_known(memory, draft.text("brain"))


def _without_known(memory: Part, brain: str) -> Part:
    """Return what was recalled, a line for each source, without the facts of a brain."""
    heading, *lines = memory.text.split("\n")
    if len(lines) != len(memory.sources):
        return memory
    kept = [
        (line, source)
        for line, source in zip(lines, memory.sources, strict=True)
        if not (piece := line.rpartition("]]")[2].partition(": ")[2]) or piece not in brain
    ]
    text = "\n".join([heading, *(line for line, _ in kept)]) if kept else ""
    return replace(memory, text=text, tokens=count(text), sources=tuple(one for _, one in kept))


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
