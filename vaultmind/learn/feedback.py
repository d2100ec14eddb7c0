"""What becomes of a search's hits: one log, and one fold over it, for the ranker to learn from.

A hit that is fetched, or called useful or wrong, says something of the
question that it was found by. That goes as a line to `feedback-<device>.jsonl` of whoever asked:
the words that were asked with and where the hit stands, and nothing of what the hit says. What is
asked with a secret in it, or at length, is not taken down at all. The last searches are held in
memory, since a search of which nothing more is heard leaves no trace.
"""

from __future__ import annotations

import logging
import math
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from vaultmind import redact
from vaultmind.episodes.note import may_name
from vaultmind.errors import NotAllowed, VaultMindError
from vaultmind.memory.forget.erasing import Erasable
from vaultmind.memory.forget.hiding import Edit, Ref
from vaultmind.memory.match import Wanted, says
from vaultmind.ports import Clock
from vaultmind.tables import adapter
from vaultmind.times import seconds_of, time_of
from vaultmind.types import PERSON, Caller, Fact, Hit
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import VaultPaths

if TYPE_CHECKING:
    from vaultmind.memory.gate import Gate

Signal = Literal["fetch", "useful", "wrong"]
Verdict = Literal["useful", "wrong"]
By = Literal["person", "agent"]
STRENGTH: dict[Signal, float] = {"fetch": 0.3, "useful": 1.0, "wrong": -1.0}
"""How much each signal says. Who reads a hit may find it useless; who says so does not guess."""
HALF_LIFE_DAYS, KEEP_DAYS = 60.0, 90.0
"""After so long a verdict counts half: what somebody looks for changes; and it goes."""
LONGEST_QUERY = 400
"""Maximum number of characters of a query: what is longer was pasted, and nobody asks it again."""
MOST_LINES = 4_000
"""Lines of a file after it is cut; it is once it has twice as many."""
WITHIN_SECONDS = 1800.0
"""What is fetched later was found otherwise."""
MOST_SHOWN, MOST_HITS, MOST_HEARD = 20_000, 30, 500
"""Hits that are held in memory, of all callers; of one search; and signals, to hear each once."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Line:
    """One signal."""

    time: str
    """ISO 8601 with its zone."""
    query: str
    """Without secrets, on one line."""
    path: str
    signal: Signal
    anchor: str = ""
    hit: str = ""
    """The id that the chunk had; it changes with the text."""
    by: By = "agent"

    @property
    def is_explicit(self) -> bool:
        """Tell whether somebody said so, and it is not merely told by what they did."""
        return self.signal in ("useful", "wrong")

    @property
    def about(self) -> tuple[str, str, str, By]:
        """Return what it is a signal of, as that is the same whoever asked; and whose it is."""
        return folded(self.query), self.path, self.anchor, self.by

    @property
    def moment(self) -> float:
        """Return when, in seconds since 1970."""
        return seconds_of(self.time)


@dataclass(frozen=True, slots=True)
class Judged:
    """A query with what all that was ever said of its hits comes to."""

    agent: str
    by: By
    """Who asked: what a search finds depends on that."""
    query: str
    time: str
    """Of the last signal."""
    places: tuple[tuple[Line, float], ...]
    """The line that counts of each hit, and how right (above 0) or wrong (below) it makes it."""


# --- the log, and what it comes to: pure ----------------------------------------------------


def written(line: Line) -> str:
    """Return a line as it stands in its file."""
    raw: bytes = adapter(Line).dump_json(line, exclude_defaults=True)
    return f"{raw.decode()}\n"


def read_line(raw: str) -> Line | None:
    """Return what a line says; None for one that is torn, or none of ours."""
    try:
        line: Line = adapter(Line).validate_json(raw)
    except ValueError:
        return None
    return line if line.query and line.path and time_of(line.time) else None


def read_lines(text: str) -> list[Line]:
    """Return the lines of a file that can be read."""
    return [line for raw in text.split("\n") if (line := read_line(raw)) is not None]


def fold(lines: Mapping[str, Iterable[Line]], now: datetime) -> tuple[Judged, ...]:
    """Return the queries of the lines of agents with what they come to, oldest first.

    A query and a hit have one verdict: the last that somebody stated, else the strongest sign;
    repeating it adds nothing. The person's stated word on a hit stands over all that anybody says
    of it, in whosever memory it is.
    """
    every = [(one, agent) for agent, each in lines.items() for one in each]
    every.sort(key=lambda it: (it[0].moment, it[0].query))
    word = {one.about[:3]: one for one, _ in every if one.by == "person" and one.is_explicit}
    asked: dict[tuple[str, By, str], dict[tuple[str, str], Line]] = {}
    for one, agent in every:
        if word.get(one.about[:3], one) is not one:
            continue
        key, place = (agent, one.by, folded(one.query)), (one.path, one.anchor)
        asked[key] = held = asked.pop(key, {})  # what was heard of last stands last
        old = held.get(place, one)
        weighs = (one.is_explicit, STRENGTH[one.signal])
        if one.is_explicit or weighs >= (old.is_explicit, STRENGTH[old.signal]):
            held[place] = one

    def strength(one: Line) -> float:
        days = max(0.0, now.timestamp() - one.moment) / 86_400
        return STRENGTH[one.signal] * math.exp2(-days / HALF_LIFE_DAYS)

    found = []
    for (agent, by, _), held in asked.items():
        last = max(held.values(), key=lambda one: one.moment)
        places = tuple((one, strength(one)) for one in held.values())
        found.append(Judged(agent, by, last.query, last.time, places))
    return tuple(found)


def folded(query: str) -> str:
    """Return what is the same of queries that are the same."""
    return " ".join(query.casefold().split())


def kept_query(query: str) -> str:
    """Return a query as it is kept, on one line; empty for one that is not to be."""
    line = one_line(query) if len(query) <= LONGEST_QUERY else ""
    return line if redact.mask(redact.blank_private(line)).text == line else ""


def feedback_files(paths: VaultPaths, agent: str) -> Iterator[str]:
    """Yield the vault-relative files of an agent's feedback, of every device."""
    found = (paths.root / paths.memory(agent)).glob("feedback-*.jsonl") if agent else ()
    yield from (paths.relative(one) for one in sorted(found) if one.is_file())


def without_said(text: str, path: str, wanted: Wanted) -> str:
    """Return a file without each line that says it, or whose hit is a message that is meant."""

    def is_kept(raw: str) -> bool:
        if (line := read_line(raw)) is None:
            return not wanted.says(raw)
        place = line.anchor.lstrip("#^")
        is_said = any(map(wanted.says, (line.query, line.path, place)))
        return not is_said and not wanted.means(line.path, place)

    return "\n".join(filter(is_kept, text.split("\n")))


FEEDBACK = Erasable("search feedback", r"agents/[^/]+/memory/feedback-[^/]*\.jsonl", without_said)
"""What an erasure takes out of feedback; the gate is made with it."""


# --- hearing --------------------------------------------------------------------------------


class SearchFeedback:
    """Hears of searches and what became of them. Any thread; never a reason for one to fail.

    The queries that say a forgotten fact are dropped and not
    hidden, since nobody reads them, and nothing is to be learnt from them.
    """

    gate: Gate
    """By which it writes: it is one of the kinds of record that the gate is made with."""

    def __init__(
        self, reader: VaultReader, device: str, agent_of: Callable[[Caller], str], clock: Clock,
        days: float = KEEP_DAYS,
    ) -> None:  # fmt: skip
        """`agent_of` names the agent in whose memory a caller's feedback is kept, for `days`."""
        self._reader, self._device, self._clock, self._days = reader, device, clock, days
        self._agent_of, self._paths = agent_of, reader.paths
        self._lock = threading.RLock()
        self._shown: deque[tuple[str, Line]] = deque(maxlen=MOST_SHOWN)
        """Who asked, and what a fetch of the hit would say; the newest search first."""
        self._heard: deque[Line] = deque(maxlen=MOST_HEARD)
        """What was heard of these, with the time of the search."""

    # --- forgetting ------------------------------------------------------------------------

    def said(self, agent: str, fact: Fact, edit: Edit) -> Iterable[Ref]:
        """Drop what says the fact, or has no words but the fact's; nothing is left to hide."""

        def repeats(query: str) -> bool:
            return says(query, fact.text) or says(fact.text, query)

        def change(file: FileText | None) -> str | None:
            lines = read_lines(file.text) if file else []
            kept = [line for line in lines if not repeats(line.query)]
            return "".join(map(written, kept)) if len(kept) < len(lines) else None

        self.clear()
        for path in feedback_files(self._paths, agent):
            edit(path, change)
        return ()

    def clear(self) -> None:
        """Forget the searches in memory: something was forgotten or erased."""
        with self._lock:
            self._shown.clear()
            self._heard.clear()

    # --- what is heard ---------------------------------------------------------------------

    def asked(self, caller: Caller, query: str, hits: Sequence[Hit]) -> None:
        """Keep in mind what a caller asked and was shown; nothing is written."""
        words = kept_query(query)
        if words and self._keeps(self._agent_of(caller)):
            now = self._now()
            with self._lock:
                for hit in reversed(hits[:MOST_HITS]):
                    line = Line(now, words, hit.path, "fetch", hit.anchor, hit.id, caller.kind)
                    self._shown.appendleft((caller.name, line))

    def fetched(self, caller: Caller, name: str, path: str = "", anchor: str = "") -> None:
        """Hear that a hit was fetched, by its id or path; `path` and `anchor`: where it stands."""
        agent, line = self._found(caller, {name.strip(), f"{path}{anchor}", path})
        with self._lock:
            if line is None or not agent or line in self._heard:
                return
            self._heard.append(line)
            try:
                self._write(agent, replace(line, time=self._now()))
            except (VaultMindError, OSError) as error:
                log.warning("feedback on a search was not kept: %s", error)

    def judge(self, caller: Caller, name: str, verdict: Verdict) -> Line | None:
        """Take a verdict down on the hit that a caller means by an id or a path; the last counts.

        It is said of the last search that showed it; None where no search lately showed such a hit.
        Raises NotAllowed, what the gate raises.
        """
        agent, found = self._found(caller, {name.strip()})
        if not agent:
            why = "is at autonomy 0, is not there, or may not name such a file"
            raise NotAllowed(f"Nothing was kept: {self._agent_of(caller)} {why}.")
        if found is None:
            return None
        line = replace(found, time=self._now(), signal=verdict, by=caller.kind)
        self._write(agent, line)
        return line

    def judged(self, agents: Sequence[str]) -> tuple[Judged, ...]:
        """Return all that can be learnt from, of some agents and every device, oldest first."""
        lines = {one: self.lines(one) for one in agents if self.gate.keeps_records(one)}
        return fold(lines, self._clock())

    def lines(self, agent: str) -> list[Line]:
        """Return an agent's lines, of every device."""
        found: list[Line] = []
        for path in feedback_files(self._paths, agent):
            try:
                found += read_lines(self._reader.read(path).text)
            except VaultMindError as error:
                log.warning("%s is not learnt from: %s", path, error)
        return found

    def _found(self, caller: Caller, names: set[str]) -> tuple[str, Line | None]:
        """Return whose feedback it is, and the hit that the caller was shown last by one of some
        names: an id, a place, else a path.

        Nobody's where nothing may be kept of it.
        """
        agent, now = self._agent_of(caller), self._clock().timestamp()
        with self._lock:
            own = [line for who, line in self._shown if who == caller.name]
        recent = [one for one in own if -1 < now - one.moment <= WITHIN_SECONDS]
        exact = (it for it in recent if names & {it.hit, f"{it.path}{it.anchor}"})
        found = next(exact, None) or next((it for it in recent if it.path in names), None)
        named = (found.path, found.anchor, found.hit) if found else ()
        is_kept = self._keeps(agent) and all(map(may_name(self._paths, agent), named))
        return agent if is_kept else "", found

    def _keeps(self, agent: str) -> bool:
        return agent in self._paths.agent_names() and self.gate.keeps_records(agent)

    def _now(self) -> str:
        return self._clock().isoformat(timespec="seconds")

    def _write(self, agent: str, line: Line) -> None:
        """Append a line; a file that begins with one past its retention loses all such."""
        path = f"{self._paths.memory(agent)}/feedback-{self._device}.jsonl"
        first = self._clock().timestamp() - self._days * 86_400

        def change(file: FileText | None) -> str | None:
            lines = read_lines(file.text) if file else []
            if len(lines) <= 2 * MOST_LINES and lines[:1] and lines[0].moment >= first:
                return None
            return "".join(map(written, [it for it in lines if it.moment >= first][-MOST_LINES:]))

        with self._lock:
            self.gate.append(path, written(line))
            self.gate.save(path, change, PERSON, "old feedback on searches is dropped")
