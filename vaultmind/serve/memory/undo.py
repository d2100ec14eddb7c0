"""`undo`: a change of anybody's memory taken back, by its id or the last one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from vaultmind.errors import BadArgument, NotFound
from vaultmind.memory.audit.lines import AuditLine, ref_of
from vaultmind.memory.audit.reading import Logged, Wanted, find_line, moment, newest_first
from vaultmind.memory.audit.undo import LAST
from vaultmind.plural import counted
from vaultmind.serve.calls.schema import arg
from vaultmind.serve.memory import answers, history
from vaultmind.types import Outcome
from vaultmind.vault.paths import agent_name

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.serve.calls.call import Call

TRIED = 20
"""So many older changes are looked at for one that could be undone in the place of a conflict."""


@dataclass(frozen=True, slots=True)
class UndoArgs:
    """Arguments of undo."""

    id: str = arg("A change's id in the log, or its beginning; default: the last.", default="",
                  max=64)  # fmt: skip
    session: str = arg(
        "A session: take back all that was read out of it, or that an agent reported of it.",
        default="",
        max=64,
    )
    dry_run: bool = arg("Only tell what it would do.", default=False)
    agent: str = arg("Whose memory; default: anybody's.", default="")


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


def run(app: App, call: Call, args: UndoArgs) -> Undone:
    """Take a change back. The gate refuses every caller but the person."""
    agents = (agent_name(args.agent),) if args.agent else app.paths.agent_names()
    if args.session.strip():
        return _of_session(app, call, args, agents)
    wanted = args.id.strip()
    line = find_line(app.paths, agents, wanted) if wanted else _last(app, agents)
    outcome = app.gate.undo(line.agent, line.id, call.caller, dry_run=args.dry_run)
    if outcome.outcome == "unchanged" and (older := _before(app, call, agents, line)):
        more = f"The change before it that can be undone: vaultmind undo {older.id}"
        outcome = replace(outcome, message=f"{outcome.message} {more}")
    return Undone(outcome, line, args.dry_run)


def _of_session(app: App, call: Call, args: UndoArgs, agents: tuple[str, ...]) -> Undone:
    """Take back what a session left, the newest first. Raises NotFound where it left nothing."""
    session, ops = args.session.strip().removesuffix(".md"), LAST
    if args.id:
        raise BadArgument("session", args.session, "an id or a session, not both")
    logged = [
        one
        for one in newest_first(app.paths, Wanted(agents, ops=ops))
        if one.line.how
        and one.line.outcome == "written"
        and not one.line.undoes
        and (ref := ref_of(one.line.evidence))
        and ref.session == session
    ]
    if not logged:
        raise NotFound(f"Nothing in the memory was read out of a session {session!r}.")
    done: list[tuple[Logged, Outcome]] = []
    for one in logged:
        if not one.undone_by:
            outcome = app.gate.undo(one.line.agent, one.line.id, call.caller, dry_run=args.dry_run)
            done.append((one, outcome))
    said = [f"- {history.tell(one)}: {outcome.message}" for one, outcome in done]
    first = next((one for _, one in done if one.outcome == "written"), None)
    first = first or (done[0][1] if done else Outcome("written", logged[0].line.agent))
    message = "\n".join(said) or f"All that {session} left was taken back before."
    undone = tuple(one.line.id for one, out in done if out.outcome == "written")
    outcome = replace(first, message=message)
    return Undone(outcome, logged[0].line, args.dry_run, session, undone)


def words(response: Undone, mark: str = "") -> str:
    """Return what was undone and what that came to."""
    return f"{about(response)}\n{response.outcome.message}"


def about(response: Undone) -> str:
    """Return which change it is, in words."""
    line = response.line
    did = "Would undo" if response.dry_run else "Undid"
    did = "Not undone" if response.outcome.outcome != "written" else did
    if response.session:
        return f"{did}: {counted(len(response.undone), 'change')} of {response.session}."
    whose = "you" if line.caller == "person" else line.caller
    return f"{did}: {line.id}, {whose} for {line.agent}: {history.tell(Logged(line, ''))}."


def as_json(response: Undone, mark: str = "") -> dict[str, Any]:
    """Return an outcome like that of any write, and what it is about."""
    more = {"undoes": response.line.id, "dry_run": response.dry_run, "about": about(response)}
    if response.session:
        more |= {"session": response.session, "undone": list(response.undone)}
    return answers.outcome(response.outcome, mark) | more


def _before(app: App, call: Call, agents: tuple[str, ...], line: AuditLine) -> AuditLine | None:
    """Return the next older change that stands and could be undone now, where one is near."""
    told = (one for one in newest_first(app.paths, Wanted(agents, ops=LAST)) if _stands(one))
    older = (one.line for one in told if moment(one.line.time) <= moment(line.time))
    for one in islice((one for one in older if one.id != line.id), TRIED):
        if app.gate.undo(one.agent, one.id, call.caller, dry_run=True).outcome == "written":
            return one
    return None


def _stands(logged: Logged) -> bool:
    line = logged.line
    return line.outcome == "written" and not line.undoes and not logged.undone_by


def _last(app: App, agents: tuple[str, ...]) -> AuditLine:
    """Return the last change that somebody asked for and that stands."""
    for logged in newest_first(app.paths, Wanted(agents, ops=LAST)):
        if _stands(logged):
            return logged.line
    raise NotFound("The log has no change of a fact that could be undone.")
