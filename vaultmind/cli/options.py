"""What every command understands and reaches: global options, configuration, operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from vaultmind.cli.terminal import OUTCOME_MARKS, print_json, progress, show
from vaultmind.locate import locate
from vaultmind.ports import Report, silent

if TYPE_CHECKING:
    from vaultmind.client.client import Client
    from vaultmind.config import Config
    from vaultmind.locate import Where

NEED_A_LOOK = frozenset(("suggestions_list",))
"""Operations that only read, and what they read is what was left to do."""
GLOBAL_OPTIONS: dict[str, tuple[str, str]] = {
    "--vault": ("DIR", "The vault to work on."),
    "--agent": ("NAME", "The agent whose memory is meant."),
    "--json": ("", "Answer in JSON, for scripts."),
    "--state-dir": ("DIR", "Folder for index, lock and log."),
    "--in-process": ("", "Work without a daemon (takes its lock)."),
}
"""Name, metavar (empty for a flag) and help."""


class Answer(NamedTuple):
    """What an operation answered: as data, and in words where they are shown."""

    json: dict[str, Any]
    words: str = ""


class InProcess:
    """The app in this process; holds the vault's lock meanwhile.

    It does what it is asked and tends to nothing by itself, as a daemon does: a look at a copy of a
    vault leaves it as it is.
    """

    def __init__(self, config: Config) -> None:
        from vaultmind.app import App, local_now
        from vaultmind.serve.lock import VaultLock

        self._lock = VaultLock(config)
        self._lock.acquire()
        try:
            self._app = App(config, local_now, None)
            self._app.start(tends=False)
        except BaseException:
            self._lock.release()
            raise

    def call(self, op: str, args: dict[str, Any], report: Report = silent) -> dict[str, Any]:
        """Run an operation on the app; before one that writes, what was left to do is done."""
        from vaultmind.serve.operations import IN_WORDS, Call, find, run_operation
        from vaultmind.types import PERSON

        asked = args["op"] if op == IN_WORDS else op
        if find(asked).writes or asked in NEED_A_LOOK:
            self._app.look()
        return run_operation(self._app, Call(PERSON, report), op, args)

    def close(self) -> None:
        """Finish the index's queue, close the app and free the lock."""
        self._app.close()
        self._lock.release()


class Settings:
    """What was named on the command line; configuration and daemon are reached when needed."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._config: Config | None = None
        self._backend: InProcess | Client | None = None

    @property
    def json(self) -> bool:
        """Tell whether output is for a script."""
        return bool(self.values.get("json"))

    @property
    def in_process(self) -> bool:
        """Tell whether to work without a daemon."""
        return bool(self.values.get("in_process"))

    @property
    def named(self) -> dict[str, str]:
        """Return which vault, agent and state folder were named; empty where none was."""
        return {one: str(self.values.get(one) or "") for one in ("vault", "agent", "state_dir")}

    @property
    def config(self) -> Config:
        """Return the configuration of the vault that was named or found."""
        if self._config is None:
            from vaultmind.config import Flags, load_config

            self._config = load_config(Flags(**self.named))
        return self._config

    @property
    def where(self) -> Config | Where:
        """Return vault, state folder and agent, which cost less than the whole configuration."""
        return self._config or locate(*self.named.values())

    @property
    def target(self) -> dict[str, Any]:
        """Return the argument that names the agent who was named anywhere; else none."""
        where = self.where
        return {"agent": where.agent} if where.agent_named else {}

    @property
    def backend(self) -> InProcess | Client:
        """Return the way to the operations: the daemon, or this process."""
        if self._backend is None and self.in_process:
            self._backend = InProcess(self.config)
        elif self._backend is None:
            from vaultmind.client.client import Client

            self._backend = Client.connect(self.where)
        return self._backend

    def call(self, op: str, args: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run an operation and return its data, with a bar while it takes long."""
        with progress(quiet=self.json) as report:
            return self.backend.call(op, args or {}, report)

    def ask(self, op: str, args: dict[str, Any] | None = None) -> Answer:
        """Run an operation; its words come too where they are shown."""
        if self.json:
            return Answer(self.call(op, args))
        told = self.call("in_words", {"op": op, "args": args or {}})
        return Answer(told["json"], told["words"])

    def tell(self, answer: Answer) -> dict[str, Any]:
        """Print an answer, its data for a script, else its words; return its data."""
        mark = OUTCOME_MARKS.get(str(answer.json.get("outcome", "")), "")
        if self.json:
            print_json(answer.json)
        else:
            show(f"{mark} {answer.words}" if mark else answer.words)
        return answer.json

    def close(self) -> None:
        """Let go of the daemon or of the app in this process."""
        if self._backend is not None:
            self._backend.close()
            self._backend = None


def settings_of(context: click.Context) -> Settings:
    """Return the settings of this run of the program."""
    root = context.find_root()
    if not isinstance(root.obj, Settings):
        root.obj = Settings()
    return root.obj


def _keep(context: click.Context, parameter: click.Parameter, value: object) -> None:
    """Keep a global option; the one after the command's name wins, since it is read last."""
    if value and parameter.name and not context.resilient_parsing:
        settings_of(context).values[parameter.name] = value


def _global_options() -> list[click.Option]:
    return [
        click.Option([name], metavar=metavar or None, is_flag=not metavar, help=words,
                     expose_value=False, callback=_keep)
        for name, (metavar, words) in GLOBAL_OPTIONS.items()
    ]  # fmt: skip


def own_options(command: click.Command) -> list[click.Option]:
    """Return the options of a command that are not everybody's."""
    options = [one for one in command.params if isinstance(one, click.Option)]
    return [one for one in options if not set(one.opts) & set(GLOBAL_OPTIONS)]


class VaultCommand(click.Command):
    """A command that also takes the global options; its help shows its own first."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.params = [*self.params, *_global_options()]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write this command's own options and name the global ones in a line."""
        records = [one.get_help_record(ctx) for one in own_options(self)]
        with formatter.section("Options"):
            formatter.write_dl([*filter(None, records), ("--help", "Show this message.")])
        with formatter.section("Also"):
            formatter.write_text(f"{', '.join(GLOBAL_OPTIONS)}: see `vaultmind --help`.")


class VaultGroup(click.Group):
    """A group whose commands take the global options, as it does itself."""

    command_class = VaultCommand

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.params = [*self.params, *_global_options()]


VaultGroup.group_class = VaultGroup

pass_settings: Callable[[Any], Any] = click.make_pass_decorator(Settings, ensure=True)
