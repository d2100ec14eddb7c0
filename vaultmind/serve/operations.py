"""Operations by name, from decoded JSON to an answer as data and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vaultmind.errors import NotAllowed
from vaultmind.serve.call import Call, mark_for
from vaultmind.serve.op import Surface, find, of
from vaultmind.serve.show import Reader, dump, show

# isort: off
from vaultmind.serve.ops import search, memory, context, plans, sessions, episodes, status  # noqa: F401
from vaultmind.serve.ops import models, changes, hooks  # noqa: F401
# isort: on

if TYPE_CHECKING:
    from vaultmind.app import App

__all__ = ["Answer", "Call", "answer", "find", "of", "run_operation"]

IN_WORDS = "in_words"
"""Over the local socket: another operation, answered with both its data and its words."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation returned, and for whom."""

    response: Any
    reader: Reader

    @property
    def json(self) -> dict[str, Any]:
        """Return it as data, recalled text fenced for an agent."""
        told: dict[str, Any] = dump(self.response, self.reader)
        return told

    @property
    def words(self) -> str:
        """Return it in words, under the same mark."""
        return show(self.response, self.reader)


def run_operation(
    app: App, call: Call, name: str, args: object, surface: Surface = "cli"
) -> dict[str, Any]:
    """Run an operation by name on decoded JSON and return its response as JSON.

    Raises BadArgument for arguments that are unknown, missing or out of range.
    """
    if name == IN_WORDS and surface == "cli" and isinstance(args, dict):
        told = answer(app, call, str(args.get("op", "")), args.get("args", {}), surface)
        return {"json": told.json, "words": told.words}
    return answer(app, call, name, args, surface).json


def answer(app: App, call: Call, name: str, args: object, surface: Surface) -> Answer:
    """Run an operation and return its response. Raises what `run_operation` raises."""
    operation = find(name, surface)
    if operation.persons and call.caller.kind != "person":
        who, what = call.caller.name, operation.name
        raise NotAllowed(f"{who} may not call {what!r}: it is for the person, at the command line.")
    with app.operated.of(operation.name):
        response = operation.function(app, call, **operation.check(args))
    return Answer(response, Reader(mark_for(call.caller)))
