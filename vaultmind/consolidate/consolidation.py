"""Falling asleep: what ended conversations leave in memory, one session after another.

read what may be recalled → facts and a summary → the gate, fact by fact → what was dropped, to
the audit → the active context → the mark that it is done → summaries of several sessions. Each
step may be repeated after a kill without anything being done twice.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from vaultmind.consolidate.background import Background, Standing
from vaultmind.consolidate.context import ActiveContext
from vaultmind.consolidate.means import Engines, Means, Thinks
from vaultmind.consolidate.state import State
from vaultmind.consolidate.turns import CutOff, Turns
from vaultmind.consolidate.types import Consolidated, Request, SessionDone, SummaryDone
from vaultmind.consolidate.waiting import pending, stands, unsettled
from vaultmind.errors import BadArgument, NotFound, VaultMindError
from vaultmind.ports import Report, silent
from vaultmind.session.active import ActiveContextFile
from vaultmind.session.files import Head, iso
from vaultmind.types import Caller, Progress
from vaultmind.vault.paths import SESSION_ID, agent_name

if TYPE_CHECKING:
    from vaultmind.consolidate.session import OneSession

BY_ITSELF = "consolidation"
"""What an audit line calls the client where nobody asked."""
CUT_OFF = "It was cut off, and is gone on with another time."
log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Doing:
    """What one run has come to so far."""

    sessions: list[SessionDone] = field(default_factory=list)
    summaries: list[SummaryDone] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def done(self) -> Consolidated:
        """Return it as an answer."""
        return Consolidated(tuple(self.sessions), tuple(self.summaries), tuple(self.notes))


class Consolidation:
    """Consolidates sessions, one at a time. One per vault; any thread."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._paths = means.resources.reader.paths
        self._state = State(means.state)
        self._turns = Turns()
        self._stopping = threading.Event()
        resources = means.resources
        written = ActiveContextFile(resources.reader, resources.hides, resources.embedder)
        self._context = ActiveContext(resources.gate, resources.reader, written, resources.clock)
        self._background = Background(
            self._by_itself, lambda: means.end_idle(""), means.settings.delay_seconds
        )
        self._running = ""
        self._last: Consolidated | None = None

    @cached_property
    def _one(self) -> OneSession:
        """Return what consolidates a session; it is not imported before that."""
        from vaultmind.consolidate.session import OneSession

        return OneSession(self._means, self._state, self._context, self._check)

    def run(self, request: Request, caller: Caller, report: Report = silent) -> Consolidated:
        """Consolidate what is asked for, now; a run that goes on already is waited for.

        The facts are written as the agent's own, whoever asks: its level binds them. Raises
        NotFound, BadArgument for a session or summary that is not there.
        """
        agents = (agent_name(request.agent),) if request.agent else self._paths.agent_names()
        if not request.dry_run:
            self._means.end_idle(agents[0] if request.agent else "")
        with self._turns.asked():
            doing = _Doing()
            try:
                self._asked(request, agents, caller, doing, report)
            except CutOff:
                doing.notes.append(CUT_OFF)
            finally:
                self._running = ""
            return self._over(doing, dry_run=request.dry_run)

    def tried(self, agent: str, session: str, thinker: Thinks) -> SessionDone:
        """Return what another engine would take from a session; nothing is written or marked.

        Raises NotFound for a session that is not there.
        """
        agent = self._whose(session, (agent_name(agent),))
        engines = Engines(thinker, self._means.engines().levels)
        means = replace(self._means, engines=lambda: engines)
        from vaultmind.consolidate.session import OneSession

        one = OneSession(means, self._state, self._context, self._check)
        return one.take(agent, session, "", dry_run=True)

    def ended(self, agent: str, session: str) -> None:
        """Say that a session has ended: after a while of quiet it is consolidated."""
        self._context.note(agent, self._paths.session(agent, session), self._state)
        if self._means.settings.auto and not self._stopping.is_set():
            self._background.wake()

    def standing(self) -> Standing:
        """Return how far it is."""
        queue = tuple(
            (agent, session)
            for agent in self._paths.agent_names()
            if self._means.resources.gate.keeps_records(agent)
            for session in pending(self._heads(agent), self._means.resources.device)
        )
        return Standing(
            queue,
            self._running,
            self._state.paused,
            self._last,
            self._state.last_time,
            self._state.dropped,
            self._means.seconds_today(),
            self._for_the_asking(queue),
        )

    def _for_the_asking(self, queue: Collection[tuple[str, str]]) -> int:
        """Return how many sessions `run` would take that are not taken by themselves."""
        found = {
            (agent, head.id)
            for agent in self._paths.agent_names()
            if self._means.resources.gate.keeps_records(agent)
            for head in unsettled(self._heads(agent))
            if stands(head.meta, self._means.resources.device) == "waits"
        }
        return len(found.difference(queue))

    def pause(self) -> None:
        """Begin with nothing more by itself, after a restart neither, until `resume`."""
        self._state.pause(paused=True)

    def resume(self) -> None:
        """Go on by itself."""
        self._state.pause(paused=False)
        self.start()

    def start(self) -> None:
        """Look in the background for what waits; returns at once."""
        if self._means.settings.auto and not self._stopping.is_set():
            self._background.wake()

    def settle(self, timeout_seconds: float) -> bool:
        """Wait until nothing is left to do by itself; return whether that came."""
        return self._background.settle(timeout_seconds)

    def stop(self) -> None:
        """Have what is being worked at end before its next step, and begin with nothing more."""
        self._stopping.set()

    def close(self) -> None:
        """Stop: what is being worked at stays marked, and is begun again another time."""
        self.stop()
        self._background.close()

    # --- what was asked for ----------------------------------------------------------------

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
            chosen = [
                (agent, session) for agent in agents for session in self._waiting(agent, doing)
            ]
        report(Progress(0, len(chosen), "sessions"))
        for number, (agent, session) in enumerate(chosen, 1):
            self._take(agent, session, caller.client, doing, dry_run=request.dry_run)
            report(Progress(number, len(chosen), "sessions"))
        if not request.again:
            for agent in agents:
                self._levels(agent, caller.client, doing, asked=request, report=report)

    def _whose(self, session: str, agents: Sequence[str]) -> str:
        """Return the one agent that has a session of this id."""
        whose = [
            one
            for one in agents
            if (self._paths.root / self._paths.session(one, session)).is_file()
        ]
        if not whose:
            name = f"{agents[0]} has" if len(agents) == 1 else "No agent has"
            raise NotFound(f"{name} {'no' if len(agents) == 1 else 'a'} session {session!r}.")
        if len(whose) > 1:
            raise BadArgument("agent", "", f"one of {', '.join(whose)}: each has a {session}")
        return whose[0]

    def _may(self, request: Request, agent: str, session: str, doing: _Doing) -> bool:
        """Tell whether a session that is named may be consolidated; if not, note why."""
        if why := self._kept_out(agent):
            doing.notes.append(why)
            return False
        head = next((one for one in self._means.resources.heads(agent) if one.id == session), None)
        how = stands(head.meta, self._means.resources.device) if head else "open"
        if how == "done" and request.again:
            how = (
                stands(replace(head.meta, consolidated=""), self._means.resources.device)
                if head
                else how
            )
        why = {
            "waits": "",
            "done": f"{session} of {agent} was consolidated already; --again does it anew.",
            "open": f"{session} of {agent} has not ended yet.",
            "another device": f"{session} of {agent} is another device's, which consolidates it.",
        }[how]
        if why:
            doing.notes.append(why)
        return not why

    def _waiting(self, agent: str, doing: _Doing) -> Iterator[str]:
        """Yield the sessions of an agent that were not consolidated, imported ones too."""
        if why := self._kept_out(agent):
            doing.notes.append(why)
            return
        others = 0
        for head in unsettled(self._heads(agent)):
            how = stands(head.meta, self._means.resources.device)
            if how == "waits":
                yield head.id
            others += how == "another device"
        if others:
            sessions = "1 session" if others == 1 else f"{others:,} sessions"
            doing.notes.append(f"{sessions} of {agent} were left to the device that made them.")

    def _kept_out(self, agent: str) -> str:
        if self._means.resources.gate.keeps_records(agent):
            return ""
        return f"Nothing is written for {agent}: it may only read (autonomy 0 in its identity.md)."

    def _summary_again(
        self, request: Request, agents: Sequence[str], caller: Caller, report: Report
    ) -> SummaryDone:
        missing: NotFound | None = None
        for agent in agents:
            own = Caller("agent", agent, caller.client)
            try:
                return self._means.engines().levels.again(
                    agent, request.again, own, dry_run=request.dry_run, report=report
                )
            except NotFound as error:
                missing = missing or error
        raise missing or NotFound(f"There is no agent, and no summary {request.again!r}.")

    # --- by itself -------------------------------------------------------------------------

    def _by_itself(self) -> None:
        """Consolidate what is pending, session by session: who asks goes in between."""
        doing = _Doing()
        try:
            for agent, session in self.standing().queue:
                if self._state.paused:
                    return
                with self._turns.by_itself():
                    head = self._head(agent, session)
                    if head and stands(head.meta, self._means.resources.device) == "waits":
                        self._take(agent, session, BY_ITSELF, doing, dry_run=False)
            for agent in self._paths.agent_names():
                if self._state.paused:
                    return
                with self._turns.by_itself():
                    self._levels(agent, BY_ITSELF, doing, asked=None, report=silent)
        except CutOff:
            log.info("consolidation was cut off; it goes on after the next start")
        finally:
            self._running = ""
            if doing.sessions or doing.summaries:
                self._over(doing, dry_run=False)

    def _heads(self, agent: str) -> Iterator[Head]:
        """Yield the heads of an agent's sessions but those done that cannot say so themselves."""
        for head in self._means.resources.heads(agent):
            if not self._state.is_left(agent, head.id, head.stat):
                yield head

    def _head(self, agent: str, session: str) -> Head | None:
        return next((one for one in self._means.resources.heads(agent) if one.id == session), None)

    # --- within a turn ---------------------------------------------------------------------

    def _take(self, agent: str, session: str, client: str, doing: _Doing, *, dry_run: bool) -> None:
        self._check()
        self._running = f"{session} of {agent}"
        done = self._one.take(agent, session, client, dry_run=dry_run)
        doing.sessions.append(done)

    def _levels(
        self, agent: str, client: str, doing: _Doing, *, asked: Request | None, report: Report
    ) -> None:
        self._check()
        if not self._means.resources.gate.keeps_records(agent):
            return
        self._running = f"summaries of {agent}"
        try:
            made = self._means.engines().levels.make(
                agent,
                Caller("agent", agent, client),
                dry_run=asked is not None and asked.dry_run,
                imported_too=asked is not None,
                report=report,
            )
            doing.summaries += _told_once(made)
        except (VaultMindError, OSError) as error:
            log.warning("the summaries of %s were not made: %s", agent, error)
            again = "They are tried again at the next run."
            doing.notes.append(f"The summaries of {agent} were not made: {_why(error)} {again}")

    def _over(self, doing: _Doing, *, dry_run: bool) -> Consolidated:
        done = doing.done()
        if not dry_run:
            self._last = done
            dropped = Counter[str](one.reason for each in done.sessions for one in each.dropped)
            self._state.ran(iso(self._means.resources.clock()), dropped)
        return done

    def _check(self) -> None:
        """Raise CutOff once the work is to stop."""
        if self._stopping.is_set():
            raise CutOff


def _told_once(made: Iterable[SummaryDone]) -> Iterator[SummaryDone]:
    """Yield summaries with the notes that none before them has: one broken file bears on all."""
    told: set[str] = set()
    for one in made:
        new = tuple(note for note in dict.fromkeys(one.notes) if note not in told)
        told.update(new)
        yield replace(one, notes=new)


def _why(error: VaultMindError | OSError) -> str:
    """Return an error in words, as a sentence and without its hint."""
    said = error.message if isinstance(error, VaultMindError) else str(error)
    return said if said.endswith(".") else f"{said}."
