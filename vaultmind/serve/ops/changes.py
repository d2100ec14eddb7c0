"""What was changed in anybody's memory and what was not kept, the way back, and what waits.

All of it is the person's: the log holds what agents may not see, and suggestions are settled by
them alone. An agent is told how many wait for its own memory, and that it cannot approve.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

from vaultmind.errors import BadArgument, NotFound
from vaultmind.plural import counted
from vaultmind.serve.call import Call
from vaultmind.serve.op import LOCAL, Arg, operation
from vaultmind.serve.show import AS_DATA, Reader, dumps, plain
from vaultmind.types import Outcome

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.memory.audit import AuditLine

USUAL_LINES, MAX_LINES = 20, 1_000_000
TRIED = 20
"""So many older changes are looked at for one that could be undone in the place of a conflict."""
SINCE = "a day or time such as 2026-02-20T10:00, `yesterday`, `last week`, `2w`, `3d` or `12h`"
FIELDS = (
    *("id", "time", "caller", "client", "agent", "op", "outcome", "section", "before", "after"),
    *("reason", "path", "block", "evidence", "hidden", "shown", "undoes", "undone_by", "erased"),
    "device",
)
"""What of an audit line is shown."""
OPS = (
    *("remember", "replace", "forget", "hide", "show", "archive", "restore", "erase"),
    *("save", "allow", "undo", "model", "add"),
)
"""What a line may be about, as `--op` asks for it; version 0.1 wrote `add`."""
_AGO = re.compile(r"(\d{1,4}) ?([hdw])")
_MOMENT = re.compile(r"\d{4}-?\d\d-?\d\d")
_HOURS = {"h": 1, "d": 24, "w": 168}
DONE = {
    "remember": "remembered",
    "replace": "corrected",
    "forget": "forgot",
    "hide": "hid from recall",
    "show": "shown again",
    "archive": "moved to the archive",
    "restore": "brought back from the archive",
    "allow": "allowed",
    "erase": "erased",
    "model": "changed what ranks",
    "save": "saved",
}

Since = Annotated[str, Arg(f"From then on: {SINCE}.", max=40)]
Newest = Annotated[int, Arg("The newest so many; 0: all.", min=0, max=MAX_LINES)]
Anybodys = Annotated[str, Arg("Whose memory; default: everybody's.")]


@dataclass(frozen=True, slots=True)
class Change:
    """A line of the audit, as it is told."""

    id: str
    time: str
    by: str
    agent: str
    session: str = field(metadata=AS_DATA)
    what: str
    line: AuditLine = field(metadata=AS_DATA)


@dataclass(frozen=True, slots=True)
class History:
    """Lines of the audit, newest last."""

    lines: tuple[Change, ...]
    more: bool = field(metadata=AS_DATA)
    """Whether there are older ones that were not asked for."""
    notes: tuple[str, ...]
    """Why there are none, or how to see the rest."""


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo came to, or would."""

    message: str
    outcome: Outcome = field(metadata=AS_DATA)
    line: AuditLine = field(metadata=AS_DATA)
    """The change that it is about; of a session's, the last that was taken back."""
    dry_run: bool
    session: str = ""
    undone: tuple[str, ...] = ()
    """The ids of a session's changes that were taken back."""


@operation("What was changed", surfaces=LOCAL, persons=True)
def log(
    app: App,
    call: Call,
    agent: Anybodys = "",
    since: Since = "",
    ops: Annotated[
        tuple[str, ...], Arg("Only these: remember, replace, forget, save, …", option="--op")
    ] = (),
    limit: Newest = USUAL_LINES,
) -> History:
    """Show every change of memory: who asked, whose memory, what, newest last."""
    asked = tuple(op.strip().lower() for op in ops)
    if unknown := next((op for op in asked if op not in OPS), ""):
        raise BadArgument("op", unknown, f"one of {', '.join(OPS)}")
    none = "Nothing was ever changed here: the first fact that is remembered begins the log."
    return _history(app, agent, since, asked, limit, none)


@operation("What was not kept", surfaces=LOCAL, persons=True)
def dropped(
    app: App,
    call: Call,
    agent: Anybodys = "",
    since: Since = "",
    limit: Newest = USUAL_LINES,
) -> History:
    """Show what conversations said that was not kept as a fact, and why, newest last."""
    from vaultmind.memory.audit import DROP

    none = "Nothing was dropped yet: facts are looked for when a conversation ends."
    return _history(app, agent, since, (DROP,), limit, none)


def _history(
    app: App, agent: str, since: str, ops: Sequence[str], limit: int, none: str
) -> History:
    """Return the newest lines, newest last; where there are none, why."""
    from vaultmind.memory.audit import newest_first

    names, whose = _agents(app, agent)
    begin = since_of(since, app.clock()).timestamp() if since else 0.0
    lines = (one for one in newest_first(app.paths, whose, ops) if one.moment >= begin)
    found = list(islice(lines, limit + 1 if limit else None))
    kept = tuple(map(_change, reversed(found[:limit] if limit else found)))
    if more := len(found) > len(kept):
        return History(kept, more, ("There are older ones: --all",))
    ever = next(iter(newest_first(app.paths, names, ops if none and not kept else ())), None)
    said = "None fits: try without --since, --op or --agent." if ever else none
    return History(kept, more, () if kept else (said,))


def _change(line: AuditLine) -> Change:
    from vaultmind.memory.audit import session_of

    by = "you" if line.caller == "person" else line.caller
    return Change(line.id, line.time, by, line.agent, session_of(line), tell(line), line)


@operation("Take a change back", writes=True, surfaces=LOCAL, persons=True)
def undo(
    app: App,
    call: Call,
    id: Annotated[
        str, Arg("A change's id in the log, or its beginning; default: the last.", max=64)
    ] = "",
    session: Annotated[
        str,
        Arg(
            "A session: take back all that was read out of it, or that an agent reported of it.",
            max=64,
        ),
    ] = "",
    dry_run: Annotated[bool, Arg("Only tell what it would do.")] = False,
    agent: Annotated[str, Arg("Whose memory; default: anybody's.")] = "",
) -> Undone:
    """Take back the last change of a fact, or the one with an id of the log."""
    from vaultmind.memory.audit import find_line

    _, agents = _agents(app, agent)
    name, wanted = session.strip().removesuffix(".md"), id.strip()
    if name and wanted:
        raise BadArgument("session", session, "an id or a session, not both")
    if name:
        return _undo_session(app, call, name, agents, dry_run=dry_run)
    line = find_line(app.paths, agents, wanted) if wanted else next(_standing(app, agents), None)
    if line is None:
        raise NotFound("The log has no change of a fact that could be undone.")
    outcome = app.gate.undo(line.agent, line.id, call.caller, dry_run=dry_run)
    if outcome.outcome == "unchanged" and (older := _before(app, call, agents, line)):
        more = f"The change before it that can be undone: vaultmind undo {older.id}"
        outcome = replace(outcome, message=f"{outcome.message} {more}")
    return _undone(outcome, line, dry_run)


def _undo_session(
    app: App, call: Call, session: str, agents: tuple[str, ...], *, dry_run: bool
) -> Undone:
    """Take back what a session left, the newest first. Raises NotFound where it left nothing."""
    from vaultmind.memory.audit import ASKED, newest_first, session_of

    logged = [
        one
        for one in newest_first(app.paths, agents, ASKED)
        if one.how and one.outcome == "written" and not one.undoes and session_of(one) == session
    ]
    if not logged:
        raise NotFound(f"Nothing in the memory was read out of a session {session!r}.")
    done = [
        (one, app.gate.undo(one.agent, one.id, call.caller, dry_run=dry_run))
        for one in logged
        if not one.undone_by
    ]
    said = [f"- {tell(one)}: {outcome.message}" for one, outcome in done]
    first = next((one for _, one in done if one.outcome == "written"), None)
    first = first or (done[0][1] if done else Outcome("written", logged[0].agent))
    message = "\n".join(said) or f"All that {session} left was taken back before."
    undone = tuple(one.id for one, out in done if out.outcome == "written")
    return _undone(replace(first, message=message), logged[0], dry_run, session, undone)


def _undone(
    outcome: Outcome,
    line: AuditLine,
    dry_run: bool,
    session: str = "",
    undone: tuple[str, ...] = (),
) -> Undone:
    """Return an undo with which change it is, in words."""
    did = "Would undo" if dry_run else "Undid"
    did = "Not undone" if outcome.outcome != "written" else did
    whose = "you" if line.caller == "person" else line.caller
    about = f"{line.id}, {whose} for {line.agent}: {tell(line)}"
    about = f"{counted(len(undone), 'change')} of {session}" if session else about
    said = f"{did}: {about}.\n  {outcome.message}"
    return Undone(said, outcome, line, dry_run, session, undone)


def _standing(app: App, agents: tuple[str, ...]) -> Iterator[AuditLine]:
    """Yield the changes that somebody asked for and that stand, newest first."""
    from vaultmind.memory.audit import ASKED, newest_first

    for one in newest_first(app.paths, agents, ASKED):
        if one.outcome == "written" and not one.undoes and not one.undone_by:
            yield one


def _before(app: App, call: Call, agents: tuple[str, ...], line: AuditLine) -> AuditLine | None:
    """Return the next older change that stands and could be undone now, where one is near."""
    told = (one for one in _standing(app, agents) if one.moment <= line.moment)
    for one in islice((one for one in told if one.id != line.id), TRIED):
        if app.gate.undo(one.agent, one.id, call.caller, dry_run=True).outcome == "written":
            return one
    return None


def _agents(app: App, agent: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return all agents, and those that are meant."""
    from vaultmind.vault.paths import agent_name

    names = app.paths.agent_names()
    return names, (agent_name(agent),) if agent else names


def since_of(text: str, now: datetime) -> datetime:
    """Return the time that some words mean; local where they name no zone."""
    from vaultmind.index.when import first_day

    wanted = text.strip()
    try:
        if ago := _AGO.fullmatch(wanted.lower()):
            return now - timedelta(hours=int(ago[1]) * _HOURS[ago[2]])
        if not _MOMENT.match(wanted):
            day = datetime.fromisoformat(first_day("since", wanted, now))
            return day.replace(tzinfo=now.tzinfo)
        moment = datetime.fromisoformat(wanted.upper())
        moment = moment if moment.tzinfo else moment.astimezone()
        moment.timestamp()  # a year that no clock of this system knows has none
    except (BadArgument, ValueError, OverflowError, OSError):
        raise BadArgument("since", text, SINCE) from None
    return moment


# --- how it is told -----------------------------------------------------------------------


@dumps(Change)
def _change_json(one: Change, to: Reader) -> dict[str, Any]:
    told = {name: getattr(one.line, name) for name in FIELDS}
    return told | {"session": one.session, "words": one.what}


@dumps(Undone)
def _undone_json(undone: Undone, to: Reader) -> dict[str, Any]:
    told = plain(undone) | plain(undone.outcome) | {"undoes": undone.line.id}
    del told["line"]
    return told | {"message": undone.message}


def tell(line: AuditLine) -> str:
    """Return what a line says happened, in words; who did it stands elsewhere."""
    if line.op == "drop":
        from vaultmind.memory.audit import session_of

        said = f"“{line.after}”: {line.reason}" if line.after else line.reason or "erased"
        return f"{said} ({session_of(line)})"
    said = f"{line.outcome.replace('_', ' ')}: {line.op}"
    if line.outcome == "written":
        said = f"undid {line.undoes}: {line.op}" if line.undoes else DONE.get(line.op, line.op)
    said += ", as an agent reported it," if line.how == "reported" else ""
    facts = " → ".join(f"“{one}”" for one in (line.before, line.after) if one)
    path = line.path.rpartition("/memory/")[2].removesuffix(".md")
    record = path if line.op in ("save", "init") else ""
    said = " ".join(filter(None, (said, facts or record)))
    said += f" ({line.section})" if line.section else ""
    said += f", {counted(len(line.hidden), 'message')} hidden" if line.hidden and facts else ""
    said += f": {line.reason}" if line.reason and (not facts or line.outcome != "written") else ""
    said += ", its words erased" if line.erased else ""
    return said + (f" (undone by {line.undone_by})" if line.undone_by else "")
