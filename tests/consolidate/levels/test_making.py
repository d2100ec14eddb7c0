"""L1 and L2: made when due, once, of the right sources; whole after a kill at any step."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.consolidate.levels.building import MAIN, TALKS, Vault
from vaultmind.consolidate.levels import Paragraph, Summary
from vaultmind.errors import WriteConflict
from vaultmind.types import PERSON, MessageRef


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    root = tmp_path / "vault"
    root.mkdir()
    return Vault(root.resolve())


def test_sessions_that_are_not_ours_to_sum_up_are_left(vault: Vault) -> None:
    vault.talks(1, 4)
    vault.talk(5, device="laptop")
    vault.talk(6, consolidated="")
    vault.talk(7, pending="extraction")
    vault.talk(9, summarised_in="[[L1_009]]")
    assert vault.make() == []
    vault.talk(10, source="chatgpt:1")
    (done,) = vault.make()
    assert done.sources[-1] == "2026-02-10_001"
    assert done.id == "L1_010"  # a session names a ninth


def test_an_unreadable_session_does_not_keep_the_others_waiting(vault: Vault) -> None:
    ids = vault.talks(1, 6)
    path = vault.file(vault.paths.session("main", ids[0]))
    path.write_bytes(path.read_bytes() + b"\xff\xfe broken")
    (done,) = vault.make()
    assert done.sources == tuple(ids[1:])
    assert "2026-02-01_001" in done.notes[0]


@pytest.mark.parametrize("meanwhile", ["edited", "hidden"])
def test_what_changes_or_is_hidden_while_it_is_summed_up_is_read_anew(
    vault: Vault, meanwhile: str
) -> None:
    ids = vault.talks(1, 5)

    times = iter(range(2))

    def slow(level: Any, sources: Any, language: str, max_tokens: int) -> Summary:
        """While it writes, a person edits or forgets."""
        first = next(times) == 0
        if first and meanwhile == "edited":
            vault.talk(5, "We moved the piano to the attic yesterday.")
        elif first:
            vault.gate.hide("main", [MessageRef("main", ids[-1], "m1", "id1")], PERSON)
        piece = sources[-1].pieces[0]
        return Summary((Paragraph(piece.text, (piece.id,)),))

    levels = vault.levels(writer=slow)
    with pytest.raises(WriteConflict):
        levels.make("main", MAIN)
    (done,) = levels.make("main", MAIN)
    wanted = {"edited": "We moved the piano to the attic yesterday.", "hidden": TALKS[0][1]}
    assert done.text == wanted[meanwhile]


def test_an_l2_does_not_tell_what_was_hidden_of_an_l1(vault: Vault) -> None:
    vault.talk(1, "My cousin Leon has a debt of 7700 euros.", "Our cellar floods when it rains.")
    vault.talks(2, 5)
    (done,) = vault.make()
    hidden = next(line for line in vault.text(done.path).splitlines() if "Leon" in line)
    session, block = re.findall(r"/(2026-02-\d\d_001)#\^(m\d)", hidden)[0]
    ref = MessageRef("main", session, block, block.replace("m", "id"))
    vault.gate.hide("main", [ref], PERSON)
    vault.file(vault.paths.session("main", session)).unlink()
    vault.talks(6, 10)
    *_, two = vault.make(l2_summaries=2)
    assert two.level == "L2" and "Leon" not in two.text
