"""What the daemon does when a host has used a tool: it goes into the conversation's episode.

Claude Code tells of it with PostToolUse and PostToolUseFailure, and waits: the answer comes at
once, all work is done after it. What the hook could not tell lies in the state folder until the
next hook, or the next daemon, takes it up.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from vaultmind.episodes.watch import Use
from vaultmind.errors import VaultMindError
from vaultmind.serve.calls.requests import LATEST, MAX_ID
from vaultmind.serve.calls.schema import arg, parse
from vaultmind.session.capture import errands
from vaultmind.session.capture.asked import Unforgotten, last_prompt
from vaultmind.types import Caller
from vaultmind.vault.paths import agent_name

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.serve.calls.call import Call

CLIENT = "claude-code"
MAX_PATH = 8192
MAX_LIST = 20
WRITING_SECONDS = 0.03
"""That an answer waits for what it tells of to be written down."""
CATCH_UP_SECONDS = 10.0
"""Which a daemon that has just started may need, to open a linked folder."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AfterToolArgs:
    """Arguments of after_tool: what is left of a tool's use once contents and commands are out."""

    session_id: str = arg("What the host calls the conversation.", min=1, max=MAX_ID)
    transcript_path: str = arg("Where the host writes it down.", default="", max=4096)
    id: str = arg("What the host calls the use.", default="", max=MAX_ID)
    at: float = arg("When, in seconds since 1970.", default=0.0, min=0, max=LATEST)
    took: float = arg("How many seconds it took; 0: nobody knows.", default=0.0, min=0)
    tool: str = arg("The tool's name.", default="", max=MAX_ID)
    cwd: str = arg("The folder that the work happens in.", default="", max=MAX_PATH)
    reads: tuple[str, ...] = arg("Files that were read.", default=(), max=MAX_LIST)
    edits: tuple[str, ...] = arg("Files that were changed.", default=(), max=MAX_LIST)
    made: bool = arg("Whether what was changed is new.", default=False)
    found: tuple[str, ...] = arg("Files that a search found.", default=(), max=MAX_LIST)
    query: str = arg("What was searched for.", default="", max=MAX_ID, loose=True)
    runs: tuple[str, ...] = arg("Checks: `yes pytest`, `no npm test`.", default=(), max=MAX_LIST)
    commits: bool = arg("Whether it may have committed something.", default=False)
    chars: int = arg("How long what was read is.", default=0, min=0)


@dataclass(frozen=True, slots=True)
class AfterTool:
    """What became of a tool's use."""

    waits: bool
    """Whether it is not written down yet: the hook leaves it as an errand, for a daemon that is
    killed. It is known by its id, and written down once."""


def run(app: App, call: Call, args: AfterToolArgs) -> AfterTool:
    """Take notice of what a tool was used on; returns at once, written down or not."""
    if not app.config.episodes.hook:
        return AfterTool(waits=False)
    caller = Caller("agent", app.target(call.caller, ""), CLIENT)
    take_left(app, caller.agent or "", args.session_id)
    noted = _noted(app, caller, args)
    with suppress(TimeoutError):
        noted.result(WRITING_SECONDS)
    return AfterTool(waits=not noted.done())


def words(response: AfterTool, mark: str = "") -> str:
    """Return nothing: nobody is told."""
    return ""


def take_left(app: App, agent: str = "", session_id: str = "") -> None:
    """Take up what hooks left of tools' uses: of one conversation, or of all."""
    state = os.fspath(app.config.state_dir)
    for taken, owner, session, uses in errands.take_uses(state, agent, session_id):
        for use in uses:
            try:
                args = parse(AfterToolArgs, {**use, "session_id": session})
                if app.config.episodes.hook:
                    _noted(app, Caller("agent", agent_name(owner), CLIENT), args)
            except VaultMindError as error:
                log.warning("what a hook left was dropped: %s", error)
        app.watching.then(partial(errands.drop, taken))


def catch_up(app: App) -> None:
    """Have written down what hooks told so far, as somebody asks for an episode."""
    take_left(app)
    app.watching.wait(CATCH_UP_SECONDS)


def _noted(app: App, caller: Caller, args: AfterToolArgs) -> Future[None]:
    now = app.clock()
    when = datetime.fromtimestamp(args.at, now.tzinfo) if args.at else now
    use = Use(
        time=min(when, now).isoformat(timespec="seconds"),
        cwd=args.cwd,
        reads=args.reads,
        edits=args.edits,
        made=args.made,
        found=args.found,
        query=args.query,
        runs=args.runs,
        commits=args.commits,
        chars=args.chars,
        took=args.took,
        id=args.id,
    )
    return app.watching.used(caller, args.session_id, use, _asked(app, caller, args))


def _asked(app: App, caller: Caller, args: AfterToolArgs) -> Callable[[], str]:
    path, left = args.transcript_path, Unforgotten(app.paths, app.tombstones, caller.agent or "")
    return lambda: last_prompt(path, left) if path else ""
