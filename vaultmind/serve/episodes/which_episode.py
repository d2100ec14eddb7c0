"""Which episode a call is about: the one it names, that of a conversation, or its caller's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vaultmind.errors import BadArgument, NotAllowed, NotFound, VaultMindError
from vaultmind.serve.calls.call import known_agent
from vaultmind.serve.ops import tool_uses
from vaultmind.types import Caller
from vaultmind.vault.paths import agent_name

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.episodes.types import Episode
    from vaultmind.serve.calls.call import Call

LOOKED_BACK = 500
"""So many notes, the newest first, are looked at for one that a caller began."""
SHOWN = 8
"""Episodes that a question names."""


def writer(app: App, caller: Caller, agent: str) -> Caller:
    """Return who writes whose episodes. Raises NotAllowed for an agent that means another's."""
    target = known_agent(app, caller, agent)
    if caller.kind == "agent" and target != caller.agent:
        raise NotAllowed(f"{caller.agent} may keep its own episodes, not those of {target}.")
    return replace(caller, agent=target)


def find_episode(
    app: App, call: Call, episode: str, session_id: str, agent: str, *, ended: bool = False
) -> tuple[Caller, str]:
    """Return who writes, and which episode is meant: named, of the session, or the caller's own.

    Its own is what the same client began: what a hook began in a conversation beside it is not
    meant by a command that names nothing. With `ended` its latest counts where none runs. Raises
    NotFound, NotAllowed; BadArgument naming those there are, where nothing tells which.
    """
    name, session = episode.strip().removesuffix(".md"), session_id.strip()
    owner, _, id = name.rpartition("/")
    agent = agent_name(owner, "episode") if owner else agent
    tool_uses.catch_up(app)
    if session and not name and not agent and call.caller.kind == "person":
        agent = _whose(app, session)
    caller = writer(app, call.caller, agent)
    if name:
        return caller, f"{caller.agent}/{id}"
    running = app.episodes.recorder.running(caller.agent, session=session)
    if session:
        found = _of_session(caller, running, session if ended else "")
    else:
        found = _own(app, caller, running, ended=ended)
    if not found:
        of = f" in session {session!r}" if session else ""
        raise NotFound(f"{caller.agent} has no episode that runs{of}.", hint=hint(call))
    return caller, found


def hint(call: Call) -> str:
    """Return how an episode is begun, for whoever asks."""
    person = call.caller.kind == "person"
    return "To begin one: " + (
        'vaultmind episode start --task "…"' if person else "action `start`."
    )


def _of_session(caller: Caller, running: Sequence[Episode], over: str) -> str:
    """Return what runs in a conversation; where nothing does, its name: the recorder knows it."""
    if len(running) > 1:
        raise _unclear(caller, [one.name for one in running])
    return running[0].name if running else over


def _own(app: App, caller: Caller, running: Sequence[Episode], *, ended: bool) -> str:
    """Return what a caller means that names nothing; empty where there is nothing.

    A person at the command line means the newest that the command line began. An agent may have
    several conversations at a time, with one client: of those none is guessed.
    """
    own = [one.name for one in running if one.client == caller.client]
    if own and (len(own) == 1 or caller.kind == "person"):
        return own[0]
    if not own and ended and (last := _last_of(app, caller)):
        return last
    names = [one.name for one in running]
    if caller.kind == "agent":
        if len(names) == 1:
            return names[0]
        if not names and ended:
            return "".join(app.episodes.files.names(caller.agent)[-1:])
    elif ended and not names:
        names = list(app.episodes.files.names(caller.agent)[-1:])
    if names:
        raise _unclear(caller, names)
    return ""


def _last_of(app: App, caller: Caller) -> str:
    """Return the newest episode that a caller's client began; empty where there is none."""
    for name in reversed(app.episodes.files.names(caller.agent)[-LOOKED_BACK:]):
        try:
            if app.episodes.files.read(name).client == caller.client:
                return name
        except VaultMindError:
            continue  # one that cannot be read is not meant
    return ""


def _unclear(caller: Caller, names: Sequence[str]) -> BadArgument:
    """Return the question which episode is meant, in the words of who is asked."""
    person = caller.kind == "person"
    by = "--episode NAME or --session ID" if person else "'episode' or 'session_id'"
    shown = ", ".join(names[:SHOWN]) + (" …" if len(names) > SHOWN else "")
    why = "none of them was begun here" if person else "nothing tells which one is meant"
    if len(names) == 1:
        why = "it was not begun here"
    said = f"Which episode? Say {by}; there {'is' if len(names) == 1 else 'are'}: {shown} ({why})."
    return BadArgument("episode", "", f"one of {shown}", missing=True, said=said)


def _whose(app: App, session: str) -> str:
    """Return the agent that had a conversation: the person may judge what came of any."""
    recorder = app.episodes.recorder
    for agent in app.paths.agent_names():
        if recorder.running(agent, session=session):
            return agent
    talked = app.episodes.followed().names(session=session)
    return talked[0].partition("/")[0] if talked else ""
