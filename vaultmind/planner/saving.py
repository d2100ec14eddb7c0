"""Saved plans: what was planned and why, kept as a note that is never indexed nor recalled.

The note holds the decision, not the texts: which parts of which files, what was left out, and the
reasons. What files say stands in the files.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from vaultmind import redact, tokens
from vaultmind.errors import NotAllowed, WriteConflict
from vaultmind.memory.forget.taking import Erasable, sentences, without_sentences
from vaultmind.planner.types import Piece, Plan, PlanRequest
from vaultmind.plural import counted
from vaultmind.types import Caller
from vaultmind.vault.edits import set_property
from vaultmind.vault.oneline import escape, one_line
from vaultmind.vault.paths import VaultPaths

if TYPE_CHECKING:
    from vaultmind.memory.gate import Gate

MAX_TOKENS = 2000
"""Size of a saved plan: its lists are cut to that."""
MAX_TASK_TOKENS, MAX_TITLE_TOKENS = 400, 24
MAX_LINE_TOKENS = 80
"""Of one reason."""
LONG_TASK = "A long task"
"""Title: a task that does not fit stands below, and not in part in the title."""
TOO_LONG = "(too long to be kept)"
MORE_OF_IT = "(and more, too long to be kept)"
MORE_TOKENS = 12
"""Of the line that counts what did not fit."""
TRIES = 50
"""Plans of one task that are saved within a second."""
_UNLINKABLE = set("[]|#^\\")


@dataclass(frozen=True, slots=True)
class Kept:
    """A plan that is to be saved."""

    request: PlanRequest
    plan: Plan
    in_vault: bool
    """Whether Obsidian can open its files."""


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
    for number in range(1, TRIES + 1):
        name = stem if number == 1 else f"{stem}-{number}"
        path = f"{paths.memory(agent)}/plans/{name}.md"
        change = lambda file: text if file is None else None  # noqa: E731
        if gate.save(path, change, caller, "a plan is saved") is not None:
            return path
    raise WriteConflict(f"The plan was not saved: {TRIES} of this task were in this second.")


PLANS = Erasable("saved plans", r"agents/[^/]+/memory/plans/.*\.md", without_sentences)
"""What an erasure takes out of saved plans; the gate is made with it."""


def rendered(kept: Kept, made: str, by: str) -> str:
    """Return a saved plan's note: never more than `MAX_TOKENS`, no secrets, no file's text."""
    plan, intent, request, text = kept.plan, kept.plan.intent, kept.request, ""
    report = plan.budget_report
    properties: dict[str, str | int | float] = {
        "plan": "context", "made": made, "by": by, "source": request.project_root,
        "intent": intent.predicted, "confidence": round(intent.confidence, 2),
        "risk": intent.risk, "fingerprint": intent.task_fingerprint,
        "token_budget": report.token_budget, "tokens": report.estimated_used,
        "ml_mode": request.ml_mode, "model": plan.model, "session": request.session_id,
    }  # fmt: skip
    for key, value in properties.items():
        if value != "":
            text = set_property(text, key, _line(value) if isinstance(value, str) else value)
    text += f"\n{_task(request.task)}"
    sections = {
        "To read": [_piece(piece, kept.in_vault) for piece in plan.context.pieces],
        "Why": [escape(_line(one)) for one in plan.decision_trace],
        "Missing": [escape(_line(one)) for one in plan.notes],
        "Left out": [escape(_line(f"{a.file}: {a.reason}")) for a in plan.dropped_candidates],
    }
    for place, (heading, lines) in enumerate(sections.items()):
        room = max(0, MAX_TOKENS - tokens.count(text)) // (len(sections) - place)
        text += f"\n## {heading}\n\n" if lines else ""
        room = (room if place else MAX_TOKENS // 2) - MORE_TOKENS
        for number, line in enumerate(lines):
            room -= tokens.count(f"- {line}\n") + 1
            if room < 0:
                text += f"- … and {len(lines) - number:,} more\n"
                break
            text += f"- {line}\n"
    return text


def _piece(piece: Piece, in_vault: bool) -> str:
    """Return a part of a file in a line: a link where Obsidian can open it."""
    part = piece.part if piece.part.startswith("#") else ""
    place = f"{piece.path}{part}"
    is_link = in_vault and not _UNLINKABLE & set(piece.path) and "]" not in part
    shown = f"[[{place}]]" if is_link and not part.startswith("#^") else escape(place)
    named = f" {escape(piece.part)}" if piece.part and not part else ""
    lines = f", lines {piece.first_line} to {piece.last_line}" if piece.last_line else ""
    return f"{shown}{named}{lines}, {counted(piece.tokens, 'token')}"


def _task(text: str) -> str:
    """Return a task as the note's title; a long one as a paragraph below, in whole sentences.

    No sentence stands there in part: an erasure knows a sentence by the whole of it.
    """
    task, kept = one_line(redact.mask(redact.blank_private(text)).text), list[str]()
    if tokens.count(task) <= MAX_TITLE_TOKENS:
        return f"# {escape(task or 'A task')}\n"
    for one in (every := sentences(task)):
        if tokens.count(" ".join([*kept, one])) > MAX_TASK_TOKENS:
            break
        kept.append(one)
    more = [] if len(kept) == len(every) else [MORE_OF_IT if kept else TOO_LONG]
    return (
        "\n\n".join([f"# {LONG_TASK}", *([escape(" ".join(kept))] if kept else []), *more]) + "\n"
    )


def _line(text: str) -> str:
    """Return a text on one line; never a part of one that is too long, as of a task."""
    line = one_line(redact.mask(text).text)
    return line if tokens.count(line) <= MAX_LINE_TOKENS else TOO_LONG
