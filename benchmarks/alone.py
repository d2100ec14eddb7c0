"""Write out what the engine without a model keeps of a set of dialogues, to be judged by hand.

    python benchmarks/alone.py OUT.jsonl [--set dialogues_alone_blind3]

One line of benchmarks/data/dialogues_alone.jsonl is {"id", "lang", "date", "messages": [{"role",
"text"}], "known": [facts of the brain], "facts": [{"text", "updates"}]}. One line of OUT is
{"id", "lang", "text"}, a fact that would be written. Printed are how many, and the share of the
references most of whose content words one fact of their dialogue says.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from example import DATA, read

from vaultmind.consolidate.extract import extract
from vaultmind.language.words import content
from vaultmind.types import Fact, Message

MOST = 0.6
"""Share of a reference's content words that a fact must say."""


def says(fact: str, reference: str) -> bool:
    """Tell whether a fact says most of a reference."""
    mine, wanted = content(fact), content(reference)
    found = sum(any(word.same(other) for other in mine) for word in wanted)
    return bool(wanted) and found >= MOST * len(wanted)


def main() -> None:
    """Write the facts, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--set", default="dialogues_alone", help="a file of benchmarks/data")
    given = parser.parse_args()
    written, found, wanted, unclear = Counter[str](), Counter[str](), Counter[str](), 0
    updates = replaced = 0
    lines: list[str] = []
    for one in read(DATA / f"{given.set}.jsonl"):
        messages = [
            Message(said["role"], said["text"], f"{one['date']}T09:00:00+00:00", id=f"m{at}")
            for at, said in enumerate(one["messages"])
        ]
        brain = [Fact(text, "user", block=f"k{at}") for at, text in enumerate(one.get("known", []))]
        came = extract(messages, brain)
        gold = [fact["text"] for fact in one.get("facts", [])]
        updates += sum(bool(fact["updates"]) for fact in one.get("facts", []))
        replaced += sum(fact.category == "UPDATE" for fact in came.facts)
        facts = [fact.text for fact in came.facts if fact.category != "DELETE"]
        unclear += sum(drop.reason == "unclear alone" for drop in came.dropped)
        for lang in (one["lang"], "all"):
            written[lang] += len(facts)
            wanted[lang] += len(gold)
            found[lang] += sum(any(says(fact, text) for fact in facts) for text in gold)
        shown = ({"id": one["id"], "lang": one["lang"], "text": text} for text in facts)
        lines += [json.dumps(row, ensure_ascii=False) for row in shown]
    given.out.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    print("| language | written | references | recall |\n|---|---:|---:|---:|")
    for lang in sorted(wanted, key=lambda name: (name == "all", name)):
        recall = found[lang] / max(1, wanted[lang])
        print(f"| {lang} | {written[lang]} | {wanted[lang]} | {recall:.2f} |")
    print(f"\n{unclear} candidates wait for a better reader.")
    print(f"{replaced} facts update a known one; the references have {updates}.")


if __name__ == "__main__":
    main()
