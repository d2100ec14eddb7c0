"""text, ranker/holding: words that are nearly everywhere are not ranked one by one, nor guessed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.index.vault import Vault
from vaultmind.index.matching import MAX_POSTINGS
from vaultmind.index.rank import gather
from vaultmind.index.rank import Found
from vaultmind.index.where import Where

FACTS = 2_200


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    """Two thousand facts that name the harbour, of which many name the lantern as well."""
    vault = Vault(Path(tmp_path_factory.mktemp("crowd")))
    parts = []
    for number in range(FACTS):
        lantern = " A lantern hangs there." if number % 3 else ""
        parts.append(f"- Berth {number} of the harbour.{lantern}")
    vault.put(vault.paths.brain("main"), "# user\n" + "\n".join(parts) + "\n")
    yield vault
    vault.close()


def test_what_has_all_of_some_common_words_comes_first(crowd: Vault) -> None:
    assert FACTS + FACTS * 2 / 3 > MAX_POSTINGS
    answer = crowd.text.answer("harbour lantern", Where(), 50)
    with crowd.database.read() as connection:
        texts = dict(connection.execute("SELECT rowid, text FROM chunks").fetchall())
    assert len(answer.hits) == 50
    assert all("lantern" in texts[hit.rowid] for hit in answer.hits)


def test_a_scene_knows_of_common_words_wherever_its_chunks_stand(crowd: Vault) -> None:
    """Their postings are read to a limit, which the last chunks lie beyond."""
    answer = crowd.text.answer("harbour lantern", Where(), 50)
    with crowd.database.read() as connection:
        texts = dict(connection.execute("SELECT rowid, text FROM chunks").fetchall())
    last = sorted(texts)[-40:]
    found = Found("harbour lantern", answer.wanted, dict.fromkeys(last, 1.0), {})
    scene = gather(crowd.database, found)
    assert scene is not None
    lantern = next(at for at, one in enumerate(scene.question.wanted) if "lantern" in one.words)
    for row, rowid in enumerate(scene.rowids.tolist()):
        assert bool(scene.matched.held[row, lantern]) == ("lantern" in texts[rowid])
        assert scene.matched.held[row, 1 - lantern] == 1.0
