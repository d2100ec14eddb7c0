"""One session, from what was said in it to what it leaves: step after step, each repeatable.

Each fact goes through the gate with its evidence. It is written where the agent's level allows it,
and waits for the person where there is a doubt. A fact that a session left once is not written a
second time, even where the person has taken it out of the brain since.

The active context was written when the session ended. Words of an agent or a model that are held
against the talk take the place of the sentences chosen then; what a person has changed stays.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime

from vaultmind.consolidate.ground import share_of
from vaultmind.consolidate.talk import key_of
from vaultmind.consolidate.types import (
    SECTION_OF,
    Candidate,
    Dropped,
    Extraction,
    Resources,
    SessionDone,
    Settled,
    Thinks,
    Understood,
    Work,
)
from vaultmind.errors import BadArgument, VaultMindError, WriteFailed
from vaultmind.language.text import plain_sentences
from vaultmind.memory.audit import EXTRACTED, REPORTED, settled_words
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.match import mentions, same_fact
from vaultmind.memory.sensitive import sensitive
from vaultmind.memory.suggestions import parse
from vaultmind.plural import counted
from vaultmind.redact import mask
from vaultmind.session.active import (
    BODY_TOKENS,
    ActiveContextFile,
    body_of,
    has_recap,
    language_of,
    link,
    speaks_of,
)
from vaultmind.session.files import iso, plain_text, read_text, recallable
from vaultmind.session.sentences import LANGUAGES, headings
from vaultmind.session.summary import section_text
from vaultmind.tokens import count
from vaultmind.types import Fact, MemoryWrite, Message, MessageRef, Outcome
from vaultmind.vault.bullets import HEADING
from vaultmind.vault.edits import remove_property, set_property
from vaultmind.vault.files import Change, FileText
from vaultmind.vault.oneline import escape
from vaultmind.vault.session_meta import parse_meta

KEPT = "The active context was changed since, and was left as it is."
SETTLED = "this session left it once already"
REMOVED = "left before, and since removed by hand: not written again"
SECOND_HAND = "only an agent says that the user said it"
"""Why what an agent wrote down adds nothing sensitive by itself."""
ARCHIVED = "{} moved to the archive to keep the brain small; `vaultmind log` names them."
MEANWHILE = "It changed while it was read, and is read again."
log = logging.getLogger(__name__)


def known_facts(by: Resources, agent: str) -> list[Fact]:
    """Return the facts of an agent's brain and archive, without secrets."""
    paths = by.reader.paths
    texts = (read_text(by.reader, one)[0] for one in (paths.brain(agent), paths.archive(agent)))
    facts = (fact for text in texts for fact in parse_brain(text).all())
    return [replace(one, text=mask(one.text).text) for one in facts]


def settle(work: Work, thinker: Thinks, max_facts: int) -> tuple[SessionDone, bool]:
    """Return what a session left, and whether a model was asked in vain.

    `pending` says that it is to be read again.

    It is not marked as done by this. Raises VaultMindError, OSError, and what `check` raises.
    """
    by, agent, session, check = work.by, work.agent, work.session, work.check
    said, known = _said(work), known_facts(by, agent)
    found = Understood(Extraction())
    if any(one.text.strip() for one in said.values()):
        messages = list(said.values())
        language = language_of(messages)
        found = thinker.extract(messages, known, language=language, max_facts=max_facts)
    check()
    now = _said(work)
    gone = {one.text for one in known} - {one.text for one in known_facts(by, agent)}
    if changed := now != said or bool(gone):
        said = {key: one for key, one in said.items() if now.get(key) == one}
        found = _still(found, said, gone)
    facts, dropped = _untold(work, found.extraction, said)
    before = by.gate.settled_before(agent, session)
    own = [d for d in dropped if d.reason == "already known" and settled_words(d.text) in before]
    dropped = [one for one in dropped if one not in own]
    settled = apply(work, facts, said)
    settled += [Settled(one.category, one.text, one.evidence, reason=SETTLED) for one in own]
    notes = [*found.notes, *([MEANWHILE] if changed else ())]
    if moved := sum(one.archived for one in settled):
        notes.append(ARCHIVED.format(counted(moved, "older fact")))
    if not work.dry_run:
        check()
        told = [
            (one.text, one.reason, _blocks(one.evidence, said))
            for one in dropped
            if one.category != "DELETE"  # after a kill it may be a wish fulfilled
        ]
        by.gate.dropped(agent, session, told, work.caller)
        check()
        notes += filter(None, [better(work, found)])
        check()
    done = SessionDone(
        agent, session, tuple(settled), tuple(dropped), found.summary, found.by,
        found.again or changed, tuple(notes),
    )  # fmt: skip
    return done, found.again and not found.unasked


def _said(work: Work) -> dict[str, Message]:
    """Return the messages of a session that may be recalled, by their keys."""
    text = work.by.reader.read(work.path).text
    return {key_of(one): one for one, _ in recallable(work.agent, work.path, text, work.by.hides)}


def _still(found: Understood, said: Mapping[str, Message], gone: Iterable[str]) -> Understood:
    """Return what was found without what was forgotten or changed while it was thought about."""

    def holds(one: Candidate | Dropped) -> bool:
        hidden = any(mentions(one.text, it) or same_fact(one.text, it) for it in gone)
        return not hidden and set(one.evidence) <= said.keys()

    facts = tuple(one for one in found.extraction.facts if holds(one))
    dropped = tuple(
        one if holds(one) else Dropped("", "forgotten", one.evidence, one.category)
        for one in found.extraction.dropped
    )
    return replace(found, extraction=Extraction(facts, dropped), summary="")


def _untold(
    work: Work, found: Extraction, said: Mapping[str, Message]
) -> tuple[list[Candidate], list[Dropped]]:
    """Return what no agent reported in other words from the same messages, and the rest.

    What an agent reported may be known, or wait for the person. Of a message that it reported, the
    only fact, or one that shares a word, is the same in other words.
    """
    reader = work.by.reader
    waits = parse(read_text(reader, reader.paths.suggestions)[0])
    own = (one.write for one in waits if one.write.agent == work.agent)
    every: list[Fact | MemoryWrite] = [*known_facts(work.by, work.agent), *own]
    reported = [
        (one.evidence.block, one.text)
        for one in every
        if one.how == REPORTED and one.evidence and one.evidence.session == work.session
    ]
    new, dropped = list[Candidate](), list(found.dropped)
    alone = Counter(key for fact in found.facts for key in fact.evidence)
    for fact in found.facts:
        blocks = _blocks(fact.evidence, said)
        same = [text for block, text in reported if block in blocks]
        is_only = same and not fact.asked and all(alone[key] == 1 for key in fact.evidence)
        if is_only or any(share_of(fact.text, text) > 0 for text in same):
            dropped.append(Dropped(fact.text, "already known", fact.evidence, fact.category))
        else:
            new.append(fact)
    return new, dropped


def _blocks(keys: Sequence[str], said: Mapping[str, Message]) -> tuple[str, ...]:
    return tuple(said[key].block for key in keys if key in said)


def consolidated(when: datetime, then: str = "") -> Change:
    """Return the change that says a session was consolidated, in its front matter alone.

    `then`: what is pending from now on. One that a person has opened again, or whose properties are
    broken, is left as it is.
    """

    def change(file: FileText | None) -> str | None:
        if file is None or parse_meta(file.text).state != "ended":
            return None
        try:
            text = set_property(file.text, "consolidated", iso(when))
            return set_property(text, "pending", then) if then else remove_property(text, "pending")
        except BadArgument as error:
            log.warning("%s could not be marked: %s", file.path, error)
            return None

    return change


# --- facts, one by one --------------------------------------------------------------------


def apply(work: Work, facts: Sequence[Candidate], said: Mapping[str, Message]) -> list[Settled]:
    """Return what became of each fact, in their order; in a dry run, what would.

    `said`: the messages of the session that may be recalled, by their keys, in their order. A
    fact none of whose evidence is among them is put before the person.
    """
    gate, agent = work.by.gate, work.agent
    before = gate.settled_before(agent, work.session)
    settled = []
    for fact in facts:
        work.check()
        known = known_facts(work.by, agent)
        if fact.category != "DELETE" and settled_words(fact.text) in before:
            there = any(same_fact(one.text, fact.text) for one in known)
            outcome = Outcome("unchanged", agent, reason=SETTLED if there else REMOVED)
        else:
            write = _write(work, fact, said, known)
            try:
                outcome = gate.would(write) if work.dry_run else gate.write(write)
            except WriteFailed:  # the session stays to be done
                raise
            except VaultMindError as error:
                outcome = Outcome("denied", agent, fact=write.text, reason=error.message)
        settled.append(
            Settled(
                category=fact.category,
                fact=outcome.fact or fact.text,
                evidence=fact.evidence,
                replaces=outcome.before or fact.replaces,
                outcome=outcome.outcome,
                reason=outcome.reason,
                archived=outcome.archived,
            )
        )
    return settled


def _write(
    work: Work, fact: Candidate, said: Mapping[str, Message], known: Sequence[Fact]
) -> MemoryWrite:
    """Return the write that brings a fact into memory."""
    evidence = [one for key, one in said.items() if key in fact.evidence]
    latest = evidence[-1] if evidence else None
    ref = MessageRef(work.agent, work.session, latest.block, latest.id) if latest else None
    write = MemoryWrite(
        "remember",
        work.agent,
        work.caller,
        fact.text,
        section=fact.section or SECTION_OF.get(fact.category),
        evidence=ref,
        how=REPORTED if fact.quote else EXTRACTED,
        quote=fact.quote,
        said_on=_day(latest, work.by.clock().date()) if latest else "",
    )

    def named(words: str) -> str:
        """Return what names a known fact: its block id, as long as it still says the same."""
        same = (one.text for one in known if fact.block and one.block == fact.block)
        return f"^{fact.block}" if any(same_fact(one, words) for one in same) else words

    if fact.category == "UPDATE":
        write = replace(write, op="replace", old=named(fact.replaces))
    elif fact.category == "DELETE":
        write = replace(write, op="forget", text=named(fact.text))
    hold = fact.doubt or ("" if evidence else "no message of the conversation says it")
    second_hand = fact.quote or any(one.how == "reported" for one in evidence)
    if not hold and second_hand and (write.op == "forget" or sensitive(fact.text)):
        hold = SECOND_HAND
    return replace(write, hold=hold)


def _day(message: Message, today: date) -> str:
    """Return the day on which something was said; today for a clock that ran ahead."""
    try:
        return min(today, date.fromisoformat(message.time[:10])).isoformat()
    except ValueError:
        return today.isoformat()


# --- the active context ---------------------------------------------------------------------


def better(work: Work, found: Understood) -> str:
    """Write a model's summary of a session into the active context; return why not, or "".

    Nothing is done where that speaks of another session, or of this one in the agent's own words.
    """
    by, agent = work.by, work.agent
    text = read_text(by.reader, by.reader.paths.active_context(agent))[0]
    is_about = speaks_of(text) == link(work.path) and not has_recap(text, work.session)
    if found.by == "extractive" or not found.summary or not is_about:
        return ""
    left = ActiveContextFile(by.reader, by.hides).read(agent, work.path, by.clock())
    if body_of(text).strip() != left.body.strip():
        return KEPT
    about = [escape(one) for one in plain_sentences(found.summary)]
    saved = retell(work, about, "what a session leaves, summed up", text)
    return "" if saved else KEPT


def retell(work: Work, about: Sequence[str], reason: str, before: str | None = None) -> bool:
    """Write other bullets on what a session was about into the active context; tell whether.

    Not where a later session left its own, or it does not hold what stood there `before`, where
    that is given.
    """
    by, now = work.by, work.by.clock()
    written = ActiveContextFile(by.reader, by.hides)
    left = written.read(work.agent, work.path, now)

    def change(file: FileText | None) -> str | None:
        text = file.text if file else ""
        if before is not None and body_of(text) != body_of(before):
            return None
        base = body_of(text) if speaks_of(text) == link(work.path) else ""
        body = mask(with_about(base, about, left.language, BODY_TOKENS)).text
        return written.change(replace(left, body=body, slight=False), now)(file)

    active = by.reader.paths.active_context(work.agent)
    return by.gate.save(active, change, work.caller, reason) is not None


def with_about(text: str, about: Sequence[str], language: str, max_tokens: int) -> str:
    """Return the body of an active context with other bullets on what the talk was about.

    `text` is what the conversation leaves without them: its other sections stay as far as there
    is room. At least one bullet is kept.
    """
    sections: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if match := HEADING.match(line):
            sections.append((match[1], []))
        elif line.startswith("- ") and sections:
            sections[-1][1].append(line[2:])
    title = headings(language)["about"]
    kept = list(about)
    body = section_text(title, kept)
    while len(kept) > 1 and count(plain_text(body)) > max_tokens:
        kept.pop()
        body = section_text(title, kept)
    titles = {headings(code)["about"].casefold() for code in LANGUAGES}
    others = [one for one in sections if one[0].casefold() not in titles]
    for name, items in others:
        fitting: list[str] = []
        for item in items:
            whole = f"{body}\n\n{section_text(name, [*fitting, item])}"
            if count(plain_text(whole)) <= max_tokens:
                fitting.append(item)
        if fitting:
            body = f"{body}\n\n{section_text(name, fitting)}"
    return body
