"""Measure which facts a new one takes the place of: precision, recall and time, by language.

    python benchmarks/contradictions.py --file tests/data/contradictions.jsonl --show

One line of the file is {"lang", "new", "old", "relation"}. Prints a Markdown table, what one new
fact costs against a brain of 60, and how many pairs of facts of one person, which are all true, are
taken for a contradiction.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from example import DATA, ROOT, read

from vaultmind.language.network import network
from vaultmind.memory.contradictions import contradicts

DEFAULT = ROOT / "tests" / "data" / "contradictions.jsonl"


class Score(NamedTuple):
    """How well contradictions are found."""

    expected: int
    precision: float
    recall: float


def load(path: Path) -> list[dict[str, Any]]:
    """Return the pairs of a file with what is right and what is found for each."""
    rows = read(path)
    for row in rows:
        row["right"] = row["relation"] == "contradicts"
        row["found"] = contradicts(row["new"], row["old"])
    return rows


def score(rows: Sequence[dict[str, Any]]) -> Score:
    """Return how well contradictions are found."""
    expected = sum(row["right"] for row in rows)
    found = [row["right"] for row in rows if row["found"]]
    return Score(expected, sum(found) / max(len(found), 1), sum(found) / max(expected, 1))


def lives(*names: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of facts of one person that are all true."""
    for name in names:
        for line in read(DATA / f"{name}.jsonl"):
            told = line.get("facts") or [one for one in line["claims"] if one["label"]]
            yield from ((a["text"], b["text"]) for a in told for b in told if a is not b)


def words_digest() -> str:
    """Return a digest of how the reader reads words: the networks must have learnt from that."""
    digest = hashlib.sha256()
    for member in network().members:
        for name in sorted(name for name in member if not name.startswith("parts.")):
            digest.update(member[name].tobytes())
    return digest.hexdigest()[:16]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, default=DEFAULT)
    parser.add_argument("--show", action="store_true", help="print the pairs that are wrong")
    given = parser.parse_args()
    rows = load(given.file)
    print("| language | contradictions | precision | recall |\n|---|---:|---:|---:|")
    for lang in (*sorted({row["lang"] for row in rows}), "all"):
        one = score([row for row in rows if lang in (row["lang"], "all")])
        print(f"| {lang} | {one.expected} | {one.precision:.3f} | {one.recall:.3f} |")
    true = [contradicts(new, old) for old, new in lives("claims")]
    print(f"Of {len(true)} pairs of true facts of one person, {sum(true)} are taken for one.")
    for row in rows if given.show else ():
        if row["found"] != row["right"]:
            print(f"{'missed' if row['right'] else 'wrong'}: {row['new']} / {row['old']}")


if __name__ == "__main__":
    main()
