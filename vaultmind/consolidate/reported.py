"""What an agent itself says a conversation leaves: its recap, and facts that quote the person.

The agent that was there understood the person best, and is believed where it can show it: the
words that it quotes were logged, and every number, name and date was said.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vaultmind.consolidate.apply import Applying
from vaultmind.consolidate.context import with_about
from vaultmind.consolidate.ground import share_of, stands, supported, unsaid
from vaultmind.consolidate.merge import is_known
from vaultmind.consolidate.talk import Understand, gives_orders, key_of, own_words
from vaultmind.consolidate.types import (
    MEANS,
    SECTION_OF,
    Candidate,
    Category,
    Dropped,
    Reason,
)
from vaultmind.errors import PathRefused, UnreadableNote
from vaultmind.language.words import fold
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.sections import pick
from vaultmind.memory.sensitive import sensitive
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
    recap_block,
    speaks_of,
    where_of,
)
from vaultmind.session.files import Hides, read_session, read_text, recallable
from vaultmind.session.sentences import sentences
from vaultmind.session.summary import Line, source_bullet, unkept
from vaultmind.types import Caller, Fact, Message, Section
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.oneline import one_line
from vaultmind.vault.session_meta import runs
from vaultmind.vault.transcript import Transcript

if TYPE_CHECKING:
    from vaultmind.memory.gate import Gate

CATEGORY_OF: dict[Section, Category] = {section: name for name, section in SECTION_OF.items()}
OPEN = "the conversation goes on: what it leaves is taken from it when it ends"
LATER = "later conversations have left their own already"
MOST_SENTENCES = 12
"""Of a recap; what comes after them is told to be too much."""
MOST_MESSAGES = 200
"""Messages that a recap is held against: of more, those that have most words in common with it."""
DOES_NOT_SAY = "the conversation does not say {}"
_ABOUT_THE_USER = re.compile(
    r"\b(?:the )?(?:users?(?:['’]s?)?|uzytkowni[kc]\w*|пользовател\w*) (?!to\b)", re.IGNORECASE
)
"""How an agent speaks of the person: an order where somebody else writes it."""


@dataclass(frozen=True, slots=True)
class Told:
    """A fact as an agent tells it."""

    text: str
    quote: str
    """What the person said, in a message that was logged."""
    section: Section | None = None
    replaces: str = ""
    """The words of a known fact whose place it takes; its block id where there is one."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a fact: an outcome of the gate, or `dropped`."""

    text: str
    outcome: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A sentence that was not kept, and why."""

    sentence: str
    reason: str


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
    transcript: Transcript | None = None


class Reported:
    """Takes what agents tell of a conversation. Any thread."""

    def __init__(
        self,
        gate: Gate,
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
        lines, left_out = grounded(recap, heard.messages, agent, session, self._understand)
        if lines and (why := self._save_recap(agent, lines, heard, caller)):
            left_out = [*left_out, *(LeftOut(one.text, why) for one in lines)]
            lines = []
        return Taken(fates, len(lines), tuple(left_out))

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
        return _Heard(messages, withheld, file.path, transcript)

    def readable(self, agent: str, session: str) -> list[tuple[str, Message]]:
        """Return the messages of a session that an agent may read to settle it, by their names."""
        heard = self._heard(agent, session)
        gone = unkept(heard.messages, self._understand)
        return [
            (one.block or one.id, replace(one, text=mask(blank_private(one.text)).text))
            for at, one in enumerate(heard.messages)
            if at not in gone and one.role in ("user", "assistant") and one.text.strip()
        ]

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
            shown = one_line(mask(told.text).text)
            if isinstance(one, Dropped):
                fates.append(Fate(shown, "dropped", one.reason))
            else:
                done = next(applied)
                fates.append(Fate(shown, done.outcome, done.reason))
        dropped = [
            (one.text, one.reason, tuple(messages[key].block for key in one.evidence))
            for one in judged
            if isinstance(one, Dropped)
        ]
        if session and dropped:
            self._gate.dropped(agent, session, dropped, caller)
        return tuple(fates)

    def _judged(
        self, agent: str, facts: Sequence[Told], heard: _Heard
    ) -> list[Candidate | Dropped]:
        """Return each fact as it may go to the gate, or why it may not."""
        paths = self._reader.paths
        texts = [
            read_text(self._reader, path)[0] for path in (paths.brain(agent), paths.archive(agent))
        ]
        known = [fact for text in texts for fact in parse_brain(text).all()]
        kept_out = unkept(heard.messages, self._understand)
        left = self._max_facts
        judged: list[Candidate | Dropped] = []
        for told in facts:
            found = _unfit(told) or _quoting(told, heard, kept_out)
            if isinstance(found, Candidate):
                reason: Reason | None = None
                if any(is_known(found.text, one.text) for one in known):
                    reason = "already known"
                elif not left:
                    reason = "too many"
                if reason:
                    found = Dropped(found.text, reason, found.evidence, found.category)
                else:
                    known.append(Fact(found.text, found.section))
                    left -= 1
            judged.append(found)
        return judged

    # --- the recap -----------------------------------------------------------------------

    def _save_recap(self, agent: str, lines: Sequence[Line], heard: _Heard, caller: Caller) -> str:
        """Write a recap into the active context; return why not, where it was not."""
        transcript, now = heard.transcript, self._clock()
        if transcript is None or runs(transcript.meta):
            return OPEN
        language = language_of(heard.messages)
        bullets = [source_bullet(one) for one in lines]
        declined = ""

        def change(file: FileText | None) -> str | None:
            nonlocal declined
            before = file.text if file else ""
            left = body_of(before) if speaks_of(before) == link(heard.path) else ""
            leaves = Leaves(
                agent,
                heard.path,
                last_time(transcript, now),
                with_about(left, bullets, language, BODY_TOKENS),
                where_of(transcript.meta),
                language,
            )
            text = self._telling.change(leaves, now)(file)
            declined = LATER if text is None else ""
            return text

        try:
            active = self._reader.paths.active_context(agent)
            self._gate.save(active, change, caller, "the agent's recap of a session")
        except (PathRefused, UnreadableNote) as error:
            return str(error)
        return declined


def _unfit(told: Told) -> Dropped | None:
    """Return why a fact is kept from nobody; None for one that may be."""
    text = told.text
    if blank_private(text) != text:
        return Dropped("", "private")
    if mask(text).text != text:
        return Dropped("", "secret")
    said = _ABOUT_THE_USER.sub("", fold(text)) if told.quote else text
    return Dropped(one_line(text), "orders the memory") if gives_orders(said) else None


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
    fault = supported(text, may, told.quote)
    if fault and fault.reason == "no evidence":
        if any(stands(told.quote, one) for one in heard.withheld):
            return Dropped("", "forgotten", category=category)
        if any(stands(told.quote, heard.messages[at].text) for at in kept_out):
            return Dropped("", "asked not to keep", category=category)
    elif fault is None and all(_is_pasted(told.quote, one.text) for one in there):
        return Dropped(text, "quoted", keys, category)
    if fault and fault.reason != "polarity":
        return Dropped(text, fault.reason, keys, category)
    doubt = MEANS["polarity"] if fault else ""
    found = Candidate(category, text, keys, section=section, doubt=doubt, quote=told.quote)
    if told.replaces:
        return replace(found, category="UPDATE", replaces=told.replaces)
    return found


def _is_pasted(quote: str, text: str) -> bool:
    """Tell whether words of a message are somebody else's, which its writer pasted or quoted."""
    own, others = own_words(text)
    return not stands(quote, own) and any(stands(quote, one) for one, _ in others)


def grounded(
    recap: str,
    messages: Sequence[Message],
    agent: str,
    session: str,
    understand: Understand | None = None,
) -> tuple[list[Line], list[LeftOut]]:
    """Return the sentences of a recap that a conversation bears out, and the others.

    `messages` are those that may be recalled; `agent`, whose words these are, is named beside
    them.
    """
    gone = unkept(messages, understand)
    own = [
        replace(one, text=own_words(one.text)[0]) if one.role == "user" else one
        for at, one in enumerate(messages)
        if at not in gone and one.role in ("user", "assistant")
    ]
    near = nearest(recap, [one for one in own if one.text.strip()])
    also = " ".join([*{one.speaker or "" for one in near}, *{one.time[:10] for one in near}, agent])
    lines: list[Line] = []
    left_out: list[LeftOut] = []
    for sentence in dict.fromkeys(sentences(recap)):
        source = max(near, key=lambda one, s=sentence: share_of(s, one.text), default=None)  # type: ignore[misc]
        reason = _fault(sentence, near, also)
        if not reason and (source is None or not share_of(sentence, source.text)):
            reason = DOES_NOT_SAY.format("anything of it")
        if not reason and len(lines) == MOST_SENTENCES:
            reason = f"a recap has at most {MOST_SENTENCES} sentences"
        if reason or source is None:
            left_out.append(LeftOut(sentence, reason))
            continue
        block = recap_block(session, len(lines) + 1)
        at = next((n for n, one in enumerate(messages, 1) if one.block == source.block), 0)
        lines.append(Line(sentence, "other", block, source.block, at, speaker=agent))
    return lines, left_out


def _fault(sentence: str, near: Sequence[Message], also: str) -> str:
    """Return why a sentence of a recap is not kept; empty for one that is."""
    if mask(sentence).text != sentence:
        private = blank_private(sentence) != sentence
        return "it holds something private" if private else "it holds a secret"
    if gives_orders(_ABOUT_THE_USER.sub("", fold(sentence))):
        return "it gives orders to the memory"
    fault = unsaid(sentence, near, near[-1].time[:10] if near else "", also)
    if not fault and sensitive(sentence):
        mine = [one for one in near if one.role == "user" or not _ABOUT_THE_USER.match(sentence)]
        fault = supported(sentence, mine, also=also)
    return DOES_NOT_SAY.format(fault.detail or fault.reason) if fault else ""


def nearest(text: str, messages: Sequence[Message]) -> list[Message]:
    """Return the messages that a text may be about, in their order; all where they are few."""
    if len(messages) <= MOST_MESSAGES:
        return list(messages)
    scores = [share_of(text, one.text) for one in messages]
    ranked = sorted(range(len(messages)), key=lambda at: (-scores[at], -at))
    return [messages[at] for at in sorted(ranked[:MOST_MESSAGES])]
