"""Measure extraction through the whole product: dialogues imported, then consolidated.

    python benchmarks/asleep.py --part round7 --embedder use --show

Each labelled dialogue (benchmarks/extraction.py says how they are labelled and judged) is imported
for an agent of its own, whose brain is filled first, and consolidated as `vaultmind consolidate`
does it. What was written or replaced counts as found; what waits for the person is counted apart,
right and wrong; and every brain is read for what must never stand in it.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from extraction import judged, load, show, table

from vaultmind.app import App, open_app
from vaultmind.config import Flags, load_config
from vaultmind.consolidate.facts.types import Candidate, Extraction
from vaultmind.consolidate.types import Request, SessionDone, Settled
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.words import fold
from vaultmind.session.records.reading import read_text
from vaultmind.types import PERSON, MemoryWrite

START = "2026-03-02T10:{minute:02d}:{second:02d}+01:00"


def agent_of(dialogue: dict[str, Any]) -> str:
    """Return the name of a dialogue's own agent."""
    return f"d-{dialogue['id'].lower().replace('_', '-')}"


def furnish(app: App, dialogue: dict[str, Any], folder: Path) -> None:
    """Give an agent its brain and its conversation."""
    agent = agent_of(dialogue)
    app.init(agent, dialogue["lang"], PERSON)
    for fact in dialogue["brain"]:
        app.gate.write(MemoryWrite("remember", agent, PERSON, fact, section="user"))
    lines = []
    for number, message in enumerate(dialogue["messages"]):
        stamp = START.format(minute=number // 4, second=number % 4 * 15)
        record = {"session": dialogue["id"], "time": stamp, "role": message["role"]}
        lines.append(json.dumps(record | {"id": message["id"], "content": message["text"]}))
    path = folder / f"{agent}.jsonl"
    path.write_text("\n".join(lines), "utf-8")
    app.importer.import_file(path, agent)


def candidate(one: Settled) -> Candidate:
    """Return a settled fact as the judge reads it."""
    return Candidate(one.category, one.fact, one.evidence, replaces=one.replaces)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="use", help="none, or use")
    parser.add_argument("--part", default="round7")
    parser.add_argument("--minion", default="extractive", help="a model, as in the configuration")
    parser.add_argument("--show", action="store_true", help="print what is wrong")
    given = parser.parse_args()
    dialogues = load(given.part)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "vault/.obsidian").mkdir(parents=True)
        config = load_config(
            Flags(vault=str(folder / "vault"), state_dir=str(folder / "state")), env={}
        )
        config = replace(
            config,
            index=replace(config.index, embedder=given.embedder, watch=False),
            minion=replace(config.minion, model=given.minion),
        )
        app = open_app(config)
        app.start()
        try:
            for dialogue in dialogues:
                furnish(app, dialogue, folder)
            began = time.perf_counter()
            done = app.consolidation.run(Request(), PERSON)
            seconds = time.perf_counter() - began
            report(app, dialogues, {one.agent: one for one in done.sessions}, shown=given.show)
        finally:
            app.close()
    print(f"\n{len(dialogues)} dialogues consolidated in {seconds:.1f} s.")


def report(
    app: App, dialogues: list[dict[str, Any]], done: dict[str, SessionDone], *, shown: bool
) -> None:
    """Print what was found, what waits, and what stands in a brain that must not."""
    results, waits = [], Counter[str]()
    standing: list[str] = []
    for dialogue in dialogues:
        one = done[agent_of(dialogue)]
        written = [candidate(fact) for fact in one.facts if fact.outcome == "written"]
        results.append(judged(dialogue, Extraction(tuple(written), one.dropped), 0.0))
        waiting = [candidate(fact) for fact in one.facts if fact.outcome == "suggested"]
        apart = judged(dialogue, Extraction(tuple(waiting)), 0.0)
        waits.update(right=len(apart.right), junk=len(apart.junk), leaks=len(apart.leaks))
        waits.update(Counter({f"outcome {fact.outcome}": 1 for fact in one.facts}))
        brain = parse_brain(read_text(app.reader, app.paths.brain(one.agent))[0])
        facts = [fold(fact.text) for fact in brain.all()]
        standing += [
            f"{dialogue['id']}: {never}"
            for never in dialogue["never"]
            if any(fold(never) in text for text in facts)
        ]
    table("written", results)
    print(f"Waiting for the person: {dict(waits)}. In a brain and never to be: {standing}.")
    if shown:
        for one in results:
            show(one)


if __name__ == "__main__":
    main()
