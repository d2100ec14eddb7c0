"""How an episode's note becomes that of an ended one, and of one that was judged later. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from vaultmind.episodes.notes.files import split_name
from vaultmind.episodes.notes.lines import line_of
from vaultmind.episodes.notes.mending import next_number, with_event
from vaultmind.episodes.notes.note import WHY_BLOCK, parsed, standing, with_outcome
from vaultmind.episodes.types import RESULTS, Episode, Event, Result
from vaultmind.types import Caller


@dataclass(frozen=True, slots=True)
class Verdict:
    """What somebody says came of an episode."""

    outcome: Result
    rationale: str
    by: Literal["agent", "person"]
    time: str

    @property
    def event(self) -> Event:
        """Return it as an event of the episode."""
        how: Literal["reported", "person"] = "person" if self.by == "person" else "reported"
        text = f"{self.outcome}: {self.rationale}" if self.rationale else self.outcome
        return Event("feedback", self.time, text=text, how=how)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A note's new text, and the episode that it tells of."""

    text: str
    episode: Episode
    moved: tuple[str, ...] = ()
    """The lines that hidden words have moved to: they are to be hidden there."""
    left: tuple[str, ...] = ()
    """Places that hidden words have left to others: these are to be shown."""


Hides = Callable[[str], bool]
"""Tells by its id whether a part of the note is hidden."""
_SAID_OF = "Said of "
_Said = tuple[Result, str, Literal["agent", "person"]]


def verdict(outcome: Result, rationale: str, caller: Caller, time: str) -> Verdict:
    """Return what a caller says of an episode at a time."""
    return Verdict(outcome, rationale, "person" if caller.kind == "person" else "agent", time)


def nothing_hidden(block: str) -> bool:
    """Hide nothing."""
    return False


def ended(
    name: str, text: str, said: Verdict, took_ms: int = 0, hides: Hides = nothing_hidden
) -> Rewritten:
    """Return a running note as it is once the episode has ended.

    What the person said before, in feedback or by their own hand in the note, stands over it, and
    the agent's other word becomes a line; an agent's feedback does where nobody says now what came
    of it. A reason stays with the outcome that it is the reason of, and one that is hidden stays
    in its line.
    """
    episode = parsed(text, *split_name(name))
    theirs = _said_by_the_person(text, episode, hides) if said.by == "agent" or said.outcome == (
        "unknown"
    ) else None  # fmt: skip
    if theirs is None and said.outcome == "unknown":
        theirs = _last_said(episode, "reported", hides)
    outcome, rationale, by = theirs or (said.outcome, said.rationale, said.by)
    if outcome == "unknown":
        by = "agent"  # nobody's word
    agrees = said.outcome in ("unknown", outcome)
    if not agrees:
        text, episode = _with_line(text, episode, said.event)
    offered = sum(event.tokens for event in episode.events if event.kind == "plan")
    new = replace(
        episode,
        state="ended",
        ended=said.time,
        outcome=outcome,
        rationale=rationale or (said.rationale if agrees else ""),
        token_used=episode.token_used or offered,
        latency_ms=episode.latency_ms or took_ms,
    )
    return Rewritten(with_outcome(text, new, by), new)


def judged(name: str, text: str, said: Verdict, hides: Hides = nothing_hidden) -> Rewritten:
    """Return an ended note with what was said of it; an agent's word changes no person's.

    A reason goes with its outcome: where another outcome takes its place, it becomes a line. Where
    nobody says why the other one does, the old reason stays and says what it was said of.
    One that is hidden is so in its line, too, and what takes its place is not.
    """
    episode, stands = parsed(text, *split_name(name)), standing(text)
    old = Verdict(stands.outcome, episode.rationale, stands.by or "agent", episode.ended)
    keeps = said.by == "agent" and stands.by == "person"
    is_other = said.outcome != old.outcome
    told = {event.text for event in episode.events if event.kind == "feedback"}
    is_told = not old.rationale or old.event.text in told or _is_carried(old.rationale)
    moved: tuple[str, ...] = ()
    if is_other and not keeps and not is_told:
        text, episode = _with_line(text, episode, old.event)
        moved = (episode.events[-1].block,) if hides(WHY_BLOCK) else ()
    text, new = _with_line(text, episode, said.event)
    if keeps:
        return Rewritten(text, new)
    new = replace(
        new,
        state="shrunk" if episode.state == "shrunk" else "ended",
        ended=episode.ended or said.time,
        outcome=said.outcome,
        rationale=said.rationale or (_carried(old) if is_other else episode.rationale),
    )
    is_new = said.rationale not in ("", episode.rationale)
    left = (WHY_BLOCK,) if is_new and hides(WHY_BLOCK) else ()
    return Rewritten(with_outcome(text, new, said.by), new, moved, left)


def _carried(old: Verdict) -> str:
    """Return the reason of an outcome that stands no more, saying so."""
    if not old.rationale or _is_carried(old.rationale):
        return old.rationale
    return f"{_SAID_OF}{old.outcome}: {old.rationale}"


def _is_carried(rationale: str) -> bool:
    """Tell whether a reason says of which outcome it was said: there is a line of it."""
    return rationale.startswith(tuple(f"{_SAID_OF}{one}: " for one in RESULTS))


def _with_line(text: str, episode: Episode, event: Event) -> tuple[str, Episode]:
    """Return a note with one more event, which names no file, and its episode."""
    named = replace(event, block=f"e{next_number(text)}")
    new = replace(episode, events=(*episode.events, named))
    return with_event(text, line_of(named)), new


def _said_by_the_person(text: str, episode: Episode, hides: Hides) -> _Said | None:
    """Return what the person said came of a running episode, and why; None where they did not."""
    if (said := _last_said(episode, "person", hides)) is not None:
        return said
    by_hand = standing(text)
    return (by_hand.outcome, "", "person") if by_hand.by == "person" else None


def _last_said(episode: Episode, how: Literal["reported", "person"], hides: Hides) -> _Said | None:
    """Return the last feedback on a running episode of the person or of its agent, and why.

    Without the reason where the line is hidden: its words would be shown elsewhere.
    """
    for event in reversed(episode.events):
        outcome, _, why = event.text.partition(": ")
        if event.kind == "feedback" and event.how == how and outcome in RESULTS:
            shown = "" if hides(event.block) else why
            return outcome, shown, "person" if how == "person" else "agent"
    return None
