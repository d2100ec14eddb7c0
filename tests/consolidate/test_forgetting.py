"""What was forgotten or erased leaves what conversations were made into, and does not come back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.memory.conftest import MAIN, House
from vaultmind.memory.audit.chain import verify
from vaultmind.memory.audit.drops import drops
from vaultmind.memory.audit.reading import Wanted as Lines
from vaultmind.memory.forget.sentences import without_sentences
from vaultmind.memory.forget.taken import Target
from vaultmind.memory.forget.taking import refs_in_audit, without_audit_texts
from vaultmind.memory.forget.tombstones import Tombstones
from vaultmind.memory.forget.wanted import Wanted
from vaultmind.types import PERSON, MessageRef
from vaultmind.vault.parts import parts

FOLDER = "VaultMind/agents/main/memory"
SESSION = f"{FOLDER}/sessions/2026-02-20_001"
SOURCE = MessageRef("main", "2026-02-20_001", "m7")
L1 = f"""---
sessions: ["[[{SESSION}]]"]
created: 2026-02-21T10:00:00+01:00
token_count: 60
by: extractive
language: en
---
# What was talked about

Anna planned the trip to Gdynia on 2026-03-14. [[{SESSION}#^m3|source]] ^p1

Anna is allergic to hazelnuts. [[{SESSION}#^m7|source]] ^p2

The doctor found that hazelnuts are what Anna must not eat, being allergic. [[{SESSION}#^m7|source]]

The bakery sells hazelnuts again. [[{SESSION}#^m9|source]] ^p4
"""
L2 = f"""---
l1_summaries: ["[[{FOLDER}/summaries/L1/L1_001]]"]
---
# Winter

An allergic Anna now bakes without hazelnuts. [[{FOLDER}/summaries/L1/L1_001#^p2|source]] ^q1

Trips to the sea. [[{FOLDER}/summaries/L1/L1_001#^p1|source]] ^q2
"""
FACT = "Anna is allergic to hazelnuts"


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def shown(house: House, path: str) -> list[str]:
    """Return the parts of a summary that are not hidden."""
    stones, record = Tombstones(house.paths), path.removesuffix(".md")
    text = house.file(path).read_text()
    return [one.text for one in parts(text) if not stones.hides("main", record, one.block)]


def put_levels(house: House) -> tuple[str, str]:
    one, two = f"{FOLDER}/summaries/L1/L1_001.md", f"{FOLDER}/summaries/L2/L2_001.md"
    house.put(one, L1)
    house.put(two, L2)
    return one, two


# --- forgetting ---------------------------------------------------------------------------


def test_a_forgotten_fact_leaves_l1_and_l2_in_other_words_too_by_its_source(house: House) -> None:
    one, two = put_levels(house)
    house.remember(FACT, evidence=SOURCE)
    done = house.forget(FACT)
    assert "3 summary paragraphs" in done.message
    assert [text[:18] for text in shown(house, one)] == ["Anna planned the t", "The bakery sells h"]
    assert [text[:18] for text in shown(house, two)] == ["Trips to the sea. "]
    assert house.file(one).read_text().count("source]]") == 4, "nothing of the text is lost"


def test_a_day_that_a_fact_and_a_source_share_hides_nothing(house: House) -> None:
    one, two = put_levels(house)
    house.remember("Has a birthday on 2026-02-20")
    house.forget("Has a birthday on 2026-02-20")
    assert (len(shown(house, one)), len(shown(house, two))) == (4, 2)


def test_an_undo_shows_the_paragraphs_of_levels_again(house: House) -> None:
    one, two = put_levels(house)
    house.remember(FACT, evidence=SOURCE)
    house.forget(FACT)
    assert house.gate.undo("main", "", PERSON).outcome == "written"
    assert (len(shown(house, one)), len(shown(house, two))) == (4, 2)


# --- erasing ------------------------------------------------------------------------------


def test_an_erased_sentence_takes_the_paragraph_of_which_only_links_are_left() -> None:
    target = Target(f"{FOLDER}/summaries/L1/L1_001.md", "main", L1, "2026-03-01", "en")
    left = without_sentences(target, Wanted(["hazelnuts"])).text
    assert "hazelnut" not in left and "#^m7" not in left and "#^m9" not in left
    assert f"on 2026-03-14. [[{SESSION}#^m3|source]] ^p1" in left
    assert left.startswith(L1[: L1.index("Anna planned")])


def test_an_erasure_empties_what_was_told_as_dropped_and_the_chain_holds(house: House) -> None:
    house.remember("Likes tea", evidence=SOURCE)
    told = [("Anna is allergic to hazelnuts", "hypothetical", ("m8",)), ("Sings", "joke", ())]
    house.gate.dropped("main", "2026-02-20_001", told, MAIN)
    path = house.paths.audit("main", "test")
    text = house.file(path).read_text()
    wanted = Wanted(["hazelnuts"])
    assert not list(refs_in_audit(text, wanted)), "its message may say something else"
    without = without_audit_texts(Target(path, "main", text, "2026-03-01", "en"), wanted)
    house.put(path, without.text)
    assert "hazelnut" not in without.text and len(without.taken) == 1
    assert verify(without.text.splitlines()).faults == ()
    found, _ = drops(house.paths, Lines(("main",)))
    assert [(one.text, one.reason, one.erased) for one in found] == [
        ("", "", True),
        ("Sings", "joke", False),
    ]
    told_again = house.gate.dropped("main", "2026-02-20_001", told[1:], MAIN)
    assert told_again == 0
