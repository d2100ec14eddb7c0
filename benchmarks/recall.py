"""How often the evidence is in the context: auto-RAG with the last messages, and without.

    python benchmarks/recall.py PATH/locomo.json [--embedder use|e5|none] [--json]

LoCoMo (Maharana et al., ACL 2024) is CC BY-NC 4.0 and is not part of this repository. The turns
of a conversation stand one after the other as one segment; the context of a question is auto-RAG's
block within its share of the budget and the last messages in what is left. A share is the mean
over questions of how much of their evidence stands there whole; categories 1 to 4.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from locomo import Question, load, questions, turns

from vaultmind import tokens
from vaultmind.index.embed import open_embedder
from vaultmind.index.words.terms import query_terms
from vaultmind.ports import Embedder
from vaultmind.session.context import SHARES
from vaultmind.session.recall import (
    RecallRequest,
    SegmentIndex,
    context_words,
    recall,
)
from vaultmind.types import Message

BUDGETS = (1800, 4000)
ADVERSARIAL = 5
Choose = Callable[["Talk", str, frozenset[str], int], tuple[frozenset[str], int]]


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation as one segment."""

    messages: tuple[Message, ...]
    questions: tuple[Question, ...]
    index: SegmentIndex
    embedder: Embedder | None


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="LoCoMo's JSON file")
    parser.add_argument("--embedder", default="use", choices=("use", "e5", "none"))
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    embedder = open_embedder(arguments.embedder)
    found = evidence([talk(one, embedder) for one in load(arguments.data)])
    if arguments.json:
        print(json.dumps(found, indent=1))
        return
    print("Share of the evidence in the context: mean (each conversation)")
    for name, budgets in found.items():
        for budget, shares in budgets.items():
            each = " ".join(f"{one:.3f}" for one in shares)
            print(f"  {name:28}{budget:>6} tokens  {statistics.fmean(shares):.3f}  ({each})")


def talk(conversation: dict[str, Any], embedder: Embedder | None) -> Talk:
    """Return a conversation as auto-RAG sees it."""
    messages: list[Message] = []
    for turn in map(json.loads, turns(conversation["conversation"])):
        block = f"m{len(messages) + 1}"
        told = Message("user", turn["content"], "", turn["id"], turn["speaker"], block=block)
        messages.append(told)
    asked = tuple(one for one in questions([conversation]) if one.category != ADVERSARIAL)
    index = indexed(messages, embedder)
    return Talk(tuple(messages), asked, index, embedder)


def indexed(messages: list[Message], embedder: Embedder | None) -> SegmentIndex:
    """Return an index of messages with their vectors."""
    index = SegmentIndex(embedder.id if embedder else "")
    for message in messages:
        index.add(message)
    if embedder is not None and (lacking := [*index.lacking]):
        texts = [messages[index.lacking[name]].text for name in lacking]
        for name, row in zip(lacking, embedder.embed(texts), strict=True):
            index.give(name, row)
    return index


def evidence(talks: list[Talk]) -> dict[str, dict[str, list[float]]]:
    """Return the share of the evidence in the context, a number a conversation."""
    ways: dict[str, Choose] = {
        "last messages only": lambda talk, query, window, room: (frozenset(), 0),
        "BM25 and last messages": by_words_alone,
        "auto-RAG and last messages": by_autorag,
    }
    return {
        name: {str(budget): [share(talk, way, budget) for talk in talks] for budget in BUDGETS}
        for name, way in ways.items()
    }


def share(talk: Talk, way: Choose, budget: int) -> float:
    """Return the mean share of a question's evidence in its context."""
    room = int(SHARES["earlier"][1] * budget)
    reserved = frozenset(window(talk, budget - room))
    shares = []
    for question in talk.questions:
        shown, spent = way(talk, question.text, reserved, room)
        held = shown | set(window(talk, budget - spent))
        shares.append(len(question.evidence & held) / len(question.evidence))
    return statistics.fmean(shares)


def window(talk: Talk, budget: int) -> list[str]:
    """Return the last messages that fit a budget."""
    keys: list[str] = []
    for message in reversed(talk.messages):
        budget -= tokens.count(f"{message.speaker}: {message.text}\n")
        if budget < 0:
            break
        keys.append(message.id)
    return keys


def by_autorag(
    talk: Talk, query: str, window: frozenset[str], room: int
) -> tuple[frozenset[str], int]:
    """Return what auto-RAG shows whole, and what it costs."""
    request = RecallRequest(query, room, None, window)
    vector = talk.embedder.embed_query(query) if talk.embedder else None
    part = recall(talk.index, request, vector).part
    return (frozenset(part.messages), part.tokens) if part else (frozenset(), 0)


def by_words_alone(
    talk: Talk, query: str, window: frozenset[str], room: int
) -> tuple[frozenset[str], int]:
    """Return what plain BM25 ranks first, as much as fits, shown as auto-RAG shows it."""
    scores, _ = talk.index._by_words(query_terms(query, ("en",)))
    header = tokens.count(context_words("en")["earlier"])
    keys, left = set(), room - header
    for at in sorted(range(len(scores)), key=lambda at: -scores[at]):
        message = talk.messages[at]
        cost = tokens.count(f"user {message.speaker} [[#^{message.block}]]: {message.text}\n")
        if scores[at] > 0 and message.id not in window and cost <= left:
            keys.add(message.id)
            left -= cost
    return frozenset(keys), room - left


if __name__ == "__main__":
    main()
