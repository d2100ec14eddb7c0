"""`log`: every change of every agent's memory, from all devices, in words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from vaultmind.errors import BadArgument
from vaultmind.index.when.days import first_day
from vaultmind.memory.audit.lines import REPORTED, AuditLine
from vaultmind.memory.audit.reading import Logged, Wanted, history
from vaultmind.plural import counted
from vaultmind.serve.calls.schema import arg
from vaultmind.serve.memory import audits
from vaultmind.vault.paths import agent_name

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.serve.calls.call import Call

USUAL_LINES = 20
SHOWN_MESSAGES = 3
"""So many hidden messages are named; the rest is a number."""
MAX_LINES = 1_000_000
SINCE = "a day or time such as 2026-02-20T10:00, `yesterday`, `last week`, `2w`, `3d` or `12h`"
FIELDS = (
    *("id", "time", "caller", "client", "agent", "op", "outcome", "section", "before", "after"),
    *("reason", "path", "block", "evidence", "valid_until", "hidden", "undoes", "erased"),
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
_RECORD = re.compile(r".*/memory/(.+?)(?:\.md)?")


@dataclass(frozen=True, slots=True)
class LogArgs:
    """Arguments of log."""

    agent: str = arg("Whose memory; default: everybody's.", default="")
    since: str = arg(f"From then on: {SINCE}.", default="", max=40)
    ops: tuple[str, ...] = arg("Only these: remember, replace, forget, save, …", default=())
    limit: int = arg("The newest so many; 0: all.", default=USUAL_LINES, min=0, max=MAX_LINES)


@dataclass(frozen=True, slots=True)
class History:
    """Lines of the audit, newest last."""

    lines: tuple[Logged, ...]
    more: bool
    """Whether there are older ones that were not asked for."""
    is_empty: bool
    """Whether nothing was ever written, so that no filter is to blame."""
    missing: tuple[str, ...] = ()
    """Files of an empty log that this device has written to, and that are gone."""


def run(app: App, call: Call, args: LogArgs) -> History:
    """Return the newest changes. The log is the person's: it holds what agents may not see."""
    names = app.paths.agent_names()
    agents = (agent_name(args.agent),) if args.agent else names
    since = since_of(args.since, app.clock()) if args.since else None
    ops = tuple(op.strip().lower() for op in args.ops)
    if unknown := next((op for op in ops if op not in OPS), ""):
        raise BadArgument("op", unknown, f"one of {', '.join(OPS)}")
    lines, more = history(app.paths, Wanted(agents, since, ops, args.limit))
    empty = not lines and not history(app.paths, Wanted(names, limit=1))[0]
    missing = audits.missing(app, names, app.heads.all()) if empty else ()
    return History(lines, more, empty, missing)


def words(response: History, mark: str = "") -> str:
    """Return the lines as plain words."""
    said = [f"{one.line.id}  {one.line.time}  {one.line.caller}  {one.line.agent}  {tell(one)}"
            for one in response.lines]  # fmt: skip
    return "\n".join(said) or nothing(response)


def as_json(response: History, mark: str = "") -> dict[str, Any]:
    """Return the lines as the documented names and, of each, what happened in words."""
    lines = [
        {name: getattr(one.line, name) for name in FIELDS}
        | {"hidden": list(one.line.hidden), "undone_by": one.undone_by, "device": one.device}
        | {"words": tell(one)}
        for one in response.lines
    ]
    message = "" if lines else nothing(response)
    return {"lines": lines, "more": response.more, "message": message}


def nothing(response: History) -> str:
    """Return what to say where there is no line to show."""
    if response.missing:
        return f"The log is missing: {', '.join(response.missing)}. {audits.MISSING}"
    if response.is_empty:
        return "Nothing was ever changed here: the first fact that is remembered begins the log."
    return "No change fits: try without --since, --op or --agent."


def tell(logged: Logged) -> str:
    """Return what a line says happened, in words; who did it stands elsewhere."""
    line = logged.line
    said = _came_to_nothing(line)
    if line.outcome == "written":
        said = f"undid {line.undoes}: {_undid(line)}" if line.undoes else _happened(line)
    if line.erased:
        said += ", its words erased"
    if logged.undone_by:
        said += f" (undone by {logged.undone_by})"
    return said


def _happened(line: AuditLine) -> str:
    """Return a change that was made."""
    before, after, where = _quoted(line.before), _quoted(line.after), _section(line)
    hidden = _hidden(line)
    ways = {
        "remember": f"{_remembered(line)} {after}{where}",
        "replace": f"corrected {before} → {after}{where}",
        "forget": f"forgot {before}{where}" + (f", {hidden}" if hidden else ""),
        "hide": f"hid {line.reason or hidden} from recall{_which(line)}",
        "archive": f"moved {before} to the archive",
        "restore": f"brought {after} back from the archive",
        "allow": f"allowed {line.agent}: {line.reason}",
        "erase": f"erased: {line.reason or 'its words are gone'}",
        "model": f"changed what ranks, {line.reason}",
    }
    if line.op == "forget" and not line.before and hidden:
        return f"forgot what no fact said: {hidden}"
    if line.op == "save":
        return f"{line.reason or 'saved'}: {_record(line.path)}"
    return ways.get(line.op) or _other(line)


def _remembered(line: AuditLine) -> str:
    return "remembered, as an agent reported it," if line.how == REPORTED else "remembered"


def _undid(line: AuditLine) -> str:
    """Return what an undo did."""
    before, after = _quoted(line.before), _quoted(line.after)
    ways = {
        "remember": f"{after} is back",
        "replace": f"{before} is {after} again",
        "forget": f"{before} is taken out",
        "show": "messages are shown again",
        "hide": "messages are hidden again",
    }
    return ways.get(line.op) or _happened(line)


def _came_to_nothing(line: AuditLine) -> str:
    """Return what was asked for, and why it was not done."""
    before, after = _quoted(line.before), _quoted(line.after)
    asked = {
        "remember": f"remember {after}",
        "replace": f"correct {before} → {after}",
        "forget": f"forget {before}",
        "undo": "undo",
    }.get(line.op, f"{line.op} {after or before}".strip())
    outcome = line.outcome.replace("_", " ")
    tells = line.op == "undo" or line.outcome in ("denied", "suggested")
    why = f" ({line.reason})" if line.reason and tells else ""
    return f"{outcome}: {asked}{why}"


def _other(line: AuditLine) -> str:
    """Return what an operation without words of its own says of itself."""
    change = " → ".join(_quoted(one) for one in (line.before, line.after) if one)
    about = change or (_record(line.path) if line.path else "")
    parts = f"{line.op} {about}".strip(), f" ({line.reason})" if line.reason else ""
    return "".join(parts)


def _hidden(line: AuditLine) -> str:
    """Return how much a change hid; a part of a summary goes by the summary's path."""
    parts = sum("/memory/" in name for name in line.hidden)
    messages = len(line.hidden) - parts
    said = [counted(messages, "message")] if messages else []
    said += [counted(parts, "summary paragraph")] if parts else []
    return f"{' and '.join(said)} hidden" if said else ""


def _which(line: AuditLine) -> str:
    """Return which messages a change hid, by their sessions, as far as they are few."""
    more = len(line.hidden) - SHOWN_MESSAGES
    names = [*line.hidden[:SHOWN_MESSAGES], *([f"{more} more"] if more > 0 else [])]
    return f": {', '.join(names)}" if names else ""


def _quoted(text: str) -> str:
    return f"“{text}”" if text else "…"


def _section(line: AuditLine) -> str:
    return f" ({line.section})" if line.section else ""


def _record(path: str) -> str:
    """Return a record's path as it reads below its agent's memory, without `.md`."""
    match = _RECORD.fullmatch(path)
    return match[1] if match else path


def since_of(text: str, now: datetime) -> datetime:
    """Return the time that some words mean; local where they name no zone."""
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
