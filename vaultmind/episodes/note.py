"""An episode as a Markdown note, and back. Pure; reading never raises.

Front matter, the task as the title, a bullet an event as it happened, and at the end what came of
it. A person's corrections count in front matter; every line of theirs stays where it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from vaultmind.episodes.lines import event_of, line_of, numbered, placed_events
from vaultmind.episodes.types import (
    RESULTS,
    TASK,
    WHY,
    Episode,
    Event,
    Result,
    State,
    TaskMark,
    time_of,
)
from vaultmind.errors import BadArgument
from vaultmind.vault.edits import PropertyValue, newline_of, set_property
from vaultmind.vault.nesting import comment
from vaultmind.vault.oneline import escape, one_line, unescape
from vaultmind.vault.properties import FrontMatter, front_matter, words_of

LONG_TASK, NO_TASK = "A long task", "A task"
"""Titles: a long task stands below, and not in part in the title."""
MAX_TITLE = 200
"""Maximum number of characters of a task that is its note's title."""
EVENTS, OUTCOME = "## What was done", "## Outcome"
SAID_OF = "Said of "
"""Begins a reason that stands beside another outcome than it was given for."""
_STATES: tuple[State, ...] = ("running", "ended", "shrunk")
_TITLE = re.compile(r"(?m)^# +(.*?)[ \t]*\r?$")
_TASK = re.compile(rf"(?m)^(?P<said>\S.*?)(?<![ \t])[ \t]++\^{TASK}[ \t]*\r?$")
_WHY = re.compile(rf"(?m)^(?P<said>\S.*?)(?<![ \t])[ \t]++\^(?P<block>{WHY}(?:-\d+)?)[ \t]*\r?$")
_OUTCOME = re.compile(
    r"(?m)^\*\*(?P<said>\w+)\*\*[^\n]*?%%(?P<meta>\{[^\n]*\})%%(?:[ \t]+\^outcome)?[ \t]*\r?$"
)
_REFS = ("- ", "Commits: ", "Issues: ", "**")
_ENDING = ("outcome", "state", "ended", "token_used", "latency_ms")
By = Literal["", "agent", "person"]
Hides = Callable[[str], bool]
"""Tells by its block id whether a part of a note is hidden."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What somebody says came of an episode."""

    outcome: Result
    rationale: str
    by: By
    time: str

    @property
    def event(self) -> Event:
        """Return it as an event of the episode."""
        text = f"{self.outcome}: {self.rationale}" if self.rationale else self.outcome
        how: Literal["person", "reported"] = "person" if self.by == "person" else "reported"
        return Event("feedback", self.time, text=text, how=how)


def rendered(episode: Episode, *, links: bool = False) -> str:
    """Return an episode's note. With `links` its files are ones that Obsidian can open."""
    lines = (set_property("", *one).split("\n")[1] for one in _properties(episode))
    text = "\n".join(["---", *lines, "---", ""])
    task = one_line(episode.task.text)
    is_long = len(task) > MAX_TITLE
    text += f"\n# {LONG_TASK if is_long else escape(task) or NO_TASK}\n\n"
    text += f"{escape(task) if is_long else _about(episode)} ^{TASK}\n\n{EVENTS}\n\n"
    text += "".join(f"{line_of(event, links=links)}\n" for event in episode.events)
    return text if episode.state == "running" else _with_outcome(text, episode, "agent")


def parsed(text: str, agent: str, id: str) -> Episode:
    """Return the episode that a note tells of, whatever became of the note."""
    found, mark = front_matter(text), _mark(text)
    held: dict[str, object] = dict(found.properties) if found else {}
    body = found.body_start if found else 0
    texts = ("source", "started", "session", "client", "device", "state", "ended")
    said: dict[str, Any] = {name: _text(held.get(name)) for name in texts}
    told = said.pop("state")
    state = next((one for one in _STATES if one == told), None)
    outcome, _ = _standing(found, mark)
    rationale, block = _rationale(text)
    return Episode(
        id,
        agent,
        task=_task(text[body:], held),
        state="ended" if state is None or (state == "running" and mark) else state,
        outcome=outcome,
        rationale=rationale,
        why_block=block,
        events=tuple(one.event for one in placed_events(text, body)),
        flaw=_flaw(found, state, said["ended"]),
        token_budget=_number(held.get("token_budget")),
        token_used=_number(held.get("token_used")),
        latency_ms=_number(held.get("latency_ms")),
        **said,
    )


def ended(text: str, episode: Episode, said: Verdict, took_ms: int, hides: Hides) -> str:
    """Return a running note as it is once the episode has ended.

    What the person said before, in feedback or in front matter, stands over an agent's word, which
    becomes a line; an agent's feedback counts where nobody says now what came of it.
    """
    nobody = said.outcome == "unknown"
    theirs = _stated(text, episode, "person", hides) if nobody or said.by == "agent" else None
    if theirs is None and nobody:
        theirs = _stated(text, episode, "agent", hides)
    if theirs is not None and said.outcome not in ("unknown", theirs.outcome):
        text = with_event(text, said.event)
    elif theirs is not None:
        theirs = replace(theirs, rationale=theirs.rationale or said.rationale)
    stands = theirs or said
    offered = sum(event.tokens for event in episode.events if event.kind == "plan")
    new = replace(
        episode,
        state="ended",
        ended=said.time,
        outcome=stands.outcome,
        rationale=stands.rationale,
        token_used=episode.token_used or offered,
        latency_ms=episode.latency_ms or took_ms,
    )
    return _with_outcome(text, new, stands.by if stands.outcome != "unknown" else "agent")


def judged(text: str, episode: Episode, said: Verdict) -> str:
    """Return an ended note with what was said of it; an agent's word changes no person's.

    A reason goes with its outcome. One that another takes the place of becomes a line, and keeps
    its id: what is hidden by it stays hidden. Where nobody says why the other outcome is the right
    one, the old reason stays and says what it was said of.
    """
    outcome, by = _standing(front_matter(text), _mark(text))
    if said.by == "agent" and by == "person":
        return with_event(text, said.event)
    why, block = episode.rationale, episode.why_block
    old = Verdict(outcome, why, by, episode.ended).event
    if why.startswith(SAID_OF):
        old = replace(old, text=why.removeprefix(SAID_OF))
    if said.rationale and why and said.rationale != why:
        text = _without_why(text)
        if old.text not in {one.text for one in episode.events if one.kind == "feedback"}:
            text = with_event(text, replace(old, block=block))
        why, block = said.rationale, _free_why(text, block)
    elif why and said.outcome != outcome:
        why = f"{SAID_OF}{old.text}"
    text = with_event(text, said.event)
    new = replace(
        episode,
        state="shrunk" if episode.state == "shrunk" else "ended",
        ended=episode.ended or said.time,
        outcome=said.outcome,
        rationale=why or said.rationale,
        why_block=block,
    )
    return _with_outcome(text, new, said.by)


def with_event(text: str, event: Event) -> str:
    """Return a note with one more event after its last one; it gets an id if it has none."""
    newline, placed = newline_of(text), placed_events(text)
    if placed:
        at = placed[-1].end
    else:
        heading = re.search(rf"(?m)^{EVENTS}[ \t]*(?:\r?\n)*", text)
        at = heading.end() if heading else len(text)
    line = line_of(event if event.block else numbered([event], text)[0])
    gap = "" if not at or text[at - 1] == "\n" else newline
    after = "" if placed or not text[at:].strip() else newline
    return f"{text[:at]}{gap}{line}{newline}{after}{text[at:]}"


def shrunk(text: str) -> tuple[str, int]:
    """Return a note with what is kept for good, marked as such, and how many events went.

    Reads, searches, plans and runs go, and of several changes of a file all but the last. What a
    person wrote stays, and so does a line of ours that lines of theirs hang on. Raises BadArgument
    for front matter that is broken or missing.
    """
    found, gone = front_matter(text), 0
    if found is None or found.fault:
        fault = found.fault if found else "missing or not to be read"
        raise BadArgument("front matter", fault, "a mapping of properties")
    told: set[tuple[str, str]] = set()
    for one in reversed(placed_events(text, found.body_start)):
        event = one.event
        goes = event.kind in ("read", "hit", "plan", "run")
        if event.kind in ("edit", "delta"):
            marks = {(event.path, ""), (event.path, event.change)}
            goes = bool(marks & told) and (event.change != "added" or marks <= told)
            told |= marks
        below = text[one.end :].partition("\n")[0]
        hung = below[:1] in (" ", "\t") and bool(below.strip()) and event_of(below) is None
        if goes and event.block and not hung:
            text, gone = text[: one.start] + text[one.end :], gone + 1
    return set_property(text, "state", "shrunk"), gone


def title_span(text: str) -> tuple[int, int] | None:
    """Return where the line of the task stands; None where a person took it away."""
    found = front_matter(text)
    title = _TITLE.search(text, found.body_start if found else 0)
    return title.span() if title else None


def _with_outcome(text: str, episode: Episode, by: By) -> str:
    """Return a note with its outcome as the episode has it; every other line stays as it is."""
    for key, value in _properties(episode):
        if key in _ENDING:
            try:
                text = set_property(text, key, value)
            except BadArgument:  # a person's front matter that is broken: the section says it all
                break
    newline = newline_of(text)
    extra = {"outcome": episode.outcome, "by": by, "time": episode.ended}
    when = f" · {episode.ended[:16].replace('T', ' ')}" if episode.ended else ""
    head = f"**{episode.outcome}**{when} {comment(extra)} ^outcome"
    why = f"{escape(episode.rationale)} ^{episode.why_block}" if episode.rationale else ""
    known = _OUTCOME.search(text)
    if known is None:
        gap = "" if text.endswith(newline * 2) else newline if text.endswith("\n") else newline * 2
        lines = [OUTCOME, head, *([why] if why else []), *_refs(episode)]
        return text + gap + (newline * 2).join(lines) + newline
    text = text[: known.start()] + head + text[known.end() - known[0].endswith("\r") :]
    if not why:
        return text
    text = _without_why(text)
    at = text.index(head) + len(head)
    return f"{text[:at]}{newline * 2}{why}{text[at:]}"


def _without_why(text: str) -> str:
    """Return a note without the paragraph of its reason."""
    known = _OUTCOME.search(text)
    old = _why_in(text, known.end()) if known else None
    return text if old is None else text[: old.start()].rstrip() + text[old.end() :]


def _why_in(text: str, start: int) -> re.Match[str] | None:
    """Return the paragraph of the reason; a line of an event may have its id, too."""
    return next((one for one in _WHY.finditer(text, start) if event_of(one[0]) is None), None)


def _free_why(text: str, gone: str) -> str:
    """Return an id for a reason that no other reason ever had in this note."""
    used = {gone, *re.findall(rf"\^({WHY}(?:-\d+)?)\b", text)}
    return next(one for at in range(2, len(used) + 3) if (one := f"{WHY}-{at}") not in used)


def _properties(episode: Episode) -> list[tuple[str, PropertyValue]]:
    task = episode.task
    held: list[tuple[str, PropertyValue]] = [
        ("episode", 1),
        ("source", episode.source),
        ("intent", task.kind),
        ("fingerprint", task.fingerprint),
        ("risk", task.risk),
        ("issues", task.issues),
    ]
    rest = (
        "outcome", "state", "started", "ended", "session", "client", "device",
        "token_budget", "token_used", "latency_ms",
    )  # fmt: skip
    held += [(name, getattr(episode, name)) for name in rest]
    return [(key, value) for key, value in held if value not in ("", 0, ())]


def _about(episode: Episode) -> str:
    kind = "A task" if episode.task.kind == "unknown" else f"A {episode.task.kind}"
    where = f" in {escape(episode.source)}" if episode.source else ""
    client = f" with {escape(episode.client)}" if episode.client else ""
    return f"{kind}{where}, by {episode.agent}{client}."


def _refs(episode: Episode) -> list[str]:
    """Return the commits and issues in a line each: what the events and the task name."""
    commits = dict.fromkeys(event.commit for event in episode.events if event.commit)
    lines = [f"Commits: {', '.join(f'`{one}`' for one in commits)}."] if commits else []
    issues = ", ".join(escape(one) for one in episode.task.issues)
    return [*lines, *([f"Issues: {issues}."] if issues else [])]


def _flaw(found: FrontMatter | None, state: State | None, ended: str) -> str:
    """Return what a note's front matter lacks to be relied on; nothing where it is whole."""
    if found is None:
        return "its front matter is missing or cannot be read"
    if found.fault:
        return f"its front matter is broken: {found.fault}"
    if state is None:
        return "its front matter does not say its state: running, ended or shrunk"
    if state == "ended" and time_of(ended) is None:
        return "its front matter does not say when it ended"
    return ""


def _standing(found: FrontMatter | None, mark: dict[str, str]) -> tuple[Result, By]:
    """Return what came of it and who says so: an outcome other than we wrote is the person's."""
    held = {} if found is None or (found.fault and mark) else found.properties
    said = _text(held.get("outcome")).casefold()
    ours = mark.get("outcome", "unknown")
    outcome: Any = said if said in RESULTS else ours if ours in RESULTS else "unknown"
    by = mark.get("by") if mark.get("by") in ("agent", "person") else ""
    return outcome, "person" if outcome != ours else cast("By", by)


def _stated(text: str, episode: Episode, by: By, hides: Hides) -> Verdict | None:
    """Return what the person, or the agent, said last came of a running episode.

    Without the reason where its line is hidden: its words would be shown elsewhere.
    """
    how = "person" if by == "person" else "reported"
    for event in reversed(episode.events):
        outcome, _, why = event.text.partition(": ")
        if event.kind == "feedback" and event.how == how and outcome in RESULTS:
            return Verdict(outcome, "" if hides(event.block) else why, by, event.time)
    outcome, by_hand = _standing(front_matter(text), _mark(text))
    return Verdict(outcome, "", by, "") if by == by_hand == "person" else None


def _task(body: str, held: dict[str, object]) -> TaskMark:
    title, below = _TITLE.search(body), _TASK.search(body)
    said = unescape(title[1]) if title else ""
    if said == LONG_TASK and below:
        said = unescape(below["said"])
    return TaskMark(
        "" if said in (NO_TASK, LONG_TASK) else said,
        _text(held.get("intent")) or "unknown",
        _text(held.get("fingerprint")),
        _text(held.get("risk")) or "low",
        words_of(held.get("issues")) if held.get("issues") else (),
    )


def _mark(text: str) -> dict[str, str]:
    """Return what the outcome's comment says; nothing while there is none."""
    found = _OUTCOME.search(text)
    if found is None:
        return {}
    try:
        meta = json.loads(found["meta"])
    except (ValueError, RecursionError):
        meta = {"outcome": found["said"]}
    return {key: value for key, value in meta.items() if isinstance(value, str)}


def _rationale(text: str) -> tuple[str, str]:
    """Return the outcome's reason and its id; without one, a person's own words in its section."""
    section = re.search(rf"(?m)^{OUTCOME}[ \t]*\r?$", text)
    if section is None:
        return "", WHY
    rest = re.split(r"(?m)^#{1,2} ", text[section.end() :], maxsplit=1)[0]
    if named := _why_in(rest, 0):
        return unescape(named["said"]), named["block"]
    own = (one for one in rest.splitlines() if one.strip() and not one.startswith(_REFS))
    return unescape(one_line(" ".join(own))), WHY


def _text(value: object) -> str:
    return one_line(value) if isinstance(value, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) and 0 < value < 1 << 62 else 0
