"""Options every command understands, before or after its name, and what they lead to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from vaultmind.cli.backend import Backend
    from vaultmind.config import Config


class Settings:
    """What was named on the command line; configuration and daemon are reached when needed."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._config: Config | None = None
        self._backend: Backend | None = None

    @property
    def json(self) -> bool:
        """Tell whether output is for a script."""
        return bool(self.values.get("json"))

    @property
    def in_process(self) -> bool:
        """Tell whether to work without a daemon."""
        return bool(self.values.get("in_process"))

    @property
    def config(self) -> Config:
        """Return the configuration of the vault that was named or found."""
        if self._config is None:
            from vaultmind.config import Flags, load_config

            names = ("vault", "agent", "state_dir")
            self._config = load_config(Flags(**{n: self.values.get(n) or "" for n in names}))
        return self._config

    @property
    def target(self) -> dict[str, Any]:
        """Return the argument that names the agent who was named anywhere; else none."""
        return {"agent": self.config.agent} if self.config.agent_named else {}

    def backend(self) -> Backend:
        """Return the way to the operations: the daemon, or this process."""
        if self._backend is None:
            from vaultmind.cli.backend import open_backend

            self._backend = open_backend(self.config, in_process=self.in_process)
        return self._backend

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


def given(options: dict[str, object]) -> dict[str, Any]:
    """Return the options that were given, as arguments of an operation."""
    return {name: value for name, value in options.items() if value not in (None, ())}


def _keep(context: click.Context, parameter: click.Parameter, value: object) -> None:
    """Keep a global option; the one after the command's name wins, since it is read last."""
    if value and parameter.name and not context.resilient_parsing:
        settings_of(context).values[parameter.name] = value


GLOBAL_OPTIONS: dict[str, tuple[str, str]] = {
    "--vault": ("DIR", "The vault to work on."),
    "--agent": ("NAME", "The agent whose memory is meant."),
    "--json": ("", "Answer in JSON, for scripts."),
    "--state-dir": ("DIR", "Folder for index, lock and log."),
    "--in-process": ("", "Work without a daemon (takes its lock)."),
}
"""Name, metavar (empty for a flag) and help."""


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
