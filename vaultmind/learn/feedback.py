"""What becomes of a search's hits: one log, and one fold over it, for the ranker to learn from.

A hit that is fetched, then cited in an answer, or called useful or wrong, says something of the
question that it was found by. That goes as a line to `feedback-<device>.jsonl` of whoever asked:
the words that were asked with and where the hit stands, and nothing of what the hit says. What is
asked with a secret in it, or at length, is not taken down at all. The last searches are held in
memory, since a search of which nothing more is heard leaves no trace.
"""

from __future__ import annotations

import logging
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Literal

from vaultmind import redact
from vaultmind.episodes.keep import may_name
from vaultmind.episodes.note import adapter
from vaultmind.episodes.types import time_of
from vaultmind.errors import BadArgument, NotAllowed, VaultMindError
from vaultmind.memory.forget.kinds import Edit, Ref
from vaultmind.memory.forget.taking import Erasable, Taken, Target, Without
from vaultmind.memory.forget.wanted import Wanted
from vaultmind.memory.match import says
from vaultmind.ports import Clock
from vaultmind.types import PERSON, Caller, Fact, Hit, Message
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import VaultPaths

if TYPE_CHECKING:
    from vaultmind.memory.gate import Gate

Signal = Literal["fetch", "cite", "useful", "wrong"]
Verdict = Literal["useful", "wrong"]
By = Literal["person", "agent"]
STRENGTH: dict[Signal, float] = {"fetch": 0.3, "cite": 0.6, "useful": 1.0, "wrong": -1.0}
"""How much each signal says. Who reads a hit may find it useless; who says so does not guess."""
HALF_LIFE_DAYS, KEEP_DAYS = 60.0, 90.0
"""After so long a verdict counts half: what somebody looks for changes; and it goes."""
LONGEST_QUERY, MOST_READ = 400, 20_000
"""Maximum numbers of characters: of a query (what is longer was pasted, and nobody asks it again),
of a message that is looked at for what it names."""
MOST_LINES = 4_000
"""Lines of a file after it is compacted, once a day."""
WITHIN = timedelta(minutes=30)
"""What is fetched or cited later was found otherwise."""
MOST_SEARCHES, MOST_HITS = 2_000, 30
"""Searches that are held in memory, of all callers; and hits of each."""

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
    def said_of(self) -> tuple[str, str, str]:
        """Return the query and the place, as they are the same whoever asked."""
        return folded(self.query), self.path, self.anchor

    @property
    def moment(self) -> float:
        """Return when, in seconds since 1970."""
        time = time_of(self.time)
        return time.timestamp() if time else 0.0


@dataclass(frozen=True, slots=True)
class Place:
    """A judged hit, and by how much it is right (above 0) or wrong (below)."""

    path: str
    anchor: str
    hit: str
    strength: float


@dataclass(frozen=True, slots=True)
class Judged:
    """A query with what all that was ever said of its hits comes to."""

    agent: str
    by: By
    """Who asked: what a search finds depends on that."""
    query: str
    time: str
    """Of the last signal."""
    places: tuple[Place, ...]
    """None of strength 0."""


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

    who: str
    query: str
    time: datetime
    hits: tuple[Shown, ...] = ()
    told: set[tuple[str, str, str]] = field(default_factory=set)
    """(path, anchor, signal) of what was told of it: each once."""


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
    every = sorted(
        ((one, agent) for agent, each in lines.items() for one in each),
        key=lambda it: (it[0].moment, it[0].query),
    )
    word = {one.said_of: one for one, _ in every if one.by == "person" and one.is_explicit}
    asked: dict[tuple[str, By, str], tuple[Line, dict[tuple[str, str], Line]]] = {}
    for one, agent in every:
        if word.get(one.said_of, one) is not one:
            continue
        key = (agent, one.by, folded(one.query))
        _, held = asked.pop(key, (one, {}))
        asked[key] = one, held  # what was heard of last stands last
        old = held.get((one.path, one.anchor))
        weaker = old is not None and STRENGTH[old.signal] > STRENGTH[one.signal]
        if old is None or one.is_explicit or not (old.is_explicit or weaker):
            held[one.path, one.anchor] = one
    found = []
    for (agent, by, _), (last, held) in asked.items():
        told = []
        for one in held.values():
            days = max(0.0, now.timestamp() - one.moment) / 86_400
            strength = STRENGTH[one.signal] * 0.5 ** (days / HALF_LIFE_DAYS)
            told += [Place(one.path, one.anchor, one.hit, strength)] if strength else []
        if told:
            found.append(Judged(agent, by, last.query, last.time, tuple(told)))
    return tuple(found)


def compacted(text: str, now: datetime, days: float, most_lines: int) -> str:
    """Return a file without what is too old, torn or said again later, the newest lines at most."""
    first = (now - timedelta(days=days)).timestamp()
    lines = [line for line in read_lines(text) if line.moment >= first]
    last = {(it.by, it.query, it.path, it.anchor, it.signal): it for it in lines}
    kept = sorted(last.values(), key=lambda one: (one.moment, one.query))[-most_lines:]
    return "".join(map(written, kept))


def folded(query: str) -> str:
    """Return what is the same of queries that are the same."""
    return " ".join(query.casefold().split())


def kept_query(query: str) -> str:
    """Return a query as it is kept, on one line; empty for one that is not to be."""
    line = one_line(query) if len(query) <= LONGEST_QUERY else ""
    return line if redact.mask(redact.blank_private(line)).text == line else ""


def feedback_files(paths: VaultPaths, agent: str) -> Iterator[str]:
    """Yield the vault-relative files of an agent's feedback, of every device."""
    folder = paths.root / paths.memory(agent)
    if agent and folder.is_dir() and not folder.is_symlink():
        for path in sorted(folder.glob("feedback-*.jsonl")):
            if path.is_file() and not path.is_symlink():
                yield paths.relative(path)


def without_said(target: Target, wanted: Wanted) -> Without:
    """Return a file without each line that says it, or whose hit is a message that is meant."""
    kept, taken = [], []
    for number, raw in enumerate(target.text.split("\n"), 1):
        line = read_line(raw)
        texts, gone = [raw], False
        if line is not None:
            place = line.anchor.lstrip("#^")
            texts = [line.query, line.path, place]
            found = re.search(r"/([^/]+)/memory/sessions/([^/]+)\.md$", line.path)
            gone = bool(found and wanted.means(found[1], found[2], place))
        if gone or any(map(wanted.says, texts)):
            taken.append(Taken(f"line {number}", line.query if line else raw))
        else:
            kept.append(raw)
    return Without("\n".join(kept), tuple(taken))


FEEDBACK = Erasable("search feedback", feedback_files, without_said)
"""What an erasure takes out of feedback; the gate is made with it."""


# --- hearing --------------------------------------------------------------------------------


class SearchFeedback:
    """Hears of searches and what became of them. Any thread; never a reason for one to fail.

    Implements the gate's `RecordKind`: the queries that say a forgotten fact are dropped and not
    hidden, since nobody reads them, and nothing is to be learnt from them.
    """

    name = "search feedback"
    gate: Gate
    """By which it writes: it is one of the kinds of record that the gate is made with."""

    def __init__(
        self, reader: VaultReader, device: str, agent_of: Callable[[Caller], str], clock: Clock,
        days: float = KEEP_DAYS,
    ) -> None:  # fmt: skip
        """`agent_of` names the agent in whose memory a caller's feedback is kept, for `days`."""
        self._reader = reader
        self._device = device
        self._agent_of = agent_of
        self._clock = clock
        self._days = days
        self._paths = reader.paths
        self._lock = threading.RLock()
        self._asked: deque[Asked] = deque(maxlen=MOST_SEARCHES)
        self._compacted: dict[str, str] = {}
        """The day on which each agent's file was last compacted."""

    # --- forgetting ------------------------------------------------------------------------

    def said(self, agent: str, fact: Fact, edit: Edit) -> Iterable[Ref]:
        """Drop what says the fact, or has no words but the fact's; nothing is left to hide."""

        def repeats(query: str) -> bool:
            return says(query, fact.text) or says(fact.text, query)

        def change(file: FileText | None) -> str | None:
            lines = file.text.split("\n") if file else []
            kept = [raw for raw in lines if not ((line := read_line(raw)) and repeats(line.query))]
            return "\n".join(kept) if len(kept) < len(lines) else None

        self.clear(repeats)
        for path, lines in self._read(agent):
            if any(repeats(line.query) for line in lines):
                edit(path, change)
        return ()

    def near(self, agent: str, words: str) -> Iterable[tuple[Ref, str]]:
        """Return nothing: a query is no record of what was said."""
        return ()

    def clear(self, says: Callable[[str], bool] = lambda query: True) -> None:
        """Forget the searches in memory of which a query says so: something was erased."""
        with self._lock:
            kept = [one for one in self._asked if not says(one.query)]
            self._asked = deque(kept, maxlen=MOST_SEARCHES)

    # --- what is heard ---------------------------------------------------------------------

    def asked(self, caller: Caller, query: str, hits: Sequence[Hit]) -> None:
        """Keep in mind what a caller asked and was shown; nothing is written.

        The same asked again takes the place of the one before, or adds a page.
        """
        words = kept_query(query)
        if not (words and hits and self._keeps(self._agent_of(caller))):
            return
        asked = Asked(caller.name, words, self._clock())
        with self._lock:
            before = [one for one in self._asked if (one.who, one.query) == (asked.who, words)]
            for one in before:
                asked = replace(one, time=asked.time)
                self._asked.remove(one)
            shown = {hit.id: _shown(hit, words) for hit in hits}
            shown |= {one.id: one for one in asked.hits if one.id not in shown}
            asked.hits = tuple(islice(shown.values(), MOST_HITS))
            self._asked.append(asked)

    def fetched(self, caller: Caller, name: str, path: str = "", anchor: str = "") -> None:
        """Hear that a hit was fetched, by its id or path; `path` and `anchor`: where it stands."""
        found = self._holding(caller, name.strip(), f"{path}{anchor}", path)
        self._hear(caller, [found] if found else [], "fetch")

    def cited_in(self, agent: str, messages: Sequence[Message]) -> None:
        """Hear what the assistant said: hits that it links to or names were of use.

        Of each note the best hit of each search; what is older than the search says nothing of it.
        """
        caller = Caller("agent", agent)
        for message in messages:
            if message.role != "assistant" or not message.text:
                continue
            then, text = time_of(message.time), message.text[:MOST_READ]
            links = {_bare(link) for link in re.findall(r"\[\[([^\[\]|#^\n]{1,300})", text)}
            said, found = f" {folded(text)} ", list[tuple[Asked, Shown]]()
            for asked in self._recent(caller):
                if then is None or then >= asked.time.replace(microsecond=0):
                    named = [hit for hit in asked.hits if _is_named(hit, links, said)]
                    best = {one.path: one for one in reversed(named)}
                    found += [(asked, hit) for hit in best.values()]
            self._hear(caller, found, "cite")

    def judge(
        self, caller: Caller, query: str, hit: Shown, verdict: Verdict, agent: str = ""
    ) -> tuple[str, Line, bool]:
        """Take a stated verdict down, in an agent's memory or the caller's own.

        Returns whose memory, the line, and whether it was not known already.

        Raises NotAllowed, BadArgument, what the gate raises.
        """
        own, words = self._agent_of(caller), kept_query(query)
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
        line = self._line(caller, words, hit, verdict)
        about = (line.query, line.path, line.anchor, line.by)
        said = [
            one
            for one in self.lines(agent)
            if one.is_explicit and (one.query, one.path, one.anchor, one.by) == about
        ]
        new = not said or max(said, key=lambda one: one.moment).signal != verdict
        if new:
            self._write(agent, [line])
        return agent, line, new

    def shown(self, caller: Caller, query: str, name: str) -> tuple[str, Shown] | None:
        """Return the hit that a caller means by an id or a path, if it was shown lately.

        With what was asked, the last time; to the query first, where one is named.
        """
        found = self._holding(caller, name.strip(), query=kept_query(query))
        found = found or self._holding(caller, name.strip())
        return (found[0].query, found[1]) if found else None

    def judged(self, agents: Sequence[str]) -> tuple[Judged, ...]:
        """Return all that can be learnt from, of some agents and every device, oldest first."""
        lines = {one: self.lines(one) for one in agents if self.gate.keeps_records(one)}
        return fold(lines, self._clock())

    def lines(self, agent: str) -> list[Line]:
        """Return an agent's lines, of every device."""
        return [line for _, lines in self._read(agent) for line in lines]

    def _read(self, agent: str) -> Iterator[tuple[str, list[Line]]]:
        for path in feedback_files(self._paths, agent):
            try:
                yield path, read_lines(self._reader.read(path).text)
            except VaultMindError as error:
                log.warning("%s is not learnt from: %s", path, error)

    def _recent(self, caller: Caller) -> list[Asked]:
        """Return the searches of a caller that are not over, the last first."""
        now = self._clock()
        with self._lock:
            own = [one for one in self._asked if one.who == caller.name]
        return [one for one in reversed(own) if timedelta(0) <= now - one.time <= WITHIN]

    def _holding(self, caller: Caller, *names: str, query: str = "") -> tuple[Asked, Shown] | None:
        """Return the last search that showed a hit by one of some names, an id, a path or a place.

        `query`: only where that was asked.
        """
        wanted = {*names} - {""}
        for asked in self._recent(caller):
            if query in ("", asked.query):
                exact = [it for it in asked.hits if wanted & {it.id, f"{it.path}{it.anchor}"}]
                if found := exact or [it for it in asked.hits if it.path in wanted]:
                    return asked, found[0]
        return None

    def _hear(self, caller: Caller, found: Sequence[tuple[Asked, Shown]], signal: Signal) -> None:
        """Write down what is heard for the first time; a failure is only logged."""
        try:
            agent, lines = self._agent_of(caller), []
            for asked, hit in found:
                told = (hit.path, hit.anchor, signal)
                if told not in asked.told and self._may_name(agent, hit):
                    asked.told.add(told)
                    lines.append(self._line(caller, asked.query, hit, signal))
            if lines and self._keeps(agent):
                self._write(agent, lines)
        except (VaultMindError, OSError) as error:
            log.warning("feedback on a search was not kept: %s", error)

    def _keeps(self, agent: str) -> bool:
        return agent in self._paths.agent_names() and self.gate.keeps_records(agent)

    def _may_name(self, agent: str, hit: Shown) -> bool:
        """Tell whether a hit may stand in an agent's memory, by all that names it."""
        return all(map(may_name(self._paths, agent), (hit.path, hit.anchor, hit.id)))

    def _line(self, caller: Caller, query: str, hit: Shown, signal: Signal) -> Line:
        time = self._clock().isoformat(timespec="seconds")
        return Line(time, query, hit.path, signal, hit.anchor, hit.id, caller.kind)

    def _write(self, agent: str, lines: Sequence[Line]) -> None:
        now, path = self._clock(), f"{self._paths.memory(agent)}/feedback-{self._device}.jsonl"

        def change(file: FileText | None) -> str | None:
            text = file.text if file else ""
            kept = compacted(text, now, self._days, MOST_LINES)
            return kept if kept != text else None

        with self._lock:
            self.gate.append(path, "".join(map(written, lines)))
            if self._compacted.get(agent) != (today := f"{now:%Y-%m-%d}"):
                self._compacted[agent] = today
                self.gate.save(path, change, PERSON, "old feedback on searches is dropped")


def _shown(hit: Hit, query: str) -> Shown:
    title = folded(hit.title.partition(" › ")[0])
    telling = hit.kind == "note" and " " in title and title not in folded(query)
    return Shown(hit.id, hit.path, hit.anchor, title if telling else "")


def _is_named(hit: Shown, links: set[str], said: str) -> bool:
    path = _bare(hit.path)
    if path in links or path.rpartition("/")[2] in links or hit.path.casefold() in said:
        return True
    return bool(hit.title) and re.search(rf"\b{re.escape(hit.title)}\b", said) is not None


def _bare(path: str) -> str:
    """Return what a path is compared by: without its ending, in any case."""
    return path.strip().casefold().removesuffix(".md")
