"""What remember, replace and forget do to a brain and its archive.

Pure: texts in, texts out. The gate calls them again whenever a person's edit came first. Each
step knows which lines left and came, so that the audit can say it and an undo can turn it round.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain
from typing import Any

from vaultmind.errors import BadArgument
from vaultmind.language.secrets import CERTAIN, mask_secrets
from vaultmind.language.words import tokens
from vaultmind.memory.audit import FOUND, moment, newest_first
from vaultmind.memory.brain import (
    JOINT,
    Brain,
    Move,
    PlacedFact,
    apply,
    block_ids,
    coming,
    damage,
    leaving,
    new_block,
    own_text,
    parse_brain,
    render_fact,
)
from vaultmind.memory.contradictions import contradicts
from vaultmind.memory.forget.hiding import Ref, hidden_words
from vaultmind.memory.match import Match, find, repeats, same_fact, says
from vaultmind.memory.rights import Decision, inferred
from vaultmind.memory.wording import code_told, pick
from vaultmind.plural import counted
from vaultmind.redact import MARK, blank_private, mask
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


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many tokens a brain may have, and down to how many it shrinks at most."""

    max_tokens: int = 500
    target_tokens: int = 300


@dataclass(frozen=True, slots=True)
class Ask:
    """A write as the gate lets it through: secrets masked, one language, one date."""

    write: MemoryWrite
    """Its texts are safe to store."""
    words: tuple[str, ...]
    """What names the fact to replace or forget, as it was said and as it is safe to store."""
    paths: VaultPaths
    today: date
    sizes: Sizes
    rng: random.Random
    language: str = "en"
    """Of new headings."""
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were taken out."""
    dry: bool = False
    """Whether it is only to be told what would come of it."""

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
    doubt: str = ""
    """Why an agent should not write this by itself, in words: the person decides."""
    unsaid: bool = False
    """No fact holds the words at all; messages may."""
    hidden: tuple[Ref, ...] = ()
    """What said it, and is hidden with it."""

    @property
    def written(self) -> bool:
        """Tell whether something is to be changed."""
        return self.outcome.outcome == "written"


class Held(Exception):
    """A step that must not be written as it is: it waits for the person, or is refused."""

    def __init__(self, decision: Decision, step: Step, dropped: str = "") -> None:
        super().__init__(decision.reason)
        self.decision, self.step = decision, step
        self.dropped = dropped
        """Under which reason extraction's audit tells it; empty where it is no drop."""


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


def plan(brain: str, archive: str, ask: Ask) -> Step:
    """Return what a write comes to on a brain and its archive as they stand."""
    return (_forget if ask.write.op == "forget" else _put_fact)(brain, archive, ask)


def _put_fact(text: str, archive: str, ask: Ask) -> Step:
    """Add a fact, unless the brain says it already.

    A correction puts it in the place of the fact that it names. What the new fact contradicts
    otherwise was true once: it moves to the archive, with the day until which it held. A fact
    stays, and is told of, where something would be lost with it.
    """
    write, brain, old = ask.write, _seen(text), _seen(archive)
    corrects = write.op == "replace" and not inferred(write)
    facts = tuple(fact for fact in (*brain.all(), *old.all()) if not fact.until)
    match = _find(facts, ask.words) if write.old else Match()
    meant = [facts[at] for at in match.found]
    if corrects and not meant:
        return _missing(facts, match, ask, write.old)
    same = [one for one in brain.all() if same_fact(one.text, write.text)]
    if known := [one for one in meant if one.text == write.text] if corrects else same:
        message = f"Already known: {quoted(known[0].text)} ({ask.path}). Nothing was changed."
        return Step(ask.outcome("unchanged", message, known[0]))
    if corrects and (lost := [one for one in meant if not _is_kept(one, text, brain)]):
        return _not_kept(lost[0], ask)
    against = [one for one in facts if contradicts(write.text, one.text)]
    below = [it.fact for it in brain.facts if it.tree_end != it.end]
    stay = [
        one
        for one in ([] if corrects else meant) + [one for one in against if one not in meant]
        if one in below or not _is_kept(one, text, brain)
    ]
    gone = tuple(dict.fromkeys(one for one in (*meant, *against) if one not in stay))
    fact, moves = _exchanged(text, gone, ask, keeps_id=corrects)
    ours = [one.fact for one in old.facts if is_ours(one, archive, ask.paths)]
    again = [one for one in ours if same_fact(one.text, fact.text)]
    moves += _same_in_archive(old, archive, gone, ended=corrects)
    moves += _same_in_archive(old, archive, again, ended=True)
    message = f"Remembered: {quoted(fact.text)} (in {ask.path}, under {fact.section})."
    if corrects:
        message = f"Corrected: {_all_quoted(gone)} is now {quoted(fact.text)} (in {ask.path})."
    elif gone:
        message = f"{message[:-1]}, in place of {_all_quoted(gone)}, now in {ask.archive}"
        message += f" (until {fact.written})."
        taken = block_ids(archive) - {one.block for one in gone}
        for one in gone:
            block = one.block or new_block({*taken, *block_ids(text), fact.block}, ask.rng)
            moves.append(archived(replace(one, block=block, until=fact.written), taken, ask.paths))
    if stay:
        message += f" {_all_quoted(stay)} says otherwise and stays: correct it too, or forget it."
    before = JOINT.join(dict.fromkeys(one.text for one in gone))
    outcome = replace(ask.outcome("written", message, fact), before=before)
    return Step(outcome, tuple(moves), gone, _typed(gone, write))


def _exchanged(
    text: str, gone: Sequence[Fact], ask: Ask, *, keeps_id: bool
) -> tuple[Fact, list[Move]]:
    """Return a new fact and the moves that put it in the place of others in a brain."""
    write, brain = ask.write, _seen(text)
    places = sorted((p for p in brain.facts if p.fact in gone), key=lambda p: gone.index(p.fact))
    first = places[0].fact if places else Fact("", None)
    in_place = bool(places) and write.section in (None, first.section)
    section = first.section if in_place else write.section or pick(write.text)
    fact = Fact(
        write.text, section, (keeps_id and first.block) or new_block(block_ids(text), ask.rng),
        write.evidence, write.said_on[:10] or ask.today.isoformat(), write.how, write.quote,
    )  # fmt: skip
    moves = [leaving(text, one, alone=in_place and one is places[0]) for one in places]
    if not any(same_fact(one.fact.text, fact.text) for one in brain.facts if one not in places):
        moves.append(coming(fact, ask.paths))
    return fact, moves


def _forget(text: str, archive: str, ask: Ask) -> Step:
    """Remove the fact that the words mean, and the lines nested under it."""
    brain, old = _seen(text), _seen(archive)
    facts = (*brain.all(), *old.all())
    match = _find(facts, ask.words)
    if not match.found:
        return _missing(facts, match, ask, ask.write.text)
    known, seen = facts[match.found[0]], blank_private(text)
    places = [brain.facts[i] for i in match.found if i < len(brain.facts)]
    spans = [slice(one.start, one.tree_end) for one in places]
    if any(blank_private(text[span]) != seen[span] for span in spans):
        return _not_kept(known, ask)  # half a private passage would be left
    under = [[p.fact for p in brain.facts if s.start <= p.start < s.stop] for s in spans]
    said = JOINT.join(one.text for one in under[0]) if under else known.text
    gone = tuple(dict.fromkeys([*(facts[i] for i in match.found), *chain.from_iterable(under)]))
    in_archive = _same_in_archive(old, archive, gone, ended=True)
    where = [ask.path] * bool(places) + [ask.archive] * bool(in_archive)
    message = f"Forgotten: {quoted(said)}, gone from {' and '.join(where)}."
    if any(says(paragraph, known.text) for paragraph in own_text(seen)):
        message += f" It also stands in {ask.path} as your own text; edit it there."
    outcome = replace(ask.outcome("written", message, known), before=said, path=where[0])
    moves = (*(leaving(text, one) for one in places), *in_archive)
    return Step(outcome, moves, gone, _typed(gone, ask.write))


def with_room(step: Step, brain: str, archive: str, ask: Ask) -> Step:
    """Return a step that moves to the archive, too, what would be too much for a brain."""
    after = apply(brain, step.moves, archive=False, language=ask.language)
    old = apply(archive, step.moves, archive=True, language=ask.language)
    more = shrink(after, old, ask, step.outcome.block)
    outcome, number = step.outcome, sum(move.came for move in more)
    if number:
        said = f" {counted(number, 'older fact')} moved to {ask.archive} to keep the brain small."
        outcome = replace(outcome, message=outcome.message + said, archived=number)
    return replace(step, outcome=outcome, moves=(*step.moves, *more))


def quoted(text: str) -> str:
    """Return a fact's text for a message: in quotation marks, without secrets, not too long."""
    return f"“{short(mask(text).text, SHOWN)}”"


def named(fact: Fact) -> str:
    """Return a fact's text for a message, with the id by which it can be told from others."""
    return quoted(fact.text) + (f" (^{fact.block})" if fact.block else "")


def _seen(text: str) -> Brain:
    """Return what a brain says to others: without private passages, each place as in the text."""
    return parse_brain(blank_private(text))


def _same_in_archive(old: Brain, archive: str, gone: Sequence[Fact], *, ended: bool) -> list[Move]:
    """Return the moves out of the archive of what says one of the facts; ended ones if asked."""
    return [
        leaving(archive, place, archive=True)
        for place in old.facts
        if (ended or not place.fact.until)
        and any(same_fact(place.fact.text, one.text) for one in gone)
    ]


def _is_kept(fact: Fact, text: str, brain: Brain) -> bool:
    """Tell whether the log may hold all that a fact says, so that an undo brings it back."""
    seen = blank_private(text)
    return mask(fact.text).text == fact.text and all(
        text[one.start : one.tree_end] == seen[one.start : one.tree_end]
        for one in brain.facts
        if one.fact == fact
    )


def _typed(gone: Sequence[Fact], write: MemoryWrite) -> str:
    """Return why a fact is the person's own, which extraction takes away from nobody."""
    own = next((one for one in gone if not one.written and inferred(write)), None)
    return f"{named(own)} was typed by the person" if own else ""


def _not_kept(fact: Fact, ask: Ask) -> Step:
    """Return a step that changes nothing: what would be lost of a fact is kept nowhere else."""
    message = f"{quoted(fact.text)} holds something that is not kept; edit it there ({ask.path})."
    return Step(ask.outcome("not_found", f"{message} Nothing was changed.", fact))


def _find(facts: tuple[Fact, ...], words: tuple[str, ...]) -> Match:
    """Return what the words mean as said, else as they would be stored, secrets masked."""
    match, *masked = [find(facts, said) for said in dict.fromkeys(words)]
    for one in masked:
        if not match.found and one.found and all(MARK.search(facts[i].text) for i in one.found):
            return one
    return match


def _missing(facts: tuple[Fact, ...], match: Match, ask: Ask, said: str) -> Step:
    shown, unsaid = match.nearest[:OFFERED], not (match.tied or match.mentioned)
    offered = ", ".join(named(facts[i]) for i in shown)
    message = f"No fact in {ask.write.agent}'s memory says {quoted(said)}."
    message += f" Closest: {offered}." if offered else ""
    if match.tied:
        message = f"{quoted(said)} fits {len(match.nearest)} facts: {offered}."
    elif match.mentioned:
        message = f"No fact is only about {quoted(said)}. It is mentioned in: {offered}."
    if not unsaid:
        message += " Nothing was changed; say which one, in its own words or by its id."
    nearest = tuple(dict.fromkeys(facts[i].text for i in shown))
    outcome = replace(ask.outcome("not_found", message), nearest=nearest)
    return Step(outcome, unsaid=unsaid)


def _all_quoted(facts: Iterable[Fact]) -> str:
    return " and ".join(dict.fromkeys(quoted(fact.text) for fact in facts))


# --- what a step is told as ---------------------------------------------------------------


def also(outcome: Outcome, sentence: str) -> Outcome:
    """Return an outcome whose message says one thing more."""
    message = f"{outcome.message} {sentence}".strip()
    return replace(outcome, message=message) if sentence else outcome


def with_hidden(outcome: Outcome, refs: Sequence[Ref], said: str = "said it") -> Outcome:
    """Return an outcome that tells of what was hidden, too."""
    messages = sum("/" not in one.session for one in refs)
    return replace(also(outcome, hidden_words(refs, said)), hidden_messages=messages)


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
    redacted = f"Taken out before storing: {', '.join(ask.redacted)}." if ask.redacted else ""
    code = code_told("en", ask.write.op, outcome)
    return safe_outcome(also(outcome, f"{redacted} {code}".strip()))


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
    said = moment(write.said_on)
    return any(
        line.outcome == "written"
        and not (line.undoes or line.undone_by)
        and said <= line.moment
        and any(repeats(write.text, one) for one in (line.before, *line.before.split(JOINT)))
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


# --- the brain's size ---------------------------------------------------------------------


def brain_tokens(text: str) -> int:
    """Return the tokens a model reads of a brain: no front matter, comments, block ids."""
    body = text[body_start(text) :].replace("\r\n", "\n")
    return count(_BLANK_LINES.sub("\n\n", BLOCK_AT_END.sub("", COMMENT.sub("", body))).strip())


def shrink(brain: str, archive: str, ask: Ask, keep: str) -> tuple[Move, ...]:
    """Return the moves of the least important facts of an oversized brain to the archive.

    Stops a `SLACK` below the limit, so that the next fact moves none again. Only lines that stand
    exactly as we wrote them move, and not the one with the id `keep`; what only a person could
    shorten stays over the limit, and so does all where the archive is damaged.
    """
    limit, size = ask.sizes.max_tokens, brain_tokens(brain)
    if size <= limit or damage(archive):
        return ()
    goal = limit - round((limit - min(ask.sizes.target_tokens, limit)) * SLACK)
    shown = blank_private(brain)  # a line that a person put between private tags stays there
    ours = [
        one
        for one in parse_brain(brain).facts
        if one.fact.block != keep and is_ours(one, brain, ask.paths)
        if shown[one.start : one.end] == brain[one.start : one.end]
    ]
    gone: list[PlacedFact] = []
    for one in sorted(ours, key=lambda it: _worth(it.fact)):
        if size > goal:
            gone.append(one)
            size = brain_tokens(apply(brain, [leaving(brain, it) for it in gone], archive=False))
    gone.sort(key=lambda it: it.start)
    taken = block_ids(archive)
    moves = [archived(one.fact, taken, ask.paths) for one in gone]
    return (*(leaving(brain, one) for one in gone), *moves)


def archived(fact: Fact, taken: set[str], paths: VaultPaths) -> Move:
    """Return the move of a fact into an archive, under an id that is free there."""
    tries = (fact.block, *(f"{fact.block}{number}" for number in range(2, len(taken) + 3)))
    fact = replace(fact, block=next(one for one in tries if one not in taken))
    taken.add(fact.block)
    return coming(fact, paths, archive=True)


def is_ours(placed: PlacedFact, text: str, paths: VaultPaths) -> bool:
    """Tell whether a bullet stands as we wrote it, with nothing of a person's in it."""
    fact = placed.fact
    if not ((fact.written or fact.until) and fact.block) or placed.tree_end != placed.end:
        return False
    return text[placed.start : placed.end].rstrip("\r") == f"- {render_fact(fact, paths)}"


def _worth(fact: Fact) -> tuple[bool, int, str]:
    """Return what a fact is worth keeping: who wanted it, its section, how new it is.

    Nothing that was only found in a conversation pushes out what the person asked to have kept.
    """
    return fact.how not in FOUND, LEAST_FIRST.index(fact.section), fact.written
