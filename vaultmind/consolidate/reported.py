"""What an agent itself says a conversation leaves: its recap, and facts that quote the person.

The agent that was there understood the person best, and is believed where it can show it: the
words that it quotes were logged, and every number, name and date was said.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from vaultmind.consolidate.applying import Applying
from vaultmind.consolidate.facts.supported import stands, supported
from vaultmind.consolidate.means import MemoryGate
from vaultmind.consolidate.merge import is_known
from vaultmind.consolidate.recap import Grounded, LeftOut, grounded, with_recap
from vaultmind.consolidate.talk import Understand, key_of, own_words, says
from vaultmind.consolidate.types import (
    MEANS,
    SECTION_OF,
    Candidate,
    Category,
    Dropped,
    Reason,
)
from vaultmind.errors import PathRefused, UnreadableNote
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.sections import pick
from vaultmind.memory.words import fold
from vaultmind.ports import Clock
from vaultmind.redact import blank_private, mask
from vaultmind.session.active import (
    BODY_TOKENS,
    ActiveContextFile,
    Leaves,
    body_of,
    language_of,
    last_time,
    link,
    speaks_of,
    where_of,
)
from vaultmind.session.files import Hides, read_session, read_text, recallable
from vaultmind.session.summary import unkept
from vaultmind.types import Caller, Fact, Message, Section
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.oneline import one_line
from vaultmind.vault.session_meta import runs

CATEGORY_OF: dict[Section, Category] = {section: name for name, section in SECTION_OF.items()}
OPEN = "the conversation goes on: what it leaves is taken from it when it ends"
LATER = "later conversations have left their own already"
_ABOUT_THE_USER = re.compile(r"\b(?:(?:the )?user(?:'s)?|uzytkowni[kc]\w*|пользовател\w*) ")
"""How an agent speaks of the person: an order where somebody else writes it."""


@dataclass(frozen=True, slots=True)
class Told:
    """A fact as an agent tells it."""

    text: str
    quote: str
    """What the person said, in a message that was logged."""
    section: Section | None = None


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a fact: an outcome of the gate, or `dropped`."""

    text: str
    outcome: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of all that an agent told."""

    facts: tuple[Fate, ...] = ()
    """In the order in which they were told."""
    recap: int = 0
    """Sentences of the recap that were kept."""
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class _Heard:
    """A session as it was logged: what may be recalled of it, and what the person took back."""

    messages: tuple[Message, ...] = ()
    withheld: tuple[str, ...] = ()
    """What of the person's words must not be kept any more."""
    path: str = ""
    said: datetime | None = None
    """When something was said last."""
    open: bool = False
    where: str = ""


class Reported:
    """Takes what agents tell at the end of a conversation. Any thread."""

    def __init__(
        self,
        gate: MemoryGate,
        reader: VaultReader,
        hides: Hides,
        clock: Clock,
        max_facts: int,
        *,
        understand: Understand | None = None,
    ) -> None:
        """`understand` hears the person's own phrases."""
        self._gate = gate
        self._reader = reader
        self._hides = hides
        self._clock = clock
        self._max_facts = max_facts
        self._understand = understand
        self._applying = Applying(gate, reader, clock)
        self._telling = ActiveContextFile(reader, hides)

    def take(
        self, agent: str, session: str, facts: Sequence[Told], recap: str, caller: Caller
    ) -> Taken:
        """Bring into memory what the conversation bears out, and tell what became of the rest.

        `session` is empty where nothing was logged. Raises NotFound, UnreadableNote for a session
        that cannot be read, and what a write of the recap raises.
        """
        heard = self._heard(agent, session)
        fates = self._facts(agent, session, facts, heard, caller) if facts else ()
        if not recap.strip():
            return Taken(fates)
        found = self._recap(agent, session, recap, heard, caller)
        return Taken(fates, len(found.lines), found.left_out)

    def _heard(self, agent: str, session: str) -> _Heard:
        if not session:
            return _Heard()
        file, transcript = read_session(self._reader, self._reader.paths, agent, session)
        shown = recallable(agent, file.path, file.text, self._hides, transcript=transcript)
        messages = tuple(one for one, _ in shown)
        kept = {(one.block, one.text) for one in messages}
        withheld = tuple(
            one.text
            for one in (placed.message for placed in transcript.messages)
            if one.role == "user" and (one.block, one.text) not in kept
            if one.asked in ("", "forget")
        )
        said = last_time(transcript, self._clock())
        where = where_of(transcript.meta)
        return _Heard(messages, withheld, file.path, said, runs(transcript.meta), where)

    # --- facts ---------------------------------------------------------------------------

    def _facts(
        self, agent: str, session: str, facts: Sequence[Told], heard: _Heard, caller: Caller
    ) -> tuple[Fate, ...]:
        """Return what became of each fact, in their order."""
        judged = self._judged(agent, facts, heard)
        kept = [one for one in judged if isinstance(one, Candidate)]
        messages = {key_of(one): one for one in heard.messages}
        applied = iter(self._applying.apply(agent, session, kept, messages, caller))
        fates = []
        for told, one in zip(facts, judged, strict=True):
            if isinstance(one, Dropped):
                fates.append(Fate(one_line(mask(told.text).text), "dropped", one.reason))
                continue
            done = next(applied)
            fates.append(Fate(one_line(mask(told.text).text), done.outcome, done.reason))
        if session:
            self._tell(agent, session, judged, messages, caller)
        return tuple(fates)

    def _tell(
        self,
        agent: str,
        session: str,
        judged: Sequence[Candidate | Dropped],
        messages: dict[str, Message],
        caller: Caller,
    ) -> None:
        """Tell the audit what was not kept."""
        lines = [
            (one.text, one.reason, tuple(messages[key].block for key in one.evidence))
            for one in judged
            if isinstance(one, Dropped)
        ]
        if lines:
            self._gate.dropped(agent, session, lines, caller)

    def _judged(
        self, agent: str, facts: Sequence[Told], heard: _Heard
    ) -> list[Candidate | Dropped]:
        """Return each fact as it may go to the gate, or why it may not."""
        known, most = list(self._known(agent)), self._max_facts
        kept_out = unkept(heard.messages, self._understand)
        judged: list[Candidate | Dropped] = []
        for told in facts:
            found = _unfit(told) or _quoting(told, heard, kept_out)
            if isinstance(found, Candidate):
                told_before = next((one for one in known if is_known(found.text, one.text)), None)
                reason: Reason | None = "already known" if told_before else None
                reason = reason or (None if most > 0 else "too many")
                if reason:
                    found = Dropped(found.text, reason, found.evidence, found.category)
                else:
                    known.append(Fact(found.text, found.section))
                    most -= 1
            judged.append(found)
        return judged

    def _known(self, agent: str) -> tuple[Fact, ...]:
        """Return the facts of an agent's brain and archive."""
        reader, paths = self._reader, self._reader.paths
        texts = (read_text(reader, path)[0] for path in (paths.brain(agent), paths.archive(agent)))
        return tuple(fact for text in texts for fact in parse_brain(text).all())

    # --- the recap -----------------------------------------------------------------------

    def _recap(
        self, agent: str, session: str, recap: str, heard: _Heard, caller: Caller
    ) -> Grounded:
        """Write what of a recap is borne out into the active context; return what was kept."""
        found = grounded(recap, heard.messages, agent, session, self._understand)
        if not found.lines:
            return found
        why = OPEN if heard.open else ""
        if not why:
            change = _Recapping(self._telling, (agent, found, heard), self._clock())
            active = self._reader.paths.active_context(agent)
            try:
                self._gate.save(active, change, caller, "the agent's recap of a session")
                why = change.declined
            except (PathRefused, UnreadableNote) as error:
                why = str(error)
        if not why:
            return found
        gone = tuple(LeftOut(one.text, why) for one in found.lines)
        return Grounded((), (*found.left_out, *gone))


class _Recapping:
    """The change that puts a recap into the active context. It may be called again."""

    def __init__(
        self, telling: ActiveContextFile, recap: tuple[str, Grounded, _Heard], now: datetime
    ) -> None:
        self._telling = telling
        self._agent, self._found, self._heard = recap
        self._now = now
        self.declined = ""
        """Why it was not written."""

    def __call__(self, file: FileText | None) -> str | None:
        """Return the new text; None where later conversations have left no room for it."""
        heard, before = self._heard, file.text if file else ""
        left = body_of(before) if speaks_of(before) == link(heard.path) else ""
        language = language_of(heard.messages)
        body = with_recap(left, self._found.lines, language, BODY_TOKENS)
        said = heard.said or self._now
        leaves = Leaves(self._agent, heard.path, said, body, heard.where, language)
        text = self._telling.change(leaves, self._now)(file)
        self.declined = LATER if text is None else ""
        return text


def _unfit(told: Told) -> Dropped | None:
    """Return why a fact is kept from nobody; None for one that may be."""
    text = told.text
    reason: Reason | None = None
    if blank_private(text) != text:
        reason = "private"
    elif mask(text).text != text:
        reason = "secret"
    elif says(_ABOUT_THE_USER.sub("", fold(text)) if told.quote else fold(text), "order"):
        reason = "orders the memory"
    if reason is None:
        return None
    return Dropped("" if reason != "orders the memory" else one_line(text), reason)


def _quoting(told: Told, heard: _Heard, kept_out: Collection[int]) -> Candidate | Dropped:
    """Return a fact with the message that it quotes as evidence, or why the talk bears it not out.

    Words that the person took back, asked not to keep or pasted bear out nothing.
    """
    text = one_line(told.text)
    section = told.section or pick(text)
    category = CATEGORY_OF[section]
    may = [one for at, one in enumerate(heard.messages) if at not in kept_out]
    there = [one for one in may if stands(told.quote, one.text)]
    there = [one for one in there if one.role == "user"] or there
    keys = tuple(key_of(one) for one in there[-1:])
    reason = supported(text, told.quote, may)
    if reason == "no evidence":
        if any(stands(told.quote, one) for one in heard.withheld):
            return Dropped("", "forgotten", category=category)
        if any(stands(told.quote, heard.messages[at].text) for at in kept_out):
            return Dropped("", "asked not to keep", category=category)
    elif reason is None and all(_is_pasted(told.quote, one.text) for one in there):
        reason = "quoted"
    if reason and reason != "polarity":
        return Dropped(text, reason, keys, category)
    doubt = MEANS["polarity"] if reason else ""
    return Candidate(category, text, keys, section=section, doubt=doubt, quote=told.quote)


def _is_pasted(quote: str, text: str) -> bool:
    """Tell whether words of a message are somebody else's, which its writer pasted or quoted."""
    own, others = own_words(text)
    return not stands(quote, own) and any(stands(quote, one) for one, _ in others)
