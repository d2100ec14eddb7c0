"""A sub-agent's past in a context: its last completed runs, in the place of a conversation."""

from __future__ import annotations

from vaultmind.plural import counted
from vaultmind.redact import mask
from vaultmind.session.parts import NO_ROOM, Dropped, Part
from vaultmind.session.subagents import History, Run, RunMessage
from vaultmind.session.window import cut
from vaultmind.tokens import count

MIN_RUN_TOKENS, MAX_NAMED = 40, 10
"""What the newest run is cut to at least where none fits whole; tasks named where one never ran."""


def runs_part(past: History, heading: str, room: int) -> tuple[Part | None, list[Dropped]]:
    """Return as many of the newest runs as fit, oldest first, and what is left out and why.

    Each is whole, but a lone one too large.
    """
    dropped: list[Dropped] = []
    if past.unfinished:
        dropped.append(Dropped("the last run", "it is unfinished: no answer ends it"))
    left = room - count(f"{heading}\n")
    texts: list[str] = []
    for run in reversed(past.runs):
        text = "\n".join(map(_run_line, run.messages))
        cost = count(f"{text}\n---\n")
        if cost > left:
            break
        texts.insert(0, text)
        left -= cost
    whole = len(texts)
    if past.runs and not texts and left >= MIN_RUN_TOKENS:
        texts.append(_cut_run(past.runs[-1], left))
    if len(past.runs) > len(texts):
        dropped.append(Dropped(counted(len(past.runs) - len(texts), "older run"), NO_ROOM))
    if not texts:
        return None, dropped
    text = "\n".join([heading, "\n---\n".join(texts)])
    sources = tuple(dict.fromkeys(run.file for run in past.runs[-len(texts) :]))
    why = counted(whole, "completed run") if whole else "the last run, cut"
    return Part("history", text, count(text), sources, (), why), dropped


def without_runs(past: History) -> str:
    """Return in words that a task has no run, and which have: its name may be mistyped."""
    if past.unfinished:
        return f"No run of the task {past.task!r} is completed yet."
    known = ", ".join(past.others[:MAX_NAMED]) + (", …" if len(past.others) > MAX_NAMED else "")
    there = f"; there are runs of {known}" if known else ""
    return f"There are no runs of the task {past.task!r}{there}."


def _run_line(message: RunMessage) -> str:
    calls = f" [{message.tool_calls}]" if message.tool_calls else ""
    kind = " (call)" if message.is_call and not calls else ""
    return mask(f"{message.role}{kind}: {message.text.strip()}{calls}").text


def _cut_run(run: Run, room: int) -> str:
    """Return a run's request and its answer, each cut to its share."""
    first, last = _run_line(run.messages[0]), _run_line(run.messages[-1])
    if len(run.messages) == 1:
        return cut(last, room)
    request = cut(first, room // 3)
    return f"{request}\n…\n{cut(last, room - count(request) - 4)}"
