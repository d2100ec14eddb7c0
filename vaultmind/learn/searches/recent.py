"""The last searches of each caller, in memory alone: to what question a hit was fetched or cited.

A search of which nothing more is heard leaves no trace, and after half an hour it is over.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from vaultmind.types import Caller, Hit

WITHIN = timedelta(minutes=30)
"""What is fetched or cited later was found otherwise."""
MOST_SEARCHES, MOST_HITS, MOST_CALLERS = 20, 30, 100
MOST_READ = 20_000
"""Characters of a message that are looked at for what it names."""
LEAST_WORDS = 2
"""Of a title: one word of it alone names no note for certain."""
_LINKS = re.compile(r"\[\[([^\[\]|#^\n]{1,300})")
_TITLE_END = " › "


@dataclass(frozen=True, slots=True)
class Shown:
    """A hit as it was shown."""

    id: str
    path: str
    anchor: str
    title: str = ""
    """The note's own, folded; empty where it names nothing for certain."""


@dataclass(slots=True, eq=False)
class Asked:
    """One search."""

    query: str
    """Without secrets, on one line."""
    time: datetime
    hits: tuple[Shown, ...]
    told: set[tuple[str, str, str]] = field(default_factory=set)
    """(path, anchor, signal) of what was told of it: each once."""


class Recent:
    """Keeps the last searches of each caller. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callers: OrderedDict[str, deque[Asked]] = OrderedDict()

    def put(self, caller: Caller, query: str, hits: Sequence[Hit], now: datetime) -> None:
        """Keep a search; the same asked again takes the place of the one before, or adds a page."""
        shown = tuple(_shown(hit, query) for hit in hits[:MOST_HITS])
        with self._lock:
            own = self._callers.setdefault(caller.name, deque(maxlen=MOST_SEARCHES))
            self._callers.move_to_end(caller.name)
            while len(self._callers) > MOST_CALLERS:
                self._callers.popitem(last=False)
            before = next((one for one in own if one.query == query), None)
            if before is None:
                own.append(Asked(query, now, shown))
                return
            own.remove(before)
            known = {one.id for one in shown}
            rest = tuple(one for one in before.hits if one.id not in known)
            own.append(Asked(query, now, (*shown, *rest)[:MOST_HITS], before.told))

    def holding(
        self, caller: Caller, now: datetime, *names: str, query: str = ""
    ) -> tuple[Asked, Shown] | None:
        """Return the last search that showed a hit by one of some names, an id, a path or a place.

        `query`: only where that was asked.
        """
        for asked in self._of(caller, now):
            if query and asked.query != query:
                continue
            for name in filter(None, names):
                for hit in asked.hits:
                    if name in (hit.id, f"{hit.path}{hit.anchor}"):
                        return asked, hit
            for name in filter(None, names):
                for hit in asked.hits:
                    if name == hit.path:
                        return asked, hit
        return None

    def named_in(self, caller: Caller, text: str, now: datetime) -> list[tuple[Asked, Shown]]:
        """Return the hits that a text links to or names, the best of each note to each search."""
        text = text[:MOST_READ]
        links = {_bare(link) for link in _LINKS.findall(text)}
        folded = f" {' '.join(text.casefold().split())} "
        found: list[tuple[Asked, Shown]] = []
        for asked in self._of(caller, now):
            seen: set[str] = set()
            for hit in asked.hits:
                if hit.path not in seen and _is_named(hit, links, folded):
                    seen.add(hit.path)
                    found.append((asked, hit))
        return found

    def first_time(self, asked: Asked, hit: Shown, signal: str) -> bool:
        """Tell whether this is heard of a hit for the first time, and remember it."""
        key = (hit.path, hit.anchor, signal)
        with self._lock:
            new = key not in asked.told
            asked.told.add(key)
        return new

    def drop(self, says: Callable[[str], bool]) -> None:
        """Forget the searches of which a query says so."""
        with self._lock:
            for name, own in self._callers.items():
                kept = (one for one in own if not says(one.query))
                self._callers[name] = deque(kept, maxlen=MOST_SEARCHES)

    def clear(self) -> None:
        """Forget all: something was erased."""
        with self._lock:
            self._callers.clear()

    def _of(self, caller: Caller, now: datetime) -> Iterator[Asked]:
        """Yield the searches of a caller that are not over, the last first."""
        with self._lock:
            own: Iterable[Asked] = tuple(self._callers.get(caller.name, ()))
        for asked in reversed(tuple(own)):
            if timedelta(0) <= now - asked.time <= WITHIN:
                yield asked


def _shown(hit: Hit, query: str) -> Shown:
    title = " ".join(hit.title.partition(_TITLE_END)[0].casefold().split())
    telling = hit.kind == "note" and len(title.split()) >= LEAST_WORDS
    asked_with = title in " ".join(query.casefold().split())
    return Shown(hit.id, hit.path, hit.anchor, title if telling and not asked_with else "")


def _is_named(hit: Shown, links: set[str], folded: str) -> bool:
    path = _bare(hit.path)
    if path in links or path.rpartition("/")[2] in links or hit.path.casefold() in folded:
        return True
    return bool(hit.title) and re.search(rf"\b{re.escape(hit.title)}\b", folded) is not None


def _bare(path: str) -> str:
    """Return what a path is compared by: without its ending, in any case."""
    return path.strip().casefold().removesuffix(".md")
