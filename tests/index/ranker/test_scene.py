"""ranker/{asking,pool,holding,gather,features}: what is known of a query's candidates."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.index.ranker.conftest import Look
from tests.index.vault import Vault
from vaultmind.index.asking import says_i, says_when
from vaultmind.index.rank import columns
from vaultmind.index.rank import Scene
from vaultmind.index.asking import named

QUERIES = (
    "When did Jan start with pottery?",
    "pottery kiln",
    "Ola puppy",
    "Gdzie sadzimy tulipany?",
    "how many degrees",
    "the of and",
    "Ola",
    "potery kilm",
)


def texts(vault: Vault, scene: Scene) -> list[str]:
    """Return the texts of the candidates."""
    with vault.database.read() as connection:
        rows = dict(connection.execute("SELECT rowid, text FROM chunks").fetchall())
    return [rows[int(rowid)] for rowid in scene.rowids[: scene.count]]


def of(vault: Vault, scene: Scene, words: str) -> int:
    """Return the row of the candidate whose text has some words."""
    (row,) = [at for at, text in enumerate(texts(vault, scene)) if words in text]
    return row


def test_a_text_says_a_time_a_number_and_i() -> None:
    assert says_when("we met yesterday") == (1.0, 0.0)
    assert says_when("in room 12") == (0.5, 1.0)
    assert says_when("no such thing, cats") == (0.0, 0.0)
    assert says_when("three cats") == (0.0, 1.0)
    assert says_i("I'm here") == says_i("to moje koty") == says_i("Я дома") == 1.0
    assert says_i("Italy is warm") == 0.0


def test_a_time_that_the_query_names_is_near_or_far(vault: Vault, look: Look) -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    asked = named("What did Ola adopt in February?", "en", now)
    assert asked is not None
    near = asked.near
    assert near("2026-02-08T10:05:00+00:00", "", "en") == near("2026-02-08", "", "en") == 1.0
    assert 0.0 <= near("2025-06-01", "", "en") < 0.2
    assert near("", "", "en") == near("no time", "", "en") == 0.0
    assert named("What did Ola adopt?", "en", now) is None
    scene = look("What did Ola adopt in February?", named=asked)
    assert scene is not None
    when = columns(scene)["when"]
    assert when[of(vault, scene, "puppy")] == 1.0


def test_what_a_text_tells_of_counts_as_its_time() -> None:
    asked = named("What did I do on 7 May 2023?", "en", datetime(2023, 8, 1, tzinfo=UTC))
    assert asked is not None
    assert asked.explicit
    assert asked.days == ("2023-05-07", "2023-05-07")
    assert asked.near("2023-05-12T10:00:00", "I went to a fair on Sunday", "en") > 0.9
    assert asked.near("2023-05-12T10:00:00", "I went to a fair", "en") < 0.3
    assert asked.near("", "The fair is on 7 May 2023", "en") == 1.0
