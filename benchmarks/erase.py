"""Measure an erasure on a generated vault: its preview, the erasure with its search, and once more.

    python benchmarks/erase.py --notes 10000 --vectors 1000

`--notes` is the size of a vault that is indexed by words alone, `--vectors` that of a smaller one
with an embedder and Chroma. Each gets a session of twenty messages for every ten notes, a summary
for every five sessions, a brain and an audit; one session in fifty says what is to be erased, and
so do two notes, which must stay. Prints the machine and a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from make_vault import Words, make_vault
from speed import machine

from vaultmind.app import App, open_app
from vaultmind.config import Flags, load_config
from vaultmind.memory.forget.erasure import Erasure
from vaultmind.types import PERSON, MemoryWrite, SearchRequest

SAID = "Bartholomew hid the ruby astrolabe behind the organ"
WORDS = "ruby astrolabe behind the organ"
MESSAGES = 20
NOTES_A_SESSION = 10
SAYING = 50
"""One session in so many says it."""
MEMORY = "VaultMind/agents/main/memory"


def furnish(vault: Path, notes: int) -> None:
    """Write notes, an export of conversations, summaries and two notes of the person's own."""
    make_vault(vault, notes)
    rng = random.Random(11)
    words = Words("en", random.Random(7))
    lines = []
    for session in range(notes // NOTES_A_SESSION):
        day = f"2026-{session % 12 + 1:02d}-{session % 28 + 1:02d}"
        for number in range(MESSAGES):
            text = " ".join(words.sentence(rng) for _ in range(rng.randint(1, 4)))
            if session % SAYING == 0 and number == MESSAGES // 2:
                text = f"{text} {SAID}. {words.sentence(rng)}"
            role = "user" if number % 2 else "assistant"
            stamp = f"{day}T10:{number:02d}:00Z"
            record = {"session": f"s{session}", "time": stamp, "role": role, "content": text}
            lines.append(json.dumps(record | {"id": f"{session}-{number}"}))
    vault.with_name(f"{vault.name}.jsonl").write_text("\n".join(lines), "utf-8")
    for number in range(notes // NOTES_A_SESSION // 5):
        path = vault / MEMORY / f"summaries/L1/L1_{number + 1:03d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = " ".join(words.sentence(rng) for _ in range(8))
        path.write_text(f"# Summary\n\n{text} {SAID if number % 10 == 0 else ''}\n", "utf-8")
    for number in range(2):
        (vault / f"Mine {number}.md").write_text(f"# Mine\n\nI know that {SAID}.\n", "utf-8")


def timed(work: Callable[[], object]) -> tuple[float, object]:
    """Return the seconds that a call takes, and what it returns."""
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def megabytes(folder: Path) -> float:
    """Return the size of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def measure(notes: int, root: Path, embedder: str) -> dict[str, float | str]:
    """Return the figures of one vault."""
    vault = root / f"vault-{notes}-{embedder}"
    furnish(vault, notes)
    config = load_config(Flags(vault=str(vault), state_dir=str(root / "state")))
    config = replace(config, index=replace(config.index, embedder=embedder, watch=False))
    app = open_app(config)
    app.start()
    try:
        app.importer.import_file(vault.with_name(f"{vault.name}.jsonl"), "main")
        for number in range(20):
            app.requests.ask(
                MemoryWrite(
                    "remember", "main", PERSON, f"Likes the number {number} and the word w{number}"
                )
            )
        app.requests.ask(MemoryWrite("remember", "main", PERSON, SAID))
        app.index.wait_ready(7200, vectors=True)
        return figures(app, notes)
    finally:
        app.close()


def figures(app: App, notes: int) -> dict[str, float | str]:
    """Erase, and return what it took; fails where something is left."""
    state = app.index.state()
    found = {
        "notes": float(notes),
        "sessions": float(notes // NOTES_A_SESSION),
        "chunks": float(state.chunks),
        "vectors": float(state.vectors),
        "state folder, MB": megabytes(app.config.state_dir),
    }
    taken, preview = timed(lambda: app.gate.preview_erasure(Erasure(WORDS, PERSON)))
    found["preview, s"] = taken
    taken, erased = timed(lambda: app.gate.erase(Erasure(WORDS, PERSON), app.index.erasing))
    found["erasure with its search, s"] = taken
    if erased.outcome != "erased" or len(erased.yours) != 2:
        raise SystemExit(f"not erased: {erased}")
    found["places erased"] = float(sum(preview.counts.values()))
    taken, _ = timed(lambda: app.index.wait_ready(7200, vectors=True))
    found["until all vectors are back, s"] = taken
    taken, _ = timed(lambda: app.gate.erase(Erasure(WORDS, PERSON), app.index.erasing))
    found["the same once more, s"] = taken
    hits = app.index.search(SearchRequest(SAID, limit=50), PERSON).hits
    if any("astrolabe" in hit.text for hit in hits if not hit.path.startswith("Mine")):
        raise SystemExit("it is still found")
    return found


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, default=10000)
    parser.add_argument("--vectors", type=int, default=1000)
    parser.add_argument("--embedder", default="use")
    args = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="vaultmind-erase-"))
    try:
        columns = {
            f"{args.notes:,} notes, words only": measure(args.notes, root, "none"),
            f"{args.vectors:,} notes, with vectors": measure(args.vectors, root, args.embedder),
        }
    finally:
        shutil.rmtree(root, ignore_errors=True)
    print(f"{machine()}\n\n| | {' | '.join(columns)} |\n|---|---|---|")
    for name in next(iter(columns.values())):
        cells = (f"{one[name]:,.2f}".removesuffix(".00") for one in columns.values())
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
