"""What was forgotten or erased leaves the summaries, and none that is made again brings it back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.consolidate.levels.building import Vault
from vaultmind.memory.forget.erasing import Erasure
from vaultmind.types import PERSON, MessageRef, Scrubbed

SECRET = "My cousin Leon has a debt of 7700 euros."
REST = "Our cellar floods whenever it rains for long."


class Index:
    """Implements `ports.IndexErasing` over nothing."""

    def begin(self) -> None:
        """Do nothing."""

    def scrub(self, paths: object) -> Scrubbed:
        return Scrubbed()

    def saying(self, text: str, limit: int) -> list[object]:
        return []

    def nearest_to(self, texts: object, limit: int) -> None:
        return None


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    root = tmp_path / "vault"
    root.mkdir()
    vault = Vault(root.resolve())
    vault.talk(1, SECRET, REST)
    vault.talks(2, 5)
    return vault


def _hide(vault: Vault, session: str, block: str) -> None:
    vault.gate.hide("main", [MessageRef("main", session, f"m{block}", f"id{block}")], PERSON)


def test_an_erasure_takes_it_out_of_l1_and_l2_and_nothing_brings_it_back(vault: Vault) -> None:
    vault.talks(6, 10)
    done = vault.make(l2_summaries=2)
    assert any("Leon" in vault.text(one.path) for one in done)
    vault.gate.erase(Erasure(SECRET, PERSON, "main"), Index())  # type: ignore[arg-type]
    for one in done:
        text = vault.text(one.path)
        assert "Leon" not in text and "7700" not in text
        assert not vault.dead_links(one.path)
    for id in ("L1_001", "L2_001"):
        assert "Leon" not in vault.levels(l2_summaries=2).again("main", id, PERSON).text
    assert "cellar" in vault.text(vault.summary("L1_001"))


def test_an_l1_of_a_session_that_has_another_name_does_not_tell_what_was_hidden_of_it(
    vault: Vault,
) -> None:
    (done,) = vault.make()
    hidden = next(line for line in vault.text(done.path).splitlines() if "Leon" in line)
    block = hidden.partition("2026-02-01_001#^m")[2].partition("|")[0]
    _hide(vault, "2026-02-01_001", block)
    session = vault.file(vault.paths.session("main", "2026-02-01_001"))
    session.rename(session.with_name("2026-02-01_009.md"))
    vault.talks(6, 10)
    *_, two = vault.make(l2_summaries=2)
    assert two.level == "L2"
    assert "Leon" not in two.text
