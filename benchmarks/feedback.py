"""What search learns from simulated people with known tastes, and what that costs everybody else.

    python benchmarks/feedback.py [--embedder use|none] [--topics 60] [--json]

The vault is the example vault and, for each of many topics, five texts that say much the same: a
daily note of long ago and one of last week, a long page with links in Reference/, a short one in
Ideas/, and a message of a past conversation. Each person asks about two topics in three and opens
what is to their taste among the first hits (one in seven times something else); one time in four
they say that it was useful. `clicks at random` opens anything. Then the ranker is trained as
`vaultmind model train --kind ranker` does it.

Measured is the search itself: the reciprocal rank of the first hit to somebody's taste, over topics
of which nothing was heard. `others` are the questions that people wrote over the example vault
(benchmarks/data/note_questions.jsonl, example_questions.jsonl), whose answers are known and which
no taste has anything to do with; other tastes are shown beside, for they may want the opposite.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from vaultmind.app import App, open_app
from vaultmind.config import Config, IndexConfig
from vaultmind.learn.feedback import feedback_files
from vaultmind.serve.call import Call
from vaultmind.serve.ops import models, search
from vaultmind.serve.show import dump
from vaultmind.types import PERSON, Hit, Message

ROOT = Path(__file__).parent.parent
DATA = Path(__file__).parent / "data"
AGENT = "main"
FIRST_DAY, LAST_DAY = date(2025, 9, 1), date(2026, 5, 25)
STARTS = datetime(2026, 6, 1, 9, tzinfo=UTC)
EVERY = timedelta(minutes=37)
SHOWN, LOOKED_AT, ASKED = 8, 20, 20
"""Hits that a person sees; that are looked at for a rank; tokens are no matter."""
SLIPS, SAYS_SO = 0.15, 0.25
KNOWN = 2 / 3
"""Of the topics that are asked about before the training; the others measure it."""
THINGS = (
    "dishwasher", "boiler", "bicycle", "piano", "greenhouse", "telescope", "printer", "freezer",
    "rain barrel", "sewing machine", "chimney", "bookcase", "kayak", "tent", "coffee grinder",
)  # fmt: skip
PLACES = ("Linden House", "the cabin in Tarnów", "the studio", "Grandmother's flat")
ASKS = ("{thing} {place}", "what did I note about the {thing} in {place}?")
FILLERS = (
    "It took most of the afternoon and a second pair of hands.",
    "The neighbour knew somebody who had done the same.",
    "There was a draught from the window all the while.",
    "In the end it cost less than we had feared.",
    "The manual is in the second drawer from the top.",
    "We agreed to look at it again before the winter.",
    "A photograph of it hangs in the hall.",
    "Nobody could say when it had last been done.",
)
Taste = Callable[[Hit], bool]


@dataclass(slots=True)
class Clock:
    """Time goes on a little with every search."""

    now: datetime = STARTS

    def __call__(self) -> datetime:
        """Return the present."""
        return self.now

    def go_on(self) -> None:
        """Let some time pass."""
        self.now += EVERY


@dataclass(frozen=True, slots=True)
class Topic:
    """What five texts are about, and where they stand."""

    thing: str
    place: str
    old: str
    recent: str
    long: str
    short: str
    said: str
    """Words of the message by which it is known."""
    queries: tuple[str, ...] = field(default=())


def topics(count: int, rng: random.Random) -> list[Topic]:
    """Return topics, each with days of its own."""
    pairs = [(thing, place) for thing in THINGS for place in PLACES]
    rng.shuffle(pairs)
    days = [FIRST_DAY + timedelta(days=at) for at in range((LAST_DAY - FIRST_DAY).days)]
    early, late = days[: len(days) // 2], days[len(days) // 2 :]
    made = []
    for thing, place in pairs[:count]:
        name = f"{thing} {place}".replace("the ", "").replace("'", "")
        made.append(
            Topic(
                thing,
                place,
                f"Daily/{rng.choice(early)}-{thing.replace(' ', '-')}.md",
                f"Daily/{rng.choice(late)}-{thing.replace(' ', '-')}.md",
                f"Reference/{name}.md",
                f"Ideas/{name} idea.md",
                f"the {thing} in {place}",
                tuple(ask.format(thing=thing, place=place) for ask in ASKS),
            )
        )
    return made


def write(root: Path, made: Sequence[Topic], rng: random.Random) -> None:
    """Write a vault of the example's notes and the topics'."""
    shutil.copytree(ROOT / "vault-example", root, ignore=shutil.ignore_patterns("VaultMind"))
    pages = [topic.long.removesuffix(".md") for topic in made]
    for topic in made:
        about = f"the {topic.thing} in {topic.place}"
        some = rng.sample(FILLERS, 6)
        day = "-".join(Path(topic.old).name.split("-")[:3])
        late = "-".join(Path(topic.recent).name.split("-")[:3])
        links = " ".join(f"[[{page}]]" for page in rng.sample(pages, 4))
        texts = {
            topic.old: f"---\ndate: {day}\n---\nSaw to {about}. {some[0]} {some[1]}\n",
            topic.recent: f"---\ndate: {late}\n---\nSaw to {about} again. {some[2]} {some[3]}\n",
            topic.long: f"# All of {about}\n\nEverything about {about}. {' '.join(some)} "
            f"{' '.join(some[::-1])}\n\nSee {links}.\n",
            topic.short: f"# Idea\n\nSomething for {about}? {some[4]}\n",
        }
        for path, text in texts.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, "utf-8")


def talk(app: App, made: Sequence[Topic], rng: random.Random) -> None:
    """Have had conversations about the topics."""
    for at in range(0, len(made), 6):
        then = datetime.combine(LAST_DAY - timedelta(days=at), datetime.min.time(), UTC)
        messages = [
            message
            for number, topic in enumerate(made[at : at + 6])
            for message in (
                Message(
                    "user",
                    f"I was busy with {topic.said} today. {rng.choice(FILLERS)}",
                    (then + timedelta(hours=9, minutes=number)).isoformat(),
                    f"{at}-{number}-u",
                ),
                Message(
                    "assistant",
                    "Noted, thank you for telling me.",
                    (then + timedelta(hours=9, minutes=number, seconds=30)).isoformat(),
                    f"{at}-{number}-a",
                ),
            )
        ]
        app.sessions.log_many(AGENT, messages, caller=PERSON, conversation=f"talk-{at}")
        app.sessions.end(AGENT, conversation=f"talk-{at}", caller=PERSON)


TASTES: dict[str, Callable[[Topic], Taste]] = {
    "likes it recent": lambda topic: lambda hit: hit.path == topic.recent,
    "likes Reference/": lambda topic: lambda hit: hit.path == topic.long,
    "likes what was said": lambda topic: (
        lambda hit: hit.kind == "message" and topic.said in hit.text
    ),
    "likes Ideas/": lambda topic: lambda hit: hit.path == topic.short,
}
RANDOM = "clicks at random"


def found(app: App, query: str, limit: int) -> Sequence[Hit]:
    """Return the hits of a search by the person."""
    call = Call(PERSON)
    page = search.memory_search(app, call, query, limit, per_note=3, max_tokens=20_000)
    return page.found.hits


def live(app: App, clock: Clock, name: str, known: Sequence[Topic], rng: random.Random) -> int:
    """Search as a person does who has a taste; return how often a hit was opened."""
    opened = 0
    asked = [(topic, query) for topic in known for query in topic.queries]
    rng.shuffle(asked)
    for topic, query in asked:
        clock.go_on()
        hits = found(app, query, SHOWN)
        taste = TASTES[name](topic) if name in TASTES else lambda hit: False
        liked = [hit for hit in hits if taste(hit)]
        slips = name == RANDOM or rng.random() < SLIPS
        if not (liked or slips) or not hits:
            continue
        hit = rng.choice(hits) if slips else liked[0]
        search.memory_fetch(app, Call(PERSON), hit.id)
        opened += 1
        if rng.random() < SAYS_SO:
            search.judge(app, Call(PERSON), query, hit.id, "useful")
    return opened


def mrr(app: App, asked: Iterator[tuple[str, Taste]]) -> float:
    """Return the mean reciprocal rank of what is right, by the search itself."""
    ranks = []
    for query, right in asked:
        hits = found(app, query, LOOKED_AT)
        ranks.append(next((1 / at for at, hit in enumerate(hits, 1) if right(hit)), 0.0))
    return sum(ranks) / len(ranks)


def others() -> list[tuple[str, frozenset[str]]]:
    """Return what others ask over the example vault, with the notes that answer it."""
    lines = [
        json.loads(line)
        for name in ("note_questions.jsonl", "example_questions.jsonl")
        for line in (DATA / name).read_text("utf-8").splitlines()
    ]
    return [
        (one["query"], frozenset(one["paths"]))
        for one in lines
        if one.get("vault", "example") == "example"
    ]


def measured(app: App, unknown: Sequence[Topic]) -> dict[str, float]:
    """Return the MRR of every taste over topics nobody asked about, and of others' questions."""
    rows = {
        name: mrr(app, ((query, taste(topic)) for topic in unknown for query in topic.queries))
        for name, taste in TASTES.items()
    }
    right = [(query, lambda hit, paths=paths: hit.path in paths) for query, paths in others()]
    return rows | {"others": mrr(app, iter(right))}


def run(folder: Path, embedder: str, count: int) -> dict[str, Any]:
    """Let each person live and learn, each from the shipped ranker on; return all measures."""
    rng, clock = random.Random(5), Clock()
    made = topics(count, rng)
    write(folder / "vault", made, rng)
    config = Config(
        (folder / "vault").resolve(),
        folder / "state",
        index=IndexConfig(embedder=embedder, watch=False),
    )
    app = open_app(config, clock=clock)
    app.start()
    try:
        app.init(AGENT, "en", PERSON)
        talk(app, made, rng)
        if not app.index.wait_ready(600, vectors=embedder != "none"):
            sys.exit("The index was not ready in ten minutes.")
        known, unknown = made[: round(KNOWN * count)], made[round(KNOWN * count) :]
        people = {"nobody": measured(app, unknown)}
        told: dict[str, Any] = {"people": people, "trainings": {}}
        for name in (*TASTES, RANDOM):
            _begin_anew(app)
            opened = live(app, clock, name, known, random.Random(7))
            began = datetime.now(UTC)
            job = models.model_train(app, Call(PERSON), kind="ranker", wait_seconds=600)
            seconds = (datetime.now(UTC) - began).total_seconds()
            one = job.results[0] if job.results else None
            told["trainings"][name] = {
                "opened": opened,
                "seconds": round(seconds, 1),
                "state": job.state,
                "why": one.why if one else job.error,
                "activated": bool(one and one.activated),
                "verdict": dump(job)["results"][0]["verdict"] if one else None,
            }
            print(name, told["trainings"][name], file=sys.stderr)
            people[name] = measured(app, unknown)
        return told
    finally:
        app.close()


def _begin_anew(app: App) -> None:
    """Forget what was learnt and what was heard."""
    for row in app.learning.status().models:
        if row.kind == "ranker" and not row.path:
            app.learning.models.activate(row.id)
    for path in feedback_files(app.paths, AGENT):
        (app.paths.root / path).unlink()
    app.search_feedback.clear()


def show(told: dict[str, Any]) -> None:
    """Print what each person's training did for whom."""
    people = told["people"]
    columns = list(people["nobody"])
    print(f"{'MRR, trained by':22}" + "".join(f"{name:>22}" for name in columns))
    for name, row in people.items():
        apart = {one: row[one] - people["nobody"][one] for one in columns}
        cells = "".join(f"{row[one]:14.3f} ({apart[one]:+.3f})" for one in columns)
        print(f"{name:22}{cells}")
    for name, one in told["trainings"].items():
        used = "in use" if one["activated"] else "not in use"
        print(f"{name}: {one['opened']} opened, {one['seconds']} s, {used}. {one['why']}")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--embedder", default="use", choices=("use", "e5", "none"))
    parser.add_argument("--topics", type=int, default=60)
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        told = run(Path(folder), arguments.embedder, arguments.topics)
    if arguments.json:
        print(json.dumps(told, indent=1))
    else:
        show(told)


if __name__ == "__main__":
    main()
