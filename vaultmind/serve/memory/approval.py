"""Suggestions as the person sees and settles them, and how agents hear that some wait.

Listing and settling are the person's alone: they are local operations and no tools, and the table
of operations refuses every other caller. An agent is told how many wait for its own memory, and
that it cannot approve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vaultmind.errors import BadArgument, NotFound, VaultMindError
from vaultmind.plural import counted
from vaultmind.serve.calls.schema import arg, to_json
from vaultmind.types import Caller, Outcome, OutcomeName
from vaultmind.vault.paths import agent_name

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.memory.suggestions.file import Listed
    from vaultmind.serve.calls.call import Call

MAX_IDS = 1000
WAITING_TOKENS = 60
"""What telling an agent of waiting suggestions costs at most."""
_GONE = (NotFound, BadArgument)
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


NONE = Waiting(0, "")


@dataclass(frozen=True, slots=True)
class SuggestionsArgs:
    """Arguments of suggestions_list."""

    agent: str = arg("For whose memory; default: everybody's.", default="")


@dataclass(frozen=True, slots=True)
class AnswerArgs:
    """Arguments of suggestions_answer."""

    ids: tuple[str, ...] = arg("Their ids, such as s-k3f9.", max=MAX_IDS)
    accept: bool = arg("Whether they are accepted; else they are rejected.")


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What is not settled yet, in the file's order."""

    path: str
    listed: tuple[Listed, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of each answer, in the order of the ids."""

    outcomes: tuple[tuple[str, Outcome], ...]
    accept: bool


def waiting(app: App, caller: Caller) -> Waiting:
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


def listed(app: App, call: Call, args: SuggestionsArgs) -> Suggestions:
    """Return what waits for the person."""
    agent = agent_name(args.agent) if args.agent else ""
    found = app.gate.queue.listed()
    return Suggestions(
        app.paths.suggestions,
        tuple(one for one in found if agent in ("", one.suggestion.agent)),
    )


def answered(app: App, call: Call, args: AnswerArgs) -> Answered:
    """Accept or reject suggestions, each for itself: one that is gone or fails stops no other."""
    outcomes = []
    for id_ in dict.fromkeys(args.ids):
        try:
            outcome = app.gate.answer_suggestion(id_, args.accept, call.caller)
        except VaultMindError as error:
            name: OutcomeName = "not_found" if isinstance(error, _GONE) else "denied"
            outcome = Outcome(name, "", path=app.paths.suggestions, message=str(error))
        outcomes.append((id_, outcome))
    return Answered(tuple(outcomes), args.accept)


def listed_words(response: Suggestions, mark: str = "") -> str:
    """Return what waits, in words."""
    if not response.listed:
        return f"Nothing waits for you in {response.path}."
    return "\n".join(f"{one.suggestion.id}  {asks(one)}" for one in response.listed)


def asks(one: Listed) -> str:
    """Return in a line who wants to change whose memory, and how."""
    suggestion = one.suggestion
    into = suggestion.agent != suggestion.caller.agent
    whose = f" in {suggestion.agent}'s memory" if into else ""
    what = f"“{suggestion.text}”"
    if suggestion.op == "replace":
        what = f"“{suggestion.old}” → {what}"
    return f"{suggestion.caller.agent} wants to {_DOES[suggestion.op]}{whose}: {what}"


def listed_json(response: Suggestions, mark: str = "") -> dict[str, Any]:
    """Return what waits, with all that is known of each."""
    return {"path": response.path, "suggestions": [_one(one) for one in response.listed]}


def answered_words(response: Answered, mark: str = "") -> str:
    """Return what came of each answer, a line each."""
    return "\n".join(outcome.message for _, outcome in response.outcomes)


def answered_json(response: Answered, mark: str = "") -> dict[str, Any]:
    """Return what came of each answer."""
    answer = "accept" if response.accept else "reject"
    return {
        "answers": [
            {"id": id_, "answer": answer} | dict(to_json(outcome))
            for id_, outcome in response.outcomes
        ]
    }


def _one(one: Listed) -> dict[str, Any]:
    suggestion = one.suggestion
    state = "failed" if one.state == "accepted" and one.tried and not one.is_due else one.state
    return {
        "id": suggestion.id,
        "state": state,
        "by": suggestion.caller.agent,
        "agent": suggestion.agent,
        "op": suggestion.op,
        "text": suggestion.text,
        "old": suggestion.old,
        "section": suggestion.section or "",
        "reason": suggestion.reason,
        "time": suggestion.time,
        "evidence": to_json(suggestion.evidence),
        "words": asks(one),
    }
