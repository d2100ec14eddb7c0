"""One session, from what was said in it to what it leaves: step after step, each repeatable."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vaultmind.consolidate.apply import SETTLED, Applying
from vaultmind.consolidate.context import ActiveContext
from vaultmind.consolidate.ground import share_of
from vaultmind.consolidate.state import State
from vaultmind.consolidate.talk import key_of
from vaultmind.consolidate.types import (
    SECTION_OF,
    Candidate,
    CutOff,
    Dropped,
    Extraction,
    SessionDone,
    Settled,
    Setup,
    Understood,
)
from vaultmind.errors import BadArgument, VaultMindError
from vaultmind.memory.audit import REPORTED, settled_words
from vaultmind.memory.match import mentions, same_fact
from vaultmind.memory.suggestions import parse
from vaultmind.plural import counted
from vaultmind.redact import mask
from vaultmind.session.active import language_of
from vaultmind.session.files import iso, read_text, recallable
from vaultmind.session.sentences import sentences
from vaultmind.types import Caller, Fact, MemoryWrite, Message
from vaultmind.vault.edits import remove_property, set_property
from vaultmind.vault.files import Change, FileStat, FileText
from vaultmind.vault.session_meta import parse_meta

RETOLD = 0.5
"""Share of its words from which a fact tells once more what an agent reported of a message."""
MOST_TRIES = 3
"""Times that a model is asked about a session; then what was found without it is enough."""
READS = 3
"""How often a session that is changed while it is read is read anew."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Read:
    """A session as it may be recalled, and what was made of it."""

    messages: Mapping[str, Message]
    understood: Understood


class SessionSettler:
    """Consolidates a session. One at a time."""

    def __init__(
        self, setup: Setup, state: State, context: ActiveContext, check: Callable[[], None]
    ) -> None:
        """`check` is called between two steps; it raises CutOff where the work is to stop."""
        self._context = context
        self._setup = setup
        self._with = setup.resources
        self._paths = setup.resources.reader.paths
        self._state = state
        self._check = check
        self._applying = Applying(
            self._with.gate, self._with.reader, self._with.clock, between=check
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
        stat = self._with.reader.stat(path)
        read = self._read(agent, path)
        found, messages = read.understood, read.messages
        facts, dropped = self._untold(agent, session, found.extraction, messages)
        left, dropped = self._left_before(agent, session, dropped)
        settled = self._applying.apply(agent, session, facts, messages, caller, dry_run=dry_run)
        done = replace(
            done,
            facts=(*settled, *left),
            dropped=tuple(dropped),
            summary=found.summary,
            by=found.by,
            notes=(*found.notes, *_archived(settled)),
        )
        if dry_run:
            return replace(done, pending=found.again)
        self._check()
        told = [
            (one.text, one.reason, _blocks(one.evidence, messages))
            for one in dropped
            if one.category != "DELETE"  # after a kill it may be a wish fulfilled
        ]
        self._with.gate.dropped(agent, session, told, caller)
        self._check()
        note = self._context.better(agent, path, found, done.facts, self._state)
        done = replace(done, notes=(*done.notes, *filter(None, [note])))
        self._check()
        unasked = found.capped or found.resting
        if found.again and (unasked or self._state.tried(agent, session) < MOST_TRIES):
            return replace(done, pending=True)
        return self._marked(done, path, stat, caller)

    def _untold(
        self, agent: str, session: str, found: Extraction, messages: Mapping[str, Message]
    ) -> tuple[list[Candidate], list[Dropped]]:
        """Return what no agent reported in other words from the same messages, and the rest.

        What an agent reported may be known, or wait for the person.
        """
        suggested = parse(read_text(self._with.reader, self._paths.suggestions)[0])
        waits = [one.write for one in suggested if one.write.agent == agent]
        every: list[Fact | MemoryWrite] = [*self._known(agent), *waits]
        reported = [
            (one.evidence.block, one.text)
            for one in every
            if one.how == REPORTED and one.evidence and one.evidence.session == session
        ]
        new, dropped = list[Candidate](), list(found.dropped)
        for fact in found.facts:
            blocks = _blocks(fact.evidence, messages)
            if any(b in blocks and share_of(fact.text, text) >= RETOLD for b, text in reported):
                dropped.append(Dropped(fact.text, "already known", fact.evidence, fact.category))
            else:
                new.append(fact)
        return new, dropped

    def _left_before(
        self, agent: str, session: str, dropped: Sequence[Dropped]
    ) -> tuple[list[Settled], list[Dropped]]:
        """Return what is known because this very session left it, and what else was dropped."""
        known = self._with.gate.settled_before(agent, session)
        own = [
            one.reason == "already known" and settled_words(one.text) in known for one in dropped
        ]
        left = [
            Settled(
                one.category,
                one.text,
                one.evidence,
                reason=SETTLED,
                section=SECTION_OF.get(one.category),
            )
            for one, is_own in zip(dropped, own, strict=True)
            if is_own
        ]
        return left, [one for one, is_own in zip(dropped, own, strict=True) if not is_own]

    def _marked(
        self, done: SessionDone, path: str, stat: FileStat | None, caller: Caller
    ) -> SessionDone:
        """Mark a session as done; one that cannot be marked is so as long as its file stays so."""
        change = consolidated(self._with.clock())
        if self._with.gate.save(path, change, caller, "a session was consolidated") is not None:
            unclear = sum(one.reason == "unclear alone" for one in done.dropped)
            left = unclear if done.by == "extractive" else 0
            self._state.settled(done.agent, done.session, unclear=left)
            return done
        if parse_meta(read_text(self._with.reader, path)[0]).state != "ended":
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
        for _ in range(READS):
            self._check()
            messages = {key_of(one): one for one in told}
            known = {one.text for one in self._known(agent)}
            understood = self._understood(agent, list(messages.values()))
            self._check()
            gone = known - {one.text for one in self._known(agent)}
            understood = _without(understood, gone)
            now = self._told(agent, path)
            if now == told:
                return _Read(messages, understood)
            told = now
        kept = {key_of(one): one for one in told if messages.get(key_of(one)) == one}
        facts = tuple(one for one in understood.extraction.facts if set(one.evidence) <= set(kept))
        extraction = replace(understood.extraction, facts=facts)
        return _Read(kept, replace(understood, extraction=extraction, summary=""))

    def _told(self, agent: str, path: str) -> list[Message]:
        text, with_ = self._with.reader.read(path).text, self._with
        return [one for one, _ in recallable(agent, path, text, with_.hides)]

    def _understood(self, agent: str, messages: Sequence[Message]) -> Understood:
        if not any(one.text.strip() for one in messages):
            return Understood(Extraction())
        return self._setup.engines().thinker.extract(
            messages,
            self._known(agent),
            language=language_of(messages),
            max_facts=self._setup.settings.max_facts,
        )

    def _known(self, agent: str) -> list[Fact]:
        """Return the facts of an agent's brain and archive, without secrets."""
        return [replace(one, text=mask(one.text).text) for one in self._applying.known(agent)]


def consolidated(when: datetime) -> Change:
    """Return the change that says a session was consolidated, in its front matter alone.

    One that a person has opened again, or whose properties are broken, is left as it is.
    """

    def change(file: FileText | None) -> str | None:
        if file is None or parse_meta(file.text).state != "ended":
            return None
        try:
            return remove_property(set_property(file.text, "consolidated", iso(when)), "pending")
        except BadArgument as error:
            log.warning("%s could not be marked: %s", file.path, error)
            return None

    return change


def _blocks(keys: Sequence[str], messages: Mapping[str, Message]) -> tuple[str, ...]:
    return tuple(messages[key].block for key in keys if key in messages)


def _archived(settled: Sequence[Settled]) -> tuple[str, ...]:
    """Return in words how many older facts made room, if any did."""
    moved = sum(one.archived for one in settled)
    if not moved:
        return ()
    facts = counted(moved, "older fact")
    return (f"{facts} moved to the archive to keep the brain small; `vaultmind log` names them.",)


def _without(found: Understood, gone: set[str]) -> Understood:
    """Return what was found without the words of facts that were erased while it was thought of."""

    def says(text: str) -> bool:
        return any(mentions(text, one) or same_fact(text, one) for one in gone)

    kept = tuple(one for one in found.extraction.facts if not says(one.text))
    erased = (one for one in found.extraction.facts if says(one.text))
    dropped = [
        Dropped("", "forgotten", one.evidence, one.category) if says(one.text) else one
        for one in found.extraction.dropped
    ]
    dropped += [Dropped("", "forgotten", one.evidence, one.category) for one in erased]
    summary = " ".join(one for one in sentences(found.summary) if not says(one))
    return replace(found, extraction=Extraction(kept, tuple(dropped)), summary=summary)
