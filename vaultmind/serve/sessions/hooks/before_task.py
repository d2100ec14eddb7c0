"""What the daemon does when a host is about to start a sub-agent: it plans what to read first.

Claude Code asks with PreToolUse of its tool `Task` (`Agent` by its newer name). The plan is over
the source that the work happens in: the vault, or a folder that the person linked. Anywhere else,
and where nothing belongs to the task, nothing is put before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind.serve.calls.call import Call
from vaultmind.serve.calls.requests import MAX_ID
from vaultmind.serve.calls.schema import arg
from vaultmind.serve.planning import planning

if TYPE_CHECKING:
    from vaultmind.app import App

TOKENS = 2000
"""Of a plan before a prompt: a sub-agent reads on by itself."""
LATENCY_MS = 100
OPENING = "Read this first: what VaultMind found worth reading for the task below."
TASK = "The task:"


@dataclass(frozen=True, slots=True)
class BeforeTaskArgs:
    """Arguments of before_task: what Claude Code says of a sub-agent that is about to start."""

    prompt: str = arg("What the sub-agent is asked.", min=1, max=planning.MAX_TASK, loose=True)
    cwd: str = arg("The folder that the work happens in.", min=1, max=planning.MAX_ROOT)
    session_id: str = arg("What the host calls the conversation.", default="", max=MAX_ID)


@dataclass(frozen=True, slots=True)
class BeforeTask:
    """What is put before a sub-agent's prompt."""

    source: str
    """Over which it was planned; empty where the folder lies in none."""
    files: tuple[str, ...] = ()
    text: str = ""
    """Empty where there is nothing to say."""


def run(app: App, call: Call, args: BeforeTaskArgs) -> BeforeTask:
    """Return what a sub-agent should read first; nothing where that is switched off.

    What was planned before already is not planned again: a prompt may be handed on.
    """
    folder = Path(args.cwd)
    if not app.config.plan.hook or not folder.is_absolute():
        return BeforeTask("")
    source = app.sources.holding(folder)
    if source is None:
        return BeforeTask("")
    from vaultmind.planner.intent import names_nothing  # its patterns cost a start 20 ms

    if OPENING in args.prompt or names_nothing(args.prompt):
        return BeforeTask(source.name)
    asked = planning.PlanArgs(
        task=args.prompt,
        project_root=source.name,
        token_budget=TOKENS,
        latency_budget_ms=LATENCY_MS,
        session_id=args.session_id,
    )
    planned = planning.run(app, call, asked)
    if not planned.plan.context.files:
        return BeforeTask(source.name)
    from vaultmind.serve.calls.call import mark_for

    text = planning.words(planned, mark_for(call.caller))
    return BeforeTask(source.name, planned.plan.context.files, f"{OPENING}\n\n{text}\n\n{TASK}\n\n")


def words(response: BeforeTask, mark: str = "") -> str:
    """Return what is put before the prompt."""
    return response.text
