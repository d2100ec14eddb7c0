"""The program as a page shows it: commands over an app in this process, and what they say."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from tests.serve.vaults import config_of, write_vault
from vaultmind.app import App, open_app
from vaultmind.cli.main import cli
from vaultmind.cli.options import Settings
from vaultmind.ports import Report, silent
from vaultmind.serve.op import Call, run_operation
from vaultmind.types import PERSON

EXAMPLE = re.compile(r"^```\n(\$ vaultmind .*?)^```", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"(?<=\d-)[0-9a-f]{6}\b|[0-9a-f]{10}|[\d,.]*\d")
"""Numbers, commits and the marks of models: they differ from run to run."""


@dataclass(slots=True)
class Own:
    """A backend over an app that is open already."""

    app: App

    def call(self, op: str, args: dict[str, Any], report: Report = silent) -> dict[str, Any]:
        return run_operation(self.app, Call(PERSON, report), op, args)

    def close(self) -> None:
        """Leave the app open."""


@dataclass(slots=True)
class Person:
    """Runs commands over an open app, as somebody at a terminal does."""

    app: App

    def settings(self) -> Settings:
        settings = Settings()
        settings.config, settings.backend = self.app.config, Own(self.app)  # type: ignore[assignment]
        return settings

    def run(self, words: str, code: int = 0) -> str:
        """Run the words after `vaultmind` and return all that was said."""
        self.app.episodes.settle()  # the tables follow in a moment, and people take more of them
        done = CliRunner().invoke(
            cli, shlex.split(words), obj=self.settings(), standalone_mode=False
        )
        if done.exception is not None:
            raise done.exception
        assert (done.return_value or 0) == code, f"{words}: {done.return_value}\n{done.output}"
        return done.output


@contextmanager
def opened(folder: Path, clock: Callable[[], datetime]) -> Iterator[Person]:
    """Write a small vault, open an app over it without an embedder, and wait until it is ready."""
    write_vault(folder / "vault")
    config = config_of(folder)
    config = replace(config, index=replace(config.index, embedder="none"))
    app = open_app(config, clock=clock)
    app.start()
    try:
        assert app.index.wait_ready(30)
        yield Person(app)
    finally:
        app.close()


def clock_from(moment: datetime) -> Callable[[], datetime]:
    """Return a clock that goes on from a moment."""
    began = time.monotonic()
    return lambda: moment + timedelta(seconds=time.monotonic() - began)


def check_examples(person: Person, page: str) -> int:
    """Run every command of a page and compare what it shows; return how many there were."""
    home = person.app.config.vault.parent
    commands = 0
    for example in EXAMPLE.findall(page):
        for one in re.split(r"^(?=\$ vaultmind )", example, flags=re.MULTILINE):
            if one.strip():
                command, *shown = one.splitlines()
                said = person.run(command.removeprefix("$ vaultmind ")).replace(str(home), "~")
                same_words(command, shown, said)
                commands += 1
    return commands


def same_words(command: str, shown: list[str], said: str) -> None:
    """Check that what is shown was said, line by line in order; numbers may differ.

    `…` stands for lines that are left out; at the end of a line for its rest.
    """
    lines = iter([plain(line) for line in said.splitlines()])
    for line in shown:
        if line.strip() not in ("", "…"):
            start, cut = plain(line.removesuffix("…")), line.endswith("…")
            found = (one.startswith(start) if cut else one == start for one in lines)
            assert any(found), f"{command}: {line!r} not in\n{said}"


def plain(line: str) -> str:
    """Return a line without what differs from run to run."""
    return " ".join(_NUMBER.sub("0", line).split())
