"""What a person says to their memory in plain words: understood, done once, and answered.

Only a sentence that is clearly a request does anything; see docs/voice-commands.md.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from difflib import SequenceMatcher
from functools import partial
from itertools import dropwhile
from operator import not_
from textwrap import shorten
from typing import Literal, get_args

from vaultmind.index.when import Span, redated, spans, undated
from vaultmind.language.names import covers, mutual
from vaultmind.language.reader import Intent, Reader, facts_in, stands_alone
from vaultmind.language.text import sentences
from vaultmind.language.words import NEGATIONS, SOFT, STOP, content, fold
from vaultmind.memory.audit import newest_first
from vaultmind.memory.brain import own_paragraphs, parse_brain
from vaultmind.memory.contradictions import dated, denies, is_count, superseded
from vaultmind.memory.match import NEAREST, asked_about, is_among, share_of
from vaultmind.memory.wording import phrase, section_of, told
from vaultmind.redact import blank_private, mask
from vaultmind.session.files import Shows, read_text, session_ids
from vaultmind.session.log import SessionLog
from vaultmind.session.sentences import names_in
from vaultmind.session.unkept import refs_of, unkept
from vaultmind.tables import table
from vaultmind.types import Caller, Fact, Hit, Kind, MemoryWrite, Message, MessageRef, Outcome
from vaultmind.vault.parts import bullets

NEWEST, LOOKED_BACK = 6, 40
"""Sessions, the newest first, in which a message is looked for by its id; messages that a wish not
to keep something may mean."""
SAME_SHARE = 0.5
"""Part of their words that two tellings of one message share at least."""
Op = Literal["remember", "replace", "forget"]
_SAYS = {name: re.compile(said, re.I | re.X) for name, said in table(__file__)["voice"].items()}
"""What means something only after what was said last, and who is meant by a word."""
SHORT, NOTE_LETTERS = 4, 300
"""Words of "no, it's on Thursday", which gives but another value; letters of a quoted note."""
SURE, MEANT = 0.45, 0.6
"""Score from which a note, and a fact, answer a question by their meaning."""
Near = Callable[[str, str, Caller, Kind], Sequence[Hit]]
"""Finds facts of an agent, or notes, by some words, as a caller may see them, best first."""
WORD = re.compile(r"\w+(?:[-'’:.,/]\w+)*")
Words = Sequence[re.Match[str]]
"""Words where they stand in a text."""


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

    def answer(self, message: str, outcome: Outcome | None = None) -> Heard:
        """Return an answer to the request; by itself it changes nothing."""
        return Heard(self.intent, message, outcome or Outcome("unchanged", self.target))

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
    shows: Shows
    near: Near = lambda agent, words, caller, kind: ()
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _focus: dict[str, Focus] = field(default_factory=dict)

    def hear(self, caller: Caller, target: str, utterance: str, message_id: str = "") -> Heard:
        """Do what a message asks for, each request in it in turn. With an id it acts once."""
        whole = Spoken(caller, target, utterance, id=message_id)
        with self._lock:
            whole = self._found(whole) if message_id else whole
            parts = self.words.parted(utterance)
            return _together([self._do(self._understood(whole, words)) for words in parts])

    def _understood(self, whole: Spoken, words: str) -> Spoken:
        """Return one request of a message: an agent hidden from the caller is no agent to it."""
        intent = self.words.understand(words)
        if intent.intent == "none" and (agreed := _SAYS["agreed"].match(words)):  # "yes, forget it"
            intent = self.words.understand(words[agreed.end() :])
        if intent.target and not self._sees(whole.caller, intent.target):
            intent = self.words.understand(words, naming=False)
        return replace(whole, words=words, intent=intent, target=intent.target or whole.target)

    def _do(self, spoken: Spoken) -> Heard:
        """Do or answer what is asked; what was done before is only told."""
        acts = {
            "remember": self._remember,
            "correct": self._correct,
            "forget_topic": self._forget,
            "forget_that": self._forget_that,
            "skip": self._skip,
            "recall": self._recall,
            "show_memory": self._recall,
        }
        intent, chosen = spoken.intent, self._chosen(spoken)
        is_empty = intent.intent == "remember" and not intent.payload
        name = "none" if is_empty else intent.intent
        if spoken.done and (chosen or name not in ("none", "skip", "recall", "show_memory")):
            path = self.sessions.reader.paths.brain(spoken.target)
            again = Outcome("unchanged", spoken.target, path=path)
            return spoken.answer(phrase(intent.lang, "again"), again)
        if chosen:
            return self._forget_all(spoken, chosen)
        return acts.get(name, self._nothing)(spoken)

    def _nothing(self, spoken: Spoken) -> Heard:
        self._focus.pop(spoken.ear, None)
        lang = spoken.intent.lang
        return replace(spoken, intent=Intent(lang=lang)).answer(phrase(lang, "none"))

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
        focus = Focus(agent, tuple(facts), self.sessions.clock(), offered)
        self._focus[Spoken(caller, agent).ear] = focus

    def _that(self, spoken: Spoken) -> list[Fact]:
        """Return the facts that "that" may mean: what was written or shown last, as it is now."""
        focus = self._focus.get(spoken.ear)
        since = self.sessions.clock() - self.sessions.idle
        if focus is None or focus.at < since:
            return []
        now = self._facts(spoken.caller, focus.agent)
        named = {mask(fact.text).text: fact for fact in now} | {_name(fact): fact for fact in now}
        return [named[name] for name in map(_name, focus.facts) if name in named]

    def _chosen(self, spoken: Spoken) -> list[Fact]:
        """Return what is to be forgotten by words that mean something only after what was said
        last: a yes to forgetting several facts, or one of a list.
        """
        words, that = spoken.words.strip(), self._that(spoken)
        every = _SAYS["yes"].fullmatch(words) if that else None
        if every and (self._focus[spoken.ear].offered or (every[1] and not that[2:])):
            return that
        listed = _SAYS["listed"].fullmatch(words) if len(that) > 1 else None
        place = listed.lastindex or 0 if listed else 0
        return that[-1:] if place == _SAYS["listed"].groups else that[place - 1 : place]

    def _sees(self, caller: Caller, agent: str) -> bool:
        return self.shows(self.sessions.reader.paths.brain(agent), caller)

    def _facts(self, caller: Caller, target: str) -> tuple[Fact, ...]:
        """Return the facts that a speaker may mean: none that is private or hidden from them."""
        path = self.sessions.reader.paths.brain(target)
        text = read_text(self.sessions.reader, path)[0] if self._sees(caller, target) else ""
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
        asked, facts = intent.old or intent.payload, self._facts(spoken.caller, spoken.target)
        last = that[0] if len(that) == 1 else None
        fact, new = corrected(facts, last, spoken.words, intent.old, intent.payload)
        if fact and new:
            new = redated(new, fact.text)
            return self._write(spoken, "replace", new, old=_name(fact), asked=asked)
        if new and len(sentences(spoken.words)) > 1:
            return self._nothing(spoken)  # a story: what lasts of it is kept when it ends
        if stands_alone(new):
            return self._write(spoken, "remember", new)
        near = [fact] if fact else that or [facts[at] for at in asked_about(facts, asked)]
        outcome = Outcome("not_found", spoken.target, nearest=_shown(near[:NEAREST]))
        return Heard(intent, told(intent.lang, "replace", outcome, asked), outcome)

    def _forget(self, spoken: Spoken) -> Heard:
        """Forget the fact that is named, or the one that the words mean; else offer the nearest.

        "Everything about" several facts is forgotten after a yes.
        """
        text, facts = spoken.intent.payload, self._facts(spoken.caller, spoken.target)
        meant = [facts[at] for at in asked_about(facts, text)]
        if len(meant) > 1 and _SAYS["all"].search(spoken.words):
            self.note_shown(spoken.caller, spoken.target, meant, offered=True)
            question = phrase(spoken.intent.lang, "forget_all", count=len(meant))
            return self._ask_which(spoken, question, meant)
        heard = self._write(spoken, "forget", text)
        not_found = heard.outcome.outcome == "not_found" and not heard.outcome.fact
        if not_found and len(meant) == 1 and denies(meant[0].text) == denies(text):
            return self._write(spoken, "forget", _name(meant[0]), asked=text)
        offered = heard.outcome.nearest  # which of them is meant may be said next
        near = [fact for one in offered for fact in facts if _shown([fact]) == (one,)]
        self.note_shown(spoken.caller, spoken.target, near)
        return heard

    def _forget_that(self, spoken: Spoken) -> Heard:
        """Forget what "that" means; where it may mean several things, none of them."""
        that, question = self._that(spoken), phrase(spoken.intent.lang, "nothing_last")
        one = len(that) == 1
        return self._forget_all(spoken, that) if one else self._ask_which(spoken, question, that)

    def _ask_which(self, spoken: Spoken, question: str, facts: Sequence[Fact]) -> Heard:
        nearest = _shown(facts)
        lines = [question, *(f"- {one}" for one in nearest)]
        return spoken.answer("\n".join(lines), Outcome("not_found", spoken.target, nearest=nearest))

    def _forget_all(self, spoken: Spoken, facts: Sequence[Fact]) -> Heard:
        """Forget facts of what was spoken of last."""
        spoken = replace(spoken, target=self._focus[spoken.ear].agent)
        done = [self._write(spoken, "forget", _name(one), asked=one.text) for one in facts]
        return _together(done)

    def _recall(self, spoken: Spoken) -> Heard:
        """Return the facts: all of them, or those that the question is about."""
        intent, reader, target = spoken.intent, self.sessions.reader, spoken.target
        caller = spoken.caller
        files = (reader.paths.brain(target), reader.paths.archive(target))
        outcome = Outcome("unchanged", target, path=files[0])
        if not self._sees(caller, target):
            message = phrase(intent.lang, "may_not_read", agent=target)
            return spoken.answer(message, replace(outcome, outcome="denied"))
        brain, archive = (mask(read_text(reader, one)[0]).text for one in files)
        asked = intent.payload if intent.intent == "recall" else ""
        bare = " ".join(one for one in asked.split() if fold(one) not in STOP)
        known = recalled(brain, archive, asked, partial(self.near, target, bare or asked, caller))
        self.note_shown(caller, target, known.facts)
        names = known.names
        if "nothing_yet" in names and self.sessions.open_session(target, caller.conversation):
            names = (*names, "will_read")
        message = " ".join(phrase(intent.lang, name) for name in names)
        return Heard(intent, message, outcome, known.lines)

    def _skip(self, spoken: Spoken) -> Heard:
        """Keep the messages that are meant out of every recall, and of whatever learns from them.

        What says it itself, means itself; a bare "don't keep that" means what was said before it,
        and takes back the fact that was just written of that.
        """
        ref, to, lang = spoken.ref, spoken.to, spoken.intent.lang
        opened, name = self.sessions.open_session, spoken.caller.conversation
        session = ref.session if ref else opened(to, name) or opened(to)
        said = self.sessions.messages(to, session) if session else []
        own = (n for n, one in enumerate(said, 1) if ref and one.block == ref.block)
        said = [*said, Message("user", spoken.words, "")][: next(own, None)][-LOOKED_BACK:]
        at = len(said) - 1
        meant = [said[n] for n, asker in (unkept(said) | {at: at}).items() if asker == at]
        refs = refs_of(to, session, meant)
        that, message = self._that(spoken), phrase(lang, "skip")
        source = that[0].evidence if len(that) == 1 else None
        blocks = [one.block for one in meant if source and source.session == session]
        taken = self._forget_all(spoken, that) if source and source.block in blocks else None
        if taken and taken.outcome.outcome != "written":
            return taken
        hidden = self.sessions.gate.hide(to, refs, spoken.caller) if refs else 0
        if taken:
            return replace(taken, message=f"{message} {taken.message}")
        outcome = Outcome("written" if hidden else "unchanged", spoken.target)
        if not refs and spoken.intent.scopes[:1] == ("before",):
            message, outcome = phrase(lang, "nothing_to_skip"), Outcome("not_found", spoken.target)
        return spoken.answer(message, replace(outcome, hidden_messages=hidden))

    # --- what is written down already -------------------------------------------------------

    def _found(self, spoken: Spoken) -> Spoken:
        """Return a request with the user's message of its id that says nearly the same, and whether
        it was done.

        The audit tells of a captured message, so that a restart forgets nothing.
        """
        paths = self.sessions.reader.paths
        for session in reversed(session_ids(paths, spoken.to)[-NEWEST:]):
            for one in self.sessions.messages(spoken.to, session):
                base, _, number = one.id.rpartition(":")
                named = spoken.id in (one.id, base if number.isdecimal() else one.id)
                if named and one.role == "user" and share_of(one.text, spoken.words) >= SAME_SHARE:
                    ref = MessageRef(spoken.to, session, one.block, one.id)
                    lines = newest_first(paths, {spoken.target, spoken.to}, get_args(Op))
                    evident = (paths.link(ref), "written")
                    done = any((line.evidence, line.outcome) == evident for line in lines)
                    return replace(spoken, ref=ref, done=done or bool(one.asked))
        return spoken


def _together(heard: Sequence[Heard]) -> Heard:
    """Return several answers as one: the outcome is that of the first that did something."""
    first = next((one for one in heard if one.outcome.outcome != "unchanged"), heard[0])
    facts = tuple(dict.fromkeys(fact for one in heard for fact in one.facts))
    answers = [one.message for one in sorted(heard, key=lambda one: bool(one.facts))]
    return replace(first, message="\n".join(answers), facts=facts)


def _name(fact: Fact) -> str:
    """Return what names one fact for certain: its block id, else its words."""
    return f"^{fact.block}" if fact.block else fact.text


def _shown(facts: Sequence[Fact]) -> tuple[str, ...]:
    return tuple(mask(fact.text).text for fact in facts)


# --- what is to be corrected ----------------------------------------------------------------


def corrected(
    facts: Sequence[Fact], that: Fact | None, said: str, old: str, new: str
) -> tuple[Fact | None, str]:
    """Return the fact to replace and its new text; no text where that is not certain.

    `said` is the whole sentence, `old` what is wrong in it (may be empty), `new` what is right: a
    sentence that has all the other words of the fact takes its place.
    Of several facts that they may change `that` is meant, the one touched last; where they change
    none, they may be another value in it. Without a fact the new words are one. Dates behind
    times (`with_dates`) are left out.
    """
    there = [fact for fact in facts if not old or _span(undated(fact.text), old)]
    made = [(fact, _mended(undated(fact.text), said, old, new)) for fact in facts]
    certain = [one for one in made if one[1]]
    certain = [one for one in certain if one[0] == that] or certain
    if len(certain) == 1:
        return certain[0]
    if there and (old or certain):
        left = [one for one in content(there[0].text) if not is_among(one, content(old))]
        says_all = bool(old) and covers(left, content(new)) and stands_alone(new)
        return (there[0], new if says_all else "") if len(there) == 1 else (None, "")
    text = _other_value(undated(that.text), new) if that and there else ""
    return (that, text) if text else (None, new)


def _other_value(text: str, new: str) -> str:
    """Return a fact with its one number or name replaced: "No, it's the 5th"."""
    for values in (re.compile(r"\d[\w:.,/-]*\w|\d").findall, _names):
        mine, theirs = values(text), values(new)
        if len(mine) == len(theirs) == 1 and len(WORD.findall(new)) <= SHORT:
            return text.replace(mine[0], theirs[0], 1)
    return ""


def _names(text: str) -> list[str]:
    """Return the names in a text; none where its first word may be another one."""
    first = WORD.match(text)
    return [*names_in(text)] if first and not content(first.group()) else []


def _mended(text: str, said: str, old: str, new: str) -> str:
    """Return a fact with the one run of its words replaced that new words say otherwise.

    That is its time, where they say another and nothing else of it; else what stands behind words
    that both say; else the old words.
    """
    mine, theirs, wrong = _times(text), _times(new), _span(text, old)
    if len(mine) == len(theirs) == 1:
        told = [one for one in content(new.replace(theirs[0].text, " ")) if one.folded not in SOFT]
        is_meant = told or wrong or not old
        if is_meant and all(is_among(one, content(text)) for one in told):
            right, bare = theirs[0].text, _bare(mine[0])
            return text.replace(bare if right == _bare(theirs[0]) else mine[0].text, right, 1)
    if old and not wrong:
        return ""
    return _laid_over(text, new, wrong) or _put(text, said, wrong, old, new)


def _times(text: str) -> tuple[Span, ...]:
    return spans(text, "", datetime(2026, 1, 1))


def _bare(told: Span) -> str:
    """Return a time without the word before it that may stay: "on", "since"."""
    lead, _, rest = told.text.partition(" ")
    read = spans(rest, "", datetime(2026, 1, 1), led=True)
    same = any(it.start == told.start or it.end == told.end for it in read)
    return rest if same and lead.isalpha() else told.text


def _laid_over(text: str, new: str, old: Words) -> str:
    """Return a fact with the one run of its words replaced that new words say otherwise.

    It must come after words that both say, and that tell something, or be a number; what the new
    words do not speak of stays. The words that were named as wrong are among those.
    """
    ours, theirs = list(WORD.finditer(text)), list(WORD.finditer(new))
    said, given = ([fold(one.group()) for one in words] for words in (ours, theirs))
    runs = SequenceMatcher(None, said, given, autojunk=False).get_opcodes()
    changes = [at for at, run in enumerate(runs) if run[0] in ("replace", "insert")]
    if len(changes) != 1 or not changes[0]:
        return ""
    before, (_, start, end, begin, stop) = runs[changes[0] - 1], runs[changes[0]]
    right, many = theirs[begin:stop], stop - begin
    counts = all(is_count(one.group()) for one in (*ours[start:end], *right))
    leads = before[0] == "equal" and content(" ".join(said[before[1] : before[2]]))
    fits = many == end - start or (many < end - start and runs[-1] == runs[changes[0]])
    wrong = ours[start : start + many]
    fits &= {one.start() for one in old} <= {one.start() for one in wrong}
    return _replaced(text, wrong, new, right) if fits and (counts or leads) else ""


def _put(text: str, said: str, wrong: Words, old: str, new: str) -> str:
    """Return a fact with the new words in the place of the old; empty where that is not certain."""
    if not wrong or _is_anothers(text, said, old, new):
        return ""
    value, *counted = new.split() or [""]
    after = fold(text[wrong[0].end() :]).split()[: len(counted)]
    if is_count(value) and is_count(wrong[0][0]) and after == fold(" ".join(counted)).split():
        return _replaced(text, wrong[:1], new, [*WORD.finditer(new)][:1])
    if counts := is_count(old):  # "4 cats", for what is counted may be another
        new += re.split(r"[,;.!?]", said[said.find(new) + len(new) :])[0].rstrip()
    right = [one for one in WORD.finditer(new) if content(one.group())]
    rest = content(text[: wrong[0].start()] + text[wrong[-1].end() :])
    longer, again = len(right) - len(wrong), any(covers([one], rest) for one in content(new))
    if not right or not rest or again or longer > 1 or (counts and longer):
        return ""
    return _replaced(text, wrong, new, right)


def _is_anothers(text: str, said: str, old: str, new: str) -> bool:
    """Tell whether a correction speaks of somebody or something that a fact does not."""
    head, _, tail = said.partition(",")
    told = tail if len(head.split()) < SHORT else said  # "No," and "That's wrong,"
    known = content(f"{text} {old} {new}")
    if any(not is_among(one, known) for one in content(told) if one.folded not in SOFT | NEGATIONS):
        return True
    first = content(WORD.findall(text)[0])
    speaks_of_self = any(_SAYS["self"].fullmatch(fold(one)) for one in WORD.findall(said))
    return bool(speaks_of_self and first and not is_among(first[0], content(said)))


def _span(text: str, old: str) -> Words:
    """Return the words of a fact that say the old words in any form, where that is certain."""
    ours, each = list(WORD.finditer(text)), map(content, WORD.findall(old))
    wanted = [*dropwhile(not_, each)]  # a preposition in front, which the fact may lack
    words, many = [content(one.group()) for one in ours], len(wanted)
    starts = range(len(words) - many + 1) if many else ()
    found = [at for at in starts if all(map(mutual, words[at : at + many], wanted))]
    return ours[found[0] : found[0] + many] if len(found) == 1 else []


def _replaced(text: str, wrong: Words, new: str, right: Words) -> str:
    words = new[right[0].start() : right[-1].end()]
    return f"{text[: wrong[0].start()]}{words}{text[wrong[-1].end() :]}"


# --- what is known --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Known:
    """An answer to what is known."""

    facts: tuple[Fact, ...] = ()
    lines: tuple[str, ...] = ()
    """The facts with their days, what the person typed beside them, else notes."""
    names: tuple[str, ...] = ("known",)
    """The names of what to say before them."""


def recalled(brain: str, archive: str, words: str, near: Callable[[Kind], Sequence[Hit]]) -> Known:
    """Return what brain, archive and, where they say nothing, the notes say about some words.

    Facts that hold the words; else those that mean the same; else the closest, as no more. `near`
    finds what is near in meaning, of a kind. Of facts that exclude each other the newer is told.
    """
    words, placed = words.strip(" ?!.").lower(), own_paragraphs(brain)
    placed += [(one.heading, one.text) for one in bullets(brain) if not section_of(one.heading)]
    titled = {text: f"{title}: {text}" for title, text in placed}
    known = {fact.text: fact for fact in parse_brain(brain).all()}
    facts = [*known.values(), *(Fact(text, None) for text in titled if text not in known)]
    if words and not _SAYS["me"].fullmatch(words):
        facts = [*parse_brain(archive).all(), *facts]  # of one day the later in the list is newer
        about = [replace(fact, text=titled.get(fact.text, fact.text)) for fact in facts]
        if not (found := asked_about(about, words)):
            return _near(facts, words, near)
        facts = [facts[at] for at in found]
    return _told(facts) if facts else Known(names=("nothing_yet",))


def _near(facts: Sequence[Fact], words: str, near: Callable[[Kind], Sequence[Hit]]) -> Known:
    """Return notes that hold all of some words, facts that mean them, or else what is closest."""
    asked = [word for word in content(words) if word.folded not in SOFT]
    notes = near("note")
    held = [one for one in notes if asked and covers(asked, content(one.text))]
    by_block = {fact.block or fact.text: fact for fact in facts}
    found = [
        (hit.score, fact)
        for hit in (() if held else near("fact"))
        if (fact := by_block.get(hit.anchor.removeprefix("#^")) or by_block.get(hit.text))
    ]
    if sure := [fact for score, fact in found if score >= MEANT]:
        return _told(sure)
    if notes := held or [one for one in notes if one.score >= SURE]:
        cut = partial(shorten, width=NOTE_LETTERS, placeholder=" …")
        return Known(lines=tuple(f"{one.path}: {cut(one.text)}" for one in notes[:NEAREST]))
    names = ("nothing_known", "nearest") if found else ("nothing_known",)
    return replace(_told([fact for _, fact in found[:NEAREST]]), names=names)


def _told(facts: Sequence[Fact]) -> Known:
    """Return facts with their days, without those that a newer one contradicts."""
    old = superseded([(fact.text, fact.written) for fact in facts])
    still = (fact for at, fact in enumerate(facts) if at not in old)
    kept = tuple(sorted(still, key=lambda fact: bool(fact.until)))
    return Known(kept, tuple(map(dated, kept)))
