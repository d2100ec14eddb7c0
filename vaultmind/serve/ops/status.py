"""How VaultMind is, gathered from all there is to tell of, and a check of everything."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from vaultmind import __version__
from vaultmind.errors import VaultMindError
from vaultmind.plural import counted
from vaultmind.serve.call import Call
from vaultmind.serve.op import NOT_MCP, operation
from vaultmind.serve.ops.consolidation import Background, background
from vaultmind.serve.ops.indexing import index_words, seen_state, sends_words
from vaultmind.serve.ops.past_work import KeptWork, kept_work, recent_gain
from vaultmind.serve.ops.sources import SourceStatus, source_statuses
from vaultmind.serve.ops.suggestions import Waiting, waiting_for, waiting_words
from vaultmind.serve.show import Reader, dumps, in_words, plain, words
from vaultmind.types import Caller, IndexState, Progress

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.episodes.gains import Figures
    from vaultmind.planner.plan import PlanFigures

LOADING_SECONDS, STEP_SECONDS = 30.0, 0.5
"""How long the doctor waits for an embedder that is still being loaded, which takes ten usually."""
SHOWN_FAULTS = 10
"""Faulty files named one by one; the rest is a number."""
_COPY = re.compile(r"(audit|tombstones)-(?![A-Za-z0-9-]+\.jsonl$).+\.jsonl")
"""The name of a copy that a sync program made of an audit file."""


@dataclass(frozen=True, slots=True)
class Status:
    """How VaultMind is, for whoever asks."""

    version: str
    pid: int
    vault: str
    memory_folder: str
    state_folder: str
    agent: str
    """Whose memory this caller writes to."""
    agents: tuple[str, ...]
    index: IndexState
    warnings: tuple[str, ...]
    """Configuration that was found and not taken; rights that are asked for and not in force; what
    is damaged."""
    waiting: Waiting
    consolidation: Background
    planning: PlanFigures
    """How planning went since the daemon started."""
    sources: tuple[SourceStatus, ...]
    gain: Figures | None
    """Of the last month; for the person."""
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


@operation("Status of the memory")
def memory_status(app: App, call: Call) -> Status:
    """How complete the index is and what is missing. For when a search finds too little."""
    caller = call.caller
    return Status(
        version=__version__,
        pid=os.getpid(),
        vault=str(app.config.vault),
        memory_folder=app.config.memory_dir,
        state_folder=str(app.config.state_dir),
        agent=caller.agent or app.config.agent,
        agents=app.index.outlet.readable_agents(caller),
        index=seen_state(app, caller),
        warnings=tuple(_warnings(app, caller)),
        waiting=waiting_for(app, caller),
        consolidation=background(app, caller),
        planning=app.planner.figures,
        sources=source_statuses(app),
        gain=recent_gain(app, caller) if caller.kind == "person" else None,
        episodes=kept_work(app, caller),
        models=_models(app),
    )


def _models(app: App) -> tuple[str, ...]:
    """Return the ids of the planner's rankers in use and of the one that ranks searches."""
    embedder = app.index.state().embedder
    rows = (one for one in app.learning.models.rows() if one.active)
    return tuple(
        f"{one.id} ({one.of})" for one in rows if one.kind == "planner" or one.of in ("", embedder)
    )


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
            if faults := app.authority.claim(name).faults:
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
    looks = (_folders, _memory, _audits, _index, _files, _linked, _work)
    for number, look in enumerate(looks):
        call.report(Progress(number, len(looks), look.__name__.strip("_")))
        if look is _index:
            _await_embedder(app, call)
        try:
            checks += look(app, call.caller)
        except (VaultMindError, OSError) as error:
            name = look.__name__.strip("_")
            checks.append(Check(name, "fail", str(error), "See the daemon's log."))
    return Examination(tuple(checks))


def _folders(app: App, caller: Caller) -> Iterator[Check]:
    vault, memory = app.config.vault, app.config.vault / app.config.memory_dir
    state = app.config.state_dir
    readable, mode = os.access(vault, os.R_OK | os.X_OK), stat.S_IMODE(state.stat().st_mode)
    mend = "" if readable else "Give your user the right to read it."
    told = f"{vault} is readable." if readable else f"{vault} cannot be read."
    yield Check("vault", "ok" if readable else "fail", told, mend)
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
    told = tuple(_warnings(app, caller))
    yield from (Check("memory", "warn", one) for one in told)
    if not told:
        agents = ", ".join(app.index.outlet.readable_agents(caller)) or "none yet"
        what = f"Agents: {agents}; configuration, rights and brains are sound."
        yield Check("memory", "ok", what)


def _audits(app: App, caller: Caller) -> Iterator[Check]:
    """Look for copies of audit files that a sync program made, and for torn lines."""
    from vaultmind.memory.audit import audit_files, parse_line

    agents, copies = tuple(app.index.outlet.readable_agents(caller)), False
    for agent in agents:
        folder = app.paths.root / app.paths.memory(agent)
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if _COPY.fullmatch(path.name):
                copies = True
                told = f"{app.paths.memory(agent)}/{path.name} is a copy that a sync program made."
                mend = "It is not part of the log. Compare it with the file it was copied from, "
                mend += "then remove it; a copy of tombstones still hides what it names."
                yield Check("audit", "warn", told, mend)
    texts = [path.read_text("utf-8", "replace") for path, _ in audit_files(app.paths, agents)]
    lines = [one for text in texts for one in text.split("\n") if one.strip()]
    torn = sum(parse_line(one) is None for one in lines)
    if not copies:
        more = f", {torn} of them torn by a crash" if torn else ""
        yield Check(
            "audit", "ok", f"{counted(len(lines), 'line')} in {counted(len(texts), 'file')}{more}."
        )


def _await_embedder(app: App, call: Call) -> None:
    """Wait while the embedder loads: right after a start it is not there yet, and not broken."""
    deadline = time.monotonic() + LOADING_SECONDS
    while (state := app.index.state()).loading and state.phase != "failed":
        began = time.monotonic()
        if app.config.index.embedder == "none" or began > deadline:
            return
        call.report(Progress(int(LOADING_SECONDS - (deadline - began)), 0, "loading the embedder"))
        app.index.wait_ready(STEP_SECONDS, vectors=True)
        if time.monotonic() - began < STEP_SECONDS / 2 and app.index.state().loading:
            return  # the app is closing


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
        result: Any = "fail" if ready else "warn"
        yield Check("embedder", result, f"`{named}` did not load. {notes}".strip(), mend)
    else:
        told = f"{state.embedder} is loaded, {state.vectors} vectors. {sends_words(state.sends_to)}"
        mend = "It mends itself in the background; `vaultmind reindex` starts anew."
        result = "warn" if notes else "ok"
        yield Check("embedder", result, f"{told.strip()} {notes}".strip(), mend if notes else "")


def _files(app: App, caller: Caller) -> Iterator[Check]:
    from vaultmind.vault.exclude import rules_for
    from vaultmind.vault.scan import scan

    rules = rules_for(app.paths, app.config.index.exclude)
    found, state = scan(app.paths, rules, app.reader.max_bytes), app.index.state()
    told = app.index.outlet.names
    faults = {one.path: one for one in (*found.faults, *state.faults) if told(one.path, caller)}
    for fault in list(faults.values())[:SHOWN_FAULTS]:
        mend = "It was left alone; mend or exclude it (index.exclude)."
        if "conflict" in fault.reason:
            mend = "Compare it with its original in Obsidian, then remove one of them."
        elif fault.severity == "partial":
            mend = "It is indexed all the same; open it in Obsidian and mend what is named."
        yield Check("file", "warn", f"{fault.path}: {fault.reason}", mend)
    if (more := len(faults) - SHOWN_FAULTS) > 0:
        yield Check("file", "warn", f"{more} more files have faults.", "See `vaultmind status`.")
    if state.phase not in ("ready", "failed"):  # what is not read yet may have any fault
        what = f"{state.indexed} of {len(found.entries)} files were read: what is said is not all."
        yield Check("files", "warn", what, "Run `vaultmind index`, then this again.")
    elif not faults:
        yield Check("files", "ok", f"{len(found.entries)} files, none with a fault.")


def _linked(app: App, caller: Caller) -> Iterator[Check]:
    """Look at what is linked, for the person: an agent is not told folders outside the vault."""
    for one in source_statuses(app) if caller.kind == "person" else ():
        if one.kind == "linked":
            well = one.there and one.phase != "failed"
            what = f"{one.name}: {one.words}." if well else f"{one.name}: {' '.join(one.notes)}"
            mend = "" if well else f"Bring it back, or: vaultmind unlink {one.name}"
            yield Check("linked folder", "ok" if well else "warn", what, mend)


def _work(app: App, caller: Caller) -> Iterator[Check]:
    """Look at the notes of what agents did, and at the models that were learnt of them."""
    agents = app.index.outlet.readable_agents(caller)
    app.episodes.settle()
    faulty = app.episodes.tables.faulty().items()
    faults = {app.episodes.files.path(name): why for name, why in faulty
              if name.partition("/")[0] in agents}  # fmt: skip
    for path, why in faults.items():
        mend = "Mend the note, or delete it; until then it is never shrunk."
        yield Check("episodes", "warn", f"{path}: {why}", mend)
    for why in (models := app.learning.status()).faults:
        mend = "Delete the file, or put it back from a backup; until then it ranks nothing."
        yield Check("models", "warn", why, mend)
    if not faults and not models.faults:
        kept = sum(len(app.episodes.files.listed(agent)) for agent in agents)
        learnt = sum(bool(one.path) for one in models.models)
        yield Check("episodes", "ok", f"{kept} notes and {learnt} learnt models, all readable.")


# --- how it is told -----------------------------------------------------------------------


@dumps(Status)
def _status_json(status: Status, to: Reader) -> dict[str, Any]:
    """Return how VaultMind is; an agent is not told folders outside the vault."""
    told = plain(status)
    told["waiting"] = status.waiting.count
    told["waiting_words"] = waiting_words(status.waiting)
    hidden: tuple[str, ...] = ("state_folder", "pid", "gain") if to.mark else ()
    hidden += ("planning", "models", "version") if to.lean else ()
    return {name: one for name, one in told.items() if name not in hidden}


@words(Status)
def _status_words(status: Status, to: Reader) -> Iterator[str]:
    yield (
        f"VaultMind {status.version}, vault {status.vault}, agent {status.agent} "
        f"(of {', '.join(status.agents) or 'none yet'})."
    )
    yield from index_words(status.index, to)
    yield waiting_words(status.waiting)
    yield f"Consolidation: {status.consolidation.words}."
    yield f"Episodes: {status.episodes.words}."
    if not to.mark:
        if status.planning.plans:
            yield "Plans since the daemon started:"
            yield from (f"  {line}" for line in in_words(status.planning))
        if status.gain and status.gain.episodes:
            yield "Plans and episodes of 30 days:"
            yield from (f"  {line}" for line in in_words(status.gain))
        yield f"State in {status.state_folder} (safe to delete)."
    yield f"Ranked by {', '.join(status.models)}." if status.models else ""
    yield from (
        f"Linked: {one.name}: {one.words}." for one in status.sources if one.kind == "linked"
    )
    yield from (f"! {warning}" if not to.mark else warning for warning in status.warnings)


@words(Examination)
def _examination_words(found: Examination, to: Reader) -> Iterator[str]:
    marks = {"ok": "✓", "warn": "!", "fail": "✗"}
    for check in found.checks:
        yield f"{marks[check.result]} {check.name}: {check.what}"
        yield f"  → {check.mend}" if check.mend else ""
