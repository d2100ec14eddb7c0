"""What waits for the person, and their yes or no; an agent is told how many wait."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from vaultmind.errors import BadArgument, NotFound, VaultMindError
from vaultmind.plural import counted
from vaultmind.serve.call import Call
from vaultmind.serve.op import LOCAL, Arg, operation
from vaultmind.serve.show import AS_DATA
from vaultmind.types import Caller, Outcome, OutcomeName

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.memory.suggestions import Listed

WAITING_TOKENS = 60
"""What telling an agent of waiting suggestions costs at most."""


_DOES = {"remember": "remember", "replace": "correct", "forget": "forget"}


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
class SuggestionRow:
    """Who wants to change whose memory, how and why."""

    id: str
    agent: str = field(metadata=AS_DATA)
    by: str = field(metadata=AS_DATA)
    op: str = field(metadata=AS_DATA)
    text: str = field(metadata=AS_DATA)
    old: str = field(metadata=AS_DATA)
    words: str
    section: str
    reason: str
    time: str
    session: str
    """The one in which it was said."""
    state: str
    """`waiting`; ticked or rejected and about to be settled; or why it could not be applied."""


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What is not settled yet, in the file's order."""

    path: str = field(metadata=AS_DATA)
    suggestions: tuple[SuggestionRow, ...]
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


@operation("What waits for approval", surfaces=LOCAL, persons=True)
def suggestions_list(
    app: App,
    call: Call,
    agent: Annotated[str, Arg("For whose memory; default: everybody's.")] = "",
) -> Suggestions:
    """List the suggestions that wait for the person."""
    from vaultmind.vault.paths import agent_name

    whose, path = agent_name(agent) if agent else "", app.paths.suggestions
    listed = (one for one in app.gate.queue.listed() if whose in ("", one.suggestion.agent))
    found = tuple(map(_row, listed))
    how = f"Tick or edit them in {path}, or: vaultmind suggestions accept ID"
    return Suggestions(path, found, (how if found else f"Nothing waits for you in {path}.",))


def _row(one: Listed) -> SuggestionRow:
    wish, said = one.suggestion, one.suggestion.evidence
    into = f" in {wish.agent}'s memory" if wish.agent != wish.caller.agent else ""
    what = f"“{wish.old}” → “{wish.text}”" if wish.op == "replace" else f"“{wish.text}”"
    return SuggestionRow(
        wish.id,
        wish.agent,
        wish.caller.agent,
        wish.op,
        wish.text,
        wish.old,
        f"{wish.caller.agent} wants to {_DOES[wish.op]}{into}: {what}",
        wish.section or "",
        wish.reason,
        wish.time,
        f"{said.agent}/{said.session}" if said else "",
        one.state,
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
    answers = []
    for id_ in dict.fromkeys(ids):
        try:
            outcome = app.gate.answer_suggestion(id_, accept, call.caller)
        except VaultMindError as error:
            gone = isinstance(error, NotFound | BadArgument)
            name: OutcomeName = "not_found" if gone else "denied"
            outcome = Outcome(name, "", path=app.paths.suggestions, message=str(error))
        verb = "accept" if accept else "reject"
        told = (outcome.outcome, outcome.agent, outcome.path, outcome.message)
        answers.append(Answer(id_, verb, *told))
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
