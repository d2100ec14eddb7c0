"""`search_feedback`: what a hit was worth; and what is heard of searches without asking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from vaultmind.errors import BadArgument
from vaultmind.learn.feedback import Judgement, Shown, Verdict
from vaultmind.serve.calls.call import known_agent
from vaultmind.serve.calls.fencing import named
from vaultmind.serve.calls.requests import MAX_TEXT, FetchArgs, SearchArgs
from vaultmind.serve.calls.schema import arg, to_json
from vaultmind.serve.memory import searching
from vaultmind.types import SearchResponse

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.index.search.fetch import Fetched
    from vaultmind.serve.calls.call import Call

NARROWED: tuple[str, ...] = ("kinds", "folder", "tag", "after", "before", "agent")
"""Filters: what is found with one says little of what is to be found without."""


@dataclass(frozen=True, slots=True)
class JudgeArgs:
    """Arguments of search_feedback."""

    hit: str = arg("A hit's id, or a path like `Folder/Note.md#Heading`.", min=1, max=MAX_TEXT)
    verdict: Literal["useful", "wrong"] = arg("What it was to the question.")
    query: str = arg(
        "What was asked; default: the last search that showed the hit.",
        default="",
        max=MAX_TEXT,
        loose=True,
    )
    agent: str = arg("In whose memory it is kept; default: yours.", default="")


def search(app: App, call: Call, args: SearchArgs) -> SearchResponse:
    """Search notes and memory, and keep in mind what was shown.

    A search with filters is none to learn from. Raises what `searching.search` raises.
    """
    found = searching.search(app, call, args)
    if not any(getattr(args, name) for name in NARROWED):
        app.search_feedback.asked(call.caller, args.query, found.hits)
    return found


def fetch(app: App, call: Call, args: FetchArgs) -> Fetched:
    """Return the whole text of a hit or a note: a search that showed it found something.

    Raises what `searching.fetch` raises.
    """
    found = searching.fetch(app, call, args)
    app.search_feedback.fetched(call.caller, args.id, found.path, found.anchor)
    return found


def run(app: App, call: Call, args: JudgeArgs) -> Judgement:
    """Take a verdict down.

    Raises NotFound for a hit that is not there, BadArgument for one whose search nobody knows,
    NotAllowed where no records are kept.
    """
    agent = known_agent(app, call.caller, args.agent) if args.agent else ""
    return judge(app, call, args.query, args.hit, args.verdict, agent=agent)


def judge(
    app: App, call: Call, query: str, hit: str, verdict: Verdict, *, agent: str = ""
) -> Judgement:
    """Take a verdict on a hit down; `query` empty: that of the last search that showed it."""
    name, heard = hit.strip(), app.search_feedback
    found = heard.shown(call.caller, query, name)
    if found is not None:
        asked_with, shown = found
        return heard.judge(call.caller, query.strip() or asked_with, shown, verdict, agent)
    if not query.strip():
        raise BadArgument(
            "query",
            query,
            "the words that were asked",
            said=f"No search of yours in the last half hour showed {name[:200]!r}: say in 'query' "
            "what was asked.",
        )
    there = app.index.fetch(name, call.caller, max_tokens=1)
    place = Shown("" if "/" in name or "." in name else name, there.path, there.anchor)
    return heard.judge(call.caller, query, place, verdict, agent)


def words(response: Judgement, mark: str = "") -> str:
    """Return what a verdict came to."""
    place = named(f"{response.path}{response.anchor}", mark)
    told = f"{place} is {response.verdict} for “{named(response.query, mark)}”"
    if not response.new:
        return f"Known already: {told}."
    return f"Kept in {response.agent}'s memory, for the ranker to learn from: {told}."


def as_json(response: Judgement, mark: str = "") -> dict[str, Any]:
    """Return a verdict as it is kept, with what it came to in words."""
    told = dict(to_json(response)) | {"message": words(response, mark)}
    return told | {name: named(told[name], mark) for name in ("query", "path", "anchor")}
