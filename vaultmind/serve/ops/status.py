"""How VaultMind is, gathered from all there is to tell of, and a check of everything."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from vaultmind import __version__
from vaultmind.errors import VaultMindError
from vaultmind.index.folder import walked
from vaultmind.serve.call import Call
from vaultmind.serve.op import NOT_MCP, operation
from vaultmind.serve.ops.changes import waiting_for, waiting_words
from vaultmind.serve.ops.consolidation import Background, background
from vaultmind.serve.ops.episodes import KeptWork, kept_work, recent_gain
from vaultmind.serve.ops.search import index_words, seen_state, sends_words
from vaultmind.serve.ops.sources import phase, state_notes, state_words
from vaultmind.serve.show import FOR_PERSON, Reader, in_words, words
from vaultmind.types import Caller, IndexState
from vaultmind.vault.scan import conflict_fault

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.episodes.gains import Figures
    from vaultmind.planner.plan import PlanFigures
    from vaultmind.planner.sources import SourceState

SHOWN_FAULTS = 10
"""Faulty files named one by one; the rest is a number."""
_COPY = re.compile(r"(audit|tombstones)-(?![A-Za-z0-9-]+\.jsonl$).+\.jsonl")
"""The name of a copy that a sync program made of an audit file."""


@dataclass(frozen=True, slots=True)
class Status:
    """How VaultMind is, for whoever asks; an agent is not told folders outside the vault."""

    version: str
    pid: int = field(metadata=FOR_PERSON)
    vault: str
    memory_folder: str
    state_folder: str = field(metadata=FOR_PERSON)
    agent: str
    """Whose memory this caller writes to."""
    agents: tuple[str, ...]
    index: IndexState
    warnings: tuple[str, ...]
    """Configuration that was found and not taken; rights that are asked for and not in force; what
    is damaged."""
    waiting: int
    waiting_words: str
    consolidation: Background
    planning: PlanFigures
    """How planning went since the daemon started."""
    sources: tuple[SourceState, ...]
    gain: Figures | None = field(metadata=FOR_PERSON)
    """Of the last month."""
    episodes: KeptWork
    models: tuple[str, ...]
    """The rankers in use, as `model status` names them."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `mend` says what to do where it is not well."""

    name: str
    result: Literal["ok", "warn", "fail"]
    what: str
    mend: str = ""


@dataclass(frozen=True, slots=True)
class Examination:
    """All checks, in the order in which a fault explains those after it."""

    checks: tuple[Check, ...]


@operation("Status of the memory", prose=True)
def memory_status(app: App, call: Call) -> Status:
    """How complete the index is and what is missing. For when a search finds too little."""
    caller, config = call.caller, app.config
    waiting, state = waiting_for(app, caller), seen_state(app, caller)
    rows = (one for one in app.learning.models.rows() if one.active)
    used = [one for one in rows if one.kind == "planner" or one.of in ("", state.embedder)]
    return Status(
        version=__version__,
        pid=os.getpid(),
        vault=str(config.vault),
        memory_folder=config.memory_dir,
        state_folder=str(config.state_dir),
        agent=caller.agent or config.agent,
        agents=app.index.outlet.readable_agents(caller),
        index=state,
        warnings=tuple(_warnings(app, caller)),
        waiting=waiting.count,
        waiting_words=waiting_words(waiting),
        consolidation=background(app, caller),
        planning=app.planner.figures,
        sources=tuple(app.sources.states()),
        gain=recent_gain(app, caller) if caller.kind == "person" else None,
        episodes=kept_work(app, caller),
        models=tuple(f"{one.id} ({one.of})" for one in used),
    )


@words(Status)
def _status_words(status: Status, to: Reader) -> Iterator[str]:
    agents = ", ".join(status.agents) or "none yet"
    yield f"VaultMind {status.version}, vault {status.vault}, agent {status.agent} (of {agents})."
    yield from index_words(status.index, to)
    yield status.waiting_words
    yield f"Consolidation: {status.consolidation.words}."
    yield f"Episodes: {status.episodes.words}."
    if not to.mark:
        plans, gain = status.planning, status.gain
        if plans.plans:
            yield "Plans since the daemon started:"
            yield from (f"  {line}" for line in in_words(plans))
        if gain and gain.episodes:
            yield "Plans and episodes of 30 days:"
            yield from (f"  {line}" for line in in_words(gain))
        yield f"State in {status.state_folder} (safe to delete)."
    yield f"Ranked by {', '.join(status.models)}." if status.models else ""
    linked = (one for one in status.sources if one.kind == "linked")
    yield from (f"Linked: {one.name}: {state_words(one)}." for one in linked)
    yield from (warning if to.mark else f"! {warning}" for warning in status.warnings)


def _warnings(app: App, caller: Caller) -> Iterator[str]:
    """Yield what is amiss in configuration, phrases, the agents' rights and memory files.

    A person is told of all agents; an agent of itself, and of nothing outside the vault.
    """
    from vaultmind.memory.brain import MEND, WRITING_WAITS, damage, fault
    from vaultmind.session.files import read_text

    yield from app.config.warnings
    yield from app.words.faults()
    person = caller.kind == "person"
    if person and app.authority.fault:
        yield f"{app.authority.fault}. Remove the file, then allow again what you had allowed."
    for name in app.paths.agent_names() if person else filter(None, (caller.agent,)):
        brain = app.paths.brain(name)
        try:
            if faults := app.authority.identity(name).faults:
                yield f"{app.paths.identity(name)}: {'; '.join(faults)}."
            elif waiting := app.authority.waiting(name):
                how = f"If you want that: vaultmind agents allow {name}"
                how = how if person else "Only the person can allow that, at the command line."
                yield f"{name} asks for more than is in force: {', '.join(waiting)}. {how}"
            text, reason = read_text(app.reader, brain)
        except VaultMindError as error:
            text, reason = "", str(error)
        if reason := reason or damage(text):
            yield f"{brain} is damaged: {reason}. {WRITING_WAITS} {MEND}"
        elif broken := fault(text):
            yield f"{brain}: {broken}. {MEND}"


# --- the doctor ---------------------------------------------------------------------------


@operation("Check everything", surfaces=NOT_MCP)
def doctor(app: App, call: Call) -> Examination:
    """Check vault, memory, embedder and index, and say how to mend what is broken.

    A check that breaks is itself a failed check.
    """
    checks: list[Check] = []
    for look in (_folders, _memory, _audits, _index, _files, _linked, _work):
        try:
            checks += look(app, call.caller)
        except (VaultMindError, OSError) as error:
            name = look.__name__.strip("_")
            checks.append(Check(name, "fail", str(error), "See the daemon's log."))
    return Examination(tuple(checks))


@words(Examination)
def _examination_words(found: Examination, to: Reader) -> Iterator[str]:
    marks = {"ok": "✓", "warn": "!", "fail": "✗"}
    for check in found.checks:
        yield f"{marks[check.result]} {check.name}: {check.what}"
        yield f"  → {check.mend}" if check.mend else ""


def _folders(app: App, caller: Caller) -> Iterator[Check]:
    vault, memory = app.config.vault, app.config.vault / app.config.memory_dir
    state = app.config.state_dir
    mode = stat.S_IMODE(state.stat().st_mode)
    if os.access(vault, os.R_OK | os.X_OK):
        yield Check("vault", "ok", f"{vault} is readable.")
    else:
        yield Check("vault", "fail", f"{vault} cannot be read.", "Give your user the right to.")
    if not memory.exists():
        told, mend = f"{memory.name}/ does not exist yet.", "It is made by `vaultmind init`."
        yield Check("memory folder", "warn", told, mend)
    elif memory.is_symlink() or not memory.is_dir() or not os.access(memory, os.W_OK | os.X_OK):
        told = f"{memory} is no plain folder that can be written: nothing can be remembered."
        mend = "Put a real folder in its place, or give your user the right to write there."
        yield Check("memory folder", "fail", told, mend)
    else:
        yield Check("memory folder", "ok", f"{memory} can be written.")
    if mode & 0o077:
        told = f"{state} is open to others (mode {mode:04o})."
        yield Check("state folder", "warn", told, f"Run: chmod 700 {state}")
    elif state.resolve().is_relative_to(vault.resolve()):
        told = f"{state} lies inside the vault: a sync would copy a database."
        yield Check("state folder", "warn", told, "Set `state_dir` to a folder outside.")
    else:
        yield Check("state folder", "ok", f"{state} is yours alone.")


def _memory(app: App, caller: Caller) -> Iterator[Check]:
    told = [Check("memory", "warn", one) for one in _warnings(app, caller)]
    agents = ", ".join(app.index.outlet.readable_agents(caller)) or "none yet"
    what = f"Agents: {agents}; configuration, rights and brains are sound."
    yield from told or [Check("memory", "ok", what)]


def _audits(app: App, caller: Caller) -> Iterator[Check]:
    """Look for copies of audit files that a sync program made."""
    agents = app.index.outlet.readable_agents(caller)
    folders = [app.paths.root / app.paths.memory(agent) for agent in agents]
    copies = [one for folder in folders for one in folder.glob("*") if _COPY.fullmatch(one.name)]
    mend = "It is not part of the log. Compare it with the file it was copied from, then remove "
    mend += "it; a copy of tombstones still hides what it names."
    for path in copies:
        told = f"{path.relative_to(app.paths.root)} is a copy that a sync program made."
        yield Check("audit", "warn", told, mend)
    if not copies:
        yield Check("audit", "ok", "No copy of an audit file lies in the memory folder.")


def _index(app: App, caller: Caller) -> Iterator[Check]:
    state, named = app.index.state(), app.config.index.embedder
    notes, chunks = " ".join(state.notes), f"{state.indexed} of {state.files} files are indexed"
    if state.phase == "failed":
        mend = "Run `vaultmind reindex`; the vault rebuilds it."
        yield Check("index", "fail", notes or "The index failed to load.", mend)
        return
    ready = state.phase == "ready"
    mend = "" if ready else "Wait, or run `vaultmind index` to watch it."
    yield Check("index", "ok" if ready else "warn", f"{chunks}, {state.chunks} chunks.", mend)
    if named == "none":
        yield Check("embedder", "ok", "Switched off (`none`): search goes by words alone.")
    elif state.loading:
        told = f"`{named}` is still being loaded: search by words only."
        yield Check("embedder", "warn", told, "Ask again in a moment.")
    elif not state.embedder:
        mend = "Reinstall vaultmind, or set index.embedder to `use` or `none`."
        told = f"`{named}` did not load. {notes}".strip()
        yield Check("embedder", "fail" if ready else "warn", told, mend)
    else:
        told = f"{state.embedder} is loaded, {state.vectors} vectors. {sends_words(state.sends_to)}"
        mend = "It mends itself in the background; `vaultmind reindex` starts anew."
        told = f"{told.strip()} {notes}".strip()
        yield Check("embedder", "warn" if notes else "ok", told, mend if notes else "")


def _files(app: App, caller: Caller) -> Iterator[Check]:
    state, outlet = app.index.state(), app.index.outlet
    rules = outlet.rules
    known = (one for one in state.faults if not rules.is_conflict_copy(one.path))
    in_memory = walked(app.config.memory_dir, outlet.folder, rules)  # now: no index may know yet
    copies = (conflict_fault(path) for path in in_memory if rules.is_conflict_copy(path))
    faults = [one for one in (*copies, *known) if outlet.names(one.path, caller)]
    for fault in faults[:SHOWN_FAULTS]:
        mend = "It was left alone; mend or exclude it (index.exclude)."
        if rules.is_conflict_copy(fault.path):
            mend = "Compare it with its original in Obsidian, then remove one of them."
        elif fault.severity == "partial":
            mend = "It is indexed all the same; open it in Obsidian and mend what is named."
        yield Check("file", "warn", f"{fault.path}: {fault.reason}", mend)
    if (more := len(faults) - SHOWN_FAULTS) > 0:
        yield Check("file", "warn", f"{more} more files have faults.", "See `vaultmind status`.")
    if state.phase not in ("ready", "failed"):  # what is not read yet may have any fault
        what = f"{state.indexed} of {state.files} files were read: what is said is not all."
        yield Check("files", "warn", what, "Run `vaultmind index`, then this again.")
    elif not faults:
        yield Check("files", "ok", f"{state.files} files, none with a fault.")


def _linked(app: App, caller: Caller) -> Iterator[Check]:
    """Look at what is linked, for the person: an agent is not told folders outside the vault."""
    for one in app.sources.states() if caller.kind == "person" else ():
        if one.kind == "linked" and one.there and phase(one) != "failed":
            yield Check("linked folder", "ok", f"{one.name}: {state_words(one)}.")
        elif one.kind == "linked":
            mend = f"Bring it back, or: vaultmind unlink {one.name}"
            told = f"{one.name}: {' '.join(state_notes(one))}"
            yield Check("linked folder", "warn", told, mend)


def _work(app: App, caller: Caller) -> Iterator[Check]:
    """Look at the notes of what agents did, and at the models that were learnt of them."""
    agents = app.index.outlet.readable_agents(caller)
    app.episodes.settle()
    faulty = app.episodes.tables.faulty().items()
    told = [f"{app.episodes.files.path(name)}: {why}" for name, why in faulty
            if name.partition("/")[0] in agents]  # fmt: skip
    faults = app.learning.status().faults
    mend = "Mend the note, or delete it; until then it is never shrunk."
    yield from (Check("episodes", "warn", one, mend) for one in told)
    mend = "Delete the file, or put it back from a backup; until then it ranks nothing."
    yield from (Check("models", "warn", why, mend) for why in faults)
    if not told and not faults:
        yield Check("episodes", "ok", "All notes of episodes and learnt models are readable.")
