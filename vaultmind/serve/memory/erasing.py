"""`erase_preview`, `erase`, `topic`: what the person may take out of the memory for good.

All three are the person's alone, as the table of operations says; the gate checks it once more
for what changes anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vaultmind.memory.brain import parse_brain
from vaultmind.memory.forget.erasure import Erased, Erasure, Preview
from vaultmind.memory.forget.topic import about
from vaultmind.plural import counted
from vaultmind.serve.calls.requests import MAX_TEXT
from vaultmind.serve.calls.schema import arg, to_json
from vaultmind.session.records.reading import read_text
from vaultmind.types import Caller, Fact, SearchRequest
from vaultmind.vault.paths import agent_name

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.serve.calls.call import Call

NEAR_FACTS = 8
NEAR_SCORE = 0.45
"""Score from which a fact may be about a topic by its meaning."""


@dataclass(frozen=True, slots=True)
class EraseArgs:
    """Arguments of erase_preview and erase."""

    text: str = arg("The words, or a fact's id (^k3f9).", min=1, max=MAX_TEXT)
    agent: str = arg("Only this agent's memory; default: everybody's.", default="")
    seal: str = arg("Of the preview that was confirmed.", default="", max=64)


@dataclass(frozen=True, slots=True)
class TopicArgs:
    """Arguments of topic."""

    topic: str = arg("What the facts are about.", min=1, max=MAX_TEXT)
    agent: str = arg("Whose memory; default: the configured agent's.", default="")


@dataclass(frozen=True, slots=True)
class TopicFact:
    """A fact that a topic may mean."""

    text: str
    block: str
    path: str
    sure: bool
    """It holds the topic's words; else it is only near in meaning or has some of them."""


@dataclass(frozen=True, slots=True)
class Topic:
    """The facts that a topic means, the sure ones first."""

    agent: str
    topic: str
    facts: tuple[TopicFact, ...]


def preview(app: App, call: Call, args: EraseArgs) -> Preview:
    """Return what an erasure would remove."""
    return app.gate.preview_erasure(_erasure(app, call.caller, args))


def erase(app: App, call: Call, args: EraseArgs) -> Erased:
    """Erase, and return what a search still finds."""
    try:
        return app.gate.erase(_erasure(app, call.caller, args), app.erasing, call.report)
    finally:
        app.search_feedback.clear()  # what was asked lately may say it, too


def topic(app: App, call: Call, args: TopicArgs) -> Topic:
    """Return the facts that a topic means. Nothing is changed."""
    from vaultmind.serve.calls.call import known_agent

    agent = known_agent(app, call.caller, args.agent)
    placed = [(path, fact) for path in _files(app, agent) for fact in _facts(app, path)]
    found = about([fact for _, fact in placed], args.topic)
    near = _near(app, call.caller, agent, args.topic)
    perhaps = [*found.perhaps, *(i for i, (_, fact) in enumerate(placed) if fact.text in near)]
    order = dict.fromkeys((*found.sure, *perhaps))
    facts = (
        TopicFact(placed[i][1].text, placed[i][1].block, placed[i][0], i in found.sure)
        for i in order
    )
    return Topic(agent, args.topic, tuple(facts))


def preview_words(response: Preview, mark: str = "") -> str:
    """Return a preview in words: what goes, by kind and file, and what stays."""
    lines = [response.message]
    lines += [f"  {one.path} {one.place}: {one.excerpt}" for one in response.found]
    return "\n".join(lines)


def preview_json(response: Preview, mark: str = "") -> dict[str, Any]:
    """Return a preview as data."""
    return dict(to_json(response)) | {"empty": response.is_empty}


def erased_words(response: Erased, mark: str = "") -> str:
    """Return what an erasure came to."""
    near = [f"  {one.path}{one.anchor} ({one.cosine:.2f}): {one.excerpt}" for one in response.near]
    return "\n".join([response.message, *near])


def topic_words(response: Topic, mark: str = "") -> str:
    """Return the facts that a topic means."""
    sure = sum(fact.sure for fact in response.facts)
    lines = [f"{counted(sure, 'fact')} about “{response.topic}” in {response.agent}'s memory."]
    lines += [
        f"- {fact.text}" + (f" ^{fact.block}" if fact.block else "") for fact in response.facts
    ]
    return "\n".join(lines)


def _erasure(app: App, caller: Caller, args: EraseArgs) -> Erasure:
    if args.agent:
        from vaultmind.serve.calls.call import known_agent

        known_agent(app, caller, args.agent)
    return Erasure(args.text, caller, agent_name(args.agent) if args.agent else "", args.seal)


def _files(app: App, agent: str) -> tuple[str, ...]:
    return app.paths.brain(agent), app.paths.archive(agent)


def _facts(app: App, path: str) -> tuple[Fact, ...]:
    return parse_brain(read_text(app.reader, path)[0]).all()


def _near(app: App, caller: Caller, agent: str, words: str) -> set[str]:
    """Return the texts of facts that a search by words and meaning finds."""
    request = SearchRequest(
        words, limit=NEAR_FACTS, kinds=("fact",), agent=agent, per_note=100, apart=True
    )
    hits = app.index.search(request, caller).hits
    return {hit.text for hit in hits if hit.score >= NEAR_SCORE}
