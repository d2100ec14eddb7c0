"""Which conversation a pipe is in: its window's where hooks tell of it, one left, or its own."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.session.samples import Files
from vaultmind.session.lifecycle.lifecycle import SessionLog
from vaultmind.session.lifecycle.windows import FILE, KEPT, Pipe, Window, Windows
from vaultmind.types import Caller, Message
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

NOON = datetime(2026, 2, 20, 12, 0, 0, tzinfo=UTC)
CODE = Caller("agent", "main", "claude-code")
DESKTOP = Caller("agent", "main", "claude-ai")
SHOP = "/home/anna/shop"
HOST_1, HOST_2, SHELL = 1001, 1002, 77
"""Processes of two windows, and the shell of a hook."""
FIRST = Window("main", "claude-code:x-1", SHOP, "shop", (SHELL, HOST_1, 500))
SECOND = Window("main", "claude-code:x-2", SHOP, "shop", (SHELL, HOST_2, 500))


class Desk:
    """Sessions, and the windows over them; both begin anew after a crash."""

    def __init__(self, files: Files, reader: VaultReader, state: Path) -> None:
        self._files, self._reader, self._state = files, reader, state
        self.now = NOON
        self.crash()

    def crash(self) -> None:
        clock = lambda: self.now  # noqa: E731
        paths = self._reader.paths
        self.sessions = SessionLog(self._files, self._reader, paths, clock, 30)
        self.windows = Windows(self._state, self.sessions.open_session, clock, 30)

    def passes(self, **how_much: float) -> None:
        self.now += timedelta(**how_much)

    def of(self, pipe: Pipe, caller: Caller = CODE) -> str:
        return self.windows.joined(caller, pipe).conversation

    def says(self, pipe: Pipe, text: str, caller: Caller = CODE) -> str:
        here = self.windows.joined(caller, pipe)
        talk = here.conversation
        ref = self.sessions.log(
            here.agent, Message("user", text, ""), caller=here, conversation=talk
        )
        return ref.session


@pytest.fixture
def desk(files: Files, reader: VaultReader, paths: VaultPaths, tmp_path: Path) -> Desk:
    state = tmp_path / "state"
    state.mkdir()
    return Desk(files, reader, state)


def test_the_hosts_own_id_tells_where_no_process_does(desk: Desk) -> None:
    desk.windows.told(replace(FIRST, parents=(SHELL,)))
    desk.windows.told(replace(SECOND, parents=(SHELL,)))
    assert desk.of(Pipe("aa", HOST_2, SHOP, "x-2")) == "claude-code:x-2"
    assert desk.of(Pipe("bb", HOST_2, SHOP, "x-7")) == "claude-code:x-1", "the one that is left"
    assert desk.of(Pipe("cc", HOST_2, SHOP, "x-7")) == "pipe:cc"


def test_without_what_was_kept_the_hosts_id_still_tells(desk: Desk, tmp_path: Path) -> None:
    pipe = Pipe("aa", HOST_1, SHOP, "x-1")
    desk.windows.told(FIRST)
    session = desk.says(pipe, "hello")
    (tmp_path / "state" / FILE).write_text("{torn", "utf-8")
    desk.crash()
    assert desk.says(pipe, "again") == session


def test_of_two_that_were_left_none_is_guessed(desk: Desk) -> None:
    one, two = Pipe("aa"), Pipe("bb")
    for pipe in (one, two):
        desk.says(pipe, "hello", DESKTOP)
    for pipe in (one, two):
        desk.windows.left(DESKTOP, pipe)
    assert desk.of(Pipe("cc"), DESKTOP) == "pipe:cc"
    other = replace(DESKTOP, client="cursor")
    assert desk.of(Pipe("dd"), other) == "pipe:dd"


def test_what_is_kept_does_not_grow_without_end(desk: Desk) -> None:
    for number in range(KEPT + 20):
        conversation = f"claude-code:y-{number}"
        desk.windows.told(replace(FIRST, conversation=conversation, parents=(number + 2, 1)))
        assert desk.of(Pipe(f"p{number}", number + 2)) == conversation
    assert len(desk.windows._read()) == len(desk.windows._windows) == KEPT
