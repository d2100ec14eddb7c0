"""ranker/{asking,pool,holding,gather,features}: what is known of a query's candidates."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from tests.index.ranker.conftest import TALK, Look
from tests.index.vault import Vault
from vaultmind.index.ranker.asking import question_of, says_i, says_when
from vaultmind.index.ranker.features import columns
from vaultmind.index.ranker.names import FEATURES, WITHOUT_MEANING
from vaultmind.index.ranker.scene import Scene
from vaultmind.index.ranker.times import named
from vaultmind.index.storage.where import Where

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


@pytest.mark.parametrize(
    ("query", "asks"),
    [
        ("When did it start?", "time"),
        ("how long ago was that", "time"),
        ("Kiedy zaczął Jan?", "time"),
        ("Когда это было?", "time"),
        ("Wann war das?", "time"),
        ("¿Cuándo fue?", "time"),
        ("how many cats has she", "number"),
        ("Ile mam kotów", "number"),
        ("Where is the studio", "place"),
        ("Кто это сказал", "person"),
        ("Pourquoi pas ?", "reason"),
        ("bread oven door height", ""),
    ],
)
def test_the_words_of_a_question_say_what_it_asks_for(query: str, asks: str) -> None:
    assert question_of(query, (), "").asks == asks


def test_a_text_says_a_time_a_number_and_i() -> None:
    assert says_when("we met yesterday") == (1.0, 0.0)
    assert says_when("in room 12") == (0.5, 1.0)
    assert says_when("no such thing, cats") == (0.0, 0.0)
    assert says_when("three cats") == (0.0, 1.0)
    assert says_i("I'm here") == says_i("to moje koty") == says_i("Я дома") == 1.0
    assert says_i("Italy is warm") == 0.0


@pytest.mark.parametrize("meaning", [True, False])
@pytest.mark.parametrize("query", QUERIES)
def test_every_feature_is_there_and_within_its_range(look: Look, query: str, meaning: bool) -> None:
    scene = look(query, meaning=meaning)
    assert scene is not None
    found = columns(scene)
    expected = [name for name in FEATURES if meaning or name in WITHOUT_MEANING]
    assert sorted(found) == sorted(expected)
    for name, column in found.items():
        assert column.shape == (scene.count,), name
        assert column.dtype == np.float32, name
        assert np.isfinite(column).all(), name
        assert column.min() >= FEATURES[name].least - 1e-6, name
        assert column.max() <= 1.0 + 1e-6, name


def test_nothing_found_is_no_scene(look: Look) -> None:
    assert look("xylophone", meaning=False) is None


def test_what_stands_beside_a_hit_is_a_candidate(vault: Vault, look: Look) -> None:
    scene = look("studio near the station", meaning=False)
    assert scene is not None
    assert TALK[0][1] in texts(vault, scene)
    assert TALK[2][1] in texts(vault, scene)
    row = of(vault, scene, TALK[2][1])
    assert columns(scene)["topic_before"][row] == 1.0


def test_a_filter_holds_for_neighbours_as_well(vault: Vault, look: Look) -> None:
    path = "VaultMind/agents/main/memory/sessions/2026-02-08_001.md"
    scene = look("how long doing that", meaning=False, where=Where(running=path, since="m4"))
    assert scene is not None
    assert TALK[1][1] in texts(vault, scene)
    assert TALK[3][1] not in texts(vault, scene)
    assert look("pottery", where=Where(kinds=("note",))) is not None


def test_a_named_speaker_counts_and_the_name_is_no_subject(vault: Vault, look: Look) -> None:
    scene = look("When did Jan start with pottery?")
    assert scene is not None
    found = columns(scene)
    own, other = of(vault, scene, "I finally started"), of(vault, scene, "Hey Jan!")
    assert (found["speaker"][own], found["speaker"][other]) == (1.0, -1.0)
    assert found["mentioned"][other] == 1.0
    assert found["topic"][other] == 0.0 < found["bm25"][other]
    assert found["topic"][own] > 0.5
    assert found["speaker"][of(vault, scene, "Stoneware")] == 0.0


def test_an_answer_stands_after_its_question(vault: Vault, look: Look) -> None:
    scene = look("how long has he been doing pottery, when did it start", meaning=False)
    assert scene is not None
    found = columns(scene)
    assert found["asks"][of(vault, scene, TALK[2][1])] == 1.0
    assert found["says_time"][of(vault, scene, "last winter")] == 1.0


def test_title_and_links_are_told(vault: Vault, look: Look) -> None:
    scene = look("kiln in projects", meaning=False)
    assert scene is not None
    found = columns(scene)
    row = of(vault, scene, "needs a kiln")
    assert found["title"][row] > 0
    assert found["links_out"][row] > 0
    assert found["note"][row] == 1.0
    clay = look("stoneware clay", meaning=False)
    assert clay is not None
    assert columns(clay)["links_in"][of(vault, clay, "Stoneware")] > 0


def test_words_that_stand_together_are_near(vault: Vault, look: Look) -> None:
    scene = look("stoneware clay pottery", meaning=False)
    assert scene is not None
    near = columns(scene)["near"]
    assert near[of(vault, scene, "Stoneware")] == near.max() > 0


def test_another_language_is_foreign(vault: Vault, look: Look) -> None:
    scene = look("When do we plant the tulips and the roses in the garden?")
    assert scene is not None
    found = columns(scene)
    assert found["foreign"][of(vault, scene, "Tulipany")] == 1.0
    assert found["foreign"][of(vault, scene, "my tulips")] == 0.0


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


def test_a_query_of_any_length_and_kind_is_looked_at(look: Look) -> None:
    long = " ".join(f"word{number}" for number in range(10_000)) + " pottery"
    strange = (
        'pottery" OR (',
        "pottery\x00\x07",
        "pottery NEAR/2 *",
        "粘土 陶器 pottery",
        "🏺 pottery",
    )
    for query in (f"pottery {long}", *strange):
        scene = look(query)
        assert scene is not None
        assert len(scene.question.wanted) <= 24
        assert all(np.isfinite(column).all() for column in columns(scene).values())
