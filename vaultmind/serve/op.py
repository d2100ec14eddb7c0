"""One typed function an operation: its schema, its check and its surfaces are made from it.

From decoded JSON to an answer as data and in words. A module of operations is imported by the
command line, too, to make options from: it imports neither pydantic nor the app at its top.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import import_module
from inspect import Parameter, cleandoc, signature
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_origin

from vaultmind.errors import BadArgument, NotAllowed, NotFound, did_you_mean
from vaultmind.serve.call import Call, mark_for
from vaultmind.serve.show import Reader, dump, show

if TYPE_CHECKING:
    from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError

    from vaultmind.app import App

Function = TypeVar("Function", bound=Callable[..., Any])
Schema = dict[str, Any]
Surface = Literal["mcp", "http", "cli"]
ALL: tuple[Surface, ...] = ("mcp", "http", "cli")
NOT_MCP: tuple[Surface, ...] = ("http", "cli")
LOCAL: tuple[Surface, ...] = ("cli",)
"""Only over the local socket: these read a file outside the vault, or are the person's."""

MODULES = (
    *("search", "memory", "context", "plans", "sessions", "episodes", "status"),
    *("models", "changes", "hooks"),
)
"""The modules of operations, in the order in which a client lists their tools."""
IN_WORDS = "in_words"
"""Over the local socket: another operation, answered with both its data and its words."""

MAX_TEXT = 2000
"""Longest fact, name or hit id, in characters."""
MAX_WORDS = 200_000
"""Longest query, in characters: people paste whole pages."""
MAX_TASK, MAX_PATH = 50_000, 4096
MAX_ID = 200
"""Longest id of a message, in characters."""

_WORDS = {"string": "text", "integer": "a whole number", "number": "a number",
          "boolean": "true or false"}  # fmt: skip
_UNSPEAKABLE = re.compile("[\x00\ud800-\udfff]")
"""NUL and lone surrogates: legal in JSON, and in no file or database."""
_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
_MISSING = ("missing", "missing_argument")


@dataclass(frozen=True, slots=True)
class Arg:
    """What there is to say of an argument besides its type, as metadata of `Annotated`.

    `min` and `max` bound a number, or the length of a text or list. A `loose` text is only looked
    for: what no file holds is a space in it. `option` is what the command line calls it, where
    that is not its name.
    """

    help: str = ""
    min: float | None = None
    max: float | None = None
    loose: bool = False
    option: str = ""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:  # noqa: ANN401
        from pydantic_core import core_schema

        inner = core_schema.no_info_after_validator_function(self._bounded, handler(source))
        read = partial(self._read, source=source)
        return core_schema.no_info_before_validator_function(read, inner)

    def __get_pydantic_json_schema__(self, core: Any, handler: GetJsonSchemaHandler) -> Schema:  # noqa: ANN401
        told = {"description": self.help, "min": self.min, "max": self.max}
        return handler(core) | {name: one for name, one in told.items() if one not in (None, "")}

    def _read(self, value: Any, source: Any) -> Any:  # noqa: ANN401
        """Return what a model meant that wrote a list's JSON, or its only item, as text."""
        if isinstance(value, str) and self.loose:
            return _UNSPEAKABLE.sub(" ", value)
        if isinstance(value, str) and get_origin(source) is tuple:
            with suppress(ValueError, RecursionError):
                return json.loads(value) if value.lstrip().startswith("[") else [value]
        return value

    def _bounded(self, value: Any) -> Any:  # noqa: ANN401
        texts = [value] if isinstance(value, str) else value if isinstance(value, tuple) else []
        if any(isinstance(one, str) and _UNSPEAKABLE.search(one) for one in texts):
            raise ValueError("it holds what no file can hold")
        size = len(value) if isinstance(value, str | tuple) else value
        if isinstance(value, bool) or size is None:
            return value
        if self.max is not None and not size <= self.max:
            raise ValueError("too large")
        least = len(value.strip()) if isinstance(value, str) else size
        if self.min is not None and not least >= self.min:
            raise ValueError("too small")
        return value


Whose = Annotated[str, Arg("Default: yours.")]
Anybodys = Annotated[str, Arg("Whose; default: everybody's.")]


@dataclass(frozen=True)
class Operation:
    """One thing VaultMind does: a function whose first arguments are the app and the call."""

    name: str
    title: str
    help: str
    function: Callable[..., Any]
    surfaces: tuple[Surface, ...] = ALL
    writes: bool = False
    persons: bool = False
    """Whether it is the person's alone: every agent that calls it is refused."""
    also: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Other HTTP routes that lead to it, each with the arguments that it stands for."""

    @cached_property
    def parameters(self) -> dict[str, tuple[Any, Any]]:
        """Return what it takes by name: the annotated type and the default, `...` for none."""
        scope = sys.modules[self.function.__module__].__dict__
        found = list(signature(self.function).parameters.values())[2:]
        return {
            one.name: (
                eval(one.annotation, scope),  # our own source, not yet evaluated
                ... if one.default is Parameter.empty else one.default,
            )
            for one in found
        }

    @cached_property
    def _model(self) -> type[BaseModel]:
        from pydantic import create_model

        fields: dict[str, Any] = dict(self.parameters)
        return create_model(self.name, __config__={"extra": "forbid"}, **fields)

    @cached_property
    def _json(self) -> Schema:
        return self._model.model_json_schema()

    def schema(self, *more: str) -> Schema:
        """Return the JSON schema of the arguments, as short as it can be.

        It leaves to the errors how large a value may be (`more`: min, max), and that there are no
        other arguments.
        """
        return _lean(self._json, (*more, "description"))

    def check(self, values: object) -> dict[str, Any]:
        """Return the arguments from decoded JSON; null counts as not given.

        Raises BadArgument naming field, value and what is allowed.
        """
        from pydantic import ValidationError

        if not isinstance(values, Mapping):
            raise BadArgument("arguments", values, _allowed(self.schema("min", "max")))
        try:
            made = self._model.model_validate(_given(values))
        except ValidationError as error:
            raise _refusal(error, self.schema("min", "max")) from None
        return {name: getattr(made, name) for name in made.model_fields_set}


OPERATIONS: dict[str, Operation] = {}
"""Every operation of the modules that were imported, in their order."""


def load() -> None:
    """Import every module of operations."""
    for name in MODULES:
        import_module(f"vaultmind.serve.ops.{name}")


def operation(title: str, **how: Any) -> Callable[[Function], Function]:  # noqa: ANN401
    """Declare a function `(app, call, …)` an operation of its name; its docstring is the help.

    The help ends with the docstring's first paragraph: what follows is for those who read the
    code. `how` is the rest of an Operation.
    """

    def declare(function: Function) -> Function:
        help_ = " ".join(cleandoc(function.__doc__ or "").partition("\n\n")[0].split())
        name = function.__name__
        OPERATIONS[name] = Operation(name, title, help_, function, **how)
        return function

    return declare


def of(surface: Surface) -> tuple[Operation, ...]:
    """Return the operations of a surface, in order."""
    load()
    return tuple(one for one in OPERATIONS.values() if surface in one.surfaces)


def find(name: str, surface: Surface = "cli") -> Operation:
    """Return an operation of a surface; raise NotFound naming those there are."""
    load()
    found = OPERATIONS.get(name)
    if found is None or surface not in found.surfaces:
        known = [one.name for one in of(surface)]
        hint = f"{did_you_mean(name, known)} There are: {', '.join(known)}.".strip()
        raise NotFound(f"There is no operation {name[:80]!r}.", hint=hint)
    return found


# --- from decoded JSON to an answer -------------------------------------------------------


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
    one = find(name, surface)
    if one.persons and call.caller.kind != "person":
        said = f"{call.caller.name} may not call {name!r}: it is for the person, at the command"
        raise NotAllowed(f"{said} line.")
    with app.operated.of(name):
        response = one.function(app, call, **one.check(args))
    return Answer(response, Reader(mark_for(call.caller)))


# --- what is taken -----------------------------------------------------------------------


def _given(value: Any) -> Any:  # noqa: ANN401
    """Return JSON without the names whose value is null."""
    if isinstance(value, Mapping):
        return {str(key): _given(one) for key, one in value.items() if one is not None}
    return [_given(one) for one in value] if isinstance(value, list | tuple) else value


def _lean(node: Schema, more: Sequence[str], defs: Schema | None = None) -> Schema:
    """Return pydantic's schema of a type in one piece: types, names, and `more` of each."""
    defs = node.get("$defs", {}) if defs is None else defs
    if "$ref" in node:
        named = defs[node["$ref"].rpartition("/")[2]]
        node = {key: one for key, one in named.items() if key != "description"} | node
    if "anyOf" in node:  # one of them is null
        node = next(one for one in node["anyOf"] if one.get("type") != "null") | node
        return _lean({key: one for key, one in node.items() if key != "anyOf"}, more, defs)
    kept: Schema = {"type": node.get("type", "string")}
    if "const" in node or "enum" in node:
        kept["enum"] = node.get("enum") or [node["const"]]
    if kept["type"] == "object":
        fields = node["properties"].items()
        kept["properties"] = {name: _lean(one, more, defs) for name, one in fields}
        kept |= {"required": node["required"]} if node.get("required") else {}
    if kept["type"] == "array":
        kept["items"] = _lean(node["items"], more, defs)
    return kept | {name: node[name] for name in more if name in node}


def _refusal(error: ValidationError, schema: Schema) -> BadArgument:
    """Return the first fault in words; an argument that there is not goes before all others."""
    faults = error.errors(include_url=False, include_context=False)
    fault = next((one for one in faults if one["type"] in _UNKNOWN), faults[0])
    name, node = "", schema
    for place in fault["loc"]:
        if isinstance(place, int):
            name, node = f"{name}[{place}]", node.get("items", node)
        elif place in node.get("properties", {}) or place == fault["loc"][-1]:
            name = f"{name}.{place}" if name else str(place)
            above, node = node, node.get("properties", {}).get(place, {})
    if fault["type"] in _UNKNOWN:
        known = tuple(above.get("properties", {}))
        listed = f"known: {', '.join(known)}" if known else "it takes none"
        refusal = BadArgument(name, fault["input"], f"no argument of this name; {listed}")
        refusal.hint = did_you_mean(str(fault["loc"][-1]), known)
        return refusal
    missing = fault["type"] in _MISSING
    return BadArgument(name, None if missing else fault["input"], _allowed(node), missing=missing)


def _allowed(node: Schema) -> str:
    """Return in words what a schema allows."""
    if "enum" in node:
        return ", ".join(node["enum"])
    if node["type"] == "object":
        return f"an object with {', '.join(node['properties']) or 'nothing in it'}"
    low, high = node.get("min"), node.get("max")
    if node["type"] == "array":
        what = _allowed(node["items"]).replace("an object", "objects")
        return f"a list of {what}" + (f", at most {high}" if high is not None else "")
    unit = " characters" if node["type"] == "string" else ""
    limits = f", at least {low}{unit}" if low is not None else ""
    if high is not None:
        limits = f", at most {high}{unit}" if low is None else f", {low} to {high}{unit}"
    return _WORDS[node["type"]] + limits
