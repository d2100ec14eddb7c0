"""What an operation is: its name, what it takes, what runs it, where it appears."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from vaultmind.serve.calls.call import Call
from vaultmind.serve.calls.schema import to_json

if TYPE_CHECKING:
    from vaultmind.app import App

Surface = Literal["mcp", "http", "cli"]
ALL: frozenset[Surface] = frozenset({"mcp", "http", "cli"})
NOT_MCP: frozenset[Surface] = frozenset({"http", "cli"})
LOCAL: frozenset[Surface] = frozenset({"cli"})
"""Only over the local socket: these read a file outside the vault, or make folders."""


def plain(response: object, mark: str) -> dict[str, Any]:
    """Return a response that holds no recalled text."""
    return dict(to_json(response))


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing VaultMind does.

    `words` and `json` turn the response into what is shown; both take the mark that fences
    recalled text, which is empty for a person.
    """

    name: str
    title: str
    request: type[Any]
    help: str
    run: Callable[[App, Call, Any], Any]
    words: Callable[[Any, str], str]
    json: Callable[[Any, str], dict[str, Any]] = plain
    writes: bool = False
    surfaces: frozenset[Surface] = ALL
    also: str = ""
    """Another name that its HTTP route goes by."""
    persons: bool = False
    """Whether it is the person's alone: every agent that calls it is refused."""
