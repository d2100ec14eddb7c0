"""What waits for the person, and their yes or no; an agent is told how many wait."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from vaultmind.errors import BadArgument, NotFound, VaultMindError
from vaultmind.plural import counted
from vaultmind.serve.calls.call import Call
from vaultmind.serve.op import LOCAL, Arg, operation
from vaultmind.serve.show import Reader, dumps, local_time, plain, words
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
class Suggestions:
    """What is not settled yet, in the file's order."""

    path: str
    suggestions: tuple[Listed, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of each answer, in the order of the ids."""

    outcomes: tuple[tuple[str, Outcome], ...]
    accept: bool


@operation("What waits for approval", surfaces=LOCAL, persons=True)
def suggestions_list(
    app: App,
    call: Call,
    agent: Annotated[str, Arg("For whose memory; default: everybody's.")] = "",
) -> Suggestions:
    """List the suggestions that wait for the person."""
    from vaultmind.vault.paths import agent_name

    whose = agent_name(agent) if agent else ""
    found = app.gate.queue.listed()
    return Suggestions(
        app.paths.suggestions,
        tuple(one for one in found if whose in ("", one.suggestion.agent)),
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
    outcomes = []
    for id_ in dict.fromkeys(ids):
        try:
            outcome = app.gate.answer_suggestion(id_, accept, call.caller)
        except VaultMindError as error:
            gone = isinstance(error, NotFound | BadArgument)
            name: OutcomeName = "not_found" if gone else "denied"
            outcome = Outcome(name, "", path=app.paths.suggestions, message=str(error))
        outcomes.append((id_, outcome))
    return Answered(tuple(outcomes), accept)


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


@dumps("memory.suggestions.Listed")
def _suggestion_json(one: Listed, to: Reader) -> dict[str, Any]:
    suggestion = one.suggestion
    names = ("id", "agent", "op", "text", "old", "reason", "time", "evidence")
    return {name: getattr(suggestion, name) for name in names} | {
        "state": _state(one),
        "by": suggestion.caller.agent,
        "section": suggestion.section or "",
        "words": asks(one),
    }


def _state(one: Listed) -> str:
    return "failed" if one.state == "accepted" and one.tried and not one.is_due else one.state


def asks(one: Listed) -> str:
    """Return in a line who wants to change whose memory, and how."""
    suggestion = one.suggestion
    into = suggestion.agent != suggestion.caller.agent
    whose = f" in {suggestion.agent}'s memory" if into else ""
    what = f"“{suggestion.text}”"
    if suggestion.op == "replace":
        what = f"“{suggestion.old}” → {what}"
    return f"{suggestion.caller.agent} wants to {_DOES[suggestion.op]}{whose}: {what}"


@words(Suggestions)
def _suggestions_words(found: Suggestions, to: Reader) -> Iterator[str]:
    states = {
        "accepted": "ticked, about to be applied",
        "rejected": "rejected, about to be settled",
        "failed": "accepted, and could not be applied: the file says why",
    }
    for one in found.suggestions:
        suggestion = one.suggestion
        yield f"{suggestion.id}  {asks(one)}" + (
            f" ({suggestion.section})" if suggestion.section else ""
        )
        yield f"    why: {suggestion.reason}" if suggestion.reason else ""
        said = suggestion.evidence
        session = f", said in {said.agent}/{said.session}" if said else ""
        yield f"    {local_time(suggestion.time)}{session}"
        yield f"    {states[_state(one)]}" if _state(one) in states else ""
    if found.suggestions:
        yield f"Tick or edit them in {found.path}, or: vaultmind suggestions accept ID"
    else:
        yield f"Nothing waits for you in {found.path}."


@dumps(Answered)
def _answered_json(answered: Answered, to: Reader) -> dict[str, Any]:
    answer = "accept" if answered.accept else "reject"
    each = [{"id": id_, "answer": answer} | plain(one) for id_, one in answered.outcomes]
    return {"answers": each}


@words(Answered)
def _answered_words(answered: Answered, to: Reader) -> Iterator[str]:
    yield from (f"{id_}  {one.message}" for id_, one in answered.outcomes)
