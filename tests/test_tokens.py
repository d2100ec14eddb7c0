"""tokens: an estimate near real tokenizers, the same however often it is asked for."""

import json
import statistics
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vaultmind import tokens

COUNTS = Path(__file__).parent.parent / "benchmarks" / "data" / "token_counts.jsonl"
SIX = ("cl100k", "o200k", "tekken", "qwen3.6", "deepseek-v4", "llama3")
ROWS = [json.loads(line) for line in COUNTS.read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        (" ", 1),
        ("bread", 1),
        ("internationalisation", 2),
        ("żółć", 3),
        ("достопримечательность", 5),
        ("1234567", 3),
        ("東京都", 2),
        ("one, two", 3),
        ("don't", 2),
        ("getHTTPResponse", 4),
        ("one\n\n\ntwo", 4),
        ("-" * 40, 2),
    ],
)
def test_each_script_has_its_price(text: str, expected: int) -> None:
    assert tokens.count(text) == expected


@pytest.mark.parametrize("lang", ["en", "pl", "ru", "zh", "code", "de", "es", "fr"])
def test_the_estimate_is_within_a_tenth_of_real_tokenizers(lang: str) -> None:
    texts = [row for row in ROWS if row["lang"] == lang]
    real = sum(statistics.median(row["counts"][name] for name in SIX) for row in texts)
    assert sum(tokens.count(row["text"]) for row in texts) == pytest.approx(real, rel=0.10)


@given(st.text(max_size=200), st.integers(0, 40), st.sampled_from(["", " …"]))
@example("it's, we'll see", 3, "")
@example('"0', 0, "")
@example("one two three four five", 2, " …")
def test_a_clipped_text_is_a_prefix_within_the_budget(text: str, most: int, mark: str) -> None:
    clipped = tokens.clip(text, most, mark=mark)
    assert tokens.count(clipped) <= most
    assert clipped == text or text.startswith(clipped.removesuffix(mark))


@pytest.mark.parametrize("run", ["x" * 160_000, "Щ" * 160_000, "7" * 160_000, "-" * 160_000])
def test_a_word_of_megabytes_is_cut_without_trying_every_end_and_is_not_kept(run: str) -> None:
    before = tokens._cost.cache_info().currsize
    for text in (run, f"It says {run} and goes on."):
        clipped = tokens.clip(text, 5000)
        assert 4900 <= tokens.count(clipped) <= 5000
    assert tokens._cost.cache_info().currsize - before < 200
