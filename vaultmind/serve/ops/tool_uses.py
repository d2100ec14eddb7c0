"""What the daemon does when a host has used a tool: it goes into the conversation's episode.

Claude Code tells of it with PostToolUse and PostToolUseFailure, and waits: the answer comes at
once, all work is done after it. What the hook could not tell lies in the state folder until the
next hook, or the next daemon, takes it up.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from vaultmind.errors import VaultMindError
from vaultmind.serve.calls.call import Call
from vaultmind.serve.op import LOCAL, MAX_ID, MAX_PATH, OPERATIONS, Arg, operation
from vaultmind.serve.ops.hooks import CLIENT, LATEST
from vaultmind.serve.show import Reader, words
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App

WRITING_SECONDS = 0.03
"""That an answer waits for what it tells of to be written down."""
CATCH_UP_SECONDS = 10.0
"""Which a daemon that has just started may need, to open a linked folder."""

log = logging.getLogger(__name__)

Files = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolUse:
    """What became of a tool's use."""

    waits: bool
    """Whether it is not written down yet: the hook leaves it as an errand, for a daemon that is
    killed. It is known by its id, and written down once."""


@operation("What a tool was used on", writes=True, surfaces=LOCAL)
def after_tool(
    app: App,
    call: Call,
    session_id: Annotated[str, Arg("What the host calls the conversation.", min=1, max=MAX_ID)],
    transcript_path: Annotated[str, Arg("Where the host writes it down.", max=MAX_PATH)] = "",
    id: Annotated[str, Arg("What the host calls the use.", max=MAX_ID)] = "",
    at: Annotated[float, Arg("When, in seconds since 1970.", min=0, max=LATEST)] = 0.0,
    took: Annotated[float, Arg("How many seconds it took; 0: nobody knows.", min=0)] = 0.0,
    tool: Annotated[str, Arg("The tool's name.", max=MAX_ID)] = "",
    cwd: Annotated[str, Arg("The folder that the work happens in.", max=8192)] = "",
    reads: Annotated[Files, Arg("Files that were read.", max=20)] = (),
    edits: Annotated[Files, Arg("Files that were changed.", max=20)] = (),
    made: Annotated[bool, Arg("Whether what was changed is new.")] = False,
    found: Annotated[Files, Arg("Files that a search found.", max=20)] = (),
    query: Annotated[str, Arg("What was searched for.", max=MAX_ID, loose=True)] = "",
    runs: Annotated[Files, Arg("Checks: `yes pytest`, `no npm test`.", max=20)] = (),
    commits: Annotated[bool, Arg("Whether it may have committed something.")] = False,
    chars: Annotated[int, Arg("How long what was read is.", min=0)] = 0,
) -> ToolUse:
    """Take notice of what a host's tool was used on: it goes into the conversation's episode.

    Returns at once, written down or not.
    """
    if not app.config.episodes.hook:
        return ToolUse(waits=False)
    caller = Caller("agent", app.target(call.caller, ""), CLIENT)
    take_left(app, caller.agent or "", session_id)
    noted = _noted(
        app, caller, session_id, transcript_path, at, id=id, took=took, cwd=cwd, reads=reads,
        edits=edits, made=made, found=found, query=query, runs=runs, commits=commits, chars=chars,
    )  # fmt: skip
    with suppress(TimeoutError):
        noted.result(WRITING_SECONDS)
    return ToolUse(waits=not noted.done())


@words(ToolUse)
def _no_words(use: ToolUse, to: Reader) -> Iterator[str]:
    """Yield nothing: nobody is told."""
    yield ""


def take_left(app: App, agent: str = "", session_id: str = "") -> None:
    """Take up what hooks left of tools' uses: of one conversation, or of all."""
    from vaultmind.session.capture import errands
    from vaultmind.vault.paths import agent_name

    state = os.fspath(app.config.state_dir)
    for taken, owner, session, uses in errands.take_uses(state, agent, session_id):
        for use in uses:
            try:
                told = OPERATIONS["after_tool"].check({**use, "session_id": session})
                if app.config.episodes.hook:
                    _noted(app, Caller("agent", agent_name(owner), CLIENT), **told)
            except VaultMindError as error:
                log.warning("what a hook left was dropped: %s", error)
        app.watching.then(partial(errands.drop, taken))


def catch_up(app: App) -> None:
    """Have written down what hooks told so far, as somebody asks for an episode."""
    take_left(app)
    app.watching.wait(CATCH_UP_SECONDS)


def _noted(
    app: App,
    caller: Caller,
    session_id: str,
    transcript_path: str = "",
    at: float = 0.0,
    tool: str = "",
    **use: Any,  # noqa: ANN401
) -> Future[None]:
    from vaultmind.episodes.watch import Use
    from vaultmind.session.capture.asked import Unforgotten, last_prompt

    now = app.clock()
    when = datetime.fromtimestamp(at, now.tzinfo) if at else now
    left = Unforgotten(app.paths, app.tombstones, caller.agent or "")

    def asked() -> str:
        return last_prompt(transcript_path, left) if transcript_path else ""

    seen = Use(time=min(when, now).isoformat(timespec="seconds"), **use)
    return app.watching.used(caller, session_id, seen, asked)
