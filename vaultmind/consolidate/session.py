"""One session, from what was said in it to what it leaves: step after step, each repeatable."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from vaultmind.consolidate.applying import SETTLED, Applying
from vaultmind.consolidate.context import ActiveContext
from vaultmind.consolidate.facts.supported import shared
from vaultmind.consolidate.marks import settled as marked
from vaultmind.consolidate.means import DroppedText, Means
from vaultmind.consolidate.model.understood import Understood
from vaultmind.consolidate.state import State
from vaultmind.consolidate.talk import key_of
from vaultmind.consolidate.turns import CutOff
from vaultmind.consolidate.types import (
    SECTION_OF,
    Candidate,
    Dropped,
    Extraction,
    SessionDone,
    Settled,
)
from vaultmind.errors import VaultMindError
from vaultmind.memory.audit import REPORTED, settled_words
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.match import mentions, same_fact
from vaultmind.plural import counted
from vaultmind.redact import mask
from vaultmind.session.active import language_of
from vaultmind.session.files import read_text, recallable
from vaultmind.session.sentences import sentences
from vaultmind.types import Caller, Fact, Message
from vaultmind.vault.files import FileStat
from vaultmind.vault.session_meta import parse_meta

RETOLD = 0.5
"""Share of its words from which a fact tells once more what an agent reported of a message."""
MOST_TRIES = 3
"""Times that a model is asked about a session; then what was found without it is enough."""
READS = 3
"""How often a session that is changed while it is read is read anew."""
log = logging.getLogger(__name__)


_NOTHING = Extraction()


@dataclass(frozen=True, slots=True)
class _Read:
    """A session as it may be recalled, and what was made of it."""

    messages: Mapping[str, Message]
    understood: Understood


class OneSession:
    """Consolidates a session. One at a time."""

    def __init__(
        self, means: Means, state: State, context: ActiveContext, check: Callable[[], None]
    ) -> None:
        """`check` is called between two steps; it raises CutOff where the work is to stop."""
        self._context = context
        self._means = means
        self._paths = means.resources.reader.paths
        self._state = state
        self._check = check
        self._applying = Applying(
            means.resources.gate, means.resources.reader, means.resources.clock, between=check
        )

    def take(self, agent: str, session: str, client: str, *, dry_run: bool = False) -> SessionDone:
        """Return what a session left. What goes wrong leaves it marked, and is told in words.

        Raises CutOff.
        """
        done = SessionDone(agent, session)
        try:
            return self._taken(done, Caller("agent", agent, client), dry_run=dry_run)
        except CutOff:
            raise
        except (VaultMindError, OSError) as error:
            log.warning("%s of %s was not consolidated: %s", session, agent, error)
            return replace(done, pending=True, notes=(f"It stays to be done: {error}",))
        except Exception as error:  # one odd session must not stop the others
            log.exception("%s of %s was not consolidated", session, agent)
            return replace(done, pending=True, notes=(f"It stays to be done: {error!r}",))

    def _taken(self, done: SessionDone, caller: Caller, *, dry_run: bool) -> SessionDone:
        agent, session = done.agent, done.session
        path = self._paths.session(agent, session)
        stat = self._means.resources.reader.stat(path)
        read = self._read(agent, path)
        found, messages = read.understood, read.messages
        facts, retold = self._untold(agent, session, found.extraction.facts, messages)
        dropped = (*found.extraction.dropped, *retold)
        left, dropped = self._left_before(agent, session, dropped)
        settled = self._applying.apply(agent, session, facts, messages, caller, dry_run=dry_run)
        done = replace(
            done,
            facts=(*settled, *left),
            dropped=dropped,
            summary=found.summary,
            by=found.by,
            notes=(*found.notes, *_archived(settled)),
        )
        if dry_run:
            return replace(done, pending=found.again)
        self._check()
        self._means.resources.gate.dropped(agent, session, _told(dropped, messages), caller)
        self._check()
        note = self._context.better(agent, path, (found, done.facts), self._state)
        done = replace(done, notes=(*done.notes, *filter(None, [note])))
        self._check()
        unasked = found.capped or found.resting
        if found.again and (unasked or self._state.tried(agent, session) < MOST_TRIES):
            return replace(done, pending=True)
        return self._marked(done, path, stat, caller)

    def _untold(
        self,
        agent: str,
        session: str,
        facts: Sequence[Candidate],
        messages: Mapping[str, Message],
    ) -> tuple[list[Candidate], list[Dropped]]:
        """Return what no agent reported in other words from the same messages, and the rest."""
        reported = [
            (one.evidence.block, one.text)
            for one in self._known(agent)
            if one.how == REPORTED and one.evidence and one.evidence.session == session
        ]
        new: list[Candidate] = []
        retold: list[Dropped] = []
        for fact in facts:
            blocks = {messages[key].block for key in fact.evidence if key in messages}
            told = (text for block, text in reported if block in blocks)
            if any(shared(fact.text, text) >= RETOLD for text in told):
                dropped = Dropped(fact.text, "already known", fact.evidence, fact.category)
                retold.append(dropped)
            else:
                new.append(fact)
        return new, retold

    def _left_before(
        self, agent: str, session: str, dropped: Sequence[Dropped]
    ) -> tuple[list[Settled], tuple[Dropped, ...]]:
        """Return what is known because this very session left it, and what else was dropped."""
        known = self._means.resources.gate.settled_before(agent, session)
        left: list[Settled] = []
        rest: list[Dropped] = []
        for one in dropped:
            if one.reason == "already known" and settled_words(one.text) in known:
                section = SECTION_OF.get(one.category)
                left.append(
                    Settled(one.category, one.text, one.evidence, reason=SETTLED, section=section)
                )
            else:
                rest.append(one)
        return left, tuple(rest)

    def _marked(
        self, done: SessionDone, path: str, stat: FileStat | None, caller: Caller
    ) -> SessionDone:
        """Mark a session as done; one that cannot be marked is so as long as its file stays so."""
        change = marked(self._means.resources.clock())
        written = self._means.resources.gate.save(
            path, change, caller, "a session was consolidated"
        )
        if written is not None:
            self._state.settled(done.agent, done.session)
            return done
        if parse_meta(read_text(self._means.resources.reader, path)[0]).state != "ended":
            why = "It was opened again, and is taken up when it ends."
            return replace(done, pending=True, notes=(*done.notes, why))
        self._state.leave(done.agent, done.session, stat)
        why = (
            f"The properties of {path} are broken: it could not be marked as consolidated, and is "
            "in no summary. Mend them to have it taken up again."
        )
        return replace(done, notes=(*done.notes, why))

    def _read(self, agent: str, path: str) -> _Read:
        """Return what may be recalled of a session and what that comes to.

        Anew where something was forgotten, erased or edited while it was thought about.
        """
        told = self._told(agent, path)
        for last in (*[False] * (READS - 1), True):
            self._check()
            messages = {key_of(one): one for one in told}
            known = self._known(agent)
            understood = self._understood(agent, list(messages.values()))
            self._check()
            left = {one.text for one in self._known(agent)}
            gone = [one.text for one in known if one.text not in left]
            understood = _without(understood, gone)
            now = self._told(agent, path)
            if now == told:
                return _Read(messages, understood)
            told = now
            if last:
                break
        kept = {key_of(one): one for one in told if messages.get(key_of(one)) == one}
        return _Read(kept, _supported(understood, kept))

    def _told(self, agent: str, path: str) -> list[Message]:
        text = self._means.resources.reader.read(path).text
        shown = recallable(
            agent, path, text, self._means.resources.hides, self._means.resources.embedder()
        )
        return [one for one, _ in shown]

    def _understood(self, agent: str, messages: Sequence[Message]) -> Understood:
        if not any(one.text.strip() for one in messages):
            return Understood(_NOTHING)
        return self._means.engines().thinker.extract(
            messages,
            self._known(agent),
            language=language_of(messages),
            max_facts=self._means.settings.max_facts,
        )

    def _known(self, agent: str) -> tuple[Fact, ...]:
        """Return the facts of an agent's brain and archive."""
        found: list[Fact] = []
        for path in (self._paths.brain(agent), self._paths.archive(agent)):
            text, _ = read_text(self._means.resources.reader, path)
            found += parse_brain(mask(text).text).all()
        return tuple(found)


def _archived(settled: Sequence[Settled]) -> tuple[str, ...]:
    """Return in words how many older facts made room, if any did."""
    moved = sum(one.archived for one in settled)
    if not moved:
        return ()
    facts = counted(moved, "older fact")
    return (f"{facts} moved to the archive to keep the brain small; `vaultmind log` names them.",)


def _told(dropped: Sequence[Dropped], messages: Mapping[str, Message]) -> list[DroppedText]:
    """Return what the audit is told of what was dropped, with the blocks of its messages.

    A wish to forget what is not in memory is no fact, and after a kill it may be one fulfilled.
    """

    def blocks(keys: Sequence[str]) -> tuple[str, ...]:
        return tuple(messages[key].block for key in keys if key in messages)

    facts = (one for one in dropped if one.category != "DELETE")
    return [(one.text, one.reason, blocks(one.evidence)) for one in facts]


def _without(found: Understood, gone: Sequence[str]) -> Understood:
    """Return what was found without the words of facts that were erased while it was thought of."""
    if not gone:
        return found

    def says(text: str) -> bool:
        return any(mentions(text, one) or same_fact(text, one) for one in gone)

    facts = found.extraction.facts
    kept = tuple(one for one in facts if not says(one.text))
    erased = [
        Dropped("", "forgotten", one.evidence, one.category) for one in facts if says(one.text)
    ]
    dropped = [
        Dropped("", "forgotten", one.evidence, one.category) if says(one.text) else one
        for one in found.extraction.dropped
    ]
    extraction = replace(found.extraction, facts=kept, dropped=(*dropped, *erased))
    summary = " ".join(one for one in sentences(found.summary) if not says(one))
    return replace(found, extraction=extraction, summary=summary)


def _supported(found: Understood, messages: Mapping[str, Message]) -> Understood:
    """Return what is still said by messages that nobody changed meanwhile; no summary."""
    facts = tuple(one for one in found.extraction.facts if set(one.evidence) <= set(messages))
    return replace(found, extraction=replace(found.extraction, facts=facts), summary="")
