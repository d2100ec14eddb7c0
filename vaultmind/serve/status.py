"""`status`: how VaultMind is, gathered from all there is to tell of."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vaultmind import __version__
from vaultmind.episodes.gains import Figures
from vaultmind.planner.figures import PlanFigures
from vaultmind.serve.calls.call import Call
from vaultmind.serve.calls.requests import NoArgs
from vaultmind.serve.calls.schema import to_json
from vaultmind.serve.episodes import gaining, worked
from vaultmind.serve.memory import answers, approval, damaged, render, rights
from vaultmind.serve.memory.approval import waiting_words
from vaultmind.serve.memory.searching import seen_state
from vaultmind.serve.planning.standing import Standing, brief, standings
from vaultmind.serve.sessions import asleep
from vaultmind.types import IndexState

if TYPE_CHECKING:
    from vaultmind.app import App

NO_PLANS = PlanFigures()


@dataclass(frozen=True, slots=True)
class Status:
    """How VaultMind is, for whoever asks."""

    version: str
    pid: int
    vault: str
    memory_folder: str
    state_folder: str
    agent: str
    """Whose memory this caller writes to."""
    agents: tuple[str, ...]
    index: IndexState
    warnings: tuple[str, ...] = field(default=())
    """Configuration and phrases that were found and not taken; rights that are asked for and not
    in force."""
    waiting: approval.Waiting = approval.NONE
    """Suggestions that wait for the person."""
    consolidation: asleep.Brief = asleep.NO_BRIEF
    """What waits to be consolidated, and what was done last."""
    planning: PlanFigures = NO_PLANS
    """How planning went since the daemon started."""
    sources: tuple[Standing, ...] = ()
    """The vault and the folders linked to it."""
    gain: Figures | None = None
    """Of the last month; for the person."""
    episodes: worked.Brief = worked.NO_BRIEF
    models: tuple[str, ...] = ()
    """The rankers in use, as `model status` names them."""


def run(app: App, call: Call, args: NoArgs) -> Status:
    """Return how complete the index is and what is missing."""
    return Status(
        version=__version__,
        pid=os.getpid(),
        vault=str(app.config.vault),
        memory_folder=app.config.memory_dir,
        state_folder=str(app.config.state_dir),
        agent=call.caller.agent or app.config.agent,
        agents=app.index.outlet.readable_agents(call.caller),
        index=seen_state(app, call.caller),
        warnings=(
            *app.config.warnings,
            *app.ears.faults(),
            *rights.notes(app, call.caller),
            *damaged.notes(app, call.caller),
        ),
        waiting=approval.waiting(app, call.caller),
        consolidation=asleep.brief(app, call.caller),
        planning=app.planner.figures,
        sources=standings(app),
        gain=gaining.recent(app, call.caller) if call.caller.kind == "person" else None,
        episodes=worked.brief(app, call.caller),
        models=_in_use(app),
    )


def _in_use(app: App) -> tuple[str, ...]:
    """Return the ids of the planner's rankers in use and of the one that ranks searches."""
    embedder = app.index.state().embedder
    rows = (one for one in app.learning.models.rows() if one.active)
    return tuple(
        f"{one.id} ({one.of})" for one in rows if one.kind == "planner" or one.of in ("", embedder)
    )


def words(response: Status, mark: str) -> str:
    """Return how VaultMind is."""
    lines = [
        f"VaultMind {response.version}, vault {response.vault}, agent {response.agent} "
        f"(of {', '.join(response.agents) or 'none yet'}).",
        render.index_state(response.index),
        waiting_words(response.waiting),
        response.consolidation.words,
        response.episodes.words,
        f"Ranked by {', '.join(response.models)}." if response.models else "",
        *(f"Linked: {one.name}: {one.words}." for one in response.sources if one.kind == "linked"),
        *response.warnings,
    ]
    return "\n".join(line for line in lines if line)


def as_json(response: Status, mark: str) -> dict[str, Any]:
    """Return how VaultMind is; an agent is not told folders outside the vault."""
    body = dict(to_json(response)) | {"waiting": response.waiting.count}
    body["waiting_words"] = waiting_words(response.waiting)
    body["sources"] = brief(response.sources, to_agent=bool(mark))
    if mark:
        del body["state_folder"], body["pid"], body["gain"]
        body["index"] = answers.index_state(response.index, render.SHOWN_FAULTS)
    return body
