"""Saved plans: what was planned and why, kept as a note that is never indexed nor recalled.

The note holds the decision, not the texts. What does not fit is left out whole, never cut: an
erasure knows a sentence by the whole of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from vaultmind import redact, tokens
from vaultmind.errors import NotAllowed, WriteConflict
from vaultmind.memory.forget.taking import Erasable, without_sentences
from vaultmind.planner.types import Plan, PlanRequest
from vaultmind.types import Caller
from vaultmind.vault.edits import set_property
from vaultmind.vault.oneline import escape, one_line
from vaultmind.vault.paths import VaultPaths

if TYPE_CHECKING:
    from vaultmind.memory.gate import Gate

MAX_TOKENS = 2000
"""Size of a saved plan: each of its parts gets a share of it."""
TASK_TOKENS, SECTION_TOKENS, LINE_TOKENS = 400, 450, 100
TOO_LONG = "(too long to be kept)"
TRIES = 50
"""Plans of one task that are saved within a second."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A plan that is to be saved."""

    request: PlanRequest
    plan: Plan


def save_plan(
    gate: Gate, paths: VaultPaths, now: datetime, kept: Kept, agent: str, caller: Caller
) -> str:
    """Save a plan in the memory of an agent, through the gate; return the note's path.

    Raises NotAllowed where no records of the agent are kept, and what the gate raises.
    """
    if caller.kind == "agent" and not gate.keeps_records(agent):
        raise NotAllowed(f"The plan was not saved: {agent} is at autonomy 0, which keeps none.")
    text = rendered(kept, now.isoformat(timespec="seconds"), caller.name)
    stem = f"{now:%Y-%m-%d_%H%M%S}_{kept.plan.intent.task_fingerprint[:8]}"
    for name in (stem, *(f"{stem}-{number}" for number in range(2, TRIES + 1))):
        path = f"{paths.memory(agent)}/plans/{name}.md"
        if gate.save(path, lambda file: None if file else text, caller, "a plan is saved"):
            return path
    raise WriteConflict(f"The plan was not saved: {TRIES} of this task were in this second.")


PLANS = Erasable("saved plans", r"agents/[^/]+/memory/plans/.*\.md", without_sentences)
"""What an erasure takes out of saved plans; the gate is made with it."""


def rendered(kept: Kept, made: str, by: str) -> str:
    """Return a saved plan's note: never more than `MAX_TOKENS`, no secrets, no file's text."""
    plan, intent, request, text = kept.plan, kept.plan.intent, kept.request, ""
    properties: dict[str, str | int] = {
        "plan": "context", "made": made, "by": by, "source": request.project_root,
        "intent": intent.predicted, "risk": intent.risk, "fingerprint": intent.task_fingerprint,
        "tokens": plan.budget_report.estimated_used, "session": request.session_id,
    }  # fmt: skip
    for key, value in properties.items():
        if value != "":
            text = set_property(text, key, _line(value) if isinstance(value, str) else value)
    text += f"\n# Plan\n\n{_line(redact.blank_private(request.task), TASK_TOKENS)}\n"
    text += _section("Why", [*map(_line, plan.decision_trace)])
    text += _section("Missing", [*map(_line, plan.notes)])
    left = [_line(f"{one.file}: {one.reason}") for one in plan.dropped_candidates]
    return text + _section("Left out", left)


def _section(heading: str, lines: Sequence[str]) -> str:
    """Return a list under its heading, as far as there is room, and how much more there is."""
    text, room = f"\n## {heading}\n\n", SECTION_TOKENS
    for number, line in enumerate(lines):
        room -= tokens.count(f"- {line}\n") + 1
        if room < 0:
            return f"{text}- … and {len(lines) - number:,} more\n"
        text += f"- {line}\n"
    return text if lines else ""


def _line(text: str, most: int = LINE_TOKENS) -> str:
    """Return a text on one line of Markdown; nothing of one that is too long."""
    line = one_line(redact.mask(text).text)
    return escape(line) if tokens.count(line) <= most else TOO_LONG
