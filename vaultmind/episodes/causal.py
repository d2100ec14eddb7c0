"""Why files were changed, and how much earlier work on tasks like one used them. Pure.

Nothing is inferred: an issue is one that the task or a commit's message names, a reason is given in
the words in which it was given. Affinity is counted, not guessed: an episode counts by how alike
its task is and how long ago it was; edits count for more than reads, work that succeeded for more
than work of which nobody said so, and what failed counts against the file. Below a minimum of
samples nothing is said: two, or one that is sure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import prod

from vaultmind.episodes.types import CausalLink, Change, Episode, Event, Result
from vaultmind.times import seconds_of

SEEN, COMPARED, COMMITTED = 0.5, 0.4, 0.5
"""How sure a change is by an edit that was seen, by a comparison of files, by a commit ..."""
DECIDED, EXPLAINED, NAMED = 0.4, 0.2, 0.3
"""... and how much surer that it belongs to the task by a decision on that very file, by a reason
given for the whole, by an issue that is named."""
MOST_ISSUES = 4
"""Of one change; a message that names more is a list of them."""
CREDIT: Mapping[Result, float] = {"success": 1.0, "partial": 0.5, "unknown": 0.3, "failed": 0.0}
"""What work counts by its outcome."""
UNSAID = 0.7
"""What it counts where nobody told the outcome, but it was committed."""
READ, AGAINST = 0.3, 0.5
"""What reading a file counts of what changing it does; what failed work counts against it."""
SATURATION = 0.5
"""Amount of evidence, in episodes of the same task today, that makes half of the full weight."""
MOST_USED = 100
"""Maximum number of files of an answer."""
HALF_LIFE_SECONDS = 60 * 86_400.0
LEAST, LEAST_SURE = 2, 1
"""Minimum number of episodes that used a file, before anything is said of it; and where one had
the very same task, or changed the file and that was committed or told a success. (Of 150 commits
of a history, the files of alike earlier ones ranked the right ones at 0.114 MRR with two samples
of any kind, at 0.195 so.)"""
_ISSUE = re.compile(r"(?<![\w/#&])(?:GH-\d{1,7}|[A-Z][A-Z0-9]{1,9}-\d{1,6}|#\d{1,7})(?![\w-])")
_NOT_ISSUES = ("UTF-", "ISO-", "SHA-", "RFC-", "CVE-", "HTTP-", "AES-", "RSA-", "TLS-", "IPV-")
_SHA = 7
"""Digits by which a commit is the same, named short or whole."""


@dataclass(slots=True)
class ChangedFile:
    """What an episode's events say of one file that was changed."""

    change: Change = "modified"
    is_seen: bool = False
    """An edit of it was reported or seen by a hook."""
    is_compared: bool = False
    last: str = ""
    """When."""


def used_at(events: Sequence[Event]) -> dict[str, float]:
    """Return what was read or changed, and when last, in seconds since 1970.

    A file that was only found is not among them.
    """
    used, found = {it.path for it in events if it.changes or it.kind == "read"}, dict[str, float]()
    for event in events:
        if event.path in used and (event.changes or event.kind in ("read", "hit")):
            found[event.path] = max(found.get(event.path, 0.0), seconds_of(event.time))
    return found


# --- why ------------------------------------------------------------------------------------


def issues_in(text: str) -> tuple[str, ...]:
    """Return the issues that a text refers to: `#12`, `GH-12`, `PROJ-77`."""
    found = (match[0] for match in _ISSUE.finditer(text))
    return tuple(dict.fromkeys(one for one in found if not one.startswith(_NOT_ISSUES)))


def changed_files(events: Iterable[Event]) -> dict[str, ChangedFile]:
    """Return what was changed, by path, in the order in which that began."""
    found: dict[str, ChangedFile] = {}
    for event in events:
        if event.changes:
            before = found.get(event.path)
            one = found.setdefault(event.path, ChangedFile())
            after = event.change or "modified"
            made = before is not None and one.change == "added" and after == "modified"
            one.change = "added" if made else after
            one.is_seen |= event.kind == "edit"
            nameless = event.kind == "commit" and not event.commit
            one.is_compared |= event.kind == "delta" or nameless
            one.last = max(one.last, event.time)
    return found


def links_of(episode: Episode) -> tuple[CausalLink, ...]:
    """Return the links of an episode: of each changed file, commit and issue one, oldest first."""
    changed = changed_files(episode.events)
    commits: dict[str, list[Event]] = {}
    for event in episode.events:
        if event.kind == "commit" and event.commit:
            commits.setdefault(event.commit[:_SHA], []).append(event)
    decided = {it.path: it for it in episode.events if it.kind == "decision" and it.text}
    made: dict[str, list[list[Event]]] = {path: [] for path in changed}
    for told in commits.values():
        for path in {one.path: None for one in told if one.path} or changed:
            made[path].append(told)
    found = [
        link
        for path, what in changed.items()
        for told in made[path] or [[]]
        for link in _links(episode, path, what, told, decided)
    ]
    return tuple(sorted(found, key=lambda one: (one.time, one.path)))


def _links(
    episode: Episode,
    path: str,
    what: ChangedFile,
    commit: Sequence[Event],
    decided: Mapping[str, Event],
) -> Iterator[CausalLink]:
    """Yield the links of one changed file and what is told of one commit, one for each issue.

    The reason is the nearest: a decision on the file, the outcome's, a commit's message.
    """
    message = next((one for one in commit if one.text), None)
    own = issues_in(message.text) if message else ()
    issues = tuple(dict.fromkeys((*own, *episode.task.issues)))[:MOST_ISSUES]
    decision = decided.get(path) or decided.get("")
    reason = (message.text, message.block) if message else ("", "")
    if decision is not None and (decision.path or not episode.rationale):
        reason = decision.text, decision.block
    elif episode.rationale:
        reason = episode.rationale, episode.why_block
    told = [SEEN] if what.is_seen else []
    told += [COMMITTED] if commit else [COMPARED] if what.is_compared else []
    told += [DECIDED] if path in decided else [EXPLAINED] if decision or episode.rationale else []
    told += [NAMED] if issues else []
    for issue in issues or ("",):
        yield CausalLink(
            episode=episode.name,
            path=path,
            change=what.change,
            issue=issue,
            commit=max((one.commit for one in commit), key=len, default=""),
            rationale=reason[0],
            time=max((one.time for one in commit), default=what.last),
            block=reason[1],
            confidence=round(1.0 - prod(1.0 - one for one in told), 4),
        )


# --- affinity -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Deed:
    """What one episode did with a file."""

    episode: str
    """`agent/id`."""
    changed: bool
    """It changed the file; else it read it."""
    linked_at: float
    """When the last was that its causal links tell of, in seconds since 1970."""


@dataclass(slots=True)
class Used:
    """What earlier episodes did with a file, for tasks like one."""

    path: str
    worth: float = 0.0
    against: float = 0.0
    doubt: float = 1.0
    """How likely none of them changed it for such a task."""
    edits: float = 0.0
    is_sure: bool = False
    by: list[Deed] = field(default_factory=list)
    """What each episode did that counts."""

    @property
    def weight(self) -> float:
        """Return how much they speak for it, from 0 to 1, success-weighted."""
        if len(self.by) < (LEAST_SURE if self.is_sure else LEAST):
            return 0.0
        total = self.worth + self.against + SATURATION
        return round(max(0.0, self.worth - self.against) / total, 4)

    @property
    def causal(self) -> float:
        """Return how sure it is that such work changed it, from 0 to 1."""
        return round(1.0 - self.doubt, 4)


def used(
    episodes: Iterable[Episode], alike: Mapping[str, float], now: datetime, most: int = MOST_USED
) -> dict[str, Used]:
    """Return the files for which episodes speak, by path, the heaviest first.

    `alike` says how alike the task of each episode is (`agent/id`, from 0 to 1). Files that were
    only found or planned are not among them.
    """
    files: dict[str, Used] = {}
    for episode in episodes:
        _add(files, episode, alike[episode.name], now.timestamp())
    spoken_for = [one for one in files.values() if one.weight > 0.0]
    spoken_for.sort(key=lambda it: (-it.weight, it.doubt, -it.edits, it.path))
    return {one.path: one for one in spoken_for[:most]}


def _add(files: dict[str, Used], episode: Episode, alike: float, now: float) -> None:
    """Add what one episode did with files."""
    links: dict[str, list[CausalLink]] = {}
    for link in links_of(episode):
        links.setdefault(link.path, []).append(link)
    edited = changed_files(episode.events)
    for path, at in used_at(episode.events).items():
        is_edit, of = path in edited, links.get(path, [])
        unsaid = episode.outcome == "unknown" and any(link.commit for link in of)
        credit = UNSAID if unsaid else CREDIT[episode.outcome]
        counts = alike * 0.5 ** (max(now - at, 0.0) / HALF_LIFE_SECONDS)
        share = counts if is_edit else counts * READ
        one = files.setdefault(path, Used(path))
        one.worth += share * credit
        one.against += share * AGAINST * (episode.outcome == "failed")
        one.is_sure = one.is_sure or alike >= 1.0 or (is_edit and credit >= UNSAID)
        one.edits += counts * is_edit
        one.doubt *= 1.0 - max((link.confidence for link in of), default=0.0) * counts * credit
        linked_at = max((seconds_of(it.time) for it in of), default=0.0)
        one.by.append(Deed(episode.name, is_edit, linked_at))
