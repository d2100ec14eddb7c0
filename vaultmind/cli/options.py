"""What every command understands and reaches: global options, configuration, operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


def take_global(arguments: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the global options, which may stand anywhere, by name; and the other arguments."""
    values: dict[str, Any] = {}
    others: list[str] = []
    rest = iter(arguments)
    for word in rest:
        name, equals, value = word.partition("=")
        key = name[2:].replace("-", "_")
        if word == "--":
            others += [word, *rest]
        elif name not in GLOBAL_OPTIONS or (equals and not GLOBAL_OPTIONS[name][0]):
            others.append(word)
        elif not GLOBAL_OPTIONS[name][0]:
            values[key] = True
        elif given := value if equals else next(rest, ""):
            values[key] = given
        else:
            raise click.UsageError(f"Option '{name}' requires an argument.")
    return values, others


pass_settings: Callable[[Any], Any] = click.make_pass_decorator(Settings, ensure=True)
