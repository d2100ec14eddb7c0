"""Who calls, whose memory is meant, and errors as data and in words.

Half letters are surrogates without their other half, which JSON can spell and UTF-8 cannot hold: a
JavaScript client that cuts an emoji in two sends one. On the way in each becomes `\ufffd`, before
anything reads the message, and on the way out it does too, since a file may hold one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from vaultmind import fence
from vaultmind.errors import BadArgument, InternalError, NotAllowed, NotFound, VaultMindError
from vaultmind.ports import Report, silent
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App

DEFAULT_AGENT = "main"
CLOCKS_DIFFER = timedelta(minutes=1)
REPLACEMENT = "\ufffd"
_SUSPECT = re.compile(rb"\\u[dD][89a-fA-F]")
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Call:
    """Who calls, and whom to tell how far it is."""

    caller: Caller
    report: Report = silent


def known_agent(app: App, caller: Caller, agent: str) -> str:
    """Return whose memory is meant; raise NotFound for an agent that has no folder.

    Whoever calls may be new: an agent's memory begins with its first word, a person's default
    agent with the first fact. Any other new name is a slip of the pen. An agent that keeps its
    memory from the caller is, to the caller, not there.
    """
    target, names = app.target(caller, agent), app.index.outlet.readable_agents(caller)
    own = caller.agent if caller.kind == "agent" else DEFAULT_AGENT
    if not agent or target == own or target in names:
        return target
    raise no_agent(caller, target, names)


def no_agent(caller: Caller, name: str, names: Sequence[str]) -> NotFound:
    """Return the error that there is no agent of a name, which tells a caller those there are."""
    known = f"there are {', '.join(names)}" if names else "there is none yet"
    hint = f"To make one: vaultmind agents new {name}" if caller.kind == "person" else ""
    return NotFound(f"There is no agent {name!r}; {known}.", hint=hint)


def own_agent(app: App, caller: Caller, agent: str, what: str) -> str:
    """Return whose records are written; raise NotAllowed for an agent that means another's."""
    target = known_agent(app, caller, agent)
    if caller.kind == "agent" and target != caller.agent:
        raise NotAllowed(f"{caller.agent} may {what}, not those of {target}.")
    return target


def told_time(given: str, name: str, now: datetime) -> str:
    """Return a time that was told; nothing for none, or for one in the future, which cannot be."""
    from vaultmind.times import parse_time

    try:
        return given if given and parse_time(given) <= now + CLOCKS_DIFFER else ""
    except (ValueError, OverflowError) as error:
        allowed = "ISO 8601, e.g. 2026-02-20T10:00:03+01:00"
        raise BadArgument(f"{name}.time", given, allowed) from error


def own_session(app: App, caller: Caller, agent: str = "") -> str:
    """Return the open session of the conversation that a caller is in; empty where none tells."""
    if not caller.conversation or agent not in ("", caller.agent):
        return ""
    session: str = app.sessions.open_session(caller.agent, caller.conversation)
    return session


def mark_for(caller: Caller) -> str:
    """Return a fresh mark for what an agent recalls; none for a person."""
    return fence.new_mark() if caller.kind == "agent" else ""


def whole_json(raw: bytes) -> bytes:
    """Return JSON with `\\ufffd` for each escape that is half a letter."""
    if _SUSPECT.search(raw) is None:
        return raw
    try:
        return whole_text(json.dumps(json.loads(raw), ensure_ascii=False)).encode()
    except (ValueError, RecursionError):
        return raw  # whoever reads it says what is wrong


def whole_text(text: str) -> str:
    """Return a text with `\ufffd` for each half letter."""
    return text if text.isascii() else _HALF.sub(REPLACEMENT, text)


def readable(error: Exception, what: str) -> VaultMindError:
    """Return an error for readers; one that is not meant for them goes to the log.

    `what` names the operation.
    """
    if isinstance(error, VaultMindError):
        return error
    import logging

    logging.getLogger(__name__).error("%s failed", what, exc_info=error)
    hint = "The daemon's log says more; `vaultmind doctor` may find the cause."
    return InternalError(f"{what} failed: {type(error).__name__}.", hint=hint)


def problem(error: Exception, what: str) -> dict[str, str]:
    """Return an error as JSON: type, message, hint, and for a bad argument which and why."""
    body = readable(error, what).body()
    return {name: whole_text(value) for name, value in body.items()}
