"""What a person says to their memory in plain words: understood, done once, and answered.

Only a sentence that is clearly a request does anything; see docs/voice-commands.md.
"""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Literal, get_args

from vaultmind.errors import NotFound, UnreadableNote
from vaultmind.index.when import without_stale_dates
from vaultmind.language.network import network
from vaultmind.language.reader import Intent, Reader
from vaultmind.language.text import facts_in, sentences
from vaultmind.memory.audit import newest_first
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.contradictions import denies
from vaultmind.memory.gate import Gate
from vaultmind.memory.match import NEAREST, asked_about, share_of
from vaultmind.memory.wording import FALLBACK, phrase, told
from vaultmind.ports import Clock
from vaultmind.redact import blank_private, mask
from vaultmind.session.files import Shows, read_text, session_ids
from vaultmind.session.log import SessionLog
from vaultmind.session.meant import WORD, Near, corrected, recalled
from vaultmind.session.unkept import unkept
from vaultmind.types import Caller, Fact, MemoryWrite, Message, MessageRef, Outcome
from vaultmind.vault.files import VaultReader

NEWEST, LOOKED_BACK = 6, 40
"""Sessions, the newest first, in which a message is looked for by its id; messages that a wish not
to keep something may mean."""
SAME_SHARE = 0.5
"""Part of their words that two tellings of one message share at least."""
CLEAR, FRAGMENT = 0.5, 3
"""Likelihood from which words can be understood by themselves; fewer words never can."""
Op = Literal["remember", "replace", "forget"]
_ALL = re.compile(r"\b(?:everything|all|wszystk\w+|вс[её]|alles|todo|tout)\b", re.I)
_YES = re.compile(r"(?:yes|tak|да|ja|sí|oui)\b(?:,? *(?:all|wszystk|вс[её])[\w ]*)?[.!]*", re.I)
_LISTED = re.compile(
    r"(?:(?:please|proszę|пожалуйста),? )?"
    r"(?:delete|remove|forget|usuń|skasuj|zapomnij|удали|забудь)(?: about| o| про| об?)?"
    r"(?: the| ten| tę| to| этот| эту)? (?:number |numer |№ ?)?(?:"
    r"(1|first|pierwsz\w+|перв\w+)|(2|second|drug\w+|втор\w+)|(3|third|trzeci\w*|трет\w+)"
    r"|(4|fourth|czwart\w+|четверт\w+)|(5|fifth|piąt\w+|пят\w+)|(last|ostatni\w*|последн\w+)"
    r")(?: one| fact| item| fakt| punkt| wpis| факт| пункт)?[.!]*",
    re.I,
)
"""Asks for one fact of a list, and for nothing else: "delete the first one"."""


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
    words: str = ""
    intent: Intent = field(default_factory=Intent)
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


@dataclass(frozen=True, slots=True)
class Focus:
    """What was spoken of last in one conversation."""

    agent: str
    """Whose facts they are."""
    facts: tuple[Fact, ...]
    """What was written or shown last; none after a forgetting, which leaves nothing to mean."""
    at: datetime
    offered: bool = False
    """Whether a yes forgets them."""


@dataclass(slots=True)
class Voice:
    """Carries out what a person says. Any thread."""

    words: Reader
    sessions: SessionLog
    gate: Gate
    reader: VaultReader
    shows: Shows
    clock: Clock
    idle_minutes: float
    near: Near = lambda agent, words, caller, kind: ()
    _locks: defaultdict[str, threading.RLock] = field(
        default_factory=lambda: defaultdict(threading.RLock)
    )
    _focus: dict[str, Focus] = field(default_factory=dict)

    def hear(self, caller: Caller, target: str, utterance: str, message_id: str = "") -> Heard:
        """Do what a message asks for, each request in it in turn. With an id it acts once."""
        whole = Spoken(caller, target, utterance, id=message_id)
        with self._locks[whole.to]:
            ref, done = self._find(whole) if message_id else (None, False)
            heard = []
            for words in self.words.parted(utterance):
                intent = self._understood(caller, target, words)
                to = intent.target or target
                one = replace(whole, words=words, intent=intent, target=to, ref=ref, done=done)
                heard.append(self._do(one))
        return _together(heard)

    def _do(self, spoken: Spoken) -> Heard:
        intent = spoken.intent
        reads = {"skip": self._skip, "recall": self._recall, "show_memory": self._recall}
        writes = {
            "remember": self._remember if intent.payload else None,
            "correct": self._correct,
            "forget_topic": self._forget,
            "forget_that": self._forget_that,
        }
        act = self._pointed(spoken) or writes.get(intent.intent)
        if act and spoken.done:
            message = phrase(intent.lang, "again")
            path = self.reader.paths.brain(spoken.target)
            outcome = Outcome("unchanged", spoken.target, path=path, message=message)
            return Heard(intent, message, outcome)
        return (act or reads.get(intent.intent, self._nothing))(spoken)

    def _nothing(self, spoken: Spoken) -> Heard:
        self._focus.pop(spoken.ear, None)
        lang, outcome = spoken.intent.lang, Outcome("unchanged", spoken.target)
        return Heard(Intent(lang=lang), phrase(lang or FALLBACK, "none"), outcome)

    def _understood(self, caller: Caller, target: str, words: str) -> Intent:
        """Return what a caller's sentence asks for: an agent hidden from it is no agent to it."""
        intent = self.words.understand(words)
        if not intent.target or self._sees(caller, intent.target):
            return intent
        return self.words.understand(words, naming=False)

    # --- what was spoken of ---------------------------------------------------------------

    def note(self, caller: Caller, op: Op, outcome: Outcome) -> None:
        """Keep which fact a request touched, for a later "that".

        One that was forgotten, suggested or refused leaves nothing to mean.
        """
        stands = op != "forget" and outcome.outcome in ("written", "unchanged") and outcome.fact
        facts = [Fact(outcome.fact, outcome.section, outcome.block)] if stands else []
        self.note_shown(caller, outcome.agent, facts)

    def note_shown(
        self, caller: Caller, agent: str, facts: Sequence[Fact], *, offered: bool = False
    ) -> None:
        """Keep which facts were shown, for a later "that"; a yes forgets those `offered`."""
        focus = Focus(agent, tuple(facts), self.clock(), offered)
        self._focus[Spoken(caller, agent).ear] = focus

    def _that(self, spoken: Spoken) -> list[Fact]:
        """Return the facts that "that" may mean: what was written or shown last, as it is now."""
        focus = self._focus.get(spoken.ear)
        since = self.clock() - timedelta(minutes=self.idle_minutes)
        if focus is None or focus.at < since:
            return []
        now = self._facts(spoken.caller, focus.agent)
        return [
            fact
            for known in focus.facts
            for fact in now
            if (fact.block == known.block if known.block else mask(fact.text).text == known.text)
        ]

    def _pointed(self, spoken: Spoken) -> Callable[[Spoken], Heard] | None:
        """Return what words do that mean something only after what was said last.

        A yes to forgetting several facts, or one of a list.
        """
        words, that = spoken.words.strip(), self._that(spoken)
        if not that:
            return None
        if self._focus[spoken.ear].offered and _YES.fullmatch(words):
            return partial(self._forget_all, facts=that)
        listed = _LISTED.fullmatch(words)
        if listed and len(that) > 1:
            last = len(listed.groups())
            at = -1 if listed.lastindex == last else (listed.lastindex or 1) - 1
            return partial(self._forget_all, facts=that[at:][:1]) if that[at:] else None
        return None

    def _sees(self, caller: Caller, agent: str) -> bool:
        return self.shows(self.reader.paths.brain(agent), caller)

    def _facts(self, caller: Caller, target: str) -> tuple[Fact, ...]:
        """Return the facts that a speaker may mean: none that is private or hidden from them."""
        path = self.reader.paths.brain(target)
        text = read_text(self.reader, path)[0] if self._sees(caller, target) else ""
        return parse_brain(blank_private(text)).all()

    # --- what can be asked for --------------------------------------------------------------

    def _write(self, spoken: Spoken, op: Op, text: str, *, old: str = "", asked: str = "") -> Heard:
        """Make a change, and keep what it touched."""
        write = MemoryWrite(op, spoken.target, spoken.caller, text, old=old)
        done = self.sessions.ask(write, spoken.words, spoken.id, spoken.ref)
        self.note(spoken.caller, op, done)
        message = told(spoken.intent.lang, op, done, mask(asked or text).text)
        return Heard(spoken.intent, message, done)

    def _remember(self, spoken: Spoken) -> Heard:
        """Add a fact, or each of several."""
        facts = facts_in(spoken.intent.payload)
        return _together([self._write(spoken, "remember", one) for one in facts])

    def _correct(self, spoken: Spoken) -> Heard:
        """Replace what was named as wrong, or what was touched last; else add what is right.

        Where a fact would lose what the correction is not about, nothing changes.
        """
        intent, that = spoken.intent, self._that(spoken)
        last = that[0] if len(that) == 1 else None
        facts = self._facts(spoken.caller, spoken.target)
        fact, new = corrected(facts, last, spoken.words, intent.old, intent.payload)
        asked = intent.old or intent.payload
        if fact and new:
            new = without_stale_dates(new, fact.text)
            return self._write(spoken, "replace", new, old=_name(fact), asked=asked)
        if new and len(sentences(spoken.words)) > 1:
            return self._nothing(spoken)  # a story: what lasts of it is kept when it ends
        if len(WORD.findall(new)) >= FRAGMENT and _stands_alone(new):
            return self._write(spoken, "remember", new)
        near = [fact] if fact else that or [facts[at] for at in asked_about(facts, asked)]
        outcome = Outcome("not_found", spoken.target, nearest=_shown(near[:NEAREST]))
        return Heard(intent, told(intent.lang, "replace", outcome, asked), outcome)

    def _forget(self, spoken: Spoken) -> Heard:
        """Forget the fact that is named, or the one that the words mean; else offer the nearest.

        "Everything about" several facts is forgotten after a yes.
        """
        text, lang = spoken.intent.payload, spoken.intent.lang
        facts = self._facts(spoken.caller, spoken.target)
        is_all = bool(_ALL.search(spoken.words))
        several = [facts[at] for at in asked_about(facts, text)] if is_all else []
        if len(several) > 1:
            self.note_shown(spoken.caller, spoken.target, several, offered=True)
            return self._ask_which(spoken, phrase(lang, "forget_all", count=len(several)), several)
        heard = self._write(spoken, "forget", text)
        not_found = heard.outcome.outcome == "not_found" and not heard.outcome.fact
        said = [facts[at] for at in asked_about(facts, text)] if not_found else []
        if len(said) == 1 and denies(said[0].text) == denies(text):
            return self._write(spoken, "forget", _name(said[0]), asked=text)
        offered = heard.outcome.nearest  # which of them is meant may be said next
        near = [fact for one in offered for fact in facts if _shown([fact]) == (one,)]
        if near:
            self.note_shown(spoken.caller, spoken.target, near)
        return heard

    def _forget_that(self, spoken: Spoken) -> Heard:
        """Forget what "that" means; where it may mean several things, none of them."""
        that = self._that(spoken)
        if len(that) == 1:
            return self._forget_all(spoken, that)
        return self._ask_which(spoken, phrase(spoken.intent.lang, "nothing_last"), that)

    def _ask_which(self, spoken: Spoken, question: str, facts: Sequence[Fact]) -> Heard:
        outcome = Outcome("not_found", spoken.target, nearest=_shown(facts))
        lines = [question, *(f"- {one}" for one in outcome.nearest)]
        return Heard(spoken.intent, "\n".join(lines), outcome)

    def _forget_all(self, spoken: Spoken, facts: Sequence[Fact]) -> Heard:
        """Forget facts of what was spoken of last."""
        spoken = replace(spoken, target=self._focus[spoken.ear].agent)
        done = [self._write(spoken, "forget", _name(one), asked=one.text) for one in facts]
        return _together(done)

    def _recall(self, spoken: Spoken) -> Heard:
        """Return the facts: all of them, or those that the question is about."""
        intent, reader, target = spoken.intent, self.reader, spoken.target
        files = (reader.paths.brain(target), reader.paths.archive(target))
        outcome = Outcome("unchanged", target, path=files[0])
        if not self._sees(spoken.caller, target):
            message = phrase(intent.lang, "may_not_read", agent=target)
            return Heard(intent, message, replace(outcome, outcome="denied"))
        brain, archive = (mask(read_text(reader, one)[0]).text for one in files)
        asked = intent.payload if intent.intent == "recall" else ""
        known = recalled(brain, archive, asked, partial(self.near, target, asked, spoken.caller))
        self.note_shown(spoken.caller, target, known.facts)
        message = " ".join(phrase(intent.lang, name) for name in known.names)
        return Heard(intent, message, outcome, known.lines)

    def _skip(self, spoken: Spoken) -> Heard:
        """Keep the messages that are meant out of every recall, and of whatever learns from them.

        What says it itself, means itself; a bare "don't keep that" means what was said before it,
        and takes back the fact that was just written of that.
        """
        ref, opened = spoken.ref, self.sessions.open_session
        session = ref.session if ref else opened(spoken.to, spoken.caller.conversation)
        session = session or opened(spoken.to)
        said = self._messages(spoken.to, session)[-LOOKED_BACK:] if session else []
        own = [n for n, one in enumerate(said) if ref and one.block == ref.block]
        said = said[: own[0] + 1] if own else [*said, Message("user", spoken.words, "")]
        at = len(said) - 1
        gone = unkept(said, self.words.understand) | {at: at}
        meant = [said[n] for n, asker in gone.items() if asker == at and said[n].block]
        refs = [MessageRef(spoken.to, session, one.block, one.id) for one in meant if not one.asked]
        message, that, taken = phrase(spoken.intent.lang, "skip"), self._that(spoken), None
        source = that[0].evidence if len(that) == 1 else None
        if source and source.session == session and source.block in {one.block for one in meant}:
            taken = self._forget_all(spoken, that)
            if taken.outcome.outcome != "written":
                return taken
        hidden = self.gate.hide(spoken.to, refs, spoken.caller) if refs else 0
        if taken:
            return replace(taken, message=f"{message} {taken.message}")
        outcome = Outcome("written" if hidden else "unchanged", spoken.target)
        if not refs and spoken.intent.scopes != ("this",):
            outcome = Outcome("not_found", spoken.target)
            message = phrase(spoken.intent.lang, "nothing_to_skip")
        return Heard(spoken.intent, message, replace(outcome, hidden_messages=hidden))

    # --- what is written down already -------------------------------------------------------

    def _find(self, spoken: Spoken) -> tuple[MessageRef | None, bool]:
        """Return the user's message of an id that says nearly the same, and whether it was done.

        The audit tells of a captured message, so that a restart forgets nothing.
        """
        paths = self.reader.paths
        for session in reversed(session_ids(paths, spoken.to)[-NEWEST:]):
            for message in self._messages(spoken.to, session):
                base, _, number = message.id.rpartition(":")
                named = spoken.id in (message.id, base if number.isdecimal() else message.id)
                same = share_of(message.text, spoken.words) >= SAME_SHARE
                if not (named and same and message.role == "user"):
                    continue
                if message.asked:
                    return None, True
                name = f"{paths.session(spoken.to, session).removesuffix('.md')}#^{message.block}"
                lines = newest_first(paths, {spoken.target, spoken.to}, get_args(Op))
                done = any(one.evidence == name and one.outcome == "written" for one in lines)
                return MessageRef(spoken.to, session, message.block, message.id), done
        return None, False

    def _messages(self, agent: str, session: str) -> list[Message]:
        try:
            placed = self.sessions.read(agent, session).messages
        except (NotFound, UnreadableNote):
            return []
        return [one.message for one in placed]


def _together(heard: Sequence[Heard]) -> Heard:
    """Return several answers as one: the outcome is that of the first that did something."""
    first = next((one for one in heard if one.outcome.outcome != "unchanged"), heard[0])
    facts = tuple(dict.fromkeys(fact for one in heard for fact in one.facts))
    answers = [one.message for one in sorted(heard, key=lambda one: bool(one.facts))]
    return replace(first, message="\n".join(answers), facts=facts)


def _name(fact: Fact) -> str:
    """Return what names one fact for certain: its block id, else its words."""
    return f"^{fact.block}" if fact.block else fact.text


def _stands_alone(text: str) -> bool:
    return network().read("facts", [text])[0].heads["alone"]["alone"] >= CLEAR


def _shown(facts: Sequence[Fact]) -> tuple[str, ...]:
    return tuple(mask(fact.text).text for fact in facts)
