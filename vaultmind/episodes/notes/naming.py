"""Which files may be named in what is kept of an agent: none of another's memory, no secret.

Who may read another agent's memory may stop to, and the person sees all of them: what is kept for
one agent must not name what another wrote, whoever saw it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from vaultmind import redact
from vaultmind.episodes.types import Event, Offer
from vaultmind.vault.paths import VaultPaths

MayName = Callable[[str], bool]
_WITH_WORDS = frozenset({"decision", "feedback", "run", "plan"})
"""Events that say something without their file."""


def may_name(paths: VaultPaths, agent: str) -> MayName:
    """Return what tells whether a path may stand in an agent's records."""
    agents, own = f"{paths.agents}/".casefold(), agent.casefold()

    def may(path: str) -> bool:
        inside = path.replace("\\", "/").casefold()
        owner = inside[len(agents) :].partition("/")[0] if inside.startswith(agents) else own
        return owner == own and redact.mask(path).text == path

    return may


def own_events(events: Iterable[Event], may: MayName) -> Iterator[Event]:
    """Yield events without what may not be named: those that say nothing more are left out."""
    for event in events:
        if may(event.path):
            yield event
        elif event.kind in _WITH_WORDS:
            yield replace(event, path="", symbol="")


def own_offer(offer: Offer, may: MayName, most: int) -> Offer:
    """Return an offer with so many of its best files that may be named."""
    files = [(path, features) for path, features in offer.files.items() if may(path)]
    return replace(offer, files=dict(files[:most]), chosen=tuple(filter(may, offer.chosen)))
