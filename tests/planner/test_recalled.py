"""Words of earlier work: within their share, in full where there is room, else shorter."""

from __future__ import annotations

from hypothesis import strategies as st

from vaultmind.planner.earlier.recalled import told_within
from vaultmind.planner.types import EarlierWork

TEXT = st.text(max_size=300)


def test_a_work_that_does_not_fit_in_full_is_told_shorter() -> None:
    work = EarlierWork(
        "main/1", "2026-03-04", "refresh a token", "success", 0.9,
        ("a.py", "b.py"), ("once " * 20, "never twice " * 10), "because " * 20,
    )  # fmt: skip
    (full,) = told_within([work], 5000).works
    (short,) = told_within([work], 500).works
    assert "never twice" in full.text and "because:" in full.text
    assert len(short.text) < len(full.text) and "a.py, b.py" in short.text
    assert not told_within([work], 100).works
