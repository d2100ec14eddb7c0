"""index/{related,ties}: what is tied to what was found; checked, shown to whom."""

from __future__ import annotations

from tests.index.vault import Vault
from vaultmind.index.related import Relations
from vaultmind.types import PERSON, Caller, Hit, Neighbour, SearchRequest

MAIN = Caller("agent", "main")


def related(
    vault: Vault, query: str, caller: Caller = PERSON, agent: str = "main", least: float = 0.2
) -> list[Neighbour]:
    relations = Relations(vault.with_meaning(), vault.outlet)
    return relations.related(query, found(vault, query), agent, caller, least)


def found(vault: Vault, query: str) -> tuple[Hit, ...]:
    return vault.search(SearchRequest(query), PERSON).hits


def oven(vault: Vault) -> None:
    vault.put("Oven.md", "The dome of the oven is built in April with [[Władek]]\n")
    vault.put("Władek.md", "Stove fitter, his daughter takes the calls\n")
    for number in range(8):
        vault.put(f"Other {number}.md", f"Nothing of the kind {number}, parrots and taxes\n")


def test_what_is_gone_from_disk_is_not_shown(vault: Vault) -> None:
    oven(vault)
    (vault.paths.root / "Władek.md").unlink()
    assert related(vault, "dome of the oven") == []


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


def test_a_link_to_a_heading_brings_that_part(vault: Vault) -> None:
    filler = "Parrots and taxes and stamps and parades. " * 20
    vault.put("Oven.md", "The dome of the oven stands, see [[House#Attic]]\n")
    vault.put("House.md", f"# Taxes\n{filler}\n# Attic\n{filler}\n")
    (near,) = related(vault, "dome of the oven")
    assert near.chunk.anchor == "#Attic"


# --- strength and attention ----------------------------------------------------------------


def test_a_rare_tag_leads_to_the_others_that_have_it(vault: Vault) -> None:
    vault.put("Oven.md", "Bricks for the oven #projects/oven\n")
    vault.put("Wood.md", "Beech, split #projects/oven\n")
    (near,) = related(vault, "bricks")
    assert (near.tie, near.chunk.path, near.name) == ("tag", "Wood.md", "projects/oven")
