"""An episode as a Markdown note, and back. Pure; reading never raises.

Front matter, the task as the title, a bullet an event as it happened, and at the end what came of
it. What a person rewrote is read as far as it goes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast

from vaultmind.episodes.notes.lines import event_of, line_of, placed_events
from vaultmind.episodes.types import RESULTS, Episode, Result, State, TaskMark
from vaultmind.errors import BadArgument
from vaultmind.vault.edits import PropertyValue, set_property
from vaultmind.vault.nesting import comment
from vaultmind.vault.oneline import escape, one_line, unescape
from vaultmind.vault.properties import FrontMatter, front_matter, words_of

__all__ = ["Standing", "event_of", "line_of", "parsed", "rendered", "standing", "with_outcome"]

LONG_TASK, NO_TASK = "A long task", "A task"
"""Titles: a long task stands below, and not in part in the title."""
MAX_TITLE = 200
"""Characters."""
TASK_BLOCK, WHY_BLOCK = "task", "why"
"""Block ids of the paragraph about the task and of the outcome's reason."""
EVENTS, OUTCOME = "## What was done", "## Outcome"
_STATES: tuple[State, ...] = ("running", "ended", "shrunk")
_TITLE = re.compile(r"(?m)^# +(.*?)[ \t]*\r?$")
_TASK = re.compile(rf"(?m)^(?P<said>\S.*?)(?<![ \t])[ \t]++\^{TASK_BLOCK}[ \t]*\r?$")
_WHY = re.compile(rf"(?m)^(?P<said>\S.*?)(?<![ \t])[ \t]++\^{WHY_BLOCK}[ \t]*\r?$")
_OUTCOME = re.compile(
    r"(?m)^\*\*(?P<said>\w+)\*\*[^\n]*?%%(?P<meta>\{[^\n]*\})%%(?:[ \t]+\^outcome)?[ \t]*\r?$"
)
_SECTION = re.compile(rf"(?m)^{OUTCOME}[ \t]*\r?$")
_NEXT = re.compile(r"(?m)^#{1,2} ")


@dataclass(frozen=True, slots=True)
class Standing:
    """What came of an episode, and who says so."""

    outcome: Result
    by: Literal["", "agent", "person"]
    """`person` too where the outcome was changed by hand."""


def rendered(episode: Episode, *, links: bool = False) -> str:
    """Return an episode's note. With `links` its files are ones that Obsidian can open."""
    lines = (set_property("", *one).split("\n")[1] for one in _properties(episode))
    text = "\n".join(["---", *lines, "---", ""])
    task = one_line(episode.task.text)
    is_long = len(task) > MAX_TITLE
    text += f"\n# {LONG_TASK if is_long else escape(task) or NO_TASK}\n\n"
    text += f"{escape(task) if is_long else _about(episode)} ^{TASK_BLOCK}\n\n{EVENTS}\n\n"
    text += "".join(f"{line_of(event, links=links)}\n" for event in episode.events)
    if episode.state != "running":
        text = with_outcome(text, episode, "agent")
    return text


def parsed(text: str, agent: str, id: str) -> Episode:
    """Return the episode that a note tells of, whatever became of the note."""
    found = front_matter(text)
    held: dict[str, object] = dict(found.properties) if found else {}
    body = found.body_start if found else 0
    said = {name: _text(held.get(name)) for name in _TEXTS}
    mark = _mark(text)
    outcome = _standing(found, mark).outcome
    state = _state(said["state"], mark)
    events = placed_events(text, said["started"][:10], body)
    return Episode(
        id=id,
        agent=agent,
        source=said["source"],
        task=_task(text[body:], held),
        started=said["started"],
        session=said["session"],
        client=said["client"],
        device=said["device"],
        state=state,
        ended=said["ended"],
        outcome=outcome,
        rationale=_rationale(text),
        token_budget=_number(held.get("token_budget")),
        token_used=_number(held.get("token_used")),
        latency_ms=_number(held.get("latency_ms")),
        events=tuple(one.event for one in events),
        flaw=_flaw(found, state, said),
    )


def state_of(text: str, found: FrontMatter | None) -> tuple[State, str]:
    """Return the state and the flaw of an episode, without what was done in it."""
    held: dict[str, object] = dict(found.properties) if found else {}
    said = {name: _text(held.get(name)) for name in ("state", "ended")}
    state = _state(said["state"], _mark(text))
    return state, _flaw(found, state, said)


def _state(said: str, mark: dict[str, str]) -> State:
    if said == "running" and mark:
        return "ended"
    return next((one for one in _STATES if one == said), "ended")


def _flaw(found: FrontMatter | None, state: str, said: dict[str, str]) -> str:
    """Return what a note's front matter lacks to be relied on; nothing where it is whole."""
    if found is None:
        return "its front matter is missing or cannot be read"
    if found.fault:
        return f"its front matter is broken: {found.fault}"
    if said["state"] not in _STATES:
        return "its front matter does not say its state: running, ended or shrunk"
    if state == "ended" and not _is_time(said["ended"]):
        return "its front matter does not say when it ended"
    return ""


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def standing(text: str) -> Standing:
    """Return what a note says came of it, and by whom.

    An outcome that differs from the one that we wrote down is the person's own.
    """
    return _standing(front_matter(text), _mark(text))


def _standing(found: FrontMatter | None, mark: dict[str, str]) -> Standing:
    held = {} if found is None or (found.fault and mark) else found.properties
    said = _text(held.get("outcome")).casefold()
    ours = mark.get("outcome") or "unknown"
    outcome = said if said in RESULTS else ours if ours in RESULTS else "unknown"
    by = mark.get("by") if mark.get("by") in ("agent", "person") else ""
    return Standing(outcome, "person" if outcome != ours else cast("Any", by))


def placed_title(text: str) -> tuple[int, int] | None:
    """Return where the line of the task stands; None where a person took it away."""
    found = front_matter(text)
    title = _TITLE.search(text, found.body_start if found else 0)
    return title.span() if title else None


def with_outcome(text: str, episode: Episode, by: Literal["agent", "person"]) -> str:
    """Return a note with its outcome as the episode has it; every other line stays as it is."""
    for key, value in _properties(episode):
        if key in _ENDING:
            try:
                text = set_property(text, key, value)
            except BadArgument:  # a person's front matter that is broken: the section says it all
                break
    newline = "\r\n" if "\r\n" in text else "\n"
    extra = {"outcome": episode.outcome, "by": by, "time": episode.ended}
    when = f" · {episode.ended[:16].replace('T', ' ')}" if episode.ended else ""
    head = f"**{episode.outcome}**{when} {comment(extra)} ^outcome"
    why = f"{escape(episode.rationale)} ^{WHY_BLOCK}" if episode.rationale else ""
    known = _OUTCOME.search(text)
    if known is None:
        gap = "" if text.endswith(newline * 2) else newline if text.endswith("\n") else newline * 2
        lines = [OUTCOME, head, *([why] if why else []), *_refs(episode)]
        return text + gap + (newline * 2).join(lines) + newline
    rest = text[_line_end(known) :]
    if old := _WHY.search(rest):
        below = rest[_line_end(old) :]
        rest = rest[: old.start()] + why + (below if why else below.lstrip())
    elif why:
        rest = f"{newline * 2}{why}{rest}"
    return text[: known.start()] + head + rest


_TEXTS = ("source", "started", "session", "client", "device", "state", "ended")
_ENDING = ("outcome", "state", "ended", "token_used", "latency_ms")


def _properties(episode: Episode) -> list[tuple[str, PropertyValue]]:
    task = episode.task
    held: list[tuple[str, PropertyValue]] = [
        ("episode", 1),
        ("source", episode.source),
        ("intent", task.kind),
        ("fingerprint", task.fingerprint),
        ("risk", task.risk),
        ("issues", task.issues),
        ("outcome", episode.outcome),
        ("state", episode.state),
        ("started", episode.started),
        ("ended", episode.ended),
        ("session", episode.session),
        ("client", episode.client),
        ("device", episode.device),
        ("token_budget", episode.token_budget),
        ("token_used", episode.token_used),
        ("latency_ms", episode.latency_ms),
    ]
    return [(key, value) for key, value in held if value not in ("", 0, ())]


def _about(episode: Episode) -> str:
    kind = "A task" if episode.task.kind == "unknown" else f"A {episode.task.kind}"
    where = f" in {escape(episode.source)}" if episode.source else ""
    client = f" with {escape(episode.client)}" if episode.client else ""
    return f"{kind}{where}, by {episode.agent}{client}."


def _line_end(found: re.Match[str]) -> int:
    """Return where a line ends that was found, before its line break."""
    return found.end() - found[0].endswith("\r")


def _refs(episode: Episode) -> list[str]:
    """Return the commits and issues in a line each: what the events and the task name."""
    commits = dict.fromkeys(event.commit for event in episode.events if event.commit)
    lines = [f"Commits: {', '.join(f'`{one}`' for one in commits)}."] if commits else []
    issues = ", ".join(escape(one) for one in episode.task.issues)
    return [*lines, *([f"Issues: {issues}."] if issues else [])]


def _task(body: str, held: dict[str, object]) -> TaskMark:
    title, below = _TITLE.search(body), _TASK.search(body)
    said = unescape(title[1]) if title else ""
    if said == LONG_TASK and below:
        said = unescape(below["said"])
    return TaskMark(
        text="" if said in (NO_TASK, LONG_TASK) else said,
        kind=_text(held.get("intent")) or "unknown",
        fingerprint=_text(held.get("fingerprint")),
        risk=_text(held.get("risk")) or "low",
        issues=words_of(held.get("issues")) if held.get("issues") else (),
    )


def _mark(text: str) -> dict[str, str]:
    """Return what the outcome's comment says; nothing while there is none."""
    found = _OUTCOME.search(text)
    if found is None:
        return {}
    try:
        meta = json.loads(found["meta"])
    except (ValueError, RecursionError):
        meta = None
    known = meta if isinstance(meta, dict) else {"outcome": found["said"]}
    return {key: value for key, value in known.items() if isinstance(value, str)}


def _rationale(text: str) -> str:
    """Return the outcome's reason: the paragraph with its id, else the section's own words."""
    section = _SECTION.search(text)
    rest = text[section.end() :] if section else ""
    stop = _NEXT.search(rest)
    rest = rest[: stop.start()] if stop else rest
    if named := _WHY.search(rest):
        return unescape(named["said"])
    own = (
        line
        for line in rest.splitlines()
        if line.strip() and not _OUTCOME.match(line) and not line.startswith(("- ", "Commits: ",
                                                                              "Issues: "))
    )  # fmt: skip
    return unescape(one_line(" ".join(own)))


def _text(value: object) -> str:
    return one_line(value) if isinstance(value, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
