"""What becomes of a search's hits, taken down for the ranker to learn from.

A hit that is fetched, then cited in an answer, or called useful or wrong, says something of the
question that it was found by. That goes as a line to `feedback-<device>.jsonl` of whoever asked,
without the hit's text; what is asked with a secret in it, or at length, is not taken down at all.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from vaultmind import redact
from vaultmind.episodes.keep import may_name
from vaultmind.errors import BadArgument, NotAllowed, VaultMindError
from vaultmind.learn.searches.recent import Asked, Recent, Shown
from vaultmind.learn.searches.verdicts import (
    Judged,
    Line,
    Signal,
    Verdict,
    compacted,
    feedback_files,
    feedback_path,
    judged,
    moment,
    read_lines,
    standing,
    written,
)
from vaultmind.ports import Clock
from vaultmind.types import PERSON, Caller, Hit
from vaultmind.vault.files import Change, FileText, VaultReader
from vaultmind.vault.oneline import one_line

LONGEST_QUERY = 400
"""Characters: what is longer was pasted, and nobody asks it again."""
MOST_LINES = 4_000
"""Of a file, after it is compacted."""
COMPACT_BYTES = 1_500_000
"""A file that is larger is compacted at once; else once a day."""
KEEP_DAYS = 90.0

log = logging.getLogger(__name__)


class Keeping(Protocol):
    """What feedback needs of the gate."""

    def keeps_records(self, agent: str) -> bool:
        """Tell whether an agent's records are written down: not at autonomy 0."""
        ...

    def append(self, relative: str, text: str) -> None:
        """Append to a record and flush it to disk."""
        ...

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> FileText | None:
        """Store a record by compare-and-swap."""
        ...


@dataclass(frozen=True, slots=True)
class Where:
    """Where feedback goes, and for how long it stays."""

    reader: VaultReader
    device: str
    agent_of: Callable[[Caller], str]
    """Names the agent in whose memory a caller's feedback is kept."""
    days: float = KEEP_DAYS


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a verdict that somebody stated came to."""

    agent: str
    query: str
    path: str
    anchor: str
    verdict: Verdict
    new: bool
    """Whether it was not known already."""


class SearchFeedback:
    """Hears of searches and what became of them. Any thread; never a reason for one to fail."""

    def __init__(self, gate: Keeping, where: Where, clock: Clock, recent: Recent) -> None:
        """Take as `recent` what keeps the last searches: forgetting reaches it, too."""
        self._gate = gate
        self._where = where
        self._clock = clock
        self._recent = recent
        self._lock = threading.Lock()
        self._compacted: dict[str, str] = {}
        """The day on which each agent's file was last compacted."""

    def asked(self, caller: Caller, query: str, hits: Sequence[Hit]) -> None:
        """Keep in mind what a caller asked and was shown; nothing is written."""
        words = kept_query(query)
        if words and hits and self._keeps(self._where.agent_of(caller)):
            self._recent.put(caller, words, hits, self._clock())

    def fetched(self, caller: Caller, name: str, path: str = "", anchor: str = "") -> None:
        """Hear that a hit was fetched, by its id or path; `path` and `anchor`: where it stands."""
        now = self._clock()
        found = self._recent.holding(caller, now, name.strip(), f"{path}{anchor}", path)
        if found is not None:
            self._tell(caller, [found], "fetch")

    def cited(self, caller: Caller, text: str, time: str = "") -> None:
        """Hear what an assistant said: hits that it links to or names were of use.

        `time`: when it was said; what is older than the search says nothing of it.
        """
        found = self._recent.named_in(caller, text, self._clock())
        then = moment(time)
        later = [one for one in found if then is None or then >= one[0].time.replace(microsecond=0)]
        if later:
            self._tell(caller, later, "cite")

    def judge(
        self, caller: Caller, query: str, hit: Shown, verdict: Verdict, agent: str = ""
    ) -> Judgement:
        """Take a stated verdict down, in an agent's memory or the caller's own.

        Raises NotAllowed, BadArgument, what the gate raises.
        """
        own, words = self._where.agent_of(caller), kept_query(query)
        agent = agent or own
        if caller.kind == "agent" and agent != own:
            raise NotAllowed(f"{own} may keep what searches were worth in its own memory only.")
        if not self._keeps(agent):
            raise NotAllowed(
                f"Nothing was kept: {agent} keeps no records: it is at autonomy 0, or not there."
            )
        if not words:
            allowed = f"words without a secret in them, {LONGEST_QUERY} characters at most"
            raise BadArgument("query", query[:80], allowed, missing=not query.strip())
        if not self._may_name(agent, hit):
            raise NotAllowed(
                f"Nothing was kept: {agent}'s memory names no file of another agent's, and none "
                "with a secret in its name."
            )
        same = [
            one
            for one in self._lines(agent)
            if one.is_explicit
            and (one.query, one.path, one.anchor) == (words, hit.path, hit.anchor)
            and one.by == caller.kind
        ]
        new = not same or same[-1].signal != verdict
        if new:
            line = self._line(caller, words, hit, verdict)
            self._write(agent, [line])
        return Judgement(agent, words, hit.path, hit.anchor, verdict, new)

    def shown(self, caller: Caller, query: str, name: str) -> tuple[str, Shown] | None:
        """Return the hit that a caller means by an id or a path, if it was shown lately.

        With what was asked, the last time; to the query first, where one is named.
        """
        words, now = kept_query(query), self._clock()
        found = self._recent.holding(caller, now, name.strip(), query=words)
        found = found or self._recent.holding(caller, now, name.strip())
        return (found[0].query, found[1]) if found else None

    def judged(self, agents: Sequence[str]) -> tuple[Judged, ...]:
        """Return all that can be learnt from, of some agents and every device, oldest first."""
        now = self._clock()
        lines = {one: self._lines(one) for one in agents if self._gate.keeps_records(one)}
        found = [one for agent, each in standing(lines).items() for one in judged(agent, each, now)]
        return tuple(sorted(found, key=lambda one: (moment(one.time) or now, one.query)))

    def compact(self, agent: str) -> int:
        """Drop what is too old of this device's file; return by how many bytes it shrank."""
        path = feedback_path(self._where.reader.paths, agent, self._where.device)
        before = self._where.reader.stat(path)
        if before is None:
            return 0
        now, days = self._clock(), self._where.days

        def change(file: FileText | None) -> str | None:
            text = file.text if file else ""
            kept = compacted(text, now, days, MOST_LINES)
            return kept if kept != text else None

        self._gate.save(path, change, PERSON, "old feedback on searches is dropped")
        after = self._where.reader.stat(path)
        return before.size - (after.size if after else 0)

    def clear(self) -> None:
        """Forget the searches in memory: something was erased."""
        self._recent.clear()

    def _keeps(self, agent: str) -> bool:
        known = agent in self._where.reader.paths.agent_names()
        return known and self._gate.keeps_records(agent)

    def _tell(self, caller: Caller, found: Sequence[tuple[Asked, Shown]], signal: Signal) -> None:
        """Write down what is heard for the first time; a failure is only logged."""
        try:
            agent = self._where.agent_of(caller)
            lines = [
                self._line(caller, asked.query, hit, signal)
                for asked, hit in found
                if self._may_name(agent, hit) and self._recent.first_time(asked, hit, signal)
            ]
            if lines and self._keeps(agent):
                self._write(agent, lines)
        except (VaultMindError, OSError) as error:
            log.warning("feedback on a search was not kept: %s", error)

    def _may_name(self, agent: str, hit: Shown) -> bool:
        """Tell whether a hit may stand in an agent's memory, by all that names it."""
        may = may_name(self._where.reader.paths, agent)
        return all(map(may, (hit.path, hit.anchor, hit.id)))

    def _line(self, caller: Caller, query: str, hit: Shown, signal: Signal) -> Line:
        time = self._clock().isoformat(timespec="seconds")
        return Line(time, query, hit.path, hit.anchor, signal, hit.id, caller.kind)

    def _write(self, agent: str, lines: Sequence[Line]) -> None:
        path = feedback_path(self._where.reader.paths, agent, self._where.device)
        with self._lock:
            self._gate.append(path, "".join(map(written, lines)))
            stat, today = self._where.reader.stat(path), f"{self._clock():%Y-%m-%d}"
            due = self._compacted.get(agent) != today
            if due or (stat is not None and stat.size > COMPACT_BYTES):
                self._compacted[agent] = today
                self.compact(agent)

    def _lines(self, agent: str) -> list[Line]:
        found: list[Line] = []
        for path in feedback_files(self._where.reader.paths, agent):
            try:
                found += read_lines(self._where.reader.read(path).text)
            except VaultMindError as error:
                log.warning("%s is not learnt from: %s", path, error)
        return sorted(found, key=_time)


def kept_query(query: str) -> str:
    """Return a query as it is kept, on one line; empty for one that is not to be."""
    if len(query) > LONGEST_QUERY:
        return ""
    line = one_line(query)
    safe = redact.mask(redact.blank_private(line)).text
    return line if safe == line else ""


def _time(line: Line) -> datetime:
    found = moment(line.time)
    assert found is not None, "a line without a time is not read"
    return found
