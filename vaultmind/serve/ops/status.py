"""How VaultMind is, gathered from all there is to tell of, and a check of everything.

What it gathers from is imported when it is asked: the command line needs none of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vaultmind import __version__
from vaultmind.errors import VaultMindError
from vaultmind.serve.call import Call
from vaultmind.serve.op import NOT_MCP, operation
from vaultmind.serve.show import Row
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App

MARKS = {"ok": "✓", "warn": "!", "fail": "✗"}
_COPY = re.compile(r"(audit|tombstones)-(?![A-Za-z0-9-]+\.jsonl$).+\.jsonl")
"""The name of a copy that a sync program made of an audit file."""
Check = tuple[str, str, str]
"""`ok`, `warn` or `fail`, what it is, and what to do where it is not well."""


@operation("Status of the memory")
def memory_status(app: App, call: Call) -> Row:
    """How complete the index is and what is missing. For when a search finds too little.

    An agent is told of itself, and of no folder outside the vault.
    """
    from vaultmind.serve.ops.changes import waiting_for
    from vaultmind.serve.ops.episodes import kept_work
    from vaultmind.serve.ops.plans import state_words
    from vaultmind.serve.ops.search import index_words, seen_state
    from vaultmind.serve.ops.sessions import background

    caller, config, person = call.caller, app.config, call.caller.kind == "person"
    count, waiting = waiting_for(app, caller)
    state, sources = seen_state(app, caller), app.sources.states()
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
        sources=sources,
        episodes=kept_work(app, caller),
    )
    row |= {"state_folder": str(config.state_dir)} if person else {}
    names, linked = ", ".join(row["agents"]), (one for one in sources if one.kind == "linked")
    return row.saying(
        f"VaultMind {__version__}, vault {config.vault}, agent {row['agent']} "
        f"(agents: {names or 'none yet'}).",
        *index_words(state),
        waiting,
        f"Consolidation: {row['consolidation']['words']}.",
        f"Episodes: {row['episodes']['words']}.",
        f"State folder: {config.state_dir} (safe to delete)." if person else "",
        *(f"Linked: {one.name}: {state_words(one)}." for one in linked),
        *(f"! {one}" if person else one for one in row["warnings"]),
    )


def _warnings(app: App, caller: Caller) -> Iterator[str]:
    """Yield what is amiss in configuration, phrases, the agents' rights and memory files.

    A person is told of all agents; an agent of itself, and of nothing outside the vault.
    """
    from vaultmind.session.files import read_text

    yield from app.config.warnings
    yield from app.words.faults()
    person = caller.kind == "person"
    if person and app.authority.fault:
        yield f"{app.authority.fault}. Remove the file, then allow the agents again."
    for name in app.paths.agent_names() if person else filter(None, (caller.agent,)):
        brain = app.paths.brain(name)
        try:
            if faults := app.authority.identity(name).faults:
                yield f"{app.paths.identity(name)}: {'; '.join(faults)}."
            elif waiting := app.authority.waiting(name):
                how = f"If you want that: vaultmind agents allow {name}"
                how = how if person else "Only the person can allow that, on the command line."
                yield f"{name} asks for more than is allowed: {', '.join(waiting)}. {how}"
        except VaultMindError as error:
            yield str(error)
        if wrong := read_text(app.reader, brain)[1]:
            yield wrong


# --- the doctor ---------------------------------------------------------------------------


@operation("Check everything", surfaces=NOT_MCP)
def doctor(app: App, call: Call) -> Row:
    """Check vault, memory, embedder and index, and say how to mend what is broken.

    A check that breaks is itself a failed check. They stand in the order in which a fault explains
    those after it.
    """
    checks = list[Row]()
    for look in (_folders, _memory, _index, _linked, _work):
        name = look.__name__.strip("_")
        try:
            found = list(look(app, call.caller)) or [("ok", "OK.", "")]
        except (VaultMindError, OSError) as error:
            found = [("fail", str(error), "See the daemon's log.")]
        for result, what, mend in found:
            checks.append(Row(name=name, result=result, what=what, mend=mend))
    return Row(checks=checks).saying(*(check_line(**one) for one in checks))


def check_line(name: str, result: str, what: str, mend: str) -> str:
    """Return a check in words."""
    return f"{MARKS[result]} {name}: {what}" + (f"\n  → {mend}" if mend else "")


def _folders(app: App, caller: Caller) -> Iterator[Check]:
    vault, memory = app.config.vault, app.config.vault / app.config.memory_dir
    state = app.config.state_dir
    if not memory.exists():
        told = f"{memory.name}/ does not exist yet."
        yield "warn", told, "Run: vaultmind init"
    elif memory.is_symlink() or not os.access(memory, os.W_OK | os.X_OK):
        told = f"{memory} is not a writable folder: nothing can be remembered."
        yield "fail", told, "Make it a folder that your user may write to."
    if state.stat().st_mode & 0o077:
        yield "warn", f"Other users can read the state folder {state}.", f"Run: chmod 700 {state}"
    if state.resolve().is_relative_to(vault.resolve()):
        told = f"The state folder {state} is inside the vault: a sync would copy a database."
        yield "warn", told, "Set `state_dir` to a folder outside the vault."


def _memory(app: App, caller: Caller) -> Iterator[Check]:
    """Look at configuration, rights and brains, and for copies that a sync made of an audit."""
    yield from (("warn", one, "") for one in _warnings(app, caller))
    mend = "It is not part of the log. Compare it with the original, then remove it; "
    mend += "a copy of tombstones still hides what it names."
    for agent in app.index.outlet.readable_agents(caller):
        for path in (app.paths.root / app.paths.memory(agent)).glob("*.jsonl"):
            if _COPY.fullmatch(path.name):
                yield "warn", f"{path.name} is a sync program's copy of a file of {agent}.", mend


def _index(app: App, caller: Caller) -> Iterator[Check]:
    """Look at the index, and at the files that it could not take."""
    from vaultmind.serve.ops.search import index_words, seen_state

    app.index.refresh([f"{app.config.memory_dir}/"])  # what a sync has just put there is told
    state = seen_state(app, caller)
    told = " ".join(filter(None, index_words(state)))
    lacks = app.config.index.embedder != "none" and bool(state.notes or not state.embedder)
    if state.phase == "failed":
        yield "fail", told, "Run: vaultmind reindex"
    elif state.phase != "ready" or state.loading:
        yield "warn", told, "Not everything is checked yet. Wait, or run: vaultmind index"
    elif lacks:
        mend = "Run `vaultmind reindex`, or set index.embedder to `use` or `none`."
        yield "warn" if state.embedder else "fail", told, mend
    elif state.faults:
        yield "warn", told, "Fix the files in Obsidian, or exclude them (index.exclude)."
    else:
        yield "ok", told, ""


def _linked(app: App, caller: Caller) -> Iterator[Check]:
    """Look at what is linked, for the person: an agent is not told folders outside the vault."""
    from vaultmind.serve.ops.plans import phase, state_notes, state_words

    for one in app.sources.states() if caller.kind == "person" else ():
        if one.kind == "linked" and not (one.there and phase(one) != "failed"):
            told = " ".join((f"{one.name}: {state_words(one)}.", *state_notes(one)))
            yield "warn", told, f"Bring it back, or: vaultmind unlink {one.name}"


def _work(app: App, caller: Caller) -> Iterator[Check]:
    """Look at the notes of what agents did, and at the models that were learnt of them."""
    agents = app.index.outlet.readable_agents(caller)
    app.episodes.settle()
    for name, why in app.episodes.tables.faulty().items():
        if name.partition("/")[0] in agents:
            mend = "Fix the note or delete it; until then it is never shrunk."
            yield "warn", f"{app.episodes.files.path(name)}: {why}", mend
    for why in app.learning.models.faults():
        mend = "Delete the file or restore it from a backup; until then it is not used."
        yield "warn", why, mend
