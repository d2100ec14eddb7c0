"""index/{columns,rank,models,asking}: what is kept of every chunk, and what ranks by it."""

from __future__ import annotations

import json
import random
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.index.vault import Vault
from vaultmind.errors import ConfigError
from vaultmind.index.columns import Columns, Where
from vaultmind.index.models import Model, model_text, read_model, shipped
from vaultmind.index.training import Lesson, train
from vaultmind.index.when import named_time
from vaultmind.types import PERSON, SearchRequest

MINE = Model("mine", "", {"topic": 2.0}, {"topic": 0.2}, (), {})


# --- columns ------------------------------------------------------------------------------


def known_of(columns: Columns, vault: Vault) -> dict[int, object]:
    """Return all that columns know of the chunks, by rowid."""
    columns.follow()
    slots = np.flatnonzero(columns.mask(Where()))
    rows = columns.rows[slots]
    rowid_of = dict(zip(slots.tolist(), rows["rowid"].tolist(), strict=True)) | {-1: 0}
    names = {
        name: list(getattr(columns, name)) for name in ("speakers", "langs", "agents", "files")
    }
    words = {
        term: {rowid_of[int(slot)] for slot in columns.postings(term)["slot"]}
        for term in ("oven", "bread", "rye", "coin", "anna")
    }
    links = [columns.links[file] for file in rows["file"]]
    return {
        rowid_of[slot]: (
            names["speakers"][row["speaker"]], names["langs"][row["lang"]],
            names["agents"][row["agent"]], names["files"][row["file"]],
            *(int(row[name]) for name in ("kind", "day", "letters", "flags", "words", "title")),
            rowid_of[int(row["before"])], rowid_of[int(row["after"])],
            columns.times[slot], columns.hashes[slot], link,
            [term for term, rowids in words.items() if rowid_of[slot] in rowids],
        )
        for slot, row, link in zip(slots.tolist(), rows, links, strict=True)
    } | {0: {term: columns.held_by(term) for term in words}}  # fmt: skip


def note(number: int, version: int) -> str:
    """Return a text that names times and numbers, of more parts in some versions."""
    return "\n\n".join(
        f"## Part {part}\n\nOn 2026-0{1 + part}-1{part} Anna paid {number + version} coins for rye "
        f"bread? {'She used the oven. ' * 40}See [[Oven {version % 8}]]."
        for part in range(3 + version % 4)
    )


def test_columns_that_follow_are_those_that_were_read_at_once(vault: Vault) -> None:
    chance = random.Random(3)
    following = Columns(vault.database)
    for version in range(60):
        path = f"Oven {chance.randrange(8)}.md"
        if chance.random() < 0.2:
            (vault.paths.root / path).unlink(missing_ok=True)
            vault.refresh([path])
        else:
            vault.put(path, note(version % 8, version))
        if chance.random() < 0.3:
            assert known_of(following, vault) == known_of(Columns(vault.database), vault)


def test_searches_survive_notes_that_are_rewritten_meanwhile(vault: Vault) -> None:
    for number in range(8):
        vault.put(f"Oven {number}.md", note(number, 0))
    ended = threading.Event()
    failed: list[BaseException] = []

    def write() -> None:
        version = 0
        while not ended.is_set():
            version += 1
            path = f"Oven {version % 8}.md"
            if version % 5 == 0:
                (vault.paths.root / path).unlink(missing_ok=True)
                vault.refresh([path])
            else:
                vault.put(path, note(version % 8, version))

    def ask(query: str) -> None:
        try:
            for _ in range(12):
                vault.search(SearchRequest(query), PERSON)
        except BaseException as error:
            failed.append(error)

    writer = threading.Thread(target=write)
    questions = (
        "when did Anna pay?",
        "how many coins in March?",
        "what did Anna pay on 2026-02-11?",
    )
    askers = [threading.Thread(target=ask, args=(one,)) for one in questions]
    for thread in (writer, *askers):
        thread.start()
    for thread in askers:
        thread.join()
    ended.set()
    writer.join()
    assert failed == []


# --- what a text says ---------------------------------------------------------------------


def test_who_tells_of_a_day_does_so_a_little_later() -> None:
    asked = named_time("What did I do on 7 May 2023?", "en", datetime(2023, 8, 1, tzinfo=UTC))
    assert asked is not None and asked.explicit
    assert asked.days == ("2023-05-07", "2023-05-07")
    assert asked.near("2023-05-07T10:00:00") == 1.0
    assert asked.near("2023-05-09T10:00:00") >= asked.inside > asked.near("2023-05-12")
    assert asked.near("") == 0.0


# --- models -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"features": {"topick": 1.0}}, "topick"),
        ({"features": {"meaning": 1.0}}, "meaning"),
        ({"features": {"topic": 1e9}}, "equal to 1000"),
    ],
)
def test_a_wrong_model_is_refused_by_name(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(json.loads(model_text(MINE)) | changes), "utf-8")
    with pytest.raises(ConfigError, match=said) as error:
        read_model(path)
    assert "mine.json" in str(error.value)


def test_every_hit_can_say_why_and_a_ranker_sees_what_a_search_sees(vault: Vault) -> None:
    vault.put("Kiln.md", "# Kiln\n\nPottery needs a kiln. See [[Clay]].\n\nA used one.\n")
    vault.put("Clay.md", "# Clay\n\nStoneware clay for pottery is fired at 1240 degrees.\n")
    hits = vault.search(SearchRequest("pottery kiln"), PERSON).hits
    assert [hit.path for hit in hits] == ["Kiln.md", "Clay.md"]
    told = hits[0].why
    assert told[0].words
    assert 0 < sum(reason.share for reason in told) <= 1.0001
    assert "%" in str(told[0])
    seen = vault.raw.seen("pottery kiln", PERSON)
    assert seen is not None
    weights = [shipped("").features.get(name, 0.0) for name in seen.found.names]
    order = seen.order(np.array(weights, np.float32))
    assert [seen.chunks[at].path for at in order] == ["Kiln.md", "Clay.md"]


def test_what_is_rare_and_mostly_right_is_learnt_as_such() -> None:
    rng, lessons = np.random.default_rng(0), []
    for number in range(100):
        features = np.stack([rng.random(200), np.zeros(200)], axis=1).astype(np.float32)
        if number < 6:  # of six that have it, five are right
            features[number // 5, 1] = 1
        lessons.append(Lesson(features, np.eye(200, dtype=np.float32)[0]))
    assert train(lessons, 5e-3)[0][1] > 2
