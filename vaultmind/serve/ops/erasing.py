"""What the person may take out of the memory for good; the gate checks once more who asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from vaultmind.plural import counted
from vaultmind.serve.calls.call import Call, known_agent
from vaultmind.serve.op import LOCAL, MAX_TEXT, Arg, operation
from vaultmind.serve.show import Reader, dumps, plain, words
from vaultmind.types import Caller, Fact, SearchRequest

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.memory.forget.erasure import Erased, Erasure, Preview

NEAR_FACTS = 8
NEAR_SCORE = 0.45
"""Score from which a fact may be about a topic by its meaning."""
SHOWN = 40
"""Finds of one kind that a preview lists; the rest is a number."""

ErasedText = Annotated[str, Arg("The words, or a fact's id (^k3f9).", min=1, max=MAX_TEXT)]
Only = Annotated[str, Arg("Only this agent's memory; default: everybody's.")]
Seal = Annotated[str, Arg("Of the preview that was confirmed.", max=64)]


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


@operation("What is known about a topic", surfaces=LOCAL, persons=True)
def topic(
    app: App,
    call: Call,
    topic: Annotated[str, Arg("What the facts are about.", min=1, max=MAX_TEXT)],
    agent: Annotated[str, Arg("Whose memory; default: the configured agent's.")] = "",
) -> Topic:
    """List the facts that a topic means, before any is forgotten."""
    from vaultmind.memory.brain import parse_brain
    from vaultmind.memory.forget.wanted import Wanted
    from vaultmind.memory.match import find, mentions
    from vaultmind.session.records.reading import read_text

    whose = known_agent(app, call.caller, agent)
    placed: list[tuple[str, Fact]] = []
    for path in (app.paths.brain(whose), app.paths.archive(whose)):
        facts = parse_brain(read_text(app.reader, path)[0]).all()
        placed += [(path, fact) for fact in facts]
    every, says = [fact for _, fact in placed], Wanted([topic]).says
    match, near = find(every, topic), _near(app, call.caller, whose, topic)
    held = [i for i, one in enumerate(every) if mentions(one.text, topic) or says(one.text)]
    sure = sorted({*held, *match.found})
    perhaps = (*match.nearest, *(i for i, one in enumerate(every) if one.text in near))
    told = (
        TopicFact(placed[i][1].text, placed[i][1].block, placed[i][0], i in sure)
        for i in dict.fromkeys((*sure, *perhaps))
    )
    return Topic(whose, topic, tuple(told))


@operation("What an erasure would remove", surfaces=LOCAL, persons=True)
def erase_preview(
    app: App, call: Call, text: ErasedText, agent: Only = "", seal: Seal = ""
) -> Preview:
    """Show what an erasure would remove, of conversations up to their last words."""
    from vaultmind.serve.ops.hooks import catch_up

    catch_up(app)
    return app.gate.preview_erasure(_erasure(app, call, text, agent, seal))


@operation("Erase every trace", writes=True, surfaces=LOCAL, persons=True)
def erase(app: App, call: Call, text: ErasedText, agent: Only = "", seal: Seal = "") -> Erased:
    """Remove it from every file and index, for good; tell what a search still finds."""
    try:
        return app.gate.erase(_erasure(app, call, text, agent, seal), app.erasing, call.report)
    finally:
        app.search_feedback.clear()  # what was asked lately may say it, too


def _erasure(app: App, call: Call, text: str, agent: str, seal: str) -> Erasure:
    from vaultmind.memory.forget.erasure import Erasure

    whose = known_agent(app, call.caller, agent) if agent else ""
    return Erasure(text, call.caller, whose, seal)


def _near(app: App, caller: Caller, agent: str, said: str) -> set[str]:
    """Return the texts of facts that a search by words and meaning finds."""
    request = SearchRequest(
        said, limit=NEAR_FACTS, kinds=("fact",), agent=agent, per_note=100, apart=True
    )
    hits = app.index.search(request, caller).hits
    return {hit.text for hit in hits if hit.score >= NEAR_SCORE}


@words(Topic)
def _topic_words(found: Topic, to: Reader) -> Iterator[str]:
    sure = sum(fact.sure for fact in found.facts)
    if not found.facts:
        yield f"{found.agent} knows nothing about “{found.topic}”."
        return
    yield f"{counted(sure, 'fact')} about “{found.topic}” in {found.agent}'s memory."
    for number, fact in enumerate(found.facts, 1):
        if number == sure + 1:
            yield "Perhaps also (taken only if you name them):"
        yield f"  {number}. {fact.text}" + (f" ^{fact.block}" if fact.block else "")


@dumps("memory.forget.erasure.Preview")
def _preview_json(found: Preview, to: Reader) -> dict[str, Any]:
    return plain(found) | {"empty": found.is_empty}


@words("memory.forget.erasure.Preview")
def _preview_words(found: Preview, to: Reader) -> Iterator[str]:
    yield found.message
    yield from (f"  meant as well: {one}" for one in found.meant)
    for kind in found.counts:
        those = [one for one in found.found if one.kind == kind]
        yield f"\n{kind} {len(those)}"
        yield from (f"  {one.path} {one.place}  {one.excerpt}" for one in those[:SHOWN])
        yield f"  … and {len(those) - SHOWN} more" if len(those) > SHOWN else ""
    if found.state_files:
        yield f"\nindex and log  {', '.join(found.state_files)}"
    if found.yours:
        yield "\nYours, not touched"
        yield from (f"  {one.path}  {one.excerpt}" for one in found.yours[:SHOWN])
        yield f"  … and {len(found.yours) - SHOWN} more" if len(found.yours) > SHOWN else ""


@words("memory.forget.erasure.Erased")
def _erased_words(erased: Erased, to: Reader) -> Iterator[str]:
    yield erased.message
    for one in erased.near:
        yield f"  {one.path} ({one.why}): {one.excerpt}"
