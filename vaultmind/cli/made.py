"""Commands made from operations: their options from its arguments, their words from its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click

from vaultmind.cli.jsonlines import read_items
from vaultmind.cli.options import Settings, VaultCommand, VaultGroup, pass_settings
from vaultmind.cli.output.bars import progress
from vaultmind.cli.output.output import (
    OUTCOME_EXIT,
    OUTCOME_MARKS,
    bold,
    paragraph,
    print_json,
    say,
)

if TYPE_CHECKING:
    from vaultmind.serve.op import Operation

SOURCE_SECONDS = 120.0
"""How long a person waits for a source that is read for the first time."""
Run = Callable[[Settings, dict[str, Any]], int]


@dataclass(frozen=True, slots=True)
class Told:
    """What an operation answered: as data, and in words where they are shown."""

    json: dict[str, Any]
    words: str = ""


def ask(settings: Settings, op: str, args: dict[str, Any]) -> Told:
    """Run an operation, with a bar while it takes long; its words come too where they are shown."""
    backend = settings.backend()
    with progress(quiet=settings.json) as report:
        if settings.json:
            return Told(backend.call(op, args, report))
        told = backend.call("in_words", {"op": op, "args": args}, report)
    return Told(told["json"], told["words"])


def tell(settings: Settings, told: Told) -> None:
    """Print an answer: its data for a script, else its words."""
    if settings.json:
        print_json(told.json)
        return
    mark = OUTCOME_MARKS.get(str(told.json.get("outcome", "")), "")
    show(f"{mark} {told.words}" if mark else told.words)


def show(words: str) -> None:
    """Print words, wrapped on a terminal; headings are bold."""
    for line in words.splitlines():
        say(bold(line) if line.startswith("## ") else paragraph(line))


def operation(path: str) -> Operation:
    """Return an operation by its module and name, `search.memory_search`; imports that module."""
    from vaultmind.serve.op import OPERATIONS

    module, _, name = path.partition(".")
    import_module(f"vaultmind.serve.ops.{module}")
    return OPERATIONS[name]


def command(
    path: str,
    run: Run | None = None,
    *,
    words: str = "",
    only: Sequence[str] | None = None,
    also: Sequence[click.Parameter] = (),
    help: str = "",
    **given: object,
) -> click.Command:
    """Return the command of an operation.

    `words` names the argument that is no option, and after a colon what it is called: several words
    make one text where it ends in `…`, and one in brackets may be left out. `only` names the
    arguments that are options, `given` what is always said. `run` does it otherwise than by asking
    and telling.
    """
    op = operation(path)
    name, _, label = words.strip("[]…").partition(":")
    offered = [one for one in op.parameters if one not in ("agent", "wait_seconds", name, *given)]
    params: list[click.Parameter] = [
        _option(one, *op.parameters[one]) for one in (offered if only is None else only)
    ]
    if name:
        optional, several = words.startswith("["), "…" in words
        shown = f"{(label or name).upper()}{'...' if several else ''}"
        shown = f"[{shown}]" if optional else shown
        params.insert(
            0,
            click.Argument(
                [name], nargs=-1 if several else 1, required=not optional, metavar=shown
            ),
        )
    if "wait_seconds" in op.parameters and "wait_seconds" not in given:
        params.append(no_wait())

    def callback(settings: Settings, **values: Any) -> int:  # noqa: ANN401
        args = _args(op, values, name, dict(given))
        if "agent" in op.parameters:
            args |= settings.target
        if run is not None:
            return run(settings, args)
        told = ask(settings, op.name, args)
        tell(settings, told)
        return OUTCOME_EXIT.get(str(told.json.get("outcome", "")), 0)

    return VaultCommand(
        op.name,
        params=[*params, *also],
        callback=pass_settings(callback),
        help=help or op.help,
    )


def no_wait() -> click.Option:
    """Return the option not to wait for an index."""
    return flag("--no-wait", "Answer at once, however far the index is.")


def flag(name: str, help: str) -> click.Option:
    """Return an option that is there or not."""
    return click.Option([name], is_flag=True, help=help)


def _args(
    op: Operation, values: dict[str, Any], name: str, given: dict[str, Any]
) -> dict[str, Any]:
    """Return what was said as arguments of an operation, and what else a command's `run` wants."""
    args = {key: one for key, one in values.items() if one is not None and one is not False}
    args = {key: one for key, one in args.items() if one != ()}
    if isinstance(args.get(name), tuple):
        args[name] = " ".join(args[name])
    if "source" in args and "source" in op.parameters:
        args["source"] = source_at(args["source"])
    if "project_root" in args:
        args["project_root"] = source_at(args["project_root"])
    if "wait_seconds" in op.parameters and not args.pop("no_wait", False):
        args.setdefault("wait_seconds", SOURCE_SECONDS)
    strict = values.get("strict")
    return args | given | ({"strict": False} if strict is False else {})


def _option(name: str, hint: Any, default: Any) -> click.Option:  # noqa: ANN401
    """Return the option of an argument."""
    kind, arg = get_args(hint)[:2]
    inner = [one for one in get_args(kind) if one is not type(None)]
    many = get_origin(kind) is tuple
    kind = inner[0] if many or type(None) in get_args(kind) else kind
    flag_ = arg.option or f"--{name.replace('_', '-')}"
    if kind is bool and default is True:
        return click.Option([f"{flag_}/--no-{flag_[2:]}", name], default=None, help=arg.help)
    if kind is bool:
        return click.Option([flag_, name], is_flag=True, help=arg.help)
    choices = [str(one) for one in get_args(kind)] if get_origin(kind) is Literal else []
    shown = f"  [default: {default}]" if default not in (..., None, "", ()) else ""
    return click.Option(
        [flag_, name],
        type=click.Choice(choices) if choices else kind if kind in (int, float) else str,
        multiple=many,
        required=default is ...,
        help=f"{arg.help}{shown}".strip(),
    )


def source_at(source: str) -> str:
    """Return a source as the daemon knows it: a path is made absolute, a name stays.

    Raises NotFound for a path that leads nowhere: the daemon would take it for a part of the
    source that it would lie in.
    """
    from vaultmind.errors import NotFound

    if source not in (".", "..") and not source.startswith("~") and "/" not in source:
        return source
    path = Path(source).expanduser().resolve()
    if not path.exists():
        raise NotFound(f"There is no folder {path}.")
    return str(path)


READABLE = click.Path(path_type=Path, exists=True, dir_okay=False, readable=True)


def option(*names: str, **how: Any) -> click.Option:  # noqa: ANN401
    """Return an option that no operation has."""
    return click.Option(names, **how)


def questions(file: Path) -> list[tuple[Any, str]]:
    """Return the ids and questions of a file of JSON Lines."""
    return read_items(file, "query", '{"id": "q1", "query": "bread oven"}')


def each(
    settings: Settings,
    op: str,
    asked: Sequence[tuple[Any, str]],
    args: Callable[[str], dict[str, Any]],
) -> int:
    """Print the answer to each question under its id, which comes back as it was given."""
    for id_, query in asked:
        answer = settings.backend().call(op, args(query))
        answer.pop("state", None)
        print_json({"id": id_} | answer, indent=None)
    return 0


def group(name: str, help: str, **commands: click.Command) -> click.Group:
    """Return a group of commands."""
    for own, one in commands.items():
        one.name = own
    return VaultGroup(name, commands=commands, help=help)
