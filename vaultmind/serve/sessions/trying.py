"""`minion_try`: what a model would take from a session, before anybody lets it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from vaultmind.consolidate.types import Consolidated, SessionDone
from vaultmind.errors import BadArgument, NotFound
from vaultmind.serve.calls.call import known_agent
from vaultmind.serve.calls.requests import MAX_ID, MAX_TEXT
from vaultmind.serve.calls.schema import arg
from vaultmind.serve.sessions import consolidating
from vaultmind.vault.paths import SESSION_ID

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.serve.calls.call import Call


@dataclass(frozen=True, slots=True)
class TryArgs:
    """Arguments of minion_try."""

    session: str = arg("Its id; default: the latest.", default="", max=MAX_ID)
    model: str = arg("A model; default: the configured one.", default="", max=MAX_TEXT)
    agent: str = arg("Whose session; default: the configured agent's.", default="")


@dataclass(frozen=True, slots=True)
class Tried:
    """What a model would take from a session, and how long it took."""

    done: SessionDone
    took_ms: float


def run(app: App, call: Call, args: TryArgs) -> Tried:
    """Let a model read a session as `consolidate` would; nothing is written, nothing marked.

    Who asks may have it work longer than models may by themselves; it is counted all the same.
    Raises NotFound for an agent or a session that is not there, BadArgument for what is no model.
    """
    agent = known_agent(app, call.caller, args.agent)
    session = args.session.strip() or app.sessions.latest(agent)
    if not session:
        raise NotFound(f"{agent} has no session yet.", hint="vaultmind import, vaultmind chat")
    if not SESSION_ID.fullmatch(session):
        raise BadArgument("session", session, consolidating.IDS)
    config = app.config.minion
    if args.model:
        config = replace(config, model=args.model, extraction="", summary="")
    minion = app.minion.beside(config)
    try:
        began = time.perf_counter()
        with minion.unbound():
            done = app.consolidation.tried(agent, session, app.thinker_with(minion))
        return Tried(done, (time.perf_counter() - began) * 1000)
    finally:
        minion.close()


def as_json(response: Tried, mark: str = "") -> dict[str, Any]:
    """Return what the session would leave, as `consolidate` says it."""
    found = consolidating.consolidated_json(Consolidated((response.done,)))
    return found | {"took_ms": round(response.took_ms, 1)}


def words(response: Tried, mark: str = "") -> str:
    """Return it a line each."""
    return consolidating.consolidated_words(Consolidated((response.done,)))
