"""index/relations/{ties,tied}: files' names, links and tags; where links lead."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.index.vault import Vault
from vaultmind.app import open_app
from vaultmind.config import Config, IndexConfig
from vaultmind.index.relations.tied import MOST_LINKING, MOST_TAGGED, Lead, leads_of
from vaultmind.index.relations.ties import MOST_TIES, folded, leads_to
from vaultmind.index.storage.database import Database
from vaultmind.index.sync.rows import drop_all
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


def test_links_of_every_form_are_kept_with_what_they_name(vault: Vault) -> None:
    text = (
        "---\nhelpers:\n  - '[[Timur]]'\n---\n"
        "[[Pan Władek|Władek]] and ![[Plans/Dome.canvas]] and [[Log#18 March]]"
        " and [[Bread#^rye]] and [rye](../Recipes/Babcia%20rye.md) and [out](https://x.org)\n"
    )
    vault.put("Oven.md", text)
    assert set(rows(vault, "Oven.md")) == {
        ("timur", "", ""),
        ("pan władek", "", ""),
        ("dome.canvas", "plans/dome.canvas", ""),
        ("log", "", "#18 March"),
        ("bread", "", "#^rye"),
        ("babcia rye", "recipes/babcia rye", ""),
    }


def test_links_in_comments_and_private_passages_tie_nothing(vault: Vault) -> None:
    vault.put("Oven.md", "Oven %%see [[Secret]]%%\n\n<private>[[Hidden]]</private>\n")
    assert rows(vault, "Oven.md") == []


def test_a_nested_tag_ties_to_what_it_is_nested_in(vault: Vault) -> None:
    vault.put("Oven.md", "Bricks #projects/oven\n")
    assert [name for name, _, _ in rows(vault, "Oven.md", "tag")] == ["projects/oven", "projects"]


def test_ties_follow_every_change_of_a_file(vault: Vault) -> None:
    vault.put("Oven.md", "[[One]] #clay\n")
    vault.put("Oven.md", "[[Two]]\n")
    assert rows(vault, "Oven.md") == [("two", "", "")]
    assert rows(vault, "Oven.md", "tag") == []
    (vault.paths.root / "Oven.md").unlink()
    vault.refresh(["Oven.md"])
    assert rows(vault, "Oven.md", "name") == []


def test_emptying_the_index_leaves_no_tie(vault: Vault) -> None:
    vault.put("Oven.md", "[[One]] #clay\n")
    with vault.database.write() as connection:
        drop_all(connection)
    with vault.database.read() as connection:
        assert connection.execute("SELECT count(*) FROM ties").fetchone() == (0,)


def test_a_note_that_links_to_everything_is_cut_short(vault: Vault) -> None:
    vault.put("All.md", "\n\n".join(f"[[Note {number}]]" for number in range(MOST_TIES + 50)))
    assert len(rows(vault, "All.md")) == MOST_TIES


@pytest.mark.parametrize(
    ("target", "path", "leads"),
    [
        ("", "Anywhere/Oven.md", True),
        ("projects/oven", "Projects/Oven.md", True),
        ("projects/oven", "House/Projects/Oven.md", True),
        ("projects/oven", "OldProjects/Oven.md", False),
        ("house/oven", "Projects/Oven.md", False),
    ],
)
def test_a_link_that_names_folders_means_only_what_lies_there(
    target: str, path: str, leads: bool
) -> None:
    assert leads_to(target, path) is leads


def test_names_are_compared_whatever_their_case_and_composition() -> None:
    assert folded("Z\u0307urek.MD") == folded("żurek.md") == "żurek"


def test_a_link_leads_to_the_note_beside_it_where_two_have_its_name(vault: Vault) -> None:
    vault.put("Travel/Plan.md", "Trains and tents\n")
    vault.put("Garden/Plan.md", "Tomatoes and beans\n")
    vault.put("Garden/Compost.md", "Turn the compost, as [[Plan]] says\n")
    assert [lead.path for lead in leads(vault, "compost")] == ["Garden/Plan.md"]


def test_links_lead_both_ways_and_say_how_many_others_there_are(vault: Vault) -> None:
    vault.put("Oven.md", "The oven, built with [[Władek]] and [[Timur]]\n")
    vault.put("Władek.md", "A stove fitter\n")
    vault.put("Timur.md", "A sound engineer\n")
    out = {(lead.tie, lead.path): lead.others for lead in leads(vault, "oven")}
    assert out == {("link", "Władek.md"): 1, ("link", "Timur.md"): 1}
    (back,) = leads(vault, "stove fitter")
    assert (back.tie, back.path, back.others) == ("backlink", "Oven.md", 1)
    assert back.chunk == vault.ids("Oven.md")[0]


def test_what_everything_links_to_or_is_tagged_with_says_nothing(vault: Vault) -> None:
    vault.put("Hub.md", "The hub of it all\n")
    for number in range(MOST_LINKING + 2):
        vault.put(f"N{number}.md", f"Leaf {number} of [[Hub]] #leaf\n")
    assert leads(vault, "hub of it all") == []
    (lead,) = leads(vault, "leaf 7")
    assert (lead.tie, lead.path) == ("link", "Hub.md")
    assert MOST_TAGGED < MOST_LINKING


def test_a_rare_tag_leads_to_the_others_that_have_it(vault: Vault) -> None:
    vault.put("Oven.md", "Bricks for the oven #projects/oven\n")
    vault.put("Wood.md", "Beech, split #projects/oven\n")
    (lead, *_) = leads(vault, "bricks")
    assert (lead.tie, lead.path, lead.name) == ("tag", "Wood.md", "projects/oven")


def test_the_name_in_a_link_that_is_gone_leaves_no_byte(vault: Vault) -> None:
    vault.put("Oven.md", "Built with [[Zzyzxqw]]\n")
    assert rows(vault, "Oven.md") == [("zzyzxqw", "", "")]
    vault.put("Oven.md", "Built alone\n")
    vault.text.tidy()
    assert vault.database.compact() == ""
    held = [file.read_bytes() for file in vault.database.path.parent.iterdir() if file.is_file()]
    assert held
    assert not any(b"zzyzxqw" in one for one in held)


def test_an_index_of_before_is_filled_with_ties(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    (root / "Oven.md").write_text("Built with [[Timur]]\n", "utf-8")
    settings = replace(IndexConfig(), watch=False, embedder="none")
    config = Config(root, tmp_path / "state", index=settings)
    for old in (True, False):
        app = open_app(config)
        app.start()
        assert app.index.wait_ready(60)
        app.close()
        database = Database(config.state_dir / "index.db")
        with database.write() as connection:
            held = connection.execute("SELECT name FROM ties WHERE kind = 'link'").fetchall()
            if old:  # as the version before this table had left it
                connection.execute("DROP TABLE ties")
                connection.execute("DELETE FROM migrations WHERE name = 'ties'")
                connection.execute("UPDATE meta SET value = '2' WHERE key = 'format'")
        database.close()
        assert held == [("timur",)]
