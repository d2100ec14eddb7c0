"""Consolidation: what ended conversations leave in memory, one session after another.

read what may be recalled → facts and a summary → the gate, fact by fact → what was dropped, to
the audit → the active context → the mark that it is done → summaries of several sessions. Each
step may be repeated after a kill without anything being done twice.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vaultmind.config import ConsolidationConfig
from vaultmind.consolidate.types import (
    UNCLEAR,
    Consolidated,
    CutOff,
    Request,
    Resources,
    SessionDone,
    Work,
)
from vaultmind.errors import NotFound, VaultMindError
from vaultmind.heavy import step_back
from vaultmind.ports import Report, silent
from vaultmind.session.files import Head
from vaultmind.types import Caller, Progress
from vaultmind.vault.paths import agent_name
from vaultmind.vault.transcript import read_meta

if TYPE_CHECKING:
    from vaultmind.consolidate.levels import Levels
    from vaultmind.consolidate.model import Thinker

BY_ITSELF = "consolidation"
"""What an audit line calls the client where nobody asked."""
LOOK_SECONDS, PAUSE_SECONDS = 60.0, 0.5
"""How often it is looked whether a session has been silent for too long; and how long is rested
after a session: who asks goes before the next."""
CLOSE_SECONDS = 2.0
"""How long a close waits for a step to end."""
MOST_TRIES = 3
"""Times that a model is asked about a session; then what was found without it is enough."""
OPEN, DONE = "not over yet", "consolidated already; --again does it anew"
OTHER, BROKEN = "another device's, which does it", "its properties are broken: mend them first"
"""Why a session is not consolidated."""
log = logging.getLogger(__name__)


class Consolidation:
    """Consolidates sessions, one at a time. One per vault; any thread."""

    def __init__(
        self,
        by: Resources,
        minds: Callable[[], tuple[Thinker, Levels]],
        config: ConsolidationConfig,
        max_facts: int = 8,
        end_idle: Callable[[str], object] = lambda agent: None,
    ) -> None:
        """`minds` returns what thinks and what sums up, made when they are first needed: a start
        must not wait for them. `end_idle` ends the sessions of an agent that have been silent for
        too long; of all for `""`.
        """
        self._with, self._minds, self._config = by, minds, config
        self._max_facts, self._end_idle = max_facts, end_idle
        self._paths = by.reader.paths
        self._tries: Counter[str] = Counter()
        """How often a model was asked about a session in vain, since the start."""
        self._stopping, self._told = threading.Event(), threading.Event()
        self._begins, self._turn = threading.Lock(), threading.Lock()
        """The second is held while a session is consolidated."""
        self._thread: threading.Thread | None = None

    def run(self, request: Request, caller: Caller, report: Report = silent) -> Consolidated:
        """Consolidate what is asked for, now; a run that goes on already is waited for.

        The facts are written as the agent's own, whoever asks: its level binds them. Raises
        NotFound for a session that is not there.
        """
        agents = (agent_name(request.agent),) if request.agent else self._paths.agent_names()
        if not request.dry_run:
            self._end_idle(request.agent and agents[0])
        done, client, dry_run = Consolidated(), caller.client, request.dry_run
        kept = [one for one in agents if self._with.gate.keeps_records(one)]
        why = "it may only read (autonomy 0 in its identity.md)"
        done.notes += [f"Nothing is written for {one}: {why}." for one in agents if one not in kept]
        with self._turn:
            try:
                chosen = self._chosen(request, kept, done)
                for at, (agent, session) in enumerate(chosen):
                    report(Progress(at, len(chosen), "sessions"))
                    self._take(agent, session, client, done, dry_run=dry_run)
                report(Progress(len(chosen), len(chosen), "sessions"))
                for agent in () if request.again or dry_run else kept:
                    self._levels(agent, client, done)
            except CutOff:
                done.notes.append("It was interrupted and will continue later.")
        return done

    def _waiting(self, agent: str) -> list[Head]:
        """Return the sessions of an agent that have ended and wait on this device, oldest first."""
        keeps = self._with.gate.keeps_records(agent)
        return [one for one in self._with.heads(agent) if keeps and not self._how(one)]

    def unsettled(self, agent: str) -> list[str]:
        """Return the sessions that a better reader may settle, oldest first, no imported ones.

        Those that wait, and those that the built-in engine left something of.
        """
        waiting = {one.id for one in self._waiting(agent) if not one.meta.source}
        return [
            one.id
            for one in self._with.heads(agent)
            if "pending" in one.raw and self._with.gate.keeps_records(agent)
            if one.id in waiting
            or (one.meta.pending == UNCLEAR and one.meta.device in ("", self._with.device))
        ]

    def mark(self, agent: str, session: str, caller: Caller, then: str = "") -> bool:
        """Mark a session as done, and `then` as pending for a better reader; tell whether."""
        from vaultmind.consolidate.settle import consolidated

        path, change = self._paths.session(agent, session), consolidated(self._with.clock(), then)
        why = "a session was consolidated"
        return self._with.gate.save(path, change, caller, why) is not None

    def standing(self) -> tuple[list[tuple[str, str]], int]:
        """Return (agent, session) of those that wait their turn.

        And how many, imported ones most of them, wait until the person asks.
        """
        agents = self._paths.agent_names()
        waiting = [(agent, one) for agent in agents for one in self._waiting(agent)]
        queue = [(agent, one.id) for agent, one in waiting if "pending" in one.raw]
        return queue, len(waiting) - len(queue)

    def start(self) -> None:
        """Look in the background for what waits, after a while of quiet; returns at once."""
        if not self._config.auto or self._stopping.is_set():
            return
        with self._begins:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="asleep", daemon=True)
                self._thread.start()
        self._told.set()

    def stop(self) -> None:
        """Have what is being worked at end before its next step, and begin with nothing more."""
        self._stopping.set()
        self._told.set()

    def close(self) -> None:
        """Stop: what is being worked at stays marked, and is begun again another time."""
        self.stop()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(CLOSE_SECONDS)

    # --- by itself ---------------------------------------------------------------------------

    def _check(self) -> None:
        """Raise CutOff once the work is to stop."""
        if self._stopping.is_set():
            raise CutOff

    def _work(self) -> None:
        """Work when it has been quiet for a while; every now and then end silent sessions."""
        step_back()
        while not self._stopping.is_set():
            told = self._told.wait(LOOK_SECONDS)
            self._told.clear()
            if self._stopping.is_set() or (told and self._told.wait(self._config.delay_seconds)):
                continue  # something was told meanwhile
            try:
                self._by_itself() if told else self._end_idle("")
            except Exception:  # it is tried again after the next end
                log.exception("what was to be consolidated could not be")

    def _by_itself(self) -> None:
        """Consolidate what is pending, session by session: who asks goes in between."""
        done, agents = Consolidated(), self._paths.agent_names()
        try:
            for agent, session in [*self.standing()[0], *((one, "") for one in agents)]:
                with self._turn:
                    if any(one.id == session for one in self._waiting(agent)):
                        self._take(agent, session, BY_ITSELF, done, dry_run=False)
                    elif not session and self._with.gate.keeps_records(agent):
                        self._levels(agent, BY_ITSELF, done)
                self._stopping.wait(PAUSE_SECONDS)
        except CutOff:
            log.info("consolidation was cut off; it goes on after the next start")

    def _how(self, head: Head, *, again: bool = False) -> str:
        """Return why a session does not wait; empty where it does."""
        if "pending" not in head.raw and "consolidated" in head.raw and not again:
            return DONE  # without its YAML, which is slow to read
        meta = head.meta
        if meta.state != "ended":
            return OPEN
        if meta.consolidated and not again:
            return DONE
        if meta.device not in ("", self._with.device):  # one that says none is any device's
            return OTHER
        return BROKEN if read_meta(head.raw)[2] else ""

    # --- within a turn -----------------------------------------------------------------------

    def _chosen(
        self, request: Request, agents: Sequence[str], done: Consolidated
    ) -> list[tuple[str, str]]:
        """Return the sessions that are to be consolidated, imported ones too; note why not."""
        named, again = request.again or request.session, bool(request.again)
        heads = [(agent, one) for agent in agents for one in self._with.heads(agent)]
        if named and agents and not any(one.id == named for _, one in heads):
            raise NotFound(f"There is no session {named!r} of {' or '.join(agents)}.")
        chosen = []
        for agent, head in heads:
            why = self._how(head, again=again) if named in ("", head.id) else OPEN
            if not why:
                chosen.append((agent, head.id))
            elif head.id == named or why == BROKEN:
                done.notes.append(f"{head.id} of {agent}: {why}.")
        return chosen

    def _take(
        self, agent: str, session: str, client: str, done: Consolidated, *, dry_run: bool
    ) -> None:
        """Consolidate a session. What goes wrong leaves it marked, and is told in words."""
        from vaultmind.consolidate.settle import settle

        self._check()
        caller = Caller("agent", agent, client)
        work = Work(self._with, agent, session, caller, self._check, dry_run)
        try:
            left, tried = settle(work, self._minds()[0], self._max_facts)
            self._tries[work.path] += tried and not dry_run
            gives_up = tried and self._tries[work.path] >= MOST_TRIES
            if not dry_run and (not left.pending or gives_up):
                unclear = any(one.reason == "unclear alone" for one in left.dropped)
                then = UNCLEAR if unclear and left.by == "extractive" else ""
                marked = self.mark(agent, session, caller, then)
                why = () if marked else ("It was opened again and will be read when it ends.",)
                left = replace(left, pending=not marked, notes=(*left.notes, *why))
        except CutOff:
            raise
        except Exception as error:  # one odd session must not stop the others
            known = isinstance(error, (VaultMindError, OSError))
            log.warning("%s of %s was not consolidated", session, agent, exc_info=not known)
            why = (f"To be tried again: {error if known else repr(error)}",)
            left = SessionDone(agent, session, pending=True, notes=why)
        done.sessions.append(left)

    def _levels(self, agent: str, client: str, done: Consolidated) -> None:
        self._check()
        caller = Caller("agent", agent, client)
        try:
            done.summaries += self._minds()[1].make(agent, caller)
        except (VaultMindError, OSError) as error:
            log.warning("the summaries of %s were not made: %s", agent, error)
            done.notes.append(f"Could not write the summaries of {agent}: {error}")
