"""`purge`: what is past its retention shrinks to its outcome and links; first it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultmind.episodes.retention import Due, Purged, Retention, RetentionSettings

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.serve.calls.call import Call


def preview(app: App, call: Call, days: int | None) -> Due:
    """Return what a purge would shrink. Nothing is written."""
    return _retention(app).due(days=days, report=call.report)


def purge(app: App, call: Call, days: int | None) -> Purged:
    """Shrink what is past its retention; a person's own lines stay. It cannot be undone."""
    return _retention(app).run(call.caller, days=days, report=call.report)


def _retention(app: App) -> Retention:
    files, settings = app.episodes.files, RetentionSettings(app.config.retention.days, app.device)
    return Retention(app.gate, files, lambda: app.episodes.tables, app.clock, settings)
