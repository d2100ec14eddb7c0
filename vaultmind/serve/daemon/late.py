"""An app that may still be opening: a handshake needs none of it, and must not wait."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, cast

from vaultmind.errors import DaemonUnavailable

if TYPE_CHECKING:
    from vaultmind.app import App

OPEN_SECONDS = 60.0


class _Late:
    def __init__(self, opened: Future[App]) -> None:
        self._opened = opened

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        try:
            return getattr(self._opened.result(OPEN_SECONDS), name)
        except TimeoutError:
            raise DaemonUnavailable(f"The vault is not open after {OPEN_SECONDS:.0f} s.") from None


def late_app(opened: Future[App]) -> App:
    """Return a stand-in whose every use waits until the app is open, or raises why it is not."""
    return cast("App", _Late(opened))
