"""L6 changes: what changed since a time or a revision, by git where there is git, else by times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from vaultmind.errors import BadArgument
from vaultmind.index.when import first_day
from vaultmind.planner.structure.git import LAST, REVISION, Kind, LoggedCommit, day_of
from vaultmind.planner.structure.layers.sight import CAPS, Sight
from vaultmind.planner.structure.layers.views import Changed, ChangesView, Commit
from vaultmind.planner.types import Detail

USUAL = 20
"""Commits that are looked at where nothing says since when."""
_ALLOWED = "a time ('2026-02-20', 'yesterday', '3 days ago') or a revision (HEAD~3, main, v1.2)"


@dataclass(frozen=True, slots=True)
class Since:
    """What `since` means: a commit, or a time, or neither."""

    words: str = ""
    commit: str = ""
    at: float = 0.0


def since_of(sight: Sight, text: str) -> Since:
    """Return what a text means; raise BadArgument for what is neither a time nor a revision."""
    said = text.strip()
    if not said:
        return Since()
    if (at := _moment(said, sight.now)) is not None:
        return Since(said, at=at)
    if REVISION.fullmatch(said) and ".." not in said:
        commit = sight.structure.history.revision(said)
        if commit:
            return Since(said, commit=commit)
    try:
        day = first_day("since", said, sight.now)
    except BadArgument as error:
        why = sight.structure.history.fault
        allowed = f"{_ALLOWED}; there is no such revision" + (f": {why}" if why else "")
        raise BadArgument("since", said, allowed) from error
    midnight = datetime.fromisoformat(day).replace(tzinfo=sight.now.tzinfo)
    return Since(said, at=midnight.timestamp())


def changes_view(sight: Sight, detail: Detail, since: Since) -> ChangesView:
    """Return L6."""
    if sight.past is None:
        return _by_time(sight, detail, since)
    caps = CAPS[detail]
    commits, changed = _committed(sight, since)
    counts = Counter(path for one in commits for path, _ in one.changed)
    dirty = sight.uncommitted
    kinds: dict[str, Kind] = {**changed, **{path: dirty[path] for path in dirty}}
    order = sorted(dirty, key=lambda path: path)
    order += [path for path in _newest_first(commits) if path not in dirty]
    order += sorted(path for path in changed if path not in counts and path not in dirty)
    files = [Changed(path, kinds[path], counts[path], path in dirty) for path in order
             if path in kinds]  # fmt: skip
    shown = tuple(
        Commit(one.id[:10], day_of(one.time, sight.now), one.subject, len(one.changed))
        for one in commits
        if one.changed
    )
    return ChangesView(
        since.words or _lately(min(USUAL, len(sight.past.commits))),
        "git",
        tuple(files[: caps.files]),
        shown[: caps.lists],
        len(files[caps.files :]),
        f"only the last {LAST} commits are looked at" if len(commits) >= LAST else "",
        asked=bool(since.words),
    )


def change_files(sight: Sight) -> list[str]:
    """Return the files that changed last: those not committed yet, then by the last commits."""
    if sight.past is None:
        return list(sight.recent)
    dirty = sorted(path for path, kind in sight.uncommitted.items() if kind != "removed")
    found = (*dirty, *_newest_first(sight.past.commits))
    return [path for path in dict.fromkeys(found) if path in sight.records]


def _committed(sight: Sight, since: Since) -> tuple[tuple[LoggedCommit, ...], dict[str, Kind]]:
    """Return the commits that count, newest first, and the files that differ since."""
    past, history = sight.past, sight.structure.history
    if past is None:
        return (), {}
    if since.commit:
        return history.commits_since(since.commit), dict(history.changed_since(since.commit))
    commits = past.commits[:USUAL]
    if since.at:
        commits = tuple(one for one in past.commits if one.time >= since.at)
    changed: dict[str, Kind] = {}
    for one in reversed(commits):
        for path, kind in one.changed:
            was_added = changed.get(path) == "added"
            changed[path] = "added" if was_added and kind == "modified" else kind
    return commits, changed


def _by_time(sight: Sight, detail: Detail, since: Since) -> ChangesView:
    caps, structure = CAPS[detail], sight.structure
    if since.at:
        timed = []
        for path in sight.records:
            kept = structure.kept(path)
            at = max(kept.stat.mtime_ns / 1e9, kept.seen_at) if kept else 0.0
            if at >= since.at:
                timed.append((-at, path))
        days = [(path, day_of(-at, sight.now)) for at, path in sorted(timed)]
    else:
        days = list(sight.recent.items())[: caps.files]
    days.sort(key=lambda one: one[0])  # within a day by name: the next edit leaves it as it is
    days.sort(key=lambda one: one[1], reverse=True)
    files = [Changed(path, "modified", day=day) for path, day in days]
    return ChangesView(
        since.words or "lately, by the files' times", "time", tuple(files[: caps.files]),
        omitted=len(files[caps.files :]), note=structure.history.fault, asked=bool(since.words),
    )  # fmt: skip


def _lately(commits: int) -> str:
    """Return in words what is shown where nobody said since when."""
    if not commits:
        return "not committed yet"
    return "in the last commit" if commits == 1 else f"in the last {commits} commits"


def _newest_first(commits: Iterable[LoggedCommit]) -> list[str]:
    return list(dict.fromkeys(path for one in commits for path, _ in one.changed))


def _moment(text: str, now: datetime) -> float | None:
    """Return the time that an ISO date or time names; None for anything else."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    if found.tzinfo is None:
        found = found.replace(tzinfo=now.tzinfo)
    return found.timestamp()
