"""Train the rankers that ship in vaultmind/index/weights, and measure them.

    python benchmarks/train_ranker.py PATH/locomo.json [--embedder use|e5] [--keep FOLDER]

Learns from LoCoMo's conversations (Maharana et al., ACL 2024; CC BY-NC 4.0, not part of this
repository) and from benchmarks/data/example_questions.jsonl. The scores in the files are those of
models that did not see what they rank (see benchmarks/ranker.py); the weights are then trained on
all of it. Writes `words.json`, for a search without vectors, and the one of the embedder. The same
data gives the same bytes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ranker import Ranked, asked, names_of, show, table, weights_from

from vaultmind.index.embed import open_embedder
from vaultmind.index.models import FEATURES, SHIPPED, Model, model_text

TRAINED_ON = (
    "LoCoMo, three conversations",
    "benchmarks/data/example_questions.jsonl",
    "benchmarks/data/note_questions.jsonl",
    "benchmarks/data/{morphology_pl,morphology_ru,typos,identifiers}.jsonl",
)
SHOWN = ("R@5", "MRR")


def trained(seen: Sequence[Ranked], embedder: str, rows: dict[str, dict[str, float]]) -> Model:
    """Return a model of everything, with the scores of those that left a part out."""
    names = names_of(embedder)
    weights, spread = weights_from(seen, names)
    place = {name: at for at, name in enumerate(FEATURES)}
    way = f", ranker, {embedder or 'words'}"
    return Model(
        name=embedder or "words",
        embedder=embedder,
        features={name: float(weights[place[name]]) for name in names},
        spread={name: float(spread[place[name]]) for name in names},
        trained_on=TRAINED_ON,
        scores={
            row.removesuffix(way): {name: round(values[name], 3) for name in SHOWN}
            for row, values in rows.items()
            if row.endswith(way)
        },
    )


def tell(words: str) -> None:
    """Print what is being done now: all of it takes minutes."""
    print(words, file=sys.stderr, flush=True)


def main() -> None:
    """Measure, train and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, nargs="?", help="LoCoMo's JSON file")
    parser.add_argument("--embedder", default="use", choices=("use", "e5"))
    parser.add_argument("--keep", type=Path, help="keep indexes and vectors in this folder")
    arguments = parser.parse_args()
    embedder = open_embedder(arguments.embedder)
    if embedder is None:
        sys.exit(f"The embedder {arguments.embedder!r} is not installed.")
    with tempfile.TemporaryDirectory() as folder:
        seen = asked(arguments.data, embedder, arguments.keep or Path(folder), tell)
    tell(f"{len(seen)} questions asked; learning, each part left out in turn")
    rows = table(seen, arguments.embedder)
    show(rows)
    SHIPPED.mkdir(exist_ok=True)
    for name in dict.fromkeys(("words" if arguments.embedder == "use" else "", arguments.embedder)):
        if name:
            tell(f"learning {name} from all of it")
            model = trained(seen, "" if name == "words" else name, rows)
            (SHIPPED / f"{name}.json").write_text(model_text(model), "utf-8")


if __name__ == "__main__":
    main()
