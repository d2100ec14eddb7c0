"""What is the person's: every change of memory and the way back, what waits for their approval, and
what each agent may do.

The log holds what agents may not see, and suggestions are settled by the person alone. An agent is
told how many wait for its own memory, and that it cannot approve.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Annotated, Any

from vaultmind.errors import BadArgument, NotFound, VaultMindError
from vaultmind.plural import counted
from vaultmind.serve.call import Call, no_agent
from vaultmind.serve.op import LOCAL, Anybodys, Arg, operation
from vaultmind.serve.show import Reader, Row, in_words, plain, tells
from vaultmind.times import seconds_of
from vaultmind.types import Caller, Outcome

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.memory.audit import AuditLine
    from vaultmind.memory.suggestions import Suggestion

SINCE = "a day or time such as 2026-02-20T10:00, `yesterday`, `last week`, `2w`, `3d` or `12h`"
_AGO = re.compile(r"(\d{1,4}) ?([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 168}
WAITING_TOKENS = 60
"""What telling an agent of waiting suggestions costs at most."""

Since = Annotated[str, Arg(f"Since when: {SINCE}.", max=40)]
Newest = Annotated[int, Arg("At most this many; 0: all.", min=0, max=1_000_000)]
Id = Annotated[str, Arg("Of a change in the log, or its beginning; default: the last.", max=64)]
Of = Annotated[str, Arg("Take back all that this session left.", max=64)]
ONLY = "Only these: remember, replace, forget, save, …; drop for what was not kept."
Ops = Annotated[tuple[str, ...], Arg(ONLY, option="--op")]
AgentName = Annotated[str, Arg("The agent's name.", min=1, max=80)]
Mark = Annotated[str, Arg("The `mark` that was told with it; empty: allow nothing.", max=80)]


def _names(app: App, agent: str) -> tuple[str, ...]:
    """Return the agents that are meant: the one that is named, or all."""
    from vaultmind.vault.paths import agent_name

    return (agent_name(agent),) if agent else app.paths.agent_names()


@operation("What was changed", surfaces=LOCAL, persons=True)
def log(
    app: App,
    call: Call,
    agent: Anybodys = "",
    since: Since = "",
    ops: Ops = (),
    limit: Newest = 20,
) -> Row:
    """Show every change of memory: who asked, whose memory, what, newest last.

    What conversations said that was not kept as a fact, and why, is told where it is asked for.
    """
    from vaultmind.memory.audit import newest_first

    begin = since_of(since, app.clock()).timestamp() if since else 0.0
    lines = newest_first(app.paths, _names(app, agent), [one.strip().lower() for one in ops])
    fit = (one for one in lines if seconds_of(one.time) >= begin)
    found = list(islice(fit, limit + 1 if limit else None))
    kept = tuple(reversed(found[:limit] if limit else found))
    more = len(found) > len(kept)
    note = "Older entries: --all" if more else "" if kept else "No change matches."
    return Row("lines notes", lines=kept, more=more, notes=(note,) if note else ())


@tells("memory.audit.AuditLine", words="id time by agent words")
def _line_json(line: AuditLine, to: Reader) -> dict[str, Any]:
    from vaultmind.memory.audit import session_of

    by = "you" if line.caller == "person" else line.caller
    told = plain(line) | {"erased": line.erased, "session": session_of(line)}
    return told | {"by": by, "words": tell(line)}


@operation("Take a change back", writes=True, surfaces=LOCAL, persons=True)
def undo(
    app: App,
    call: Call,
    id: Id = "",
    session: Of = "",
    agent: Anybodys = "",
) -> Row:
    """Take back the last change of a fact, or the one with an id of the log.

    Where somebody else asked for something after it that changed nothing, it is only named.
    Of a session all that it left, the newest first. Raises NotFound where there is none.
    """
    from vaultmind.memory.audit import ASKED, find_line, newest_first, session_of

    agents, name, wanted = _names(app, agent), session.strip().removesuffix(".md"), id.strip()
    if name and wanted:
        raise BadArgument("session", session, "an id or a session, not both")
    asked = newest_first(app.paths, agents, ASKED)
    standing = (
        one for one in asked if one.outcome == "written" and not (one.undoes or one.undone_by)
    )
    if name:
        found = [one for one in standing if one.how and session_of(one) == name]
        # each agent has a first session of a day: the own one is meant, where it left something
        lines = [one for one in found if one.agent == app.target(call.caller, agent)] or found
    elif wanted:
        lines = [find_line(app.paths, agents, wanted)]
    else:
        lines = list(islice(standing, 1))
        if lines and (last := _after(newest_first(app.paths, agents, ASKED), lines[0])):
            raise _not_meant(last, lines[0])
    if not lines:
        what = f"from session {name!r}" if name else "that can be undone"
        raise NotFound(f"The log has no change of a fact {what}.")
    done = [(o, app.gate.undo(o.agent, o.id, call.caller)) for o in lines]
    undone = tuple(one.id for one, outcome in done if outcome.outcome == "written")
    outcome = next((out for _, out in done if out.outcome == "written"), done[0][1])
    said = "\n".join(
        f"- {one.id}, {tell(one)}, by {one.caller}: {out.message}" for one, out in done
    )
    did = "Undone" if undone else "Not undone"
    more = {"undoes": lines[0].id, "session": name, "undone": undone}
    return Row(**plain(outcome) | more | {"message": f"{did}:\n{said}"})


def _after(lines: Iterator[AuditLine], change: AuditLine) -> AuditLine | None:
    """Return what somebody else than a change's asked for after it, and what changed nothing."""
    later = takewhile(lambda one: one.id != change.id, lines)
    nothing = (one for one in later if one.outcome != "written" and not one.how)
    return next((one for one in nothing if one.caller != change.caller), None)


def _not_meant(last: AuditLine, change: AuditLine) -> BadArgument:
    """Return the refusal of an undo where it is not plain which change is meant."""
    who, other = ("you" if one.caller == "person" else one.caller for one in (last, change))
    said = f"Nothing undone: the last request, by {who}, changed nothing ({tell(last)}).\n"
    said += f"The last change is by {other}: {tell(change)}.\n"
    said += f"To undo it: vaultmind undo {change.id}"
    return BadArgument("id", "", "the id of a change", missing=True, said=said)


def since_of(text: str, now: datetime) -> datetime:
    """Return the time that some words mean; local where they name no zone."""
    from vaultmind.index.when import first_day

    try:
        if ago := _AGO.fullmatch(text.strip().lower()):
            return now - timedelta(hours=int(ago[1]) * _HOURS[ago[2]])
        is_time = re.match(r"\d{4}-\d\d-\d\d[T ]", text.strip())
        day = text.strip() if is_time else first_day("since", text.strip(), now)
        moment = datetime.fromisoformat(day)
        return moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)
    except (BadArgument, ValueError, OverflowError):
        raise BadArgument("since", text, SINCE) from None


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
    done = f"undid {line.undoes}: {line.op}" if line.undoes else line.op
    yield done if written else f"{line.outcome.replace('_', ' ')}: {line.op}"
    yield ", as an agent reported it," if line.how == "reported" else ""
    path = line.path.rpartition("/memory/")[2].removesuffix(".md")
    record = path if line.op in ("save", "init") else ""
    yield f" {facts or record}" if facts or record else ""
    yield f" ({line.section})" if line.section else ""
    yield f", {counted(len(line.hidden), 'message')} hidden" if line.hidden and facts else ""
    yield f": {line.reason}" if line.reason and not (facts and written) else ""
    yield f" (undone by {line.undone_by})" if line.undone_by else ""


# --- suggestions --------------------------------------------------------------------------


@operation("What waits for approval", surfaces=LOCAL, persons=True)
def suggestions_list(app: App, call: Call, agent: Anybodys = "") -> Row:
    """List the suggestions that wait for you."""
    path, whose = app.paths.suggestions, _names(app, agent)
    listed = app.gate.queue.listed()
    found = tuple(one for one in listed if not agent or one.write.agent in whose)
    how = f"Tick or edit them in {path}, or run: vaultmind suggestions accept ID"
    notes = (how if found else f"Nothing is waiting in {path}.",)
    return Row("suggestions notes", path=path, suggestions=found, notes=notes)


@tells("memory.suggestions.Suggestion", words="id words section reason time session state")
def _suggestion_json(one: Suggestion, to: Reader) -> dict[str, Any]:
    """Return who wants to change whose memory, how and why, and whether it waits."""
    wish, said = one.write, one.write.evidence
    into = f" in {wish.agent}'s memory" if wish.agent != wish.caller.agent else ""
    what = f"“{wish.old}” → “{wish.text}”" if wish.op == "replace" else f"“{wish.text}”"
    told = {name: getattr(wish, name) for name in ("agent", "op", "text", "old", "reason")}
    return {"id": one.id, **told} | {
        "by": wish.caller.agent,
        "words": f"{wish.caller.agent} wants to {wish.op}{into}: {what}",
        "section": wish.section or "",
        "time": one.time,
        "session": f"{said.agent}/{said.session}" if said else "",
        "state": one.state,
    }


@operation("Accept or reject suggestions", writes=True, surfaces=LOCAL, persons=True)
def suggestions_answer(
    app: App,
    call: Call,
    ids: Annotated[tuple[str, ...], Arg("Their ids, such as s-k3f9.", max=1000)],
    accept: Annotated[bool, Arg("Whether they are accepted; else they are rejected.")],
) -> Row:
    """Accept or reject suggestions. The person's alone.

    Each is settled for itself: one that is gone or fails stops no other.
    """
    answers = []
    for id_ in dict.fromkeys(ids):
        try:
            outcome = app.gate.queue.answer(id_, accept, call.caller)
        except VaultMindError as error:
            gone = isinstance(error, NotFound | BadArgument)
            outcome = Outcome("not_found" if gone else "denied", "", message=str(error))
        answers.append(Row("id outcome message", id=id_, **plain(outcome)))
    return Row(answers=answers)


def waiting_for(app: App, caller: Caller) -> tuple[int, str]:
    """Return how many suggestions wait, for an agent those for its own memory, and what is said."""
    path = app.paths.suggestions
    try:
        count = app.gate.queue.waiting(caller.agent)
    except VaultMindError as error:
        return 0, f"Could not count the waiting suggestions: {error}"
    said = f"{counted(count, 'suggestion')} {'waits' if count == 1 else 'wait'} for"
    told = f"{said} you: tick in {path}, or run `vaultmind suggestions list`."
    if caller.kind == "agent":
        told = f"{said} the person's approval in {path}: mention it once. You cannot approve any: "
        told += "only they can, in that note or with `vaultmind suggestions`."
    return count, told if count else ""


# --- agents -------------------------------------------------------------------------------


@operation("The agents", surfaces=LOCAL, persons=True)
def agents(app: App, call: Call, name: Annotated[str, Arg("Only this one.", max=80)] = "") -> Row:
    """Show agents: level asked for and in force, facts, sessions, who may write or read.

    Raises NotFound for one that is named and not there.
    """
    found = [_about(app, one) for one in (_known(app, call, name) if name else _names(app, ""))]
    notes = [f"{app.authority.fault}."] if app.authority.fault else []
    notes += [] if found else ["There is no agent yet. To create one: vaultmind agents new NAME"]
    told = Row(agents=found, notes=notes)
    return told.saying(*in_words(found[0])) if name else told


def _known(app: App, call: Call, name: str) -> tuple[str]:
    from vaultmind.vault.paths import agent_name

    found, names = agent_name(name, "name"), app.paths.agent_names()
    if found not in names:
        raise no_agent(call.caller, found, names)
    return (found,)


@operation("Let an agent do more", writes=True, surfaces=LOCAL, persons=True)
def agent_allow(app: App, call: Call, name: AgentName, seen: Mark = "") -> Row:
    """Let an agent have what its identity asks for; for the person alone.

    Without a mark it only tells what that is. Raises BadArgument where the identity is broken, or
    has changed since the mark was given.
    """
    (known,) = _known(app, call, name)
    one, allowed = _about(app, known), tuple[str, ...]()
    if one["faults"]:
        raise BadArgument(one["identity"], "; ".join(one["faults"]), "valid front matter")
    said = f"{known} asks for nothing new."
    if one["waiting"] and not seen:
        said = f"{known} asks for: {', '.join(one['waiting'])}. Nothing is allowed yet."
    elif one["waiting"]:
        allowed = app.gate.allow(known, seen, call.caller)
        said, one = f"Allowed {known}: {', '.join(allowed)}.", _about(app, known)
    return Row("message", allowed=allowed, agent=one, message=said)


def _about(app: App, name: str) -> Row:
    """Return an agent: what it asks for, what is in force, and what it has.

    `waiting` is what identity.md asks for beyond what is in force, and `mark` stands for that:
    `agent_allow` wants it back. Of its memory, `hidden_from` names those that may not read it, and
    `writers` those that may write it, and what of it.
    """
    from vaultmind.memory.brain import parse_brain
    from vaultmind.memory.rights import mark_of, scopes_of
    from vaultmind.session.files import read_text, session_ids

    claim, rights = app.authority.identity(name), app.authority.rights(name)
    return Row(
        "name level asked language facts sessions writers hidden_from waiting faults identity",
        name=name,
        level=rights.level,
        asked=claim.rights.level,
        language=claim.language or "en",
        facts=len(parse_brain(read_text(app.reader, app.paths.brain(name))[0]).facts),
        sessions=len(session_ids(app.paths, name)),
        writers={who: scopes_of(rights, who) for who in sorted({who for who, _ in rights.write})},
        hidden_from=tuple(sorted(rights.hidden_from)),
        waiting=app.authority.waiting(name),
        faults=claim.faults,
        mark=mark_of(claim.rights),
        identity=app.paths.identity(name),
    )
