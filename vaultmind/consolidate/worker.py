"""Consolidation: what ended conversations leave in memory, one session after another.

read what may be recalled → facts and a summary → the gate, fact by fact → what was dropped, to
the audit → the active context → the mark that it is done → summaries of several sessions. Each
step may be repeated after a kill without anything being done twice.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from vaultmind.consolidate.types import (
    Consolidated,
    CutOff,
    Request,
    SessionDone,
    Setup,
    Standing,
    Work,
)
from vaultmind.errors import NotFound, VaultMindError
from vaultmind.heavy import step_back
from vaultmind.plural import counted
from vaultmind.ports import Report, silent
from vaultmind.session.files import Head, iso
from vaultmind.types import Caller, Progress
from vaultmind.vault.paths import SESSION_ID, agent_name
from vaultmind.vault.session_meta import EXTRACTION, read_meta

BY_ITSELF = "consolidation"
"""What an audit line calls the client where nobody asked."""
LOOK_SECONDS = 60.0
"""How often it is looked whether a session has been silent for too long."""
CLOSE_SECONDS = 2.0
"""How long a close waits for a step to end."""
MOST_TRIES = 3
"""Times that a model is asked about a session; then what was found without it is enough."""
MOST_KEPT = 500
"""Sessions of which something is kept over a restart; the oldest go first."""
WHY = {
    "done": "{session} of {agent} was consolidated already; --again does it anew.",
    "open": "{session} of {agent} has not ended yet.",
    "another device": "{session} of {agent} is another device's, which does it.",
    "broken": "The properties of {session} of {agent} are broken: mend them to have it taken up.",
}
"""Why a session is not consolidated, by how it stands."""
log = logging.getLogger(__name__)


class Consolidation:
    """Consolidates sessions, one at a time. One per vault; any thread."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._with = setup.resources
        self._paths = setup.resources.reader.paths
        self._state = State(setup)
        self._stopping = threading.Event()
        self._turns = threading.Condition()
        self._is_taken = False
        self._asking = 0
        self._due: float | None = None
        """From when on there is work to do by itself; None while there is none."""
        self._is_working = False
        self._thread: threading.Thread | None = None
        self._running = ""

    def run(self, request: Request, caller: Caller, report: Report = silent) -> Consolidated:
        """Consolidate what is asked for, now; a run that goes on already is waited for.

        The facts are written as the agent's own, whoever asks: its level binds them. Raises
        NotFound for a session or summary that is not there.
        """
        agents = (agent_name(request.agent),) if request.agent else self._paths.agent_names()
        if not request.dry_run:
            self._setup.end_idle(request.agent and agents[0])
        done = Consolidated()
        with self._turn(asked=True):
            try:
                self._asked(request, agents, caller.client, done, report)
            except CutOff:
                done.notes.append("It was cut off, and is gone on with another time.")
            finally:
                self._running = ""
            if not request.dry_run:
                self._state.ran(done)
        return done

    def ended(self, agent: str, session: str) -> None:
        """Say that a session has ended: after a while of quiet it is consolidated."""
        self.start()

    def unsettled(self, agent: str, *, better: bool = False) -> list[str]:
        """Return the sessions of an agent that have ended and wait on this device, oldest first.

        `better`: also those that the built-in engine settled and left something of to a better
        reader, and no imported ones.
        """
        waits = [one.id for one in self._waits(agent) if not (better and one.meta.source)]
        keys = (key.split("/", 1) for key in self._state.table("unclear")) if better else ()
        return sorted({*waits, *(session for whose, session in keys if whose == agent)})

    def settled_by_agent(self, agent: str, session: str, caller: Caller) -> None:
        """Mark a session as settled by the agent itself: no other engine reads it."""
        self._mark(agent, session, caller, "an agent settled a session")

    def standing(self) -> Standing:
        """Return how far it is."""
        agents = self._paths.agent_names()
        waiting = [(agent, one) for agent in agents for one in self._waits(agent)]
        queue = tuple((a, one.id) for a, one in waiting if one.meta.pending == EXTRACTION)
        state, held = self._state, self._state.held
        return Standing(
            queue, self._running, state.paused, str(held.get("last_time") or ""),
            state.table("dropped"), self._setup.seconds_today(), len(waiting) - len(queue),
        )  # fmt: skip

    def pause(self) -> None:
        """Begin with nothing more by itself, after a restart neither, until `resume`."""
        self._state.keep(paused=True)

    def resume(self) -> None:
        """Go on by itself."""
        self._state.keep(paused=False)
        self.start()

    def start(self) -> None:
        """Look in the background for what waits, after a while of quiet; returns at once."""
        if not self._setup.auto or self._stopping.is_set():
            return
        with self._turns:
            self._due = time.monotonic() + self._setup.delay_seconds
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

    def _work(self) -> None:
        """Work when it has been quiet for a while; every now and then end silent sessions."""
        step_back()
        while not self._stopping.is_set():
            with self._turns:
                quiet = LOOK_SECONDS if self._due is None else self._due - time.monotonic()
                if quiet > 0 and self._turns.wait(quiet):
                    continue  # something was told meanwhile
                has_work, self._due, self._is_working = self._due is not None, None, True
            try:
                self._by_itself() if has_work else self._setup.end_idle("")
            except Exception:  # it is tried again after the next end
                log.exception("what was to be consolidated could not be")
            with self._turns:
                self._is_working = False
                self._turns.notify_all()

    def _by_itself(self) -> None:
        """Consolidate what is pending, session by session: who asks goes in between."""
        done = Consolidated()
        try:
            for agent, session in self.standing().queue:
                with self._turn():
                    if not self._state.paused and session in self.unsettled(agent):
                        self._take(agent, session, BY_ITSELF, done, dry_run=False)
            for agent in self._paths.agent_names():
                with self._turn():
                    if not self._state.paused:
                        self._levels(agent, BY_ITSELF, done, dry_run=False)
        except CutOff:
            log.info("consolidation was cut off; it goes on after the next start")
        finally:
            self._running = ""
            if done.sessions or done.summaries:
                self._state.ran(done)

    # --- what waits --------------------------------------------------------------------------

    def _waits(self, agent: str) -> list[Head]:
        if not self._with.gate.keeps_records(agent):
            return []
        return [one for one in self._with.heads(agent) if self._how(one) == "waits"]

    def _how(self, head: Head, *, again: bool = False) -> str:
        """Return how a session stands: one that says no device is any device's."""
        if "pending" not in head.raw and "consolidated" in head.raw and not again:
            return "done"  # without its YAML, which is slow to read
        meta, faults = head.meta, list[str]()
        if meta.state != "ended":
            return "open"
        if meta.consolidated and not again:
            return "done"
        if meta.device not in ("", self._with.device):
            return "another device"
        read_meta(head.raw, faults)
        return "broken" if faults else "waits"

    # --- within a turn -----------------------------------------------------------------------

    def _asked(
        self,
        request: Request,
        agents: Sequence[str],
        client: str,
        done: Consolidated,
        report: Report,
    ) -> None:
        kept = [one for one in agents if self._with.gate.keeps_records(one)]
        done.notes += [
            f"Nothing is written for {one}: it may only read (autonomy 0 in its identity.md)."
            for one in agents
            if one not in kept
        ]
        named = request.again or request.session
        if named and not SESSION_ID.fullmatch(named):
            for agent in kept[:1]:
                own, again = Caller("agent", agent, client), self._setup.levels().again
                done.summaries.append(again(agent, named, own, dry_run=request.dry_run))
            return
        chosen = self._chosen(named, kept, done, again=bool(request.again))
        for at, (agent, session) in enumerate(chosen):
            report(Progress(at, len(chosen), "sessions"))
            self._take(agent, session, client, done, dry_run=request.dry_run)
        report(Progress(len(chosen), len(chosen), "sessions"))
        for agent in () if request.again else kept:
            self._levels(agent, client, done, dry_run=request.dry_run)

    def _chosen(
        self, named: str, agents: Sequence[str], done: Consolidated, *, again: bool
    ) -> list[tuple[str, str]]:
        """Return the sessions that are to be consolidated, imported ones too; note why not."""
        heads = [(agent, one) for agent in agents for one in self._with.heads(agent)]
        if named and agents and not any(one.id == named for _, one in heads):
            whose = f"{agents[0]} has no" if len(agents) == 1 else "No agent has a"
            raise NotFound(f"{whose} session {named!r}.")
        chosen: list[tuple[str, str]] = []
        others: Counter[str] = Counter()
        for agent, head in heads:
            how = self._how(head, again=again) if named in ("", head.id) else "open"
            if how == "waits":
                chosen.append((agent, head.id))
            elif how == "broken" or head.id == named:
                done.notes.append(WHY[how].format(session=head.id, agent=agent))
            elif how == "another device":
                others[agent] += 1
        for agent, number in others.items():
            left = counted(number, "session")
            done.notes.append(f"{left} of {agent}: left to the device that made them.")
        return chosen

    def _take(
        self, agent: str, session: str, client: str, done: Consolidated, *, dry_run: bool
    ) -> None:
        """Consolidate a session. What goes wrong leaves it marked, and is told in words."""
        from vaultmind.consolidate.settle import settle

        self._check()
        self._running = f"{session} of {agent}"
        caller = Caller("agent", agent, client)
        work = Work(self._with, agent, session, caller, self._check, dry_run)
        try:
            left = settle(work, self._setup.thinker(), self._setup.max_facts)
            if not dry_run and (not left.pending or self._state.gives_up(left)):
                unclear = sum(one.reason == "unclear alone" for one in left.dropped)
                unclear = unclear if left.by == "extractive" else 0
                marked = self._mark(agent, session, caller, "a session was consolidated", unclear)
                why = () if marked else ("It was opened again, and is taken up when it ends.",)
                left = replace(left, pending=not marked, notes=(*left.notes, *why))
        except CutOff:
            raise
        except Exception as error:  # one odd session must not stop the others
            known = isinstance(error, (VaultMindError, OSError))
            log.warning("%s of %s was not consolidated", session, agent, exc_info=not known)
            why = (f"It stays to be done: {error if known else repr(error)}",)
            left = SessionDone(agent, session, pending=True, notes=why)
        done.sessions.append(left)

    def _mark(
        self, agent: str, session: str, caller: Caller, reason: str, unclear: int = 0
    ) -> bool:
        """Mark a session as done, and keep how many facts it left to a better reader."""
        from vaultmind.consolidate.settle import consolidated

        path, change = self._paths.session(agent, session), consolidated(self._with.clock())
        if self._with.gate.save(path, change, caller, reason) is None:
            return False
        self._state.put("tries", f"{agent}/{session}", 0)
        self._state.put("unclear", f"{agent}/{session}", unclear)
        return True

    def _levels(self, agent: str, client: str, done: Consolidated, *, dry_run: bool) -> None:
        self._check()
        if not self._with.gate.keeps_records(agent):
            return
        self._running = f"summaries of {agent}"
        caller = Caller("agent", agent, client)
        try:
            done.summaries += self._setup.levels().make(agent, caller, dry_run=dry_run)
        except (VaultMindError, OSError) as error:
            log.warning("the summaries of %s were not made: %s", agent, error)
            said = error.message if isinstance(error, VaultMindError) else str(error)
            why = f"{said.removesuffix('.')}. They are tried again at the next run."
            done.notes.append(f"The summaries of {agent} were not made: {why}")


class State:
    """What is kept over a restart in the state folder, and may be lost. Any thread."""

    def __init__(self, setup: Setup) -> None:
        self._path, self._clock = setup.state, setup.resources.clock
        self._lock = threading.Lock()
        try:
            held = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            held = {}
        self.held: dict[str, Any] = held if isinstance(held, dict) else {}

    @property
    def paused(self) -> bool:
        """Tell whether nothing is begun with by itself."""
        return self.held.get("paused") is True

    def table(self, name: str) -> dict[str, int]:
        """Return numbers by what they are of."""
        found = self.held.get(name)
        return {str(key): int(one) for key, one in found.items()} if isinstance(found, dict) else {}

    def put(self, name: str, key: str, number: int) -> None:
        """Keep a number of a session; a nought is kept by keeping nothing."""
        old = self.table(name)
        new = {one: count for one, count in old.items() if one != key}
        new |= {key: number} if number else {}
        if new != old:
            self.keep(**{name: dict([*new.items()][-MOST_KEPT:])})

    def gives_up(self, left: SessionDone) -> bool:
        """Count one more try in vain at a session; tell whether there were enough."""
        key = f"{left.agent}/{left.session}"
        tries = self.table("tries").get(key, 0) + left.tried
        self.put("tries", key, tries)
        return tries >= MOST_TRIES

    def ran(self, done: Consolidated) -> None:
        """Keep when a run was over and what it dropped."""
        new = Counter(one.reason for each in done.sessions for one in each.dropped)
        dropped = dict(Counter(self.table("dropped")) + new)
        self.keep(last_time=iso(self._clock()), dropped=dropped)

    def keep(self, **values: Any) -> None:  # noqa: ANN401
        """Keep values by their names."""
        with self._lock:
            self.held |= values
            beside = self._path.with_name(f"{self._path.name}.new")
            try:
                beside.write_text(json.dumps(self.held), "utf-8")
                beside.replace(self._path)
            except OSError as error:
                log.warning("%s could not be written: %s", self._path, error)
