"""What the person may take out of the memory for good; the gate checks once more who asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from vaultmind.plural import counted
from vaultmind.serve.call import Call, known_agent
from vaultmind.serve.op import LOCAL, MAX_TEXT, Arg, operation
from vaultmind.serve.show import AS_DATA, tells
from vaultmind.types import Caller, Fact, SearchRequest

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.memory.forget.erasure import Erased, Erasure, Preview

NEAR_FACTS = 8
NEAR_SCORE = 0.45
"""Score from which a fact may be about a topic by its meaning."""

ErasedText = Annotated[str, Arg("The words, or a fact's id (^k3f9).", min=1, max=MAX_TEXT)]
Only = Annotated[str, Arg("Only this agent's memory; default: everybody's.")]
Seal = Annotated[str, Arg("Of the preview that was confirmed.", max=64)]


@dataclass(frozen=True, slots=True)
class TopicFact:
    """A fact that a topic may mean."""

    number: int
    text: str
    id: str
    block: str = field(metadata=AS_DATA)
    path: str = field(metadata=AS_DATA)
    sure: bool
    """It holds the topic's words; else it is only near in meaning or has some of them."""


@dataclass(frozen=True, slots=True)
class Topic:
    """The facts that a topic means, the sure ones first."""

    message: str
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
    from vaultmind.session.files import read_text

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
    told = tuple(
        TopicFact(number, fact.text, fact.block and f"^{fact.block}", fact.block, path, is_sure)
        for number, (path, fact, is_sure) in enumerate(
            ((*placed[i], i in sure) for i in dict.fromkeys((*sure, *perhaps))), 1
        )
    )
    said = f"{counted(len(sure), 'fact')} about “{topic}” in {whose}'s memory"
    said += "; others are taken only if you name them." if len(told) > len(sure) else "."
    return Topic(said if told else f"{whose} knows nothing about “{topic}”.", whose, topic, told)


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


tells("memory.forget.erasure.Preview", "message text meant counts found yours state_files seal",
      "message meant counts found yours state_files")  # fmt: skip
tells(
    "memory.forget.erasure.Erased",
    "message outcome counts paths left yours near searched faults",
    "message left near faults",
)
