"""Which conversation a client's pipe is in, where no call names one.

Each pipe names itself, and so has a conversation of its own, which outlives the daemon. Where
hooks of the same window tell of its conversation, that is the pipe's, too: one talk is one record.
A window is told by the process that started both, by the host's own id, or, where the system does
not say who started whom, by its folder, if only one fits.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from vaultmind.ports import Clock
from vaultmind.types import Caller
from vaultmind.vault.paths import named_like
from vaultmind.vault.session_meta import PIPE

FILE = "pipes.json"
"""In the state folder: conversations of pipes that are not called like the pipe."""
KEPT = 200
"""Pipes, and windows, that are remembered; an older one is most likely gone."""
SURE = 2
"""So many processes above a hook are known where the system tells them at all."""
log = logging.getLogger(__name__)

OpenSession = Callable[[str, str], str]
"""Returns the open session of an agent's conversation; empty for none."""


@dataclass(frozen=True, slots=True)
class Pipe:
    """A client's pipe, as it says of itself. Nothing but its name need be known."""

    name: str
    parent: int = 0
    """The process that started it, ..."""
    folder: str = ""
    """... in which folder, ..."""
    host_id: str = ""
    """... and what that called the conversation then."""


@dataclass(frozen=True, slots=True)
class Window:
    """A host's conversation, as its hooks tell of it."""

    agent: str
    conversation: str
    """As a session's front matter names it: `claude-code:<the host's id>`."""
    folder: str = ""
    project: str = ""
    parents: tuple[int, ...] = ()
    """The process that started the hook, and those above it as far as they are known."""
    over: bool = False


class Windows:
    """Pipes and hosts' conversations of a vault's agents. Any thread."""

    def __init__(
        self, state_dir: Path, opened: OpenSession, clock: Clock, idle_minutes: float
    ) -> None:
        self._path = state_dir / FILE
        self._opened = opened
        self._clock = clock
        self._idle = timedelta(minutes=idle_minutes)
        self._lock = threading.Lock()
        self._windows: OrderedDict[tuple[str, str], tuple[Window, datetime]] = OrderedDict()
        """By agent and conversation, with when they were heard of; the last one last."""
        self._pipes: OrderedDict[str, str] | None = None
        """The conversations of pipes, by name; None until the file was read."""
        self._left: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        """By agent and client: conversations of pipes that hung up."""

    def told(self, window: Window) -> None:
        """Take in what a hook tells; where a conversation began stays its folder."""
        key = window.agent, window.conversation
        with self._lock:
            known = self._windows.pop(key, None)
            if known is not None and known[0].folder:
                window = replace(window, folder=known[0].folder, project=known[0].project)
            self._windows[key] = window, self._clock()
            while len(self._windows) > KEPT:
                self._windows.popitem(last=False)

    def joined(self, caller: Caller, pipe: Pipe) -> Caller:
        """Return who calls by a pipe, with the conversation that they are in."""
        with self._lock:
            pipes = self._read()
            conversation = self._started(caller, pipe) or self._going_on(caller, pipe)
            conversation = conversation or self._begun(caller, pipe)
            if pipes.get(pipe.name) != conversation:
                pipes[pipe.name] = conversation
                self._save(pipes)
            window = self._windows.get((caller.agent, conversation))
        project = window[0].project if window else ""
        return replace(caller, conversation=conversation, project=project or caller.project)

    def left(self, caller: Caller, pipe: Pipe) -> None:
        """Take in that a pipe hung up: the next of its client may go on with what it leaves."""
        with self._lock:
            pipes = self._read()
            conversation = pipes.pop(pipe.name, "")
            if conversation.startswith(PIPE):
                self._left[caller.agent, caller.client].append(conversation)
            if conversation:
                self._save(pipes)

    # --- within the lock -----------------------------------------------------------------

    def _started(self, caller: Caller, pipe: Pipe) -> str:
        """Return the conversation that the process which started the pipe is in now.

        It has one at a time: the one heard of last.
        """
        if not pipe.parent:
            return ""
        found = [one for one, _ in self._known(caller) if pipe.parent in one.parents]
        return found[-1].conversation if found else ""

    def _going_on(self, caller: Caller, pipe: Pipe) -> str:
        """Return the conversation that a pipe is in already, unless its host said it is over."""
        known = self._read().get(pipe.name, "")
        window = self._windows.get((caller.agent, known))
        if known:
            return "" if window and window[0].over else known
        own = PIPE + pipe.name
        return own if self._opened(caller.agent, own) else ""

    def _begun(self, caller: Caller, pipe: Pipe) -> str:
        """Return the conversation of a pipe that was in none: its window's, one left, its own."""
        if pipe.host_id:
            named = f"{named_like(caller.client)}:{pipe.host_id}"
            window = self._windows.get((caller.agent, named))
            over = window is not None and window[0].over
            if not over and (window or self._opened(caller.agent, named)):
                return named
        beside = self._beside(caller, pipe)
        if len(beside) == 1:
            return next(iter(beside))
        key = caller.agent, caller.client
        self._left[key] = [one for one in self._left[key] if self._opened(caller.agent, one)]
        return self._left[key].pop() if len(self._left[key]) == 1 else PIPE + pipe.name

    def _beside(self, caller: Caller, pipe: Pipe) -> Collection[str]:
        """Return what goes on in the pipe's folder, of which it cannot be told who started it."""
        if not pipe.folder:
            return ()
        folder, since = os.path.realpath(pipe.folder), self._clock() - self._idle
        taken = set(self._read().values())
        return {
            one.conversation
            for one, heard in self._known(caller)
            if (not pipe.parent or len(one.parents) < SURE) and heard >= since
            if one.folder and os.path.realpath(one.folder) == folder
            if one.conversation not in taken
        }

    def _known(self, caller: Caller) -> list[tuple[Window, datetime]]:
        """Return the conversations that a client's hooks told of and that go on."""
        host = f"{named_like(caller.client)}:"
        return [
            (one, heard)
            for one, heard in self._windows.values()
            if one.agent == caller.agent and not one.over and one.conversation.startswith(host)
        ]

    # --- what outlives the daemon --------------------------------------------------------

    def _read(self) -> OrderedDict[str, str]:
        if self._pipes is None:
            try:
                value = json.loads(self._path.read_bytes())
            except (OSError, ValueError, RecursionError):
                value = {}
            pairs = value.items() if isinstance(value, dict) else ()
            self._pipes = OrderedDict((name, one) for name, one in pairs if isinstance(one, str))
        return self._pipes

    def _save(self, pipes: OrderedDict[str, str]) -> None:
        """Write down what a pipe's name does not say by itself; a failure costs a record in two."""
        while len(pipes) > KEPT:
            pipes.popitem(last=False)
        kept = {name: one for name, one in pipes.items() if one != PIPE + name}
        if not kept and not self._path.exists():
            return
        beside = self._path.with_suffix(".new")
        try:
            beside.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
            beside.replace(self._path)
        except OSError as error:
            log.warning("%s could not be written: %s", self._path, error)
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)
