"""index/fulltext/bm25: the scores are those of FTS5, whatever was written or held before."""

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.index.vault import Vault
from vaultmind.index.fulltext.bm25 import Bm25, added, best_of, in_all
from vaultmind.index.fulltext.phrase import Phrase
from vaultmind.index.storage.where import Where

WEIGHTS = (1.0, 1.0, 3.0)
SAID = ("bread", "oven", "yeast", "the", "piekarnik", "закваска", "night", "loaf", "salt", "x")


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    made = Vault(tmp_path)
    yield made
    made.close()


def phrase(token: str, *, in_title: bool = True) -> Phrase:
    columns = "{stems title}" if in_title else "{stems}"
    return Phrase(f'{columns} : "{token}"', token, in_title)


def counted(vault: Vault, *phrases: Phrase, by: str = " OR ") -> dict[int, float]:
    """Return what FTS5 says."""
    expression = by.join(one.expression for one in phrases)
    statement = "SELECT rowid, -bm25(fts, ?, ?, ?) FROM fts WHERE fts MATCH ?"
    with vault.database.read() as connection:
        return dict(connection.execute(statement, (*WEIGHTS, expression)).fetchall())


def write(vault: Vault, chance: random.Random, number: int) -> None:
    lines = [" ".join(chance.choices(SAID, k=chance.choice((1, 7, 200)))) for _ in range(3)]
    title = " ".join(chance.choices(SAID, k=2))
    vault.put(f"{number}.md", f"# {title}\n\n" + "\n\n".join(lines) + "\n")


def test_scores_are_those_of_fts5_after_every_write(vault: Vault) -> None:
    chance = random.Random(7)
    scores = Bm25(vault.database, WEIGHTS)
    for round_ in range(12):
        for number in chance.sample(range(9), 3):
            write(vault, chance, number)
        if round_ % 4 == 3:
            gone = f"{chance.randrange(9)}.md"
            (vault.paths.root / gone).unlink(missing_ok=True)
            vault.refresh([gone])
        asked = [phrase(one, in_title=chance.random() < 0.7) for one in chance.sample(SAID, 4)]
        asked.append(Phrase('{words title} : "bread oven"'))
        found = scores.of(asked)
        for one in asked:
            assert dict(zip(*found[one].as_lists(), strict=True)) == pytest.approx(
                counted(vault, one)
            )
        parts = [found[one] for one in asked]
        both = in_all(parts[:2])
        assert dict(zip(*both.as_lists(), strict=True)) == pytest.approx(
            counted(vault, *asked[:2], by=" AND ")
        )
        assert dict(best_of(added(parts), 10_000)) == pytest.approx(counted(vault, *asked))


def test_what_is_not_committed_is_not_held(vault: Vault) -> None:
    vault.put("a.md", "bread and salt\n")
    scores = Bm25(vault.database, WEIGHTS)
    bread = phrase("bread")
    with pytest.raises(RuntimeError), vault.database.write() as connection:
        connection.execute("DELETE FROM fts")
        assert not scores.of([bread])[bread].as_lists()[0]
        raise RuntimeError
    assert len(scores.of([bread])[bread].rowids) == 1


def test_few_places_are_held_and_the_answers_stay(vault: Vault) -> None:
    chance = random.Random(3)
    for number in range(6):
        write(vault, chance, number)
    little, much = (Bm25(vault.database, WEIGHTS, most) for most in (5, 400_000))
    for _ in range(3):
        for word in SAID:
            one = phrase(word)
            assert little.of([one])[one].as_lists() == much.of([one])[one].as_lists()


def test_lengths_of_any_size_are_read(vault: Vault) -> None:
    vault.put("long.md", "- " + "bread " * 3_000 + "\n")
    vault.put("b.md", "bread\n")
    bread = phrase("bread")
    found = Bm25(vault.database, WEIGHTS).of([bread])[bread]
    assert dict(zip(*found.as_lists(), strict=True)) == pytest.approx(counted(vault, bread))


def test_an_index_of_before_learns_where_words_stand(vault: Vault, tmp_path: Path) -> None:
    vault.put("a.md", "bread\n")
    vault.close()
    with sqlite3.connect(tmp_path / "state" / "index.db") as old:
        old.execute("DROP TABLE fts_occurrences")
        old.execute("DELETE FROM migrations WHERE name = 'occurrences'")
    old.close()
    (tmp_path / "vault" / "a.md").unlink()
    (tmp_path / "vault").rmdir()
    again = Vault(tmp_path)
    assert again.text.search("bread", Where(), 5)
    again.close()


def test_nothing_is_held_of_what_was_erased(vault: Vault) -> None:
    vault.put("a.md", "tallow barge\n")
    scores = Bm25(vault.database, WEIGHTS)
    scores.of([phrase("tallow")])
    scores.forget()
    assert "tallow" not in repr(vars(scores))
