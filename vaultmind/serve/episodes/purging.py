"""`purge`: what is past its retention shrinks to its outcome and links; first it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultmind.episodes.retention import Due, Purged

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.episodes.retention import Due, Purged
    from vaultmind.serve.calls.call import Call


def preview(app: App, call: Call, days: int | None) -> Due:
    """Return what a purge would shrink. Nothing is written."""
    return app.episodes.due(days, call.report)


def purge(app: App, call: Call, days: int | None) -> Purged:
    """Shrink what is past its retention; a person's own lines stay. It cannot be undone."""
    return app.episodes.purge(call.caller, days, call.report)
