"""Saved plans: what was planned and why, kept as a note that is never indexed nor recalled.

The note holds the decision, not the texts: which parts of which files, what was left out, and the
reasons. What files say stands in the files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from vaultmind import redact, tokens
from vaultmind.errors import NotAllowed, VaultMindError, WriteConflict
from vaultmind.memory.forget.taking import Erasable, without_sentences
from vaultmind.memory.forget.wanted import sentences
from vaultmind.planner.types import Piece, Plan, PlanRequest
from vaultmind.plural import counted
from vaultmind.ports import Clock
from vaultmind.types import Caller
from vaultmind.vault.edits import set_property
from vaultmind.vault.files import Change, FileText, VaultReader
from vaultmind.vault.oneline import escape, one_line, unescape
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.properties import front_matter

FOLDER = "plans"
MAX_TOKENS = 2000
"""Size of a saved plan: its lists are cut to that."""
MAX_TASK_TOKENS = 400
MAX_TITLE_TOKENS = 24
MAX_LINE_TOKENS = 80
"""Of one reason."""
LONG_TASK, NO_TASK = "A long task", "A task"
"""Titles: a task that does not fit stands below, and not in part in the title."""
TOO_LONG = "(too long to be kept)"
MORE_OF_IT = "(and more, too long to be kept)"
FINGERPRINT = 8
"""Characters of a task's fingerprint in a file's name."""
TRIES = 50
"""Plans of one task that are saved within a second."""
MORE_TOKENS = 12
"""Of the line that counts what did not fit."""
_UNLINKABLE = set("[]|#^\\")


class Keeping(Protocol):
    """What a saved plan needs of the gate."""

    def keeps_records(self, agent: str) -> bool:
        """Tell whether an agent's records are written down: not at autonomy 0."""
        ...

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> FileText | None:
        """Store a record."""
        ...


@dataclass(frozen=True, slots=True)
class SavedPlan:
    """A saved plan, as a list shows it."""

    path: str
    agent: str
    made: str
    source: str
    task: str
    intent: str
    bytes: int


@dataclass(frozen=True, slots=True)
class SavedPlans:
    """The saved plans there are, newest first."""

    plans: tuple[SavedPlan, ...]
    bytes: int
    max_tokens: int = MAX_TOKENS
    """What one may have."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A plan that is to be saved, and what was planned over."""

    request: PlanRequest
    plan: Plan
    source: str
    """Its name."""
    in_vault: bool
    """Whether Obsidian can open its files."""


class Saver:
    """Writes plans down, through the gate, in the memory of the agent that asked."""

    def __init__(
        self, gate: Keeping, paths: VaultPaths, clock: Clock, agent_of: Callable[[Caller], str]
    ) -> None:
        """`agent_of` names the agent in whose memory a caller's plans are kept."""
        self._gate = gate
        self._paths = paths
        self._clock = clock
        self._agent_of = agent_of

    def save(self, kept: Kept, caller: Caller) -> str:
        """Save a plan and return the note's vault-relative path.

        Raises NotAllowed where no records of the agent are kept, and what the gate raises.
        """
        agent = self._agent_of(caller)
        if caller.kind == "agent" and not self._gate.keeps_records(agent):
            raise NotAllowed(f"The plan was not saved: {agent} is at autonomy 0, which keeps none.")
        now = self._clock()
        text = rendered(kept, now.isoformat(timespec="seconds"), caller.name)
        stem = f"{now:%Y-%m-%d_%H%M%S}_{_stem(kept.plan.intent.task_fingerprint)}"
        for number in range(1, TRIES + 1):
            name = stem if number == 1 else f"{stem}-{number}"
            path = f"{plans_folder(self._paths, agent)}/{name}.md"
            if self._gate.save(path, _new(text), caller, "a plan is saved") is not None:
                return path
        raise WriteConflict(f"The plan was not saved: {TRIES} of this task were in this second.")


def plans_folder(paths: VaultPaths, agent: str) -> str:
    """Return the vault-relative folder of an agent's saved plans."""
    return f"{paths.memory(agent)}/{FOLDER}"


def saved_files(paths: VaultPaths, agent: str) -> Iterator[str]:
    """Yield the vault-relative paths of an agent's saved plans, oldest first."""
    folder = paths.root / plans_folder(paths, agent) if agent else None
    if folder is None or not folder.is_dir() or folder.is_symlink():
        return
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(where, name)
            if name.endswith(".md") and path.is_file() and not path.is_symlink():
                yield paths.relative(path)


PLANS = Erasable("saved plans", saved_files, without_sentences)
"""What an erasure takes out of saved plans; the gate is made with it."""


def saved_plans(reader: VaultReader, paths: VaultPaths, agents: Sequence[str]) -> SavedPlans:
    """Return the saved plans of some agents; what cannot be read is left out."""
    found = []
    for agent in agents:
        for path in saved_files(paths, agent):
            try:
                file = reader.read(path)
            except VaultMindError:
                continue  # it is listed by nobody, and in its place for whoever looks
            found.append(_listed(path, agent, file))
    found.sort(key=lambda one: (one.made, one.path), reverse=True)
    return SavedPlans(tuple(found), sum(one.bytes for one in found))


def rendered(kept: Kept, made: str, by: str) -> str:
    """Return a saved plan's note: never more than `MAX_TOKENS`, no secrets, no file's text."""
    task, plan = _task(kept.request.task), kept.plan
    title = task if tokens.count(task) <= MAX_TITLE_TOKENS else LONG_TASK
    text = f"{_front_matter(kept, made, by)}# {escape(title or NO_TASK)}\n"
    text += _below(task) if title == LONG_TASK else ""
    sections = (
        ("To read", [_piece(piece, kept.in_vault) for piece in plan.context.pieces]),
        ("Why", [escape(_line(one)) for one in plan.decision_trace]),
        ("Missing", [escape(_line(one)) for one in plan.notes]),
        ("Left out", [escape(_line(f"{a.file}: {a.reason}")) for a in plan.dropped_candidates]),
    )
    for place, (heading, lines) in enumerate(sections):
        share = (MAX_TOKENS - tokens.count(text)) // (len(sections) - place)
        room = max(share, 0) if place else MAX_TOKENS // 2
        text += _section(heading, lines, room)
    return text


def _front_matter(kept: Kept, made: str, by: str) -> str:
    intent, budget, request = kept.plan.intent, kept.plan.budget_report, kept.request
    properties: dict[str, str | int | float] = {
        "plan": "context",
        "made": made,
        "by": by,
        "source": kept.source,
        "intent": intent.predicted,
        "confidence": round(intent.confidence, 2),
        "risk": intent.risk,
        "fingerprint": intent.task_fingerprint,
        "token_budget": budget.token_budget,
        "tokens": budget.estimated_used,
        "ml_mode": request.ml_mode,
        "model": kept.plan.model,
        "session": request.session_id,
    }
    text = ""
    for key, value in properties.items():
        if value != "":
            text = set_property(text, key, _line(value) if isinstance(value, str) else value)
    return f"{text}\n"


def _section(heading: str, lines: Sequence[str], room: int) -> str:
    """Return a list under its heading within so many tokens; what does not fit is counted."""
    if not lines:
        return ""
    text = f"\n## {heading}\n\n"
    room -= tokens.count(text) + MORE_TOKENS
    for number, line in enumerate(lines):
        room -= tokens.count(f"- {line}\n") + 1
        if room < 0:
            return f"{text}- … and {len(lines) - number:,} more\n"
        text += f"- {line}\n"
    return text


def _piece(piece: Piece, in_vault: bool) -> str:
    """Return a part of a file in a line: a link where Obsidian can open it."""
    part = piece.part if piece.part.startswith("#") else ""
    place = f"{piece.path}{part}"
    linkable = in_vault and not _UNLINKABLE & set(piece.path) and "]" not in part
    shown = f"[[{place}]]" if linkable and not part.startswith("#^") else escape(place)
    named = f" {escape(piece.part)}" if piece.part and not part else ""
    lines = f", lines {piece.first_line} to {piece.last_line}" if piece.last_line else ""
    return f"{shown}{named}{lines}, {counted(piece.tokens, 'token')}"


def _task(text: str) -> str:
    """Return a task on one line, without secrets and private passages."""
    return one_line(redact.mask(redact.blank_private(text)).text)


def _below(task: str) -> str:
    """Return a long task as a paragraph, or those of its first sentences that fit.

    No sentence stands there in part: an erasure knows a sentence by the whole of it.
    """
    told = task
    while tokens.count(told) > MAX_TASK_TOKENS:
        kept = sentences(tokens.clip(told, MAX_TASK_TOKENS, mark=""))
        told = " ".join(kept[:-1])  # the last one is cut
    rest = f"\n{TOO_LONG if not told else MORE_OF_IT}\n" if told != task else ""
    return (f"\n{escape(told)}\n" if told else "") + rest


def _line(text: str) -> str:
    """Return a text on one line; never a part of one that is too long, as of a task."""
    line = one_line(redact.mask(text).text)
    return line if tokens.count(line) <= MAX_LINE_TOKENS else TOO_LONG


def _new(text: str) -> Change:
    return lambda file: text if file is None else None


def _stem(fingerprint: str) -> str:
    return "".join(c for c in fingerprint.lower() if c in "0123456789abcdef")[:FINGERPRINT] or "0"


def _listed(path: str, agent: str, file: FileText) -> SavedPlan:
    found = front_matter(file.text)
    held = found.properties if found is not None and not found.fault else {}
    said = {name: one_line(str(held.get(name) or "")) for name in ("made", "source", "intent")}
    lines = [line for line in file.text.splitlines() if line]
    at = next((at for at, line in enumerate(lines) if line.startswith("# ")), 0)
    task = unescape("".join(lines[at : at + 1]).removeprefix("# "))
    below = "".join(lines[at + 1 : at + 2])
    if task == LONG_TASK and below and not below.startswith("## "):
        task = unescape(below)
    return SavedPlan(path, agent, **said, task=task, bytes=len(file.text.encode()))
