"""index/relations: what is tied to what was found; checked, shown to whom."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.index.vault import Mind, Vault
from vaultmind.index.relations.attention import attend
from vaultmind.index.relations.related import Relations
from vaultmind.index.relations.strength import TIES, near_mind, strength, tie_strength
from vaultmind.types import PERSON, Caller, Hit, Neighbour, SearchRequest

MAIN = Caller("agent", "main")


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    made = Vault(tmp_path)
    yield made
    made.close()


def related(
    vault: Vault, query: str, caller: Caller = PERSON, agent: str = "main", least: float = 0.2
) -> list[Neighbour]:
    mind = Mind(vault)
    relations = Relations(vault.database, mind, vault.outlet, vault)
    return relations.related(query, found(vault, query), agent, caller, least)


def found(vault: Vault, query: str) -> tuple[Hit, ...]:
    return vault.search(SearchRequest(query), PERSON).hits


def oven(vault: Vault) -> None:
    vault.put("Oven.md", "The dome of the oven is built in April with [[Władek]]\n")
    vault.put("Władek.md", "Stove fitter, his daughter takes the calls\n")
    for number in range(8):
        vault.put(f"Other {number}.md", f"Nothing of the kind {number}, parrots and taxes\n")


def test_a_link_brings_the_note_that_shares_no_word(vault: Vault) -> None:
    oven(vault)
    (near,) = related(vault, "when is the dome of the oven built")
    assert (near.chunk.path, near.tie) == ("Władek.md", "link")
    assert near.to == vault.ids("Oven.md")[0]
    assert 0.2 <= near.strength <= 1.0


def test_without_vectors_ties_alone_lead_on(vault: Vault) -> None:
    oven(vault)
    mind = Mind(vault)
    mind.there = False
    relations = Relations(vault.database, mind, vault.outlet, vault)
    hits = found(vault, "dome of the oven")
    (near,) = relations.related("dome of the oven", hits, "main", PERSON, 0.2)
    assert (near.chunk.path, near.tie) == ("Władek.md", "link")


def test_attention_alone_brings_what_lies_near_what_was_found(vault: Vault) -> None:
    vault.put("Oven.md", "dome brick mortar hearth chimney oven door\n")
    vault.put("Log.md", "brick mortar hearth chimney door, twelve rows\n")
    vault.put("Tax.md", "invoices and stamps\n")
    near = related(vault, "oven dome", least=0.1)
    log = next((one for one in near if one.chunk.path == "Log.md"), None)
    assert log is not None
    assert log.tie == "meaning"
    assert "Tax.md" not in {one.chunk.path for one in near}


def test_nothing_comes_to_mind_with_weak_matches(vault: Vault) -> None:
    oven(vault)
    weak = [replace(hit, score=0.4) for hit in found(vault, "dome of the oven")]
    relations = Relations(vault.database, Mind(vault), vault.outlet, vault)
    assert weak
    assert relations.related("dome", weak, "main", PERSON, 0.0) == []
    assert relations.related("dome", (), "main", PERSON, 0.0) == []


def test_what_changed_on_disk_is_shown_as_it_stands(vault: Vault) -> None:
    oven(vault)
    vault.write("Władek.md", "Stove fitter, moved to Gdynia\n")
    (near,) = related(vault, "dome of the oven")
    assert near.chunk.text == "Stove fitter, moved to Gdynia"


def test_what_is_gone_from_disk_is_not_shown(vault: Vault) -> None:
    oven(vault)
    (vault.paths.root / "Władek.md").unlink()
    assert related(vault, "dome of the oven") == []


def test_what_keeps_changing_is_left_out(vault: Vault) -> None:
    oven(vault)
    file = vault.paths.root / "Władek.md"

    class Restless(Vault):
        def refresh(self, paths: object) -> None:
            stamp = file.stat().st_mtime_ns + 1
            os.utime(file, ns=(stamp, stamp))

    vault.write("Władek.md", "Stove fitter, again\n")
    vault.__class__ = Restless
    assert related(vault, "dome of the oven") == []


def test_secrets_are_masked_and_hidden_parts_left_out(vault: Vault) -> None:
    key = "sk-ant-api03-" + "a1B2" * 12
    oven(vault)
    vault.put("Władek.md", f"Stove fitter, key {key}\n")
    (near,) = related(vault, "dome of the oven")
    assert key not in near.chunk.text
    summary = "VaultMind/agents/main/memory/summaries/L1/L1_001.md"
    vault.put(summary, "[[Oven]] gets its last course ^s1\n")
    record = summary.removesuffix(".md")
    assert summary in {one.chunk.path for one in related(vault, "built in April")}
    vault.hidden.names.add(("main", record, "s1"))
    assert summary not in {one.chunk.path for one in related(vault, "built in April")}


def test_another_agents_memory_does_not_come_to_mind(vault: Vault) -> None:
    oven(vault)
    theirs = "VaultMind/agents/jaskier/memory/summaries/L1/L1_001.md"
    vault.put(theirs, "Of the [[Oven]] again\n")
    query = "built in April"
    assert theirs not in {one.chunk.path for one in related(vault, query)}
    assert theirs in {one.chunk.path for one in related(vault, query, agent="jaskier")}
    vault.rights.hidden.add(("main", "jaskier"))
    near = related(vault, query, MAIN, agent="jaskier")
    assert theirs not in {one.chunk.path for one in near}


def test_of_a_long_note_the_part_comes_that_is_nearest(vault: Vault) -> None:
    filler = "Parrots and taxes and stamps and parades. " * 20
    vault.put("Oven.md", "The dome of the oven stands of brick and mortar, see [[House]]\n")
    bricks = "brick mortar stands brick mortar stands " * 8
    vault.put("House.md", f"# Taxes\n{filler}\n# Walls\n{bricks}\n")
    near = related(vault, "dome of the oven", least=0.1)
    (house,) = [one for one in near if one.chunk.path == "House.md"]
    assert house.chunk.anchor == "#Walls"


def test_a_link_to_a_heading_brings_that_part(vault: Vault) -> None:
    filler = "Parrots and taxes and stamps and parades. " * 20
    vault.put("Oven.md", "The dome of the oven stands, see [[House#Attic]]\n")
    vault.put("House.md", f"# Taxes\n{filler}\n# Attic\n{filler}\n")
    (near,) = related(vault, "dome of the oven")
    assert near.chunk.anchor == "#Attic"


# --- strength and attention ----------------------------------------------------------------

shares = st.floats(0, 1)


@given(
    ties=st.dictionaries(st.sampled_from(sorted(TIES)), shares),
    near=shares,
    asked=shares,
    best=shares,
)
def test_a_strength_is_a_share_and_no_tie_makes_it_less(
    ties: dict[str, float], near: float, asked: float, best: float
) -> None:
    whole = strength(ties, near, asked, best)  # type: ignore[arg-type]
    assert 0.0 <= whole <= 1.0
    for name in ties:
        fewer = {tie: value for tie, value in ties.items() if tie != name}
        assert strength(fewer, near, asked, best) <= whole + 1e-9  # type: ignore[arg-type]


def test_the_more_a_tie_leads_to_the_less_it_says() -> None:
    values = [tie_strength("link", others, 1.0) for others in range(20)]
    assert values == sorted(values, reverse=True)
    assert tie_strength("link", 0, 0.5) == 0.5 * values[0]


def test_nearness_to_what_comes_to_mind_is_a_share() -> None:
    values = [near_mind(closeness / 10) for closeness in range(-10, 30)]
    assert (values[0], values[-1]) == (0.0, 1.0)
    assert values == sorted(values)


def test_attention_lies_between_the_memories_nearer_to_the_nearer_one() -> None:
    keys = [np.array([1, 0, 0], np.float32), np.array([0, 1, 0], np.float32)]
    query = np.array([0.8, 0.6, 0], np.float32)
    mind = attend(query, keys)
    assert np.linalg.norm(mind) == pytest.approx(1.0)
    assert mind[0] > mind[1] > 0
    sharp = attend(query, keys, temperature=0.001)
    assert sharp[0] == pytest.approx(1.0)


def test_memories_that_point_apart_leave_the_question_itself() -> None:
    keys = [np.array([0, 1], np.float32), np.array([0, -1], np.float32)]
    query = np.array([1, 0], np.float32)
    assert attend(query, keys) == pytest.approx(query)
