"""A sub-agent's past in a context: its last completed runs, in the place of a conversation."""

from __future__ import annotations

from collections.abc import Sequence

from vaultmind.plural import counted
from vaultmind.redact import mask
from vaultmind.session.context.budget import cut
from vaultmind.session.context.draft import Draft
from vaultmind.session.context.headings import headings
from vaultmind.session.context.parts import NO_ROOM, Part
from vaultmind.session.subagents import History, Run, RunMessage
from vaultmind.tokens import count

BETWEEN_RUNS = "---"
MAX_NAMED = 10
"""Tasks that are named to whoever asks for one that never ran."""
MIN_RUN_TOKENS = 40
"""The newest run is cut to no less than so much where none fits whole."""


def add_runs(draft: Draft, history: History, language: str) -> None:
    """Add as many of the newest runs as fit, oldest first; each whole, but a lone one too large."""
    draft.notes.extend(history.warnings)
    if not draft.wants("history"):
        return
    if history.unfinished:
        draft.drop("the last run", "it is unfinished: no answer ends it")
    if not history.runs:
        draft.notes.append(_none(history))
        return
    heading = headings(language).history
    left = draft.purse.room - count(f"{heading}\n")
    shown: list[str] = []
    for run in reversed(history.runs):
        text = _text(run.messages)
        cost = count(f"{text}\n{BETWEEN_RUNS}\n")
        if cost > left:
            break
        shown.insert(0, text)
        left -= cost
    whole = len(shown)
    if not shown and left >= MIN_RUN_TOKENS:
        shown.append(_cut(history.runs[-1], left))
    if len(history.runs) > len(shown):
        draft.drop(counted(len(history.runs) - len(shown), "older run"), NO_ROOM)
    if not shown:
        return
    text = "\n".join([heading, f"\n{BETWEEN_RUNS}\n".join(shown)])
    sources = tuple(dict.fromkeys(run.file for run in history.runs[-len(shown) :]))
    why = counted(whole, "completed run") if whole else "the last run, cut"
    draft.add(Part("history", text, count(text), sources, (), why))


def _none(history: History) -> str:
    """Return in words that a task has no run, and which have: its name may be mistyped."""
    if history.unfinished:
        return f"No run of the task {history.task!r} is completed yet."
    known = history.others[:MAX_NAMED]
    more = ", …" if len(history.others) > len(known) else ""
    there = f"; there are runs of {', '.join(known)}{more}" if known else ""
    return f"There are no runs of the task {history.task!r}{there}."


def _text(messages: Sequence[RunMessage]) -> str:
    return "\n".join(_line(message) for message in messages)


def _line(message: RunMessage) -> str:
    calls = f" [{message.tool_calls}]" if message.tool_calls else ""
    kind = " (call)" if message.is_call and not calls else ""
    return mask(f"{message.role}{kind}: {message.text.strip()}{calls}").text


def _cut(run: Run, room: int) -> str:
    """Return a run's request and its answer, each cut to its share."""
    first, last = _line(run.messages[0]), _line(run.messages[-1])
    if len(run.messages) == 1:
        return cut(last, room)
    request = cut(first, room // 3)
    return f"{request}\n…\n{cut(last, room - count(request) - 4)}"
