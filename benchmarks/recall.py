"""How often the evidence is in the context: auto-RAG with the last messages, and without.

    python benchmarks/recall.py PATH/locomo.json [--embedder use|e5|none] [--json]

LoCoMo (Maharana et al., ACL 2024) is CC BY-NC 4.0 and is not part of this repository. The turns
of a conversation stand one after the other as one segment; the context of a question is auto-RAG's
block within its share of the budget and the last messages in what is left. A share is the mean
over questions of how much of their evidence stands there whole; categories 1 to 4. Then small
talk that should bring nothing, and times.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from vaultmind import tokens
from vaultmind.index.embedders.embed import open_embedder
from vaultmind.ports import Embedder
from vaultmind.session.recall import autorag
from vaultmind.session.recall.segment import (
    MIN_VECTOR_TOKENS,
    Query,
    Scope,
    SegmentIndex,
    SegmentMessage,
)
from vaultmind.session.recall.triggers import phrases, small_words

BUDGETS = (1800, 4000)
SIZES = (100, 1_000, 10_000)
ROUNDS = 7
SMALL_TALK = Path(__file__).parent / "data" / "small_talk.jsonl"
Choose = Callable[["Talk", str, frozenset[str], int], tuple[frozenset[str], int]]


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the turns that hold its answer."""

    text: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation as one segment."""

    messages: tuple[SegmentMessage, ...]
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
    if not arguments.data.is_file():
        sys.exit(f"There is no {arguments.data}: LoCoMo is not shipped here, name your copy of it.")
    embedder = open_embedder(arguments.embedder)
    talks = [talk(one, embedder) for one in json.loads(arguments.data.read_text("utf-8"))]
    found: dict[str, Any] = {"evidence": evidence(talks)}
    found["defaults"] = defaults(talks)
    found["small talk"] = small_talk(talks)
    found["times"] = {str(size): timed(talks, size) for size in SIZES}
    if arguments.json:
        print(json.dumps(found, indent=1))
    else:
        _show(found)


def talk(conversation: dict[str, Any], embedder: Embedder | None) -> Talk:
    """Return a conversation as auto-RAG sees it."""
    said, number, messages = conversation["conversation"], 0, []
    while turns := said.get(f"session_{(number := number + 1)}"):
        for turn in turns:
            link = f"[[#^m{len(messages) + 1}]]"
            cost = tokens.count(turn["text"])
            messages.append(
                SegmentMessage(turn["dia_id"], "user", turn["text"], cost, turn["speaker"], 1, link)
            )
    index = indexed(messages, embedder)
    return Talk(tuple(messages), tuple(_questions(conversation["qa"])), index, embedder)


def indexed(messages: list[SegmentMessage], embedder: Embedder | None) -> SegmentIndex:
    """Return an index of messages with their vectors."""
    index = SegmentIndex(embedder.id if embedder else "")
    for message in messages:
        index.add(message)
    long = [message for message in messages if message.tokens >= MIN_VECTOR_TOKENS]
    if embedder is not None and long:
        for message, row in zip(long, embedder.embed([one.text for one in long]), strict=True):
            index.add(message, row)
    return index


def _questions(items: list[dict[str, Any]]) -> Iterable[Question]:
    for item in items:
        named = " ".join(item.get("evidence") or ()).replace(";", " ").replace(",", " ").split()
        if named and item["category"] in {1, 2, 3, 4}:
            yield Question(item["question"], frozenset(named))


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
    room = int(autorag.BUDGET_SHARE * budget)
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
        keys.append(message.key)
    return keys


def by_autorag(
    talk: Talk, query: str, window: frozenset[str], room: int
) -> tuple[frozenset[str], int]:
    """Return what auto-RAG shows whole, and what it costs."""
    request = autorag.Request((query,), 1, window, autorag.Room(room, None))
    block = autorag.recall(talk.index, request, talk.embedder)
    return frozenset(block.messages), block.tokens


def by_words_alone(
    talk: Talk, query: str, window: frozenset[str], room: int
) -> tuple[frozenset[str], int]:
    """Return what plain BM25 ranks first, as much as fits, shown as auto-RAG shows it."""
    postings = talk.index._postings
    scores = postings.score(postings.telling(query), ()).score
    header = tokens.count(phrases("en").header)
    keys, left = set(), room - header
    for at in sorted(range(len(scores)), key=lambda at: -scores[at]):
        message = talk.messages[at]
        cost = tokens.count(f"user {message.speaker} {message.link}: {message.text}\n")
        if scores[at] > 0 and message.key not in window and cost <= left:
            keys.add(message.key)
            left -= cost
    return frozenset(keys), room - left


def defaults(talks: list[Talk]) -> dict[str, float]:
    """Return what the defaults do (3 messages, 400 tokens) beside a window of 20 messages."""
    settings, shares, spent, brought = autorag.AutoRagSettings(), [], [], []
    for one in talks:
        last = frozenset(message.key for message in one.messages[-20:])
        for question in one.questions:
            request = autorag.Request((question.text,), 1, last, autorag.room_of(settings))
            block = autorag.recall(one.index, request, one.embedder)
            held = last | set(block.messages)
            shares.append(len(question.evidence & held) / len(question.evidence))
            spent.append(block.tokens)
            brought.append(bool(block.messages))
    return {
        "evidence": statistics.fmean(shares),
        "tokens": statistics.fmean(spent),
        "questions that bring something": statistics.fmean(brought),
    }


def small_talk(talks: list[Talk]) -> dict[str, Any]:
    """Return how often small talk brings nothing, and what brought something."""
    rows = [json.loads(line) for line in SMALL_TALK.read_text("utf-8").splitlines()]
    brought = []
    for one in talks:
        for row in rows:
            request = autorag.Request((row["text"],), 1, frozenset(), autorag.Room(400, 3))
            if autorag.recall(one.index, request, one.embedder).messages:
                brought.append(row["text"])
    total = len(rows) * len(talks)
    return {
        "messages": total,
        "bring nothing": 1 - len(brought) / total,
        "brought something": sorted(set(brought)),
    }


def timed(talks: list[Talk], size: int) -> dict[str, float]:
    """Return times of a search in milliseconds, the question's vector at hand: best of rounds."""
    texts = [message for one in talks for message in one.messages]
    embedder = talks[0].embedder
    vectors = embedder.embed([one.text for one in texts]) if embedder else None
    index = SegmentIndex(embedder.id if embedder else "")
    start = time.perf_counter()
    for number in range(size):
        message = texts[number % len(texts)]
        copy = SegmentMessage(str(number), "user", f"{message.text} {number}", message.tokens)
        index.add(copy, vectors[number % len(texts)] if vectors is not None else None)
    added = (time.perf_counter() - start) / size
    asked = [question.text for question in talks[0].questions[:60]]
    rows = embedder.embed(asked) if embedder else [None] * len(asked)
    last = frozenset(str(number) for number in range(size - 20, size))
    best = []
    for text, row in zip(asked, rows, strict=True):
        query = Query(text, row, small_words())
        best.append(min(_once(index, query, Scope(1, last)) for _ in range(ROUNDS)))
    ordered = sorted(best)
    return {
        "p50 ms": statistics.median(best) * 1e3,
        "p95 ms": ordered[int(0.95 * len(ordered))] * 1e3,
        "add ms": added * 1e3,
    }


def _once(index: SegmentIndex, query: Query, scope: Scope) -> float:
    start = time.perf_counter()
    index.search(query, scope)
    return time.perf_counter() - start


def _show(found: dict[str, Any]) -> None:
    print("Share of the evidence in the context: mean (each conversation)")
    for name, budgets in found["evidence"].items():
        for budget, shares in budgets.items():
            each = " ".join(f"{one:.3f}" for one in shares)
            print(f"  {name:28}{budget:>6} tokens  {statistics.fmean(shares):.3f}  ({each})")
    for title in ("defaults", "small talk"):
        print(title)
        for name, value in found[title].items():
            print(f"  {name:32}{value if isinstance(value, (int, list)) else f'{value:.3f}'}")
    print("times")
    for size, values in found["times"].items():
        print(f"  {size:>6} messages  " + "  ".join(f"{n} {v:.2f}" for n, v in values.items()))


if __name__ == "__main__":
    main()
