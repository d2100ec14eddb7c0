"""The search ranker learns a taste from what searches were worth, and spoils nothing by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from tests.fakes import HashEmbedder
from vaultmind.app import App, open_app
from vaultmind.config import Config, IndexConfig
from vaultmind.index.models import FEATURES, Model, read_model
from vaultmind.index.search import Search
from vaultmind.learn.feedback import Judged, Line
from vaultmind.learn.learning import FOLDERS, Trained
from vaultmind.learn.lessons import MOST_LESSONS, lesson_of, persons_first, search_learner
from vaultmind.learn.trial import Case
from vaultmind.types import PERSON, Caller

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
PLACES = ("cellar", "attic", "garden", "kitchen", "garage", "harbour", "library", "orchard")
THINGS = ("boiler", "piano", "ladder", "freezer")
TOPICS = [f"{thing} {place}" for thing in THINGS for place in PLACES]
TASTE = "Pages"
"""The folder that the ranker in use puts lower."""
OTHERS = 140
LETTERS = str.maketrans("0123456789", "bcdfghjklm")


def write(root: Path) -> None:
    """Write for each topic a daily note and a long page, and notes on all the rest."""
    for number, topic in enumerate(TOPICS):
        thing, place = topic.split()
        day = f"2026-{number % 9 + 1:02d}-{number % 27 + 1:02d}"
        before = TOPICS[number - 3 : number] if number > 3 else []
        links = " ".join(f"[[{one.replace(' ', ' and ')}]]" for one in before)
        put(
            root / f"Daily/{day}-{thing}-{place}.md",
            f"---\ndate: {day}\n---\nSaw after the {thing} in the {place} once more.\n",
        )
        put(
            root / f"Pages/{thing} and {place}.md",
            f"# On it\n\nThe {thing} in the {place}: all there is to know of such things, at "
            f"length, with what the neighbour said of {place} life and where the papers of the "
            f"{thing} lie since that winter. {links}\n",
        )
    for number in range(OTHERS):
        words = [f"{one}{number * 7919 % 997}" for one in ("kelu", "moro", "tavi", "sena")]
        words = [word.translate(LETTERS) for word in words]
        text = f"# {words[0].title()} {words[1]}\n\nAbout {' and '.join(words)}, as it was then.\n"
        put(root / f"Rest/{number:03d}.md", text)


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("searches")
    write(folder / "vault")
    config = Config((folder / "vault").resolve(), folder / "state", index=IndexConfig(watch=False))
    app = open_app(config, embedder=HashEmbedder())
    app.start()
    try:
        assert app.index.wait_ready(60, vectors=True)
        yield app
    finally:
        app.close()


@pytest.fixture(scope="module")
def scenes(app: App) -> Search:
    return app.index.raw


def liked(scenes: Search, topics: list[str], folder: str) -> list[Judged]:
    """Return what a person says who likes what lies in a folder, an hour apart."""
    said = []
    for number, topic in enumerate(topics):
        thing, place = topic.split()
        seen = scenes.seen(topic, PERSON)
        assert seen is not None
        own = [one for one in seen.chunks if one.path.startswith(f"{folder}/")]
        hit = next(one for one in own if thing in one.text and place in one.text)
        time = (NOW + timedelta(hours=number)).isoformat()
        line = Line(time, topic, hit.path, "useful", hit.anchor, hit.id, "person")
        said.append(Judged("main", "person", topic, time, ((line, 1.0),)))
    return said


def mrr(taught: list[Case], model: Model) -> float:
    found = []
    for one in taught:
        weights = [model.features.get(name, 0.0) for name in FEATURES]
        found.append(one.marks(np.array(weights, dtype=np.float32)).mrr)
    return sum(found) / len(found)


def lessons(scenes: Search, said: list[Judged]) -> list[Case]:
    seen = ((one, scenes.seen(one.query, PERSON)) for one in said)
    found = [lesson_of(one, its, scenes) for one, its in seen if its]
    return [one for one in found if one is not None]


@pytest.fixture
def learn(app: App) -> Iterator[Callable[[list[Judged]], Trained]]:
    """Return what trains the ranker; nothing that it made is left afterwards."""

    def trained(said: list[Judged]) -> Trained:
        learner = search_learner(app.index.raw, said, lambda *_: None)
        return app.learning.learn(learner, 20)

    yield trained
    for path in models(app):
        path.unlink()


def models(app: App) -> list[Path]:
    folder = app.paths.root / app.paths.memory_dir
    return [*(folder / FOLDERS["ranker"]).glob("*.json"), *(folder / "models").glob("*.json")]


def model_of(app: App, told: Trained) -> Model:
    (path,) = (one for one in models(app) if one.stem == told.id)
    return read_model(path)


def test_a_taste_is_learnt_and_holds_where_nothing_was_heard_of(
    app: App, scenes: Search, learn: Callable[[list[Judged]], Trained]
) -> None:
    before = scenes.active("hash-1")
    told = learn(liked(scenes, TOPICS[:24], TASTE))
    assert told.verdict is not None
    assert (told.lessons, told.of) == (24, "hash")
    model = model_of(app, told)
    assert model.embedder == "hash"
    unheard = lessons(scenes, liked(scenes, TOPICS[24:], TASTE))
    assert mrr(unheard, model) > mrr(unheard, before) + 0.02
    assert told.verdict.after.mrr > told.verdict.before.mrr


def test_a_question_of_several_is_learnt_from_or_tried_on(
    app: App, scenes: Search, learn: Callable[[list[Judged]], Trained]
) -> None:
    said = liked(scenes, TOPICS[:20], TASTE)
    others = [
        replace(one, by="agent", agent="b", query=one.query.upper(), time=NOW.isoformat())
        for one in said
    ]
    told = learn([*others, *said])
    assert told.lessons == 40 and told.verdict is not None
    assert told.verdict.lessons <= 20, "a question counts once, whoever asked it"


def test_no_agent_drowns_the_persons_verdicts() -> None:
    def of(by: str, agent: str, count: int) -> list[Judged]:
        return [Judged(agent, by, f"{agent} {at}", NOW.isoformat(), ()) for at in range(count)]  # type: ignore[arg-type]

    person, main, flood = of("person", "main", 60), of("agent", "main", 10), of("agent", "b", 900)
    heard = persons_first([*person, *main, *flood])
    assert [sum(one in heard for one in each) for each in (person, main, flood)] == [60, 0, 540]
    assert heard[-60:] == flood[-60:] and len(heard) == MOST_LESSONS


def test_what_an_agent_may_not_see_is_no_lesson_of_its(app: App, scenes: Search) -> None:
    other = app.paths.root / "VaultMind/agents/other/memory/brain.md"
    other.parent.mkdir(parents=True)
    other.write_text("# Brain\n\n## User\n\n- Keeps a zeppelin ^a1b2\n", "utf-8")
    app.index.refresh(["VaultMind/agents/other/memory/brain.md"])
    mine = scenes.seen("zeppelin", Caller("agent", "main"))
    assert mine is None or not any("zeppelin" in one.text for one in mine.chunks)
    seen = scenes.seen("zeppelin", PERSON)
    assert seen is not None and any("zeppelin" in one.text for one in seen.chunks)
