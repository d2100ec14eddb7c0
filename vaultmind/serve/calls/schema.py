"""Request dataclasses as JSON schemas, and JSON as request dataclasses or an error in words."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from datetime import date
from functools import cache
from pathlib import PurePath
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from vaultmind.errors import BadArgument, did_you_mean

RequestT = TypeVar("RequestT")

_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}
_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
_EXACT_FLOAT = 2**53
_WHOLE = re.compile(r"-?[0-9]{1,15}")
_FLAGS = {"true": True, "false": False}
_UNSPEAKABLE = re.compile("[\x00\ud800-\udfff]")
"""NUL and lone surrogates: legal in JSON, and in no file or database."""


def arg(help: str, *, default: Any = MISSING, **bounds: Any) -> Any:  # noqa: ANN401
    """Declare an argument of a request.

    `bounds`: min and max (of a number; of a text or list its length), format ("date"), loose
    (of a text that is only looked for: what no file holds is a space).
    """
    return field(default=default, metadata={"help": help, **bounds})


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a request, as schema and parser see it."""

    name: str
    kind: type[Any]
    """str, int, float, bool or a dataclass: of the value, or of a list's items."""
    many: bool
    choices: tuple[str, ...]
    bounds: Mapping[str, Any]
    default: Any

    @property
    def required(self) -> bool:
        """Tell whether the argument must be given."""
        return self.default is MISSING


def arguments(request: type[Any]) -> tuple[Argument, ...]:
    """Return the arguments of a request type: required ones first, else in order."""
    return _arguments(request)  # type: ignore[arg-type]  # a class is hashable


@cache
def _arguments(request: type[Any]) -> tuple[Argument, ...]:
    hints = get_type_hints(request)
    found = [_argument(item, hints[item.name]) for item in fields(request)]
    return tuple(sorted(found, key=lambda item: not item.required))


def json_schema(request: type[Any], *, bounds: bool = True) -> dict[str, Any]:
    """Return the JSON schema of a request, as short as it can be.

    Without `bounds` it leaves to the parser's errors how large a number may be, and that there
    are no other arguments.
    """
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {item.name: _property(item, bounds=bounds) for item in arguments(request)},
    }
    if bounds:
        schema["additionalProperties"] = False
    if required := [item.name for item in arguments(request) if item.required]:
        schema["required"] = required
    return schema


def parse(request: type[RequestT], values: object) -> RequestT:
    """Return a request from decoded JSON; null counts as not given.

    Raises BadArgument naming field, value and what is allowed.
    """
    known = {item.name: item for item in arguments(request)}
    if not isinstance(values, Mapping):
        raise BadArgument("arguments", values, f"an object with {_listed(known)}")
    for name, value in values.items():
        if name not in known:
            raise _unknown(name, value, tuple(known))
    taken = {}
    for name, item in known.items():
        value = values.get(name)
        if value is not None:
            taken[name] = _value(item, value)
        elif item.required:
            raise BadArgument(name, value, _allowed(item), missing=True)
    return request(**taken)


def to_json(value: Any) -> Any:  # noqa: ANN401
    """Return dataclasses, tuples and paths as what `json.dumps` takes; field names stay."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: to_json(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(to_json(item) for item in value)
    return str(value) if isinstance(value, PurePath) else value


def _argument(item: Field[Any], hint: Any) -> Argument:  # noqa: ANN401
    if get_origin(hint) in (Union, types.UnionType):  # `int | None`: null is not given
        hint = next(one for one in get_args(hint) if one is not type(None))
    many = get_origin(hint) is tuple
    inner = get_args(hint)[0] if many else hint
    choices = get_args(inner) if get_origin(inner) is Literal else ()
    return Argument(
        name=item.name,
        kind=str if choices else inner,
        many=many,
        choices=choices,
        bounds=item.metadata,
        default=item.default,
    )


def _property(item: Argument, *, bounds: bool) -> dict[str, Any]:
    one: dict[str, Any]
    one = (
        json_schema(item.kind, bounds=bounds)
        if is_dataclass(item.kind)
        else {"type": _NAMES[item.kind]}
    )
    if item.choices:
        one["enum"] = list(item.choices)
    schema: dict[str, Any] = {"type": "array", "items": one} if item.many else one
    if bounds and item.kind in (int, float):
        pairs = (("minimum", "min"), ("maximum", "max"))
        schema |= {name: item.bounds[key] for name, key in pairs if key in item.bounds}
    if item.bounds["help"]:
        schema["description"] = item.bounds["help"]
    return schema


def _value(item: Argument, value: object) -> Any:  # noqa: ANN401
    if not item.many:
        return _single(item, item.name, value)
    most = item.bounds.get("max")
    if isinstance(value, str) and item.kind is str:
        value = _listed_leniently(value)
    if not isinstance(value, list | tuple) or (most is not None and len(value) > most):
        raise BadArgument(item.name, value, _allowed(item))
    return tuple(_single(item, f"{item.name}[{n}]", one) for n, one in enumerate(value))


def _single(item: Argument, name: str, value: object) -> Any:  # noqa: ANN401
    if is_dataclass(item.kind):
        return _nested(item.kind, name, value)
    if isinstance(value, str) and item.bounds.get("loose"):
        value = _UNSPEAKABLE.sub(" ", value)
    if isinstance(value, str) and item.kind is int and _WHOLE.fullmatch(value):
        value = int(value)  # a model wrote it in quotes
    if isinstance(value, str) and item.kind is bool:
        value = _FLAGS.get(value.strip().lower(), value)
    if isinstance(value, float) and item.kind is int and value.is_integer():
        value = int(value)
    if isinstance(value, int) and item.kind is float and abs(value) <= _EXACT_FLOAT:
        value = value if isinstance(value, bool) else float(value)
    fits = isinstance(value, item.kind) and isinstance(value, bool) == (item.kind is bool)
    if not fits or not _within(item, value):
        raise BadArgument(name, value, _allowed(item))
    return value


def _listed_leniently(value: str) -> object:
    """Return what a model meant that wrote one item of a list, or the list's JSON, as text."""
    if value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return [value]


def _nested(kind: type[Any], name: str, value: object) -> Any:  # noqa: ANN401
    if not isinstance(value, Mapping):
        known = {one.name: one for one in arguments(kind)}
        raise BadArgument(name, value, f"an object with {_listed(known)}")
    try:
        return parse(kind, value)
    except BadArgument as error:
        raise BadArgument(
            f"{name}.{error.field}", error.value, error.allowed, missing=error.missing
        ) from error


def _within(item: Argument, value: Any) -> bool:  # noqa: ANN401
    if item.choices:
        return value in item.choices
    if isinstance(value, str):
        clean = not _UNSPEAKABLE.search(value)
        return clean and _long_enough(item, value) and (not value or _formatted(item, value))
    if isinstance(value, bool) or item.many:
        return True
    low, high = item.bounds.get("min"), item.bounds.get("max")
    return (low is None or value >= low) and (high is None or value <= high)


def _long_enough(item: Argument, value: str) -> bool:
    if item.many:
        return True
    least, most = item.bounds.get("min", 0), item.bounds.get("max")
    return len(value.strip()) >= least and (most is None or len(value) <= most)


def _formatted(item: Argument, value: str) -> bool:
    if item.bounds.get("format") != "date":
        return True
    try:
        date.fromisoformat(value[:10])
    except ValueError:
        return False
    return re.fullmatch(r"\d{4}-\d\d-\d\d([T ][\d:.+\-Z]+)?", value) is not None


def _allowed(item: Argument) -> str:
    """Return in words what an argument takes."""
    if is_dataclass(item.kind):
        one = f"objects with {_listed({a.name: a for a in arguments(item.kind)})}"
        return f"a list of at most {item.bounds['max']} {one}" if "max" in item.bounds else one
    if item.choices:
        words = ("a list of " if item.many else "") + ", ".join(item.choices)
        return words
    if item.bounds.get("format") == "date":
        return "a date such as 2026-02-20"
    words = f"a list of {_WORDS[item.kind]}" if item.many else _WORDS[item.kind]
    return words + _range_words(item)


def _range_words(item: Argument) -> str:
    low, high = item.bounds.get("min"), item.bounds.get("max")
    unit = " characters" if item.kind is str and not item.many else ""
    if low is not None and high is not None:
        return f", {low} to {high}{unit}"
    if high is not None:
        return f", at most {high}{unit}"
    return f", at least {low}{unit}" if low is not None else ""


def _unknown(name: object, value: object, known: tuple[str, ...]) -> BadArgument:
    listed = f"known: {', '.join(known)}" if known else "it takes none"
    error = BadArgument(str(name), value, f"no argument of this name; {listed}")
    error.hint = did_you_mean(str(name), known)
    return error


def _listed(known: Mapping[str, Argument]) -> str:
    return ", ".join(known) or "nothing in it"
