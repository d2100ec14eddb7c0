"""One session, from what was said in it to what it leaves: step after step, each repeatable.

Each fact goes through the gate with its evidence. It is written where the agent's level allows it,
and waits for the person where there is a doubt. A fact that a session left once is not written a
second time, even where the person has taken it out of the brain since.

The active context was written when the session ended. Words of an agent or a model that are held
against the talk take the place of the sentences chosen then; what a person has changed stays.

What an agent itself says a conversation leaves, its recap and facts that quote the person, is
believed where it can show it: it was there and understood the person best. The words that it quotes
were logged, and every number, name and date was said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from vaultmind.consolidate.extract import day_of, gives_orders, in_own_words, is_known, own_words
from vaultmind.consolidate.ground import share_of, stands, supported, unsaid
from vaultmind.consolidate.types import (
    MEANS,
    SECTION_OF,
    Candidate,
    Category,
    Dropped,
    Extraction,
    Reason,
    Resources,
    SessionDone,
    Settled,
    Work,
)
from vaultmind.errors import VaultMindError, WriteFailed
from vaultmind.index.when import with_dates
from vaultmind.language.secrets import sensitive
from vaultmind.language.text import plain_sentences
from vaultmind.language.words import fold
from vaultmind.memory.audit import EXTRACTED, REPORTED, settled_before, settled_words
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.suggestions import parse
from vaultmind.memory.wording import pick
from vaultmind.redact import blank_private, mask
from vaultmind.session import active
from vaultmind.session.files import Shelf, plain_text, read_text
from vaultmind.session.recall import key_of
from vaultmind.session.sentences import LANGUAGES, context_words, language_of
from vaultmind.session.summary import Line, source_bullet
from vaultmind.times import iso
from vaultmind.tokens import count
from vaultmind.types import Caller, Fact, MemoryWrite, Message, MessageRef, Outcome, Section
from vaultmind.vault.files import Change, FileText
from vaultmind.vault.oneline import escape, one_line
from vaultmind.vault.properties import set_property
from vaultmind.vault.transcript import parse_meta, runs

if TYPE_CHECKING:
    from vaultmind.consolidate.model import Thinker

KEPT = "The active context has changed since and was left alone."
SETTLED = "this session left it once already"
SECOND_HAND = "only an agent says that the user said it"
"""Why what an agent wrote down adds nothing sensitive by itself."""
MEANWHILE = "Something changed or was forgotten meanwhile; it is read again."


def known_facts(by: Resources, agent: str) -> list[Fact]:
    """Return the facts of an agent's brain and archive, without secrets."""
    paths = by.reader.paths
    texts = (read_text(by.reader, one)[0] for one in (paths.brain(agent), paths.archive(agent)))
    facts = (fact for text in texts for fact in parse_brain(text).all())
    return [replace(one, text=mask(one.text).text) for one in facts]


def settle(work: Work, thinker: Thinker, max_facts: int) -> tuple[SessionDone, bool]:
    """Return what a session left, and whether a model was asked in vain.

    `pending` says that it is to be read again: then nothing was written where something changed or
    was forgotten meanwhile. It is not marked as done by this. Raises VaultMindError, OSError, and
    what `check` raises.
    """
    by, agent, session = work.by, work.agent, work.session
    said, known = _said(work), known_facts(by, agent)
    found = Extraction()
    if any(one.text.strip() for one in said.values()):
        messages = list(said.values())
        language = language_of(messages)
        found = thinker.extract(messages, known, language=language, max_facts=max_facts)
    work.check()
    there = {one.text for one in known_facts(by, agent)}
    if _said(work) != said or not {one.text for one in known} <= there:
        return SessionDone(agent, session, by=found.by, pending=True, notes=(MEANWHILE,)), False
    blocks = _stated(work)
    stated = {key for key, one in said.items() if one.block in blocks}
    facts = [one for one in found.facts if stated.isdisjoint(one.evidence)]
    settled = bring_in(work, facts, found.dropped, said)
    notes = list(found.notes)
    if not work.dry_run and not better(work, found):
        notes.append(KEPT)
    done = SessionDone(
        agent, session, tuple(settled), found.dropped, found.summary, found.by,
        found.again, tuple(notes),
    )  # fmt: skip
    return done, found.again and not found.unasked


def _said(work: Work) -> dict[str, Message]:
    """Return the messages of a session that may be recalled, by their keys."""
    shown = Shelf(work.by.reader).recallable(work.agent, work.session, work.by.hides)
    return {key_of(one): one for one, _ in shown}


def _stated(work: Work) -> set[str]:
    """Return the blocks of the session's messages that an agent stated facts from.

    It was there and read them best: what it stated is known by now, or waits for the person.
    """
    reader = work.by.reader
    waits = parse(read_text(reader, reader.paths.suggestions)[0])
    own = (one.write for one in waits if one.write.agent == work.agent)
    every: list[Fact | MemoryWrite] = [*known_facts(work.by, work.agent), *own]
    refs = (one.evidence for one in every if one.how == REPORTED)
    return {ref.block for ref in refs if ref and ref.session == work.session}


def consolidated(when: datetime, then: str = "") -> Change:
    """Return the change that says a session was consolidated, in its front matter alone.

    `then`: what is pending from now on. One that a person has opened again is left as it is.
    """

    def change(file: FileText | None) -> str | None:
        if file is None or parse_meta(file.text).state != "ended":
            return None
        text = set_property(file.text, "consolidated", iso(when))
        return set_property(text, "pending", then or None)

    return change


# --- facts, one by one --------------------------------------------------------------------


def bring_in(
    work: Work, facts: Sequence[Candidate], dropped: Sequence[Dropped], said: Mapping[str, Message]
) -> list[Settled]:
    """Bring facts through the gate, and tell the audit what was dropped.

    Return what became of each fact, in their order; in a dry run, what would. `said`: the messages
    of the session that may be recalled, by their keys, in their order. A fact none of whose
    evidence is among them is put before the person.
    """
    gate, agent = work.by.gate, work.agent
    before = settled_before(work.by.reader.paths, agent, work.session)
    settled = []
    for fact in facts:
        if fact.category != "DELETE" and settled_words(fact.text) in before:
            outcome = Outcome("unchanged", agent, reason=SETTLED)
        else:
            write = _write(work, fact, said)
            try:
                outcome = gate.would(write) if work.dry_run else gate.write(write)
            except WriteFailed:  # the session stays to be done
                raise
            except VaultMindError as error:
                outcome = Outcome("denied", agent, fact=write.text, reason=error.message)
        text, replaces = outcome.fact or fact.text, outcome.before or fact.replaces
        done = Settled(fact.category, text, fact.evidence, replaces, outcome.outcome)
        settled.append(replace(done, reason=outcome.reason))
    told = [
        (one.text, one.reason, tuple(said[key].block for key in one.evidence if key in said))
        for one in dropped
        if one.reason != "already known" and one.category != "DELETE"  # a wish, maybe fulfilled
    ]
    if told and work.session and not work.dry_run:
        gate.dropped(agent, work.session, told, work.caller)
    return settled


def _write(work: Work, fact: Candidate, said: Mapping[str, Message]) -> MemoryWrite:
    """Return the write that brings a fact into memory."""
    evidence = [one for key, one in said.items() if key in fact.evidence]
    latest = evidence[-1] if evidence else None
    day, today = day_of(latest) if latest else None, work.by.clock().date()
    ref = MessageRef(work.agent, work.session, latest.block, latest.id) if latest else None
    said_on = (latest.time if day.date() <= today else str(today)) if latest and day else ""
    section = fact.section or SECTION_OF.get(fact.category)
    write = MemoryWrite("remember", work.agent, work.caller, fact.text, "", section, ref)
    known = f"^{fact.block}" if fact.block else ""
    if fact.category == "UPDATE":
        write = replace(write, op="replace", old=known or fact.replaces)
    elif fact.category == "DELETE":
        write = replace(write, op="forget", text=known or fact.text)
    hold = fact.doubt or ("" if evidence else "no message of the conversation says it")
    second_hand = fact.quote or any(one.how == "reported" for one in evidence)
    if not hold and second_hand and (write.op == "forget" or sensitive(fact.text)):
        hold = SECOND_HAND
    how = REPORTED if fact.quote else EXTRACTED
    return replace(write, how=how, quote=fact.quote, said_on=said_on, hold=hold)


# --- the active context ---------------------------------------------------------------------


def recap_of(session: str) -> str:
    """Return how the block ids of an agent's own recap of a session begin; a number follows."""
    return f"{session.replace('_', '-')}-r"


def better(work: Work, found: Extraction) -> bool:
    """Write a model's summary of a session into the active context; tell whether it stands there.

    Nothing is to be done where that speaks of another session, or of this one in the agent's own
    words. What a person has changed stays.
    """
    if found.by == "extractive" or not found.summary:
        return True
    text = read_text(work.by.reader, work.by.reader.paths.active_context(work.agent))[0]
    if active.speaks_of(text) != active.link(work.path) or f" ^{recap_of(work.session)}" in text:
        return True
    about = [escape(one) for one in plain_sentences(found.summary)]
    return retell(work, about, "what a session leaves, summed up", untouched=True)


def retell(work: Work, about: Sequence[str], reason: str, *, untouched: bool = False) -> bool:
    """Write other bullets on what a session was about into the active context; tell whether.

    Not where a later session left its own; if `untouched`, only in the place of what we wrote.
    """
    by, now = work.by, work.by.clock()
    left = active.left_by(Shelf(by.reader), by.hides, work.agent, work.session, now, in_own_words)

    def change(file: FileText | None) -> str | None:
        text = file.text if file else ""
        if untouched and active.body_of(text).strip() != left.body.strip():
            return None
        base = active.body_of(text) if active.speaks_of(text) == active.link(work.path) else ""
        body = mask(with_about(base, about, left.language, active.BODY_TOKENS)).text
        return active.telling(replace(left, body=body), now)(file)

    path = by.reader.paths.active_context(work.agent)
    return by.gate.save(path, change, work.caller, reason) is not None


def with_about(text: str, about: Sequence[str], language: str, max_tokens: int) -> str:
    """Return the body of an active context with other bullets on what the talk was about.

    `text` is what the conversation leaves without them: its other sections stay as far as there
    is room. At least one bullet is kept.
    """
    ours = {context_words(code)["heading_about"].casefold() for code in LANGUAGES}
    wanted = [(context_words(language)["heading_about"], f"- {item}") for item in about]
    for title, *lines in (part.splitlines() for part in re.split(r"(?m)^#+ ", text)[1:]):
        if title.strip().casefold() not in ours:
            wanted += [(title, line) for line in lines if line.startswith("- ")]
    body = last = ""
    for title, line in wanted:
        longer = f"{body}\n{line}" if title == last else f"{body}\n\n## {title}\n{line}".lstrip()
        if not body or count(plain_text(longer)) <= max_tokens:
            body, last = longer, title
    return body


# --- what an agent reports ---------------------------------------------------------------

CATEGORY_OF: dict[Section, Category] = {section: name for name, section in SECTION_OF.items()}
OPEN = "the conversation goes on: what it leaves is taken from it when it ends"
LATER = "later conversations have left their own already"
MOST_SENTENCES = 12
"""Of a recap; what comes after them is told to be too much."""
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
class Reported:
    """Takes what agents tell of a conversation. Any thread."""

    by: Resources
    max_facts: int

    def facts(
        self, agent: str, session: str, facts: Sequence[Told], caller: Caller
    ) -> tuple[Settled, ...]:
        """Bring into memory what the conversation bears out; return what became of each fact.

        `session` is empty where nothing was logged. Raises NotFound, UnreadableNote for a session
        that cannot be read.
        """
        said, _ = self._heard(agent, session)
        known = [one.text for one in known_facts(self.by, agent)]
        most, bad, fates = len(known) + self.max_facts, list[Dropped](), list[Settled]()
        work, messages = Work(self.by, agent, session, caller), {key_of(one): one for one in said}
        for told in facts:
            found = _judged(told, said, "\n".join(known))
            there = any(is_known(found.text, one) for one in known)
            if isinstance(found, Candidate) and (there or len(known) == most):
                reason = "already known" if there else "too many"
                found = Dropped(found.text, reason, found.evidence, found.category)
            if isinstance(found, Dropped):
                bad.append(found)
                fate = Settled(found.category, "", found.evidence, reason=found.reason)
            else:
                known.append(found.text)
                (fate,) = bring_in(work, [found], (), messages)
            fates.append(replace(fate, fact=one_line(mask(told.text).text)))
        bring_in(work, (), bad, messages)
        return tuple(fates)

    def recap(
        self, agent: str, session: str, recap: str, caller: Caller
    ) -> tuple[int, list[tuple[str, str]]]:
        """Write a recap into the active context; return how many of its sentences were kept, and
        the others, each with why not.
        """
        said, is_open = self._heard(agent, session)
        lines, left_out = grounded(recap, said, agent, session)
        why = OPEN if is_open else ""
        if lines and not why:
            work = Work(self.by, agent, session, caller)
            bullets = [source_bullet(one) for one in lines]
            why = "" if retell(work, bullets, "the agent's recap of a session") else LATER
        if why:
            return 0, [*left_out, *((one.text, why) for one in lines)]
        return len(lines), left_out

    def readable(self, agent: str, session: str) -> list[tuple[str, Message]]:
        """Return the messages of a session that an agent may read to settle it, by their names."""
        return [
            (one.block or one.id, replace(one, text=mask(blank_private(one.text)).text))
            for one in self._heard(agent, session)[0]
            if one.role in ("user", "assistant") and one.text.strip()
        ]

    def _heard(self, agent: str, session: str) -> tuple[list[Message], bool]:
        """Return what of a session may bear something out, and whether it goes on."""
        if not session:
            return [], True
        shelf = Shelf(self.by.reader)
        shown = shelf.recallable(agent, session, self.by.hides)
        return [one for one, _ in shown], runs(shelf.read(agent, session).meta)


def _unfit(text: str, *, quotes: bool = True) -> Reason:
    """Return why an agent's words are kept from nobody; empty for those that may be."""
    if blank_private(text) != text:
        return "private"
    if mask(text).text != text:
        return "secret"
    said = _ABOUT_THE_USER.sub("", fold(text)) if quotes else text
    return "orders the memory" if gives_orders(said) else ""


def _judged(told: Told, said: Sequence[Message], known: str) -> Candidate | Dropped:
    """Return a fact with the message that it quotes as evidence, or why the talk bears it not out.

    It may name what is `known` already. Words that were pasted bear out nothing. What no message
    says may be what was forgotten: then the words are kept nowhere.
    """
    text, quote = one_line(told.text), told.quote
    section = told.section or pick(text)
    category = CATEGORY_OF[section]
    if reason := _unfit(told.text, quotes=bool(quote)):
        return Dropped(text, reason)
    there = [one for one in said if stands(quote, one.text)]
    there = [one for one in there if one.role == "user"] or there
    keys = tuple(key_of(one) for one in there[-1:])
    fault = supported(text, said, quote, also=known)
    if fault and fault.reason != "polarity":
        return Dropped(text if there else "", fault.reason, keys, category)
    if not fault and all(_is_pasted(quote, one.text) for one in there):
        return Dropped(text, "quoted", keys, category)
    if there and (day := day_of(there[-1])):
        text = with_dates(text, day)
    doubt = MEANS["polarity"] if fault else ""
    change: Category = "UPDATE" if told.replaces else category
    return Candidate(change, text, keys, 0.0, section, told.replaces, doubt=doubt, quote=quote)


def _is_pasted(quote: str, text: str) -> bool:
    """Tell whether words of a message are somebody else's, which its writer pasted or quoted."""
    own, others = own_words(text)
    return not stands(quote, own) and any(stands(quote, one) for one, _ in others)


def grounded(
    recap: str, messages: Sequence[Message], agent: str, session: str
) -> tuple[list[Line], list[tuple[str, str]]]:
    """Return the sentences of a recap that a conversation bears out, and the others with why not.

    `messages` are those that may be kept; `agent`, whose words these are, is named beside them.
    """
    own = [
        (number, in_own_words(one))
        for number, one in enumerate(messages, 1)
        if one.role in ("user", "assistant") and one.text.strip()
    ]
    near = [one for _, one in own]
    also = " ".join([*{one.speaker or "" for one in near}, *{one.time[:10] for one in near}, agent])
    lines: list[Line] = []
    left_out: list[tuple[str, str]] = []
    for sentence in dict.fromkeys(plain_sentences(recap)):
        shares = [share_of(sentence, one.text) for one in near]
        reason = _why_not(sentence, near, also)
        if not reason and not any(shares):
            reason = DOES_NOT_SAY.format("anything of it")
        if not reason and len(lines) == MOST_SENTENCES:
            reason = f"a recap has at most {MOST_SENTENCES} sentences"
        if reason:
            left_out.append((sentence, reason))
            continue
        at, source = own[shares.index(max(shares))]
        block = f"{recap_of(session)}{len(lines) + 1}"
        lines.append(Line(sentence, "other", block, source.block, at, speaker=agent))
    return lines, left_out


def _why_not(sentence: str, near: Sequence[Message], also: str) -> str:
    """Return why a sentence of a recap is not kept; empty for one that is."""
    if reason := _unfit(sentence):
        return MEANS[reason]
    fault = unsaid(sentence, near, near[-1].time[:10] if near else "", also)
    if not fault and sensitive(sentence):
        mine = [one for one in near if one.role == "user" or not _ABOUT_THE_USER.match(sentence)]
        fault = supported(sentence, mine, also=also)
    return DOES_NOT_SAY.format(fault.detail or fault.reason) if fault else ""
