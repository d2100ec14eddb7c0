"""Train the linear models that ship in vaultmind/consolidate/weights, and measure them.

    python benchmarks/train_extractive.py              # trains on everything, and writes
    python benchmarks/train_extractive.py --dialogues  # measures, whole dialogues held out
    python benchmarks/train_extractive.py --dialogues --by part --embedder use

Learns from benchmarks/data/facts_{en,pl,ru}.jsonl (one line: {"category", "text"}) and from what
users say in the labelled dialogues that were looked at. Softmax regression with L2; the same data
gives the same bytes. `--dialogues` runs the whole of extraction on each dialogue with a model that
never saw it, at several thresholds; nothing is written. Held out is every fifth dialogue at a
time, or with `--by part` all that one writer wrote: what is learnt of a writer's ways helps with
the first and not with the second.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from extraction import PARTS, Result, judged, table
from extraction import load as dialogues
from softmax import Floats, Rows, packed, train

from vaultmind.consolidate import extract
from vaultmind.consolidate.extract import (
    CLASSES,
    LED,
    PLACES,
    leading_places,
    open_to,
    sentence_places,
    stated,
    surroundings,
)
from vaultmind.consolidate.extract import WEIGHTS as FOLDER
from vaultmind.consolidate.talk import Talk, read_talk
from vaultmind.consolidate.types import Category
from vaultmind.index.embed import open_embedder
from vaultmind.memory.weights import VECTORS, WORDS
from vaultmind.memory.words import fold
from vaultmind.ports import Embedder
from vaultmind.types import Fact, Message

DATA = Path(__file__).parent / "data"
LANGUAGES = ("en", "pl", "ru")
TAUGHT = tuple(
    part for part in PARTS if part.startswith(("taught", "tuned", "round7", "round8", "round9"))
)
"""The dialogues that are learnt from: all that were looked at."""
FOLDS = 5
EMBEDDED, AROUND = 1.5, 0.7
"""What a sentence's vector, and that of the talk around it, weigh beside words."""
IN_A_TALK = 0.5
"""What it weighs that a sentence stands in a talk: single ones are more often facts."""
BALANCE = 0.5
"""Power of how rare a class is by which its sentences count for more."""
THRESHOLDS = (0.6, 0.65, 0.7, 0.75, 0.8)


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled sentence."""

    lang: str
    label: int
    text: str
    whole: str = ""
    around: Floats | None = None
    """The direction of what else was said in its dialogue."""
    dialogue: str = ""
    """The dialogue it was said in; empty for a sentence by itself."""


class Remembering:
    """An embedder that works out each text once."""

    def __init__(self, inner: Embedder) -> None:
        self.id, self.dim = inner.id, inner.dim
        self._inner = inner
        self._known: dict[str, Any] = {}

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return one row a text."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._inner.embed(new), strict=True))
        return np.stack([self._known[text] for text in texts])


@dataclass(frozen=True, slots=True)
class Spoken:
    """A labelled dialogue, read once."""

    part: str
    dialogue: dict[str, Any]
    talk: Talk


def read_all() -> list[Spoken]:
    """Return the dialogues that are learnt from."""
    found = []
    for part in TAUGHT:
        for one in dialogues(part):
            said = [Message(m["role"], m["text"], "", id=m["id"]) for m in one["messages"]]
            found.append(Spoken(part, one, read_talk(said)))
    return found


def load(spoken: Sequence[Spoken], embedder: Embedder) -> list[Row]:
    """Return every labelled sentence, and then those of dialogues."""
    alone = [
        Row(lang, CLASSES.index(row["category"]), row["text"])
        for lang in LANGUAGES
        for row in map(json.loads, (DATA / f"facts_{lang}.jsonl").read_text("utf-8").splitlines())
    ]
    return [*alone, *(row for one in spoken for row in said_in(one, embedder))]


def said_in(spoken: Spoken, embedder: Embedder) -> Iterator[Row]:
    """Yield what the user of a dialogue says, labelled by its facts; the unclear is left out."""
    dialogue, said = spoken.dialogue, list(spoken.talk.by_user())
    around = surroundings(said, embedder)
    for one in open_to(said):
        text = stated(one)
        label = _label(one.key, fold(text), dialogue)
        if label is not None:
            where = CLASSES.index(label)
            lang, name = dialogue["lang"], dialogue["id"]
            yield Row(lang, where, text, one.whole, around.get(one.at), name)


def _label(key: str, folded: str, dialogue: dict[str, Any]) -> Category | None:
    near = False
    for gold in (one for one in dialogue["gold"] if key in one["evidence"]):
        says = [any(fold(way) in folded for way in ways) for ways in gold["says"]]
        if all(says) and (named := [one for one in gold["category"] if one in CLASSES]):
            return cast("Category", named[0])
        near = near or any(says)
    for maybe in (one for one in dialogue["maybe"] if key in one["evidence"]):
        near = near or any(fold(way) in folded for ways in maybe["says"] for way in ways)
    return None if near else "SKIP"


def seen(rows: Sequence[Row]) -> Rows:
    """Return the features of sentences as the models weigh them."""
    found = []
    for row in rows:
        led = leading_places(row.whole)
        places = sentence_places(row.text)
        own = [(place, 1 / np.sqrt(len(places))) for place in places]
        begun = [(place, LED / np.sqrt(len(led))) for place in led]
        found.append([*own, *begun, (PLACES, IN_A_TALK if row.dialogue else 0.0)])
    return Rows.of(found)


def meant(rows: Sequence[Row], embedder: Embedder) -> Floats:
    """Return the vectors of sentences, of the talk around them, and how alike both are."""
    own = embedder.embed([row.text for row in rows])
    nothing = np.zeros(own.shape[1], dtype=np.float32)
    near = np.stack([nothing if row.around is None else row.around for row in rows])
    alike = (own * near).sum(axis=1, keepdims=True)
    return np.concatenate([EMBEDDED * own, AROUND * near, alike], axis=1).astype(np.float32)


def trained(rows: Sequence[Row], embedder: Embedder | None) -> bytes:
    """Return the file of a model that learnt from sentences."""
    goal = np.eye(len(CLASSES), dtype=np.float32)[[row.label for row in rows]]
    counts = goal.sum(axis=0)
    each = goal @ (counts.mean() / counts) ** np.float32(BALANCE)
    nothing = np.zeros((len(rows), 0), dtype=np.float32)
    dense = nothing if embedder is None else meant(rows, embedder)
    found = train(seen(rows), dense, goal, each, PLACES + 1)
    return filed(found, 0 if embedder is None else (dense.shape[1] - 1) // 2, len(rows))


def filed(found: Floats, dim: int, sentences: int) -> bytes:
    """Return a model's file: its head, and its weights as signed bytes."""
    bias = found[-1] + IN_A_TALK * found[PLACES]
    beside = found[-2] if dim else np.zeros(0)
    meaning = found[PLACES + 1 : -2].copy() if dim else found[:0]
    meaning[:dim] *= EMBEDDED
    meaning[dim:] *= AROUND
    head = {
        "classes": list(CLASSES),
        "beside": [round(float(one), 6) for one in beside],
        "sentences": sentences,
        "made by": "benchmarks/train_extractive.py",
    }
    return packed(head, np.concatenate([found[:PLACES], meaning, bias[None]]), PLACES)


def held_out(
    rows: Sequence[Row], spoken: Sequence[Spoken], embedder: Embedder | None, by: str
) -> None:
    """Print what extraction finds in dialogues that its model has not seen, by threshold."""
    groups: list[list[Spoken]] = [list(spoken[fold_::FOLDS]) for fold_ in range(FOLDS)]
    if by == "part":
        groups = [[one for one in spoken if one.part == part] for part in TAUGHT]
    models = []
    for group in groups:
        held = {one.dialogue["id"] for one in group}
        data = trained([row for row in rows if row.dialogue not in held], embedder)
        models.append(extract.read_model(data, "held out"))
    name = WORDS if embedder is None else VECTORS
    for threshold in THRESHOLDS:
        extract.KEEPS = extract.KEEPS_BY_WORDS = threshold
        found = []
        for group, model in zip(groups, models, strict=True):
            setattr(extract, "model", lambda _, model=model: model)  # noqa: B010
            found += [(one.part, measured(one, embedder)) for one in group]
        print(f"\n{name}, from {threshold}, held out by {by}")
        for part in TAUGHT:
            table(part, [one for own, one in found if own == part])
        table("all", [one for _, one in found])


def measured(one: Spoken, embedder: Embedder | None) -> Result:
    """Return what is extracted from a dialogue, judged."""
    brain = [Fact(text, "user", block=f"k{at}") for at, text in enumerate(one.dialogue["brain"])]
    said = [Message(m["role"], m["text"], "", id=m["id"]) for m in one.dialogue["messages"]]
    kept = extract.extract(said, brain, embedder=embedder)
    return judged(one.dialogue, kept, 0.0)


def write(name: str, data: bytes) -> None:
    """Write a model's file into the package."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.weights"
    path.write_bytes(data)
    print(f"Wrote {path} ({path.stat().st_size} bytes).")


def main() -> None:
    """Measure, or write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dialogues", action="store_true", help="measure, and write nothing")
    parser.add_argument("--by", choices=("dialogue", "part"), default="dialogue")
    parser.add_argument("--embedder", choices=("none", "use", "both"), default="both")
    given = parser.parse_args()
    inner = open_embedder(VECTORS)
    assert inner is not None
    embedder = cast("Embedder", Remembering(inner))
    spoken = read_all()
    rows = load(spoken, embedder)
    for name, eyes in ((WORDS, None), (VECTORS, embedder)):
        if given.embedder not in ("both", "none" if eyes is None else "use"):
            continue
        if given.dialogues:
            held_out(rows, spoken, eyes, given.by)
        else:
            write(name, trained(rows, eyes))


if __name__ == "__main__":
    main()
