"""What remember, replace and forget do to a brain and its archive.

Pure: texts in, texts out. The gate calls them again whenever a person's edit came first. Each
step knows which lines left and came, so that the audit can say it and an undo can turn it round.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from textwrap import dedent

from vaultmind.errors import DamagedMemory
from vaultmind.memory.audit import JOINT, Move
from vaultmind.memory.brain import (
    Brain,
    PlacedFact,
    add_fact,
    block_ids,
    new_block,
    new_brain,
    own_text,
    parse_brain,
    removed_text,
    render_fact,
    replace_fact,
)
from vaultmind.memory.doubts import doubt, left_over, meant, named, quoted, typed
from vaultmind.memory.limits import Weighing, put, restore, shrink, without
from vaultmind.memory.match import Match, find, mentions, same_fact, says
from vaultmind.memory.rights.policy import inferred
from vaultmind.memory.sections import pick
from vaultmind.redact import MARK, blank_private, mask
from vaultmind.types import Fact, MemoryWrite, Outcome, OutcomeName
from vaultmind.vault.paths import VaultPaths

OFFERED = 5
"""How many of the facts that fit are offered."""

_ID = re.compile(r"\^[A-Za-z0-9-]+")


@dataclass(frozen=True, slots=True)
class Ask:
    """A write as the gate lets it through: secrets masked, one language, one date."""

    write: MemoryWrite
    """Its texts are safe to store."""
    words: tuple[str, ...]
    """What names the fact to replace or forget, as it was said and as it is safe to store."""
    weighing: Weighing
    rng: random.Random
    redacted: tuple[str, ...] = ()
    shrinks: bool = True
    """Whether older facts move to the archive where the brain gets too big."""

    @property
    def paths(self) -> VaultPaths:
        """Return the vault's paths."""
        return self.weighing.paths

    @property
    def path(self) -> str:
        """Return the brain's path."""
        return self.paths.brain(self.write.agent)

    @property
    def language(self) -> str:
        """Return the language of new headings."""
        return self.weighing.language

    def outcome(self, name: OutcomeName, message: str) -> Outcome:
        """Return an outcome of this write, so far without a fact."""
        return Outcome(
            name, self.write.agent, path=self.path, message=message, redacted=self.redacted
        )


@dataclass(frozen=True, slots=True)
class Step:
    """What a change comes to on two texts."""

    outcome: Outcome
    brain: str | None = None
    """The new text; None leaves the file as it is."""
    archive: str = ""
    gone: tuple[Fact, ...] = ()
    """Facts that are no longer true or no longer to be known."""
    doubt: str = ""
    """Why an agent should not write this by itself, in words: the person decides."""
    unsaid: bool = False
    """No fact holds the words at all; messages may."""
    moves: tuple[Move, ...] = ()
    """What left and came, secrets not masked yet."""


def plan(brain: str | None, archive: str, ask: Ask) -> Step:
    """Return what a write comes to on a brain and its archive as they stand."""
    if ask.write.op == "forget":
        step = forget(brain, archive, ask)
    elif ask.write.op == "remember" or inferred(ask.write):
        step = remember(brain, archive, ask)
    else:
        step = correct(brain, archive, ask)
    if step.outcome.outcome != "written":
        return step
    return within_limits(with_moves(step, brain or "", archive), brain or "", ask)


def with_moves(step: Step, brain: str, archive: str, *, room: bool = False) -> Step:
    """Return a step that knows, too, what left and came since two texts."""
    found = moved(brain, step.brain if step.brain is not None else brain, room=room)
    found += moved(archive, step.archive, archive=True, room=room)
    return replace(step, moves=(*step.moves, *found))


def within_limits(step: Step, before: str, ask: Ask) -> Step:
    """Move to the archive what is too much for a brain, and say so in the outcome."""
    brain = step.brain if step.brain is not None else before
    if not ask.shrinks:
        return step
    weighing = replace(ask.weighing, keep=(step.outcome.block,))
    try:
        small = shrink(brain, step.archive, weighing)
    except DamagedMemory as error:
        message = f"{step.outcome.message} The brain is over its limit, and stays so: {error}"
        return replace(step, outcome=replace(step.outcome, message=message))
    if not small.facts:
        return step
    facts = "1 older fact" if len(small.facts) == 1 else f"{len(small.facts)} older facts"
    said = f"{facts} moved to {ask.paths.archive(ask.write.agent)} to keep the brain small; "
    message = f"{step.outcome.message} {said}undoing this brings back what moved."
    outcome = replace(step.outcome, message=message, archived=len(small.facts))
    smaller = replace(step, outcome=outcome, brain=small.brain, archive=small.archive)
    return with_moves(smaller, brain, step.archive, room=True)


def moved(
    before: str, after: str, *, archive: bool = False, room: bool = False
) -> tuple[Move, ...]:
    """Return the bullets that left a text and those that came, each with what went nested in it."""
    if before == after:
        return ()
    left = _missing_in(after, before)
    came = _missing_in(before, after)
    moves = [(one, before, False) for one in left] + [(one, after, True) for one in came]
    found: list[Move] = []
    end, whose = -1, False
    for placed, text, has_come in moves:
        if placed.start < end and has_come is whose:
            continue  # nested under one that went whole
        parts = left if not has_come else came
        inside = sum(placed.start < one.start < placed.tree_end for one in parts)
        nested = sum(placed.start < o.start < placed.tree_end for o in parse_brain(text).facts)
        stop = placed.tree_end if inside == nested else placed.end
        end, whose = stop, has_come
        line = dedent(text[placed.start : stop].replace("\r", "")).strip()
        section = placed.fact.section or ""
        found.append(Move(line, section, has_come, archive, room=room))
    return tuple(found)


def _missing_in(text: str, other: str) -> list[PlacedFact]:
    """Return the bullets of another text that a text has not, or has fewer times."""
    here = Counter(text[one.start : one.end].strip() for one in parse_brain(text).facts)
    missing = []
    for placed in parse_brain(other).facts:
        raw = other[placed.start : placed.end].strip()
        here[raw] -= 1
        missing += [placed] if here[raw] < 0 else []
    return missing


def remember(text: str | None, archive: str, ask: Ask) -> Step:
    """Add a fact, unless the brain says it already; one that the archive holds comes back.

    What it contradicts, and what the write names as old, moves to the archive.
    """
    start = new_brain(ask.write.agent, ask.language) if text is None else text
    brain, archived = _seen(start), _seen(archive)
    if _ID.fullmatch(ask.write.text.strip()):
        return _named_by_id(start, archive, ask)
    known = next((f for f in brain.all() if same_fact(f.text, ask.write.text)), None)
    if known:
        return _already(known, ask)
    facts = _standing(brain, archived)
    old = find(facts, ask.write.old).found if ask.write.old else ()
    against = [facts[at] for at in dict.fromkeys((*_contradicted(facts, ask), *old))]
    lost = [one for one in against if not _is_kept(one, start, brain)]
    again = next((f for f in archived.all() if same_fact(f.text, ask.write.text)), None)
    if clear := tuple(one for one in against if one not in lost):
        step = _supersede(start, archive, clear, ask)
    elif again and (back := _bring_back(start, archive, again, ask)):
        step = back
    else:
        fact = _new_fact(start, ask, "")
        new = add_fact(start, render_fact(fact, ask.paths), fact.section or "user", ask.language)
        message = f"Remembered: {quoted(fact.text)} (in {ask.path}, under {fact.section})."
        step = Step(_about(ask.outcome("written", message), fact), new, archive)
    for one in lost:
        more = f"{quoted(one.text)} says otherwise and holds something that is not kept; edit it"
        message = f"{step.outcome.message} {more} there ({ask.path})."
        outcome = replace(step.outcome, message=message)
        step = replace(step, outcome=outcome, doubt=step.doubt or typed(one, ask.write))
    return step


def correct(text: str | None, archive: str, ask: Ask) -> Step:
    """Put a new fact in the place of the one that the words mean.

    What else the new fact contradicts goes too, unless it says more than that. A fact with a
    secret that a person typed stays: its words are kept nowhere else.
    """
    start = new_brain(ask.write.agent, ask.language) if text is None else text
    brain, archived = _seen(start), _seen(archive)
    facts = _standing(brain, archived)
    match = _find(facts, ask.words)
    if not match.found:
        return _missing(facts, match, ask, ask.write.old)
    named_facts = [facts[at] for at in match.found]
    old = named_facts[0]
    if old.text == ask.write.text:
        message = f"Already so: {quoted(old.text)} ({ask.path}). Nothing was changed."
        return Step(_about(ask.outcome("unchanged", message), old))
    if lost := [fact for fact in named_facts if not _is_kept(fact, start, brain)]:
        return _not_kept(lost[0], ask)
    others = [facts[at] for at in _contradicted(facts, ask) if at not in match.found]
    doubtful = [
        fact for fact in others if doubt(fact, brain, ask.write) or not _is_kept(fact, start, brain)
    ]
    clear = [fact for fact in others if fact not in doubtful]
    gone = (*named_facts, *clear)
    new, fact = _exchanged(start, gone, ask)
    message = f"Corrected: {_all_quoted((old, *clear))} is now {quoted(fact.text)} (in {ask.path})."
    if doubtful:
        message += f" {_all_quoted(doubtful)} says otherwise in part; correct it too, or forget it."
    outcome = _about(ask.outcome("written", message), fact)
    outcome = replace(outcome, before=_joined((old, *clear)))
    kept = _without_same(archive, gone)
    return Step(outcome, new, kept, gone, meant(gone, brain, ask.write))


def forget(text: str | None, archive: str, ask: Ask) -> Step:
    """Remove the fact that the words mean, and the lines nested under it."""
    start = text or ""
    brain, archived = _seen(start), _seen(archive)
    facts = (*brain.all(), *archived.all())
    match = _find(facts, ask.words)
    if not match.found:
        return _missing(facts, match, ask, ask.write.text)
    known = facts[match.found[0]]
    places = [brain.facts[i] for i in match.found if i < len(brain.facts)]
    seen = blank_private(start)
    if without(seen, places) != blank_private(without(start, places)):
        return _not_kept(known, ask)  # half a private passage would be left
    said = removed_text(seen, places[0]) if places else known.text
    gone = [facts[i] for i in match.found]
    gone += [
        below.fact
        for place in places
        for below in brain.facts
        if place.start < below.start < place.tree_end
    ]
    where = [ask.path] if places else []
    if any(_same_as_any(fact, gone) for fact in archived.all()):
        where.append(ask.paths.archive(ask.write.agent))
    message = f"Forgotten: {quoted(said)}, gone from {' and '.join(where)}."
    if mask(said).text != said or any(
        start[one.start : one.tree_end] != seen[one.start : one.tree_end] for one in places
    ):
        message += " What is masked of it is kept nowhere: undo cannot bring that back."
    if any(says(paragraph, known.text) for paragraph in own_text(seen)):
        message += f" It also stands in {ask.path} as your own text; edit it there."
    outcome = _about(ask.outcome("written", message), known)
    outcome = replace(outcome, before=said, path=where[0])
    new = without(start, places) if places else None
    kept = _without_same(archive, gone, ended=True)
    return Step(outcome, new, kept, tuple(gone), meant(gone, brain, ask.write))


def stands_in_own_text(text: str, words: str) -> bool:
    """Tell whether a brain's prose, which is no fact, holds some words."""
    return any(mentions(paragraph, words) for paragraph in own_text(blank_private(text)))


def _seen(text: str) -> Brain:
    """Return what a brain says to others: without private passages, each place as in the text."""
    return parse_brain(blank_private(text))


def _standing(brain: Brain, archived: Brain) -> tuple[Fact, ...]:
    return tuple(fact for fact in (*brain.all(), *archived.all()) if not fact.until)


def _without_same(text: str, gone: Sequence[Fact], *, ended: bool = True) -> str:
    """Return a text without the bullets that say one of the facts; ended ones only with `ended`."""
    places = [one for one in _seen(text).facts if ended or not one.fact.until]
    return without(text, [one for one in places if _same_as_any(one.fact, gone)])


def _is_kept(fact: Fact, text: str, brain: Brain) -> bool:
    """Tell whether the log may hold all that a fact says, so that an undo brings it back."""
    seen = blank_private(text)
    return mask(fact.text).text == fact.text and all(
        text[one.start : one.tree_end] == seen[one.start : one.tree_end]
        for one in brain.facts
        if one.fact == fact
    )


def _not_kept(fact: Fact, ask: Ask) -> Step:
    """Return a step that changes nothing: what would be lost of a fact is kept nowhere else."""
    message = f"{quoted(fact.text)} holds something that is not kept; edit it there ({ask.path})."
    return Step(_about(ask.outcome("not_found", f"{message} Nothing was changed."), fact))


def _find(facts: tuple[Fact, ...], words: tuple[str, ...]) -> Match:
    """Return what the words mean as said, else as they would be stored, secrets masked."""
    match, *masked = [find(facts, said) for said in dict.fromkeys(words)]
    for one in masked:
        if not match.found and one.found and all(MARK.search(facts[i].text) for i in one.found):
            return one
    return match


def _missing(facts: tuple[Fact, ...], match: Match, ask: Ask, said: str) -> Step:
    fits, shown = len(match.nearest), match.nearest[:OFFERED]
    nearest = tuple(dict.fromkeys(facts[i].text for i in shown))
    offered = ", ".join(named(facts[i]) for i in shown)
    offered += f" and {fits - len(shown)} more" if fits > len(shown) else ""
    which = "say which one, in its own words or by its id."
    if match.tied:
        message = f"{quoted(said)} fits {fits} facts: {offered}. Nothing was changed; {which}"
    elif match.mentioned:
        these = "These mention" if fits > 1 else "This mentions"
        message = f"No fact is only about {quoted(said)}. {these} it: {offered}."
        message += f" Nothing was changed; {which}" if fits > 1 else " Nothing was changed."
    else:
        message = f"No fact in {ask.write.agent}'s memory says {quoted(said)}."
        message += f" Closest: {offered}." if offered else ""
    outcome = replace(ask.outcome("not_found", message), nearest=nearest)
    return Step(outcome, unsaid=not match.tied and not match.mentioned)


def _named_by_id(text: str, archive: str, ask: Ask) -> Step:
    """Bring back the archived fact whose block id was given in place of words."""
    block = ask.write.text.strip().removeprefix("^")
    if known := next((f for f in _seen(text).all() if f.block == block), None):
        return _already(known, ask)
    again = next((f for f in _seen(archive).all() if f.block == block), None)
    if again and (step := _bring_back(text, archive, again, ask)):
        return step
    message = f"No fact of {ask.write.agent}'s archive has the id ^{block}. Nothing was changed."
    return Step(ask.outcome("not_found", message))


def _already(known: Fact, ask: Ask) -> Step:
    message = f"Already known: {quoted(known.text)} ({ask.path}). Nothing was changed."
    return Step(_about(ask.outcome("unchanged", message), known))


def _bring_back(text: str, archive: str, again: Fact, ask: Ask) -> Step | None:
    """Return an archived fact's way back, with its source and id; None for a typed line."""
    back = restore(text, archive, again.block, ask.weighing)
    if back is None:
        return None
    fact = back.facts[0]
    message = f"Remembered again: {quoted(fact.text)} (in {ask.path}, back from the archive)."
    kept = _without_same(back.archive, (again,))
    return Step(_about(ask.outcome("written", message), fact), back.brain, kept, (again,))


def _contradicted(facts: tuple[Fact, ...], ask: Ask) -> tuple[int, ...]:
    """Return the positions of the facts that the new one contradicts.

    Imported here: the many patterns take a tenth of a second, which a start need not wait for.
    """
    from vaultmind.memory.contradictions.contradict import contradicted

    return contradicted(ask.write.text, [fact.text for fact in facts])


def _supersede(text: str, archive: str, gone: tuple[Fact, ...], ask: Ask) -> Step:
    """Put a new fact in the place of those that it contradicts, which the archive keeps."""
    brain = _seen(text)
    new, fact = _exchanged(text, gone, ask, new_block(block_ids(text), ask.rng))
    kept, taken = _without_same(archive, gone, ended=False), block_ids(new)
    for one in dict.fromkeys(gone):
        block = one.block or new_block(taken, ask.rng)
        kept = put(kept, replace(one, block=block, until=fact.written), ask.weighing)[0]
    place = ask.paths.archive(ask.write.agent)
    said = f"Remembered: {quoted(fact.text)} (in {ask.path}, under {fact.section})"
    message = f"{said}, in place of {_all_quoted(gone)}, now in {place} (until {fact.written})."
    if rests := [rest for one in gone if (rest := left_over(one, ask.write))]:
        message += f" That said more, which moved too ({'; '.join(rests)}): remember"
        message += " it again if it still holds, or undo this."
    outcome = replace(_about(ask.outcome("written", message), fact), before=_joined(gone))
    why = next((why for one in gone if (why := doubt(one, brain, ask.write))), "")
    return Step(outcome, new, kept, gone, why)


def _exchanged(text: str, gone: Sequence[Fact], ask: Ask, block: str = "") -> tuple[str, Fact]:
    """Return the text with a new fact in the place of others, or where it stands already.

    It has the first one's block id where it is given none.
    """
    brain = _seen(text)
    places = [one for old in dict.fromkeys(gone) for one in brain.facts if one.fact == old]
    fact = _new_fact(text, ask, block or (places[0].fact.block if places else ""))
    if places and not ask.write.section:
        fact = replace(fact, section=places[0].fact.section or fact.section)
    others = [one for one in brain.facts if one not in places]
    if any(same_fact(one.fact.text, fact.text) for one in others):
        return without(text, places), fact
    line = render_fact(fact, ask.paths)
    rest = without(text, places[1:])
    first = [one for one in _seen(rest).facts if places and one.fact == places[0].fact][:1]
    if first and ask.write.section in (None, places[0].fact.section):
        return replace_fact(rest, first[0], line), fact
    return add_fact(without(rest, first), line, fact.section or "user", ask.language), fact


def _new_fact(text: str, ask: Ask, block: str) -> Fact:
    write = ask.write
    return Fact(
        write.text,
        write.section or pick(write.text),
        block or new_block(block_ids(text), ask.rng),
        write.evidence,
        write.said_on or ask.weighing.today.isoformat(),
        write.how,
        write.quote,
    )


def _joined(facts: Iterable[Fact]) -> str:
    return JOINT.join(dict.fromkeys(fact.text for fact in facts))


def _all_quoted(facts: Iterable[Fact]) -> str:
    return " and ".join(quoted(text) for text in dict.fromkeys(fact.text for fact in facts))


def _same_as_any(fact: Fact, others: Iterable[Fact]) -> bool:
    return any(same_fact(fact.text, other.text) for other in others)


def _about(outcome: Outcome, fact: Fact) -> Outcome:
    return replace(outcome, section=fact.section, fact=fact.text, block=fact.block)
