"""Options every command understands, before or after its name, and what they lead to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import click

from vaultmind.cli.backend import Backend, open_backend
from vaultmind.config import Config, Flags, load_config


@dataclass(slots=True)
class Settings:
    """What was named on the command line; the configuration is read when first needed."""

    values: dict[str, Any] = field(default_factory=dict)
    _config: Config | None = None
    _backend: Backend | None = None

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
            names = ("vault", "agent", "state_dir")
            self._config = load_config(Flags(**{n: self.values.get(n) or "" for n in names}))
        return self._config

    @property
    def target(self) -> str:
        """Return the agent that was named anywhere; empty when none was."""
        return self.config.agent if self.config.agent_named else ""

    def backend(self) -> Backend:
        """Return the way to the operations: the daemon, or this process."""
        if self._backend is None:
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


def _keep(context: click.Context, parameter: click.Parameter, value: object) -> None:
    if value and parameter.name and not context.resilient_parsing:
        settings_of(context).values[parameter.name] = value


def _global_options() -> list[click.Option]:
    common: dict[str, Any] = {"expose_value": False, "callback": _keep}
    return [
        click.Option(["--vault"], metavar="DIR", help="The vault to work on.", **common),
        click.Option(
            ["--agent"], metavar="NAME", help="The agent whose memory is meant.", **common
        ),
        click.Option(["--json"], is_flag=True, help="Answer in JSON, for scripts.", **common),
        click.Option(
            ["--state-dir"], metavar="DIR", help="Folder for index, lock and log.", **common
        ),
        click.Option(
            ["--in-process"], is_flag=True, help="Work without a daemon (takes its lock).", **common
        ),
    ]


class VaultCommand(click.Command):
    """A command that also takes the global options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.params = [*self.params, *_global_options()]


class VaultGroup(click.Group):
    """A group whose commands take the global options, as it does itself."""

    command_class = VaultCommand

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.params = [*self.params, *_global_options()]


VaultGroup.group_class = VaultGroup

pass_settings: Callable[[Any], Any] = click.make_pass_decorator(Settings, ensure=True)
