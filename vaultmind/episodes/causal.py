"""Causal links: why a file was changed, as far as somebody said so. Pure.

Nothing is inferred: an issue is one that the task or a commit's message names, a reason is given
in the words in which it was given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from vaultmind.episodes.types import CausalLink, Change, Episode, Event

SEEN, COMPARED, COMMITTED = 0.5, 0.4, 0.5
"""How sure a change is by an edit that was seen, by a comparison of files, by a commit ..."""
DECIDED, EXPLAINED, NAMED = 0.4, 0.2, 0.3
"""... and how much surer that it belongs to the task by a decision on that very file, by a reason
given for the whole, by an issue that is named."""
MOST_ISSUES = 4
"""Of one change; a message that names more is a list of them."""
_ISSUE = re.compile(r"(?<![\w/#&])(?:GH-\d{1,7}|[A-Z][A-Z0-9]{1,9}-\d{1,6}|#\d{1,7})(?![\w-])")
_NOT_ISSUES = ("UTF-", "ISO-", "SHA-", "RFC-", "CVE-", "HTTP-", "AES-", "RSA-", "TLS-", "IPV-")
_SHA = 7
"""Digits by which a commit is the same, named short or whole."""


@dataclass(slots=True)
class Changed:
    """What an episode's events say of one file that was changed."""

    change: Change = "modified"
    is_seen: bool = False
    """An edit of it was reported or seen by a hook."""
    is_compared: bool = False
    commits: dict[str, None] = field(default_factory=dict)
    last: str = ""
    """When."""


@dataclass(slots=True)
class _Commit:
    sha: str
    text: str = ""
    block: str = ""
    time: str = ""
    paths: set[str] = field(default_factory=set)


def issues_in(text: str) -> tuple[str, ...]:
    """Return the issues that a text refers to: `#12`, `GH-12`, `PROJ-77`."""
    found = (match[0] for match in _ISSUE.finditer(text))
    return tuple(dict.fromkeys(one for one in found if not one.startswith(_NOT_ISSUES)))


def links_of(episode: Episode) -> tuple[CausalLink, ...]:
    """Return the links of an episode: of each changed file, commit and issue one, oldest first."""
    commits = _commits(episode.events)
    changed = changed_files(episode.events)
    for one in commits.values():
        for path in one.paths or tuple(changed):
            changed[path].commits[one.sha] = None
    decided = _decisions(episode.events)
    found = [
        link
        for path, what in changed.items()
        for link in _of_file(episode, path, what, commits, decided)
    ]
    return tuple(sorted(found, key=lambda one: (one.time, one.path)))


def changed_files(events: Iterable[Event]) -> dict[str, Changed]:
    """Return what was changed, by path, in the order in which that began."""
    found: dict[str, Changed] = {}
    for event in events:
        if not event.changes:
            continue
        fresh = event.path not in found
        one = found.setdefault(event.path, Changed())
        one.change = merged(None if fresh else one.change, event.change or "modified")
        one.is_seen = one.is_seen or event.kind == "edit"
        nameless = event.kind == "commit" and not event.commit
        one.is_compared = one.is_compared or event.kind == "delta" or nameless
        one.last = max(one.last, event.time)
    return found


def merged(before: Change | None, after: Change) -> Change:
    """Return what two changes of a file come to: what was made and then edited was added."""
    return "added" if before == "added" and after == "modified" else after


def confidence(told: Iterable[float]) -> float:
    """Return how sure something is that several independent statements say, from 0 to 1."""
    return round(1.0 - prod(1.0 - min(1.0, max(0.0, one)) for one in told), 4)


def surest(links: Iterable[CausalLink]) -> dict[str, float]:
    """Return how sure the change of each path is."""
    found: dict[str, float] = {}
    for link in links:
        found[link.path] = max(found.get(link.path, 0.0), link.confidence)
    return found


def _of_file(
    episode: Episode,
    path: str,
    what: Changed,
    commits: Mapping[str, _Commit],
    decided: Mapping[str, Event],
) -> Iterator[CausalLink]:
    for sha in what.commits or ("",):
        commit = commits.get(sha)
        own = issues_in(commit.text) if commit else ()
        issues = tuple(dict.fromkeys((*own, *episode.task.issues)))[:MOST_ISSUES]
        reason = _reason(episode, decided.get(path) or decided.get(""), commit)
        told = [SEEN] if what.is_seen else []
        told += [COMMITTED] if commit else [COMPARED] if what.is_compared else []
        told += [DECIDED] if path in decided else [EXPLAINED] if reason.is_own else []
        told += [NAMED] if issues else []
        for issue in issues or ("",):
            yield CausalLink(
                episode=episode.name,
                path=path,
                change=what.change,
                issue=issue,
                commit=sha,
                rationale=reason.text,
                time=(commit.time if commit else "") or what.last,
                block=reason.block,
                confidence=confidence(told),
            )


@dataclass(frozen=True, slots=True)
class _Reason:
    text: str = ""
    block: str = ""
    is_own: bool = False
    """It was given besides the commit, which counts by itself."""


def _reason(episode: Episode, decision: Event | None, commit: _Commit | None) -> _Reason:
    """Return the nearest reason: a decision on the file, the outcome's, a commit's message."""
    if decision is not None and (decision.path or not episode.rationale):
        return _Reason(decision.text, decision.block, is_own=True)
    if episode.rationale:
        return _Reason(episode.rationale, episode.why_block, is_own=True)
    return _Reason(commit.text, commit.block) if commit else _Reason()


def _decisions(events: Iterable[Event]) -> dict[str, Event]:
    """Return the last decision on each file, and under no name the last on the whole."""
    return {one.path: one for one in events if one.kind == "decision" and one.text}


def _commits(events: Sequence[Event]) -> dict[str, _Commit]:
    """Return the commits by id, the longest of the names that each goes by."""
    short: dict[str, _Commit] = {}
    for event in events:
        if event.kind != "commit" or not event.commit:
            continue
        one = short.setdefault(event.commit[:_SHA], _Commit(event.commit))
        one.sha = max(one.sha, event.commit, key=len)
        if event.text and not one.text:
            one.text, one.block = event.text, event.block
        one.time = max(one.time, event.time)
        if event.path:
            one.paths.add(event.path)
    return {one.sha: one for one in short.values()}
