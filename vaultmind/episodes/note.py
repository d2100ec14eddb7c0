"""An episode as a Markdown note, and back; what of an event is kept. Pure; reading never raises.

    - 10:00:03 read `src/auth.py` › `refresh` %%{"kind":"read","time":"2026-11-22T…",…}%% ^e12

Front matter, the task as the title, and a line an event, appended as it happens. The comment is the
event; the words before it are for the person who reads the note. What came of the episode is told
by its events of feedback, the person's before an agent's, and by what a person wrote into the front
matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any

from vaultmind import redact
from vaultmind.episodes.types import (
    RESULTS,
    STATES,
    TASK,
    Episode,
    Event,
    EventKind,
    Result,
    TaskMark,
)
from vaultmind.errors import BadArgument
from vaultmind.memory.match import sentence_spans
from vaultmind.tables import adapter
from vaultmind.times import seconds_of, time_of
from vaultmind.vault.files import end_line, newline_of
from vaultmind.vault.oneline import escape, one_line, unescape
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.properties import (
    FrontMatter,
    PropertyValue,
    body_start,
    front_matter,
    set_property,
    words_of,
)
from vaultmind.vault.transcript import comment

VERBS: dict[EventKind, str] = {
    "read": "read", "hit": "found", "edit": "edited", "delta": "saw", "decision": "decided",
    "feedback": "came to", "plan": "planned", "commit": "committed", "run": "ran",
}  # fmt: skip
"""What a line calls each kind of event; the index reads what was decided, committed, came to."""
LONG_TASK, NO_TASK = "A long task", "A task"
"""Titles: a long task stands below, and not in part in the title."""
MAX_TITLE = 200
"""Maximum number of characters of a task that is its note's title."""
_FIELDS = [one.name for one in fields(Event) if one.name != "block"]
_TEXTS = ("source", "started", "session", "client", "device", "ended")
_UNLINKABLE = re.compile(r"[\[\]|#^\\%`]")
_BLOCK = re.compile(r"[ \t]+\^([A-Za-z0-9-]+)")
_TITLE = re.compile(r"(?m)^# +(.*?)[ \t]*\r?$")
_TASK = re.compile(rf"(?m)^(?P<said>\S.*?)(?<![ \t])[ \t]++\^{TASK}[ \t]*\r?$")
Hides = Callable[[str], bool]
"""Tells by its block id whether a part of a note is hidden."""
MAX_EVENTS, MAX_ROUTINE = 2_000, 1_800
"""Events that a note holds; the last are left for decisions, commits and what the person says."""
MAX_TEXT, MAX_TASK, MAX_PATH, MAX_WORD = 1_000, 4_000, 500, 200
"""Maximum numbers of characters."""
REPEAT_SECONDS = 300
"""What is read or found again within this time is no news."""
TOO_LONG = "(too long to be kept)"
_ELSEWHERE = re.compile(r"/|~|[A-Za-z]:|[A-Za-z][A-Za-z\d+.-]*:/{2}")
"""How a path begins that is none inside a source: at a root, a home, a drive, an address."""
MayName = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class PlacedEvent:
    """An event and where its line stands in the note: `start` to `end`, the newline included."""

    event: Event
    start: int
    end: int


# --- a line ---------------------------------------------------------------------------------


def line_of(event: Event, *, links: bool = False) -> str:
    """Return an event's bullet, on one line without its newline.

    With `links` its file is one that Obsidian can open.
    """
    values = {name: getattr(event, name) for name in _FIELDS}
    held = {name: it for name, it in values.items() if it or it is False}
    path, symbol = event.path, event.symbol
    shown = f"{event.time[11:19] or '00:00'} {VERBS[event.kind]}"
    if path and links and not _UNLINKABLE.search(path + symbol):
        shown += f" [[{path}#{symbol}]]" if symbol else f" [[{path}]]"
    else:
        shown += f" {_ticked(path)}" if path else ""
        shown += f" › {_ticked(symbol)}" if symbol else ""
    shown += f" ({event.change})" if event.change else ""
    shown += f" as {_ticked(event.commit)}" if event.commit else ""
    shown += f" {event.outcome}" if event.outcome else ""
    shown += f": {escape(event.text)}" if event.text else ""
    shown += "" if event.ok is None else " (well)" if event.ok else " (failed)"
    return f"- {shown} {comment(held)}" + (f" ^{event.block}" if event.block else "")


def event_of(line: str) -> Event | None:
    """Return what a line says was done; None for one that is no event. Never raises."""
    shown, _, rest = line.strip().partition(" %%{")
    meta, closed, tail = rest.rpartition("}%%")
    if not closed or shown[:2] not in ("- ", "* ", "+ "):
        return None
    try:
        event: Event = adapter(Event).validate_json(f"{{{meta}}}")
    except ValueError:
        return None
    block = _BLOCK.fullmatch(tail)
    return replace(event, block=block[1] if block else "")


def placed_events(text: str, begin: int = 0) -> list[PlacedEvent]:
    """Return the events of a note in the order of its lines."""
    found, at = [], begin
    for line in text[begin:].splitlines(keepends=True):
        if "}%%" in line and (event := event_of(line)) is not None:
            found.append(PlacedEvent(event, at, at + len(line)))
        at += len(line)
    return found


def numbered(events: Iterable[Event], text: str, hides: Hides) -> list[Event]:
    """Return events with ids that no line of a note has, nor had one that is hidden."""
    first = 1 + max(map(int, re.findall(r"\^e(\d+)\b", text)), default=0)
    while hides(f"e{first}"):
        first += 1
    return [replace(event, block=f"e{number}") for number, event in enumerate(events, first)]


def _ticked(text: str) -> str:
    """Return a text as code, in which nothing may end the code or begin a comment."""
    return f"`{text.replace('`', chr(39)).replace('%%', '% %')}`"


# --- a note ---------------------------------------------------------------------------------


def rendered(episode: Episode, *, links: bool = False) -> str:
    """Return an episode's note. With `links` its files are ones that Obsidian can open."""
    mark, text = episode.task, ""
    held: dict[str, PropertyValue] = {
        "episode": 1, "agent": episode.agent, "source": episode.source, "intent": mark.kind,
        "fingerprint": mark.fingerprint, "risk": mark.risk, "issues": mark.issues,
    }  # fmt: skip
    for name in ("outcome", "state", *_TEXTS[1:]):
        held[name] = getattr(episode, name)
    for key, value in held.items():
        text = set_property(text, key, value) if value else text
    task = one_line(mark.text)
    is_long = len(task) > MAX_TITLE
    text += f"\n# {LONG_TASK if is_long else escape(task) or NO_TASK}\n\n"
    kind = "Task" if mark.kind == "unknown" else mark.kind.capitalize()
    where = f" in {escape(episode.source)}" if episode.source else ""
    client = f" with {escape(episode.client)}" if episode.client else ""
    about = escape(task) if is_long else f"{kind}{where}, by {episode.agent}{client}."
    lines = (f"{line_of(event, links=links)}\n" for event in episode.events)
    return f"{text}{about} ^{TASK}\n\n## What was done\n\n{''.join(lines)}"


def parsed(text: str, agent: str, id: str) -> Episode:
    """Return the episode that a note tells of, whatever became of the note."""
    found = front_matter(text)
    held: dict[str, object] = dict(found.properties) if found else {}
    body = found.body_start if found else 0
    events = tuple(one.event for one in placed_events(text, body))
    state = next((one for one in STATES if one == held.get("state")), None)
    ended = _text(held.get("ended"))
    outcome = verdict_of(events)
    said = _text(held.get("outcome")).casefold()
    if not (state == "running" and said == "unknown"):  # as it began: nobody said so
        outcome = next((one for one in RESULTS if one == said), outcome)
    why = next((it for it in reversed(events) if it.text and it.outcome == outcome), None)
    title, below = _TITLE.search(text, body), _TASK.search(text, body)
    task = unescape(title[1]) if title else ""
    if task == LONG_TASK and below:
        task = unescape(below["said"])
    values: dict[str, Any] = {name: _text(held.get(name)) for name in _TEXTS}
    return Episode(
        id,
        agent,
        task=TaskMark(
            "" if task in (NO_TASK, LONG_TASK) else task,
            _text(held.get("intent")) or "unknown",
            _text(held.get("fingerprint")),
            _text(held.get("risk")) or "low",
            words_of(held.get("issues")) if held.get("issues") else (),
        ),
        state=state or "ended",
        outcome=outcome,
        rationale=why.text if why else "",
        why_block=why.block if why else "",
        events=events,
        flaw=_flaw(found, state, ended),
        **values,
    )


def verdict_of(events: Sequence[Event]) -> Result:
    """Return what events say came of an episode: the person last, else an agent last."""
    verdicts = [one for one in events if one.outcome]
    said = [one for one in verdicts if one.how == "person"] or verdicts
    return next((one.outcome for one in reversed(said) if one.outcome), "unknown")


def judged(text: str, said: Event | None, now: str, hides: Hides, *, ends: bool = False) -> str:
    """Return a note with what somebody says came of it; one that runs may end with that.

    An agent's word changes no person's. What a person wrote into the front matter becomes an event
    first.
    """
    one, new = parsed(text, "", ""), [said] if said else []
    if one.outcome != verdict_of(one.events):
        new.insert(0, Event("feedback", now, how="person", outcome=one.outcome))
    for event in numbered(new, text, hides):
        text = end_line(text) + line_of(event) + newline_of(text)
    values: dict[str, str] = {"outcome": verdict_of([*one.events, *new])}
    if ends and one.state == "running":
        values |= {"state": "ended", "ended": now}
    with suppress(BadArgument):  # a person's front matter that is broken: the events say it
        for key, value in values.items():
            text = set_property(text, key, value)
    return text


def shrunk(text: str) -> str:
    """Return a note with what is kept for good, marked as such.

    Reads, searches, plans and runs go, and of several changes of a file all but the last. What a
    person wrote stays, and so does a line of ours that lines of theirs hang on. Raises BadArgument
    for front matter that is broken or missing.
    """
    told = set[tuple[str, str]]()
    text = set_property(text, "state", "shrunk")
    for one in reversed(placed_events(text)):
        event = one.event
        goes = event.kind in ("read", "hit", "plan", "run")
        if event.kind in ("edit", "delta"):
            marks = {(event.path, ""), (event.path, event.change)}
            goes = bool(marks & told) and (event.change != "added" or marks <= told)
            told |= marks
        below = text[one.end :].partition("\n")[0]
        hung = below[:1] in (" ", "\t") and bool(below.strip()) and event_of(below) is None
        if goes and event.block and not hung:
            text = text[: one.start] + text[one.end :]
    return text


def title_span(text: str) -> tuple[int, int] | None:
    """Return where the line of the task stands; None where a person took it away."""
    title = _TITLE.search(text, body_start(text))
    return title.span() if title else None


def _flaw(found: FrontMatter | None, state: str | None, ended: str) -> str:
    """Return what a note's front matter lacks to be relied on; nothing where it is whole."""
    if found is None or found.fault:
        why = f"is broken: {found.fault}" if found else "is missing or cannot be read"
        return f"its front matter {why}"
    if state is None:
        return "its front matter does not say its state: running, ended or shrunk"
    late = state == "ended" and time_of(ended) is None
    return "its front matter does not say when it ended" if late else ""


def _text(value: object) -> str:
    return one_line(value) if isinstance(value, str) else ""


# --- what is kept -----------------------------------------------------------------------------


def kept_text(text: str, most: int = MAX_TEXT) -> str:
    """Return words as they are kept: on one line, without secrets and private passages.

    Of a long text the first sentences, each whole: an erasure knows a sentence by all of it.
    """
    line = one_line(redact.mask(redact.blank_passages(text)).text)
    if len(line) <= most:
        return line
    kept, room = [], most - len(TOO_LONG) - 1
    for start, end in sentence_spans(line):
        room -= end - start + 1
        if room < 0:
            break
        kept.append(line[start:end])
    return " ".join([*kept, TOO_LONG])


def kept_word(text: str) -> str:
    """Return a name, an id or a symbol as it is kept: one that is too long is dropped."""
    line = one_line(redact.mask(text).text)
    return line if len(line) <= MAX_WORD else ""


def kept_task(task: TaskMark) -> TaskMark:
    """Return a task as it is kept."""
    issues = tuple(filter(None, map(kept_word, task.issues)))
    return replace(task, text=kept_text(task.text, MAX_TASK), issues=issues)


def kept_event(event: Event, now: str) -> Event:
    """Return an event as it is kept; without a time of its own it happens now.

    Raises BadArgument for a path that leads out of its source.
    """
    path = redact.mask(event.path.replace("\\", "/")).text
    parts = path.split("/")
    is_inside = _ELSEWHERE.match(path) is None and ".." not in parts
    if not (is_inside and len(path) <= MAX_PATH and one_line(path) == path):
        raise BadArgument("path", event.path, "a path inside the source, relative, with '/'")
    return replace(
        event,
        time=event.time or now,
        path="/".join(part for part in parts if part not in ("", ".")),
        symbol=kept_word(event.symbol),
        text=kept_text(event.text),
        commit=kept_word(event.commit),
        tokens=max(0, event.tokens),
        block="",
    )


def can_keep(event: Event) -> bool:
    """Tell whether an event can be kept: a file may have a name that no line of a note can hold."""
    with suppress(BadArgument):
        return bool(kept_event(event, ""))
    return False


def news(known: Iterable[Event], events: Iterable[Event]) -> list[Event]:
    """Return the events that a note takes which holds the known ones."""
    known, kept = [*known], list[Event]()
    last = {_place(one): seconds_of(one.time) for one in known}
    for event in events:
        most = MAX_EVENTS if event.kind in ("decision", "commit") else MAX_ROUTINE
        is_full = event.kind != "feedback" and len(known) + len(kept) >= most
        at, before = seconds_of(event.time), last.get(_place(event))
        is_repeat = event.kind in ("read", "hit") and before is not None
        if not is_full and not (is_repeat and abs(at - (before or 0)) < REPEAT_SECONDS):
            last[_place(event)] = at
            kept.append(event)
    return kept


def _place(event: Event) -> tuple[str, str, str]:
    return event.kind, event.path, event.symbol


def may_name(paths: VaultPaths, agent: str) -> MayName:
    """Return what tells whether a path may stand in an agent's records.

    None of another agent's memory, whoever saw it, and none with a secret in its name.
    """
    agents, own = f"{paths.agents}/".casefold(), agent.casefold()

    def may(path: str) -> bool:
        inside = path.replace("\\", "/").casefold()
        owner = inside[len(agents) :].partition("/")[0] if inside.startswith(agents) else own
        return owner == own and redact.mask(path).text == path

    return may


def own_events(events: Iterable[Event], may: MayName) -> Iterator[Event]:
    """Yield events without files that may not be named; those that say nothing more go."""
    for event in events:
        if may(event.path):
            yield event
        elif event.kind in ("decision", "feedback", "run", "plan"):
            yield replace(event, path="", symbol="")
