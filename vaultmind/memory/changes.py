"""What remember, replace and forget do to a brain's text. Pure: the gate's writes call them
again whenever a person's edit came first."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date

from vaultmind.memory.brain import (
    Brain,
    PlacedFact,
    add_fact,
    block_ids,
    new_block,
    new_brain,
    own_text,
    parse_brain,
    remove_fact,
    removed_text,
    render_fact,
    replace_fact,
)
from vaultmind.memory.doubts import doubt, left_over, meant, named, quoted, typed
from vaultmind.memory.limits import Limits, restore
from vaultmind.memory.match import Match, find, mentions, same_fact, says
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
    today: str
    language: str
    paths: VaultPaths
    rng: random.Random
    redacted: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Return the brain's path."""
        return self.paths.brain(self.write.agent)

    def outcome(self, name: OutcomeName, message: str) -> Outcome:
        """Return an outcome of this write, so far without a fact."""
        return Outcome(
            name, self.write.agent, path=self.path, message=message, redacted=self.redacted
        )


@dataclass(frozen=True, slots=True)
class Step:
    """What one try of a change came to."""

    text: str | None
    """The new text; None leaves the file as it is."""
    outcome: Outcome
    gone: tuple[Fact, ...] = field(default=())
    """Facts that are no longer true or no longer to be known; the archive drops them too."""
    ended: tuple[Fact, ...] = field(default=())
    """The same facts as the archive keeps them, with the date until which they held."""
    unsaid: bool = False
    """No fact holds the words at all; messages may."""
    doubt: str = ""
    """Why an agent should not write this by itself, in words: the person decides."""


def remember(text: str | None, ask: Ask, archive: str = "") -> Step:
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
    facts = tuple(fact for fact in (*brain.all(), *archived.all()) if not fact.until)
    meant = find(facts, ask.write.old).found if ask.write.old else ()
    against = [facts[at] for at in dict.fromkeys((*_contradicted(facts, ask), *meant))]
    lost = [one for one in against if not _is_kept(one, start, brain)]
    if clear := tuple(one for one in against if one not in lost):
        return _beside(_supersede(start, brain, clear, ask), lost, ask)
    again = next((f for f in archived.all() if same_fact(f.text, ask.write.text)), None)
    if again and (step := _bring_back(start, archive, again, ask)):
        return _beside(step, lost, ask)
    fact = _new_fact(start, ask, "")
    new = add_fact(start, render_fact(fact, ask.paths), fact.section or "user", ask.language)
    message = f"Remembered: {quoted(fact.text)} (in {ask.path}, under {fact.section})."
    return _beside(Step(new, _about(ask.outcome("written", message), fact)), lost, ask)


def correct(text: str | None, archive: str, ask: Ask) -> Step:
    """Put a new fact in the place of the one that the words mean.

    What else the new fact contradicts goes too, unless it says more than that. A fact with a
    secret that a person typed stays: its words are kept nowhere else.
    """
    start = new_brain(ask.write.agent, ask.language) if text is None else text
    brain, archived = _seen(start), _seen(archive)
    facts = tuple(fact for fact in (*brain.all(), *archived.all()) if not fact.until)
    match = _find(facts, ask.words)
    if not match.found:
        return _missing(facts, match, ask, ask.write.old)
    old = facts[match.found[0]]
    if old.text == ask.write.text:
        message = f"Already so: {quoted(old.text)} ({ask.path}). Nothing was changed."
        return Step(None, _about(ask.outcome("unchanged", message), old))
    if lost := [f for f in map(facts.__getitem__, match.found) if not _is_kept(f, start, brain)]:
        return _not_kept(lost[0], ask)
    others = [facts[at] for at in _contradicted(facts, ask) if at not in match.found]
    doubtful = [
        fact for fact in others if doubt(fact, brain, ask.write) or not _is_kept(fact, start, brain)
    ]
    clear = [fact for fact in others if fact not in doubtful]
    gone = (*(facts[at] for at in match.found), *clear)
    new, fact = _exchanged(start, brain, gone, ask)
    message = f"Corrected: {_all_quoted((old, *clear))} is now {quoted(fact.text)} (in {ask.path})."
    if doubtful:
        message += f" {_all_quoted(doubtful)} says otherwise in part; correct it too, or forget it."
    outcome = _about(ask.outcome("written", message), fact)
    outcome = replace(outcome, before=_joined((old, *clear)))
    return Step(new, outcome, gone, doubt=meant(gone, brain, ask.write))


def forget(text: str | None, archive: str, ask: Ask) -> Step:
    """Remove the fact that the words mean, and the lines nested under it."""
    start = text or ""
    brain, archived = _seen(start), _seen(archive)
    facts = (*brain.all(), *archived.all())
    match = _find(facts, ask.words)
    if not match.found:
        return _missing(facts, match, ask, ask.write.text)
    places = [brain.facts[i] for i in match.found if i < len(brain.facts)]
    if _without(blank_private(start), places) != blank_private(_without(start, places)):
        return _not_kept(facts[match.found[0]], ask)  # half a private passage would be left
    seen = blank_private(start)
    said = removed_text(seen, places[0]) if places else facts[match.found[0]].text
    gone = [facts[i] for i in match.found]
    gone += [below.fact for place in places for below in brain.facts if _nested(below, place)]
    new = _without(start, places) if places else None
    known = facts[match.found[0]]
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
    return Step(new, outcome, tuple(gone), doubt=meant(gone, brain, ask.write))


def drop(text: str, gone: tuple[Fact, ...], *, ended: bool) -> str:
    """Return a text without the bullets that say one of the facts; ended ones only with `ended`."""
    places = [one for one in _seen(text).facts if ended or not one.fact.until]
    return _without(text, [one for one in places if _same_as_any(one.fact, gone)])


def _seen(text: str) -> Brain:
    """Return what a brain says to others: without private passages, each place as in the text."""
    return parse_brain(blank_private(text))


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
    return Step(None, _about(ask.outcome("not_found", f"{message} Nothing was changed."), fact))


def _beside(step: Step, lost: Iterable[Fact], ask: Ask) -> Step:
    """Return a step beside contradicted facts that stay, since they hold what is not kept."""
    for one in lost:
        more = f"{quoted(one.text)} says otherwise and holds something that is not kept; edit it"
        message = f"{step.outcome.message} {more} there ({ask.path})."
        outcome = replace(step.outcome, message=message)
        step = replace(step, outcome=outcome, doubt=step.doubt or typed(one, ask.write))
    return step


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
    return Step(None, outcome, unsaid=not match.tied and not match.mentioned)


def stands_in_own_text(text: str, words: str) -> bool:
    """Tell whether a brain's prose, which is no fact, holds some words."""
    return any(mentions(paragraph, words) for paragraph in own_text(blank_private(text)))


def _named_by_id(text: str, archive: str, ask: Ask) -> Step:
    """Bring back the archived fact whose block id was given in place of words."""
    block = ask.write.text.strip().removeprefix("^")
    if known := next((f for f in _seen(text).all() if f.block == block), None):
        return _already(known, ask)
    again = next((f for f in _seen(archive).all() if f.block == block), None)
    if again and (step := _bring_back(text, archive, again, ask)):
        return step
    message = f"No fact of {ask.write.agent}'s archive has the id ^{block}. Nothing was changed."
    return Step(None, ask.outcome("not_found", message))


def _already(known: Fact, ask: Ask) -> Step:
    message = f"Already known: {quoted(known.text)} ({ask.path}). Nothing was changed."
    return Step(None, _about(ask.outcome("unchanged", message), known))


def _bring_back(text: str, archive: str, again: Fact, ask: Ask) -> Step | None:
    """Return an archived fact's way back, with its source and id; None for a typed line."""
    limits = Limits(ask.paths, ask.write.agent, date.fromisoformat(ask.today), ask.language)
    moved = restore(text, archive, again.block, limits)
    if moved is None:
        return None
    fact = moved.facts[0]
    message = f"Remembered again: {quoted(fact.text)} (in {ask.path}, back from the archive)."
    return Step(moved.brain, _about(ask.outcome("written", message), fact), (again,))


def _contradicted(facts: tuple[Fact, ...], ask: Ask) -> tuple[int, ...]:
    """Return the positions of the facts that the new one contradicts.

    Imported here: the many patterns take a tenth of a second, which a start need not wait for.
    """
    from vaultmind.memory.contradictions.contradict import contradicted

    return contradicted(ask.write.text, [fact.text for fact in facts])


def _supersede(text: str, brain: Brain, gone: tuple[Fact, ...], ask: Ask) -> Step:
    """Put a new fact in the place of those that it contradicts, which the archive keeps."""
    new, fact = _exchanged(text, brain, gone, ask, new_block(block_ids(text), ask.rng))
    taken = block_ids(new)
    ended = tuple(
        replace(one, block=one.block or new_block(taken, ask.rng), until=fact.written)
        for one in dict.fromkeys(gone)
    )
    archive = ask.paths.archive(ask.write.agent)
    said = f"Remembered: {quoted(fact.text)} (in {ask.path}, under {fact.section})"
    message = f"{said}, in place of {_all_quoted(gone)}, now in {archive} (until {fact.written})."
    if rests := [rest for one in gone if (rest := left_over(one, ask.write))]:
        message += f" That said more, which moved too ({'; '.join(rests)}): remember"
        message += " it again if it still holds, or undo this."
    outcome = replace(_about(ask.outcome("written", message), fact), before=_joined(gone))
    doubts = [why for one in gone if (why := doubt(one, brain, ask.write))]
    return Step(new, outcome, gone, ended, doubt=doubts[0] if doubts else "")


def _exchanged(
    text: str, brain: Brain, gone: tuple[Fact, ...], ask: Ask, block: str = ""
) -> tuple[str, Fact]:
    """Return the text with a new fact in the place of others, and the fact.

    It has the first one's block id where it is given none.
    """
    places = [one for old in dict.fromkeys(gone) for one in brain.facts if one.fact == old]
    block = block or (places[0].fact.block if places else "")
    fact = _new_fact(text, ask, block)
    if places and not ask.write.section:
        fact = replace(fact, section=places[0].fact.section or fact.section)
    return _put(text, brain, places, fact, ask), fact


def _new_fact(text: str, ask: Ask, block: str) -> Fact:
    write = ask.write
    return Fact(
        write.text,
        write.section or pick(write.text),
        block or new_block(block_ids(text), ask.rng),
        write.evidence,
        write.said_on or ask.today,
        write.how,
        write.quote,
    )


def _put(text: str, brain: Brain, places: list[PlacedFact], fact: Fact, ask: Ask) -> str:
    """Return the text with the fact once: in the old one's place, or where it stands already."""
    line = render_fact(fact, ask.paths)
    others = [one for one in brain.facts if one not in places]
    if any(same_fact(one.fact.text, fact.text) for one in others):
        return _without(text, places)
    rest = _without(text, places[1:])
    first = [one for one in _seen(rest).facts if places and one.fact == places[0].fact][:1]
    if first and ask.write.section in (None, places[0].fact.section):
        return replace_fact(rest, first[0], line)
    return add_fact(_without(rest, first), line, fact.section or "user", ask.language)


def _without(text: str, places: list[PlacedFact]) -> str:
    """Return the text without the facts; from the last one up, so that offsets hold."""
    end = len(text) + 1
    for place in sorted(places, key=lambda one: one.start, reverse=True):
        if place.tree_end <= end:
            text = remove_fact(text, place)
            end = place.start
        elif place.start < end:  # it holds one that was removed: read its end anew
            anew = next(one for one in _seen(text).facts if one.start == place.start)
            text = remove_fact(text, anew)
            end = place.start
    return text


def _nested(below: PlacedFact, above: PlacedFact) -> bool:
    return above.start < below.start < above.tree_end


def _joined(facts: Iterable[Fact]) -> str:
    return "; ".join(dict.fromkeys(fact.text for fact in facts))


def _all_quoted(facts: Iterable[Fact]) -> str:
    return " and ".join(quoted(text) for text in dict.fromkeys(fact.text for fact in facts))


def _same_as_any(fact: Fact, others: list[Fact] | tuple[Fact, ...]) -> bool:
    return any(same_fact(fact.text, other.text) for other in others)


def _about(outcome: Outcome, fact: Fact) -> Outcome:
    return replace(outcome, section=fact.section, fact=fact.text, block=fact.block)
