"""Questions in other inflections, with typing errors and with identifiers find their notes.

The sets are those of benchmarks/morphology.py, which measures the same among more notes.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.index.vault import Vault
from vaultmind.index.notes import chunk_file, place_of
from vaultmind.index.sync import Prepared, store
from vaultmind.index.where import Where

DATA = Path(__file__).resolve().parents[2] / "benchmarks" / "data"
SETS = ("morphology_pl", "morphology_ru", "typos", "identifiers")


def lines(name: str) -> list[dict[str, str | list[str]]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]


NOTES = {
    str(one["note"]): str(one["text"]) for name in SETS for one in lines(name) if "text" in one
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    made = Vault(tmp_path_factory.mktemp("forms"))
    with made.database.write():
        for name, text in NOTES.items():
            made.write(f"{name}.md", text + "\n")
            place, file = place_of(f"{name}.md", made.paths), made.reader.read(f"{name}.md")
            assert place is not None
            chunks = chunk_file(file.path, file, place)
            store(made.database, Prepared(file.path, place, file.stat, file, chunks))
    yield made
    made.close()


def best(vault: Vault, query: str) -> list[str]:
    rowids = vault.finder.saying(query, Where(), 5)
    with vault.database.read() as connection:
        paths = dict(connection.execute("SELECT rowid, path FROM chunks").fetchall())
    return [Path(paths[rowid]).stem for rowid in rowids]


def asked(name: str) -> Iterator[tuple[dict[str, str | list[str]], str, set[str]]]:
    for one in lines(name):
        if "query" in one:
            yield one, str(one["query"]), set(one["notes"])


def test_an_identifier_to_the_letter_comes_first_and_its_parts_find_it(vault: Vault) -> None:
    for one, query, right in asked("identifiers"):
        found = best(vault, query)
        if one["how"] in ("exact", "case"):
            assert found[:1] and found[0] in right, query
        assert right.intersection(found), query
