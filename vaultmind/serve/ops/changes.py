"""What was changed in anybody's memory and what was not kept, the way back, and what waits.

All of it is the person's: the log holds what agents may not see, and suggestions are settled by
them alone. An agent is told how many wait for its own memory, and that it cannot approve.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

from vaultmind.errors import BadArgument, NotFound, VaultMindError
from vaultmind.plural import counted
from vaultmind.serve.call import Call
from vaultmind.serve.op import LOCAL, Anybodys, Arg, operation
from vaultmind.serve.show import AS_DATA, Reader, plain, tells
from vaultmind.types import Caller, Outcome

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.memory.audit import AuditLine
    from vaultmind.memory.suggestions import Suggestion

SINCE = "a day or time such as 2026-02-20T10:00, `yesterday`, `last week`, `2w`, `3d` or `12h`"
FIELDS = (
    *("id", "time", "caller", "client", "agent", "op", "outcome", "section", "before", "after"),
    *("reason", "path", "block", "evidence", "hidden", "shown", "undoes", "undone_by", "erased"),
    "device",
)
"""What of an audit line is shown."""
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
    "erase": "erased",
    "save": "saved",
    "allow": "allowed",
    "undo": "undid",
    "model": "changed what ranks",
    "add": "added",  # as version 0.1 wrote it
}
"""What a line may be about, as `--op` asks for it, and how it is told."""
WAITING_TOKENS = 60
"""What telling an agent of waiting suggestions costs at most."""
_DOES = {"remember": "remember", "replace": "correct", "forget": "forget"}

Since = Annotated[str, Arg(f"From then on: {SINCE}.", max=40)]
Newest = Annotated[int, Arg("The newest so many; 0: all.", min=0, max=1_000_000)]
Id = Annotated[str, Arg("A change's id in the log, or its beginning; default: the last.", max=64)]
Of = Annotated[str, Arg("A session: take back what was read out or reported of it.", max=64)]


@dataclass(frozen=True, slots=True)
class History:
    """Lines of the audit, newest last."""

    lines: tuple[AuditLine, ...]
    more: bool = field(metadata=AS_DATA)
    """Whether there are older ones that were not asked for."""
    notes: tuple[str, ...]
    """Why there are none, or how to see the rest."""


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo came to, or would."""

    message: str
    outcome: Outcome
    line: AuditLine
    """The change that it is about; of a session's, the last that was taken back."""
    dry_run: bool
    session: str = ""
    undone: tuple[str, ...] = ()
    """The ids of a session's changes that were taken back."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many suggestions wait for the person, and where."""

    count: int
    path: str
    to_agent: bool = False
    """Whether an agent is told: only of its own, and that it cannot approve."""
    fault: str = ""
    """Why they could not be counted."""


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What is not settled yet, in the file's order."""

    path: str = field(metadata=AS_DATA)
    suggestions: tuple[Suggestion, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one answer."""

    id: str
    answer: str = field(metadata=AS_DATA)
    outcome: str
    agent: str = field(metadata=AS_DATA)
    path: str = field(metadata=AS_DATA)
    message: str


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of each answer, in the order of the ids."""

    answers: tuple[Answer, ...]


@operation("What was changed", surfaces=LOCAL, persons=True)
def log(
    app: App,
    call: Call,
    agent: Anybodys = "",
    since: Since = "",
    ops: Annotated[
        tuple[str, ...], Arg("Only these: remember, replace, forget, save, …", option="--op")
    ] = (),
    limit: Newest = 20,
    dropped: Annotated[bool, Arg("Show what was said and not kept.")] = False,
) -> History:
    """Show every change of memory: who asked, whose memory, what, newest last.

    Or, `dropped`, what conversations said that was not kept as a fact, and why.
    """
    from vaultmind.memory.audit import DROP, newest_first
    from vaultmind.vault.paths import agent_name

    asked = [op.strip().lower() for op in ops]
    if dropped and asked:
        raise BadArgument("op", ops, "nothing with dropped")
    if unknown := next((op for op in asked if op not in DONE), ""):
        raise BadArgument("op", unknown, f"one of {', '.join(DONE)}")
    asked = [DROP] if dropped else asked
    names = (agent_name(agent),) if agent else app.paths.agent_names()
    begin = since_of(since, app.clock()).timestamp() if since else 0.0
    lines = (one for one in newest_first(app.paths, names, asked) if one.moment >= begin)
    found = list(islice(lines, limit + 1 if limit else None))
    kept = tuple(reversed(found[:limit] if limit else found))
    if more := len(found) > len(kept):
        return History(kept, more, ("There are older ones: --all",))
    none = "Nothing was ever changed here: the first fact that is remembered begins the log."
    if dropped:
        none = "Nothing was dropped yet: facts are looked for when a conversation ends."
    if agent or since or ops:
        none = "None fits: try without --since, --op or --agent."
    return History(kept, more, () if kept else (none,))


@tells("memory.audit.AuditLine", words="id time by agent words")
def _line_json(line: AuditLine, to: Reader) -> dict[str, Any]:
    from vaultmind.memory.audit import session_of

    told = {name: getattr(line, name) for name in FIELDS}
    by = "you" if line.caller == "person" else line.caller
    return told | {"session": session_of(line), "by": by, "words": tell(line)}


@operation("Take a change back", writes=True, surfaces=LOCAL, persons=True)
def undo(
    app: App,
    call: Call,
    id: Id = "",
    session: Of = "",
    dry_run: Annotated[bool, Arg("Only tell what it would do.")] = False,
    agent: Anybodys = "",
) -> Undone:
    """Take back the last change of a fact, or the one with an id of the log.

    Of a session all that it left, the newest first. Raises NotFound where there is none.
    """
    from vaultmind.memory.audit import ASKED, find_line, newest_first, session_of
    from vaultmind.vault.paths import agent_name

    agents = (agent_name(agent),) if agent else app.paths.agent_names()
    name, wanted = session.strip().removesuffix(".md"), id.strip()
    if name and wanted:
        raise BadArgument("session", session, "an id or a session, not both")
    asked = (
        one
        for one in newest_first(app.paths, agents, ASKED)
        if one.outcome == "written" and not one.undoes
    )
    if not name:
        standing = (one for one in asked if not one.undone_by)
        line = find_line(app.paths, agents, wanted) if wanted else next(standing, None)
        if line is None:
            raise NotFound("The log has no change of a fact that could be undone.")
        outcome = app.gate.undo(line.agent, line.id, call.caller, dry_run=dry_run)
        who = "you" if line.caller == "person" else line.caller
        return _undone(outcome, line, f"{line.id}, {who} for {line.agent}: {tell(line)}", dry_run)
    logged = [one for one in asked if one.how and session_of(one) == name]
    if not logged:
        raise NotFound(f"Nothing in the memory was read out of a session {name!r}.")
    done = [
        (one, app.gate.undo(one.agent, one.id, call.caller, dry_run=dry_run))
        for one in logged
        if not one.undone_by
    ]
    said = [f"- {tell(one)}: {outcome.message}" for one, outcome in done]
    best = next((out for _, out in done if out.outcome == "written"), done[0][1] if done else None)
    message = "\n".join(said) or f"All that {name} left was taken back before."
    undone = tuple(one.id for one, out in done if out.outcome == "written")
    first = replace(best or Outcome("written", logged[0].agent), message=message)
    told = _undone(first, logged[0], f"{counted(len(undone), 'change')} of {name}", dry_run)
    return replace(told, session=name, undone=undone)


def _undone(outcome: Outcome, line: AuditLine, about: str, dry_run: bool) -> Undone:
    """Return an undo with which change it is, in words."""
    did = "Would undo" if dry_run else "Undid"
    did = "Not undone" if outcome.outcome != "written" else did
    return Undone(f"{did}: {about}.\n  {outcome.message}", outcome, line, dry_run)


@tells(Undone, words="message dry_run undone")
def _undone_json(undone: Undone, to: Reader) -> dict[str, Any]:
    told = plain(undone) | plain(undone.outcome) | {"undoes": undone.line.id}
    del told["line"]
    return told | {"message": undone.message}


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


def tell(line: AuditLine) -> str:
    """Return what a line says happened, in words; who did it stands elsewhere."""
    if line.op == "drop":
        from vaultmind.memory.audit import session_of

        said = f"“{line.after}”: {line.reason}" if line.after else line.reason or "erased"
        return f"{said} ({session_of(line)})"
    return "".join(_told(line))


def _told(line: AuditLine) -> Iterator[str]:
    facts = " → ".join(f"“{one}”" for one in (line.before, line.after) if one)
    written = line.outcome == "written"
    done = f"undid {line.undoes}: {line.op}" if line.undoes else DONE.get(line.op, line.op)
    yield done if written else f"{line.outcome.replace('_', ' ')}: {line.op}"
    yield ", as an agent reported it," if line.how == "reported" else ""
    path = line.path.rpartition("/memory/")[2].removesuffix(".md")
    record = path if line.op in ("save", "init") else ""
    yield f" {facts or record}" if facts or record else ""
    yield f" ({line.section})" if line.section else ""
    yield f", {counted(len(line.hidden), 'message')} hidden" if line.hidden and facts else ""
    yield f": {line.reason}" if line.reason and not (facts and written) else ""
    yield ", its words erased" if line.erased else ""
    yield f" (undone by {line.undone_by})" if line.undone_by else ""


# --- suggestions --------------------------------------------------------------------------


@operation("What waits for approval", surfaces=LOCAL, persons=True)
def suggestions_list(app: App, call: Call, agent: Anybodys = "") -> Suggestions:
    """List the suggestions that wait for the person."""
    from vaultmind.vault.paths import agent_name

    whose, path = agent_name(agent) if agent else "", app.paths.suggestions
    listed = app.gate.queue.listed()
    found = tuple(one for one in listed if whose in ("", one.write.agent))
    how = f"Tick or edit them in {path}, or: vaultmind suggestions accept ID"
    return Suggestions(path, found, (how if found else f"Nothing waits for you in {path}.",))


@tells("memory.suggestions.Suggestion", words="id words section reason time session state")
def _suggestion_json(one: Suggestion, to: Reader) -> dict[str, Any]:
    """Return who wants to change whose memory, how and why, and whether it waits."""
    wish, said = one.write, one.write.evidence
    into = f" in {wish.agent}'s memory" if wish.agent != wish.caller.agent else ""
    what = f"“{wish.old}” → “{wish.text}”" if wish.op == "replace" else f"“{wish.text}”"
    told = {name: getattr(wish, name) for name in ("agent", "op", "text", "old", "reason")}
    return (
        {"id": one.id}
        | told
        | {
            "by": wish.caller.agent,
            "words": f"{wish.caller.agent} wants to {_DOES[wish.op]}{into}: {what}",
            "section": wish.section or "",
            "time": one.time,
            "session": f"{said.agent}/{said.session}" if said else "",
            "state": one.state,
        }
    )


@operation("Accept or reject suggestions", writes=True, surfaces=LOCAL, persons=True)
def suggestions_answer(
    app: App,
    call: Call,
    ids: Annotated[tuple[str, ...], Arg("Their ids, such as s-k3f9.", max=1000)],
    accept: Annotated[bool, Arg("Whether they are accepted; else they are rejected.")],
) -> Answered:
    """Accept or reject suggestions. The person's alone.

    Each is settled for itself: one that is gone or fails stops no other.
    """
    answers, path = [], app.paths.suggestions
    for id_ in dict.fromkeys(ids):
        try:
            outcome = app.gate.answer_suggestion(id_, accept, call.caller)
        except VaultMindError as error:
            gone = isinstance(error, NotFound | BadArgument)
            outcome = Outcome("not_found" if gone else "denied", "", path=path, message=str(error))
        told = outcome.outcome, outcome.agent, outcome.path, outcome.message
        answers.append(Answer(id_, "accept" if accept else "reject", *told))
    return Answered(tuple(answers))


def waiting_for(app: App, caller: Caller) -> Waiting:
    """Return how many suggestions wait: for an agent those for its own memory, else all."""
    path, to_agent = app.paths.suggestions, caller.kind == "agent"
    try:
        return Waiting(app.gate.queue.waiting(caller.agent), path, to_agent)
    except VaultMindError as error:
        return Waiting(0, path, to_agent, str(error))


def waiting_words(found: Waiting) -> str:
    """Return what is said of suggestions that wait; empty where there are none."""
    if found.fault:
        return f"Waiting suggestions could not be counted: {found.fault}"
    if not found.count:
        return ""
    verb = "waits" if found.count == 1 else "wait"
    said = f"{counted(found.count, 'suggestion')} {verb} for"
    if found.to_agent:
        return (
            f"{said} the person's approval in {found.path}: mention it once. You cannot approve "
            "any: only they can, in that note or with `vaultmind suggestions`."
        )
    return f"{said} you: tick in {found.path}, or see `vaultmind suggestions list`."
