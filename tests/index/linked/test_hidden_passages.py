"""Private passages and keys in a linked folder: blanked before a file is read and cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.planner.planned import MAIN, Planned
from tests.planner.structure.shelf import Shelf
from tests.test_keys import key, lines_of
from vaultmind.errors import NotFound
from vaultmind.index.linked.ground import FolderGround
from vaultmind.planner.sources.opening import cut_by_definitions
from vaultmind.types import PERSON, SearchRequest

OVEN = '''"""Heats the oven."""


def heat_oven():
    return 1


# <private>
def oven_diagnosis():
    """The illness of Kunegunda and the oven."""
    return 2


class OvenWedding:
    """Who may marry Kunegunda at the oven."""

    def dowry(self):
        return 3
# </private>


def cool_oven():
    """Cools the oven down."""
    return 5
'''
SCRIPT = (
    "export function heatOven() {\n  return 1\n}\n\n/* <private> */\n"
    + "".join(f"export function dowry{n}() {{\n  // Kunegunda\n}}\n" for n in range(9))
    + "/* </private> */\nexport function coolOven() {\n  return 2\n}\n"
)
HIDDEN = ("Kunegunda", "oven_diagnosis", "OvenWedding", "dowry", *lines_of(64))


def leaks(told: object) -> list[str]:
    return [word for word in HIDDEN if word in str(told)]


def test_nothing_of_them_comes_out_anywhere(tmp_path: Path) -> None:
    planned = Planned(tmp_path)
    try:
        indented = key().replace("\n", "\n    ")
        for path, text in {
            "src/oven.py": OVEN,
            "src/oven.js": SCRIPT,
            "src/tls.py": f'"""The oven\'s tls."""\nKEY = """\n{key()}\n"""\n',
            "deploy/oven.yaml": f"oven:\n  tls: |\n    {indented}\n",
            "deploy/oven.txt": f"The oven's tls\n\n{key()}\n",
            "deploy/oven.md": f"# The oven's tls\n\n{key()}\n",
            "deploy/wedding.yaml": "oven:\n# <private>\n  who: Kunegunda\n# </private>\n  n: 1\n",
        }.items():
            (planned.shop / path).parent.mkdir(parents=True, exist_ok=True)
            (planned.shop / path).write_text(text)
        (planned.vault / "Tls.md").write_text(f"# Tls\n\nThe oven's tls:\n\n{key()}\n\nThe end.\n")
        planned.settle()
        for name in ("shop", "vault"):
            index = planned.source(name).index
            for words in ("oven", "oven tls", "oven diagnosis wedding", lines_of(64)[9]):
                found = index.search(SearchRequest(words, limit=50, max_tokens=8000), MAIN)
                assert not leaks(found.hits)
        index = planned.source().index
        assert "def cool_oven" in index.fetch("src/oven.py#cool_oven", MAIN).text
        for path in ("src/oven.py", "src/oven.js", "deploy/oven.yaml", "deploy/wedding.yaml"):
            assert not leaks(index.fetch(path, PERSON).text)
        for anchor in ("oven_diagnosis", "OvenWedding", "OvenWedding.dowry"):
            with pytest.raises(NotFound):
                index.fetch(f"src/oven.py#{anchor}", PERSON)
        for detail in ("compact", "normal", "verbose"):
            for name in ("shop", "vault"):
                plan = planned.plan("the oven's tls", project_root=name, detail=detail,
                                    token_budget=20_000)  # fmt: skip
                assert not leaks(plan) and "tls" in plan.context.text
            assert not leaks(planned.plan("heat the oven", detail=detail, token_budget=20_000))
    finally:
        planned.close()


def test_no_record_of_code_names_what_stands_in_them(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "shop")
    shelf.ground = FolderGround(tmp_path / "shop", (), cut_by_definitions)
    shelf = Shelf(tmp_path / "shop", shelf.ground)
    try:
        shelf.write("oven.py", OVEN)
        shelf.write("oven.js", SCRIPT)
        structure = shelf.structure()
        records = structure.records()
        names = {one.name for record in records.values() for one in record.definitions}
        assert {"heat_oven", "cool_oven", "heatOven", "coolOven"} <= names
        assert not leaks(records)
        assert not leaks(shelf.explore(structure, *(f"L{n}" for n in range(7)), detail="verbose"))
    finally:
        for opened in shelf.opened:
            opened.close()
        shelf.database.close()
