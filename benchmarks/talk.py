"""What a conversation in memory costs: to read, to look at, to grow, to fold, to hold.

    python benchmarks/talk.py [--messages 100 1000 10000] [--json]

The conversation is generated (`summary_talks.py` has one like it), with vectors of the bundled
embedder's length. Times are of the processor, so that what else runs on the machine does not
count; a message that comes is measured without the writing of it.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from vaultmind.config import Config
from vaultmind.session.conversation import Conversations
from vaultmind.session.summary import Window
from vaultmind.types import Caller, Message
from vaultmind.vault.files import Change, VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.transcript import SessionMeta, render_header, render_message
from vaultmind.vault.writer import VaultWriter

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

DIM, ROUNDS, GROWN = 512, 200, 40
SESSION = "2026-03-01_001"
NOUNS = ("kettle", "orchard", "lantern", "violin", "staircase", "river", "parrot", "cupboard")
SAID = (
    "The {a} near the {b} was quiet again this morning, and Marta noticed it before we did.",
    "I keep thinking about the {a} and how it smells of {b}; what would you do about it?",
    "We decided to move the {a} to the {b} on {n} March, for {n}{n} euros.",
    "Somebody left a {a} beside the {b}. Nobody asked why. Tomorrow I will look at it again.",
    "Thanks, that sounds good.",
)


class Gate:
    """Stores records without an audit."""

    def __init__(self, paths: VaultPaths) -> None:
        self._writer = VaultWriter(paths)

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> object:
        return self._writer.edit(relative, change)

    def keeps_records(self, agent: str) -> bool:
        return True


class Vectors:
    """Gives every message a vector: that of an index which has embedded all."""

    embedder_id = "use"
    vector_state: object = 0

    def message_vectors(self, path: str, wanted: Collection[str]) -> dict[str, Matrix]:
        import numpy as np

        row = np.full(DIM, DIM**-0.5, np.float32)
        return dict.fromkeys(wanted, row)


def said(number: int, rng: random.Random) -> Message:
    """Return one message."""
    pick = SAID[-1] if number % 9 == 0 else rng.choice(SAID)
    text = pick.format(a=rng.choice(NOUNS), b=rng.choice(NOUNS), n=rng.randrange(1, 29))
    day, minute = 1 + number // 1440 % 28, number % 1440
    clock = f"{minute // 60:02d}:{minute % 60:02d}:00"
    role = "user" if number % 2 else "assistant"
    time_ = f"2026-03-{day:02d}T{clock}+01:00"
    return Message(role, text, time_, f"t:{number}", block=f"m{number}")  # type: ignore[arg-type]


def took_ms(work: Callable[[], object]) -> float:
    """Return how long something took the processor."""
    started = time.process_time_ns()
    work()
    return (time.process_time_ns() - started) / 1e6


def held_mb() -> float:
    """Return the memory of this process."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * 4096 / 1e6


def measure(root: Path, messages: int) -> dict[str, Any]:
    """Measure one length."""
    paths, rng = VaultPaths(root), random.Random(1)
    file = root / paths.session("main", SESSION)
    file.parent.mkdir(parents=True)
    header = render_header(SessionMeta(SESSION, "main", started="2026-03-01T00:00:00+01:00"))
    talk = [said(number, rng) for number in range(1, messages + GROWN + 1)]
    file.write_text(header + "".join(render_message(one) for one in talk[:messages]), "utf-8")
    talks = Conversations(
        VaultReader(paths, 0), Gate(paths), lambda _: frozenset(), Vectors(), Config(root, root)
    )
    before = held_mb()
    first = took_ms(lambda: talks.view("main", SESSION))
    held = held_mb() - before
    time.sleep(0.1)  # a file that has just changed is looked at again
    talks.view("main", SESSION)
    same = [took_ms(lambda: talks.view("main", SESSION)) for _ in range(ROUNDS)]
    grown = []
    for one in talk[messages:]:
        with file.open("a", encoding="utf-8") as out:
            out.write(render_message(one))
        grown.append(took_ms(lambda: talks.view("main", SESSION)))
    view = talks.view("main", SESSION)
    assert view is not None
    fold = took_ms(lambda: talks.fold(view, Window()))
    return {
        "messages": messages,
        "file_mb": round(file.stat().st_size / 1e6, 2),
        "first_view_ms": round(first, 1),
        "unchanged_ms": round(statistics.median(same), 3),
        "one_more_ms": round(statistics.median(grown), 2),
        "first_fold_ms": round(fold, 1),
        "fold_ms_a_message": round(fold / (messages + GROWN), 2),
        "held_mb": round(held, 1),
    }


def main() -> None:
    """Measure all lengths and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, nargs="+", default=[100, 1000, 10_000])
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder, "warm"), 30)  # what is loaded once is not counted
        found = [measure(Path(folder, str(number)), number) for number in args.messages]
    for one in found:
        print(json.dumps(one) if args.json else "  ".join(f"{k} {v}" for k, v in one.items()))


if __name__ == "__main__":
    main()
