"""`dropped`: what conversations said that was not kept as a fact, and why not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vaultmind.memory.audit.drops import Drop, drops
from vaultmind.memory.audit.reading import Wanted
from vaultmind.plural import counted
from vaultmind.serve.calls.schema import arg
from vaultmind.serve.memory.history import MAX_LINES, SINCE, USUAL_LINES, since_of
from vaultmind.serve.sessions.consolidating import UNSPOKEN
from vaultmind.vault.paths import agent_name

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.serve.calls.call import Call

_GAP = "\ufffc"
NOTHING = "Nothing was dropped yet: facts are looked for when a conversation ends."
NONE_FITS = "Nothing that was dropped fits: try without --since or --agent."


@dataclass(frozen=True, slots=True)
class DroppedArgs:
    """Arguments of dropped."""

    agent: str = arg("Whose conversations; default: everybody's.", default="")
    since: str = arg(f"From then on: {SINCE}.", default="", max=40)
    limit: int = arg("The newest so many; 0: all.", default=USUAL_LINES, min=0, max=MAX_LINES)


@dataclass(frozen=True, slots=True)
class DroppedFacts:
    """What was not kept, newest last."""

    drops: tuple[Drop, ...]
    more: bool
    """Whether there are older ones that were not asked for."""
    message: str = ""
    """Why there are none."""


def run(app: App, call: Call, args: DroppedArgs) -> DroppedFacts:
    """Return the newest facts that were dropped. Raises BadArgument for a time that is none."""
    names = app.paths.agent_names()
    agents = (agent_name(args.agent),) if args.agent else names
    since = since_of(args.since, app.clock()) if args.since else None
    found, more = drops(app.paths, Wanted(agents, since, limit=args.limit))
    if found:
        return DroppedFacts(found, more)
    ever = bool(drops(app.paths, Wanted(names, limit=1))[0])
    return DroppedFacts((), more=False, message=NONE_FITS if ever else NOTHING)


def words(response: DroppedFacts, mark: str = "") -> str:
    """Return what was dropped, a line each."""
    lines = [f"{one.time}  {one.agent}  {one.session}  {tell(one)}" for one in response.drops]
    return "\n".join(lines) or response.message


def as_json(response: DroppedFacts, mark: str = "") -> dict[str, Any]:
    """Return what was dropped; a secret, and what was not to be kept, by its reason alone."""
    lines = [
        {
            "time": one.time,
            "agent": one.agent,
            "session": one.session,
            "text": _text(one),
            "reason": one.reason,
            "block": one.block,
            "counts": dict(one.counts),
            "device": one.device,
            "erased": one.erased,
            "words": tell(one),
        }
        for one in response.drops
    ]
    return {"dropped": lines, "more": response.more, "message": response.message}


def tell(one: Drop) -> str:
    """Return a dropped fact and why, or how many more of its session there were."""
    if one.counts:
        most = Counter(dict(one.counts))
        each = ", ".join(f"{number} {reason}" for reason, number in one.counts)
        return f"{counted(most.total(), 'more', 'more')}: {each}"
    said = _text(one)
    if said:
        return f"“{said}”: {one.reason}"
    return "its words are erased" if one.erased else one.reason


def _text(one: Drop) -> str:
    """Return its words; an ellipsis for what older versions wrote for a passage taken out."""
    return "" if one.reason in UNSPOKEN else one.text.replace(_GAP, "…")
