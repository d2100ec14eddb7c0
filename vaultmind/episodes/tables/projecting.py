"""What an episode's note comes to in the tables. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from vaultmind.episodes.causal import links_of, merged, surest
from vaultmind.episodes.types import CausalLink, Change, Episode, Event, Offer
from vaultmind.memory.audit.reading import moment
from vaultmind.redact import mask

AFFINITY = "f_affinity_score"
"""The feature of a candidate that is kept of offers: whether earlier work spoke for it."""
_CHANGES = frozenset(("edit", "delta", "commit"))

_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

EventValues = tuple[str, str, str, str, int]
"""Kind, path, symbol, what else there is as JSON, time in seconds."""


@dataclass(slots=True)
class FileCounts:
    """What was done with one file."""

    reads: int = 0
    edits: int = 0
    hits: int = 0
    change: Change | None = None
    committed: bool = False
    causal: float = 0.0
    last_at: int = 0


@dataclass(frozen=True, slots=True)
class Projected:
    """An episode as rows."""

    episode: Episode
    events: tuple[EventValues, ...]
    files: dict[str, FileCounts] = field(default_factory=dict)
    links: tuple[CausalLink, ...] = ()
    offers: tuple[Offer, ...] | None = None
    """None: those that are held stay."""

    @property
    def values(self) -> tuple[object, ...]:
        """Return the values of its row in `episodes`, after its name."""
        one, task = self.episode, self.episode.task
        counts = self.files.values()
        return (
            one.agent,
            one.source,
            one.session,
            one.client,
            one.device,
            safe(task.text),
            task.fingerprint,
            task.kind,
            task.risk,
            " ".join(task.issues),
            seconds(one.started),
            seconds(one.ended) or None,
            one.state,
            one.outcome,
            safe(one.rationale),
            one.token_budget,
            one.token_used,
            one.latency_ms,
            len(self.events),
            sum(it.reads > 0 for it in counts),
            sum(it.edits > 0 for it in counts),
            sum(kind == "decision" for kind, *_ in self.events),
        )


def projected(episode: Episode, offers: tuple[Offer, ...] | None = None) -> Projected:
    """Return the rows of an episode."""
    links = links_of(episode)
    events = tuple(_event(one) for one in episode.events)
    return Projected(episode, events, _files(episode.events, links), links, offers)


def seconds(time: str) -> int:
    """Return a time in whole seconds since 1970; 0 for what is none."""
    return int(moment(time)) if time else 0


def safe(text: str) -> str:
    """Return a text without secrets: a person may have typed one into a note."""
    return mask(text).text if text else ""


def affinities(offer: Offer) -> dict[str, float]:
    """Return the candidates of an offer for which earlier work spoke."""
    return {
        path: value for path, features in offer.files.items() if (value := features.get(AFFINITY))
    }


def _event(event: Event) -> EventValues:
    more: dict[str, Any] = {
        "text": safe(event.text),
        "change": event.change,
        "commit": event.commit,
        "tokens": event.tokens,
        "ok": event.ok,
        "how": event.how if event.how != "reported" else "",
        "block": event.block,
    }
    kept = {
        key: value for key, value in more.items() if value not in ("", 0, None) or value is False
    }
    payload = _JSON(kept) if kept else ""
    return (event.kind, event.path, event.symbol, payload, seconds(event.time))


def _files(events: Iterable[Event], links: Iterable[CausalLink]) -> dict[str, FileCounts]:
    found: dict[str, FileCounts] = {}
    for event in events:
        if not event.path or event.kind not in _CHANGES | {"read", "hit"}:
            continue
        one = found.setdefault(event.path, FileCounts())
        one.last_at = max(one.last_at, seconds(event.time))
        if event.kind == "read":
            one.reads += 1
        elif event.kind == "hit":
            one.hits += 1
        else:
            one.change = merged(one.change, event.change or "modified")
            one.edits += event.kind != "commit" or not one.edits
    for path, value in surest(links).items():
        found[path].causal = value
    for link in links:
        found[link.path].committed = found[link.path].committed or bool(link.commit)
    return found
