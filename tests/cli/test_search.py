"""How long `search` waits for the index."""

from __future__ import annotations

from typing import Any

import pytest

from vaultmind.cli import made
from vaultmind.cli.options import Settings


@pytest.mark.parametrize(
    ("phase", "waits"),
    [("ready", 2), ("indexing", 3)],
)
def test_a_question_waits_for_text_and_never_long_for_vectors(phase: str, waits: int) -> None:
    asked: list[dict[str, Any]] = []

    class Indexing:
        def call(self, op: str, args: dict[str, Any], report: object) -> dict[str, Any]:
            asked.append(args)
            return {"phase": phase}

    settings = Settings()
    settings.backend = Indexing()  # type: ignore[assignment]
    made.wait_for_index(settings, patient=False)
    assert asked[0] == {"vectors": False, "timeout_seconds": made.CHANGES_SECONDS}
    assert ({"vectors": False} in asked) is (phase == "indexing") and len(asked) == waits
