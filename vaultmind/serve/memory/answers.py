"""Responses as JSON. What an agent receives has its recalled text fenced, here as in words:
clients show a model either the one or the other. Text that a note controls (titles, speakers)
stands inside the fence; a person, who has no mark, receives the bare response.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vaultmind.serve.calls.fencing import PLAIN_ID
from vaultmind.serve.calls.schema import to_json
from vaultmind.serve.memory import render
from vaultmind.types import Hit, IndexState, Outcome, SearchResponse

if TYPE_CHECKING:
    from vaultmind.index.search.fetch import Fetched
    from vaultmind.serve.memory.remembering import Start
    from vaultmind.serve.memory.searching import FoundMany
    from vaultmind.session.voice.show import Shown
    from vaultmind.session.voice.spoken import Heard


def search(response: SearchResponse, mark: str) -> dict[str, Any]:
    """Return hits, and which of the empty answers it is where there are none."""
    body: dict[str, Any] = {
        "answer": response.answer,
        "why_empty": render.why_empty(response),
        "message": render.explain(response),
        "hits": [hit(one, mark, explained=response.explained) for one in response.hits],
        "omitted": response.omitted,
        "next_offset": response.next_offset,
        "took_ms": round(response.took_ms, 2),
    }
    return body | {"state": index_state(response.state) if mark else to_json(response.state)}


def search_many(response: FoundMany, mark: str) -> dict[str, Any]:
    """Return the hits of each query under its id."""
    results = [
        {
            "id": one.id,
            "hits": [hit(found, mark) for found in one.hits],
            "answer": one.answer,
            "omitted": one.omitted,
            "next_offset": one.next_offset,
        }
        for one in response.results
    ]
    state = index_state(response.state) if mark else to_json(response.state)
    return {"results": results, "state": state}


def hit(one: Hit, mark: str, *, explained: bool = False) -> dict[str, Any]:
    """Return a hit; for an agent with its text fenced, and why it is there in a line.

    `explained`: with all reasons and their shares instead. A person always gets these.
    """
    if not mark:
        return dict(to_json(one))
    kept = ("id", "path", "anchor", "kind", "agent", "time", "session", "truncated")
    body: dict[str, Any] = {name: getattr(one, name) for name in kept if getattr(one, name)}
    if PLAIN_ID.fullmatch(one.message):
        body["message"] = one.message
    parts = {name: round(value, 4) for name, value in one.parts.items()}
    return body | {
        "score": round(one.score, 4),
        "parts": parts,
        "why": _reasons(one) if explained else render.why_words(one),
        "text": render.hit_text(one, mark),
    }


def _reasons(one: Hit) -> list[dict[str, Any]]:
    return [{"words": reason.words, "share": round(reason.share, 3)} for reason in one.why]


def index_state(state: IndexState, shown_faults: int = 0) -> dict[str, Any]:
    """Return an index's state with its first faults only: a vault can have thousands."""
    body = dict(to_json(state))
    body["faults"] = body["faults"][:shown_faults]
    return body | {"fault_count": len(state.faults)}


def fetched(response: Fetched, mark: str) -> dict[str, Any]:
    """Return a text and where to go on."""
    body = dict(to_json(response))
    if mark:
        del body["title"]
        body["text"] = render.fetched_text(response, mark) if response.text else ""
        body |= {"message": render.empty_text(response)} if not response.text else {}
    return body


def outcome(response: Outcome, mark: str) -> dict[str, Any]:
    """Return what a write came to; a model reads the facts it quotes in the fenced message."""
    body = dict(to_json(response))
    if mark:
        for quoted in ("fact", "before", "nearest"):
            del body[quoted]
        body["message"] = render.outcome_message(response, mark)
    return body


def updated(response: Outcome | Heard, mark: str) -> dict[str, Any]:
    """Return what memory_update came to: of an operation, or of what the person said."""
    return outcome(response, mark) if isinstance(response, Outcome) else _heard(response, mark)


def shown(response: Shown, mark: str) -> dict[str, Any]:
    """Return what an agent knows: its facts as one fenced text, or one by one for a person."""
    body = dict(to_json(response))
    if mark:
        del body["sections"], body["new"]
        body["facts"] = render.facts(response, mark)
    return body


def context(response: Start, mark: str) -> dict[str, Any]:
    """Return the parts of a start context."""
    body = dict(to_json(response.context))
    for part, source in zip(body["parts"], response.context.parts, strict=True):
        part["text"] = render.context_text(response, source, mark)
    waiting = response.waiting.count
    return body | {"waiting": waiting, "message": render.context_message(response)}


def heard(response: Sequence[Heard], mark: str) -> dict[str, Any]:
    """Return what each sentence was understood as, and what came of it."""
    return {"heard": [_heard(one, mark) for one in response]}


def _heard(one: Heard, mark: str) -> dict[str, Any]:
    """Return one sentence's intent and outcome; a model reads the facts in the fenced message."""
    intent = one.intent
    correct = {"old": intent.old, "new": intent.new}
    body: dict[str, Any] = {
        "intent": intent.intent,
        "lang": intent.lang,
        "payload": correct if intent.intent == "correct" else intent.payload,
        "confidence": round(intent.confidence, 3),
        "message": render.heard_message(one, mark) if mark else one.message,
        "outcome": one.outcome.outcome,
        "agent": one.outcome.agent,
        "path": one.outcome.path,
        "block": one.outcome.block,
    }
    return body if mark else body | {"fact": one.outcome.fact, "facts": list(one.facts)}
