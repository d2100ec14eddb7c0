"""How well summaries tell what was said: LoCoMo's talks, and what they cost.

    python benchmarks/consolidation.py PATH/locomo.json [--show]

LoCoMo (Maharana et al., ACL 2024; CC BY-NC 4.0) is not part of this repository. Summaries of each
session stand against its `session_summary` by ROUGE-L (F1 of the longest common subsequence of
words; Lin, 2004), beside two baselines that get as many tokens: the first sentences, and those with
the highest TF-IDF; and how many of the turns that an `observation` names are a source of what is
kept, by how many tokens. All three name the speaker in the same way.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from vaultmind.consolidate.extract import extract
from vaultmind.consolidate.levels import (
    Quote,
    Source,
    clean,
    lined_up,
    of_session,
    of_sources,
)
from vaultmind.language.text import plain_sentences
from vaultmind.session.sentences import read
from vaultmind.tokens import count
from vaultmind.types import Message

L1_SESSIONS, L1_TOKENS = 5, 400
FIRST = datetime(2026, 2, 1, 9, 0, tzinfo=timezone(timedelta(hours=1)))
_WORD = re.compile(r"\w+")
_TURN = re.compile(r"D\d+:\d+")
_LINK = re.compile(r"\[\[([^\]|#]+)(?:#\^([^\]|]+))?(?:\|[^\]]*)?\]\]")
_TIME = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Talk:
    """A session of LoCoMo with what people said of it."""

    conversation: str
    started: datetime
    messages: tuple[Message, ...]
    summary: str
    observed: frozenset[str]
    """Ids of the turns that its observations name."""


def locomo(path: Path) -> list[Talk]:
    """Return the sessions of a file of LoCoMo that have a summary."""
    found = []
    for one in json.loads(path.read_text("utf-8")):
        for name, turns in one["conversation"].items():
            summary = one["session_summary"].get(f"{name}_summary")
            if not re.fullmatch(r"session_\d+", name) or not summary or not turns:
                continue
            said = one["conversation"][f"{name}_date_time"]
            started = datetime.strptime(said.upper(), _TIME).replace(tzinfo=FIRST.tzinfo)
            seen = json.dumps(one["observation"].get(f"{name}_observation", {}))
            observed = frozenset(_TURN.findall(seen))
            messages = tuple(_message(turn, started) for turn in turns)
            found.append(Talk(one["sample_id"], started, messages, summary, observed))
    return sorted(found, key=lambda talk: (talk.conversation, talk.started))


def _message(turn: dict[str, Any], started: datetime) -> Message:
    key = turn["dia_id"]
    block = key.replace(":", "-")
    return Message("user", turn["text"], started.isoformat(), key, turn["speaker"], block=block)


def rouge_l(text: str, reference: str) -> float:
    """Return the F1 of the longest common subsequence of two texts' words, in lower case."""
    ours, theirs = (_WORD.findall(one.lower()) for one in (text, reference))
    if not ours or not theirs:
        return 0.0
    row = [0] * (len(theirs) + 1)
    for word in ours:
        before = 0
        for at, other in enumerate(theirs, 1):
            kept = row[at]
            row[at] = before + 1 if word == other else max(row[at], row[at - 1])
            before = kept
    return 2 * row[-1] / (len(ours) + len(theirs))


def lead(spoken: Sequence[Quote]) -> list[Quote]:
    """Return sentences as they stand."""
    return list(spoken)


def tfidf(spoken: Sequence[Quote]) -> list[Quote]:
    """Return sentences by the sum of their words' inverse frequency, the highest first."""
    seen = Counter(stem for one in spoken for stem in set(one.read.stems))

    def worth(one: Quote) -> float:
        return math.fsum(math.log(len(spoken) / seen[stem]) for stem in sorted(set(one.read.stems)))

    return sorted(spoken, key=worth, reverse=True)


def baseline(
    order: Callable[[Sequence[Quote]], list[Quote]], talk: Talk, max_tokens: int
) -> tuple[str, set[str]]:
    """Return (text, turns) of the first sentences in an order that fit, told in their own order."""
    every = [
        Quote(text, one.id, read(text, "en"), one.speaker)
        for one in talk.messages
        for said in plain_sentences(one.text)
        if (text := clean(said))
    ]
    chosen: list[Quote] = []
    for one in order(every):
        more = sorted([*chosen, one], key=every.index)
        if count(lined_up(more)) <= max_tokens:
            chosen = more
        elif order is lead:
            break
    return lined_up(chosen), {one.source for one in chosen}


@dataclass
class Row:
    """One way to keep something of talks, measured."""

    name: str
    rouge: list[float]
    covered: list[float]
    tokens: list[int]

    def line(self) -> str:
        """Return it as a line of the table."""
        rouge = f"{statistics.fmean(self.rouge):.3f}" if self.rouge else "    -"
        covered, tokens = statistics.fmean(self.covered), statistics.fmean(self.tokens)
        per = 1000 * covered / tokens
        return f"{self.name:<34} {rouge}   {covered:6.1%}   {tokens:6.0f}   {per:5.2f}"


def _share(turns: Iterable[str], talk: Talk) -> float:
    return len(talk.observed & set(turns)) / len(talk.observed) if talk.observed else 1.0


def measured(talks: Sequence[Talk], *, show: bool = False) -> tuple[dict[str, Row], list[Row]]:
    """Return the ways to keep something of a session, by name, and those of five, ours first."""
    names = ("lead sentences", "TF-IDF", "our summary", "our facts", "our summary and facts")
    rows = {name: Row(name, [], [], []) for name in names}
    facts, both = rows["our facts"], rows["our summary and facts"]
    began = time.process_time()
    spent = 0.0
    for talk in talks:
        start = time.process_time()
        told = of_session(talk.messages, "en")
        left = extract(talk.messages)
        spent += time.process_time() - start
        marks = {source for one in told.paragraphs for source in one.sources}
        size = count(told.text)
        _add(rows["our summary"], talk, told.text, marks, size)
        _add(rows["lead sentences"], talk, *baseline(lead, talk, size))
        _add(rows["TF-IDF"], talk, *baseline(tfidf, talk, size))
        known = {key for one in left.facts for key in one.evidence}
        words = "\n".join(one.text for one in left.facts)
        facts.covered.append(_share(known, talk))
        facts.tokens.append(count(words))
        both.covered.append(_share(known | marks, talk))
        both.tokens.append(size + count(words))
        if show:
            print(f"\n{talk.conversation} {talk.started.date()}\n{told.text}\n  {words!r}")
    turns = sum(len(talk.messages) for talk in talks)
    if show:
        print(f"{len(talks)} sessions, {turns} turns, {1000 * spent / turns:.1f} ms a turn", end="")
        print(f" (the baselines: {time.process_time() - began - spent:.1f} s in all)")
    return rows, _levels(talks)


def _add(row: Row, talk: Talk, text: str, turns: set[str], tokens: int = 0) -> None:
    row.rouge.append(rouge_l(text, talk.summary))
    row.covered.append(_share(turns, talk))
    row.tokens.append(tokens or count(text))


def _levels(talks: Sequence[Talk]) -> list[Row]:
    """Return what an L1 of every five sessions covers, beside the same tokens of baselines."""
    ours = Row(f"L1 of {L1_SESSIONS} sessions", [], [], [])
    rows = [ours, Row("lead sentences", [], [], []), Row("TF-IDF", [], [], [])]
    for group in _groups(talks):
        sources = [_source(talk) for talk in group]
        told = of_sources("L1", sources, "en", L1_TOKENS)
        marks = {mark.partition("#")[2] for one in told.paragraphs for mark in one.sources}
        turns = {one.id for talk in group for one in talk.messages if one.block in marks}
        whole = Talk(
            group[0].conversation,
            group[0].started,
            tuple(one for talk in group for one in talk.messages),
            " ".join(talk.summary for talk in group),
            frozenset().union(*(talk.observed for talk in group)),
        )
        size = count(told.text)
        _add(ours, whole, told.text, turns, size)
        for row, order in zip(rows[1:], (lead, tfidf), strict=True):
            share = size // len(group)
            parts = [baseline(order, talk, share) for talk in group]
            text, sources_ = "\n".join(t for t, _ in parts), set().union(*(s for _, s in parts))
            _add(row, whole, text, sources_)
    return rows


def _groups(talks: Sequence[Talk]) -> Iterator[list[Talk]]:
    for name in dict.fromkeys(talk.conversation for talk in talks):
        own = [talk for talk in talks if talk.conversation == name]
        for at in range(0, len(own) - L1_SESSIONS + 1, L1_SESSIONS):
            yield own[at : at + L1_SESSIONS]


def _source(talk: Talk) -> Source:
    name = f"{talk.started.date()}_001"
    pieces = tuple(replace(one, id=f"{name}#{one.block}") for one in talk.messages)
    return Source(name, talk.started.isoformat(), pieces)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("locomo", type=Path, help="LoCoMo's JSON file")
    parser.add_argument("--show", action="store_true", help="show what was written")
    args = parser.parse_args()
    found = measured(locomo(args.locomo), show=args.show)
    for title, rows in (("a session", list(found[0].values())), ("five sessions", found[1])):
        print(f"\nof {title:<31} ROUGE-L  coverage  tokens  per 1,000 tokens")
        print("\n".join(row.line() for row in rows))


if __name__ == "__main__":
    main()
