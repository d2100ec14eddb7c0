"""`gain`: what plans saved and how episodes went, from what was kept of them."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from vaultmind.episodes.gains import Figures, Gain, Work, figures_of, gain_of, works
from vaultmind.errors import VaultMindError
from vaultmind.plural import counted
from vaultmind.serve.calls.schema import arg, to_json
from vaultmind.serve.memory.history import SINCE, since_of
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.serve.calls.call import Call

USUAL_DAYS = 30
NOTHING = "No episode began in this time: they are kept once an agent works with a plan or a hook."
GONE = (
    "what plans offered there, if any was made, went with what is past its retention or was "
    "purged, and is not in these figures."
)
UNPLANNED = (
    "No plan of an episode of this time is kept, so there is nothing to compare. A plan on the "
    "command line counts only with --session-id, any other with a running episode or a session; "
    "none counts that was made while its source was still being read, or is past its retention."
)


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class GainArgs:
    """Arguments of gain."""

    since: str = arg(f"From then on: {SINCE}.", default=f"{USUAL_DAYS}d", max=40)


@dataclass(frozen=True, slots=True)
class Gained:
    """The gain of a time, and what is to be said of it."""

    gain: Gain
    kept_days: int
    """Offers and events are kept for so long; older episodes are not in the figures."""
    notes: tuple[str, ...] = ()


def run(app: App, call: Call, args: GainArgs) -> Gained:
    """Return the gain since a time, to the last note. Raises BadArgument for what is none."""
    app.episodes.settle()
    since = since_of(args.since, app.clock())
    found = _works(app, call.caller, since)
    gain = gain_of(found, since, app.clock())
    shrunk = sum(one.state == "shrunk" for one in found)
    return Gained(gain, app.config.retention.days, tuple(_notes(gain.total, shrunk)))


def recent(app: App, caller: Caller) -> Figures:
    """Return the figures of the last month; of nothing where they cannot be counted now."""
    try:
        return figures_of(_works(app, caller, app.clock() - timedelta(days=USUAL_DAYS)))
    except VaultMindError as error:  # a status says more than this
        log.warning("episodes are not counted: %s", error)
        return Figures()


def _works(app: App, caller: Caller, since: datetime) -> list[Work]:
    """Return the episodes since a time, of all agents that a caller may read."""
    agents = app.index.outlet.readable_agents(caller)
    return works(app.episodes.tables, agents, since)


def as_json(response: Gained, mark: str = "") -> dict[str, Any]:
    """Return all figures by their names; a share of nothing is null."""
    body: dict[str, Any] = to_json(response.gain)
    return body | {"kept_days": response.kept_days, "notes": list(response.notes)}


def words(response: Gained, mark: str = "") -> str:
    """Return the gain in a few sentences."""
    total = response.gain.total
    said = (
        f"Since {response.gain.since[:10]}: {counted(total.plans, 'plan')} in "
        f"{counted(total.episodes, 'episode')}; {total.offered_tokens:,} tokens offered for "
        f"{total.whole_tokens:,} of whole files."
    )
    return " ".join([said, *response.notes])


def _notes(total: Figures, shrunk: int) -> list[str]:
    if not total.episodes:
        return [NOTHING]
    if shrunk:
        of = counted(shrunk, "episode")
        return [f"{of} of this time {'is' if shrunk == 1 else 'are'} shrunk: {GONE}"]
    return [] if total.plans else [UNPLANNED]
