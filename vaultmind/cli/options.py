"""What every command understands, reaches and shows: global options, the daemon, words and JSON.

Every command pays for what is imported here: the standard library and click.
"""

from __future__ import annotations

import io
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from vaultmind.locate import locate
from vaultmind.ports import Report
from vaultmind.types import Progress

if TYPE_CHECKING:
    from vaultmind.client.client import Client
    from vaultmind.config import Config
    from vaultmind.locate import Where
    from vaultmind.serve.inprocess import InProcess

EXIT_OTHER, EXIT_USAGE, EXIT_SUGGESTED, EXIT_DENIED, EXIT_NOT_FOUND = 1, 2, 3, 4, 5
EXIT_INTERRUPTED = 130
FIRST_SECONDS, EVERY_SECONDS = 0.3, 1.0
"""When it is told what is waited for, and how often how far that is."""

bold = partial(click.style, bold=True)
dim = partial(click.style, dim=True)
good = partial(click.style, fg="green")
odd = partial(click.style, fg="yellow")
bad = partial(click.style, fg="red")
say = click.echo
aside = partial(click.echo, err=True)
OUTCOMES = {
    "written": (good("✓"), 0),
    "erased": (good("✓"), 0),
    "unchanged": ("=", 0),
    "suggested": (odd("?"), EXIT_SUGGESTED),
    "denied": (bad("✗"), EXIT_DENIED),
    "not_found": (odd("∅"), EXIT_NOT_FOUND),
    "partial": ("", EXIT_OTHER),
}
"""What stands before the words of an answer that has an outcome, and its exit code.
Of any other it is 0."""
GLOBAL_OPTIONS: dict[str, tuple[str, str]] = {
    "--vault": ("DIR", "The vault to work on."),
    "--agent": ("NAME", "The agent whose memory is meant."),
    "--json": ("", "Answer in JSON, for scripts."),
    "--state-dir": ("DIR", "Folder for index, lock and log."),
    "--in-process": ("", "Work without a daemon (takes its lock)."),
}
"""Name, metavar (empty for a flag) and help."""


# --- what is shown ------------------------------------------------------------------------


def print_json(value: Any, indent: int | None = 2) -> None:  # noqa: ANN401
    """Write one JSON document to stdout; on one line when `indent` is None."""
    say(json.dumps(value, ensure_ascii=False, indent=indent))


def show(words: str) -> None:
    """Print words; headings are bold."""
    for line in words.splitlines():
        say(bold(line) if line.startswith("## ") else line.rstrip())


def show_error(kind: str, message: str, hint: str, *, as_json: bool) -> None:
    """Say what went wrong and what to do next: on stderr, or as JSON on stdout."""
    if as_json:
        print_json({"error": {"type": kind, "message": message, "hint": hint}})
        return
    aside(f"{bad('✗')} {message}")
    if hint:
        aside(f"{dim('→')} {hint}")


def use_unicode() -> None:
    """Let stdout and stderr take any text: a path may hold bytes that are no text at all.

    Written into a pipe it is UTF-8 everywhere; what cannot be written becomes an escape, which
    JSON reads back.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


# --- what is reached ----------------------------------------------------------------------


class Answer(NamedTuple):
    """What an operation answered: as data, and in words where they are shown."""

    json: dict[str, Any]
    words: str = ""


class Settings:
    """What was named on the command line; configuration and daemon are reached when needed."""

    def __init__(self) -> None:
        self.vault = self.agent = self.state_dir = ""
        self.json = self.in_process = False
        """Whether output is for a script; whether to work without a daemon."""

    @property
    def named(self) -> dict[str, str]:
        """Return which vault, agent and state folder were named; empty where none was."""
        return {"vault": self.vault, "agent": self.agent, "state_dir": self.state_dir}

    @cached_property
    def config(self) -> Config:
        """The configuration of the vault that was named or found."""
        from vaultmind.config import Flags, load_config

        return load_config(Flags(**self.named))

    @property
    def where(self) -> Config | Where:
        """Return vault, state folder and agent, which cost less than the whole configuration."""
        return self.__dict__.get("config") or locate(*self.named.values())

    @property
    def target(self) -> dict[str, Any]:
        """Return the argument that names the agent who was named anywhere; else none."""
        where = self.where
        return {"agent": where.agent} if where.agent_named else {}

    @cached_property
    def backend(self) -> InProcess | Client:
        """The way to the operations: the daemon, or this process."""
        if self.in_process:
            from vaultmind.serve.inprocess import InProcess

            return InProcess(self.config)
        from vaultmind.client.client import Client

        return Client.connect(self.where)

    @contextmanager
    def waiting(self, what: str) -> Iterator[Report]:
        """Say what a person waits for, in a line that is written over, and give a function that
        tells how far it is.

        What is over within a moment says nothing; nor does anything for a script, or where stderr
        is no terminal.
        """
        steps, over, clear = [Progress(0, 0, what)], threading.Event(), "\r\x1b[K"

        def show_steps() -> None:
            pause = FIRST_SECONDS
            while not over.wait(pause):
                step, pause = steps[-1], EVERY_SECONDS
                far = f": {step.done:,} of {step.total:,}" if step.total else "…"
                aside(f"{clear}{step.what or what}{far}", nl=False)
            if pause == EVERY_SECONDS:
                aside(clear, nl=False)

        if self.json or not sys.stderr.isatty():
            over.set()
        showing = threading.Thread(target=show_steps)
        showing.start()
        try:
            yield steps.append
        finally:
            over.set()
            showing.join()

    def call(self, op: str, args: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run an operation and return its data; says what is waited for while it takes long."""
        with self.waiting("starting VaultMind") as report:
            backend = self.backend
            report(Progress(0, 0, "waiting for an answer"))
            return backend.call(op, args or {}, report)

    def ask(self, op: str, args: dict[str, Any] | None = None) -> Answer:
        """Run an operation; its words come too where they are shown."""
        if self.json:
            return Answer(self.call(op, args))
        told = self.call("in_words", {"op": op, "args": args or {}})
        return Answer(told["json"], told["words"])

    def tell(self, answer: Answer) -> dict[str, Any]:
        """Print an answer, its data for a script, else its words; return its data."""
        mark, _ = OUTCOMES.get(str(answer.json.get("outcome")), ("", 0))
        if self.json:
            print_json(answer.json)
        else:
            show(f"{mark} {answer.words}" if mark else answer.words)
        return answer.json

    def confirms(self, question: str) -> bool:
        """Ask the person and tell whether they say yes; raise UsageError where nobody is there."""
        if self.json or not sys.stdin.isatty():
            raise click.UsageError(
                "There is no terminal to ask on, so nothing was done. Add --yes."
            )
        return click.confirm(question, default=False, err=True)

    def close(self) -> None:
        """Let go of the daemon or of the app in this process."""
        if backend := self.__dict__.pop("backend", None):
            backend.close()


def settings_of(context: click.Context) -> Settings:
    """Return the settings of this run of the program."""
    return context.find_root().ensure_object(Settings)


def _keep(context: click.Context, option: click.Parameter, value: Any) -> None:  # noqa: ANN401
    """Remember what a global option says; an empty name is a slip, and names no other vault."""
    if value == "":
        raise click.BadParameter("it is empty.", context, option)
    if value:
        setattr(settings_of(context), str(option.name), value)


def global_options(*, hidden: bool) -> list[click.Parameter]:
    """Return the global options, which every command takes; its help leaves them out."""
    return [
        click.Option([name], metavar=arg or None, is_flag=not arg, help=help_, hidden=hidden,
                     callback=_keep, expose_value=False)
        for name, (arg, help_) in GLOBAL_OPTIONS.items()
    ]  # fmt: skip


pass_settings: Callable[[Any], Any] = click.make_pass_decorator(Settings, ensure=True)
