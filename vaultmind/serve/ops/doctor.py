"""Checks everything a memory stands on, and says how to mend what is broken."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from vaultmind import __version__
from vaultmind.errors import NotFound, VaultMindError
from vaultmind.memory.brain import parse_brain
from vaultmind.plural import counted
from vaultmind.serve.memory import audits, damaged
from vaultmind.serve.ops.indexing import sends_words
from vaultmind.serve.ops.sources import source_statuses
from vaultmind.types import Caller, Fault, IndexState, Progress
from vaultmind.vault.exclude import SECRET_NAMES, rules_for
from vaultmind.vault.scan import scan

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.serve.calls.call import Call

Result = Literal["ok", "warn", "fail"]
UNSEARCHED = frozenset({".git", ".obsidian", ".trash", "node_modules"})
LOADING_SECONDS = 30.0
"""How long to wait for an embedder that is still being loaded, which takes ten usually."""
STEP_SECONDS = 0.5
SHOWN_FAULTS = 10
"""Faulty files named one by one; the rest is a number."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `mend` says what to do where it is not well."""

    name: str
    result: Result
    what: str
    mend: str = ""


@dataclass(frozen=True, slots=True)
class Examination:
    """All checks, in the order in which a fault explains those after it."""

    checks: tuple[Check, ...]


def examine(app: App, call: Call) -> Examination:
    """Look at everything; a check that breaks is itself a failed check."""
    checks: list[Check] = []
    for number, (name, look) in enumerate(LOOKS):
        call.report(Progress(number, len(LOOKS), name))
        if name == "index":
            _await_embedder(app, call)
        try:
            checks += look(app, call.caller)
        except (VaultMindError, OSError) as error:
            checks.append(Check(name, "fail", str(error), "See the daemon's log."))
    call.report(Progress(len(LOOKS), len(LOOKS), "done"))
    return Examination(tuple(checks))


def _vault(app: App, caller: Caller) -> Iterator[Check]:
    root = app.config.vault
    if not os.access(root, os.R_OK | os.X_OK):
        yield Check("vault", "fail", f"{root} cannot be read.", "Give your user the right to.")
        return
    yield Check("vault", "ok", f"{root} is readable.")


def _memory_folder(app: App, caller: Caller) -> Iterator[Check]:
    folder = app.config.vault / app.config.memory_dir
    if not folder.exists():
        what = f"{app.config.memory_dir}/ does not exist yet."
        yield Check("memory folder", "warn", what, "It is made by `vaultmind init`.")
    elif folder.is_symlink() or not folder.is_dir():
        what = f"{folder} is not a plain folder: nothing can be remembered."
        yield Check("memory folder", "fail", what, "Put a real folder in its place.")
    elif not os.access(folder, os.W_OK | os.X_OK):
        what = f"{folder} cannot be written."
        yield Check("memory folder", "fail", what, "Give your user the right to write there.")
    else:
        yield Check("memory folder", "ok", f"{folder} can be written.")


def _state_folder(app: App, caller: Caller) -> Iterator[Check]:
    folder = app.config.state_dir
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & 0o077:
        what = f"{folder} is open to others (mode {mode:04o})."
        yield Check("state folder", "warn", what, f"Run: chmod 700 {folder}")
    elif _inside(folder, app.config.vault):
        what = f"{folder} lies inside the vault: a sync would copy a database."
        yield Check("state folder", "warn", what, "Set `state_dir` to a folder outside.")
    else:
        yield Check("state folder", "ok", f"{folder} is yours alone.")


def _configuration(app: App, caller: Caller) -> Iterator[Check]:
    for warning in app.config.warnings:
        mend = f"Take it out of {app.config.memory_dir}/config.toml."
        yield Check("configuration", "warn", warning, mend)
    yield Check("version", "ok", f"VaultMind {__version__}, process {os.getpid()}.")


def _agents(app: App, caller: Caller) -> Iterator[Check]:
    if fault := app.authority.fault:
        mend = "Remove the file, then allow again what you had allowed: vaultmind agents list"
        yield Check("rights", "warn", f"{fault}.", mend)
    names = app.index.outlet.readable_agents(caller)
    if not names:
        yield Check("agents", "ok", "No agent has a memory yet.")
    for agent in names:
        yield _agent(app, agent)


def _agent(app: App, agent: str) -> Check:
    name = f"agent {agent}"
    mend = "Open the file in Obsidian and mend it."
    try:
        claim = app.authority.claim(agent)
        waiting = app.authority.waiting(agent)
        brain = parse_brain(_text(app, app.paths.brain(agent)))
    except VaultMindError as error:
        return Check(name, "fail", str(error), mend)
    if told := damaged.note(app, agent):
        return Check(name, "warn", told, mend)
    if claim.faults:
        what = f"{app.paths.identity(agent)}: {'; '.join(claim.faults)}."
        return Check(name, "warn", what, mend)
    if waiting:
        what = f"Its identity.md asks for more than is in force: {', '.join(waiting)}."
        return Check(name, "warn", what, f"If you want that: vaultmind agents allow {agent}")
    level = app.authority.level(agent)
    return Check(name, "ok", f"{len(brain.facts)} facts, autonomy {level}.")


def _text(app: App, path: str) -> str:
    """Return a memory file's text, empty where it is not made yet."""
    try:
        return app.reader.read(path).text
    except NotFound:
        return ""


def _audits(app: App, caller: Caller) -> Iterator[Check]:
    return (Check("audit", *found) for found in audits.examine(app, caller))


def _phrases(app: App, caller: Caller) -> Iterator[Check]:
    faults = app.words.faults()
    mend = f"Mend it in {app.config.memory_dir}/phrases.txt; everything else is understood."
    for fault in faults:
        yield Check("phrases", "warn", fault, mend)
    if not faults:
        yield Check("phrases", "ok", "Voice commands are understood, your own phrases included.")


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
    state = app.index.state()
    if state.phase == "failed":
        what = " ".join(state.notes) or "The index failed to load."
        yield Check("index", "fail", what, "Run `vaultmind reindex`; the vault rebuilds it.")
        return
    counted = f"{state.indexed} of {state.files} files, {state.chunks} chunks"
    if state.phase != "ready":
        what = f"Still {state.phase}: {counted}."
        yield Check("index", "warn", what, "Wait, or run `vaultmind index` to watch it.")
    else:
        yield Check("index", "ok", f"{counted} are searchable by words.")
    yield from _vectors(app, state)


def _vectors(app: App, state: IndexState) -> Iterator[Check]:
    if app.config.index.embedder == "none":
        what = "Switched off (index.embedder is `none`): search goes by words alone."
        yield Check("embedder", "ok", what)
    elif state.loading:
        what = f"`{app.config.index.embedder}` is still being loaded: search by words only."
        yield Check("embedder", "warn", what, "Ask again in a moment.")
    elif not state.embedder:
        what = f"`{app.config.index.embedder}` did not load. {' '.join(state.notes)}".strip()
        mend = "Reinstall vaultmind, or set index.embedder to `use` or `none`."
        yield Check("embedder", "fail" if state.phase == "ready" else "warn", what, mend)
    else:
        sent = f" {sends_words(state.sends_to)}" if state.sends_to else ""
        yield Check("embedder", "ok", f"{state.embedder} is loaded.{sent}")
        missing = "; ".join(state.notes)
        mend = "It mends itself in the background; `vaultmind reindex` starts anew."
        what = f"{state.vectors} vectors. {missing}".strip()
        yield Check("vectors", "warn" if missing else "ok", what, mend if missing else "")


def _faults(app: App, caller: Caller) -> Iterator[Check]:
    rules = rules_for(app.paths, app.config.index.exclude)
    found = scan(app.paths, rules, app.reader.max_bytes)
    told = app.index.outlet.names
    known = (*found.faults, *app.index.state().faults)
    faults = {fault.path: fault for fault in known if told(fault.path, caller)}
    for fault in list(faults.values())[:SHOWN_FAULTS]:
        yield Check("file", "warn", f"{fault.path}: {fault.reason}", _mend(fault))
    if len(faults) > SHOWN_FAULTS:
        more = len(faults) - SHOWN_FAULTS
        yield Check("file", "warn", f"{more} more files have faults.", "See `vaultmind status`.")
    state = app.index.state()
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


def _secrets(app: App, caller: Caller) -> Iterator[Check]:
    names = [name for name in SECRET_NAMES if name != "node_modules"]
    found: list[str] = []
    for folder, folders, files in os.walk(app.config.vault):
        folders[:] = [one for one in folders if one not in UNSEARCHED]
        secret = [one for one in (*files, *folders) if any(fnmatch(one, name) for name in names)]
        there = (Path(folder, one).relative_to(app.config.vault).as_posix() for one in secret)
        found += [one for one in there if app.index.outlet.names(one, caller)]
        folders[:] = [one for one in folders if one not in secret]
    if found:
        shown = ", ".join(found[:SHOWN_FAULTS]) + (" …" if len(found) > SHOWN_FAULTS else "")
        yield Check("secrets", "ok", f"Never indexed, since they look like secrets: {shown}")


def _mend(fault: Fault) -> str:
    if "conflict" in fault.reason:
        return "Compare it with its original in Obsidian, then remove one of them."
    if fault.severity == "partial":
        return "It is indexed all the same; open it in Obsidian and mend what is named."
    return "It was left alone; mend or exclude it (index.exclude)."


def _inside(folder: Path, vault: Path) -> bool:
    return folder.resolve().is_relative_to(vault.resolve())


def _episodes(app: App, caller: Caller) -> Iterator[Check]:
    """Look at the notes of what agents did, and at the tables that are made of them."""
    agents = app.index.outlet.readable_agents(caller)
    faults = 0
    app.episodes.settle()
    for name, fault in app.episodes.tables.faulty().items():
        if name.partition("/")[0] in agents:
            faults += 1
            mend = "Mend the note, or delete it; until then it is never shrunk."
            yield Check("episodes", "warn", f"{app.episodes.files.path(name)}: {fault}", mend)
    if not faults:
        kept = sum(len(app.episodes.files.listed(agent)) for agent in agents)
        yield Check("episodes", "ok", f"{counted(kept, 'note')}, all can be read.")


def _models(app: App, caller: Caller) -> Iterator[Check]:
    """Look at the models that were learnt."""
    status = app.learning.status()
    for fault in status.faults:
        mend = "Delete the file, or put it back from a backup; until then it ranks nothing."
        yield Check("models", "warn", fault, mend)
    if not status.faults:
        learnt = [one for one in status.models if one.path]
        used = ", ".join(one.id for one in learnt if one.active)
        what = f"{counted(len(learnt), 'learnt model')}, in use: {used or 'those that came'}."
        yield Check("models", "ok", what)


LOOKS: tuple[tuple[str, Callable[[App, Caller], Iterator[Check]]], ...] = (
    ("vault", _vault),
    ("memory folder", _memory_folder),
    ("state folder", _state_folder),
    ("configuration", _configuration),
    ("agents", _agents),
    ("audit", _audits),
    ("phrases", _phrases),
    ("index", _index),
    ("files", _faults),
    ("secrets", _secrets),
    ("linked folders", _linked),
    ("episodes", _episodes),
    ("models", _models),
)
