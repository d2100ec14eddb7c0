"""Consolidation: what ended conversations leave in memory, one session after another.

read what may be recalled → facts and a summary → the gate, fact by fact → what was dropped, to
the audit → the active context → the mark that it is done → summaries of several sessions. Each
step may be repeated after a kill without anything being done twice.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from vaultmind.consolidate.context import ActiveContext
from vaultmind.consolidate.state import State
from vaultmind.consolidate.types import (
    Consolidated,
    CutOff,
    Request,
    SessionDone,
    Setup,
    Standing,
    SummaryDone,
)
from vaultmind.errors import BadArgument, NotFound, VaultMindError
from vaultmind.heavy import step_back
from vaultmind.ports import Report, silent
from vaultmind.session.active import ActiveContextFile
from vaultmind.session.files import Head, iso
from vaultmind.types import Caller, Progress
from vaultmind.vault.paths import SESSION_ID, agent_name
from vaultmind.vault.session_meta import EXTRACTION, SessionMeta

if TYPE_CHECKING:
    from vaultmind.consolidate.settle import SessionSettler

BY_ITSELF = "consolidation"
"""What an audit line calls the client where nobody asked."""
LOOK_SECONDS = 60.0
"""How often it is looked whether a session has been silent for too long."""
CLOSE_SECONDS = 2.0
"""How long a close waits for a step to end."""
log = logging.getLogger(__name__)


def stands(meta: SessionMeta, device: str) -> Literal["waits", "done", "open", "another device"]:
    """Return how a session stands: one that says no device is any device's."""
    if meta.state != "ended":
        return "open"
    if meta.consolidated:
        return "done"
    return "waits" if meta.device in ("", device) else "another device"


@dataclass(slots=True)
class _Doing:
    """What one run has come to so far."""

    sessions: list[SessionDone] = field(default_factory=list)
    summaries: list[SummaryDone] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Consolidation:
    """Consolidates sessions, one at a time. One per vault; any thread."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._with = setup.resources
        self._paths = setup.resources.reader.paths
        self._state = State(setup.state)
        self._stopping = threading.Event()
        written = ActiveContextFile(self._with.reader, self._with.hides)
        self._context = ActiveContext(self._with.gate, self._with.reader, written, self._with.clock)
        self._turns = threading.Condition()
        self._is_taken = False
        self._asking = 0
        self._due: float | None = None
        """From when on there is work to do by itself; None while there is none."""
        self._is_working = False
        self._thread: threading.Thread | None = None
        self._running = ""
        self._last: Consolidated | None = None

    @cached_property
    def _settler(self) -> SessionSettler:
        """Return what consolidates a session; it is not imported before that."""
        from vaultmind.consolidate.settle import SessionSettler

        return SessionSettler(self._setup, self._state, self._context, self._check)

    def run(self, request: Request, caller: Caller, report: Report = silent) -> Consolidated:
        """Consolidate what is asked for, now; a run that goes on already is waited for.

        The facts are written as the agent's own, whoever asks: its level binds them. Raises
        NotFound, BadArgument for a session or summary that is not there.
        """
        agents = (agent_name(request.agent),) if request.agent else self._paths.agent_names()
        if not request.dry_run:
            self._setup.end_idle(agents[0] if request.agent else "")
        doing = _Doing()
        with self._turn(asked=True):
            try:
                self._asked(request, agents, caller, doing, report)
            except CutOff:
                doing.notes.append("It was cut off, and is gone on with another time.")
            finally:
                self._running = ""
            return self._over(doing, dry_run=request.dry_run)

    def ended(self, agent: str, session: str) -> None:
        """Say that a session has ended: after a while of quiet it is consolidated."""
        self._context.note(agent, self._paths.session(agent, session), self._state)
        self.start()

    def unsettled(self, agent: str, *, better: bool = False) -> list[str]:
        """Return the sessions of an agent that have ended and wait on this device, oldest first.

        `better`: also those that the built-in engine settled and left something of to a better
        reader, and no imported ones.
        """
        waits = [one.id for one in self._waits(agent) if not (better and one.meta.source)]
        return sorted({*waits, *self._state.unclear(agent)}) if better else waits

    def settled_by_agent(self, agent: str, session: str, caller: Caller) -> None:
        """Mark a session as settled by the agent itself: no other engine reads it."""
        from vaultmind.consolidate.settle import consolidated

        path = self._paths.session(agent, session)
        change = consolidated(self._with.clock())
        self._with.gate.save(path, change, caller, "an agent settled a session")
        self._state.settled(agent, session)

    def standing(self) -> Standing:
        """Return how far it is."""
        agents = self._paths.agent_names()
        waiting = [(agent, one) for agent in agents for one in self._waits(agent)]
        queue = tuple((a, one.id) for a, one in waiting if one.meta.pending == EXTRACTION)
        return Standing(
            queue,
            self._running,
            self._state.paused,
            self._last,
            self._state.last_time,
            self._state.dropped,
            self._setup.seconds_today(),
            len(waiting) - len(queue),
        )

    def pause(self) -> None:
        """Begin with nothing more by itself, after a restart neither, until `resume`."""
        self._state.pause(paused=True)

    def resume(self) -> None:
        """Go on by itself."""
        self._state.pause(paused=False)
        self.start()

    def start(self) -> None:
        """Look in the background for what waits, after a while of quiet; returns at once."""
        if not self._setup.settings.auto or self._stopping.is_set():
            return
        with self._turns:
            self._due = time.monotonic() + self._setup.settings.delay_seconds
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="asleep", daemon=True)
                self._thread.start()
            self._turns.notify_all()

    def settle(self, timeout_seconds: float) -> bool:
        """Wait until nothing is left to do by itself; return whether that came."""

        def idle() -> bool:
            return self._stopping.is_set() or (self._due is None and not self._is_working)

        with self._turns:
            return self._turns.wait_for(idle, timeout_seconds)

    def stop(self) -> None:
        """Have what is being worked at end before its next step, and begin with nothing more."""
        self._stopping.set()
        with self._turns:
            self._turns.notify_all()

    def close(self) -> None:
        """Stop: what is being worked at stays marked, and is begun again another time."""
        self.stop()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(CLOSE_SECONDS)

    # --- whose turn it is --------------------------------------------------------------------

    @contextmanager
    def _turn(self, *, asked: bool = False) -> Iterator[None]:
        """Take a turn: one at a time, and who asks goes before what works by itself."""
        with self._turns:
            self._asking += asked
            self._turns.wait_for(lambda: not self._is_taken and (asked or not self._asking))
            self._asking -= asked
            self._is_taken = True
        try:
            yield
        finally:
            with self._turns:
                self._is_taken = False
                self._turns.notify_all()

    def _check(self) -> None:
        """Raise CutOff once the work is to stop."""
        if self._stopping.is_set():
            raise CutOff

    # --- what was asked for ------------------------------------------------------------------

    def _asked(
        self,
        request: Request,
        agents: Sequence[str],
        caller: Caller,
        doing: _Doing,
        report: Report,
    ) -> None:
        if request.again and not SESSION_ID.fullmatch(request.again):
            doing.summaries.append(self._summary_again(request, agents, caller, report))
            return
        if session := request.again or request.session:
            agent = self._whose(session, agents)
            chosen = [(agent, session)] if self._may(request, agent, session, doing) else []
        else:
            chosen = [(agent, one) for agent in agents for one in self._chosen(agent, doing)]
        report(Progress(0, len(chosen), "sessions"))
        for number, (agent, session) in enumerate(chosen, 1):
            self._take(agent, session, caller.client, doing, dry_run=request.dry_run)
            report(Progress(number, len(chosen), "sessions"))
        if not request.again:
            for agent in agents:
                self._levels(agent, caller.client, doing, asked=request, report=report)

    def _whose(self, session: str, agents: Sequence[str]) -> str:
        """Return the one agent that has a session of this id."""
        root = self._paths.root
        whose = [one for one in agents if (root / self._paths.session(one, session)).is_file()]
        if not whose:
            name = f"{agents[0]} has" if len(agents) == 1 else "No agent has"
            raise NotFound(f"{name} {'no' if len(agents) == 1 else 'a'} session {session!r}.")
        if len(whose) > 1:
            raise BadArgument("agent", "", f"one of {', '.join(whose)}: each has a {session}")
        return whose[0]

    def _may(self, request: Request, agent: str, session: str, doing: _Doing) -> bool:
        """Tell whether a session that is named may be consolidated; if not, note why."""
        head = next((one for one in self._with.heads(agent) if one.id == session), None)
        meta = head.meta if head else SessionMeta(session, agent, "")
        how = stands(replace(meta, consolidated="") if request.again else meta, self._with.device)
        why = (
            self._kept_out(agent)
            or {
                "waits": "",
                "done": f"{session} of {agent} was consolidated already; --again does it anew.",
                "open": f"{session} of {agent} has not ended yet.",
                "another device": f"{session} of {agent} is another device's, which does it.",
            }[how]
        )
        doing.notes += [why] if why else []
        return not why

    def _chosen(self, agent: str, doing: _Doing) -> list[str]:
        """Return the sessions of an agent that were not consolidated, imported ones too."""
        if why := self._kept_out(agent):
            doing.notes.append(why)
            return []
        others = sum(self._how(one) == "another device" for one in self._heads(agent))
        if others:
            sessions = "1 session" if others == 1 else f"{others:,} sessions"
            doing.notes.append(f"{sessions} of {agent} were left to the device that made them.")
        return self.unsettled(agent)

    def _kept_out(self, agent: str) -> str:
        if self._with.gate.keeps_records(agent):
            return ""
        return f"Nothing is written for {agent}: it may only read (autonomy 0 in its identity.md)."

    def _summary_again(
        self, request: Request, agents: Sequence[str], caller: Caller, report: Report
    ) -> SummaryDone:
        missing = NotFound(f"There is no agent, and no summary {request.again!r}.")
        for agent in reversed(agents):
            own = Caller("agent", agent, caller.client)
            try:
                return self._setup.engines().levels.again(
                    agent, request.again, own, dry_run=request.dry_run, report=report
                )
            except NotFound as error:
                missing = error
        raise missing

    # --- by itself ---------------------------------------------------------------------------

    def _work(self) -> None:
        """Work when it has been quiet for a while; every now and then end silent sessions."""
        step_back()
        look_at = time.monotonic() + LOOK_SECONDS
        while not self._stopping.is_set():
            with self._turns:
                now = time.monotonic()
                until = look_at if self._due is None else min(self._due, look_at)
                if now < until:
                    self._turns.wait(until - now)
                    continue
                has_work = self._due is not None and now >= self._due
                self._due = None if has_work else self._due
                look_at = now + LOOK_SECONDS
                self._is_working = True
            try:
                self._by_itself() if has_work else self._setup.end_idle("")
            except Exception:  # it is tried again after the next end
                log.exception("what was to be consolidated could not be")
            with self._turns:
                self._is_working = False
                self._turns.notify_all()

    def _by_itself(self) -> None:
        """Consolidate what is pending, session by session: who asks goes in between."""
        doing = _Doing()
        try:
            for agent, session in self.standing().queue:
                with self._turn():
                    if not self._state.paused and session in self.unsettled(agent):
                        self._take(agent, session, BY_ITSELF, doing, dry_run=False)
            for agent in self._paths.agent_names():
                with self._turn():
                    if not self._state.paused:
                        self._levels(agent, BY_ITSELF, doing, asked=None, report=silent)
        except CutOff:
            log.info("consolidation was cut off; it goes on after the next start")
        finally:
            self._running = ""
            if doing.sessions or doing.summaries:
                self._over(doing, dry_run=False)

    def _heads(self, agent: str) -> Iterator[Head]:
        """Yield the heads of an agent's sessions but those done that cannot say so themselves."""
        heads = self._with.heads(agent)
        return (one for one in heads if not self._state.is_left(agent, one.id, one.stat))

    def _waits(self, agent: str) -> list[Head]:
        if not self._with.gate.keeps_records(agent):
            return []
        return [one for one in self._heads(agent) if self._how(one) == "waits"]

    def _how(self, head: Head) -> str:
        if "pending" not in head.raw and "consolidated" in head.raw:
            return "done"  # without its YAML, which is slow to read
        return stands(head.meta, self._with.device)

    # --- within a turn -----------------------------------------------------------------------

    def _take(self, agent: str, session: str, client: str, doing: _Doing, *, dry_run: bool) -> None:
        self._check()
        self._running = f"{session} of {agent}"
        doing.sessions.append(self._settler.take(agent, session, client, dry_run=dry_run))

    def _levels(
        self, agent: str, client: str, doing: _Doing, *, asked: Request | None, report: Report
    ) -> None:
        self._check()
        if not self._with.gate.keeps_records(agent):
            return
        self._running = f"summaries of {agent}"
        try:
            made = self._setup.engines().levels.make(
                agent,
                Caller("agent", agent, client),
                dry_run=asked is not None and asked.dry_run,
                imported_too=asked is not None,
                report=report,
            )
        except (VaultMindError, OSError) as error:
            log.warning("the summaries of %s were not made: %s", agent, error)
            said = error.message if isinstance(error, VaultMindError) else str(error)
            why = f"{said.removesuffix('.')}. They are tried again at the next run."
            doing.notes.append(f"The summaries of {agent} were not made: {why}")
            return
        told: set[str] = set()
        for one in made:  # one broken file bears on all: it is told once
            new = tuple(note for note in dict.fromkeys(one.notes) if note not in told)
            told.update(new)
            doing.summaries.append(replace(one, notes=new))

    def _over(self, doing: _Doing, *, dry_run: bool) -> Consolidated:
        done = Consolidated(tuple(doing.sessions), tuple(doing.summaries), tuple(doing.notes))
        if not dry_run:
            self._last = done
            dropped = Counter[str](one.reason for each in done.sessions for one in each.dropped)
            self._state.ran(iso(self._with.clock()), dropped)
        return done
