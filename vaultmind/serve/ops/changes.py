"""What was changed in anybody's memory and what was not kept, the way back, and what waits.

All of it is the person's: the log holds what agents may not see, and suggestions are settled by
them alone. An agent is told how many wait for its own memory, and that it cannot approve.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

from vaultmind.errors import BadArgument, NotFound
from vaultmind.plural import counted
from vaultmind.serve.calls.call import Call
from vaultmind.serve.op import LOCAL, Arg, operation
from vaultmind.serve.show import Reader, dumps, local_time, plain, words
from vaultmind.types import Outcome

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.memory.audit.drops import Drop
    from vaultmind.memory.audit.lines import AuditLine
    from vaultmind.memory.audit.reading import Logged

USUAL_LINES, MAX_LINES = 20, 1_000_000
TRIED = 20
"""So many older changes are looked at for one that could be undone in the place of a conflict."""
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
UNSPOKEN = frozenset({"secret", "private", "asked not to keep", "forgotten"})
"""What was dropped for one of these is counted and never shown."""
NOTHING_DROPPED = "Nothing was dropped yet: facts are looked for when a conversation ends."
NONE_FITS = "Nothing that was dropped fits: try without --since or --agent."
_GAP = "\ufffc"
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
class History:
    """Lines of the audit, newest last."""

    lines: tuple[Logged, ...]
    more: bool
    """Whether there are older ones that were not asked for."""
    message: str = ""
    """Why there are none."""


@dataclass(frozen=True, slots=True)
class DroppedFacts:
    """What was not kept, newest last."""

    dropped: tuple[Drop, ...]
    more: bool
    message: str = ""
    """Why there are none."""


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo came to, or would."""

    outcome: Outcome
    line: AuditLine
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
    from vaultmind.memory.audit.reading import Wanted, history

    names, whose = _agents(app, agent)
    after = since_of(since, app.clock()) if since else None
    asked = tuple(op.strip().lower() for op in ops)
    if unknown := next((op for op in asked if op not in OPS), ""):
        raise BadArgument("op", unknown, f"one of {', '.join(OPS)}")
    lines, more = history(app.paths, Wanted(whose, after, asked, limit))
    if lines:
        return History(lines, more)
    if history(app.paths, Wanted(names, limit=1))[0]:
        return History((), more, "No change fits: try without --since, --op or --agent.")
    from vaultmind.serve.memory.audits import MISSING, missing

    said = "Nothing was ever changed here: the first fact that is remembered begins the log."
    if gone := missing(app, names, app.heads.all()):
        said = f"The log is missing: {', '.join(gone)}. {MISSING}"
    return History((), more, said)


@operation("What was not kept", surfaces=LOCAL, persons=True)
def dropped(
    app: App,
    call: Call,
    agent: Anybodys = "",
    since: Since = "",
    limit: Newest = USUAL_LINES,
) -> DroppedFacts:
    """Show what conversations said that was not kept as a fact, and why, newest last."""
    from vaultmind.memory.audit.drops import drops
    from vaultmind.memory.audit.reading import Wanted

    names, whose = _agents(app, agent)
    after = since_of(since, app.clock()) if since else None
    found, more = drops(app.paths, Wanted(whose, after, limit=limit))
    if found:
        return DroppedFacts(found, more)
    ever = bool(drops(app.paths, Wanted(names, limit=1))[0])
    return DroppedFacts((), more=False, message=NONE_FITS if ever else NOTHING_DROPPED)


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
    from vaultmind.memory.audit.reading import find_line

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
    return Undone(outcome, line, dry_run)


def _undo_session(
    app: App, call: Call, session: str, agents: tuple[str, ...], *, dry_run: bool
) -> Undone:
    """Take back what a session left, the newest first. Raises NotFound where it left nothing."""
    from vaultmind.memory.audit.lines import ref_of
    from vaultmind.memory.audit.reading import Wanted, newest_first
    from vaultmind.memory.audit.undo import LAST

    logged = [
        one
        for one in newest_first(app.paths, Wanted(agents, ops=LAST))
        if one.line.how
        and one.line.outcome == "written"
        and not one.line.undoes
        and (ref := ref_of(one.line.evidence))
        and ref.session == session
    ]
    if not logged:
        raise NotFound(f"Nothing in the memory was read out of a session {session!r}.")
    done = [
        (one, app.gate.undo(one.line.agent, one.line.id, call.caller, dry_run=dry_run))
        for one in logged
        if not one.undone_by
    ]
    said = [f"- {tell(one)}: {outcome.message}" for one, outcome in done]
    first = next((one for _, one in done if one.outcome == "written"), None)
    first = first or (done[0][1] if done else Outcome("written", logged[0].line.agent))
    message = "\n".join(said) or f"All that {session} left was taken back before."
    undone = tuple(one.line.id for one, out in done if out.outcome == "written")
    return Undone(replace(first, message=message), logged[0].line, dry_run, session, undone)


def _standing(app: App, agents: tuple[str, ...]) -> Iterator[AuditLine]:
    """Yield the changes that somebody asked for and that stand, newest first."""
    from vaultmind.memory.audit.reading import Wanted, newest_first
    from vaultmind.memory.audit.undo import LAST

    for one in newest_first(app.paths, Wanted(agents, ops=LAST)):
        if one.line.outcome == "written" and not one.line.undoes and not one.undone_by:
            yield one.line


def _before(app: App, call: Call, agents: tuple[str, ...], line: AuditLine) -> AuditLine | None:
    """Return the next older change that stands and could be undone now, where one is near."""
    from vaultmind.memory.audit.reading import moment

    told = (one for one in _standing(app, agents) if moment(one.time) <= moment(line.time))
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
    from vaultmind.index.when.days import first_day

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


@dumps(History)
def _history_json(found: History, to: Reader) -> dict[str, Any]:
    lines = [
        {name: getattr(one.line, name) for name in FIELDS}
        | {"undone_by": one.undone_by, "device": one.device, "words": tell(one)}
        for one in found.lines
    ]
    return {"lines": lines, "more": found.more, "message": found.message}


@words(History)
def _history_words(found: History, to: Reader) -> Iterator[str]:
    for one in found.lines:
        who = "you" if one.line.caller == "person" else one.line.caller
        yield f"{one.line.id}  {local_time(one.line.time)}  {who}  {one.line.agent}  {tell(one)}"
    yield found.message
    yield "There are older changes: vaultmind log --all" if found.more else ""


def tell(logged: Logged) -> str:
    """Return what a line says happened, in words; who did it stands elsewhere."""
    line = logged.line
    said = f"{line.outcome.replace('_', ' ')}: {line.op}"
    if line.outcome == "written":
        said = f"undid {line.undoes}: {line.op}" if line.undoes else DONE.get(line.op, line.op)
    said += ", as an agent reported it," if line.how == "reported" else ""
    facts = " → ".join(f"“{one}”" for one in (line.before, line.after) if one)
    record = (
        ""
        if facts or line.op == "model"
        else line.path.rpartition("/memory/")[2].removesuffix(".md")
    )
    said = " ".join(filter(None, (said, facts or record)))
    said += f" ({line.section})" if line.section and facts else ""
    said += f", {counted(len(line.hidden), 'message')} hidden" if line.hidden and facts else ""
    said += f": {line.reason}" if line.reason and (not facts or line.outcome != "written") else ""
    said += ", its words erased" if line.erased else ""
    return said + (f" (undone by {logged.undone_by})" if logged.undone_by else "")


@dumps("memory.audit.drops.Drop")
def _drop_json(one: Drop, to: Reader) -> dict[str, Any]:
    """Return what was dropped; a secret, and what was not to be kept, by its reason alone."""
    names = ("time", "agent", "session", "reason", "block", "device", "erased")
    told = {name: getattr(one, name) for name in names}
    return told | {"text": _drop_text(one), "counts": dict(one.counts), "words": _drop_words(one)}


@words(DroppedFacts)
def _dropped_words(found: DroppedFacts, to: Reader) -> Iterator[str]:
    for one in found.dropped:
        yield f"{local_time(one.time)}  {one.agent}  {one.session}  {_drop_words(one)}"
    yield found.message
    yield "There are older ones: vaultmind log --dropped --all" if found.more else ""


def _drop_words(one: Drop) -> str:
    """Return a dropped fact and why, or how many more of its session there were."""
    if one.counts:
        most = Counter(dict(one.counts))
        each = ", ".join(f"{number} {reason}" for reason, number in one.counts)
        return f"{counted(most.total(), 'more', 'more')}: {each}"
    if said := _drop_text(one):
        return f"“{said}”: {one.reason}"
    return "its words are erased" if one.erased else one.reason


def _drop_text(one: Drop) -> str:
    """Return its words; an ellipsis for what older versions wrote for a passage taken out."""
    return "" if one.reason in UNSPOKEN else one.text.replace(_GAP, "…")


@dumps(Undone)
def _undone_json(undone: Undone, to: Reader) -> dict[str, Any]:
    told = plain(undone.outcome)
    told |= {"undoes": undone.line.id, "dry_run": undone.dry_run, "about": _about(undone)}
    if undone.session:
        told |= {"session": undone.session, "undone": undone.undone}
    return told


@words(Undone)
def _undone_words(undone: Undone, to: Reader) -> Iterator[str]:
    yield _about(undone)
    yield f"  {undone.outcome.message}"


def _about(undone: Undone) -> str:
    """Return which change it is, in words."""
    from vaultmind.memory.audit.reading import Logged

    line = undone.line
    did = "Would undo" if undone.dry_run else "Undid"
    did = "Not undone" if undone.outcome.outcome != "written" else did
    if undone.session:
        return f"{did}: {counted(len(undone.undone), 'change')} of {undone.session}."
    whose = "you" if line.caller == "person" else line.caller
    return f"{did}: {line.id}, {whose} for {line.agent}: {tell(Logged(line, ''))}."
