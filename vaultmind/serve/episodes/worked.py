"""What agents did as it may be shown, and in a line of a status: what runs, what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from vaultmind import redact
from vaultmind.episodes.types import TASK
from vaultmind.errors import VaultMindError
from vaultmind.plural import counted
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.episodes.types import Episode

MAX_TASK = 60
"""Characters of a task that a status shows."""


@dataclass(frozen=True, slots=True)
class Brief:
    """How much was kept of what agents did: an agent is told of its own alone."""

    running: tuple[str, ...] = ()
    """Names of those that go on, here."""
    kept: int = 0
    last: str = ""
    """The one that began last."""
    outcomes: Mapping[str, int] = field(default_factory=dict)
    """Of those that are over, for the person."""
    shrunk: int = 0
    """Past their retention."""
    words: str = ""


def brief(app: App, caller: Caller) -> Brief:
    """Return what was kept, for whoever asks for the status."""
    own = caller.agent if caller.kind == "agent" else ""
    notes = app.episodes.files.names(own)
    agents = (own,) if own else app.paths.agent_names()
    running = [one for agent in agents for one in app.episodes.recorder.running(agent)]
    names = tuple(one.name for one in running)
    last = notes[-1] if notes else ""
    if own:
        words = f"Running episode: {', '.join(names)}." if names else ""
        return Brief(names, len(notes), last, words=words)
    words = _words(app, running, last, len(notes))
    try:
        tables = app.episodes.tables
        outcomes, shrunk = tables.outcomes(), len(tables.names(state="shrunk"))
    except VaultMindError as error:  # the notes are all there; only what is counted is not
        return Brief(names, len(notes), last, words=f"{words} · not counted: {error}")
    return Brief(names, len(notes), last, outcomes, shrunk, words)


def seen(app: App, episode: Episode) -> tuple[Episode, int]:
    """Return an episode without what was forgotten or is secret, and how many parts that hid."""
    hides = app.tombstones.hider(episode.agent)
    record = app.paths.episode(episode.agent, episode.id).removesuffix(".md")
    events = tuple(one for one in episode.events if not hides(record, one.block))
    task, why = hides(record, TASK), hides(record, episode.why_block)
    shown = replace(
        episode,
        events=events,
        task=replace(episode.task, text="" if task else _clean(episode.task.text)),
        rationale="" if why else _clean(episode.rationale),
    )
    return shown, len(episode.events) - len(events) + task


def _clean(text: str) -> str:
    """Return what a person may have written into a note, without secrets."""
    return redact.mask(redact.blank_passages(text)).text


def _words(app: App, running: list[Episode], last: str, kept: int) -> str:
    """Return it in a line, for the person."""
    if not kept:
        return "none kept yet"
    parts = [f"{counted(kept, 'note')}"]
    parts += [f"running: {_task(app, one)}" for one in running]
    if last and last not in (one.name for one in running):
        try:
            one = app.episodes.files.read(last)
        except VaultMindError as error:
            parts.append(f"the last cannot be read: {error}")
        else:
            parts.append(f"last: {_task(app, one)} ({one.outcome})")
    return " · ".join(parts)


def _task(app: App, one: Episode) -> str:
    task = seen(app, one)[0].task.text or "…"
    return f"{one.name} “{task if len(task) <= MAX_TASK else task[:MAX_TASK] + '…'}”"
