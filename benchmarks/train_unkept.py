"""Train the models that tell what a person asks not to keep, and measure them.

    python benchmarks/train_unkept.py              # trains, and writes the weights that ship
    python benchmarks/train_unkept.py --held-out   # on the training set, fold by fold
    python benchmarks/train_unkept.py --measure    # on the blind set, as the package hears it

Learns from benchmarks/data/unkept_train.jsonl (one line: {"lang", "label", "scope", "text"}: ways
to ask, and sentences that only look like it) and, as sentences that ask nothing, from facts_*.jsonl
and what users say in the labelled dialogues that were looked at. The same data gives the same
bytes. Thresholds are chosen by `--held-out`; unkept_blind.jsonl, by another hand, is only measured.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from extraction import PARTS
from extraction import load as dialogues
from softmax import Floats, Rows, packed, train

from vaultmind.index.embed import open_embedder
from vaultmind.memory.weights import VECTORS, WORDS, hashed
from vaultmind.ports import Embedder
from vaultmind.session.sentences import sentences
from vaultmind.session.summary import unkept
from vaultmind.session.summary.asking import (
    ASKS,
    FOLDER,
    MAYBE,
    PLACES,
    SCOPE,
    SCOPE_PLACES,
    SCOPES,
    features,
    model,
    pieces,
    probability,
)
from vaultmind.session.summary.asks import by_rules
from vaultmind.types import Message

DATA = Path(__file__).parent / "data"
LANGUAGES = ("en", "pl", "ru")
BLIND = ("round10", "round11")
"""Dialogues that nothing is learnt from."""
FOLDS, BLOCK = 5, 11
"""Sentences stand together by what they are about: so many in a row are held out together."""
ASKING, ALIKE = 8.0, 4.0
"""What a sentence that asks, and one that only looks like it, counts beside a plain one."""
EMBEDDED = 3.0
"""What a sentence's vector weighs beside its words."""
BY_WORDS_L2, BY_VECTORS_L2 = 5e-5, 2e-4
"""How much large weights are held back: words alone must say more."""
LONGEST = 300
SPED = 2000
"""Plain sentences by which the time is taken."""
WHOLE = 3
"""Sentences of a message that is one request."""
THRESHOLDS = (0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled sentence."""

    text: str
    scope: str
    """Empty where it asks nothing."""
    fold: int
    lang: str = ""
    """Empty for a plain one."""


def load(name: str) -> list[dict[str, Any]]:
    """Return the lines of a file of requests."""
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def rows() -> list[Row]:
    """Return what is learnt from: the labelled sentences, and plain ones."""
    found, counts = [], dict.fromkeys(LANGUAGES, 0)
    for one in load("unkept_train.jsonl"):
        lang = one["lang"]
        scope = one["scope"] if one["label"] else ""
        fold = counts[lang] // BLOCK % FOLDS
        found += [Row(text, scope, fold, lang) for text in pieces(one["text"])]
        counts[lang] += 1
    return [*found, *(Row(text, "", at % FOLDS) for at, text in enumerate(plain()))]


def plain() -> list[str]:
    """Return sentences that ask nothing of the kind: facts, and what users say in dialogues."""
    found = {row["text"] for lang in LANGUAGES for row in load(f"facts_{lang}.jsonl")}
    for part in (part for part in PARTS if part not in BLIND):
        for dialogue in dialogues(part):
            for one in dialogue["messages"]:
                if one["role"] == "user" and not asked(one["text"]):
                    found.update(said(one["text"]))
    return sorted(found)


def said(text: str) -> list[str]:
    """Return what is looked at of a message: its sentences, and a short message whole."""
    each = [part for one in sentences(text) if len(one) <= LONGEST for part in pieces(one)]
    whole = 1 < len(each) <= WHOLE and len(text) <= LONGEST
    return [*each, text] if whole else each


def asked(text: str) -> bool:
    """Tell whether the rules say that a message asks."""
    return any(by_rules(one) for one in sentences(text))


def seen(texts: Iterable[str], places: int) -> Rows:
    """Return the features of sentences as the models weigh them."""
    each = (hashed(features(text), places) or [0] for text in texts)
    return Rows.of([[(place, 1 / np.sqrt(len(own))) for place in own] for own in each])


def trained(own: Sequence[Row], vectors: Floats) -> Floats:
    """Return the weights of a model: of each place, each number of a vector, and the bias."""
    label = np.array([bool(row.scope) for row in own])
    alike = np.array([bool(row.lang) for row in own])
    each = np.where(label, ASKING, np.where(alike, ALIKE, 1.0)).astype(np.float32)
    goal = np.eye(2, dtype=np.float32)[label.astype(int)]
    dense = (EMBEDDED * vectors).astype(np.float32)
    l2 = BY_VECTORS_L2 if vectors.size else BY_WORDS_L2
    found = train(seen((row.text for row in own), PLACES), dense, goal, each, PLACES, l2)
    found[PLACES:-1] *= EMBEDDED
    return np.asarray(found[:, 1:] - found[:, :1])


def scoped(own: Sequence[Row]) -> Floats:
    """Return the weights of the model of what a request means; each meaning counts the same."""
    asking = [row for row in own if row.scope]
    goal = np.eye(len(SCOPES), dtype=np.float32)[[SCOPES.index(row.scope) for row in asking]]
    each = goal @ (len(asking) / goal.sum(axis=0))
    nothing = np.zeros((len(asking), 0), dtype=np.float32)
    return train(
        seen((row.text for row in asking), SCOPE_PLACES), nothing, goal, each, SCOPE_PLACES
    )


def told(weights: Floats, texts: Sequence[str], vectors: Floats, places: int) -> Floats:
    """Return what weights make of sentences: one row of scores each."""
    scores = seen(texts, places).times(weights[:places]) + weights[-1]
    return np.asarray(scores + vectors @ weights[places:-1])


def likelihoods(scores: Floats) -> Floats:
    """Return scores as likelihoods."""
    return np.asarray(1 / (1 + np.exp(-scores[:, 0])))


def vectors_of(texts: Sequence[str], embedder: Embedder) -> Floats:
    """Return one row a text."""
    batches = (texts[at : at + 256] for at in range(0, len(texts), 256))
    return np.concatenate([embedder.embed(batch) for batch in batches])


def held_out(own: Sequence[Row], vectors: Floats, by_words: Floats | None) -> Floats:
    """Print what a model tells of sentences that it has not seen; return that."""
    fold, label = np.array([row.fold for row in own]), np.array([bool(row.scope) for row in own])
    texts, found = [row.text for row in own], np.zeros(len(own), dtype=np.float32)
    for held in range(FOLDS):
        weights = trained([row for row in own if row.fold != held], vectors[fold != held])
        left = np.flatnonzero(fold == held)
        scores = told(weights, [texts[at] for at in left], vectors[left], PLACES)
        found[left] = likelihoods(scores)
    if by_words is not None:
        found[by_words < MAYBE] = 0.0
    lang = np.array([row.lang for row in own])
    alike, plain_ = (lang != "") & ~label, lang == ""
    ruled = np.array([asked(text) for text in texts])
    print(f"\n{'vectors' if vectors.size else 'words'} (and rules): asks | looks alike | plain")
    for least in THRESHOLDS:
        hit = found >= least
        both = hit | ruled
        shown = [f"{hit[of].mean():.3f} ({both[of].mean():.3f})" for of in (label, alike)]
        print(f"{least:.2f}: {' | '.join(shown)} | {hit[plain_].mean():.4f}")
    return found


def held_out_scopes(own: Sequence[Row]) -> None:
    """Print how often each meaning of a request is told of sentences that were not seen."""
    right = {name: [0, 0] for name in SCOPES}
    for held in range(FOLDS):
        weights = scoped([row for row in own if row.fold != held])
        left = [row for row in own if row.fold == held and row.scope]
        nothing = np.zeros((len(left), 0), dtype=np.float32)
        scores = told(weights, [row.text for row in left], nothing, SCOPE_PLACES)
        for row, best in zip(left, scores.argmax(axis=1), strict=True):
            right[row.scope][0] += SCOPES[best] == row.scope
            right[row.scope][1] += 1
    print("\nmeanings:", {name: f"{hit}/{all_}" for name, (hit, all_) in right.items()})


def measure(embedder: Embedder) -> None:
    """Print recall and false positives on the blind set, by language and by meaning."""
    blind = load("unkept_blind.jsonl")
    ways = {
        "rules": [asked(one["text"]) for one in blind],
        "rules and words": [heard(one["text"], None) for one in blind],
        "rules and vectors": [heard(one["text"], embedder) for one in blind],
    }
    groups = [(lang, [one["lang"] == lang for one in blind]) for lang in LANGUAGES]
    groups += [(scope, [one["scope"] == scope for one in blind]) for scope in SCOPES]
    groups += [("all", [True] * len(blind))]
    print("\n| recall (false positives) |", " | ".join(name for name, _ in groups), "|")
    print("|---" * (len(groups) + 1) + "|")
    for name, found in ways.items():
        print(f"| {name} |", " | ".join(_figures(blind, found, own) for _, own in groups), "|")
    texts, weights = plain()[:SPED], model(WORDS)
    begun = time.process_time()
    likely = [probability(weights, text) for text in texts]
    spent = (time.process_time() - begun) / len(texts) * 1e6
    worth = sum(one >= MAYBE for one in likely) / len(texts)
    print(f"\n{spent:.0f} µs a sentence by words; {100 * worth:.0f} % are worth a vector.")


def _figures(blind: Sequence[dict[str, Any]], found: Sequence[bool], own: Sequence[bool]) -> str:
    def share(label: int) -> str:
        hits = [
            hit
            for one, hit, of in zip(blind, found, own, strict=True)
            if of and one["label"] == label
        ]
        return f"{100 * sum(hits) / len(hits):.0f} %" if hits else ""

    wrong = share(0)
    return f"{share(1)} ({wrong})" if wrong else share(1)


def heard(text: str, embedder: Embedder | None) -> bool:
    """Tell whether a message is heard as a request."""
    return bool(unkept([Message("user", text, "", id="m1")], embedder=embedder))


def write(name: str, weights: Floats, classes: Sequence[str], places: int, count: int) -> None:
    """Write a model's file into the package."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.weights"
    head = {"classes": list(classes), "sentences": count, "made by": "benchmarks/train_unkept.py"}
    path.write_bytes(packed(head, weights, places))
    print(f"Wrote {path} ({path.stat().st_size} bytes).")


def main() -> None:
    """Measure, or write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-out", action="store_true", help="measure, fold by fold")
    parser.add_argument("--measure", action="store_true", help="measure on the blind set")
    given = parser.parse_args()
    embedder = open_embedder(VECTORS)
    assert embedder is not None
    if given.measure:
        measure(embedder)
        return
    own = rows()
    nothing = np.zeros((len(own), 0), dtype=np.float32)
    vectors = vectors_of([row.text[:LONGEST] for row in own], embedder)
    if given.held_out:
        held_out(own, vectors, held_out(own, nothing, None))
        held_out_scopes(own)
        return
    write(WORDS, trained(own, nothing), ASKS, PLACES, len(own))
    write(VECTORS, trained(own, vectors), ASKS, PLACES, len(own))
    scope = scoped(own)
    write(SCOPE, scope, SCOPES, SCOPE_PLACES, sum(bool(row.scope) for row in own))


if __name__ == "__main__":
    main()
