"""L1 and L2: made when due, once, of the right sources; whole after a kill at any step."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.consolidate.levels.building import MAIN, TALKS, Vault
from vaultmind.consolidate.summarise import Paragraph, Summary
from vaultmind.errors import NotFound, WriteConflict
from vaultmind.types import PERSON, MessageRef


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    root = tmp_path / "vault"
    root.mkdir()
    return Vault(root.resolve())


def test_what_never_was_cannot_be_made_again(vault: Vault) -> None:
    with pytest.raises(NotFound, match="L1_007"):
        vault.levels().again("main", "L1_007", PERSON)


def test_an_l2_is_made_again_too(vault: Vault) -> None:
    vault.talks(1, 4)
    settings = {"l1_sessions": 2, "l2_summaries": 2}
    before = vault.make(**settings)[-1]
    vault.file(before.path).unlink()
    done = vault.levels(**settings).again("main", "L2_001", PERSON)
    assert (done.text, done.sources) == (before.text, ("L1_001", "L1_002"))


def test_a_summary_with_crlf_and_a_bom_is_made_again_as_it_is(vault: Vault) -> None:
    vault.talks(1, 5)
    path = vault.make()[0].path
    raw = vault.file(path).read_bytes()
    vault.put(path, b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n"))
    vault.levels().again("main", "L1_001", PERSON)
    again = vault.file(path).read_bytes()
    assert again.startswith(b"\xef\xbb\xbf---\r\n")
    assert again.count(b"\n") == again.count(b"\r\n")
    assert again.count(b" ^p") == raw.count(b" ^p")


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


def test_a_summary_that_a_person_changed_is_left_as_it_is(vault: Vault) -> None:
    vault.talks(1, 5)
    path = vault.make()[0].path
    vault.put(path, vault.text(path) + "\nA line of mine.\n")
    before = vault.text(path)
    done = vault.levels().again("main", "L1_001", PERSON)
    assert done.outcome == "unchanged" and "A person changed it" in done.notes[0]
    assert vault.text(path) == before


def test_an_unreadable_session_does_not_keep_the_others_waiting(vault: Vault) -> None:
    ids = vault.talks(1, 6)
    path = vault.file(vault.paths.session("main", ids[0]))
    path.write_bytes(path.read_bytes() + b"\xff\xfe broken")
    (done,) = vault.make()
    assert done.sources == tuple(ids[1:])
    assert "2026-02-01_001" in done.notes[0]


def test_talks_in_which_nothing_was_said_are_summed_up_as_that(vault: Vault) -> None:
    for number in range(1, 6):
        vault.talk(number, "Hi!", "Thanks, bye.")
    (done,) = vault.make()
    assert done.text == "Nothing was said that needs keeping."
    assert not vault.dead_links(done.path)
    assert vault.make() == []


@pytest.mark.parametrize("meanwhile", ["edited", "hidden"])
def test_what_changes_or_is_hidden_while_it_is_summed_up_is_read_anew(
    vault: Vault, meanwhile: str
) -> None:
    ids = vault.talks(1, 5)

    class Slow:
        """Implements `Summariser`: while it writes, a person edits or forgets."""

        def __init__(self) -> None:
            self.times = 0

        def level(self, level: object, sources: object, language: str, max_tokens: int) -> Summary:
            self.times += 1
            if self.times == 1 and meanwhile == "edited":
                vault.talk(5, "We moved the piano to the attic yesterday.")
            elif self.times == 1:
                vault.gate.hide("main", [MessageRef("main", ids[-1], "m1", "id1")], PERSON)
            texts = [piece.text for piece in sources[-1].pieces]  # type: ignore[index]
            return Summary((Paragraph(texts[0], (sources[-1].pieces[0].id,)),))  # type: ignore[index]

    levels = vault.levels(writer=Slow())
    with pytest.raises(WriteConflict):
        levels.make("main", MAIN)
    (done,) = levels.make("main", MAIN)
    wanted = {"edited": "We moved the piano to the attic yesterday.", "hidden": TALKS[0][1]}
    assert done.text == wanted[meanwhile]
    assert vault.names("L1") == ["L1_001.md"]


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
