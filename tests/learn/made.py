"""Episodes with what a plan offered in them, made by rule, and a vault to keep models in."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from vaultmind.app import App, open_app
from vaultmind.config import Flags, load_config
from vaultmind.episodes.files import line_of_offer
from vaultmind.episodes.note import rendered
from vaultmind.episodes.types import Episode, Event, Offer, Result, TaskMark
from vaultmind.learn.learning import Learned
from vaultmind.learn.lessons import Heard
from vaultmind.types import PERSON
from vaultmind.vault.paths import VaultPaths

NOW = datetime(2026, 11, 22, 18, 0, tzinfo=UTC)
OFFERED = 12
"""Files of an offer."""


def opened(folder: Path) -> App:
    """Return the app of a small vault, not started."""
    vault = folder / "vault"
    vault.mkdir(parents=True, exist_ok=True)
    env = {
        "VAULTMIND_STATE_DIR": str(folder / "state"),
        "VAULTMIND_CONFIG": str(folder / "none.toml"),
        "VAULTMIND_INDEX_EMBEDDER": "none",
    }
    return open_app(load_config(Flags(vault=str(vault)), env=env), clock=lambda: NOW)


def offer(number: int, *, weights: str = "code", decides: str = "used") -> tuple[Offer, str]:
    """Return an offer in which one file has most of a feature, and that file."""
    chance = random.Random(number)
    files = {
        f"src/f{number}_{at}.py": {
            decides: round(chance.random() * 0.8, 3),
            "words": round(chance.random(), 3),
            "path": round(chance.random(), 3),
        }
        for at in range(OFFERED)
    }
    right = chance.choice(sorted(files))
    files[right][decides] = 1.0
    when = (NOW - timedelta(days=80) + timedelta(hours=number)).isoformat()
    return Offer(f"fp{number}", when, weights, files, tuple(files)[:5]), right


def word(number: int) -> str:
    """Return a word of its own for a number: tasks that share most words are one to a trial."""
    return "".join("bdfgklmprt"[int(digit)] + "aeiou"[int(digit) % 5] for digit in f"{number:04}")


def heard(number: int, outcome: Result = "success", **more: str) -> Heard:
    """Return an episode that edited what has most of a feature."""
    made, right = offer(number, **more)
    after = (datetime.fromisoformat(made.time) + timedelta(minutes=5)).isoformat()
    episode = Episode(
        f"2026-09-{number % 28 + 1:02}_{number:03}",
        "main",
        "shop",
        TaskMark(
            f"change the {word(number)} of the {word(number + 999)}", "bugfix", made.fingerprint
        ),
        made.time,
        state="ended",
        ended=after,
        outcome=outcome,
        events=(Event("edit", after, right, change="modified"),),
    )
    return Heard(episode, (made,))


def many(count: int, **more: str) -> list[Heard]:
    """Return so many of them that went well."""
    return [heard(number, **more) for number in range(count)]


def keep_notes(app: App, episodes: Sequence[Heard]) -> None:
    """Write episodes and their offers where they lie, as the recorder leaves them."""
    paths: VaultPaths = app.paths
    app.init("main", "en", PERSON)
    for one in episodes:
        path = paths.episode(one.episode.agent, one.episode.id)
        lines = "".join(map(line_of_offer, one.offers))
        file = paths.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(rendered(one.episode), "utf-8")
        file.with_suffix(".offers.jsonl").write_text(lines, "utf-8")


def learned(name: str, of: str = "code", **weights: float) -> tuple[str, str]:
    """Return a model's id and the text of its file."""
    stuff = "code" if of == "code" else "notes"
    return name, Learned(name=name, of=stuff, weights=weights or {"path": 2.5}).model_dump_json(
        indent=1
    )
