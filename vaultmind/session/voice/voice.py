"""What a person says to their memory in plain words: understood, done once, and answered.

Only a sentence that is clearly a request does anything; see docs/voice-commands.md.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from vaultmind.index.when import without_stale_dates
from vaultmind.language.reader import Intent, Reader
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.match import find
from vaultmind.memory.replies import FALLBACK, phrase, told
from vaultmind.ports import Clock
from vaultmind.redact import blank_private, mask
from vaultmind.session.files import Shows, read_text
from vaultmind.session.voice.correcting import Correction, corrected
from vaultmind.session.voice.nearby import (
    Near,
    is_unknown,
    name_of,
    nearest_to,
    nowhere,
    offered,
    recalled,
)
from vaultmind.session.voice.placing import is_fragment
from vaultmind.session.voice.requests import Requests
from vaultmind.session.voice.said import (
    Exchange,
    acted_on,
    find_said,
    free_id,
    last_exchange,
    repeated,
)
from vaultmind.session.voice.spoken import Heard, Spoken, ear_of, together
from vaultmind.session.voice.touched import That, Touched
from vaultmind.types import PERSON, Caller, Fact, MemoryWrite, MessageRef, Outcome
from vaultmind.vault.files import VaultReader

CHANGES = frozenset({"remember", "correct", "forget_topic", "forget_that"})


class Memory(Protocol):
    """The part of the gate that a spoken request needs beside `Requests`."""

    def hide(self, agent: str, refs: Iterable[MessageRef], caller: Caller) -> int:
        """Hide messages from every recall."""
        ...


@dataclass(frozen=True, slots=True)
class Parts:
    """What a voice speaks with."""

    words: Reader
    requests: Requests
    gate: Memory
    reader: VaultReader
    shows: Shows
    touched: Touched
    clock: Clock
    near: Near = nowhere


class Voice:
    """Carries out what a person says. Any thread."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._locks: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)
        self._waits: dict[str, str] = {}  # the file that the last request only was put into
        self._made: dict[str, str] = {}
        """The block of the fact that the last utterance to an agent made; "" for one that made
        none. Nothing is known of utterances before a restart.
        """

    def understand(self, utterance: str) -> Intent:
        """Return what a sentence asks for, and do nothing."""
        return self._parts.words.understand(utterance)

    def heed(self, utterance: str, target: str) -> Heard:
        """Return what would be heard, of several requests the first, with nothing done."""
        intent = self._meant(PERSON, target, self._parts.words.parted(utterance)[0])
        return Heard(intent, "", Outcome("unchanged", intent.target or target))

    def hear(self, caller: Caller, target: str, utterance: str, message_id: str = "") -> Heard:
        """Do what a message asks for, each request in it in turn. A message acts once: by its id,
        or by its words said to the same agent a moment ago.
        """
        intent = self._meant(caller, target, utterance)
        spoken = Spoken(caller, target, utterance, intent, message_id)
        parts = self._parts.words.parted(utterance)
        with self._locks[spoken.to]:
            if len(parts) == 1:
                return self._heard(spoken)
            return together([self._heard(part) for part in self._each(spoken, parts)])

    def _each(self, spoken: Spoken, parts: tuple[str, ...]) -> list[Spoken]:
        """Return the requests of one message; all are its own where it is written down."""
        reader, to, id_ = self._parts.reader, spoken.to, spoken.id
        own = self._parts.requests.session(spoken.caller, to)
        said = find_said(reader, to, id_, spoken.words, own) if id_ else None
        whole = said if said is not None and not said.message.asked else None
        done = whole is not None and acted_on(reader.paths, (spoken.target, to), whole)
        return [
            replace(
                spoken,
                words=words,
                intent=self._meant(spoken.caller, spoken.target, words),
                id=id_ if whole or not at or not id_ else f"{id_}.{at + 1}",
                said=whole,
                done=done if whole else None,
            )
            for at, words in enumerate(parts)
        ]

    def _heard(self, spoken: Spoken) -> Heard:
        """Do one request, or nothing where it was done already."""
        spoken = replace(spoken, target=spoken.intent.target or spoken.target)
        ways: dict[str, Callable[[Spoken], Heard]] = {
            "remember": self._remember,
            "correct": self._correct,
            "forget_topic": self._forget,
            "forget_that": self._forget_last,
            "skip": self._skip,
            "recall": self._recall,
            "show_memory": self._recall,
        }
        spoken = self._placed(spoken)
        if self._is_done(spoken):
            return self._again(spoken)
        return ways.get(spoken.intent.intent, self._nothing)(spoken)

    def note(self, caller: Caller, op: str, outcome: Outcome) -> None:
        """Keep which fact a request (remember, replace, forget) touched, for a later "that".

        One that was forgotten, suggested or refused leaves nothing to mean.
        """
        to = ear_of(caller, outcome.agent)
        stands = op != "forget" and outcome.outcome in ("written", "unchanged") and outcome.fact
        facts = (Fact(outcome.fact, outcome.section, outcome.block),) if stands else ()
        self._parts.touched.note(to, outcome.agent, facts, written=True)
        self._waits[to] = outcome.path if outcome.outcome == "suggested" else ""
        self._made[to] = outcome.block if stands and outcome.outcome == "written" else ""

    def note_shown(self, caller: Caller, agent: str, facts: Sequence[Fact]) -> None:
        """Keep which facts were shown, for a later "that"."""
        if facts:
            to = ear_of(caller, agent)
            self._parts.touched.note(to, agent, facts)
            self._made[to] = ""

    def _meant(self, caller: Caller, target: str, utterance: str) -> Intent:
        """Return what a caller's sentence asks for: an agent hidden from it is no agent to it."""
        intent = self.understand(utterance)
        named = self._parts.reader.paths.brain(intent.target) if intent.target else ""
        if not named or self._parts.shows(named, caller):
            return intent
        return self._parts.words.understand(utterance, naming=False)

    # --- acting once ------------------------------------------------------------------------

    def _placed(self, spoken: Spoken) -> Spoken:
        """Return what was said with where it is written down, and an id that is its own."""
        apart = spoken.intent.intent not in (*CHANGES, "skip")
        if not spoken.id or apart or spoken.said is not None:
            return spoken
        here = self._parts.requests.session(spoken.caller, spoken.to)
        said = find_said(self._parts.reader, spoken.to, spoken.id, spoken.words, here)
        own = said.message.id if said else free_id(self._parts.reader, spoken.to, spoken.id)
        return replace(spoken, id=own, said=said)

    def _is_done(self, spoken: Spoken) -> bool:
        if spoken.intent.intent not in CHANGES:
            return False
        if spoken.done is not None:
            return spoken.done
        if spoken.id:
            agents = (spoken.target, spoken.to)
            paths = self._parts.reader.paths
            return spoken.said is not None and acted_on(paths, agents, spoken.said)
        if spoken.intent.intent == "remember" or spoken.caller.kind == "person":
            return False
        now = self._parts.clock()
        here = self._parts.requests.session(spoken.caller, spoken.to)
        return repeated(self._parts.reader, spoken.to, spoken.words, now, here) is not None

    def _again(self, spoken: Spoken) -> Heard:
        path = self._parts.reader.paths.brain(spoken.target)
        message = phrase(spoken.intent.lang, "again")
        outcome = Outcome("unchanged", spoken.target, path=path, message=message)
        return Heard(spoken.intent, message, outcome)

    def _write(self, spoken: Spoken, write: MemoryWrite, asked: str) -> Heard:
        """Make a change, and keep what it touched."""
        ref = spoken.said.ref if spoken.said else None
        heard, asking = [], self._parts.requests.ask_each
        for outcome in asking(write, spoken.words, spoken.id, ref):
            self.note(spoken.caller, write.op, outcome)
            message = told(spoken.intent.lang, write.op, outcome, mask(asked).text)
            heard.append(Heard(spoken.intent, message, outcome))
        return together(heard)

    def _sees(self, spoken: Spoken) -> Callable[[str], bool]:
        """Return what tells whether the speaker may read an agent's brain."""
        parts = self._parts
        return lambda agent: parts.shows(parts.reader.paths.brain(agent), spoken.caller)

    # --- what can be asked for --------------------------------------------------------------

    def _remember(self, spoken: Spoken) -> Heard:
        """Remember the payload; a bare "remember that" has nothing to remember."""
        text = spoken.intent.payload
        if not text:
            return self._nothing(spoken)
        write = MemoryWrite("remember", spoken.target, spoken.caller, text)
        return self._write(spoken, write, text)

    def _correct(self, spoken: Spoken) -> Heard:
        """Replace what was named as wrong, or what was touched last; else add what is right."""
        intent, parts = spoken.intent, self._parts
        that = parts.touched.that(spoken.ear, spoken.target, self._sees(spoken))
        text = read_text(parts.reader, parts.reader.paths.brain(spoken.target))[0]
        asked = Correction(spoken.words, intent.old, intent.new)
        facts = parse_brain(blank_private(text)).all()
        change = corrected(facts, asked, that.fact) if intent.new else None
        if change is None:
            self._made[spoken.ear] = ""
            near = that.choices or nearest_to(blank_private(text), intent.old)
            outcome = Outcome("not_found", spoken.target, nearest=near)
            message = told(intent.lang, "replace", outcome, intent.old or intent.new)
            return Heard(intent, message, outcome)
        if not change.old:
            write = MemoryWrite("remember", spoken.target, spoken.caller, change.new)
            return self._write(spoken, write, change.new)
        facts = parse_brain(blank_private(text)).all()
        meant = [facts[at] for at in find(facts, change.old).found]
        new = without_stale_dates(change.new, meant[0].text) if meant else change.new
        from vaultmind.session.voice.keeping import (  # the rules: when first needed
            kept_whole,
            loses,
        )

        if meant and new and not change.inside and loses(new, meant[0].text):
            new = kept_whole(new, meant[0].text)
        if meant and (not new or is_fragment(new, meant[0].text)):
            return self._holds_more(spoken, meant[0])
        write = MemoryWrite("replace", spoken.target, spoken.caller, new, old=change.old)
        return self._write(spoken, write, intent.old or change.new)

    def _holds_more(self, spoken: Spoken, fact: Fact) -> Heard:
        """Change nothing, and name the fact that would lose what the correction is not about."""
        self._made[spoken.ear] = ""
        path = self._parts.reader.paths.brain(spoken.target)
        outcome = Outcome("not_found", spoken.target, path=path, nearest=(mask(fact.text).text,))
        values = {"fact": mask(fact.text).text, "id": mask(name_of(fact)).text, "path": path}
        return Heard(spoken.intent, phrase(spoken.intent.lang, "holds_more", **values), outcome)

    def _forget(self, spoken: Spoken) -> Heard:
        text = spoken.intent.payload
        from vaultmind.session.voice.forgetting import meant

        heard = self._forget_words(spoken, text, text)
        if is_unknown(heard.outcome):
            fact = meant(self._facts(spoken.caller, spoken.target), text)
            heard = self._forget_words(spoken, name_of(fact) if fact else text, text)
        if not is_unknown(heard.outcome):
            return heard
        outcome = offered(
            heard.outcome, self._parts.near(spoken.target, text, spoken.caller, "fact")
        )
        message = told(spoken.intent.lang, "forget", outcome, mask(text).text)
        return replace(heard, outcome=outcome, message=message)

    def _facts(self, caller: Caller, target: str) -> tuple[Fact, ...]:
        """Return the facts that a speaker may mean."""
        parts, path = self._parts, self._parts.reader.paths.brain(target)
        if not parts.shows(path, caller):
            return ()
        text = read_text(parts.reader, path)[0]
        return parse_brain(blank_private(text)).all()

    def _forget_words(self, spoken: Spoken, words: str, asked: str) -> Heard:
        return self._write(
            spoken, MemoryWrite("forget", spoken.target, spoken.caller, words), asked
        )

    def _forget_last(self, spoken: Spoken) -> Heard:
        """Forget what "that" means; where it may mean several things, none of them."""
        facts = self._facts(spoken.caller, spoken.target)
        from vaultmind.session.voice.forgetting import meant, strays

        named = meant(facts, spoken.words, loosely=True)
        if named is not None:
            return self._forget_words(spoken, name_of(named), named.text)
        that = self._parts.touched.that(spoken.ear, spoken.target, self._sees(spoken))
        if that.fact is not None and strays(that.fact, facts, spoken.words):
            that = replace(that, fact=None)
        if that.fact is None:
            return self._which(spoken, that)
        write = MemoryWrite("forget", that.agent, spoken.caller, name_of(that.fact))
        return self._write(spoken, write, that.fact.text)

    def _skip(self, spoken: Spoken) -> Heard:
        """Keep the message that is meant out of every recall, and of whatever learns from it.

        What it says itself, it means itself; a bare "don't keep that" means what was said before
        it, and takes back the fact that came of that.
        """
        intent, parts = spoken.intent, self._parts
        own = spoken.said.ref if spoken.said else None
        itself = intent.scopes == ("this",)
        talk = (parts.reader, spoken.to, own, spoken.caller.conversation)
        before = Exchange() if itself else last_exchange(*talk)
        fact = self._learned(spoken, before)
        if fact is not None:
            write = MemoryWrite("forget", spoken.target, spoken.caller, name_of(fact))
            taken = self._write(spoken, write, fact.text)
            if taken.outcome.outcome != "written":
                return taken
        refs = tuple(ref for ref in (own, *before.messages) if ref is not None)
        hidden = parts.gate.hide(spoken.to, refs, spoken.caller) if refs else 0
        message = phrase(intent.lang, "skip")
        if fact is not None:
            return replace(taken, message=f"{message} {taken.message}")
        if not refs and not itself:
            outcome = Outcome("not_found", spoken.target)
            return Heard(intent, phrase(intent.lang, "nothing_to_skip"), outcome)
        outcome = Outcome("written" if hidden else "unchanged", spoken.target)
        return Heard(intent, message, replace(outcome, hidden_messages=hidden))

    def _learned(self, spoken: Spoken, before: Exchange) -> Fact | None:
        """Return the fact that was just written from what a bare "don't keep that" means.

        A request is not what was said before where another utterance, which may be written down
        nowhere, came after it, or may have come: before a restart.
        """
        that = self._parts.touched.that(spoken.ear, spoken.target, self._sees(spoken))
        if that.fact is None or that.agent != spoken.target or that.fact.evidence is None:
            return None
        made = self._made.get(spoken.ear)
        if made is not None and made != that.fact.block:
            return None
        request = None if made is None else before.request
        evidence, meant = that.fact.evidence, (*before.messages, request)
        places = [(ref.session, ref.block) for ref in meant if ref is not None]
        return that.fact if (evidence.session, evidence.block) in places else None

    def _recall(self, spoken: Spoken) -> Heard:
        """Return the facts: all of them, or those that the question is about."""
        intent, reader = spoken.intent, self._parts.reader
        path = reader.paths.brain(spoken.target)
        outcome = Outcome("unchanged", spoken.target, path=path)
        if not self._parts.shows(path, spoken.caller):
            message = phrase(intent.lang, "may_not_read", agent=spoken.target)
            return Heard(intent, message, replace(outcome, outcome="denied"))
        files = (path, reader.paths.archive(spoken.target))
        brain, archive = (mask(read_text(reader, one)[0]).text for one in files)
        asked = intent.payload if intent.intent == "recall" else ""
        known = recalled(
            brain, archive, asked, partial(self._parts.near, spoken.target, asked, spoken.caller)
        )
        self._parts.touched.note(spoken.ear, spoken.target, known.facts)
        self._made[spoken.ear] = ""
        message = " ".join(phrase(intent.lang, name) for name in known.names)
        return Heard(intent, message, outcome, known.lines)

    def _moved_on(self, spoken: Spoken) -> None:
        self._parts.touched.note(spoken.ear, spoken.target, ())
        self._made[spoken.ear] = self._waits[spoken.ear] = ""

    def _which(self, spoken: Spoken, that: That) -> Heard:
        path, reject = self._waits.get(spoken.ear), "`vaultmind suggestions reject`"
        values = {"path": path, "reject": reject}
        lines = [phrase(spoken.intent.lang, "waits" if path else "nothing_last", **values)]
        lines += [f"- {text}" for text in that.choices]
        outcome = Outcome("not_found", that.agent, nearest=that.choices)
        return Heard(spoken.intent, "\n".join(lines), outcome)

    def _nothing(self, spoken: Spoken) -> Heard:
        """Do nothing but move on: what is said next means these words, and no fact before them."""
        self._moved_on(spoken)
        message = phrase(spoken.intent.lang or FALLBACK, "none")
        return Heard(spoken.intent, message, Outcome("unchanged", spoken.target))
