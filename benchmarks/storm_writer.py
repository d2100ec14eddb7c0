"""Changes files without end, telling when each version could be seen: see planner_storm.py.

    python benchmarks/storm_writer.py FOLDER notes|code FILES SHARE OF LOG SEED

Light on purpose: it is a process of its own, and many are started.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_TOPICS = "oven bread garden boiler bicycle sailing iron invoice glossary kettle stove ladder"
TOPICS = _TOPICS.split()
MARK = re.compile(r"mark-(\w+?)-(\d+)-v(\d+)")
STOP = "stop"
"""A file whose coming ends the writers."""


@dataclass(frozen=True, slots=True)
class Written:
    """A version of a file: it may be seen from `began` until the next one is `done`."""

    name: str
    number: int
    version: int
    """0: the file is gone."""
    began: float
    done: float


def text_of(name: str, number: int, version: int, code: bool) -> str:
    """Return a file's text: every line that is not blank bears its mark."""
    topics = TOPICS
    topic, other = topics[number % len(topics)], topics[number * 5 % len(topics)]
    mark = f"mark-{name}-{number}-v{version}"
    if code:
        return (
            f'"""The {topic} of part {number}. {mark}"""\n\n\n'
            f"def change_{topic}_{number}(one):  # {mark}\n"
            f'    """Change the {topic} by a {other}. {mark}"""\n'
            f"    return one  # {mark}\n"
        )
    return (
        f"# The {topic}, part {number} {mark}\n\nThe {topic} is beside the {other}. {mark}\n\n"
        f"## What was changed {mark}\n\nThe {topic} was changed for the {other}. {mark}\n"
    )


def path_of(root: Path, number: int, code: bool) -> Path:
    """Return where a file lies."""
    return root / f"part{number % 7}" / f"file{number}.{'py' if code else 'md'}"


def laid_out(root: Path, name: str, files: int) -> list[Written]:
    """Write the first version of every file."""
    code = name == "code"
    for number in range(files):
        path = path_of(root, number, code)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text_of(name, number, 1, code), "utf-8")
    return [Written(name, number, 1, 0.0, 0.0) for number in range(files)]


def write(root: Path, name: str, numbers: Sequence[int], told: Path, seed: int) -> None:
    """Change files until the stop comes, telling of each version when it could be seen."""
    chance = random.Random(seed)
    code = name == "code"
    versions = dict.fromkeys(numbers, 1)
    with told.open("w", encoding="utf-8") as log:
        while not (told.parent / STOP).exists():
            number = chance.choice(numbers)
            path = path_of(root, number, code)
            gone = chance.random() < 0.1 and path.exists()
            version = 0 if gone else max(versions.values()) + 1
            began = time.monotonic()
            if gone:
                path.unlink()
            else:
                versions[number] = version
                _change(path, text_of(name, number, version, code), chance)
            done = time.monotonic()
            log.write(json.dumps([name, number, version, began, done]) + "\n")
            log.flush()
            time.sleep(chance.expovariate(60.0))


def _change(path: Path, text: str, chance: random.Random) -> None:
    """Write as one editor or another does."""
    if chance.random() < 0.5:
        path.write_text(text, "utf-8")
        return
    aside = path.with_name(f".{path.name}.aside")
    aside.write_text(text, "utf-8")
    aside.replace(path)


if __name__ == "__main__":
    root_, name_, files_, share_, of_, told_, seed_ = sys.argv[1:]
    write(Path(root_), name_, range(int(share_), int(files_), int(of_)), Path(told_), int(seed_))
