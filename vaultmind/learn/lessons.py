"""Lessons for the planner: what a plan offered, and what of it turned out to be right. Pure.

An episode that went well teaches: of what a plan offered, the files that were then edited are right
(1), those that were only read are so in part (0.3), the others are wrong. What failed teaches
nothing by itself, and takes back what the same task taught before: of a file that was edited in as
many episodes that failed as in such that went well nothing is left. Lessons fade, and one task that
is done over and over counts as a few.

Only what was done after a plan counts for it. A file that was edited before in the same episode is
left out of the lesson: its features (changed lately, changes together) tell of that already.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from vaultmind.episodes.types import Episode, Event, Offer, Result
from vaultmind.learn.weights import stuff_of
from vaultmind.planner.scorer import Stuff

EDITED, READ = 1.0, 0.3
"""How right a file is that was edited, that was only read."""
WORTH: Mapping[Result, float] = {"success": 1.0, "partial": 0.5, "unknown": 0.0, "failed": 0.0}
"""What an episode's lessons count. Silence is no success."""
HALF_LIFE_DAYS = 90.0
MOST_ALIKE = 5
"""Episodes of one task that count, the latest."""
MOST_CANDIDATES = 100
MOST_FEATURE = 10.0
"""Features are between 0 and 1, or near it: an offer's file can be edited by hand."""
_EDITS = frozenset({"edit", "delta", "commit"})
_SECONDS_A_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Heard:
    """An episode, and what plans offered in it."""

    episode: Episode
    offers: tuple[Offer, ...]


@dataclass(frozen=True, slots=True)
class PlanLesson:
    """The candidates of one plan, and how right each is."""

    of: Stuff
    """Which weights ranked: those for a source of code, or of notes."""
    episode: str
    time: datetime
    paths: tuple[str, ...]
    features: tuple[Mapping[str, float], ...]
    right: tuple[float, ...]
    """From 0 to 1."""
    weight: float

    @property
    def truth(self) -> tuple[float, ...]:
        """Return what a trial takes for right: what was edited, or read where nothing was."""
        best = max(self.right, default=0.0)
        least = EDITED / 2 if best > READ else 0.0
        return tuple(float(one > least) for one in self.right)


def plan_lessons(heard: Iterable[Heard], now: datetime) -> tuple[PlanLesson, ...]:
    """Return the lessons of episodes, oldest first; those that teach nothing are left out."""
    ended = [one for one in heard if one.episode.state != "running" and one.offers]
    ended.sort(key=lambda one: (one.episode.started, one.episode.name))
    balance = _balances(one.episode for one in ended)
    alike: dict[tuple[str, str], int] = {}
    lessons: list[PlanLesson] = []
    for one in reversed(ended):
        episode = one.episode
        if not WORTH[episode.outcome]:
            continue
        key = (episode.source, episode.task.fingerprint)
        alike[key] = alike.get(key, 0) + 1
        if alike[key] <= MOST_ALIKE or not episode.task.fingerprint:
            lessons += _of_episode(one, balance, now)
    return tuple(sorted(lessons, key=lambda one: (one.time, one.episode)))


def split(
    lessons: Sequence[PlanLesson], later: float
) -> tuple[tuple[PlanLesson, ...], tuple[PlanLesson, ...]]:
    """Return the lessons to learn from, and the latest, to try on: no episode is in both."""
    place = len(lessons) - round(len(lessons) * later)
    tried = {one.episode for one in lessons[place:]}
    first = [one for one in lessons[:place] if one.episode not in tried]
    return tuple(first), tuple(one for one in lessons if one.episode in tried)


def _of_episode(
    heard: Heard, balance: Mapping[tuple[str, str, str], float], now: datetime
) -> list[PlanLesson]:
    """Return the lessons of one episode, which count as one together."""
    episode = heard.episode
    worth = WORTH[episode.outcome]
    each = []
    for offer in _first_of_each(heard.offers):
        told = _of_offer(episode, offer, balance)
        if told is not None:
            each.append((offer, *told))
    lessons = []
    for offer, of, rows in each:
        time = _time(offer.time) or _time(episode.started) or now
        age = max(0.0, (now - time).total_seconds() / _SECONDS_A_DAY)
        weight = worth * 0.5 ** (age / HALF_LIFE_DAYS) / len(each)
        paths, features, right = zip(*rows, strict=True)
        lessons.append(PlanLesson(of, episode.name, time, paths, features, right, weight))
    return lessons


def _of_offer(
    episode: Episode, offer: Offer, balance: Mapping[tuple[str, str, str], float]
) -> tuple[Stuff, list[tuple[str, Mapping[str, float], float]]] | None:
    """Return what an offer teaches: its candidates, with features and how right each is."""
    of, time = stuff_of(offer.weights), _time(offer.time)
    if of is None:
        return None
    right: dict[str, float] = {}
    before: set[str] = set()
    for event in episode.events:
        if event.path and event.path in offer.files:
            worth = _worth(event)
            if worth and _is_before(event, time):
                before |= {event.path} if worth == EDITED else set()
            else:
                right[event.path] = max(right.get(event.path, 0.0), worth)
    fingerprint = episode.task.fingerprint
    rows: list[tuple[str, Mapping[str, float], float]] = []
    for path, features in [*offer.files.items()][:MOST_CANDIDATES]:
        value = right.get(path, 0.0)
        if value == EDITED:
            value *= balance.get((episode.source, fingerprint, path), 1.0)
        if path not in before:
            rows.append((path, _clean(features), value))
    total = math.fsum(value for *_, value in rows)
    return (of, rows) if 0 < total < len(rows) else None


def _balances(episodes: Iterable[Episode]) -> dict[tuple[str, str, str], float]:
    """Return, by source, task and file, how far episodes agree that to edit it was right: 1 for
    all, 0 where as many or more failed.
    """
    good: dict[tuple[str, str, str], float] = {}
    bad: dict[tuple[str, str, str], float] = {}
    for episode in episodes:
        fingerprint = episode.task.fingerprint
        if not fingerprint:
            continue
        table, worth = (bad, 1.0) if episode.outcome == "failed" else (good, WORTH[episode.outcome])
        for path in {one.path for one in episode.events if one.path and _worth(one) == EDITED}:
            key = (episode.source, fingerprint, path)
            table[key] = table.get(key, 0.0) + worth
    return {
        key: max(0.0, (well - bad[key]) / (well + bad[key])) if key in bad else 1.0
        for key, well in good.items()
    }


def _first_of_each(offers: Sequence[Offer]) -> list[Offer]:
    """Return the first offer of each task: what a later one offers follows from the work."""
    first: dict[str, Offer] = {}
    for offer in offers:
        first.setdefault(offer.fingerprint, offer)
    return [*first.values()]


def _worth(event: Event) -> float:
    """Return how right an event says that its file was."""
    if event.kind in _EDITS:
        return EDITED
    return READ if event.kind == "read" else 0.0


def _is_before(event: Event, time: datetime | None) -> bool:
    """Tell whether something was done before a plan. Times of events are whole seconds."""
    done = _time(event.time)
    return done is not None and time is not None and done < time.replace(microsecond=0)


def _clean(features: Mapping[str, float]) -> dict[str, float]:
    return {
        name: max(-MOST_FEATURE, min(MOST_FEATURE, float(value)))
        for name, value in features.items()
        if math.isfinite(value)
    }


def _time(text: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo is not None else time.astimezone()
