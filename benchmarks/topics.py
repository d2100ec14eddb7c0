"""How well topic changes are found in conversations whose boundaries are known.

    python benchmarks/topics.py PATH/locomo.json [--embedder use|none] [--shuffles 3]

LoCoMo (Maharana et al., ACL 2024) is CC BY-NC 4.0 and is not part of this repository. Two
tasks: the sessions of one conversation one after the other, and the sessions of all of them
shuffled into one talk; a boundary is where a session begins. No times are given, so that no
pause helps. WindowDiff (Pevzner and Hearst, 2002) and Pk (Beeferman et al., 1999), the window
being half the mean session: 0 is perfect, about 0.5 is chance. A change counts where its
heading would stand: before the message after which it was certain; `as begun` counts it where
the new topic is said to have begun.

Most of these sessions begin with a greeting, which makes a change easier; `no greetings` are
the same talks with every sentence that greets left out.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from vaultmind.index.words.terms import words
from vaultmind.session.sentences import said, sentences
from vaultmind.session.topics import Topics
from vaultmind.types import Message

RANDOM_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Session:
    """A stretch of one conversation."""

    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Talk:
    """Sessions joined: a boundary is the number of the message with which one begins."""

    messages: tuple[Message, ...]
    boundaries: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """What a segmentation is worth."""

    window_diff: float
    pk: float
    found: float
    """Changes found for each true boundary."""


def read_conversations(path: Path) -> list[list[Session]]:
    """Return the sessions of each conversation of the file."""
    found = []
    for item in json.loads(path.read_text("utf-8")):
        talk: dict[str, Any] = item["conversation"]
        sessions, number = [], 1
        while turns := talk.get(f"session_{number}"):
            sessions.append(Session(tuple(_message(turn, talk) for turn in turns)))
            number += 1
        found.append(sessions)
    return found


def _message(turn: dict[str, Any], talk: dict[str, Any]) -> Message:
    role = "user" if turn["speaker"] == talk["speaker_a"] else "assistant"
    return Message(role, turn["text"], "", id=turn["dia_id"], speaker=turn["speaker"])


def without_greetings(conversations: list[list[Session]]) -> list[list[Session]]:
    """Return the same sessions without the sentences that greet; messages of nothing else stay."""
    return [
        [Session(tuple(map(_without_greeting, one.messages))) for one in talk]
        for talk in conversations
    ]


def _without_greeting(message: Message) -> Message:
    kept = [one for one in sentences(message.text) if not said(" ".join(words(one)), "greeting")]
    return replace(message, text=" ".join(kept) or "-")


def joined(sessions: Sequence[Session]) -> Talk:
    """Return sessions as one talk."""
    sizes = accumulate(len(one.messages) for one in sessions)
    return Talk(
        tuple(message for one in sessions for message in one.messages),
        tuple(sizes)[:-1],
    )


def heard(talk: Talk, *, as_begun: bool = False) -> list[int]:
    """Return where the topics change, as a running conversation would find it."""
    running, found = Topics(), []
    for number, message in enumerate(talk.messages):
        if running.hear(message):
            found.append(running.topic.at - 1 if as_begun else number)
    return found


def score(talk: Talk, found: Sequence[int]) -> Score:
    """Return WindowDiff, Pk and how many changes there are for each true boundary."""
    size = len(talk.messages)
    window = max(2, round(size / (len(talk.boundaries) + 1) / 2))
    true, ours = _counted(talk.boundaries, size), _counted(found, size)
    pairs = [
        (true[at + window] - true[at], ours[at + window] - ours[at]) for at in range(size - window)
    ]
    return Score(
        sum(left != right for left, right in pairs) / len(pairs),
        sum((left == 0) != (right == 0) for left, right in pairs) / len(pairs),
        len(found) / len(talk.boundaries),
    )


def _counted(boundaries: Sequence[int], size: int) -> list[int]:
    """Return how many boundaries there are up to each message."""
    marks = [0] * size
    for at in boundaries:
        marks[at] = 1
    return list(accumulate(marks))


def fixed(talk: Talk) -> list[int]:
    """Return a boundary every so many messages, the true number of them."""
    length = len(talk.messages) / (len(talk.boundaries) + 1)
    return [round(length * number) for number in range(1, len(talk.boundaries) + 1)]


def by_chance(talk: Talk, rng: random.Random) -> list[int]:
    """Return the true number of boundaries anywhere."""
    return sorted(rng.sample(range(1, len(talk.messages)), len(talk.boundaries)))


def mean(scores: Sequence[Score]) -> Score:
    """Return the mean of scores."""
    return Score(
        statistics.fmean(one.window_diff for one in scores),
        statistics.fmean(one.pk for one in scores),
        statistics.fmean(one.found for one in scores),
    )


def report(name: str, talks: Sequence[Talk]) -> None:
    """Print a table row for each way of segmenting some talks."""
    rng = random.Random(7)
    ways: list[tuple[str, Callable[[Talk], Score]]] = [
        ("no change at all", lambda talk: score(talk, ())),
        ("fixed length, true number", lambda talk: score(talk, fixed(talk))),
        (
            "random, true number",
            lambda talk: mean([score(talk, by_chance(talk, rng)) for _ in range(RANDOM_ROUNDS)]),
        ),
        ("words", lambda talk: score(talk, heard(talk))),
        ("words, as begun", lambda talk: score(talk, heard(talk, as_begun=True))),
    ]
    for way, measure in ways:
        got = mean([measure(talk) for talk in talks])
        print(f"| {name} | {way} | {got.window_diff:.3f} | {got.pk:.3f} | {got.found:.2f} |")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--shuffles", type=int, default=3)
    options = parser.parse_args()
    if not options.path.is_file():
        parser.error(f"{options.path} is missing: LoCoMo is not part of this repository")
    print("| task | way | WindowDiff | Pk | changes for each boundary |\n|---|---|---|---|---|")
    conversations = read_conversations(options.path)
    for note, versions in (
        ("", conversations),
        (", no greetings", without_greetings(conversations)),
    ):
        in_a_row = [joined(sessions) for sessions in versions]
        report(f"in a row{note}", in_a_row)
        shuffled = []
        for seed in range(options.shuffles):
            sessions = [one for talk in versions for one in talk]
            random.Random(seed).shuffle(sessions)
            shuffled.append(joined(sessions))
        report(f"shuffled{note}", shuffled)
    talk = max(in_a_row, key=lambda one: len(one.messages))
    times = []
    for _ in range(3):
        start = time.perf_counter()
        heard(talk)
        times.append((time.perf_counter() - start) / len(talk.messages) * 1000)
    print(f"\n{min(times):.2f} ms a message")


if __name__ == "__main__":
    main()
