"""What a sliding summary still knows: planted facts recovered from it, alone and with BM25.

    python benchmarks/summary.py [--seeds 3] [--show en]

Generated conversations (benchmarks/summary_talks.py) of 100 messages with 16 facts and of 1,000
with 40, in three languages: decisions, numbers, names and dates, each said once, three decisions
among the first ten messages; the things they are about also stand in the filler. A fact is
recovered where its value stands in the summary, or in one of the k messages that BM25 finds for
a question about it (plain BM25 over stems: a stand-in for the recall from the session).
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence

from summary_talks import KINDS, Planted, Talk, make_talk

from vaultmind.session.sentences import read
from vaultmind.session.summary import Rolling, fold, parse_rolling, rendered, shown, tokens_of

LENGTHS = {100: 16, 1000: 40}
LANGUAGES = ("en", "pl", "ru")
EVERY = 6
TOP = 3
K1, B = 1.2, 0.75


class Bm25:
    """Plain BM25 over the stems of a conversation's messages."""

    def __init__(self, talk: Talk) -> None:
        self._language = talk.language
        self._texts = [message.text for message in talk.messages]
        self._bags = [Counter(self._stems(text)) for text in self._texts]
        self._mean = statistics.fmean(sum(bag.values()) for bag in self._bags)
        self._seen = Counter(stem for bag in self._bags for stem in bag)

    def best(self, query: str, k: int) -> str:
        """Return the texts of the k best messages."""
        wanted = set(self._stems(query))
        scores = [(self._score(bag, wanted), -number) for number, bag in enumerate(self._bags)]
        best = sorted(scores, reverse=True)[:k]
        return "\n".join(self._texts[-number] for score, number in best if score > 0)

    def _stems(self, text: str) -> list[str]:
        return list(read(text, self._language).stems)

    def _score(self, bag: Counter[str], wanted: set[str]) -> float:
        length = 1 - B + B * sum(bag.values()) / self._mean
        total = 0.0
        for stem in wanted & bag.keys():
            seen = self._seen[stem]
            rare = math.log(1 + (len(self._bags) - seen + 0.5) / (seen + 0.5))
            total += rare * bag[stem] * (K1 + 1) / (bag[stem] + K1 * length)
        return total


def summarised(talk: Talk) -> tuple[Rolling, float]:
    """Return a conversation's summary, by way of its file, and the processor's ms for a fold."""
    text, times = "", []
    rolling = Rolling("talk", "main", talk.language)
    for start in range(0, len(talk.messages), EVERY):
        began = time.process_time()
        rolling = fold(rolling, talk.messages[start : start + EVERY])
        text = rendered(rolling)
        rolling = parse_rolling(text)
        times.append((time.process_time() - began) * 1000)
    return rolling, statistics.median(times)


def share(facts: Sequence[Planted], known: Callable[[Planted], bool]) -> str:
    """Return the share of facts that are known, in words."""
    return f"{sum(map(known, facts)) / len(facts):.2f}" if facts else "-"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--show", default="", help="print the last summary of a language")
    options = parser.parse_args()
    print("| language | messages | " + " | ".join(KINDS) + " | decisions of the first ten")
    print(
        f"  | decisions and numbers, summary + BM25@{TOP} | BM25@{TOP} alone | tokens | ms a fold |"
    )
    for language in LANGUAGES:
        for length, number in LENGTHS.items():
            _row(language, length, number, options.seeds)
        if options.show == language:
            print(shown(summarised(make_talk(language, 1000, LENGTHS[1000], 0))[0]))


def _row(language: str, length: int, number: int, seeds: int) -> None:
    facts: list[tuple[Planted, bool, bool]] = []
    tokens, times = [], []
    for seed in range(seeds):
        talk = make_talk(language, length, number, seed)
        rolling, took = summarised(talk)
        text, search = shown(rolling), Bm25(talk)
        tokens.append(tokens_of(rolling))
        times.append(took)
        for fact in talk.planted:
            found = fact.value in search.best(fact.question, TOP)
            facts.append((fact, fact.value in text, found))
    summary = {fact: known for fact, known, _ in facts}
    either = {fact: known or found for fact, known, found in facts}
    alone = {fact: found for fact, _, found in facts}
    cells = [
        share([one for one in summary if one.kind == kind], summary.__getitem__) for kind in KINDS
    ]
    first = [one for one in summary if one.kind == "decision" and one.at <= 10]
    wanted = [one for one in summary if one.kind in ("decision", "number")]
    cells += [
        share(first, summary.__getitem__),
        share(wanted, either.__getitem__),
        share(wanted, alone.__getitem__),
    ]
    cells += [str(max(tokens)), f"{min(times):.1f}"]
    print(f"| {language} | {length} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
