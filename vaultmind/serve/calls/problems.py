"""Errors as data and in words: readable by a model, without insides."""

from __future__ import annotations

import logging
from typing import Any

from vaultmind.errors import BadArgument, VaultMindError
from vaultmind.serve.calls.halves import whole_text

log = logging.getLogger(__name__)


def problem(error: Exception, what: str) -> dict[str, Any]:
    """Return an error as JSON: type, message, hint, and for a bad argument which and why.

    `what` names the operation. An error that is not meant for readers goes to the log.
    """
    if isinstance(error, BadArgument):
        return {**_named(error), "field": error.field, "allowed": error.allowed}
    if isinstance(error, VaultMindError):
        return _named(error)
    log.error("%s failed", what, exc_info=error)
    return {
        "type": "InternalError",
        "message": f"{what} failed: {type(error).__name__}.",
        "hint": "The daemon's log says more; `vaultmind doctor` may find the cause.",
    }


def problem_words(body: dict[str, Any]) -> str:
    """Return an error's message and hint as one text."""
    return f"{body['message']} {body['hint']}".strip()


def _named(error: VaultMindError) -> dict[str, Any]:
    return {
        "type": type(error).__name__,
        "message": whole_text(error.message),
        "hint": whole_text(error.hint),
    }
