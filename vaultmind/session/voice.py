"""What a person says to their memory in plain words: understood, done once, and answered.

Only a sentence that is clearly a request does anything; see docs/voice-commands.md.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Literal

from vaultmind.errors import NotFound, UnreadableNote
from vaultmind.index.when import without_stale_dates
from vaultmind.language.network import network
from vaultmind.language.reader import Intent, Reader
from vaultmind.language.text import sentences
from vaultmind.language.words import content
from vaultmind.memory.audit import last_written, newest_first
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.gate import Gate
from vaultmind.memory.match import NEAREST, find, same_fact
from vaultmind.memory.wording import FALLBACK, phrase, told
from vaultmind.ports import Clock
from vaultmind.redact import blank_private, mask
from vaultmind.session.answers import Near, meant, recalled, strays
from vaultmind.session.correct import corrected
from vaultmind.session.files import Shows, read_text, session_ids
from vaultmind.session.requests import Requests
from vaultmind.session.unkept import unkept
from vaultmind.types import PERSON, Caller, Fact, MemoryWrite, Message, MessageRef, Outcome
from vaultmind.vault.files import VaultReader

NEWEST, LOOKED_BACK = 6, 40
"""Sessions, the newest first, in which a message is looked for by its id; messages that a wish not
to keep something may mean."""
SAME_SHARE = 0.5
"""Part of their words that two tellings of one message share at least."""
Op = Literal["remember", "replace", "forget"]
CLEAR = 0.5
"""Likelihood from which words can be understood by themselves."""
_CHANGES = frozenset({"remember", "correct", "forget_topic", "forget_that"})


@dataclass(frozen=True, slots=True)
class Heard:
    """What was understood, what came of it, and the answer in the person's language."""

    intent: Intent
    message: str
    outcome: Outcome
    facts: tuple[str, ...] = ()
    """For a question about what is known: the facts."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """One request on its way."""

    caller: Caller
    target: str
    words: str
    intent: Intent
    id: str = ""
    ref: MessageRef | None = None
    """Where the message is written down already, other than as a request."""
    done: bool = False

    @property
    def to(self) -> str:
        """Return the agent that was spoken to, in whose session the words belong."""
        return self.caller.agent if self.caller.kind == "agent" else self.target

    @property
    def ear(self) -> str:
        """Return what tells one conversation from the next: another window's "that" is another."""
        return f"{self.to} {self.caller.conversation}".rstrip()


@dataclass(slots=True)
class Focus:
    """What was spoken of last in one conversation."""

    agent: str = ""
    """Whose facts they are."""
    facts: tuple[Fact, ...] = ()
    """What was written or shown last; none after a forgetting, which leaves nothing to mean."""
    at: datetime | None = None
    written: tuple[Fact, ...] = ()
    is_new: bool = False
    """Whether the last request made the fact."""


@dataclass(frozen=True, slots=True)
class That:
    """The one fact that "that" means; or none, and those that it may be."""

    agent: str
    fact: Fact | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VoiceSources:
    """What a voice speaks with."""

    words: Reader
    requests: Requests
    gate: Gate
    reader: VaultReader
    shows: Shows
    clock: Clock
    idle_minutes: float
    near: Near = lambda agent, words, caller, kind: ()


@dataclass(slots=True)
class Voice:
    """Carries out what a person says. Any thread."""

    sources: VoiceSources
    _locks: defaultdict[str, threading.RLock] = field(
        default_factory=lambda: defaultdict(threading.RLock)
    )
    _focus: defaultdict[str, Focus] = field(default_factory=lambda: defaultdict(Focus))

    def heed(self, utterance: str, target: str) -> Heard:
        """Return what would be heard, of several requests the first, with nothing done."""
        intent = self._understood(PERSON, target, self.sources.words.parted(utterance)[0])
        return Heard(intent, "", Outcome("unchanged", intent.target or target))

    def hear(self, caller: Caller, target: str, utterance: str, message_id: str = "") -> Heard:
        """Do what a message asks for, each request in it in turn. A message acts once: by its id,
        or by its words said to the same agent a moment ago.
        """
        whole = Spoken(caller, target, utterance, Intent(), message_id)
        with self._locks[whole.to]:
            ref, message = self._find(whole) if message_id else (None, None)
            done = bool(message and message.asked) or self._is_evidence(target, ref)
            ref = None if message and message.asked else ref
            heard = []
            for words in self.sources.words.parted(utterance):
                intent = self._understood(caller, target, words)
                meant_ = intent.target or target
                one = replace(whole, words=words, intent=intent, target=meant_, ref=ref, done=done)
                heard.append(self._do(one))
        first = next((one for one in heard if one.outcome.outcome != "unchanged"), heard[0])
        facts = tuple(dict.fromkeys(fact for one in heard for fact in one.facts))
        answers = [one.message for one in sorted(heard, key=lambda one: bool(one.facts))]
        return replace(first, message="\n".join(answers), facts=facts)

    def _do(self, spoken: Spoken) -> Heard:
        intent = spoken.intent.intent
        if intent in _CHANGES and spoken.done:
            message = phrase(spoken.intent.lang, "again")
            path = self.sources.reader.paths.brain(spoken.target)
            outcome = Outcome("unchanged", spoken.target, path=path, message=message)
            return Heard(spoken.intent, message, outcome)
        ways: dict[str, Callable[[Spoken], Heard]] = {
            "remember": lambda one: self._write(one, "remember", one.intent.payload),
            "correct": self._correct,
            "forget_topic": self._forget,
            "forget_that": self._forget_last,
            "skip": self._skip,
            "recall": self._recall,
            "show_memory": self._recall,
        }
        if intent in ways and (intent != "remember" or spoken.intent.payload):
            return ways[intent](spoken)
        return self._nothing(spoken)

    def _nothing(self, spoken: Spoken) -> Heard:
        self._focus[spoken.ear] = Focus(spoken.target, at=self.sources.clock())
        message = phrase(spoken.intent.lang or FALLBACK, "none")
        return Heard(spoken.intent, message, Outcome("unchanged", spoken.target))

    def _understood(self, caller: Caller, target: str, words: str) -> Intent:
        """Return what a caller's sentence asks for: an agent hidden from it is no agent to it."""
        intent = self.sources.words.understand(words)
        if not intent.target or self._sees(caller, intent.target):
            return intent
        return self.sources.words.understand(words, naming=False)

    # --- what was spoken of ---------------------------------------------------------------

    def note(self, caller: Caller, op: Op, outcome: Outcome) -> None:
        """Keep which fact a request touched, for a later "that".

        One that was forgotten, suggested or refused leaves nothing to mean.
        """
        stands = op != "forget" and outcome.outcome in ("written", "unchanged") and outcome.fact
        facts = (Fact(outcome.fact, outcome.section, outcome.block),) if stands else ()
        self._focus[Spoken(caller, outcome.agent, "", Intent()).ear] = Focus(
            outcome.agent, facts, self.sources.clock(), facts, outcome.outcome == "written"
        )

    def note_shown(self, caller: Caller, agent: str, facts: Sequence[Fact]) -> None:
        """Keep which facts were shown, for a later "that"."""
        focus = self._focus[Spoken(caller, agent, "", Intent()).ear]
        focus.written = focus.written if focus.agent == agent else ()
        focus.agent, focus.facts, focus.at = agent, tuple(facts), self.sources.clock()
        focus.is_new = False

    def _that(self, spoken: Spoken) -> That:
        """Return what "that" means: one fact touched last, else the one written last.

        Of several that were shown together the one that was just written is meant, if it is among
        them; else none. What the speaker may no longer see is none.
        """
        focus, parts = self._focus[spoken.ear], self.sources
        since = parts.clock() - timedelta(minutes=parts.idle_minutes)
        target = spoken.target
        if focus.at is None or focus.at < since or not self._sees(spoken.caller, focus.agent):
            facts = self._facts(spoken.caller, target)
            return That(target, last_written(parts.reader.paths, target, facts, since))
        standing = self._standing(focus.agent, focus.facts)
        if len(focus.facts) <= 1:
            return That(focus.agent, next(iter(standing), None))
        last = self._standing(focus.agent, focus.written)
        if len(last) == 1 and any(same_fact(last[0].text, one.text) for one in standing):
            return That(focus.agent, last[0])
        return That(focus.agent, None, tuple(mask(fact.text).text for fact in standing))

    def _standing(self, agent: str, known: Sequence[Fact]) -> list[Fact]:
        """Return those of some facts that still stand, as they are now: none that is private.

        A secret within one stays in it, so that it is named by its own words; what it is told as
        is masked.
        """
        text = read_text(self.sources.reader, self.sources.reader.paths.brain(agent))[0]
        shown = {fact.text for fact in parse_brain(mask(text).text).all()}
        now = [(fact, mask(fact.text).text) for fact in parse_brain(blank_private(text)).all()]
        return [
            fact
            for fact, masked in now
            for one in known
            if masked in shown
            and ((one.block and fact.block == one.block) or one.text in (masked, fact.text))
        ]

    def _sees(self, caller: Caller, agent: str) -> bool:
        return self.sources.shows(self.sources.reader.paths.brain(agent), caller)

    def _facts(self, caller: Caller, target: str) -> tuple[Fact, ...]:
        """Return the facts that a speaker may mean."""
        path = self.sources.reader.paths.brain(target)
        text = read_text(self.sources.reader, path)[0] if self._sees(caller, target) else ""
        return parse_brain(blank_private(text)).all()

    # --- what can be asked for --------------------------------------------------------------

    def _write(self, spoken: Spoken, op: Op, text: str, *, old: str = "", asked: str = "") -> Heard:
        """Make a change, and keep what it touched."""
        write = MemoryWrite(op, spoken.target, spoken.caller, text, old=old)
        done = self.sources.requests.ask_each(write, spoken.words, spoken.id, spoken.ref)
        answers = []
        for outcome in done:
            self.note(spoken.caller, op, outcome)
            answers.append(told(spoken.intent.lang, op, outcome, mask(asked or text).text))
        first = next((one for one in done if one.outcome != "unchanged"), done[0])
        return Heard(spoken.intent, "\n".join(answers), first)

    def _correct(self, spoken: Spoken) -> Heard:
        """Replace what was named as wrong, or what was touched last; else add what is right.

        Where a fact would lose what the correction is not about, it is named, and nothing changes.
        """
        intent, parts = spoken.intent, self.sources
        that, facts = self._that(spoken), self._facts(spoken.caller, spoken.target)
        change = corrected(facts, spoken.words, intent.old, intent.payload, that.fact)
        if change and change.fact is None and intent.payload:
            if len(sentences(spoken.words)) > 1:  # a story: what lasts of it is kept when it ends
                return self._nothing(replace(spoken, intent=Intent(lang=intent.lang)))
            if network().read("facts", [change.text])[0].heads["alone"]["alone"] >= CLEAR:
                return self._write(spoken, "remember", change.text)
            change = None  # "no, it's Dr Lisowski" says nothing by itself
        new = change.text if change else ""
        if change and change.fact and new:
            new = without_stale_dates(new, change.fact.text)
        if change and change.fact and new:
            asked = intent.old or intent.payload
            return self._write(spoken, "replace", new, old=_name(change.fact), asked=asked)
        self._focus[spoken.ear].is_new = False
        if change and change.fact:
            path, fact = parts.reader.paths.brain(spoken.target), mask(change.fact.text).text
            outcome = Outcome("not_found", spoken.target, path=path, nearest=(fact,))
            values = {"fact": fact, "id": mask(_name(change.fact)).text, "path": path}
            return Heard(intent, phrase(intent.lang, "holds_more", **values), outcome)
        match = find(facts, intent.old) if intent.old else None
        near = [facts[at] for at in (*match.found, *match.nearest)] if match else []
        choices = that.choices or tuple(mask(one.text).text for one in near[:NEAREST])
        outcome = Outcome("not_found", spoken.target, nearest=choices)
        return Heard(
            intent, told(intent.lang, "replace", outcome, intent.old or intent.payload), outcome
        )

    def _forget(self, spoken: Spoken) -> Heard:
        """Forget the fact that is named; else the one that the words mean; else offer the nearest,
        which are found by their words, then by their meaning.
        """
        text = spoken.intent.payload
        heard = self._write(spoken, "forget", text)
        if heard.outcome.outcome != "not_found" or heard.outcome.fact:
            return heard
        if fact := meant(self._facts(spoken.caller, spoken.target), text):
            return self._write(spoken, "forget", _name(fact), asked=text)
        hits = self.sources.near(spoken.target, text, spoken.caller, "fact")
        choices = dict.fromkeys((*heard.outcome.nearest, *(hit.text for hit in hits)))
        outcome = replace(heard.outcome, nearest=tuple(choices)[:NEAREST])
        message = told(spoken.intent.lang, "forget", outcome, mask(text).text)
        return replace(heard, outcome=outcome, message=message)

    def _forget_last(self, spoken: Spoken) -> Heard:
        """Forget what "that" means; where it may mean several things, none of them."""
        facts, that = self._facts(spoken.caller, spoken.target), self._that(spoken)
        if that.fact and not strays(that.fact, facts, spoken.words):
            spoken = replace(spoken, target=that.agent)
            return self._write(spoken, "forget", _name(that.fact), asked=that.fact.text)
        lines = [phrase(spoken.intent.lang, "nothing_last"), *(f"- {one}" for one in that.choices)]
        outcome = Outcome("not_found", that.agent, nearest=that.choices)
        return Heard(spoken.intent, "\n".join(lines), outcome)

    def _recall(self, spoken: Spoken) -> Heard:
        """Return the facts: all of them, or those that the question is about."""
        intent, reader = spoken.intent, self.sources.reader
        path = reader.paths.brain(spoken.target)
        outcome = Outcome("unchanged", spoken.target, path=path)
        if not self._sees(spoken.caller, spoken.target):
            message = phrase(intent.lang, "may_not_read", agent=spoken.target)
            return Heard(intent, message, replace(outcome, outcome="denied"))
        files = (path, reader.paths.archive(spoken.target))
        brain, archive = (mask(read_text(reader, one)[0]).text for one in files)
        asked = intent.payload if intent.intent == "recall" else ""
        near = partial(self.sources.near, spoken.target, asked, spoken.caller)
        known = recalled(brain, archive, asked, near)
        self.note_shown(spoken.caller, spoken.target, known.facts)
        message = " ".join(phrase(intent.lang, name) for name in known.names)
        return Heard(intent, message, outcome, known.lines)

    def _skip(self, spoken: Spoken) -> Heard:
        """Keep the messages that are meant out of every recall, and of whatever learns from them.

        What says it itself, means itself; a bare "don't keep that" means what was said before it,
        and takes back the fact that was just written of that. After a restart a request may be
        older than what was said last, which may be written down nowhere.
        """
        intent, own = spoken.intent, spoken.ref
        sessions, talk = self.sources.requests.sessions, spoken.caller.conversation
        session = own.session if own else sessions.open_session(spoken.to, talk)
        session = session or sessions.open_session(spoken.to)
        said = self._messages(spoken.to, session)[-LOOKED_BACK:] if session else []
        at = next((n for n, one in enumerate(said) if own and one.block == own.block), len(said))
        heard = [*said[: at + 1], *([Message("user", spoken.words, "")] if at == len(said) else [])]
        gone = unkept(heard, self.sources.words.understand)
        meant_ = [said[n] for n in sorted({*gone, at}) if gone.get(n, at) == at and n < len(said)]
        that, is_new = self._that(spoken), self._focus[spoken.ear].is_new
        evidence = that.fact.evidence if that.fact and that.agent == spoken.target else None
        learned = is_new and evidence and evidence.session == session
        learned = learned and any(one.block == evidence.block for one in meant_ if evidence)
        message, taken = phrase(intent.lang, "skip"), None
        if learned and that.fact:
            taken = self._write(spoken, "forget", _name(that.fact), asked=that.fact.text)
            if taken.outcome.outcome != "written":
                return taken
        refs = [
            MessageRef(spoken.to, session, one.block, one.id)
            for one in meant_
            if not (one.asked or one.erased)
        ]
        hidden = self.sources.gate.hide(spoken.to, refs, spoken.caller) if refs else 0
        if taken:
            return replace(taken, message=f"{message} {taken.message}")
        if not refs and intent.scopes != ("this",):
            outcome = Outcome("not_found", spoken.target)
            return Heard(intent, phrase(intent.lang, "nothing_to_skip"), outcome)
        outcome = Outcome("written" if hidden else "unchanged", spoken.target)
        return Heard(intent, message, replace(outcome, hidden_messages=hidden))

    # --- what is written down already -------------------------------------------------------

    def _find(self, spoken: Spoken) -> tuple[MessageRef | None, Message | None]:
        """Return the user's message of an id that says some words, from the newest sessions.

        Ids are unique within a session alone: in the speaker's own nearly the same words will do,
        since an agent may tell them a little otherwise; elsewhere all of them must be there.
        """
        sessions = self.sources.requests.sessions
        talk, paths = spoken.caller.conversation, self.sources.reader.paths
        ids = session_ids(paths, spoken.to)[-NEWEST:]
        own = (sessions.open_session(spoken.to, talk) if talk else "") or (ids or ("",))[-1]
        for session in reversed(ids):
            for message in self._messages(spoken.to, session):
                base, _, number = message.id.rpartition(":")
                named = spoken.id in (message.id, base if number.isdecimal() else message.id)
                share = SAME_SHARE if session == own else 1.0
                if (
                    named
                    and message.role == "user"
                    and _shared(spoken.words, message.text) >= share
                ):
                    return MessageRef(spoken.to, session, message.block, message.id), message
        return None, None

    def _is_evidence(self, target: str, ref: MessageRef | None) -> bool:
        """Tell whether a captured message led to a change: it stands in the audit, so that a
        restart forgets nothing.
        """
        if ref is None or not ref.block:
            return False
        paths = self.sources.reader.paths
        named = paths.link(ref)
        lines = newest_first(paths, {target, ref.agent}, ("remember", "replace", "forget"))
        return any(one.evidence == named and one.outcome == "written" for one in lines)

    def _messages(self, agent: str, session: str) -> list[Message]:
        try:
            placed = self.sources.requests.sessions.read(agent, session).messages
        except (NotFound, UnreadableNote):
            return []
        return [one.message for one in placed]


def _name(fact: Fact) -> str:
    """Return what names one fact for certain: its block id, else its words."""
    return f"^{fact.block}" if fact.block else fact.text


def _shared(words: str, text: str) -> float:
    """Return how much of the content of some words a text holds, from 0 to 1."""
    one, other = content(mask(words).text), content(text)
    if not one or not other:
        return float(words.strip() == text.strip())
    shared = sum(any(word.same(each) for each in other) for word in one)
    return shared / len(one)
