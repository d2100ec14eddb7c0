"""What remember, replace, forget and undo do to a brain and its archive.

Pure: texts in, steps out. The gate asks again whenever a person's edit came first. A step knows
which lines leave and come, so that the audit can say it and an undo can turn it round. Of an undo
only what still stands as the change left it is turned round; what was changed since is a conflict.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain
from typing import Any

from vaultmind.errors import BadArgument
from vaultmind.language.secrets import CERTAIN, mask_secrets
from vaultmind.language.words import tokens
from vaultmind.memory import brain
from vaultmind.memory.audit import EDITED, FOUND, UNDOABLE, AuditLine, newest_first
from vaultmind.memory.brain import Brain, Move, PlacedFact, parse_brain
from vaultmind.memory.contradictions import contradicts
from vaultmind.memory.forget.hiding import Ref
from vaultmind.memory.match import Match, find, repeats, same_fact
from vaultmind.memory.rights import Decision, inferred
from vaultmind.memory.wording import pick, stored_told
from vaultmind.plural import counted
from vaultmind.redact import MARK, mask
from vaultmind.times import seconds_of
from vaultmind.tokens import count
from vaultmind.types import Caller, Fact, MemoryWrite, MessageRef, Outcome, OutcomeName
from vaultmind.vault.oneline import one_line, short
from vaultmind.vault.parts import BLOCK_AT_END, COMMENT
from vaultmind.vault.paths import VaultPaths, agent_name
from vaultmind.vault.properties import body_start

FACT_MAX_CHARS = 1000
OFFERED = 5
"""How many of the facts that fit are offered."""
SHOWN = 100
"""Characters of a fact that a message repeats."""
LEAST_FIRST = ("current", None, "preferences", "decisions", "user")
"""The sections in the order in which their facts leave a brain that is too big."""
SLACK = 0.15
"""Room that moving facts leaves, as a share of what lies between the limit and the target."""

_BLANK_LINES = re.compile(r"\n\s*\n+")


Witness = Callable[[], MessageRef | None]
"""Logs the words asked with, when a write is about to be made; returns where they stand."""


@dataclass(slots=True)
class Ask:
    """A write as the gate lets it through: secrets masked, one language, one date."""

    write: MemoryWrite
    """Its texts are safe to store."""
    words: tuple[str, ...]
    """What names the fact to replace or forget, as it was said and as it is safe to store."""
    paths: VaultPaths
    today: date
    sizes: tuple[int, int]
    rng: random.Random
    language: str = "en"
    """Of new headings."""
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were taken out."""
    witness: Witness | None = None

    def log(self) -> None:
        """Log the words asked with, once: they are the evidence from then on."""
        if self.witness:
            self.write, self.witness = replace(self.write, evidence=self.witness()), None

    @property
    def path(self) -> str:
        """Return the brain's path."""
        return self.paths.brain(self.write.agent)

    @property
    def archive(self) -> str:
        """Return the archive's path."""
        return self.paths.archive(self.write.agent)

    def outcome(self, name: OutcomeName, message: str, fact: Fact | None = None) -> Outcome:
        """Return an outcome of this write, about a fact if one is given."""
        about = fact or Fact("", None)
        return Outcome(
            name, self.write.agent, about.section, about.text, self.path, about.block,
            message=message, redacted=self.redacted,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """What a change comes to on two texts."""

    outcome: Outcome
    moves: tuple[Move, ...] = ()
    """What leaves and comes, secrets not masked yet."""
    gone: tuple[Fact, ...] = ()
    """Facts that are no longer true or no longer to be known."""
    unsaid: bool = False
    """No fact holds the words at all; messages may."""
    dropped: str = ""
    """Under which reason it is told that a conversation's fact was not kept; else empty."""
    hidden: tuple[Ref, ...] = ()
    """What said it, and is hidden with it."""
    shown: tuple[Ref, ...] = ()
    """What is shown again with it."""
    undoes: str = ""
    """The id of the change that it takes back."""

    @property
    def written(self) -> bool:
        """Tell whether something is to be changed."""
        return self.outcome.outcome == "written"

    def held(self, decision: Decision, dropped: str = "", message: str = "") -> Step:
        """Return the step as one that is not made: it waits for the person, or is refused."""
        told = f"Not {'written' if dropped else 'allowed'}: {decision.reason}. Nothing was changed."
        outcome = replace(self.outcome, reason=decision.reason, message=message or told)
        outcome = replace(outcome, outcome="suggested")
        if decision.verdict == "deny":
            outcome = replace(outcome, outcome="denied", before="")
        return replace(self, outcome=outcome, dropped=dropped)


def safe_write(write: MemoryWrite) -> tuple[MemoryWrite, tuple[str, ...]]:
    """Return a write with its secrets taken out, and their kinds.

    Raises BadArgument for an agent that can be none, for texts that are empty or too long.
    """
    kinds = mask_secrets(write.text, CERTAIN).kinds if write.op != "forget" else ()
    texts: dict[str, Any] = {
        name: one_line(mask_secrets(getattr(write, name), CERTAIN).text)
        for name in ("text", "old", "reason", "hold")
    }
    safe = replace(write, agent=agent_name(write.agent), quote=mask(write.quote).text, **texts)
    for name in ("text", "old") if safe.op == "replace" else ("text",):
        said = texts[name]
        if not tokens(said) or len(said) > FACT_MAX_CHARS:
            allowed = f"1 to {FACT_MAX_CHARS} characters: one fact"
            ids = " to replace, or its id (^k3f9)" if name == "old" else ""
            raise BadArgument(name, said, allowed + ids)
    return safe, kinds


def plan(text: str, archive: str, ask: Ask) -> Step:
    """Return what a write comes to on a brain and its archive as they stand."""
    return (_forget if ask.write.op == "forget" else _put_fact)(text, archive, ask)


def _put_fact(text: str, archive: str, ask: Ask) -> Step:
    """Add a fact, unless the brain says it already.

    A correction puts it in the place of the fact that it names, and of no other. What a new fact
    contradicts was true once: it moves to the archive, with the day until which it held. A fact
    stays, and is told of, where something would be lost with it.
    """
    write, now, old = ask.write, parse_brain(text), parse_brain(archive)
    corrects = write.op == "replace" and not inferred(write)
    places = [one for one in (*now.facts, *old.facts) if not one.fact.until]
    facts = tuple(one.fact for one in places)
    match = _find(facts, ask.words) if write.old else Match()
    meant = [places[at] for at in match.found]
    if corrects and not meant:
        return _missing(facts, match, ask, write.old)
    same = [one for one in now.all() if same_fact(one.text, write.text)]
    if known := [one.fact for one in meant if one.fact.text == write.text] if corrects else same:
        message = f"Already known: {quoted(known[0].text)} ({ask.path}). Nothing was changed."
        return Step(ask.outcome("unchanged", message, known[0]))
    if corrects and (lost := [one.fact for one in meant if not one.is_kept]):
        return _not_kept(lost[0], ask)
    new = write.text
    against = [one for one in places if contradicts(new, one.fact.text, typed=one.fact.is_typed)]
    others = [one for one in against if one not in meant]
    at_risk = [one for one in meant + others if one.tree_end != one.end or not one.is_kept]
    stay = others if corrects else at_risk
    leave = [one for one in meant + others if one not in stay]
    gone = tuple(dict.fromkeys(one.fact for one in leave))
    fact, moves = _exchanged(text, [one for one in leave if one in now.facts], ask, corrects)
    ours = [one.fact for one in old.facts if is_ours(one, archive, ask.paths)]
    again = [one for one in ours if same_fact(one.text, fact.text)]
    moves += _same_in_archive(old, archive, gone, ended=corrects)
    moves += _same_in_archive(old, archive, again, ended=True)
    message = f"Remembered: {quoted(fact.text)} (in {ask.path}, under {fact.section})."
    if corrects:
        message = f"Corrected: {quoted(texts_of(gone))} is now {quoted(fact.text)} (in {ask.path})."
    elif gone:
        message = f"{message[:-1]}, in place of {quoted(texts_of(gone))}, now in {ask.archive}"
        message += f" (until {fact.written})."
        taken = brain.block_ids(archive) - {one.block for one in gone}
        moves += [archived(replace(one, until=fact.written), taken, ask) for one in gone]
    if stay:
        kept = quoted(texts_of(one.fact for one in stay))
        message += f" {kept} contradicts it and was kept: correct or forget it, too."
    outcome = replace(ask.outcome("written", message, fact), before=texts_of(gone))
    return Step(outcome, tuple(moves), gone)


def _exchanged(
    text: str, places: Sequence[PlacedFact], ask: Ask, keeps_id: bool
) -> tuple[Fact, list[Move]]:
    """Return a new fact and the moves that put it in the place of others in a brain."""
    write, first = ask.write, places[0].fact if places else Fact("", None)
    in_place = bool(places) and write.section in (None, first.section)
    section = first.section if in_place else write.section or pick(write.text)
    block = (keeps_id and first.block) or brain.new_block(brain.block_ids(text), ask.rng)
    day = write.said_on[:10] or ask.today.isoformat()
    fact = Fact(write.text, section, block, write.evidence, day, write.how, write.quote)
    moves = [brain.leaving(text, one, alone=in_place and one is places[0]) for one in places]
    others = (one.fact for one in parse_brain(text).facts if one not in places)
    if not any(same_fact(one.text, fact.text) for one in others):
        moves.append(brain.coming(fact, ask.paths))
    return fact, moves


def _forget(text: str, archive: str, ask: Ask) -> Step:
    """Remove the fact that the words mean, and the lines nested under it."""
    now, old = parse_brain(text), parse_brain(archive)
    facts = (*now.all(), *old.all())
    match = _find(facts, ask.words)
    if not match.found:
        return _missing(facts, match, ask, ask.write.text)
    known = facts[match.found[0]]
    places = [now.facts[i] for i in match.found if i < len(now.facts)]
    if any(one.private for one in places):
        return _not_kept(known, ask)  # half a private passage would be left
    under = [[p.fact for p in now.facts if s.start <= p.start < s.tree_end] for s in places]
    said = texts_of(under[0]) if under else known.text
    gone = tuple(dict.fromkeys([*(facts[i] for i in match.found), *chain.from_iterable(under)]))
    in_archive = _same_in_archive(old, archive, gone, ended=True)
    where = [ask.path] * bool(places) + [ask.archive] * bool(in_archive)
    message = f"Forgotten: {quoted(said)} (removed from {' and '.join(where)})."
    outcome = replace(ask.outcome("written", message, known), before=said, path=where[0])
    moves = (*(brain.leaving(text, one) for one in places), *in_archive)
    return Step(outcome, moves, gone)


def quoted(text: str) -> str:
    """Return a fact's text for a message: in quotation marks, without secrets, not too long."""
    return f"“{short(mask(text).text, SHOWN)}”"


def texts_of(facts: Iterable[Fact]) -> str:
    """Return what several facts say, as one change is told."""
    return brain.JOINT.join(dict.fromkeys(one.text for one in facts))


def named(fact: Fact) -> str:
    """Return a fact's text for a message, with the id by which it can be told from others."""
    return quoted(fact.text) + (f" (^{fact.block})" if fact.block else "")


def _same_in_archive(old: Brain, archive: str, gone: Sequence[Fact], *, ended: bool) -> list[Move]:
    """Return the moves out of the archive of what says one of the facts; ended ones if asked."""
    return [
        brain.leaving(archive, place, archive=True)
        for place in old.facts
        if (ended or not place.fact.until)
        and any(same_fact(place.fact.text, one.text) for one in gone)
    ]


def _not_kept(fact: Fact, ask: Ask) -> Step:
    """Return a step that changes nothing: what would be lost of a fact is kept nowhere else."""
    message = f"{quoted(fact.text)} contains something that is never stored. Nothing was changed."
    return Step(ask.outcome("not_found", f"{message} Edit it in {ask.path}.", fact))


def _find(facts: tuple[Fact, ...], words: tuple[str, ...]) -> Match:
    """Return what the words mean as said, else as they would be stored, secrets masked."""
    match, *masked = [find(facts, said) for said in dict.fromkeys(words)]
    for one in masked:
        if not match.found and one.found and all(MARK.search(facts[i].text) for i in one.found):
            return one
    return match


def _missing(facts: tuple[Fact, ...], match: Match, ask: Ask, said: str) -> Step:
    shown = match.nearest[:OFFERED]
    offered = ", ".join(named(facts[i]) for i in shown)
    message = f"No fact in {ask.write.agent}'s memory says {quoted(said)}."
    message += f" Closest: {offered}." if offered else ""
    if match.in_doubt:
        fit = counted(len(match.nearest), "fact")
        message = f"{quoted(said)} is in {fit}: {offered}. Nothing was changed."
        message += " Name one by all of its words or by its id."
    nearest = tuple(dict.fromkeys(facts[i].text for i in shown))
    outcome = replace(ask.outcome("not_found", message), nearest=nearest)
    return Step(outcome, unsaid=not match.in_doubt)


# --- what a step is told as ---------------------------------------------------------------


def also(outcome: Outcome, sentence: str) -> Outcome:
    """Return an outcome whose message says one thing more."""
    message = f"{outcome.message} {sentence}".strip()
    return replace(outcome, message=message) if sentence else outcome


def readable(write: MemoryWrite, step: Step) -> MemoryWrite:
    """Return the write as a person can read it: a fact by its words, not by its block id."""
    words = mask(step.gone[0].text).text if step.gone else ""
    if write.op == "forget":
        return replace(write, text=words or write.text)
    if write.op == "replace":
        return replace(write, old=words or write.old)
    if step.outcome.before:  # it would take a fact's place: the person sees which
        before = mask(step.outcome.before).text
        return replace(write, op="replace", old=before, section=step.outcome.section)
    return replace(write, section=step.outcome.section)


def shown(ask: Ask, outcome: Outcome) -> Outcome:
    """Return an outcome as it may be shown: secrets masked, and what was taken out named."""
    if outcome.outcome == "denied":
        return safe_outcome(outcome)
    return safe_outcome(also(outcome, " ".join(stored_told("en", ask.write.op, outcome))))


def safe_outcome(outcome: Outcome) -> Outcome:
    """Return an outcome with the secrets in its texts masked."""
    texts: dict[str, Any] = {
        key: mask(getattr(outcome, key)).text for key in ("fact", "before", "message")
    }
    nearest = tuple(mask(text).text for text in outcome.nearest)
    return replace(outcome, nearest=nearest, **texts)


def in_name(write: MemoryWrite) -> MemoryWrite:
    """Return a write with the caller whose rights it has: extraction has none but the agent's."""
    if write.how not in FOUND or write.caller.kind == "agent":
        return write
    return replace(write, caller=Caller("agent", agent_name(write.agent), write.caller.client))


def was_forgotten(write: MemoryWrite, paths: VaultPaths) -> bool:
    """Tell whether the person had a fact forgotten after it was said."""
    said = seconds_of(write.said_on)
    return any(
        line.outcome == "written"
        and not (line.undoes or line.undone_by)
        and said <= seconds_of(line.time)
        and any(repeats(write.text, one) for one in (line.before, *line.before.split(brain.JOINT)))
        for line in newest_first(paths, (write.agent,), ("forget",), '"op": "forget"')
    )


def is_older(write: MemoryWrite, fact: Fact) -> bool:
    """Tell whether a write was said before a fact whose place it would take."""
    if fact.evidence and write.evidence:
        return _place(write.evidence) < _place(fact.evidence)
    return fact.written > write.said_on[:10]


def _place(ref: MessageRef) -> tuple[str, int]:
    """Return where a message stands in time: in the session of which day, as which one."""
    return ref.session, int("".join(filter(str.isdigit, ref.block)) or 0)


def redated(text: str, lines: Iterable[AuditLine], today: str) -> str:
    """Return a brain in which facts that the person reworded are of today, and of no old source.

    `lines` of the audit, newest first, tell what was written beside the same source.
    """
    dated = {one.fact.block: one for one in parse_brain(text).facts if one.fact.written}
    wrote = dict[str, Fact]()
    for move in (move for line in lines if line.outcome == "written" for move in line.moves):
        if move.came and (block := move.line.rpartition("^")[2]) in dated:
            wrote.setdefault(block, move.fact)
    for block, one in reversed(dated.items()):
        was, now = wrote.get(block), replace(one.fact, text=mask(one.fact.text).text)
        if was and was.text != now.text and replace(was, text=now.text, section=now.section) == now:
            line = brain.PROVENANCE.sub(f"%%{today} {EDITED}%%", text[one.start : one.end], count=1)
            text = text[: one.start] + line + text[one.end :]
    return text


# --- the brain's size ---------------------------------------------------------------------


def brain_tokens(text: str) -> int:
    """Return the tokens a model reads of a brain: no front matter, comments, block ids."""
    body = text[body_start(text) :].replace("\r\n", "\n")
    return count(_BLANK_LINES.sub("\n\n", BLOCK_AT_END.sub("", COMMENT.sub("", body))).strip())


def with_room(step: Step, text: str, archive: str, ask: Ask) -> Step:
    """Return a step that moves to the archive, too, what would be too much for a brain.

    The least important facts go, down to a `SLACK` below the limit, so that the next fact moves
    none again. Only lines that stand exactly as we wrote them move, and not the new one; what only
    a person could shorten stays over the limit, and so does all where the archive is damaged.
    """
    text = brain.apply(text, step.moves, archive=False, language=ask.language)
    archive = brain.apply(archive, step.moves, archive=True, language=ask.language)
    (limit, target), size = ask.sizes, brain_tokens(text)
    if size <= limit or parse_brain(archive).damaged:
        return step
    goal = limit - round((limit - min(target, limit)) * SLACK)
    taken, left, came = brain.block_ids(archive), list[Move](), list[Move]()
    ours = [one for one in parse_brain(text).facts if is_ours(one, text, ask.paths)]
    for one in sorted(ours, key=lambda it: _worth(it.fact, ask.today.isoformat())):
        if size > goal and one.fact.block != step.outcome.block:
            left.append(brain.leaving(text, one))
            came.append(archived(one.fact, taken, ask))
            size = brain_tokens(brain.apply(text, left, archive=False))
    said = f"{counted(len(left), 'older fact')} moved to {ask.archive} to keep the brain small."
    told = replace(also(step.outcome, said), archived=len(left), reason=said)
    outcome = told if left else step.outcome
    return replace(step, outcome=outcome, moves=(*step.moves, *left, *came))


def archived(fact: Fact, taken: set[str], ask: Ask) -> Move:
    """Return the move of a fact into an archive, under an id that is free there."""
    is_free = fact.block and fact.block not in taken
    block = fact.block if is_free else brain.new_block(taken, ask.rng)
    taken.add(block)
    return brain.coming(replace(fact, block=block), ask.paths, archive=True)


def is_ours(placed: PlacedFact, text: str, paths: VaultPaths) -> bool:
    """Tell whether a bullet stands as we wrote it, with nothing of a person's in it."""
    fact = placed.fact
    if placed.private or placed.tree_end != placed.end or fact.how == EDITED:
        return False
    if not (fact.block and (fact.written or fact.until)):
        return False
    return text[placed.start : placed.end].rstrip("\r") == f"- {brain.render_fact(fact, paths)}"


def _worth(fact: Fact, today: str) -> tuple[bool, bool, int, str]:
    """Return what a fact is worth keeping: whether its day is past, who wanted it, its section, how
    new it is.

    Nothing that was only found in a conversation pushes out what the person asked to have kept.
    """
    is_past = any(day < today for day in re.findall(r"(\d{4}-\d\d-\d\d)\)", fact.text)[-1:])
    return not is_past, fact.how not in FOUND, LEAST_FIRST.index(fact.section), fact.written


# --- undo ---------------------------------------------------------------------------------


class Conflict(Exception):
    """Why a change cannot be taken back, in words."""


def check_undoable(line: AuditLine) -> None:
    """Raise Conflict for a line that cannot be undone, whatever brain and archive say."""
    why = ""
    if line.op not in UNDOABLE:
        why = f"{line.id} is “{line.op}”: only changes to facts and new notes can be undone."
    elif line.outcome != "written":
        why = f"There is nothing to undo: the outcome of {line.id} was “{line.outcome}”."
    elif line.erased:
        why = f"The text of {line.id} was erased, so it cannot be undone."
    elif line.undone_by:
        why = f"{line.id} was already undone, by {line.undone_by}."
    elif any(not (move.whole or move.came) for move in line.moves):
        why = f"{quoted(line.before)} held a secret, which is never stored: it cannot be restored."
    if why:
        raise Conflict(why)


def take_back(line: AuditLine, text: str, archive: str, ask: Ask) -> Step:
    """Return the step that turns a change round. Raises Conflict where it cannot be done."""
    out = [found for move in line.moves if move.came and (found := _leaves(move, text, archive))]
    back = [replace(move, came=True) for move in line.moves if not move.came]
    left = brain.apply(text, out, archive=False), brain.apply(archive, out, archive=True)
    standing = [one.text for each in left for one in parse_brain(each).all() if not one.until]
    for move in back:
        if not move.fact.until and any(same_fact(one, move.fact.text) for one in standing):
            raise Conflict(f"{quoted(move.fact.text)} is already back in memory.")
    gone = [one.fact for one in out if not one.archive] or [one.fact for one in out if not back]
    returned, moves = [one.fact for one in back], (*out, *back)
    path = ask.archive if moves and all(one.archive for one in moves) else ask.path
    message = f"Removed {quoted(texts_of(gone))} from {path}." if gone else ""
    message += f" Restored {quoted(texts_of(returned))} in {path}." if returned else ""
    outcome = ask.outcome("written", message.strip(), *[*returned, *gone][:1])
    return Step(replace(outcome, path=path, before=texts_of(gone)), moves)


def _leaves(move: Move, text: str, archive: str) -> Move | None:
    """Return how a line that came is taken out, from where it stands now.

    None for one that the archive was to keep and does not. Raises Conflict for one that changed.
    """
    fact = move.fact
    for in_archive in (move.archive, not move.archive):
        if placed := brain.find_fact(archive if in_archive else text, fact):
            if placed.tree_end != placed.end and "\n" not in move.line:
                raise Conflict(f"Other lines are now under {quoted(fact.text)}; move them first.")
            return replace(move, came=False, archive=in_archive)
    if move.archive:
        return None
    every = (*parse_brain(text).all(), *parse_brain(archive).all())
    now = next((one for one in every if fact.block and one.block == fact.block), None)
    since = f"is {quoted(now.text)} now" if now else "is no longer in memory"
    raise Conflict(f"{quoted(fact.text)} (^{fact.block}) {since}: somebody has changed it.")
