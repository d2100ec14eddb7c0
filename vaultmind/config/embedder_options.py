"""What may stand in `index.embedder_options`, and what must not: a key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

ALLOW_REMOTE, TIMEOUT_SECONDS, BATCH, KEY_VARIABLE = (
    "allow_remote",
    "timeout_seconds",
    "batch",
    "api_key_env_var",
)
"""The options that are ours; and the one that names an environment variable."""
_HOLDS_A_KEY = re.compile(r"(?:^|_)(?:key|token|secret|password|credentials?|authorization)$", re.I)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")
_KEY_LIKE = re.compile(
    r"(?:sk|pk|hf|gsk|jina|pa|xai|pplx|nk|r8|key)[-_][A-Za-z0-9_-]{16,}|AIza[\w-]{20,}"
)
_RUN, _DIGITS = re.compile(r"[A-Za-z0-9]{24,}"), 3
"""So long a run of letters and digits is no name of a model."""
_INSTEAD = (
    f"keys do not belong in a file: name the environment variable that holds it, {KEY_VARIABLE}"
)


def wrong_option(options: tuple[tuple[str, Any], ...]) -> str:
    """Return what is wrong with the options, without ever repeating a key; empty if nothing is."""
    for path, name, value in _leaves(options):
        if name == KEY_VARIABLE:
            if not _is_variable(value):
                return f"{path} must be the name of an environment variable, such as OPENAI_API_KEY"
        elif _HOLDS_A_KEY.search(name) and value not in ("", None):
            return f"{path} would hold a key, and {_INSTEAD}"
        elif isinstance(value, str) and _looks_like_a_key(value):
            return f"the value of {path} looks like a key, and {_INSTEAD}"
    return _wrong_own(dict(options))


def _wrong_own(given: dict[str, Any]) -> str:
    if not isinstance(given.get(ALLOW_REMOTE, False), bool):
        return f"{ALLOW_REMOTE} is {given[ALLOW_REMOTE]!r}; allowed: true, false"
    for name, least, most in ((TIMEOUT_SECONDS, 1, 600), (BATCH, 1, 512)):
        value = given.get(name, least)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return f"{name} is {value!r}; wanted: a number"
        if not least <= value <= most:
            return f"{name} is {value!r}; allowed: {least} to {most}"
    return ""


def _leaves(options: tuple[tuple[str, Any], ...]) -> Iterator[tuple[str, str, Any]]:
    """Yield (path, name, value) of every value, those in tables within too."""
    for name, value in options:
        if isinstance(value, dict):
            for path, inner, one in _leaves(tuple(value.items())):
                yield f"{name}.{path}", inner, one
        elif isinstance(value, list):
            yield from ((name, name, one) for one in value)
        else:
            yield name, name, value


def _is_variable(value: object) -> bool:
    return (
        isinstance(value, str) and bool(_VARIABLE.fullmatch(value)) and not _looks_like_a_key(value)
    )


def _looks_like_a_key(value: str) -> bool:
    if "://" in value:
        try:
            parts = urlsplit(value)
            named = bool(parts.username or parts.password or parts.query)
        except ValueError:
            return False
        return named
    return bool(_KEY_LIKE.search(value)) or any(
        len(re.findall(r"\d", run)) >= _DIGITS for run in _RUN.findall(value)
    )
