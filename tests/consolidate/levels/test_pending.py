"""A summary that a model should have written, and could not when it was due."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.consolidate.levels.building import MAIN, Vault
from vaultmind.consolidate.levels.extractive import ExtractiveWriter
from vaultmind.consolidate.levels.writer import Paragraph, Source, Told, mark
from vaultmind.consolidate.types import Level, SummaryDone

L1 = "L1_001"


class Moody(ExtractiveWriter):
    """A model that fails, is not asked at all, or writes, as it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.mood = "fails"
        self.asked = 0

    def level(
        self, level: Level, sources: Sequence[Source], language: str, max_tokens: int
    ) -> Told:
        self.asked += 1
        if self.mood != "writes":
            plain = super().level(level, sources, language, max_tokens)
            return replace(plain, again=True, untried=self.mood == "rests")
        said = [(one.pieces[0], one) for one in sources]
        return Told(tuple(Paragraph(p.text, (mark(one, p),)) for p, one in said), "model")


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    root = tmp_path / "vault"
    root.mkdir()
    made = Vault(root.resolve())
    made.talks(1, 5)
    return made


def run(vault: Vault, writer: Moody, *, dry_run: bool = False) -> tuple[SummaryDone, ...]:
    return vault.levels(writer=writer).make("main", MAIN, dry_run=dry_run)


def standing(vault: Vault) -> tuple[object, object, object]:
    path = vault.summary(L1)
    return tuple(vault.property(path, key) for key in ("by", "pending", "tries"))  # type: ignore[return-value]


def test_after_three_tries_the_built_in_writers_summary_is_enough(vault: Vault) -> None:
    model = Moody()
    run(vault, model)
    before = vault.text(vault.summary(L1))
    assert run(vault, model) == ()
    assert standing(vault) == ("extractive", "summary", 2)
    run(vault, model)
    assert standing(vault) == ("extractive", None, None)
    run(vault, model)
    assert model.asked == 3
    assert vault.text(vault.summary(L1)).partition("\n---\n")[2] == before.partition("\n---\n")[2]


def test_a_model_that_was_not_asked_did_not_fail(vault: Vault) -> None:
    model = Moody()
    model.mood = "rests"
    for _ in range(4):
        run(vault, model)
    assert standing(vault) == ("extractive", "summary", 0)
    model.mood = "writes"
    assert [one.by for one in run(vault, model)] == ["model"]
