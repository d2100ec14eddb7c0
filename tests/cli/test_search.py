"""How long `search` waits for the index."""

from __future__ import annotations

from typing import Any

import pytest

from vaultmind.cli import made
from vaultmind.cli.options import Settings


@pytest.mark.parametrize(
    ("missing", "phase", "waits"),
    [(4000, "ready", 1), (3, "ready", 2), (4000, "indexing", 2), (3, "indexing", 3)],
)
def test_a_question_waits_for_text_and_never_long_for_vectors(
    missing: int, phase: str, waits: int
) -> None:
    asked: list[dict[str, Any]] = []

    class Indexing:
        def call(self, op: str, args: dict[str, Any], report: object) -> dict[str, Any]:
            asked.append(args)
            counts = {"embeddable": 5000, "vectors": 5000 - missing}
            return {"phase": phase, "embedder": "use", **counts}

    settings = Settings()
    settings.backend = Indexing()  # type: ignore[assignment]
    made.wait_for_index(settings, patient=False)
    assert asked[0] == {"vectors": False, "timeout_seconds": made.CHANGES_SECONDS}
    assert ({"vectors": False} in asked) is (phase == "indexing") and len(asked) == waits
