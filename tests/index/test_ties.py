"""index/relations/{ties,tied}: files' names, links and tags; where links lead."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.index.vault import Vault
from vaultmind.index.relations.tied import Lead, leads_of
from vaultmind.types import PERSON, Hit, SearchRequest


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    made = Vault(tmp_path)
    yield made
    made.close()


def rows(vault: Vault, path: str, kind: str = "link") -> list[tuple[str, str, str]]:
    with vault.database.read() as connection:
        found = connection.execute(
            "SELECT name, target, anchor FROM ties WHERE path = ? AND kind = ? ORDER BY rowid",
            (path, kind),
        )
        return [tuple(row) for row in found]


def leads(vault: Vault, query: str) -> list[Lead]:
    hit: Hit = vault.search(SearchRequest(query), PERSON).hits[0]
    with vault.database.read() as connection:
        return list(leads_of(connection, hit))


def test_a_rare_tag_leads_to_the_others_that_have_it(vault: Vault) -> None:
    vault.put("Oven.md", "Bricks for the oven #projects/oven\n")
    vault.put("Wood.md", "Beech, split #projects/oven\n")
    (lead, *_) = leads(vault, "bricks")
    assert (lead.tie, lead.path, lead.name) == ("tag", "Wood.md", "projects/oven")
