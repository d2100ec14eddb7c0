"""What clients can attach by hand: notes, brains, active contexts; through the same way out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote

from vaultmind.errors import NotFound
from vaultmind.fence import new_mark
from vaultmind.serve.call import known_agent
from vaultmind.serve.show import Reader, Recalled
from vaultmind.types import Caller
from vaultmind.vault.paths import agent_name

if TYPE_CHECKING:
    from vaultmind.app import App

NOTE = "note:///"
MEMORY = "memory://"
MAX_TOKENS = 20_000
"""A longer note is cut, and says so outside its fence."""


@dataclass(frozen=True, slots=True)
class Offered:
    """A resource or a template of resources that a client may list."""

    uri: str
    name: str
    title: str
    description: str


TEMPLATES = (
    Offered(NOTE + "{+path}", "note", "A note", "A note of the vault, by its path."),
    Offered(MEMORY + "{agent}/brain", "brain", "A brain", "The lasting facts of an agent."),
    Offered(
        MEMORY + "{agent}/active_context",
        "active_context",
        "Active context",
        "Where an agent's last conversation ended.",
    ),
)


def offered(app: App, caller: Caller) -> tuple[Offered, ...]:
    """Return the resources of the caller's own memory that are there."""
    if not caller.agent:
        return ()
    own = (replace(one, uri=one.uri.replace("{agent}", caller.agent)) for one in TEMPLATES[1:])
    return tuple(one for one in own if _is_there(app, caller, _path(app, caller, one.uri)))


def read(app: App, caller: Caller, uri: str) -> str:
    """Return a resource's text, fenced; raise NotFound for what is not there or not shown."""
    path = _path(app, caller, uri)
    if uri.startswith(MEMORY) and not _is_there(app, caller, path):
        raise NotFound(f"The resource {uri!r} is empty: there is no {path} yet.")
    try:
        found = app.index.fetch(path, caller, max_tokens=MAX_TOKENS)
    except NotFound:
        words = f"There is no note {path[:200]!r}."
        hint = "A note's resource is note:/// and its path in the vault, with .md."
        raise NotFound(words, hint=hint) from None
    text = Reader(new_mark()).text(Recalled(found.text, found.path))
    more = found.next_offset is not None
    return text + ("\nThere is more: use memory_fetch with an offset." if more else "")


def _is_there(app: App, caller: Caller, path: str) -> bool:
    return app.reader.exists(path) and app.index.outlet.shows(path, caller)


def _path(app: App, caller: Caller, uri: str) -> str:
    if uri.startswith(NOTE):
        return unquote(uri.removeprefix(NOTE))
    if uri.startswith(MEMORY):
        agent, _, what = uri.removeprefix(MEMORY).partition("/")
        files = {"brain": app.paths.brain, "active_context": app.paths.active_context}
        if what in files:
            return files[what](known_agent(app, caller, agent_name(agent)))
    known = ", ".join(one.uri for one in TEMPLATES)
    raise NotFound(f"There is no resource {uri[:200]!r}.", hint=f"There are: {known}.")
