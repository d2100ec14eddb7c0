"""Commands made from operations: their options from its arguments, their words from its answer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click

from vaultmind.cli.options import OUTCOMES, Settings, pass_settings, print_json
from vaultmind.client.wire import decode
from vaultmind.errors import BadArgument, NotFound

if TYPE_CHECKING:
    from vaultmind.serve.op import Operation

SOURCE_SECONDS = 120.0
"""How long a person waits for a source that is read for the first time."""
CHANGES_SECONDS = 3.0
"""How long one question waits for what changes in a vault that is indexed: many notes may change
for minutes, and the rest of them can be asked meanwhile."""
VECTORS_SECONDS = 1.0
"""How long one question waits for the last vectors; the answer says when meaning is incomplete."""
READABLE = click.Path(path_type=Path, exists=True, dir_okay=False, readable=True)
PLACES = frozenset(("source", "project_root"))
"""Arguments that name a source: the vault, or a linked folder by name or path."""
Run = Callable[[Settings, dict[str, Any]], int]


def outcome_code(answer: dict[str, Any]) -> int:
    """Return the exit code of an answer that says what came of it."""
    return OUTCOMES.get(str(answer.get("outcome")), ("", 0))[1]


MADE: dict[str, Made] = {}
"""Commands by name, as they are declared: `episode end`."""


@dataclass(frozen=True, slots=True)
class Made:
    """A command of an operation, which is imported when the command is asked for.

    `argument` names the argument that is no option, and after a colon what it is called: several
    words make one text where it ends in `…`, and one in brackets may be left out. `only` names the
    arguments that are options, `given` what is always said.
    """

    path: str
    argument: str = ""
    only: Sequence[str] | None = None
    also: Sequence[click.Parameter] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    waits: bool = False
    """Whether it waits for the index first."""
    queries: bool = False
    """Whether `--queries FILE` gives its argument once a line."""
    code: Callable[[dict[str, Any]], int] = outcome_code
    run: Run | None = None
    """What it does otherwise than asking and telling."""
    help: str = ""

    def build(self, own: str) -> click.Command:
        """Return the command under its own name."""
        op = operation(self.path)
        name, _, label = self.argument.strip("[]…").partition(":")
        hidden = ("agent", "wait_seconds", name, *self.given)
        wanted = [one for one in op.parameters if one not in hidden]
        wanted = wanted if self.only is None else list(self.only)
        params: list[click.Parameter] = [_option(one, *op.parameters[one]) for one in wanted]
        if self.waits or ("wait_seconds" in op.parameters and "wait_seconds" not in self.given):
            params.append(flag("--no-wait", "Don't wait for the index."))
        params += [QUERIES] if self.queries else []
        params[:0] = [_argument(self.argument, name, label)] if name else []
        is_list = bool(name) and get_origin(get_args(op.parameters[name][0])[0]) is tuple

        def callback(settings: Settings, **values: Any) -> int:  # noqa: ANN401
            args = {key: one for key, one in values.items() if one not in (None, ())}
            file = args.pop("queries", None) if self.queries else None
            if file and name in args:
                raise click.UsageError(f"--queries goes without {(label or name).upper()}.")
            if isinstance(args.get(name), tuple):
                words = " ".join(args[name])
                args[name] = [words] if is_list else words
            args |= self.given
            self._prepare(settings, op, args, patient=bool(file))
            if file:
                for one in read_lines(file, '{"id": "q1", "query": "bread oven"}'):
                    query = [str(one["query"])] if is_list else str(one["query"])
                    print_json({"id": one["id"]} | _told(settings, op, args | {name: query}), None)
                return 0
            if self.run is not None:
                return self.run(settings, args)
            return self.code(settings.tell(settings.ask(op.name, args)))

        run = pass_settings(callback)
        return click.Command(
            own, params=[*params, *self.also], callback=run, help=self.help or op.help
        )

    def _prepare(
        self, settings: Settings, op: Operation, args: dict[str, Any], *, patient: bool
    ) -> None:
        """Complete what was said, and wait for the index."""
        waits = not args.pop("no_wait", False)
        for place in PLACES & args.keys():
            args[place] = source_at(args[place])
        if "path" in args:  # not resolved: a link in it is the daemon's to follow and to refuse
            args["path"] = str(Path(args["path"]).expanduser().absolute())
        if args.get("task") == "-":
            args["task"] = sys.stdin.read()
        if waits and "wait_seconds" in op.parameters:
            args.setdefault("wait_seconds", SOURCE_SECONDS)
        elif waits and self.waits:
            wait_for_index(settings, patient=patient)
        if "agent" in op.parameters:
            args |= settings.target


def _told(settings: Settings, op: Operation, args: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to one question of many; of what is said it is only told what is meant."""
    answer = settings.call(op.name, args | ({"dry_run": True} if op.name == "say" else {}))
    answer.pop("state", None)
    return answer


def made(path: str, argument: str = "", **how: Any) -> Callable[[Callable[..., Any]], Run]:  # noqa: ANN401
    """Declare a function the command of an operation; one without arguments only asks and tells."""

    def declare(function: Callable[..., Any]) -> Run:
        run = function if function.__code__.co_argcount else None
        name = function.__name__.rstrip("_").replace("_", " ")
        MADE[name] = Made(path, argument, run=run, help=cleandoc(function.__doc__ or ""), **how)
        return function

    return declare


def plain(name: str, path: str, argument: str = "", **how: Any) -> None:  # noqa: ANN401
    """Declare a command that only asks and tells, with the help of its operation."""
    MADE[name] = Made(path, argument, **how)


def operation(path: str) -> Operation:
    """Return an operation by its module and name, `search.memory_search`; imports that module."""
    from vaultmind.serve.op import OPERATIONS

    module, _, name = path.partition(".")
    import_module(f"vaultmind.serve.ops.{module}")
    return OPERATIONS[name]


def option(*names: str, **how: Any) -> click.Option:  # noqa: ANN401
    """Return an option that no operation has."""
    return click.Option(names, **how)


def flag(name: str, help: str) -> click.Option:
    """Return an option that is there or not."""
    return option(name, is_flag=True, default=None, help=help)


QUERIES = option(
    "--queries", metavar="FILE", type=READABLE, help='Many at once: JSON Lines of {"id","query"}.'
)


def _argument(form: str, name: str, label: str) -> click.Argument:
    optional, several = form.startswith("["), "…" in form
    shown = f"{(label or name).upper()}{'...' if several else ''}"
    shown = f"[{shown}]" if optional else shown
    return click.Argument([name], nargs=-1 if several else 1, required=not optional, metavar=shown)


def _option(name: str, hint: Any, default: Any) -> click.Option:  # noqa: ANN401
    """Return the option of an argument."""
    kind, arg = get_args(hint)[:2]
    inner = [one for one in get_args(kind) if one is not type(None)]
    many = get_origin(kind) is tuple
    kind = inner[0] if many or type(None) in get_args(kind) else kind
    called = arg.option or f"--{name.replace('_', '-')}"
    if kind is bool:
        both = f"/--no-{called[2:]}" if default is True else ""
        return option(called + both, name, is_flag=True, default=None, help=arg.help)
    choices = [str(one) for one in get_args(kind)] if get_origin(kind) is Literal else []
    kind = click.Choice(choices) if choices else kind if kind in (int, float) else str
    shown = f"  [default: {default}]" if default not in (..., None, "", ()) else ""
    words, required = f"{arg.help}{shown}".strip(), default is ...
    return option(called, name, type=kind, multiple=many, required=required, help=words)


def source_at(source: str) -> str:
    """Return a source as the daemon knows it: a path is made absolute, a name stays.

    Raises NotFound for a path that leads nowhere: the daemon would take it for a part of the
    source that it would lie in.
    """
    if source not in (".", "..") and not source.startswith("~") and "/" not in source:
        return source
    path = Path(source).expanduser().resolve()
    if not path.exists():
        raise NotFound(f"There is no folder {path}.")
    return str(path)


def wait_for_index(settings: Settings, *, patient: bool) -> None:
    """Wait for all text, and for all vectors or a moment for the last ones.

    Where everything was indexed before, what changes is waited for a moment only.
    """
    if patient:
        settings.call("index")
        return
    state = settings.call("index", {"vectors": False, "timeout_seconds": CHANGES_SECONDS})
    if state["phase"] != "ready":
        settings.call("index", {"vectors": False})
    settings.call("index", {"timeout_seconds": VECTORS_SECONDS})


def read_lines(path: Path, example: str) -> list[dict[str, Any]]:
    """Return the object of every line of a JSON Lines file; blank lines are passed over.

    Raises BadArgument for the first faulty line, before anything is asked; `example` shows the
    person a good one, whose keys every line needs.
    """
    raw = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    lines = raw.decode("utf-8-sig", "replace").split("\n")
    found = [(number, line, decode(line)) for number, line in enumerate(lines, 1) if line.strip()]
    for number, line, item in found:
        if not item or decode(example).keys() - item.keys():
            wanted = f"a line of JSON like {example}"
            raise BadArgument(f"{path.name} line {number}", line.strip(), wanted)
    return [item for _, _, item in found]
