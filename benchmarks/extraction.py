"""Measure extraction on labelled dialogues: precision, recall, junk and leaks, by language.

    python benchmarks/extraction.py                       # all dialogues
    python benchmarks/extraction.py --part round11 --show

One line of benchmarks/data/dialogues_*.jsonl is {"id", "lang", "about", "brain": [facts],
"messages": [{"id", "role", "text"}], "gold": [{"category": [any of], "says": [[any of], ...],
"evidence", "replaces"?}], "maybe": [facts that may be kept or not], "never": [texts that must
not be kept]}. A found fact is right where it shares evidence with a gold one and says all that it
must. What is neither right nor a maybe is junk; so is a fact that the brain has already.

Every part was blind once: written by people who did not know the rules, measured, and only then
looked at, and the rules bettered. From then on its figures say that nothing broke, not how good
extraction is. Nothing is learnt from rounds 10 to 16 and the traps.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from example import DATA, read

from vaultmind.consolidate.extract import extract
from vaultmind.consolidate.types import Candidate, Extraction
from vaultmind.language.words import fold
from vaultmind.types import Fact, Message

_FOUND = {path.stem.partition("_")[2] for path in DATA.glob("dialogues_*.jsonl")}
PARTS = tuple(sorted(one for one in _FOUND if not one.startswith("alone")))
LANGUAGES = ("en", "pl", "ru")


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one dialogue."""

    dialogue: dict[str, Any]
    right: tuple[Candidate, ...]
    junk: tuple[Candidate, ...]
    missed: tuple[dict[str, Any], ...]
    leaks: tuple[str, ...]
    sorted_right: int
    """Facts found in the category that was meant."""
    extraction: Extraction


def load(part: str) -> list[dict[str, Any]]:
    """Return the dialogues of a part."""
    return read(DATA / f"dialogues_{part}.jsonl")


def run(dialogue: dict[str, Any]) -> Result:
    """Return what is extracted from a dialogue, and what of it is right and wrong."""
    messages = [Message(m["role"], m["text"], "", id=m["id"]) for m in dialogue["messages"]]
    brain = [Fact(text, "user", block=f"k{at}") for at, text in enumerate(dialogue["brain"])]
    found = extract(messages, brain)
    matched: set[int] = set()
    right, junk, sorted_right = [], [], 0
    for one in found.facts:
        meant = [at for at, gold in enumerate(dialogue["gold"]) if _is(one, gold)]
        if meant:
            right.append(one)
            sorted_right += any(
                one.category in (dialogue["gold"][at]["category"] or [one.category]) for at in meant
            )
            matched.update(meant)
        elif not any(_is(one, maybe) for maybe in dialogue["maybe"]):
            junk.append(one)
    missed = [gold for at, gold in enumerate(dialogue["gold"]) if at not in matched]
    kept = [fold(f"{one.text}") for one in found.facts if one.category != "DELETE"]
    leaks = [never for never in dialogue["never"] if any(fold(never) in text for text in kept)]
    return Result(
        dialogue,
        tuple(right),
        tuple(junk),
        tuple(missed),
        tuple(leaks),
        sorted_right,
        found,
    )


def _is(one: Candidate, gold: dict[str, Any]) -> bool:
    text = fold(f"{one.text} {one.replaces if one.category == 'UPDATE' else ''}")
    text = fold(one.text) if "replaces" not in gold else text
    says = all(any(fold(way) in text for way in ways) for ways in gold["says"])
    deletes = (one.category == "DELETE") == ("DELETE" in gold["category"])
    return bool(set(one.evidence) & set(gold["evidence"])) and says and deletes


def table(title: str, results: list[Result]) -> None:
    """Print the figures of some dialogues, by language."""
    print(
        f"\n| {title} | dialogues | gold | found | precision | recall | junk | leaks | category |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for lang in (*LANGUAGES, "all"):
        own = [one for one in results if lang in (one.dialogue["lang"], "all")]
        right, junk = sum(len(r.right) for r in own), sum(len(r.junk) for r in own)
        gold, missed = sum(len(r.dialogue["gold"]) for r in own), sum(len(r.missed) for r in own)
        leaks = sum(len(r.leaks) for r in own)
        found = right + junk
        print(
            f"| {lang} | {len(own)} | {gold} | {found} | {right / max(1, found):.2f} "
            f"| {(gold - missed) / max(1, gold):.2f} | {junk / max(1, found):.2f} | {leaks} "
            f"| {sum(r.sorted_right for r in own) / max(1, right):.2f} |"
        )


def show(one: Result) -> None:
    """Print what is wrong with a dialogue."""
    name = f"{one.dialogue['id']} {one.dialogue['about']}"
    for fact in one.junk:
        print(f"{name}: JUNK [{fact.category}] {fact.text} ({', '.join(fact.evidence)})")
    for gold in one.missed:
        said = [m["text"] for m in one.dialogue["messages"] if m["id"] in gold["evidence"]]
        print(f"{name}: MISSED {gold['says']} in {said}")
        for drop in one.extraction.dropped:
            if set(drop.evidence) & set(gold["evidence"]):
                print(f"    dropped: {drop.reason} {drop.text}")
    for leak in one.leaks:
        print(f"{name}: LEAK {leak}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=(*PARTS, "all"), default="all")
    parser.add_argument("--show", action="store_true", help="print what is wrong")
    given = parser.parse_args()
    run(load("tuned")[0])  # the first call loads models and patterns
    for part in PARTS if given.part == "all" else (given.part,):
        results = [run(dialogue) for dialogue in load(part)]
        table(part, results)
        if given.show:
            for one in results:
                show(one)


if __name__ == "__main__":
    main()
