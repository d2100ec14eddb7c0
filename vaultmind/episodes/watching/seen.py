"""What a hook saw, a commit, a difference: as an episode's events. Pure but for the paths."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from vaultmind.episodes.types import Change, Episode, Event
from vaultmind.episodes.watching.commits import Commit
from vaultmind.redact import blank_passages, mask
from vaultmind.vault.oneline import one_line

CHARS_PER_TOKEN = 4
MOST_PATHS = 50
"""Files of one commit that are named; one of more is named alone."""
_OUTCOMES = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class Use:
    """A tool's use, as the hook tells of it. Paths are absolute, and not looked at yet."""

    time: str
    cwd: str = ""
    reads: tuple[str, ...] = ()
    edits: tuple[str, ...] = ()
    made: bool = False
    """Whether what was edited is new."""
    found: tuple[str, ...] = ()
    query: str = ""
    runs: tuple[str, ...] = ()
    """An outcome and a program: `yes pytest`, ` npm test`."""
    commits: bool = False
    """Whether it may have committed something."""
    chars: int = 0
    """Of what was read."""
    took: float = 0.0
    """Seconds; 0 where nobody knows."""
    id: str = ""


class Place(Protocol):
    """A source."""

    @property
    def name(self) -> str:
        """Return its name."""
        ...

    def relative(self, path: Path) -> str:
        """Return a file's path in the source; empty for one that is not of it or not shown."""
        ...


PlaceT = TypeVar("PlaceT", bound=Place)


def events_of(
    use: Use, holding: Callable[[Path], PlaceT | None]
) -> Iterator[tuple[PlaceT, list[Event]]]:
    """Yield the sources that a use was on, each with its events: none for what is not shown."""
    places: dict[str, tuple[PlaceT, list[Event]]] = {}

    def at(path: str) -> tuple[PlaceT, list[Event]] | None:
        place = holding(Path(path)) if path else None
        return None if place is None else places.setdefault(place.name, (place, []))

    tokens = use.chars // CHARS_PER_TOKEN // max(1, len(use.reads))
    words = _kept(use.query)
    about: list[tuple[Literal["read", "edit", "hit"], tuple[str, ...]]] = [
        ("read", use.reads), ("edit", use.edits), ("hit", use.found),
    ]  # fmt: skip
    for kind, paths in about:
        for path in paths:
            if (found := at(path)) and (inside := found[0].relative(Path(path))):
                found[1].append(_event(use, kind, inside, tokens, words))
    if (here := at(use.cwd)) is not None:
        if words and not any(one.kind == "hit" for one in here[1]):
            here[1].append(Event("hit", use.time, text=words, how="hook"))
        here[1].extend(_runs(use))
    yield from places.values()


def commit_events(commits: Iterable[Commit], now: datetime) -> list[Event]:
    """Return the events of commits, one for each file that is named."""
    found: list[Event] = []
    for one in commits:
        time = datetime.fromtimestamp(one.time, now.tzinfo).isoformat(timespec="seconds")
        text = _kept(one.subject)
        few: Sequence[tuple[str, Change]] = one.changed if len(one.changed) <= MOST_PATHS else ()
        if not few and one.changed:
            found.append(Event("commit", time, text=text, commit=one.id, how="git"))
        for path, change in few:
            found.append(
                Event("commit", time, path, text=text, change=change, commit=one.id, how="git")
            )
    return found


def delta_events(differ: Mapping[str, tuple[int, int] | None], now: datetime) -> list[Event]:
    """Return the events of files that differ: None is gone, (time, was there before)."""
    time = now.isoformat(timespec="seconds")
    found = []
    for path, stamp in sorted(differ.items()):
        change: Change = "removed" if stamp is None else "modified" if stamp[1] else "added"
        found.append(Event("delta", time, path, change=change, how="files"))
    return found


def shares(commit: Commit, paths: Collection[str]) -> bool:
    """Tell whether a commit changes one of some files."""
    return any(path in paths for path, _ in commit.changed)


def changed_in(episode: Episode | None) -> set[str]:
    """Return the files that an episode changed, as far as that was seen."""
    events = episode.events if episode else ()
    return {one.path for one in events if one.kind in ("edit", "delta", "commit") and one.path}


def _event(
    use: Use, kind: Literal["read", "edit", "hit"], path: str, tokens: int, words: str
) -> Event:
    if kind == "read":
        return Event("read", use.time, path, tokens=tokens, how="hook")
    if kind == "hit":
        return Event("hit", use.time, path, text=words, how="hook")
    return Event("edit", use.time, path, change="added" if use.made else "modified", how="hook")


def _runs(use: Use) -> Iterator[Event]:
    for run in use.runs:
        went, _, program = run.partition(" ")
        if program:
            yield Event("run", use.time, text=_kept(program), ok=_OUTCOMES.get(went), how="hook")


def _kept(text: str) -> str:
    """Return a text as it may be stored: masked, on one line."""
    return one_line(mask(blank_passages(text)).text).strip()
