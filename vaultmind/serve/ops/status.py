"""How VaultMind is, gathered from all there is to tell of, and a check of everything.

What it gathers from is imported when it is asked: the command line needs none of it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vaultmind import __version__
from vaultmind.errors import VaultMindError
from vaultmind.serve.call import Call
from vaultmind.serve.op import NOT_MCP, operation
from vaultmind.serve.show import PERSON, Row, in_words
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App

SHOWN_FAULTS = 10
"""Faulty files named one by one; the rest is a number."""
_COPY = re.compile(r"(audit|tombstones)-(?![A-Za-z0-9-]+\.jsonl$).+\.jsonl")
"""The name of a copy that a sync program made of an audit file."""
Check = tuple[str, str, str, str]
"""What was looked at, `ok`, `warn` or `fail`, what it is, and what to do where it is not well."""


@operation("Status of the memory")
def memory_status(app: App, call: Call) -> Row:
    """How complete the index is and what is missing. For when a search finds too little.

    An agent is told of itself, and of no folder outside the vault.
    """
    from vaultmind.serve.ops.changes import waiting_for
    from vaultmind.serve.ops.episodes import kept_work, recent_gain
    from vaultmind.serve.ops.plans import state_words
    from vaultmind.serve.ops.search import index_words, seen_state
    from vaultmind.serve.ops.sessions import background

    caller, config, person = call.caller, app.config, call.caller.kind == "person"
    count, waiting = waiting_for(app, caller)
    state, sources = seen_state(app, caller), app.sources.states()
    rows = (one for one in app.learning.models.rows() if one.active)
    used = [one for one in rows if one.kind == "planner" or one.of in ("", state.embedder)]
    row = Row(
        version=__version__,
        vault=str(config.vault),
        memory_folder=config.memory_dir,
        agent=caller.agent or config.agent,
        agents=app.index.outlet.readable_agents(caller),
        index=state,
        warnings=tuple(_warnings(app, caller)),
        waiting=count,
        waiting_words=waiting,
        consolidation=background(app, caller),
        planning=app.planner.figures,
        sources=sources,
        episodes=kept_work(app, caller),
        models=tuple(f"{one.id} ({one.of})" for one in used),
    )
    if person:
        row |= {"pid": os.getpid(), "state_folder": str(config.state_dir)}
        row["gain"] = recent_gain(app, caller)
    lines = [
        f"VaultMind {__version__}, vault {config.vault}, agent {row['agent']} (of "
        f"{', '.join(row['agents']) or 'none yet'}).",
        *index_words(state, PERSON),
        waiting,
        f"Consolidation: {row['consolidation']['words']}.",
        f"Episodes: {row['episodes']['words']}.",
    ]
    if person and row["planning"].plans:
        lines += ["Plans since the daemon started:"]
        lines += [f"  {line}" for line in in_words(row["planning"])]
    if person and row["gain"].episodes:
        lines += ["Plans and episodes of 30 days:"]
        lines += [f"  {line}" for line in in_words(row["gain"])]
    lines += [f"State in {config.state_dir} (safe to delete)."] if person else []
    lines += [f"Ranked by {', '.join(row['models'])}."] if used else []
    linked = (one for one in sources if one.kind == "linked")
    lines += [f"Linked: {one.name}: {state_words(one)}." for one in linked]
    return row.saying(*lines, *(f"! {one}" if person else one for one in row["warnings"]))


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
def doctor(app: App, call: Call) -> Row:
    """Check vault, memory, embedder and index, and say how to mend what is broken.

    A check that breaks is itself a failed check. They stand in the order in which a fault explains
    those after it.
    """
    found: list[Check] = []
    for look in (_folders, _memory, _index, _files, _linked, _work):
        try:
            found += look(app, call.caller)
        except (VaultMindError, OSError) as error:
            found.append((look.__name__.strip("_"), "fail", str(error), "See the daemon's log."))
    checks = [dict(zip(("name", "result", "what", "mend"), one, strict=True)) for one in found]
    return Row(checks=checks).saying(*check_words(found))


def check_words(found: list[Check]) -> Iterator[str]:
    """Yield checks as lines, each with what to do."""
    marks = {"ok": "✓", "warn": "!", "fail": "✗"}
    for name, result, what, mend in found:
        yield f"{marks[result]} {name}: {what}"
        yield f"  → {mend}" if mend else ""


def _folders(app: App, caller: Caller) -> Iterator[Check]:
    vault, memory = app.config.vault, app.config.vault / app.config.memory_dir
    state = app.config.state_dir
    mode = stat.S_IMODE(state.stat().st_mode)
    if os.access(vault, os.R_OK | os.X_OK):
        yield "vault", "ok", f"{vault} is readable.", ""
    else:
        yield "vault", "fail", f"{vault} cannot be read.", "Give your user the right to."
    if not memory.exists():
        told, mend = f"{memory.name}/ does not exist yet.", "It is made by `vaultmind init`."
        yield "memory folder", "warn", told, mend
    elif memory.is_symlink() or not memory.is_dir() or not os.access(memory, os.W_OK | os.X_OK):
        told = f"{memory} is no plain folder that can be written: nothing can be remembered."
        mend = "Put a real folder in its place, or give your user the right to write there."
        yield "memory folder", "fail", told, mend
    else:
        yield "memory folder", "ok", f"{memory} can be written.", ""
    if mode & 0o077:
        told = f"{state} is open to others (mode {mode:04o})."
        yield "state folder", "warn", told, f"Run: chmod 700 {state}"
    elif state.resolve().is_relative_to(vault.resolve()):
        told = f"{state} lies inside the vault: a sync would copy a database."
        yield "state folder", "warn", told, "Set `state_dir` to a folder outside."
    else:
        yield "state folder", "ok", f"{state} is yours alone.", ""


def _memory(app: App, caller: Caller) -> Iterator[Check]:
    """Look at configuration, rights and brains, and for copies that a sync made of an audit."""
    warnings, agents = list(_warnings(app, caller)), app.index.outlet.readable_agents(caller)
    yield from (("memory", "warn", one, "") for one in warnings)
    folders = [app.paths.root / app.paths.memory(agent) for agent in agents]
    copies = [one for folder in folders for one in folder.glob("*") if _COPY.fullmatch(one.name)]
    mend = "It is not part of the log. Compare it with the file it was copied from, then remove "
    mend += "it; a copy of tombstones still hides what it names."
    for path in copies:
        told = f"{path.relative_to(app.paths.root)} is a copy that a sync program made."
        yield "audit", "warn", told, mend
    if not (warnings or copies):
        told = f"Agents: {', '.join(agents) or 'none yet'}; configuration, rights, brains and audit"
        yield "memory", "ok", f"{told} are sound.", ""


def _index(app: App, caller: Caller) -> Iterator[Check]:
    from vaultmind.serve.ops.search import sends_words

    state, named = app.index.state(), app.config.index.embedder
    notes, chunks = " ".join(state.notes), f"{state.indexed} of {state.files} files are indexed"
    if state.phase == "failed":
        mend = "Run `vaultmind reindex`; the vault rebuilds it."
        yield "index", "fail", notes or "The index failed to load.", mend
        return
    ready = state.phase == "ready"
    mend = "" if ready else "Wait, or run `vaultmind index` to watch it."
    yield "index", "ok" if ready else "warn", f"{chunks}, {state.chunks} chunks.", mend
    if named == "none":
        yield "embedder", "ok", "Switched off (`none`): search goes by words alone.", ""
    elif state.loading:
        told = f"`{named}` is still being loaded: search by words only."
        yield "embedder", "warn", told, "Ask again in a moment."
    elif not state.embedder:
        mend = "Reinstall vaultmind, or set index.embedder to `use` or `none`."
        told = f"`{named}` did not load. {notes}".strip()
        yield "embedder", "fail" if ready else "warn", told, mend
    else:
        told = f"{state.embedder} is loaded, {state.vectors} vectors. {sends_words(state.sends_to)}"
        mend = "It mends itself in the background; `vaultmind reindex` starts anew."
        told = f"{told.strip()} {notes}".strip()
        yield "embedder", "warn" if notes else "ok", told, mend if notes else ""


def _files(app: App, caller: Caller) -> Iterator[Check]:
    state, outlet = app.index.state(), app.index.outlet
    rules = outlet.rules
    known = (one for one in state.faults if not rules.is_conflict_copy(one.path))
    memory = f"{app.config.memory_dir}/"
    now = outlet.folder.scan(rules, below=memory).faults  # no index may know yet
    copies = (one for one in now if rules.is_conflict_copy(one.path))
    faults = [one for one in (*copies, *known) if outlet.names(one.path, caller)]
    for fault in faults[:SHOWN_FAULTS]:
        mend = "It was left alone; mend or exclude it (index.exclude)."
        if rules.is_conflict_copy(fault.path):
            mend = "Compare it with its original in Obsidian, then remove one of them."
        elif fault.severity == "partial":
            mend = "It is indexed all the same; open it in Obsidian and mend what is named."
        yield "file", "warn", f"{fault.path}: {fault.reason}", mend
    if (more := len(faults) - SHOWN_FAULTS) > 0:
        yield "file", "warn", f"{more} more files have faults.", "See `vaultmind status`."
    if state.phase not in ("ready", "failed"):  # what is not read yet may have any fault
        what = f"{state.indexed} of {state.files} files were read: what is said is not all."
        yield "files", "warn", what, "Run `vaultmind index`, then this again."
    elif not faults:
        yield "files", "ok", f"{state.files} files, none with a fault.", ""


def _linked(app: App, caller: Caller) -> Iterator[Check]:
    """Look at what is linked, for the person: an agent is not told folders outside the vault."""
    from vaultmind.serve.ops.plans import phase, state_notes, state_words

    for one in app.sources.states() if caller.kind == "person" else ():
        if one.kind == "linked" and one.there and phase(one) != "failed":
            yield "linked folder", "ok", f"{one.name}: {state_words(one)}.", ""
        elif one.kind == "linked":
            mend = f"Bring it back, or: vaultmind unlink {one.name}"
            yield "linked folder", "warn", f"{one.name}: {' '.join(state_notes(one))}", mend


def _work(app: App, caller: Caller) -> Iterator[Check]:
    """Look at the notes of what agents did, and at the models that were learnt of them."""
    agents = app.index.outlet.readable_agents(caller)
    app.episodes.settle()
    faulty = app.episodes.tables.faulty().items()
    told = [f"{app.episodes.files.path(name)}: {why}" for name, why in faulty
            if name.partition("/")[0] in agents]  # fmt: skip
    faults = app.learning.models.faults()
    mend = "Mend the note, or delete it; until then it is never shrunk."
    yield from (("episodes", "warn", one, mend) for one in told)
    mend = "Delete the file, or put it back from a backup; until then it ranks nothing."
    yield from (("models", "warn", why, mend) for why in faults)
    if not told and not faults:
        yield "episodes", "ok", "All notes of episodes and learnt models are readable.", ""
