"""`purge`: what is past its retention shrinks to its outcome and links; first it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vaultmind.plural import counted
from vaultmind.serve.calls.schema import arg, to_json

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.episodes.retention import Due, Purged
    from vaultmind.serve.calls.call import Call

MAX_DAYS = 36_500


@dataclass(frozen=True, slots=True)
class PurgeArgs:
    """Arguments of purge and of its preview."""

    days: int | None = arg(
        "Days after their end; default: retention.days.", default=None, min=0, max=MAX_DAYS
    )


def preview(app: App, call: Call, args: PurgeArgs) -> Due:
    """Return what a purge would shrink. Nothing is written."""
    return app.episodes.due(args.days, call.report)


def preview_words(response: Due, mark: str = "") -> str:
    """Return how much a purge would shrink."""
    if not response.episodes:
        ago = counted(response.days, "day")
        return f"Nothing to shrink: no episode kept in full ended {ago} ago."
    return (
        f"{_lost(len(response.episodes), response.events, response.bytes)} would go. Outcome, "
        "changed files, commits, issues and decisions stay. What plans offered goes: `vaultmind "
        "model train` has no lessons from these episodes then, and `vaultmind gain` no figures of "
        "their plans."
    )


def preview_json(response: Due, mark: str = "") -> dict[str, Any]:
    """Return each episode that a purge would shrink."""
    return {
        "done": False,
        "days": response.days,
        "before": response.before,
        "count": len(response.episodes),
        "events": response.events,
        "bytes": response.bytes,
        "left": _left(response.left),
        "message": preview_words(response),
        "episodes": to_json(response.episodes),
    }


def purge(app: App, call: Call, args: PurgeArgs) -> Purged:
    """Shrink what is past its retention; a person's own lines stay. It cannot be undone."""
    return app.episodes.purge(call.caller, args.days, call.report)


def purged_words(response: Purged, mark: str = "") -> str:
    """Return how much was shrunk."""
    if not response.episodes:
        return "Nothing had to be shrunk."
    return f"{_lost(response.episodes, response.events, response.bytes)} went."


def purged_json(response: Purged, mark: str = "") -> dict[str, Any]:
    """Return how much was shrunk, and what was left as it is."""
    return {
        "done": True,
        "count": response.episodes,
        "events": response.events,
        "offers": response.offers,
        "bytes": response.bytes,
        "left": _left(response.left),
        "message": purged_words(response),
    }


def _lost(episodes: int, events: int, bytes_: int) -> str:
    of = f"{counted(events, 'event')} of {counted(episodes, 'episode')}"
    return f"{of} ({bytes_ / 1000:,.1f} KB)"


def _left(left: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"episode": name, "why": why} for name, why in left]
